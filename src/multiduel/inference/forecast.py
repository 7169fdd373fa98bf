"""How many more answers until a verdict? A range, from what the answers so far leave possible.

Strengths u with P[i, j] = 1 / (1 + exp(u_j - u_i)) (Bradley and Terry) are fitted to the answers with a ridge, and drawn from
the normal approximation of their posterior. In each draw the strongest b meets each other j in answers drawn from P[b, j], on
top of what is there, until it has the evidence that a winner needs: on average the evidence missing over the information per
answer, with the luck in it. A slate of m compares the winner with m - 1 at once, so the answers needed are those of the longest
pair, or the sum over m - 1, whichever is more. The range is from the 10 % to the 90 % quantile of the draws.

It is a forecast, not a promise: it believes in strengths, and it counts on slates that hold the winner (``challengers``).
docs/verdicts.md says how far off it was.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from multiduel.arrays import Floats, Stream
from multiduel.inference.evidence import run, stakes_of
from multiduel.inference.tally import Tally
from multiduel.inference.verdict import verdict
from multiduel.inputs import MOST_SEED, BadInput, shortened, whole
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.evidence import Bets, log_winnings
from multiduel.kernels.random import binomial, stream

SHOWINGS = 40  # per option, on average: below, the range was wrong by several times
SPREAD = 30.0  # times: a range wider than this says too little to plan with
DRAWS = 200
MANY = 1_000_000  # "more than this" is all that one wants to know
STRIDE = 0.05  # answers drawn at once, as a share of those drawn before
RIDGE = 1.0  # strengths are thought to spread by about 1


class Forecast(NamedTuple):
    """How many answers a verdict still needs, as a range. It is "too early to say" while data are few or the range is too wide.

    >>> forecast(Tally(3)).too_early
    True
    """

    too_early: bool
    low: float = math.nan
    likely: float = math.nan
    high: float = math.nan

    def __str__(self) -> str:
        if self.too_early and math.isnan(self.high):
            return f"too early to say (fewer than {SHOWINGS} showings per option)"
        if self.high == 0:
            return "none: it is settled"
        low, high = _two_digits(self.low), _two_digits(self.high)
        most = f"more than {MANY:,}" if high >= MANY else f"{high:,}"
        if self.too_early:
            return "too early to say (the range is too wide)"
        return f"{low:,} to {most} more answers"


def forecast(
    tally: Tally,
    *,
    slate_size: int = 2,
    alpha: float = 0.05,
    margin: float = 0.0,
    room: int | None = None,
    retired: Iterable[int] = (),
    seed: int = 0,
) -> Forecast:
    """Forecast how many answers are still needed for a winner, if slates of ``slate_size`` are chosen for it.

    Parameters
    ----------
    tally
        The answers so far.
    slate_size
        How many options an answer compares.
    alpha, margin, room, retired
        As for ``verdict``.
    seed
        Of the simulated answers.

    Returns
    -------
    Forecast
        A range, or that it is too early to say. A range of which the end is more than 30 times the beginning is too early too.

    Examples
    --------
    >>> forecast(Tally.of([[0, 90], [2, 0]])).high  # it is settled already
    0.0
    """
    if not isinstance(tally, Tally):
        raise BadInput(f"A forecast needs a Tally ('Tally.of' makes one of counts). Got {shortened(tally)}.")
    if whole("slate_size", slate_size, 0, of="forecast") < 2:
        raise BadInput(f"'slate_size' of a forecast must be at least 2. Got {slate_size}.")
    seed = whole("seed", seed, 0, MOST_SEED, of="forecast")
    now = verdict(tally, alpha=alpha, margin=margin, room=room, retired=retired)
    if now.settled:
        return Forecast(False, 0.0, 0.0, 0.0)
    here = np.array(now.present)
    square, K = np.ix_(here, here), len(here)
    if tally.showings[here].sum() < SHOWINGS * K:
        return Forecast(True)
    above, ties = tally.above[square], tally.ties[square]
    mode, root = strengths(above + 0.5 * ties)
    noise = np.random.default_rng(seed).standard_normal((DRAWS, K))
    draws = mode + np.linalg.solve(root.T, noise.T).T
    missing = np.zeros(DRAWS)
    stakes = stakes_of(0.5 - margin)
    run(
        fill_missing,
        stakes,
        stream(np.random.SeedSequence(seed)),
        draws,
        above,
        ties,
        now.needed,
        min(slate_size, K) - 1.0,
        missing,
    )
    low, likely, high = np.quantile(missing, (0.1, 0.5, 0.9)).tolist()
    return Forecast(is_wide(low, high), low, likely, high)


def is_wide(low: float, high: float) -> bool:
    """Whether a range says too little to plan with."""
    return high > SPREAD * max(low, 1.0)


def strengths(W: Floats) -> tuple[Floats, Floats]:
    """The mode of the ridge Bradley-Terry posterior, and the Cholesky factor of its information there. Newton's method."""
    K = len(W)
    n = W + W.T
    u: Floats = np.zeros(K)
    for _ in range(1000):  # strengths far apart take many: no step is above 1
        p = 1.0 / (1.0 + np.exp(u[None, :] - u[:, None]))
        weight = n * p * p.T
        slope = (W - n * p).sum(axis=1) - RIDGE * u
        information = np.diag(weight.sum(axis=1) + RIDGE) - weight
        step = np.linalg.solve(information, slope)
        largest = float(np.abs(step).max())
        u = u + step / max(1.0, largest)  # far out the curvature says little
        if largest < 1e-9:
            break
    return u, np.asarray(np.linalg.cholesky(information), np.float64)


def fill_missing(
    stakes: Bets, rng: Stream, draws: Floats, above: Floats, ties: Floats, claim: float, rivals_at_once: float, missing: Floats
) -> None:
    """For each draw of strengths, the answers until the strongest has the evidence against every other."""
    K = draws.shape[1]
    for d in range(draws.shape[0]):
        u = draws[d]
        b = 0
        for j in range(K):
            b = j if u[j] > u[b] else b
        longest, total = 0.0, 0.0
        for j in range(K):
            if j != b:
                p = 1.0 / (1.0 + math.exp(u[j] - u[b]))
                n = answers_needed(stakes, rng, p, above[b, j], ties[b, j], above[j, b], claim)
                longest = n if n > longest else longest
                total += n
        total /= rivals_at_once
        missing[d] = total if total > longest else longest


@kernel
def answers_needed(stakes: Bets, rng: Stream, p: float, won: float, level: float, lost: float, claim: float) -> float:
    """Answers, won with chance p each, until the evidence is there: one by one at first, and then more and more at once."""
    n = 0.0
    while log_winnings(stakes.win, stakes.tie, stakes.loss, won, level, lost) < claim and n < MANY:
        step = 1 + int(STRIDE * n)
        gain = float(binomial(step, p, rng))
        won += gain
        lost += step - gain
        n += step
    return n


def _two_digits(x: float) -> int:
    if x <= 0.0:
        return 0
    scale = 10.0 ** max(0, math.floor(math.log10(x)) - 1)
    return int(round(x / scale) * scale)
