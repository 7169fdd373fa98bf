"""Measure the linear policies on problems whose rounds differ, and write docs/contexts.md.

    python benchmarks/contexts.py            all parts that benchmarks/contexts.json lacks, then the page
    python benchmarks/contexts.py grid       one part anew: grid, numpy, estimators, slates, lies, late
    python benchmarks/contexts.py page       the page alone

Times are CPU time of one thread, all in one process, so that ratios compare what ran under the same load.
"""

from __future__ import annotations

import itertools
import json
import math
import pathlib
import sys
import time

import numpy as np
from naive_contexts import colstim  # beside this file

import multiduel as md

HERE = pathlib.Path(__file__).parent
STORE, TEMPLATE, PAGE = HERE / "contexts.json", HERE / "contexts.template.md", HERE.parent / "docs" / "contexts.md"
SHIPPED = pathlib.Path(md.__file__).parent / "engine" / "registry" / "measured_contexts.json"
POLICIES = (("colstim", 2), ("max-pair-ucb", 2), ("linear-self-sparring", 2), ("linear-self-sparring", 4), ("max-in-p", 2))


def measure(name, problem, *, horizon, runs, marks=None, seed=0, **words):
    """Mean regret in utility at the marks, with standard errors, and CPU nanoseconds a round."""
    options = {"horizon": horizon, "benchmark": "utility", "threads": 1, "seed": seed, **words}
    md.simulate(name, problem, **{**options, "horizon": 10}, runs=1)  # compiled before the clock starts
    start = time.process_time()
    result = md.simulate(name, problem, runs=runs, checkpoints=marks or [horizon], **options)
    seconds = time.process_time() - start
    final = result.regrets["weak"][:, -1]
    return {
        "runs": runs,
        "mean": result.mean.tolist(),
        "error": (result.std / math.sqrt(runs)).tolist(),
        "weak": float(final.mean()),
        "weak_error": float(final.std(ddof=1) / math.sqrt(runs)),
        "nanoseconds": seconds / runs / horizon * 1e9,
    }


def grid():
    """Every policy on d = 5, 10, 20 and K = 10, 30, 100."""
    rows = []
    for d in (5, 10, 20):
        for K in (10, 30, 100):
            problem = md.random_contexts(K, dimension=d, seed=1)
            for name, m in POLICIES:
                words = {"answers": "coins"} if name == "linear-self-sparring" else {}
                found = measure(name, problem, horizon=10_000, runs=20, slate_size=m, **words)
                rows.append({"dimension": d, "n_arms": K, "policy": name, "slate_size": m, "horizon": 10_000, **found})
            found = measure("uniform", problem, horizon=10_000, runs=20)
            rows.append({"dimension": d, "n_arms": K, "policy": "uniform", "slate_size": 2, "horizon": 10_000, **found})
            print(d, K, flush=True)
    return rows


def numpy():
    """CoLSTIM beside plain NumPy: do the means agree, and how much faster is it?"""
    rows = []
    marks, runs = [200, 2000], 200
    for d, K in itertools.product((5, 10, 20), (10, 30, 100)):
        problem = md.random_contexts(K, dimension=d, seed=1)
        theta = np.linalg.lstsq(problem.rows, problem.utilities, rcond=None)[0]
        start = time.process_time()
        plain = np.array([colstim(problem.rows, theta, K, marks[-1], set(marks), seed=1000 + run) for run in range(runs)])
        seconds = time.process_time() - start
        ours = measure("colstim", problem, horizon=marks[-1], runs=runs, marks=marks, seed=7)
        rows.append(
            {
                "dimension": d,
                "n_arms": K,
                "marks": marks,
                "ours": ours,
                "numpy": {
                    "mean": plain.mean(axis=0).tolist(),
                    "error": (plain.std(axis=0, ddof=1) / math.sqrt(runs)).tolist(),
                    "nanoseconds": seconds / runs / marks[-1] * 1e9,
                },
            }
        )
        print(rows[-1], flush=True)
    return rows


def estimators():
    """CoLSTIM and MaxPairUCB with the online step, the exact estimate, and the step of public code."""
    rows = []
    for d, K, T in ((5, 10, 4000), (10, 10, 2000), (20, 30, 1500)):
        problem = md.random_contexts(K, dimension=d, seed=1)
        for name in ("colstim", "max-pair-ucb"):
            for estimator in ("online", "exact", "gram"):
                found = measure(name, problem, horizon=T, runs=30, estimator=estimator)
                rows.append({"dimension": d, "n_arms": K, "horizon": T, "policy": name, "estimator": estimator, **found})
                print(rows[-1], flush=True)
    return rows


def slates():
    """LinearSelfSparring under rankings: the Plackett-Luce step against one coin per pair; and both under coins."""
    rows = []
    for world in ("rankings", "coins"):
        problem = md.random_contexts(30, dimension=10, seed=1, answers=world)
        for m in (2, 4, 8):
            for answers in ("rankings", "coins"):
                found = measure("linear-self-sparring", problem, horizon=10_000, runs=40, slate_size=m, answers=answers)
                rows.append({"world": world, "slate_size": m, "answers": answers, "horizon": 10_000, **found})
                print(rows[-1], flush=True)
    return rows


def lies():
    """The first 300 answers turned round: MaxPairUCB, and RCDB prepared for so many."""
    rows = []
    for false in (0, 100, 300):
        problem = md.random_contexts(10, dimension=5, seed=1).corrupted(false)
        for name, words in (("max-pair-ucb", {}), ("rcdb", {"corruption": 100.0}), ("rcdb", {"corruption": 300.0})):
            found = measure(name, problem, horizon=10_000, runs=30, **words)
            rows.append({"false": false, "policy": name, "prepared": words.get("corruption", 0.0), "horizon": 10_000, **found})
            print(rows[-1], flush=True)
    return rows


def late():
    """Answers that are late by a geometric number of rounds."""
    rows = []
    for mean in (0, 50, 500):
        problem = md.random_contexts(10, dimension=5, seed=1)
        for name in ("max-pair-ucb", "colstim", "linear-self-sparring"):
            found = measure(name, problem, horizon=10_000, runs=20, delay=f"geometric:{mean}" if mean else 0)
            rows.append({"delay": mean, "policy": name, "horizon": 10_000, **found})
            print(rows[-1], flush=True)
    return rows


PARTS = {"grid": grid, "numpy": numpy, "estimators": estimators, "slates": slates, "lies": lies, "late": late}


def main() -> None:
    store = json.loads(STORE.read_text()) if STORE.exists() else {}
    for name, part in PARTS.items():
        if name in sys.argv[1:] or (len(sys.argv) == 1 and name not in store):
            store[name] = {"rows": part()}
            STORE.write_text(json.dumps(store, indent=1) + "\n")
    if "grid" in store:
        kept = ("dimension", "n_arms", "slate_size", "horizon", "policy", "runs")
        rows = [
            {key: row[key] for key in kept} | {"mean": row["mean"][-1], "error": row["error"][-1]}
            for row in store["grid"]["rows"]
        ]
        SHIPPED.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    import contexts_page  # beside this file

    contexts_page.write(store, TEMPLATE.read_text(encoding="utf-8"), PAGE)


if __name__ == "__main__":
    main()
