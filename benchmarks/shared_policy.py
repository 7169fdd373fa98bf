"""A shared policy under load: what ask and tell cost with 20,000 pages open; a long life of two workers, with kills and restarts.

PYTHONPATH=src:. python benchmarks/shared_policy.py [postgresql://...]     # times
PYTHONPATH=src:. python benchmarks/shared_policy.py life 2000              # so many searches; at every 100th a worker is killed
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from multiduel import rankers
from multiduel.rankers import shared_policy

OPEN, CALLS = 20_000, 3_000
LISTS = [[f"d{k}" for k in np.random.default_rng(arm).permutation(20)] for arm in range(8)]


class Known:
    """Stands for the policy while pages are made, which are not what is timed."""

    def __init__(self, fingerprint):
        self.fingerprint = fingerprint


def times(where):
    make = {"n_arms": 8, "slate_size": 4, "seed": 1}
    shared = rankers.SharedPolicy(where, "due-duel", **make)
    known = Known(shared.fingerprint)
    first = rankers.multileave(LISTS, shared.ask(), policy=known)
    shared.tell(first, [])  # compiled by now
    slates = [shared.ask() for _ in range(OPEN)]
    pages = [rankers.multileave(LISTS, slate, policy=known, seed=k) for k, slate in enumerate(slates[:CALLS])]
    spent = {"ask": [], "tell": []}
    for page in pages:
        spent["ask"].append(timed(shared.ask))
        spent["tell"].append(timed(lambda page=page: shared.tell(page, page["documents"][:1])))
    for what, seconds in spent.items():
        wall, cpu = 1000 * np.array(seconds).T
        ends = ", ".join(
            f"{name} {value:.3f}" for name, value in (("median", np.median(wall)), ("99 %", np.quantile(wall, 0.99)))
        )
        print(f"{what:5} ms: {ends}, largest {wall.max():.1f}; CPU mean {cpu.mean():.3f}, largest {cpu.max():.1f}")
    print(f"another process starts: {timed(lambda: rankers.SharedPolicy(where, 'due-duel', **make).ask())[0]:.2f} s")
    with shared._writing() as run:
        policy = shared._follow(run)
        saving = 1000 * timed(lambda: shared._snapshot(run, policy))[1]
    print(f"a snapshot, every {shared_policy.SNAPSHOT_EVERY:,} events: {saving:.0f} ms of CPU")
    print(f"sweep of 10,000 pages: {timed(lambda: shared.sweep(0.0))[0]:.2f} s")


def timed(call):
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - cpu


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[1:2] == ["life"]:
            from tests.rankers.test_shared_policy import play_site

            steps = int(sys.argv[2])
            print(play_site(Path(folder), steps, set(range(50, steps, 100)), set(range(500, steps, 500))))
        else:
            times(sys.argv[1] if sys.argv[1:] else Path(folder) / "policy.db")
