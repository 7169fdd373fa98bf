"""Made instances: the paper's, and families to try an algorithm on.

Papers     AAMAS 2020, Section 6 (synthetic); Komiyama et al. COLT 2015 (the cyclic instance of four arms).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from multiduel.arrays import Floats
from multiduel.inputs import MOST_SEED, BadInput, choice, finite, shortened, truth, whole
from multiduel.problems.links import LINKS, from_utilities
from multiduel.problems.problem import MOST_ARMS, Problem

MOST_SCALE = 1e100  # utilities further apart are no numbers any more


def synthetic(n_arms: int, *, link: str = "linear") -> Problem:
    """Make the paper's synthetic problem: utilities 0.8 for arm 0, then geometric from 0.7 down to 0.2.

    Parameters
    ----------
    n_arms
        How many arms.
    link
        From utilities to chances, as for ``from_utilities``.

    Returns
    -------
    Problem
        Arm 0 is its winner.

    Examples
    --------
    >>> synthetic(5).winner
    0
    """
    return falling("synthetic", n_arms, np.geomspace, link)


def falling(name: str, n_arms: int, steps: Callable[[float, float, int], Floats], link: str) -> Problem:
    """Utilities of 0.8 for arm 0, then in such steps from 0.7 down to 0.2."""
    K = count("n_arms", name, n_arms, 1)
    choice("link", link, LINKS)
    return from_utilities(np.concatenate([[0.8], steps(0.7, 0.2, K - 1)]), link=link, label=f"{name}, K = {K}, {link} link")


def random_utilities(n_arms: int, *, seed: int = 0, link: str = "linear") -> Problem:
    """Draw utilities uniformly from [0, 1).

    Parameters
    ----------
    n_arms
        How many arms.
    seed
        Of the draw.
    link
        From utilities to chances, as for ``from_utilities``.

    Returns
    -------
    Problem
        The same for the same seed.

    Examples
    --------
    >>> random_utilities(5, seed=1).n_arms
    5
    """
    K = count("n_arms", "random_utilities", n_arms, 1)
    choice("link", link, LINKS)
    utilities = _generator("random_utilities", seed).random(K)
    return from_utilities(utilities, link=link, label=f"random utilities, K = {K}, {link} link, seed {seed}")


def bradley_terry(n_arms: int, *, seed: int = 0, scale: float = 1.0) -> Problem:
    """Draw utilities from a normal law, and take the logit link.

    Parameters
    ----------
    n_arms
        How many arms.
    seed
        Of the draw.
    scale
        Standard deviation of the utilities: larger is easier.

    Returns
    -------
    Problem
        The same for the same seed.

    Examples
    --------
    >>> bradley_terry(5, seed=1).link
    'logit'
    """
    K = count("n_arms", "bradley_terry", n_arms, 1)
    scale = finite("scale", scale, of="bradley_terry")
    if not 0 < scale <= MOST_SCALE:
        raise BadInput(f"'scale' of 'bradley_terry' must be above 0 and at most {MOST_SCALE:g}. Got {scale}.")
    utilities = _generator("bradley_terry", seed).normal(0.0, scale, K)
    return from_utilities(utilities, link="logit", label=f"Bradley-Terry, K = {K}, scale {scale:g}, seed {seed}")


def random_tournament(n_arms: int, *, seed: int = 0, condorcet: bool = True) -> Problem:
    """Draw a random winner of every pair, and a strength uniform in (1/2, 1]: no order, no transitivity, no tie.

    Parameters
    ----------
    n_arms
        How many arms.
    seed
        Of the draw.
    condorcet
        With it, a random arm is made to win all its pairs; without, tables are drawn until no arm does.

    Returns
    -------
    Problem
        The same for the same seed.

    Examples
    --------
    >>> random_tournament(5, condorcet=True).winner is None
    False
    """
    truth("condorcet", condorcet)
    K = count("n_arms", "random_tournament", n_arms, 1 if condorcet else 3, "" if condorcet else _NO_WINNER)
    rng = _generator("random_tournament", seed)
    while True:
        P = _random_table(rng, K)
        if condorcet:
            best = int(rng.integers(K))
            P[best] = np.maximum(P[best], 1 - P[best])
            P[:, best] = 1 - P[best]
        kind = "with" if condorcet else "without"
        problem = Problem(P, label=f"tournament, K = {K}, {kind} Condorcet winner, seed {seed}")
        if condorcet or problem.winner is None:
            return problem


def cyclic(n_arms: int, *, gap: float = 0.1, cycle_gap: float = 0.4, condorcet: bool = True) -> Problem:
    """Put arms on a circle, each beating the half that follows it by `cycle_gap`.

    Opposite arms of an even circle: the lower index wins. The default with 4 arms is the instance of Komiyama et al.

    Parameters
    ----------
    n_arms
        How many arms, arm 0 included.
    gap
        By how much arm 0 beats every other, with `condorcet`.
    cycle_gap
        By how much an arm beats those that follow it.
    condorcet
        Whether arm 0 stands outside the circle and beats every arm. Without it, the circle is all there is and nobody wins.

    Returns
    -------
    Problem
        With or without a Condorcet winner.

    Examples
    --------
    >>> cyclic(5, condorcet=False).winner is None
    True
    """
    truth("condorcet", condorcet)
    K = count("n_arms", "cyclic", n_arms, 1 if condorcet else 3, "" if condorcet else _NO_WINNER)
    for name, value in (("gap", gap), ("cycle_gap", cycle_gap)):
        distance(name, "cyclic", value)
    first = 1 if condorcet else 0
    n = K - first
    P = np.full((K, K), 0.5)
    for i in range(n):
        for step in range(1, n // 2 + 1):
            j = (i + step) % n
            if 2 * step < n or i < j:
                P[first + i, first + j] = 0.5 + cycle_gap
                P[first + j, first + i] = 0.5 - cycle_gap
    label = f"cycle, K = {K}, cycle gap {cycle_gap:g}, no Condorcet winner"
    if condorcet:
        P[0, 1:] = 0.5 + gap
        P[1:, 0] = 0.5 - gap
        label = f"cyclic, K = {K}, gap {gap:g}, cycle gap {cycle_gap:g}"
    return Problem(P, label=label)


_NO_WINNER = " without a Condorcet winner"


def count(name: str, owner: str, value: Any, least: int, condition: str = "") -> int:
    """A number of arms, or a seed, if it is one."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise BadInput(f"'{name}' of '{owner}' must be a whole number. Got {shortened(value)}.")
    if value < least:
        raise BadInput(f"'{name}' of '{owner}'{condition} must be at least {least}. Got {shortened(value)}.")
    return whole(name, value, least, MOST_SEED if name == "seed" else MOST_ARMS, of=owner)


def distance(name: str, owner: str, value: Any) -> float:
    """How far from 1/2 a chance is, if it is that."""
    if not 0 < finite(name, value, of=owner) <= 0.5:
        raise BadInput(f"'{name}' of '{owner}' must be above 0 and at most 1/2. Got {value}.")
    return float(value)


def _generator(owner: str, seed: int) -> np.random.Generator:
    return np.random.default_rng(count("seed", owner, seed, 0))


def _random_table(rng: np.random.Generator, K: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    strength = 1 - rng.random((K, K)) / 2  # in (1/2, 1]
    P = np.triu(np.where(rng.random((K, K)) < 0.5, strength, 1 - strength), k=1)
    P += np.tril(1 - P.T, k=-1)
    np.fill_diagonal(P, 0.5)
    return P
