"""Every policy on the paper's synthetic problem (K = 48, linear link): regret, spread, and ns per round.

python benchmarks/rivals.py                     the table, T = 10^6, 50 runs (fewer where said)
python benchmarks/rivals.py --horizon 1e5 --policies rmed1 rucb
python benchmarks/rivals.py --lock-in FILE.csv  final regret of the Thompson samplers on a matrix: quantiles, not means
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from rich.console import Console
from rich.table import Table

import multiduel as md
from multiduel.engine.registry.registry import POLICIES

PATIENCE = 5.0  # CPU seconds a policy may take; it gets fewer runs if it needs more

# us per round of the fastest public C++ implementations at K = 48, on a machine with two cores.
PUBLIC_CPP = {
    **{"rucb": 16.0, "rmed1": 13.0, "dts": 127.0, "ecw-rmed": 171.0, "ccb": 54.0, "savage": 8.9},
    **{"btm": 2.4, "scb": 1.4, "sparring": 0.9, "multi-sbm": 0.45, "if2": 0.09},
}

console = Console(width=150)


def measure(name, problem, slate_size, horizon, runs=50, benchmark="condorcet", patience=PATIENCE, fewest=2):
    """(result, CPU seconds per run): as many of ``runs`` as the patience allows, at least ``fewest``. None if too slow."""
    settings = {"slate_size": slate_size, "horizon": horizon, "benchmark": benchmark, "checkpoints": [horizon], "threads": 1}
    md.simulate(name, problem, **{**settings, "horizon": 10, "checkpoints": [10]}, runs=1)
    start = time.process_time()
    md.simulate(name, problem, **{**settings, "horizon": horizon // 10, "checkpoints": [horizon // 10]}, runs=1, seed=1)
    each = 10 * (time.process_time() - start)
    if each > 10 * patience:
        return None, each
    affordable = int(max(fewest, min(runs, patience / max(each, 1e-9))))
    start = time.process_time()
    result = md.simulate(name, problem, **settings, runs=affordable)
    return result, (time.process_time() - start) / affordable


def table(names, horizon):
    shown = Table(title=f"K = 48, linear link, T = {horizon:.0e}: regret of the paper (average), by mean")
    for column in ("policy", "m", "runs", "mean", "std", "5 %", "median", "95 %", "found best", "ns/round", "C++ / ours"):
        shown.add_column(column, justify="right")
    problem, rows = md.synthetic(48), []
    for name in names:
        if name == "cw-rmed":
            console.log("cw-rmed: left out, its linear programme in every step is for a dozen arms at most")
            continue
        for slate_size in (2, 8, 16) if POLICIES[name].slate == "any" else (2,):
            result, seconds = measure(name, problem, slate_size, horizon)
            if result is None:
                console.log(name, slate_size, f"would take {seconds:,.0f} s a run: left out")
                continue
            low, mid, high = np.quantile(result.final, [0.05, 0.5, 0.95])
            pace = seconds / horizon * 1e9
            ratio = f"{PUBLIC_CPP[name] * 1e3 / pace:,.0f}" if name in PUBLIC_CPP else ""
            found = np.mean(result.recommended == problem.winner)
            numbers = [f"{value:,.0f}" for value in (result.mean[-1], result.std[-1], low, mid, high)]
            cells = [name, str(slate_size), str(result.runs), *numbers, f"{100 * found:.0f} %", f"{pace:,.2f}", ratio]
            rows.append((float(result.mean[-1]), cells))
            console.log(*cells)
    for _, cells in sorted(rows, key=lambda row: row[0]):
        shown.add_row(*cells)
    console.print(shown)


def lock_in(path, horizon=10**6):
    problem = md.read_csv(path)
    shown = Table(title=f"{problem.label}, T = {horizon:.0e}: final regret over 50 runs")
    for column in ("policy", "m", "mean", "std", "5 %", "25 %", "median", "75 %", "95 %", "max", "found best"):
        shown.add_column(column, justify="right")
    for name in ("ind-self-sparring", "multi-rucb"):
        for slate_size in (8, 16):
            result, _ = measure(name, problem, slate_size, horizon, patience=120.0)
            spread = np.quantile(result.final, [0.05, 0.25, 0.5, 0.75, 0.95, 1.0])
            numbers = [f"{value:,.0f}" for value in (result.mean[-1], result.std[-1], *spread)]
            shown.add_row(name, str(slate_size), *numbers, f"{100 * np.mean(result.recommended == problem.winner):.0f} %")
    console.print(shown)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policies", nargs="+", choices=list(POLICIES), default=list(POLICIES))
    parser.add_argument("--horizon", type=lambda text: int(float(text)), default=10**6)
    parser.add_argument("--lock-in", metavar="FILE.csv")
    chosen = parser.parse_args()
    if chosen.lock_in:
        lock_in(chosen.lock_in)
    else:
        table(chosen.policies, chosen.horizon)


if __name__ == "__main__":
    main()
