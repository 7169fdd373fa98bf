"""Comparisons per second on one core: compiled, against the plain Python of tests/naive/rankers.py, in the same run.

    PYTHONPATH=src:. python benchmarks/rankers.py [LETOR file ...]

Without files, a generated collection. The plain implementation does the same comparisons: same queries, same lists,
same clicks, same outcomes, which is checked on the way. It is written to be read: where it recomputes a softmax for
every slot the ratio is one of algorithms too; team draft and balanced show the language alone. At m = 8 it credits
drawn rankers for 'probabilistic', since its average over all assignments would take minutes.
"""

from __future__ import annotations

import itertools
import sys
import time

import numpy as np

from multiduel import rankers
from multiduel.kernels.compiler.dispatch import entry
from multiduel.kernels.random import place, reseed
from multiduel.rankers.matrix import SUMS, count_wins
from tests.naive import rankers as naive


def main() -> None:
    files = sys.argv[1:]
    queries = rankers.read_letor(*files) if files else rankers.generate(queries=100, documents=100, features=20)
    lineup = rankers.line_up(queries)
    print(f"{' '.join(files) or 'generated'}: {lineup}, informational clicks, top 10")
    print(f"{'method':20} {'m':>2} {'compiled/s':>12} {'plain/s':>10} {'ratio':>8}")
    for method in rankers.METHODS:
        for m in (2,) if method == "balanced" else (2, 8):
            fast, slow = both(lineup, method, m)
            print(f"{method:20} {m:2} {fast:12,.0f} {slow:10,.0f} {fast / slow:8,.0f}")


def both(lineup: rankers.Lineup, method: str, m: int) -> tuple[float, float]:
    """Comparisons per second, compiled and plain, of ``m`` rankers from the best to the worst."""
    ends = itertools.pairwise(lineup.offset.tolist())
    collection = [(lineup.grade[lo:hi].tolist(), lineup.order[:, lo:hi].tolist()) for lo, hi in ends]
    problem = rankers.click_problem(lineup, method=method, ties="half")
    slate = np.argsort(-lineup.ndcg())[np.linspace(0, lineup.n_arms - 1, m).astype(int)]
    fast, wins = compiled(problem, slate)
    return fast, plain(problem, slate, collection, wins)


def compiled(problem: rankers.ClickProblem, slate: np.ndarray) -> tuple[float, list[np.ndarray]]:
    """Comparisons per second, and the outcomes of the first few."""
    m = len(slate)
    world = problem.world(np.arange(problem.n_arms), m)
    run = entry(count_wins, world, problem.method, type(world.method))
    first = []
    for t in range(1, 6):
        wins, sums = np.zeros((m, m)), np.zeros((SUMS, m, m))
        run.call(world, np.uint64(1), t, 1, slate, wins, sums)
        first.append(sums[0])
    wins, sums = np.zeros((m, m)), np.zeros((SUMS, m, m))
    rate = 0.0
    for _ in range(3):  # the best of three: other work on the machine only slows down
        count, seconds = 500, 0.0
        while seconds < 0.2:
            count *= 2
            start = time.thread_time()
            run.call(world, np.uint64(1), 1, count, slate, wins, sums)
            seconds = time.thread_time() - start
        rate = max(rate, count / seconds)
    return rate, first


def plain(problem: rankers.ClickProblem, slate: np.ndarray, collection: list, known: list[np.ndarray]) -> float:
    tables = problem.clicks.click.tolist(), problem.clicks.stop.tolist()
    chosen, words = slate.tolist(), np.zeros(4, np.uint64)
    cheaper = problem.method == "probabilistic" and len(chosen) > 2
    judge = naive.count_drawn if cheaper else None  # averaging over 8^clicks assignments would be no fair opponent
    count, start = 0, time.thread_time()
    while count < 5 or time.thread_time() - start < 1.0:
        count += 1
        reseed(place(np.uint64(1), count), 0, words)
        wins = naive.compare(problem.method, collection, *tables, chosen, words, judge)
        if judge is None and count <= len(known):
            np.testing.assert_allclose(known[count - 1], wins, atol=1e-9)
    return count / (time.thread_time() - start)


if __name__ == "__main__":
    main()
