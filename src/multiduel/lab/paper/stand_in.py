"""What takes the place of the MSLR rankers where their data is not at hand: rankers of a generated corpus, clicks and all.

A corpus is made up, each of its features is a ranker, simulated informational users click on probabilistic interleavings of
two rankers' lists, and of the matrix so estimated a totally ordered part is kept. That is how the paper's instance came
about, on other data. It is not MSLR: every title and label says so.
"""

from __future__ import annotations

import functools

from multiduel.problems import Problem, from_matrix

LABEL = "generated rankers, not MSLR"
SPARE = 1.6  # so many features per ranker kept
COMPARISONS = 4000  # users per pair


@functools.cache
def stand_in(arms: int = 24) -> Problem:
    """``arms`` rankers in a total order, from a generated corpus. The same on every machine."""
    from multiduel import rankers

    corpus = rankers.generate(queries=200, documents=30, features=max(arms + 2, round(SPARE * arms)), seed=24)
    clicks = rankers.click_problem(rankers.line_up(corpus), clicks="informational", method="probabilistic", ties="half")
    whole = rankers.estimate_matrix(clicks, comparisons=COMPARISONS, seed=24).problem
    kept = rankers.take(whole, rankers.total_order(whole, arms, margin=None))
    return from_matrix(kept.matrix, names=kept.names, label=f"{LABEL}: {arms} of {whole.n_arms} features of a made-up corpus")
