"""What watching costs: the same policy as ours, as an outsider's (indices and slates checked), and as one whose word is taken.

    python benchmarks/outside.py

Ratios of CPU time within one process, on the same runs; the numbers of all three must be equal to the last bit.
"""

from __future__ import annotations

import inspect
import math
import tempfile
import time
from pathlib import Path

import multiduel as md
from multiduel.policies import multi_rucb, rucb, uniform

REPEATS = 3


def main() -> None:
    problem = md.synthetic(32)
    options = {"slate_size": 4, "runs": 1, "seed": 1, "threads": 1, "commit": False}  # every round an event
    print(f"{'policy':12} {'ns an event':>12} {'watched':>8} {'trusted':>8}   (times ours)")
    with tempfile.TemporaryDirectory() as folder:
        for module in (rucb, multi_rucb, uniform):
            name = module.SPEC.name
            ways = {"ours": name}
            for kind, mark in (("watched", ""), ("trusted", "    trusted=True,\n")):
                file = Path(folder, f"{module.__name__.rpartition('.')[2]}_{kind}.py")
                file.write_text(inspect.getsource(module).replace(f'name="{name}",\n', f'name="{name}-{kind}",\n{mark}'))
                ways[kind] = f"{file}:SPEC"
            took = dict.fromkeys(ways, math.inf)
            for repeat in range(REPEATS + 1):  # in turns, so that other work on the machine meets all of them
                regrets = []
                for kind, policy in ways.items():
                    start = time.process_time()
                    result = md.simulate(policy, problem, horizon=3_000_000 if repeat else 10, **options)
                    took[kind] = min(took[kind], time.process_time() - start) if repeat else math.inf  # the first compiles
                    regrets.append(result.regret)
                assert all((regret == regrets[0]).all() for regret in regrets)
            per_event = 1e9 * took["ours"] / result.events.sum()
            print(f"{name:12} {per_event:12.0f} {took['watched'] / took['ours']:8.2f} {took['trusted'] / took['ours']:8.2f}")


if __name__ == "__main__":
    main()
