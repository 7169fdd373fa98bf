"""The instances of suite v1: twenty per family, each a function of its number alone.

Chances are rounded to six decimals, so that processors whose ``exp`` differs in the last bit make the same instances, and the
hash of the suite is the same everywhere. Families whose answers rank a slate are strengths, rounded likewise.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from multiduel.arrays import Floats
from multiduel.problems import Problem, bradley_terry, cyclic, instance, random_tournament, random_utilities, synthetic
from multiduel.problems.links import from_utilities

INSTANCES = 20  # of a family
SIZES = (5, 10, 20, 40)  # arms of families that are drawn: five instances of each
DECIMALS = 6
MOST_DRAWS = 1000  # until a drawn table has a Condorcet winner


def rounded(problem: Problem) -> Problem:
    """The problem with its chances rounded."""
    upper = np.triu(problem.matrix.round(DECIMALS), k=1)
    P = upper + np.tril(1.0 - upper.T, k=-1)
    np.fill_diagonal(P, 0.5)
    return Problem(P, problem.names, problem.label, problem.utilities, problem.link)


def drawn(make: Callable[[int, int], Problem], first_seed: int) -> list[Problem]:
    """Five instances of each size, in the order of their seeds."""
    sizes = [size for size in SIZES for _ in range(INSTANCES // len(SIZES))]
    return [rounded(make(n_arms, first_seed + number)) for number, n_arms in enumerate(sizes)]


def arithmetic() -> list[Problem]:
    """P[i, j] = 1/2 + step (j - i). That of 8 arms and step 0.05 is the published one."""
    pairs = itertools.product((5, 8, 10, 16, 24), (0.4, 0.55, 0.7, 0.85))
    return [rounded(instance("arithmetic", K, step=round(share * 0.5 / (K - 1), 9))) for K, share in pairs]


def geometric() -> list[Problem]:
    """Ailon's geom for 5 to 40 arms, with two links. That of 6 arms and the linear link is the published one."""
    pairs = itertools.product((5, 6, 8, 10, 12, 16, 20, 24, 32, 40), ("linear", "logit"))
    return [rounded(instance("geom", K, link=link)) for K, link in pairs]


def paper() -> list[Problem]:
    """The synthetic sets of AAMAS 2020 with 48 and 72 arms, and the same law for other numbers of arms."""
    sets = [(48, "linear"), (48, "natural"), (48, "logit"), (72, "linear"), (72, "natural")]
    sets += list(itertools.product((24, 30, 36, 42, 60), ("linear", "natural", "logit")))
    return [rounded(synthetic(K, link=link)) for K, link in sets]


def cyclic_margins() -> list[Problem]:
    """A narrow winner above a cycle. That of 4 arms and gap 0.1 is the published one."""
    pairs = itertools.product((4, 6, 10, 16, 24), (0.05, 0.1, 0.15, 0.2))
    return [rounded(cyclic(K, gap=gap)) for K, gap in pairs]


def small_margins(n_arms: int, seed: int) -> Problem:
    """Margins as among the six rankers of arXiv: a winner by 0.04 to 0.11 over each, all others by 0 to 0.1, in an order that
    single pairs break."""
    rng = np.random.default_rng([6, seed])
    margin = np.triu(np.clip(0.015 * _apart(n_arms) + rng.uniform(-0.03, 0.05, (n_arms, n_arms)), -0.02, 0.1), k=1)
    margin[0, 1:] = np.sort(rng.uniform(0.04, 0.11, n_arms - 1))
    return _from_margins(margin, f"small margins, K = {n_arms}, seed {seed}")


def mixed_tastes(n_arms: int, seed: int) -> Problem:
    """Margins as among kinds of sushi: three groups of people with tastes of their own; P[i, j] is the share who prefer i."""
    for draw in range(MOST_DRAWS):
        rng = np.random.default_rng([16, seed, draw])
        common = rng.normal(0.0, 0.8, n_arms)
        P = np.zeros((n_arms, n_arms))
        for share in rng.dirichlet((4.0, 3.0, 2.0)):
            taste = common + rng.normal(0.0, 0.6, n_arms)
            P += share / (1.0 + np.exp(taste[None, :] - taste[:, None]))
        problem = _from_margins(np.triu(P - 0.5, k=1), f"mixed tastes, K = {n_arms}, seed {seed}")
        if rounded(problem).winner is not None:
            return problem
    raise AssertionError(f"No Condorcet winner in {MOST_DRAWS} draws.")


def disputed(n_arms: int, seed: int) -> Problem:
    """A tournament whose Condorcet winner keeps a quarter of its margins: another arm is the Borda winner."""
    problem = random_tournament(n_arms, seed=seed)
    P, best = problem.matrix.copy(), problem.winner
    assert best is not None
    P[best] = 0.5 + (P[best] - 0.5) / 4.0
    P[:, best] = 1.0 - P[best]
    return _from_margins(np.triu(P - 0.5, k=1), f"disputed {problem.label}")


def ties(n_arms: int, seed: int) -> Problem:
    """Random utilities, the best once and every other twice: exact ties between losers."""
    utilities = np.sort(np.random.default_rng([24, seed]).random(1 + n_arms // 2))[::-1]
    pairs = np.repeat(utilities[1:], 2)[: n_arms - 1]
    return from_utilities(np.concatenate([utilities[:1], pairs]), label=f"ties, K = {n_arms}, seed {seed}")


def no_winner() -> list[Problem]:
    """Tournaments without a Condorcet winner, two of Swirl and two of three winners in a cycle."""
    made = [instance("swirl", K) for K in (9, 21)] + [instance("three-winners", K) for K in (10, 30)]
    sizes = [size for size in SIZES for _ in range(4)]
    made += [random_tournament(K, seed=12_000 + number, condorcet=False) for number, K in enumerate(sizes)]
    return [rounded(problem) for problem in made]


def strengths(first_seed: int) -> list[Problem]:
    """Bradley-Terry strengths, rounded themselves: answers that rank a slate are drawn from them."""
    made = []
    for number, problem in enumerate(drawn(lambda K, seed: bradley_terry(K, seed=seed), first_seed)):
        assert problem.utilities is not None
        label = f"Plackett-Luce, K = {problem.n_arms}, seed {first_seed + number}"
        made.append(from_utilities(problem.utilities.round(DECIMALS), link="logit", label=label))
    return made


def many_arms(n_arms: int) -> list[Problem]:
    """Ten draws of random utilities and ten of Bradley-Terry strengths."""
    half, first_seed = INSTANCES // 2, 20_000 + n_arms
    linear = [random_utilities(n_arms, seed=first_seed + 1000 * k) for k in range(half)]
    return [rounded(each) for each in (*linear, *(bradley_terry(n_arms, seed=first_seed + 1000 * k) for k in range(half)))]


def _apart(n_arms: int) -> Floats:
    places = np.arange(n_arms)
    return np.asarray(places[None, :] - places[:, None], np.float64)


def _from_margins(margin: Floats, label: str) -> Problem:
    """From an upper triangle of how far each chance is above 1/2."""
    return Problem(0.5 + margin - margin.T, label=label)
