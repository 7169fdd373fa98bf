"""CPU seconds that each algorithm of the paper's ten panels costs at full size, on one thread, compiling not counted.

    python benchmarks/paper_cost.py [--runs 3] [--only btm,savage] [--out FILE.json]

A few runs of each contender are played and counted up to the runs of its panel. CPU seconds, so that other work on the machine
shows less than in wall clock; it still shows.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path

from multiduel.engine.simulate import simulate
from multiduel.lab.paper import panels
from multiduel.lab.problem import resolve

FULL_RUNS = 50  # what every contender of a panel is to have


def cost(runs: int, only: set[str]) -> dict[str, dict[str, float]]:
    """CPU seconds of ``FULL_RUNS`` runs, by policy and panel."""
    table: dict[str, dict[str, float]] = defaultdict(dict)
    for plan in panels.load_all():
        if plan.name not in (*panels.TWO, *panels.MULTI):
            continue
        experiment, problem = panels.with_problem(plan, None)
        problem = problem or resolve(experiment.problem)
        for contender in experiment.contenders:
            if only and contender.policy not in only:
                continue
            options = {
                "horizon": experiment.horizon,
                "slate_size": contender.slate_size or experiment.slate_size,
                "checkpoints": experiment.marks_of(contender),
                "reset_horizon": experiment.reset_horizon,
                "threads": 1,
                **contender.params,
            }
            simulate(contender.policy, problem, **{**options, "horizon": 100, "checkpoints": [100]}, runs=1)  # compiles
            start = time.process_time()
            simulate(contender.policy, problem, **options, runs=runs)
            table[contender.policy][experiment.name] = (time.process_time() - start) * FULL_RUNS / runs
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    table = cost(options.runs, {name for name in options.only.split(",") if name})
    for policy, places in sorted(table.items(), key=lambda item: -sum(item[1].values())):
        print(f"{policy:22s} {sum(places.values()):8.1f}   {'  '.join(f'{s:.1f}' for s in places.values())}")
    print(f"{'all':22s} {sum(sum(places.values()) for places in table.values()):8.1f}")
    if options.out:
        options.out.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
