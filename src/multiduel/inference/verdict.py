"""Say whether the best option is certain: a verdict for any time, from answers to slates chosen in any way.

**Evidence.** For a pair (i, j) let X be 1, 1/2 or 0 in each answer that judges it: i above, level, below. The claim "E[X | all
before, the slate, and that the pair is judged] <= q in every answer" is tested by bets (``kernels.evidence``): money that an
answer multiplies by 1 + b (X - q) / q, with b in (0, 1). It is never negative, and under the claim its expectation does not
grow: a supermartingale from 1, and so is the mean of 24 such. By Ville's inequality the chance that it *ever* reaches 1/a is
at most a, whichever slates were shown and whenever one stops. At q = 1/2 a tie multiplies by 1, and the money is
exp L[i, j] = mean_g (1 + b_g)^D[i,j] (1 - b_g)^D[j,i]: a function of counts alone, so that the order of answers does not matter.

**Winner b**: min_j L[b, j] >= ln(K / alpha). *Error at most alpha*: let b be an option that does not beat all others. Then there
is one j that b does not beat, L[b, j] is such a bet, and ever reaches ln(K / alpha) with chance alpha / K at most. Union over
the K options. Nothing is assumed of how the answers to the pairs of one ranking depend on each other.

**Out h**: ln mean_{j != h} exp L[j, h] >= ln(1 / alpha). *An option that beats all others, if there is one, is ever out with
chance alpha at most*: if h is that option, all the bets exp L[j, h] are supermartingales, and so is their mean.
Hence, with the same confidence, the best is among those still in, if there is a best; and **all out** says that no option
beats all others. The last one still in is not the winner for that: in a cycle it would be wrong every time.

**The cycle** that is named when all are out follows, from option to option, the one with the most evidence of beating it; each
step has evidence ln(1 / alpha) at least, because a mean is at most its largest term. That there is no winner is certain to
1 - alpha; so is the cycle itself only where ``cycle_is_certain``: each step then has ln(K (K - 1) / alpha), a union over pairs.

**Margin e.** Two equal options on top are never told apart. "No option is preferred to b in more than 1/2 + e of the answers,
ties counting half" is refuted for b if some j has E[X_bj] < 1/2 - e; so the same bets with q = 1/2 - e, for which a tie is now
good news (it multiplies by 1 + b e / q), and the same union. Out stays as it is, at 1/2.
*The margin may be chosen after looking, and changed*: say that b is wrong at every margin up to e, because of j. The bets on
(b, j) only fall as q rises, so a wrong claim for b at any of these margins needs those at q = 1/2 - e to reach K / alpha: one
event for all margins together, with chance alpha / K at most.

**Options that come and go** (``room = N`` in all, stated from the start). Until the first retirement a false winner b has a
first j to come that it does not beat: a union over N, with alpha / 2. Afterwards who is present was chosen, so that every pair
must hold: N (N - 1) for N, with the other alpha / 2. Out is then shared out likewise, because the option that beats all others
may be another one as options come and go: ln(2 N / alpha) for the mean over the N - 1 places, of which empty ones count 1, and
after a retirement some L[j, h] >= ln(2 N (N - 1) / alpha).

**For whom.** The claims are about the answers that come. If a few raters answer often, that is about these raters.
With ``unit="rater"`` only the first judgement of a pair by each rater counts: then it is about people like them, provided that
raters come as a sample of these people, and that which pairs a rater sees does not hang on his or her own earlier answers
(policies look at the sum over all raters, in which one's own are few).

With ``unit="case"`` only the first judgement of a pair on each case (a question that the options answer) counts: asking a judge
that answers alike again is no new evidence. Then it is about cases like these, provided that the cases are a sample of them, and
that the next case of a pair is drawn without looking at how the pair did on it.

Ville 1939; Howard, Ramdas, McAuliffe, Sekhon 2021; Waudby-Smith, Ramdas 2024.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from multiduel.arrays import Floats
from multiduel.inference.evidence import Weighed, evidence, known_margin, pair_intervals
from multiduel.inference.tally import Counts, Tally, known_unit
from multiduel.inputs import BadInput, listed, names_of, share, shortened, whole

MOST_ROOM = 10**9  # options there may ever be
LEAST_ERROR = 1e-300  # of an interval: smaller ones are no numbers
KINDS = ("winner", "narrowed", "cycle", "open")


class Score(NamedTuple):
    """An option's score with its interval; all options' hold together, at all times.

    >>> first = verdict([[0, 90], [2, 0]]).borda[0]
    >>> first.arm, first.low < first.value <= first.high
    (0, True)
    """

    arm: int
    value: float
    low: float
    high: float


VerdictKind = Literal["winner", "narrowed", "cycle", "open"]


@dataclass(frozen=True, eq=False, repr=False)
class Verdict:
    """Whether the answers so far determine the best option. Print it to read it as a sentence. The module's text has the theorem.

    >>> verdict([[0, 90], [2, 0]]).kind
    'winner'
    """

    kind: VerdictKind  # "winner"; "narrowed": some are out; "cycle": all are out; "open": none is
    winner: int | None
    still_in: tuple[int, ...]  # if one option beats all others, it is one of these
    out: tuple[int, ...]
    cycle: tuple[int, ...]  # each beats the next, and the last the first
    cycle_is_certain: bool
    alpha: float
    margin: float
    unit: str
    names: tuple[str, ...]
    present: tuple[int, ...]
    needed: float  # evidence that a winner needs against each other option
    pairs: float  # what a claim about single pairs needs, for all of them to hold together
    evidence: Floats  # f8[K, K]  L, with the margin if there is one
    against: Floats  # f8[K]     evidence against "it beats all others"
    tally: tuple[Floats, Floats]  # answers above, answers level

    @property
    def settled(self) -> bool:
        """Whether the question is answered: there is a winner, or it is certain that there is none."""
        return self.kind in ("winner", "cycle")

    def __str__(self) -> str:
        from multiduel.inference.words import sentence

        return sentence(self)

    def __repr__(self) -> str:
        return f"<Verdict {self.kind}: {self}>"

    @cached_property
    def intervals(self) -> tuple[Floats, Floats]:
        """Intervals (low, high) of every P[i, j]; all hold together, at all times."""
        error = max(LEAST_ERROR, min(1.0, 2.0 * math.exp(-self.pairs))) if len(self.names) > 1 else 1.0
        return pair_intervals(*self.tally, error=error)

    @cached_property
    def copeland(self) -> tuple[Score, ...]:
        """How many others each option beats, best first. Ties in evidence count half in the value."""
        here, (above, _) = np.array(self.present), self.tally
        D = above[np.ix_(here, here)]
        sure = self._even[np.ix_(here, here)] >= self.pairs
        value = (D > D.T).sum(axis=1) + 0.5 * ((D == D.T).sum(axis=1) - 1)
        return self._scores(value, sure.sum(axis=1), len(here) - 1 - sure.sum(axis=0))

    @cached_property
    def borda(self) -> tuple[Score, ...]:
        """Each option's mean chance against the others, ties half, best first. A pair that was never judged counts 1/2."""
        here, (above, ties) = np.array(self.present), self.tally
        square = np.ix_(here, here)
        judgements = (above + above.T + ties)[square]
        share = np.divide((above + 0.5 * ties)[square], judgements, out=np.full(judgements.shape, 0.5), where=judgements > 0)
        np.fill_diagonal(share, 0.0)
        low, high = (ends[square] for ends in self.intervals)
        others = max(1, len(here) - 1)
        ends = ((end.sum(axis=1) - end.diagonal()) / others for end in (low, high))
        return self._scores(share.sum(axis=1) / others, *ends)

    @cached_property
    def _even(self) -> Floats:
        return self.evidence if self.margin == 0.0 else evidence(*self.tally)[0]

    def _scores(self, value: Any, low: Any, high: Any) -> tuple[Score, ...]:
        rows = [Score(arm, *map(float, row)) for arm, *row in zip(self.present, value, low, high, strict=True)]
        return tuple(sorted(rows, key=lambda row: (-row.value, -row.low, row.arm)))

    def to_json(self) -> dict[str, Any]:
        """Write the verdict and the numbers behind it as plain JSON."""
        return {
            "kind": self.kind,
            "sentence": str(self),
            "winner": self.winner,
            "still_in": list(self.still_in),
            "out": list(self.out),
            "cycle": list(self.cycle),
            "cycle_is_certain": self.cycle_is_certain,
            "confidence": 1.0 - self.alpha,
            "margin": self.margin,
            "unit": self.unit,
            "needed": self.needed,
            "above": self.tally[0].tolist(),
            "ties": self.tally[1].tolist(),
        }


class Needed(NamedTuple):
    """How much evidence a claim needs."""

    winner: float
    out: float
    pairs: float  # for claims about all pairs at once


def needed(n_arms: int, alpha: float, room: int | None = None, retired: bool = False) -> Needed:
    if room is None:
        return Needed(math.log(n_arms / alpha), math.log(1.0 / alpha), math.log(max(1, n_arms * (n_arms - 1)) / alpha))
    every_pair = math.log(2.0 * max(1, room * (room - 1)) / alpha)
    few = every_pair if retired else math.log(2.0 * room / alpha)
    return Needed(few, few, every_pair)


def verdict(
    answers: Counts | Any,
    ties: Any = None,
    *,
    alpha: float = 0.05,
    margin: float = 0.0,
    room: int | None = None,
    retired: Iterable[int] = (),
    names: Sequence[str] | None = None,
    unit: str | None = None,
    weighed: Weighed | None = None,
) -> Verdict:
    """Judge, from the counts of answers, which option is best.

    The verdict may be asked for as often as one likes: the error is at most ``alpha`` over all times together.

    Parameters
    ----------
    answers
        A ``Tally``, or a table of counts: ``answers[i][j]`` placed i above j.
    ties
        ``ties[i][j]`` placed them level.
    alpha
        The largest chance of an error.
    margin
        With 0.05, an option is a winner if no other is preferred to it in more than 55 % of the answers, ties counting half,
        so that equal leaders can be settled. It may be chosen after looking.
    room
        The number of options there will ever be, if some come or go.
    retired
        The options that went.
    names
        The options' names, for the sentence.
    unit
        "answer", "rater" or "case": whether the counts are of all answers, of each rater's first judgements, or of the first
        judgements on each case. A Tally knows.
    weighed
        The evidence of these counts, if it is kept.

    Returns
    -------
    Verdict
        Print it: it is a sentence.

    Raises
    ------
    BadInput
        If the counts are not a table of numbers of at least 0, or an argument is out of its range.

    Examples
    --------
    >>> print(verdict([[0, 30, 30], [2, 0, 20], [1, 12, 0]], names=["mild", "sharp", "bitter"]))
    'mild' is best for these raters (95 %): against each other option, more than half of the \
answers that tell the two apart place it above.
    """
    given = None if unit is None else known_unit(unit)
    tally = answers if isinstance(answers, Counts) else Tally.of(answers, ties, unit=given or "answer")
    if given is not None and given != tally.unit:
        raise BadInput(f"'unit' of this tally is '{tally.unit}'. Got '{unit}'.")
    K = tally.n_arms
    gone = _checked(K, alpha, margin, room, retired)
    labels = tuple(f"option {arm}" for arm in range(K)) if names is None else names_of(names, K, of="verdict")
    if weighed is not None and (not isinstance(weighed, Weighed) or weighed.even.shape != (K, K)):
        raise BadInput(f"'weighed' of 'verdict' must be the evidence of these counts. Got {shortened(weighed)}.")
    here = tuple(arm for arm in range(K) if arm not in gone)
    claim = needed(K, alpha, room, bool(gone))
    above, level = tally.above.copy(), tally.ties.copy()
    even, against, L = weighed or Weighed.of(above, level, margin)
    square = np.ix_(here, here)
    if gone:
        against = against.copy()
        against[list(here)] = _without_diagonal(even[square], -math.inf).max(axis=0)
    elif room is not None and room > 1:  # places that are empty still hold the 1 that was bet on them
        taken = against + math.log(K - 1) if K > 1 else against
        empty = math.log(room - K) if room > K else -math.inf
        against = np.logaddexp(taken, empty) - math.log(room - 1)
    least = _without_diagonal(L[square], math.inf).min(axis=1)
    best = int(least.argmax())
    winner = here[best] if least[best] >= claim.winner else None
    out = tuple(h for h in here if against[h] >= claim.out and h != winner)
    still_in = tuple(sorted(set(here) - set(out)))
    cycle = _cycle(even, here) if not still_in else ()
    steps = [even[i, j] for i, j in zip(cycle, (*cycle[1:], *cycle[:1]), strict=True)]
    return Verdict(
        kind="winner" if winner is not None else "cycle" if not still_in else "narrowed" if out else "open",
        winner=winner,
        still_in=still_in,
        out=out,
        cycle=cycle,
        cycle_is_certain=bool(cycle) and bool(min(steps) >= claim.pairs),
        alpha=alpha,
        margin=margin,
        unit=tally.unit,
        names=labels,
        present=here,
        needed=claim.winner,
        pairs=claim.pairs,
        evidence=L if weighed is None else L.copy(),  # what is kept will change
        against=against,
        tally=(above, level),
    )


def _checked(n_arms: int, alpha: float, margin: float, room: int | None, retired: Iterable[int]) -> set[int]:
    share("alpha", alpha, of="verdict")
    known_margin(margin, of="verdict")
    if room is not None and whole("room", room, 1, MOST_ROOM, of="verdict") < n_arms:
        raise BadInput(f"'room' must be at least the number of options so far, {n_arms}. Got {room}.")
    named = listed("retired", retired, of="verdict")
    try:
        gone = {operator.index(arm) for arm in named}
    except TypeError:
        gone = {-1}
    if not gone <= set(range(n_arms)) or len(gone) == n_arms:
        raise BadInput(f"'retired' must name some of the options 0 to {n_arms - 1}, not all. Got {shortened(named)}.")
    if gone and room is None:
        raise BadInput("Options can retire only where 'room', the number of options in all, was stated from the start.")
    return gone


def _without_diagonal(L: Floats, filling: float) -> Floats:
    table = L.copy()
    np.fill_diagonal(table, filling)
    return table


def _cycle(L: Floats, here: Sequence[int]) -> tuple[int, ...]:
    """From any option to the one with the most evidence of beating it, and on, until one comes again."""
    path: list[int] = []
    arm = here[0]
    while arm not in path:
        path.append(arm)
        arm = max((j for j in here if j != arm), key=lambda j, h=arm: L[j, h])  # type: ignore[misc]
    return tuple(reversed(path[path.index(arm) :]))
