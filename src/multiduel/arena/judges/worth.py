"""What a judge is worth: position effect, self-consistency, style effect, agreement with people, skips and cost.

The order in which contents are shown is drawn at random for each ticket, so that a judge that looks at contents only prefers the
earlier one in half of its answers, whatever the contents are: the interval of that share holds while one looks, and one that
excludes one half is an effect of position. Answers that the contents decide are first in half, so that a share of first of s
means that the order decides at least 2 s - 1 of the answers: more than the contents do, where s is above 3/4. Effects of style
come from observation: contents that are longer may also be better.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from multiduel.arena.domain.ballots import spoken, wins_of
from multiduel.arena.domain.records import TicketRecord
from multiduel.arena.domain.state import State, case_of
from multiduel.arena.judges.agreement import cohens_kappa, krippendorffs_alpha
from multiduel.arena.judges.budgets import Price
from multiduel.arena.judges.calls import Calls, Judgement
from multiduel.arena.service.raters import first_share, is_first_preferred
from multiduel.arena.service.service import Service
from multiduel.arrays import Floats
from multiduel.inference import Tally, Votes, standings, verdict
from multiduel.inference.shares import Share, share_interval
from multiduel.inference.words import percent, sentence

MOST_BY_CONTENT = 0.75  # of a share of first: above it, the order decides more than half of the answers
WIDEST = 20.0  # log odds: an interval as wide says nothing; a style that predicts every answer has one, too
MOST_TEXTS = 5  # of skips that are shown
LISTS = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s", re.MULTILINE)


class Effect(NamedTuple):
    """The effect of a style on log odds, for each unit of it, at equal strength of the options; nan where it cannot be said."""

    name: str
    effect: float
    low: float
    high: float


class Jury(NamedTuple):
    """How far the members of a jury agree."""

    pairs: int  # that at least two members judged, in each order asked
    split: int  # of these, not judged alike by all of them
    alpha: float  # Krippendorff's

    def __str__(self) -> str:
        return (
            f"The judges disagree on {self.split:,} of {self.pairs:,} comparisons; Krippendorff's alpha is "
            f"{number_words(self.alpha)} (1: they always agree, 0: as by chance)."
        )


@dataclass(frozen=True)
class JudgeWorth:
    """What one judge is worth."""

    judge: str
    answers: int
    skips: int
    skip_texts: tuple[str, ...]
    first: Share  # preferred what was shown earlier
    consistent: Share | None  # said the same in both orders; None if it was not asked in both
    longer: Share  # preferred the longer one, where lengths differ; nan if they never do
    style: tuple[Effect, ...]
    overlap: int  # judgements of people on what the judge judged too
    kappa: float  # of the judge with people
    alpha: float  # Krippendorff's, of the judge and people together
    people_alpha: float  # of people among themselves
    calls: int
    tokens_in: int
    tokens_out: int
    seconds: float
    verdict: str  # of this judge alone, in words

    @property
    def position(self) -> str:
        """The position effect in a sentence."""
        if math.isnan(self.first.value):
            return f"'{self.judge}' has given no answer yet."
        how_often = (
            f"{_percent(self.first.value)} of its answers ({_percent(self.first.low)} to {_percent(self.first.high)}, 95 %)"
        )
        if self.first.is_even:
            return f"No effect of position is certain for '{self.judge}': it prefers what is shown first in {how_often}."
        where, low = ("first", self.first.low) if self.first.value > 0.5 else ("last", 1.0 - self.first.high)
        if where == "last":
            turned = Share(1.0 - self.first.value, 1.0 - self.first.high, 1.0 - self.first.low)
            how_often = f"{_percent(turned.value)} of its answers ({_percent(turned.low)} to {_percent(turned.high)}, 95 %)"
        if low > MOST_BY_CONTENT:
            return (
                f"'{self.judge}' decides by position, not by content: it prefers what is shown {where} in {how_often}. "
                f"The order decides at least {_percent(2.0 * low - 1.0)} of its answers: they say little about the options."
            )
        return (
            f"'{self.judge}' is swayed by position: it prefers what is shown {where} in {how_often}. Ask in both orders (swap)."
        )

    def rows(self, price: Price | None = None, *, several: bool = False) -> list[tuple[str, str]]:
        """What was found, with a word for each.

        Parameters
        ----------
        price
            For the cost in money.
        several
            Whether to say what this judge alone finds.

        Returns
        -------
        list
            A word and a sentence each.
        """
        rows = [("position", self.position)]
        if self.consistent is not None:
            same = f"{_percent(self.consistent.value)} ({_percent(self.consistent.low)} to {_percent(self.consistent.high)})"
            rows.append(("both orders", f"Says the same in both orders in {same} of the cases."))
        if not math.isnan(self.longer.value):
            share = f"{_percent(self.longer.value)} ({_percent(self.longer.low)} to {_percent(self.longer.high)})"
            rows.append(("length", f"Prefers the longer one in {share} of its answers. Longer may also be better."))
        for effect in self.style:
            if effect.high - effect.low > WIDEST:
                rows.append((f"style: {effect.name}", "These answers do not tell its effect at equal strength."))
                continue
            sure = effect.low > 0 or effect.high < 0
            words = "preferred" if effect.effect > 0 else "preferred less"
            said = f"log odds {effect.effect:+z.2f} ({effect.low:+z.2f} to {effect.high:+z.2f}) at equal strength"
            rows.append((f"style: {effect.name}", f"{said}: {words if sure else 'no effect is certain'}."))
        if self.overlap:
            rows.append(
                (
                    "agreement with people",
                    f"Cohen's kappa {number_words(self.kappa)} over {self.overlap:,} judgements on the same pairs and questions; "
                    f"Krippendorff's alpha {number_words(self.alpha)} with the judge, {number_words(self.people_alpha)} among "
                    "people alone.",
                )
            )
        rows.append(("skips", f"{self.skips:,} answers could not be read or said nothing; {self.answers:,} tickets were judged."))
        money = "" if price is None else f", {price.of(self.tokens_in, self.tokens_out):.4g} at the price given"
        tokens = f", {self.tokens_in:,} tokens in and {self.tokens_out:,} out" if self.tokens_in + self.tokens_out else ""
        rows.append(("cost", f"{self.calls:,} calls{tokens}{money}, {self.seconds:,.1f} seconds of waiting in all."))
        if several:
            rows.append(("this judge alone", self.verdict))
        return rows


@dataclass(frozen=True)
class Worth:
    """What all judges of an arena are worth, and what is wrong with how they were asked."""

    judges: tuple[JudgeWorth, ...]
    jury: Jury | None  # None if there is one judge
    repeated: int  # votes that repeat a pair on a question, and count although they are no new evidence

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before the verdict."""
        said = [one.position for one in self.judges if not one.first.is_even]
        if self.repeated:
            said.append(
                f"{self.repeated:,} votes repeat a judgement of the same options on the same question. Each counts as new "
                "evidence here, which it is not: the verdict is surer than it should be. Count by question (unit = case)."
            )
        return tuple(said)

    def to_json(self) -> dict[str, Any]:
        """All of it as plain JSON."""
        rows = [asdict(one) | {"position": one.position, "style": [e._asdict() for e in one.style]} for one in self.judges]
        jury = None if self.jury is None else self.jury._asdict()
        return {"judges": rows, "jury": jury, "repeated": self.repeated, "warnings": list(self.warnings)}


def worth_of(service: Service, arena: str, calls: Calls) -> Worth:
    """Work out what the judges of an arena are worth, from the votes in it and the calls behind them.

    Parameters
    ----------
    service, arena
        The arena.
    calls
        The calls that its judges made.

    Returns
    -------
    Worth
        For each judge.
    """
    said, costs = calls.judgements(arena), calls.costs(arena)
    styles = _styles(service, arena)
    with service.look(arena) as state:
        said = [one for one in said if one.ticket in state.tickets]
        names = list(dict.fromkeys(one.judge for one in said))
        people = _people(state)
        rows = tuple(
            _one(state, name, [one for one in said if one.judge == name], costs.get(name, (0, 0, 0, 0.0)), people, styles)
            for name in names
        )
        return Worth(rows, _jury(state, said) if len(names) > 1 else None, _repeated(state))


Unit = tuple[int, int, str]  # two options, the smaller index first, and a case


def _one(
    state: State,
    name: str,
    said: list[Judgement],
    cost: tuple[int, int, int, float],
    people: Mapping[Unit, list[int]],
    styles: Mapping[tuple[int, int], tuple[float, float]],
) -> JudgeWorth:
    tickets: dict[str, list[Judgement]] = defaultdict(list)
    for one in said:
        tickets[one.ticket].append(one)
    firsts: list[int] = []
    same: list[bool] = []
    units: dict[Unit, int] = {}
    tally = Tally(len(state.options), unit="case")
    for id, mine in tickets.items():
        ticket = state.tickets[id]
        n = len(ticket.shown)
        decided = [one for one in mine if "skip" not in one.ballot]
        if not decided:
            continue
        wins = [wins_of(one.ballot, n) for one in decided]
        earlier = [is_first_preferred(w[::-1, ::-1] if one.turned else w) for one, w in zip(decided, wins, strict=True)]
        firsts.append(int(np.sign(sum(earlier))))
        if len(decided) == 2:
            same.append(bool((np.sign(wins[0] - wins[0].T) == np.sign(wins[1] - wins[1].T)).all()))
        together: Floats = np.sum([np.sign(w - w.T) for w in wins], axis=0)
        level = 0.5 * ((together == 0) & ~np.eye(n, dtype=bool))
        tally.add(ticket.shown, (together > 0) + level, case_of(ticket.context))
        for unit, value in _placings(ticket, np.sign(together)):
            units.setdefault(unit, value)
    pairs = [(value, other) for unit, value in units.items() for other in people.get(unit, ())]
    both = [[value, *people[unit]] for unit, value in units.items() if people.get(unit)]
    skipped = [one.answer for one in said if "skip" in one.ballot]
    names = [option.name for option in state.options]
    n = len(state.contexts)
    whom = f"for judge '{name}', on {f'questions like these {n}' if n > 1 else 'this question'}"
    longer, style = _style(state, said, styles)
    alone = verdict(tally, alpha=state.settings.alpha, margin=state.settings.margin, names=names)
    return JudgeWorth(
        name,
        len(firsts),
        len(skipped),
        tuple(skipped[:MOST_TEXTS]),
        first_share(firsts),
        share_interval(same.count(True), same.count(False)) if same else None,
        longer,
        style,
        len(pairs),
        cohens_kappa(pairs),
        krippendorffs_alpha(both),
        krippendorffs_alpha(unit[1:] for unit in both),
        *cost,
        sentence(alone, state.settings.question, whom),
    )


def _placings(ticket: TicketRecord, placed: Floats) -> Iterable[tuple[Unit, int]]:
    """For each pair that was judged: 1 if the one of its two options that lots made the first is above, -1, or 0.

    If the option with the smaller index were the first, agreement by chance would depend on how the options are numbered.
    """
    for a, i in enumerate(ticket.shown):
        for b in range(a + 1, len(ticket.shown)):
            j, value = ticket.shown[b], int(placed[a, b])
            unit = (min(i, j), max(i, j), case_of(ticket.context))
            sign = 1 if (zlib.crc32(repr(unit).encode()) & 1) == (i < j) else -1
            yield unit, sign * value


def _people(state: State) -> dict[Unit, list[int]]:
    """What people said of each pair on each question."""
    found: dict[Unit, list[int]] = defaultdict(list)
    for rater in state.raters.values():
        if rater.kind == "person" and not rater.quarantined:
            for ticket in state.tickets.of_rater(rater.id):
                if ticket.vote is not None and ticket.vote.says:
                    wins = spoken(ticket.vote.ballot, len(ticket.shown))
                    judged = (wins + wins.T) > 0
                    for unit, value in _placings(ticket, np.where(judged, np.sign(wins - wins.T), 9.0)):
                        if abs(value) != 9:
                            found[unit].append(value)
    return found


def _jury(state: State, said: list[Judgement]) -> Jury:
    """How far the members of a jury agree, over all pairs of all tickets and orders."""
    units: dict[tuple[str, bool, Unit], list[int]] = defaultdict(list)
    for one in said:
        if "skip" not in one.ballot:
            ticket = state.tickets[one.ticket]
            wins = wins_of(one.ballot, len(ticket.shown))
            for unit, value in _placings(ticket, np.sign(wins - wins.T)):
                units[one.ticket, one.turned, unit].append(value)
    several = [values for values in units.values() if len(values) > 1]
    return Jury(len(several), sum(len(set(values)) > 1 for values in several), krippendorffs_alpha(several))


def _repeated(state: State) -> int:
    """Votes of judges that count although all their pairs were judged on the same question before."""
    if state.settings.unit != "answer":
        return 0
    seen: set[tuple[str, Unit]] = set()
    repeated = 0
    for rater in state.raters.values():
        if rater.kind == "judge" and state.decides(rater):
            for ticket in state.tickets.of_rater(rater.id):
                if state.counts(ticket):
                    units = {(rater.id, unit) for unit, _ in _placings(ticket, np.zeros((len(ticket.shown),) * 2))}
                    repeated += units <= seen
                    seen |= units
    return repeated


def _styles(service: Service, arena: str) -> dict[tuple[int, int], tuple[float, float]]:
    """(log2 of the length in characters, list items) of each text, by option and context."""
    with service.look(arena) as state:
        described = [(k, c, said) for k, option in enumerate(state.options) for c, said in enumerate(option.contents)]
    found = {}
    for option, context, said in described:
        if said["kind"] in ("text", "markdown"):
            data = service.journal.get_content(arena, said["sha256"])
            written = "" if data is None else data.decode("utf-8", "replace")
            found[option, context] = (math.log2(1 + len(written)), float(len(LISTS.findall(written))))
    return found


def _style(
    state: State, said: list[Judgement], styles: Mapping[tuple[int, int], tuple[float, float]]
) -> tuple[Share, tuple[Effect, ...]]:
    """How often the longer one is preferred; and effects of length and of lists at equal strength, by the covariates of
    standings, clustered by case."""
    first, second, outcome, case, x = [], [], [], [], []
    sides: dict[str, float] = {}  # by ticket, which is judged once: whether the longer ones are preferred
    for one in said:
        ticket = state.tickets[one.ticket]
        where = ticket.context or 0
        if "skip" in one.ballot or not all((k, where) in styles for k in ticket.shown):
            continue
        wins = wins_of(one.ballot, len(ticket.shown))
        for a, i in enumerate(ticket.shown):
            for b in range(a + 1, len(ticket.shown)):
                j, value = ticket.shown[b], int(np.sign(wins[a, b] - wins[b, a]))
                earlier, later, value = (j, i, -value) if one.turned else (i, j, value)
                first.append(earlier)
                second.append(later)
                outcome.append(value)
                case.append(where)
                x.append(np.subtract(styles[earlier, where], styles[later, where]))
                if x[-1][0] != 0.0:
                    sides[one.ticket] = sides.get(one.ticket, 0.0) + value * np.sign(x[-1][0])
    columns = np.array(x).reshape(-1, 2)
    longer = first_share([int(np.sign(side)) for side in sides.values()])
    names = ("twice the length", "a list item more")
    use = [k for k in (0, 1) if len(columns) and np.ptp(columns[:, k]) > 0.0]
    if len(first) < 20 or not use or len(set(outcome)) < 2:
        return longer, ()
    cases = [f"c{k}" for k in range(max(1, len(state.contexts)))]
    votes = Votes.of(
        [option.name for option in state.options],
        first=first,
        second=second,
        outcome=outcome,
        case=case,
        cases=cases,
        ordered=True,
    )
    by = "case" if len(state.contexts) > 1 else "answer"
    found = standings(votes, by=by, covariates={names[k]: columns[:, k] for k in use}, position=True).style
    if found is None:
        return longer, ()
    rows = zip(found.names, found.effect, found.low, found.high, strict=True)
    return longer, tuple(Effect(name, *map(float, numbers)) for name, *numbers in rows if name in names)


def number_words(value: float) -> str:
    """A number, or that there is none."""
    return "not defined" if math.isnan(value) else f"{value:.2f}"


def _percent(value: float) -> str:
    return percent(round(value, 2))
