"""CPU seconds that each algorithm of the paper costs at full size, in panels and interpretations; one thread, compiled.

    python benchmarks/paper_cost.py [--runs 3] [--only btm,savage] [--out FILE.json] [--before FILE.json]
    NUMBA_CACHE_DIR=an-empty-folder python benchmarks/paper_cost.py --compiling      # compile, and play nothing

A few runs of each contender are played and counted up to the runs that its experiment asks for. CPU seconds, so that other
work on the machine shows less than in wall clock; it still shows. With ``--before``, the table of an earlier file stands beside.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path

from multiduel.engine.simulation.simulate import simulate
from multiduel.lab import compile_ahead
from multiduel.lab.experiment import Contender, Experiment
from multiduel.lab.paper import panels
from multiduel.lab.problem import resolve
from multiduel.lab.runner import same_runs
from multiduel.problems import Problem, synthetic


def cost(runs: int, only: set[str]) -> dict[str, dict[str, float]]:
    """CPU seconds at full size, by policy and experiment."""
    table: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    played: list[tuple[Problem, tuple[Experiment, Contender]]] = []
    for plan in (plan for plan in panels.load_all() if panels.worth_playing(plan, None)):
        experiment, problem = panels.with_problem(plan, None)
        problem = problem or resolve(experiment.problem)
        for contender in experiment.contenders:
            if only and contender.policy not in only:
                continue
            ours = (experiment, contender)
            if any(other.label == problem.label and same_runs(problem, ours, theirs) for other, theirs in played):
                continue  # taken from there
            played.append((problem, ours))
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
            table[contender.policy][experiment.name] += (time.process_time() - start) * experiment.runs / runs
    return table


def compiling() -> float:
    """CPU seconds until all that the paper plays is compiled, or loaded, by one process."""
    start = time.process_time()
    for policy, machines in compile_ahead.kinds(plan for plan in panels.load_all() if panels.worth_playing(plan, None)):
        simulate(policy, synthetic(compile_ahead.ARMS), horizon=1, runs=1, checkpoints=[1], threads=1, **machines)
    return time.process_time() - start


def in_panels(places: dict[str, float]) -> float:
    return sum(seconds for name, seconds in places.items() if name in (*panels.TWO, *panels.MULTI))


def show(table: dict[str, dict[str, float]], before: dict[str, dict[str, float]] | None) -> None:
    """Rows of Markdown: seconds in the panels, in the interpretations, and in all."""
    columns = [before, table] if before else [table]
    print(f"| algorithm | {' | '.join(f'panels{when} | others{when}' for when in (' before', ' now')[-len(columns) :])} |")
    print(f"|---|{'---:|---:|' * len(columns)}")
    policies = {policy for column in columns for policy in column}
    for policy in sorted(policies, key=lambda name: -sum(columns[0].get(name, {}).values())):
        places = [column.get(policy, {}) for column in columns]
        print(f"| {policy} | {' | '.join(f'{in_panels(p):.1f} | {sum(p.values()) - in_panels(p):.1f}' for p in places)} |")
    sums = [(sum(in_panels(p) for p in c.values()), sum(sum(p.values()) for p in c.values())) for c in columns]
    print(f"| all | {' | '.join(f'{first:.0f} | {both - first:.0f}' for first, both in sums)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--compiling", action="store_true")
    options = parser.parse_args()
    if options.compiling:
        print(f"{compiling():.0f} CPU seconds")
        return
    table = cost(options.runs, {name for name in options.only.split(",") if name})
    show(table, json.loads(options.before.read_text(encoding="utf-8")) if options.before else None)
    if options.out:
        options.out.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
