"""A verdict once reached stands: the largest evidence that there ever was, and what it settles.

``verdict`` bounds the chance that the evidence for a wrong claim *ever* reaches what the claim needs (Ville's inequality). So the
largest evidence so far may stand for the evidence now, pair by pair, with the same error:

    winner b     min_j max_t L_t[b, j] >= ln(K / alpha)
    out h        max_t ln mean_j exp L_t[j, h] >= ln(1 / alpha)

The union over options is that of ``verdict``: a wrong b has one j that it does not beat, and the largest evidence on that pair
alone reaches ln(K / alpha) with chance alpha / K at most. A report that is made every day then never takes back what it said. If
later answers speak against it, that is said beside it: either the verdict is one of the errors that alpha allows, or those who
answer have changed.

Without a margin the first winner is the winner. With a margin several options may be within it, and all of them are named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.inference.evidence import evidence, known_margin, run, stakes_of
from multiduel.inference.tally import MOST_ARMS, Tally
from multiduel.inference.verdict import Verdict, needed, verdict
from multiduel.inference.words import listed, percent
from multiduel.inputs import BadInput, share, shortened, truth, whole
from multiduel.kernels.evidence import Bets, log_mean_against, log_winnings

NEVER = -1


class Course(NamedTuple):
    """Arrays that compiled code changes in place."""

    above: Floats  # f8[K, K]
    ties: Floats  # f8[K, K]
    even: Floats  # f8[K, K]  evidence at 1/2, now
    peak: Floats  # f8[K, K]  the largest evidence, at the null of the margin
    peak_against: Floats  # f8[K]
    beaten: Ints  # i8[K]  how many others it has the evidence against
    won_at: Ints  # i8[K]  the answer with which it became a winner, from 0
    out_at: Ints  # i8[K]  the answer with which it went out


def follow_rows(
    stakes: Bets, apart: Bets, first: Ints, second: Ints, won: Floats, at: Ints, course: Course, winner: float, out: float
) -> None:
    """Count judgements one by one; ``won`` is the first's part, a tie being 1/2. The null of ``apart`` is the margin's."""
    above, ties, even = course.above, course.ties, course.even
    K = above.shape[0]
    for row in range(first.shape[0]):
        i, j, part = first[row], second[row], won[row]
        if part < 0.5:
            i, j, part = j, i, 1.0 - part
        above[i, j] += 2.0 * part - 1.0
        level = 2.0 - 2.0 * part
        if level > 0.0:
            ties[i, j] += level
            ties[j, i] += level
        for turn in range(2):
            a, b = (i, j) if turn == 0 else (j, i)
            even[a, b] = log_winnings(stakes.win, stakes.tie, stakes.loss, above[a, b], ties[a, b], above[b, a])
            now = even[a, b]
            if apart.tie[0] != 0.0:
                now = log_winnings(apart.win, apart.tie, apart.loss, above[a, b], ties[a, b], above[b, a])
            if now > course.peak[a, b]:
                if now >= winner and course.peak[a, b] < winner:
                    course.beaten[a] += 1
                    if course.beaten[a] == K - 1 and course.won_at[a] == NEVER:
                        course.won_at[a] = at[row]
                course.peak[a, b] = now
        for turn in range(2):
            h = i if turn == 0 else j
            against = log_mean_against(even, h)
            if against > course.peak_against[h]:
                course.peak_against[h] = against
                if against >= out and course.out_at[h] == NEVER:
                    course.out_at[h] = at[row]


@dataclass(frozen=True, eq=False)
class Stood:
    """The verdict that was reached at any time so far, with the later answers against it.

    >>> course = Lasting(2)
    >>> course.add([0] * 20, [1] * 20, [1.0] * 20)
    >>> course.add([0] * 30, [1] * 30, [0.0] * 30)  # and then the opposite
    >>> stood = course.verdict(names=["tea", "coffee"])
    >>> stood.verdict.winner, stood.now.winner, stood.reached
    (0, None, 10)
    >>> print(stood.doubt)
    Later answers cloud it: now 'tea' is placed above 'coffee' in 40 % of the answers on the two, which would settle nothing.
    """

    verdict: Verdict  # the one that stands
    now: Verdict  # from all answers, as if nobody had looked before
    winners: tuple[int, ...]  # the winner; with a margin, all options within it, in the order in which they were found
    reached: int | None  # the answer, counted from 1, with which the verdict was settled
    doubt: str  # a sentence if later answers speak against the verdict; otherwise empty

    def __str__(self) -> str:
        return " ".join(part for part in (f"{self.verdict}{self._also()}", self.doubt) if part)

    def _also(self) -> str:
        others = [f"'{self.verdict.names[arm]}'" for arm in self.winners[1:]]
        if not others:
            return ""
        are = "are" if len(others) > 1 else "is"
        return f" So {are} {listed(others)}: as good as the best, within {percent(self.verdict.margin)}."


class Lasting:
    """Follow the evidence of all pairs answer by answer, and keep its largest value so far.

    Parameters
    ----------
    n_arms
        How many options there are.
    alpha, margin
        As for ``verdict``; they cannot be changed on the way.

    Examples
    --------
    >>> course = Lasting(3)
    >>> course.add([0, 1], [1, 2], [1.0, 0.5])  # 0 above 1, then 1 and 2 level
    >>> course.verdict().verdict.kind
    'open'
    """

    def __init__(self, n_arms: int, *, alpha: float = 0.05, margin: float = 0.0) -> None:
        K = whole("n_arms", n_arms, 1, MOST_ARMS, of="Lasting")
        self.alpha, self.margin = share("alpha", alpha, of="Lasting"), known_margin(margin, of="Lasting")
        self.needed = needed(K, self.alpha)
        above, ties, even, peak = (np.zeros((K, K)) for _ in range(4))
        beaten, won_at, out_at = np.zeros(K, np.int64), np.full(K, NEVER, np.int64), np.full(K, NEVER, np.int64)
        self.course = Course(above, ties, even, peak, np.zeros(K), beaten, won_at, out_at)
        self.answers = 0

    @property
    def n_arms(self) -> int:
        """Number of options."""
        return len(self.course.above)

    def add(self, first: Any, second: Any, won: Any, at: Any = None) -> None:
        """Count judgements of pairs, in their order.

        Parameters
        ----------
        first, second
            The two options of each judgement.
        won
            The first's part of it: 1 if it was placed above, 0 if below, 1/2 for a tie; or anything between.
        at
            The answer that each judgement belongs to, counted from 0 over all calls; each its own, if not given.
        """
        try:
            i, j = (np.ascontiguousarray(column, np.int64) for column in (first, second))
            part = np.ascontiguousarray(won, np.float64)
            answer = np.arange(self.answers, self.answers + len(part)) if at is None else np.ascontiguousarray(at, np.int64)
            good = i.ndim == 1 and i.shape == j.shape == part.shape == answer.shape
            good = good and (
                not len(i)
                or bool(
                    min(i.min(), j.min(), answer.min()) >= 0
                    and max(i.max(), j.max()) < self.n_arms
                    and (i != j).all()
                    and part.min() >= 0.0
                    and part.max() <= 1.0
                )
            )
        except (TypeError, ValueError, OverflowError):
            good = False
        if not good:
            raise BadInput(
                f"Judgements must be two columns of different options from 0 to {self.n_arms - 1} and one of numbers from 0 to 1."
                f" Got {shortened(first)}, {shortened(second)} and {shortened(won)}."
            )
        if not len(i):
            return
        self.answers = max(self.answers, int(answer.max()) + 1)
        if self.n_arms > 1:
            claim = (self.needed.winner, self.needed.out)
            run(follow_rows, stakes_of(0.5), stakes_of(0.5 - self.margin), i, j, part, answer, self.course, *claim)

    def see(self, above: Floats, ties: Floats, answers: int) -> None:
        """Take counts that were made elsewhere, between two answers, and keep the evidence that they reach.

        Parameters
        ----------
        above, ties
            The counts, as in a ``Tally``.
        answers
            How many answers there were.
        """
        even, against = evidence(above, ties)
        L = evidence(above, ties, null=0.5 - self.margin)[0] if self.margin > 0.0 else even
        if even.shape != self.course.even.shape:
            raise BadInput(f"'see' takes counts of {self.n_arms} options. Got {len(even)}.")
        self.answers = max(self.answers, whole("answers", answers, 0, of="Lasting.see"))
        course = self.course
        for table, value in ((course.above, above), (course.ties, ties), (course.even, even)):
            table[...] = value
        np.maximum(course.peak, L, out=course.peak)
        np.maximum(course.peak_against, against, out=course.peak_against)
        course.beaten[:] = ((course.peak >= self.needed.winner) & ~np.eye(self.n_arms, dtype=bool)).sum(axis=1)
        last = max(0, self.answers - 1)
        course.won_at[(course.won_at == NEVER) & (course.beaten == self.n_arms - 1)] = last
        course.out_at[(course.out_at == NEVER) & (course.peak_against >= self.needed.out)] = last

    def verdict(
        self, *, names: Sequence[str] | None = None, unit: str = "answer", answers: int | None = None, showings: Any = None
    ) -> Stood:
        """Return the verdict, including everything that was certain at any time so far.

        Parameters
        ----------
        names, unit
            As for ``verdict``.
        answers, showings
            As for ``Tally.of``.

        Returns
        -------
        Stood
            Print it: it is a sentence, or two.
        """
        course = self.course
        tally = Tally.of(course.above, course.ties, answers=answers, showings=showings, unit=unit)
        now = verdict(tally, alpha=self.alpha, margin=self.margin, names=names)
        if self.n_arms < 2:
            return Stood(now, now, (), None, "")
        won = sorted((int(when), arm) for arm, when in enumerate(course.won_at) if when != NEVER)
        cycle = int(course.out_at.max()) if (course.out_at != NEVER).all() else NEVER
        kept: dict[str, Any] = {"evidence": course.peak.copy(), "against": course.peak_against.copy()}
        out = tuple(arm for arm, when in enumerate(course.out_at) if when != NEVER)
        if won and (cycle == NEVER or self.margin > 0.0 or won[0][0] <= cycle):
            reached, first = won[0]
            winners = tuple(arm for _, arm in won) if self.margin > 0.0 else (first,)
            gone = tuple(arm for arm in out if arm not in winners)
            kept |= {"kind": "winner", "winner": first, "cycle": (), "cycle_is_certain": False}
        elif cycle != NEVER:
            reached, winners, gone = cycle, (), out
            same = now.kind == "cycle"
            kept |= {"kind": "cycle", "winner": None, "cycle": now.cycle if same else self._cycle()}
            kept |= {"cycle_is_certain": now.cycle_is_certain if same else False}
        else:
            reached, winners, gone = NEVER, (), out
            kept |= {"kind": "narrowed" if out else "open", "winner": None, "cycle": (), "cycle_is_certain": False}
        still_in = tuple(arm for arm in range(self.n_arms) if arm not in gone)
        stands = replace(now, out=gone, still_in=still_in, **kept)
        doubt = doubt_of(stands, now, [arm for _, arm in won if arm != stands.winner])
        return Stood(stands, now, winners, None if reached == NEVER else reached + 1, doubt)

    def _cycle(self) -> tuple[int, ...]:
        """From any option to the one with the most evidence, at any time, of beating it, until one comes again."""
        path: list[int] = []
        arm = 0
        while arm not in path:
            path.append(arm)
            column = self.course.peak[:, arm].copy()
            column[arm] = -np.inf
            arm = int(column.argmax())
        return tuple(reversed(path[path.index(arm) :]))


def stand(now: Verdict, winner: int | None, cycle: Sequence[int] = (), cycle_is_certain: bool = False) -> tuple[Verdict, str]:
    """Replace the verdict of all answers by the one that was reached earlier, and describe the later answers against it.

    For whoever keeps what was reached, such as a log, and not the course of the evidence, as ``Lasting`` does.

    Parameters
    ----------
    now
        The verdict of all answers.
    winner
        The winner that was reached; None for a cycle.
    cycle, cycle_is_certain
        The cycle that was reached.

    Returns
    -------
    tuple
        The verdict that stands, and the sentence; empty if nothing speaks against it.

    Raises
    ------
    BadInput
        If an option does not exist.

    Examples
    --------
    >>> stands, doubt = stand(verdict([[0, 20], [30, 0]], names=["tea", "coffee"]), 0)
    >>> stands.kind, doubt[:24]
    ('winner', 'Later answers cloud it: ')
    """
    if not isinstance(now, Verdict):
        raise BadInput(f"'now' of 'stand' must be a verdict. Got {shortened(now)}.")
    last = len(now.names) - 1
    winner = None if winner is None else whole("winner", winner, 0, last, of="stand")
    if not isinstance(cycle, Sequence) or isinstance(cycle, str | bytes):
        raise BadInput(f"'cycle' of 'stand' must be numbers of options. Got {shortened(cycle)}.")
    cycle = tuple(whole("cycle", arm, 0, last, of="stand") for arm in cycle)
    truth("cycle_is_certain", cycle_is_certain)
    if (winner is None and now.kind == "cycle") or (winner is not None and now.winner == winner):
        return now, ""
    if winner is None and len(set(cycle)) < 3:
        raise BadInput(f"'stand' needs the winner or the cycle that was reached. Got no winner and {len(set(cycle))} options.")
    out = now.present if winner is None else tuple(arm for arm in now.out if arm != winner)
    kept: dict[str, Any] = {"kind": "cycle" if winner is None else "winner", "winner": winner, "cycle": cycle}
    still_in = tuple(arm for arm in now.present if arm not in out)
    stands = replace(now, out=out, still_in=still_in, cycle_is_certain=cycle_is_certain, **kept)
    return stands, doubt_of(stands, now, [] if now.winner is None else [now.winner])


def doubt_of(stands: Verdict, now: Verdict, others: Sequence[int]) -> str:
    """A sentence if later answers speak against a verdict; otherwise empty. ``others`` reached the evidence of a winner too."""
    name, b = [f"'{text}'" for text in stands.names], stands.winner
    changed = "One of the two is an error, or those who answer changed."
    if b is not None and others and stands.margin == 0.0:
        return f"Later answers contradict it: {name[others[0]]} reached the same evidence. {changed}"
    if b is not None and now.kind == "cycle":
        return f"Later answers contradict it: by themselves they say that no option beats all others. {changed}"
    if b is not None:
        against = [j for j in now.present if j != b]
        j = min(against, key=lambda other: float(now.evidence[b, other]), default=b)
        if j == b or now.evidence[b, j] >= now.needed:
            return ""
        above, ties = now.tally
        n = float(above[b, j] + above[j, b] + ties[b, j]) or 1.0
        part = percent(round(float(above[b, j] + 0.5 * ties[b, j]) / n, 3))
        return (
            f"Later answers cloud it: now {name[b]} is placed above {name[j]} in {part} of the answers on the two"
            f"{', ties counting half' if ties[b, j] else ''}, which would settle nothing."
        )
    if stands.kind == "cycle" and (others or now.kind != "cycle"):
        return "Later answers cloud it: by themselves they would leave open whether one option beats all others."
    return ""
