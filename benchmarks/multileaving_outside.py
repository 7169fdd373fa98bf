"""The published methods against an implementation of others, mpkato/interleaving: the same pages, the same clicks.

    git clone https://github.com/mpkato/interleaving
    PYTHONPATH=src:interleaving python benchmarks/multileaving_outside.py

It prints of how many pairs of rankers, on the same page with the same clicks, both say the same; how often each page is made of
the same short rankings by both, the largest difference in standard errors; and how often the linear program of optimised
multileaving has a solution. Needs SciPy; half a CPU minute.
"""

from __future__ import annotations

import itertools
import sys
import types
from collections import Counter

import numpy as np

from multiduel import rankers

sys.modules.setdefault("pulp", types.ModuleType("pulp"))  # needed by a method that is not compared
import interleaving  # noqa: E402
from interleaving.ranking import (  # noqa: E402
    BalancedRanking,
    CreditRanking,
    PairwisePreferenceRanking,
    ProbabilisticRanking,
    TeamRanking,
)

PAGES, DRAWS = 400, 20_000
OUTSIDE = {"balanced": "Balanced", "team-draft": "TeamDraft", "probabilistic": "Probabilistic", "pairwise": "PairwisePreference"}


def made(rng, method, n, documents, length):
    lists = [[f"d{d}" for d in rng.permutation(documents)] for _ in range(n)]
    page = rankers.multileave(lists, method=method, length=length, ties="half", seed=int(rng.integers(2**32)))
    clicks = [k for k in range(length) if rng.random() < 0.35]
    return lists, page, clicks


def outcomes(method, lists, page, clicks):
    """What the others say of every pair: the part that the first won."""
    documents, n = page["documents"], len(lists)
    if method == "balanced":
        ranking = BalancedRanking(documents)
        ranking.a, ranking.b = lists
        return by_credit(interleaving.Balanced.compute_scores(ranking, clicks))
    if method == "team-draft":
        ranking = TeamRanking(range(n), documents)
        for document, row in zip(documents, page["evidence"], strict=True):
            ranking.teams[row.index(1.0)].add(document)
        return by_credit(interleaving.TeamDraft.compute_scores(ranking, clicks))
    if method == "pairwise":
        return by_credit(interleaving.PairwisePreference.compute_scores(PairwisePreferenceRanking(lists, documents), clicks))
    if method == "optimised":
        ranking = CreditRanking(n, documents)
        for a, document in itertools.product(range(n), documents):
            ranking.credits[a][document] = 1.0 / (lists[a].index(document) + 1)
        return by_credit(interleaving.Optimized.compute_scores(ranking, clicks))
    found = interleaving.Probabilistic.compute_scores(ProbabilisticRanking(lists, documents), clicks, n=10**12)
    total = sum(chance for _, chance in found.allocations.values())
    won = np.full((n, n), 0.5)
    for a, b in itertools.permutations(range(n), 2) if total else ():
        won[a, b] = sum(p * (0.5 + 0.5 * np.sign(c[a] - c[b])) for c, p in found.allocations.values()) / total
    return won


def by_credit(scores):
    credit = np.array([scores[a] for a in range(len(scores))])
    difference = np.round(credit[:, None] - credit, 9)
    return 0.5 + 0.5 * np.sign(difference)


def judged(method, n):
    rng, same, pairs, furthest = np.random.default_rng(n), 0, 0, 0.0
    for _ in range(PAGES):
        lists, page, clicks = made(rng, method, n, 10, 6)
        if not clicks:
            continue
        ours = rankers.credit(page, [page["documents"][k] for k in clicks])
        theirs = outcomes(method, lists, page, clicks)
        for a, b in itertools.combinations(range(n), 2):
            furthest = max(furthest, abs(ours[a, b] - theirs[a, b]))
            if method == "probabilistic":
                same += abs(ours[a, b] - theirs[a, b]) < 1e-9
            else:
                same += np.sign(round(ours[a, b] - 0.5, 9)) == np.sign(theirs[a, b] - 0.5)
            pairs += 1
    return same, pairs, furthest


def pages(method, n):
    """The largest difference in how often a page is made, in standard errors, and how many pages there are."""
    rng = np.random.default_rng(n)
    lists = [[f"d{d}" for d in rng.permutation(5)] for _ in range(n)]
    np.random.seed(n)
    other = getattr(interleaving, OUTSIDE[method])(lists, max_length=3)
    ours = Counter(tuple(rankers.multileave(lists, method=method, length=3, seed=k)["documents"]) for k in range(DRAWS))
    theirs = Counter(tuple(other.interleave()) for _ in range(DRAWS))
    p = {page: (ours[page] + theirs[page]) / (2 * DRAWS) for page in ours | theirs}
    z = [abs(ours[page] - theirs[page]) / np.sqrt(2 * DRAWS * q * (1 - q)) for page, q in p.items() if q < 1]
    return max(z, default=0.0), len(p)


def solved(n):
    """Of how many sets of rankings the published linear program has a solution, with 32 candidate lists."""
    rng, count = np.random.default_rng(n), 0
    for _ in range(50):
        lists = [[f"d{d}" for d in rng.permutation(10)] for _ in range(n)]
        try:
            interleaving.Optimized(lists, max_length=6, sample_num=32, secure_sampling=True)
            count += 1
        except (TypeError, ValueError):  # there is none
            pass
    return count, 50


if __name__ == "__main__":
    for method in sys.argv[1:] or ("balanced", "team-draft", "probabilistic", "pairwise", "optimised"):
        for n in (2,) if method == "balanced" else (2, 4):
            same, of, furthest = judged(method, n)
            print(
                f"{method}, {n} rankers: {same:,} of {of:,} pairs the same, outcomes apart by {furthest:.2g} at most", flush=True
            )
            if method in OUTSIDE:
                z, count = pages(method, n)
                print(f"  {count} different pages, at most {z:.1f} standard errors apart", flush=True)
            else:
                print("  linear program solved for {} of {} sets of rankings".format(*solved(n)), flush=True)
