"""Speed, measured. Ratios within one run are what counts: machines differ, and are noisy.

    python benchmarks/bench.py                    everything
    python benchmarks/bench.py ratios scaling     some sections
    python benchmarks/bench.py grid --policies multi-rucb mdb

Sections: ratios (against a plain NumPy loop of the same algorithm), grid (ns per simulated round and us per ask and tell),
scaling (cost of a run as T grows), large (K = 1024), cold (compiling, and a first result from the cache).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc

import naive_numpy
import numpy as np
from rich.console import Console
from rich.table import Table

import multiduel as md
from multiduel.engine.registry.registry import POLICIES

PATIENCE = 2.0  # seconds that one cell of a table may take
console = Console(width=120)


def seconds_of(call, repeats=3):
    """The least CPU time of a few calls: the machine's noise only ever adds."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return best


def play(name, problem, slate_size, horizon, runs=1, seed=0):
    return md.simulate(name, problem, slate_size=slate_size, horizon=horizon, runs=runs, threads=1, seed=seed)


def longest(name, problem, slate_size, horizon=10**6):
    """(rounds, seconds) of the longest run up to ``horizon`` that stays within the patience."""
    rounds = 1_000
    play(name, problem, slate_size, rounds)
    while True:
        spent = seconds_of(lambda rounds=rounds: play(name, problem, slate_size, rounds), repeats=2)
        if rounds >= horizon or spent * 10 > PATIENCE:
            return rounds, spent
        rounds *= 10


def ask_and_tell(name, n_arms, slate_size, rounds=400):
    """us per round of ask and tell from Python, outcomes given as a matrix of wins."""
    policy = md.make(name, n_arms=n_arms, slate_size=slate_size, seed=1, horizon=10**6)
    upper = {n: np.triu(np.ones((n, n)), 1) for n in range(1, slate_size + 1)}

    def some_rounds():
        for _ in range(rounds):
            slate = policy.ask()
            policy.tell(slate, upper[len(slate.arms)])

    some_rounds()
    return seconds_of(some_rounds) / rounds * 1e6


def ratios():
    table = Table(title="Against a plain NumPy loop of the same algorithm (K = 48, linear, T = 10^6)")
    for column in ("policy", "m", "naive us/round", "ours ns/round", "ratio", "asked"):
        table.add_column(column, justify="right")
    problem = md.synthetic(48)
    P, naive_rounds = np.array(problem.matrix), 3_000
    for name, slate_size, naive, asked in (
        ("multi-rucb", 8, lambda: naive_numpy.multi_rucb(P, naive_rounds, 8), 20_000),
        ("multi-rucb", 16, lambda: naive_numpy.multi_rucb(P, naive_rounds, 16), None),
        ("multi-sbm-feedback", 2, lambda: naive_numpy.multi_sbm_feedback(P, naive_rounds), 120),
    ):
        play(name, problem, slate_size, 10)
        runs = 20 if name == "multi-rucb" else 2
        slow = seconds_of(naive) / naive_rounds
        fast = seconds_of(lambda n=name, m=slate_size, r=runs: play(n, problem, m, 10**6, r)) / runs / 1e6
        table.add_row(name, str(slate_size), f"{slow * 1e6:.1f}", f"{fast * 1e9:.2f}", f"{slow / fast:,.0f}", f"{asked or '':}")
    console.print(table)


def grid(names):
    table = Table(title="ns per simulated round (T = 10^6 unless said), us per ask and tell")
    for column in ("policy", "m", *(f"K = {k}" for k in (8, 48, 72, 512)), *(f"ask/tell {k}" for k in (48, 512))):
        table.add_column(column, justify="right")
    problems = {k: md.synthetic(k) for k in (8, 48, 72, 512)}
    for name in names:
        for slate_size in (2, 8, 16) if POLICIES[name].slate == "any" else (2,):
            cells = []
            for n_arms, problem in problems.items():
                if slate_size > n_arms:
                    cells.append("")
                    continue
                rounds, spent = longest(name, problem, slate_size)
                note = "" if rounds == 10**6 else f" (T = {rounds:.0e})"
                cells.append(f"{spent / rounds * 1e9:,.1f}{note}")
            talk = [f"{ask_and_tell(name, n_arms, slate_size):.1f}" for n_arms in (48, 512)]
            table.add_row(name, str(slate_size), *cells, *talk)
    console.print(table)


def scaling(names):
    horizons = [10**e for e in range(4, 13)]
    table = Table(title="ms per run as T grows (K = 48, linear, m = 8 where it can); '-' would take too long")
    table.add_column("policy")
    for horizon in horizons:
        table.add_column(f"{horizon:.0e}", justify="right")
    table.add_column("1e12 / 1e6", justify="right")
    problem = md.synthetic(48)
    for name in names:
        cells, spent = {}, 0.0
        for horizon in horizons:
            if spent * 11 > 4 * PATIENCE:
                break
            play(name, problem, 8, 10)
            runs = 10 if spent < 0.02 else 1
            spent = seconds_of(lambda n=name, t=horizon, r=runs: play(n, problem, 8, t, r), 2) / runs
            cells[horizon] = spent
        growth = f"{cells[10**12] / cells[10**6]:.1f}" if 10**12 in cells else ""
        table.add_row(name, *(f"{cells[h] * 1e3:.1f}" if h in cells else "-" for h in horizons), growth)
    console.print(table)


def large():
    problem = md.synthetic(1024)
    play("multi-rucb", md.synthetic(20), 16, 10)
    spent = seconds_of(lambda: play("multi-rucb", problem, 16, 10**6), 3)
    tracemalloc.start()
    play("multi-rucb", problem, 16, 1_000)
    peak = tracemalloc.get_traced_memory()[1] / (8 * 1024 * 1024)
    tracemalloc.stop()
    console.print(f"K = 1024, m = 16, T = 10^6, multi-rucb: {spent:.2f} s a run, {peak:.1f} K x K matrices of doubles at once\n")


CHILD = """
import time; start = time.perf_counter(), time.process_time()
import multiduel as md
result = md.simulate({name!r}, md.synthetic(48), slate_size=8, horizon=1000, runs=1)
print(result.compile_seconds, time.perf_counter() - start[0], time.process_time() - start[1])
"""


def cold(names):
    table = Table(title="A new process, K = 48: seconds to compile, then to the first result from the cache")
    for column in ("policy", "compile", "first result, cold", "first result, cached", "CPU, cached"):
        table.add_column(column, justify="right")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            runs = []
            for _ in range(2):
                call = [sys.executable, "-c", CHILD.format(name=name)]
                environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
                done = subprocess.run(call, env=environment, capture_output=True, text=True, check=True)
                runs.append([float(word) for word in done.stdout.split()])
            table.add_row(name, f"{runs[0][0]:.2f}", f"{runs[0][1]:.2f}", f"{runs[1][1]:.2f}", f"{runs[1][2]:.2f}")
    console.print(table)


def main():
    sections = {"ratios": ratios, "grid": grid, "scaling": scaling, "large": large, "cold": cold}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("section", nargs="*", choices=[*sections, []], default=list(sections))
    parser.add_argument("--policies", nargs="+", choices=list(POLICIES), default=list(POLICIES))
    chosen = parser.parse_args()
    for section in chosen.section or sections:
        call = sections[section]
        call(chosen.policies) if section in ("grid", "scaling", "cold") else call()


if __name__ == "__main__":
    main()
