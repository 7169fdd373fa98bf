"""How often the paper's 95 % intervals cover what they must, by simulation at the numbers of runs that verdicts are made of.

    python benchmarks/interval_coverage.py [--samples 1000]

A row for each law of regret and number of runs. Of independent samples: the mean by Student's t, which tables and figures show;
the mean by the bootstrap, which is held against bounds; the ratio of two means, the ratio of two variances; and the ratio of two
means whose runs share a factor, as runs in a common world do.
"""

from __future__ import annotations

import argparse
import math

import numpy as np

from multiduel.engine.simulation.result import mean_interval
from multiduel.engine.simulation.statistics import estimate, ratio, variance

RUNS = (20, 50)
LAWS = {  # law -> (draws, mean)
    "normal": (lambda rng, runs: rng.normal(10.0, 1.0, runs), 10.0),
    "log-normal": (lambda rng, runs: rng.lognormal(0.0, 0.5, runs), math.exp(0.125)),
    "exponential": (lambda rng, runs: 0.5 + rng.exponential(1.0, runs), 1.5),
    "two peaks": (
        lambda rng, runs: np.where(rng.random(runs) < 0.15, rng.normal(3.0, 0.3, runs), rng.normal(1.0, 0.15, runs)),
        1.3,
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1000)
    samples = parser.parse_args().samples
    print("| law | runs | mean, Student | mean, bootstrap | ratio of means | in a common world | ratio of variances |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for law, (draw, truth) in LAWS.items():
        for runs in RUNS:
            rng = np.random.default_rng(runs)
            covered = np.zeros(5)
            for _ in range(samples):
                a, b, world = (draw(rng, runs) for _ in range(3))
                pairs = (
                    (estimate(a), truth),
                    (ratio(a, b), 1.0),
                    (ratio(a * world, b * world), 1.0),
                    (ratio(a, b, variance), 1.0),
                )
                low, high = mean_interval(a)
                covered += [low <= truth <= high, *(found.low <= wanted <= found.high for found, wanted in pairs)]
            print(f"| {law} | {runs} | {' | '.join(f'{share:.3f}' for share in covered / samples)} |", flush=True)


if __name__ == "__main__":
    main()
