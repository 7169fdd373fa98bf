"""Instances that papers measured algorithms on, by the names that they have there.

Papers     Ailon, Karnin, Joachims. ICML 2014 (1good, 2good, 3good, arith, geom: utilities of six arms);
           Sui, Zhuang, Burdick, Yue. UAI 2017 (the same with sixteen arms, and 6good);
           Komiyama et al. COLT 2015 (arithmetic; their cyclic is ``instances.cyclic`` with 4 arms);
           Zoghi et al. NIPS 2015, and Wu and Liu. NIPS 2016 (three Copeland winners in a cycle);
           Komiyama, Honda, Nakagawa. ICML 2016 (Swirl, BvsC).
Deviates   the arithmetic instance equals the file that the paper's first author published with his code, and the cyclic one the
           lower triangle of his (prefmats/ of jkomiyama/duelingbanditlib; a version of the latter contradicts itself above the
           diagonal). The rest was compared with no file and no table: we believe Ailon's utilities to be the published ones,
           and Sui's to be those with sixteen arms; of the last three only the idea is the paper's, in matrices of ours.
"""

from __future__ import annotations

import numpy as np

from multiduel.arrays import Floats
from multiduel.inputs import BadInput, choice
from multiduel.problems.instances import count, distance, falling
from multiduel.problems.links import LINKS, from_utilities
from multiduel.problems.problem import Problem


def good(n_arms: int, n_good: int, *, link: str = "linear") -> Problem:
    """Ailon's 1good, 2good and 3good, Sui's 6good: utilities of 0.8 for the best, 0.7 for other good arms, 0.2 for the rest.

    >>> good(6, 3).utilities.tolist()
    [0.8, 0.7, 0.7, 0.2, 0.2, 0.2]
    """
    name = f"{n_good}good"
    K = count("n_arms", name, n_arms, n_good)
    choice("link", link, LINKS)
    utilities = [0.8] + [0.7] * (n_good - 1) + [0.2] * (K - n_good)
    return from_utilities(utilities, link=link, label=f"{name}, K = {K}, {link} link")


def arith(n_arms: int, *, link: str = "linear") -> Problem:
    """Ailon's arith: utilities of 0.8 for the best, then evenly from 0.7 down to 0.2.

    >>> arith(6).utilities.round(3).tolist()
    [0.8, 0.7, 0.575, 0.45, 0.325, 0.2]
    """
    return falling("arith", n_arms, np.linspace, link)


def geom(n_arms: int, *, link: str = "linear") -> Problem:
    """Ailon's geom: utilities of 0.8 for the best, then geometrically from 0.7 down to 0.2. AAMAS 2020 took it for more arms.

    >>> geom(6).utilities.round(3).tolist()
    [0.8, 0.7, 0.512, 0.374, 0.274, 0.2]
    """
    return falling("geom", n_arms, np.geomspace, link)


def arithmetic(n_arms: int, *, step: float = 0.05) -> Problem:
    """P[i, j] = 1/2 + step (j - i): a total order whose neighbours are hard to tell apart. Published with 8 arms.

    >>> arithmetic(8).matrix[0].round(2).tolist()
    [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85]
    """
    K = count("n_arms", "arithmetic", n_arms, 1)
    if distance("step", "arithmetic", step) * (K - 1) > 0.5 + 1e-12:
        raise BadInput(f"'step' of 'arithmetic' with {K} arms must be at most {0.5 / (K - 1):g}. Got {step}.")
    places = np.arange(K)
    P = np.clip(0.5 + step * (places[None, :] - places[:, None]), 0.0, 1.0)
    return Problem(P, label=f"arithmetic, K = {K}, step {step:g}")


def three_winners(n_arms: int, *, gap: float = 0.1) -> Problem:
    """Three Copeland winners in a cycle, each of which beats all the others, which are in order: nobody beats everybody.

    In the manner of the published one with 500 arms: three winners in a cycle above many others are the paper's. Ours is that
    the others are in order, so that scores are K - 2 three times and then K - 4 to 0, and that every duel is won by `gap`.

    >>> three_winners(6).copeland_winners
    (0, 1, 2)
    """
    K = count("n_arms", "three-winners", n_arms, 3)
    wins = np.triu(np.ones((K, K)), k=1)
    wins[0, 2], wins[2, 0] = 0.0, 1.0
    return Problem(_by(wins, distance("gap", "three-winners", gap)), label=f"three winners, K = {K}, gap {gap:g}")


def swirl(n_arms: int, *, gap: float = 0.1) -> Problem:
    """Arms on a circle, each beating the half that follows it; but arm 0 also beats the arm before it.

    So nobody beats everybody, and arm 0 is the one Copeland winner by a single duel: all scores but two are equal, and each
    hangs on pairs that only a comparison with everybody shows. In the manner of the published Swirl: the name and the circle
    are the paper's; the matrix is ours, for the published one is in no file that we know.

    >>> swirl(7).winner, swirl(7).copeland_winners
    (None, (0,))
    """
    K = count("n_arms", "swirl", n_arms, 5)
    if K % 2 == 0:
        raise BadInput(f"'n_arms' of 'swirl' must be odd. Got {K}.")
    places = np.arange(K)
    wins = (((places[None, :] - places[:, None]) % K >= 1) & ((places[None, :] - places[:, None]) % K <= K // 2)).astype(float)
    wins[0, K - 1], wins[K - 1, 0] = 1.0, 0.0
    return Problem(_by(wins, distance("gap", "swirl", gap)), label=f"swirl, K = {K}, gap {gap:g}")


def borda_or_copeland(n_arms: int, *, gap: float = 0.05, rout: float = 0.45) -> Problem:
    """Arm 0 beats every other narrowly, by `gap`; arm 1 loses to it and beats the rest by far, by `rout`. The rest are in order.

    So the Condorcet and Copeland winner is arm 0 and the Borda winner is arm 1: what is best depends on the question. In
    the manner of the published BvsC: the name and the two winners who differ are the paper's; the matrix is ours, for the
    published one is in no file that we know.

    >>> problem = borda_or_copeland(6)
    >>> problem.winner, problem.borda_winners
    (0, (1,))
    """
    K = count("n_arms", "bvsc", n_arms, 4)
    narrow, wide = distance("gap", "bvsc", gap), distance("rout", "bvsc", rout)
    if wide * (K - 2) <= narrow * K:
        raise BadInput(
            f"'rout' of 'bvsc' with {K} arms must be above {narrow * K / (K - 2):g}, for arm 1 to win by Borda. Got {rout}."
        )
    P = _by(np.triu(np.ones((K, K)), k=1), narrow)
    P[1, 2:], P[2:, 1] = 0.5 + wide, 0.5 - wide
    return Problem(P, label=f"Borda or Copeland, K = {K}, gap {gap:g}, rout {rout:g}")


def _by(wins: Floats, gap: float) -> Floats:
    """The matrix in which i beats j by ``gap`` where wins[i, j] is 1, for a table of who beats whom."""
    return np.asarray(0.5 + gap * (wins - wins.T), np.float64)
