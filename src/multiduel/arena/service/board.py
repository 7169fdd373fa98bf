"""What an arena says: its verdict in words and with the numbers behind it, and its board."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from multiduel.arena.domain.settings import Settings
from multiduel.arena.domain.state import State
from multiduel.arena.service.kinds import KindLine, decider_words, exact_words, kind_lines, whom_words
from multiduel.arena.service.slices import Part
from multiduel.arrays import Floats
from multiduel.inference import Forecast, RunningTally, Standings, Tally, Verdict, forecast, stand, standings
from multiduel.inference.verdict import VerdictKind
from multiduel.inference.verdict import verdict as verdict_of
from multiduel.inference.words import sentence

MARGINS = (0.01, 0.02, 0.05, 0.1)  # that are offered


# What raters may know of a board: the result, and nothing about other raters. Whatever is not named here is for owners only.
# The sentence is ``result`` for them, which does not mention excluded votes.
FOR_RATERS = (
    *("arena", "name", "number", "status", "question", "unit", "alpha", "margin", "kind", "settled", "sentence", "winner"),
    *(
        "still_in",
        "out",
        "cycle",
        "cycle_is_certain",
        "answers",
        "forecast",
        "forecast_range",
        "lines",
        "options",
        "above",
        "ties",
        "whom",
        "about",
        "exactly",
    ),
)


def standing_verdict(state: State) -> tuple[Verdict, str]:
    """The verdict that the log announced, which stands, or that of the votes as they are; and what later votes say against it."""
    now, said = state.judge(), state.verdict
    if said is None or not state.settled():
        return now, ""
    winner = None if said["winner"] is None else state.index(said["winner"])
    return stand(now, winner, [state.index(option) for option in said["cycle"]], said["cycle_is_certain"])


def verdict_words(state: State, verdict: Verdict) -> str:
    """A sentence, and what it leaves out."""
    whom = decider_words(state)
    return sentence(verdict, state.settings.question, whom, final=state.status == "closed") + _aside_words(state)


def _aside_words(state: State) -> str:
    if state.set_aside == 0:
        return ""
    raters = sum(rater.quarantined for rater in state.raters.values())
    whose = f", those of {raters} excluded rater{'s' * (raters != 1)} among them" if raters else ""
    return f" {state.set_aside} vote{'s are' if state.set_aside != 1 else ' is'} excluded{whose}."


def verdict_body(state: State, verdict: Verdict) -> dict[str, Any]:
    """The event: what is settled, in words, and the counts and the evidence that settle it."""
    ids = [option.id for option in state.options]
    pairs: list[tuple[int, int]] = []
    if verdict.winner is not None:
        pairs = [(verdict.winner, j) for j in verdict.present if j != verdict.winner]
    elif verdict.cycle:
        pairs = list(zip(verdict.cycle, (*verdict.cycle[1:], verdict.cycle[0]), strict=True))
    above, ties = verdict.tally
    return {
        "kind": verdict.kind if verdict.settled else "open",
        "winner": None if verdict.winner is None else ids[verdict.winner],
        "still_in": [ids[k] for k in verdict.still_in],
        "cycle": [ids[k] for k in verdict.cycle],
        "cycle_is_certain": verdict.cycle_is_certain,
        "sentence": verdict_words(state, verdict),
        "alpha": verdict.alpha,
        "margin": verdict.margin,
        "unit": verdict.unit,
        "question": state.settings.question,
        "answers": state.tally.answers,
        "set_aside": state.set_aside,
        "needed": verdict.needed,
        "pairs": [
            {
                "option": ids[i],
                "other": ids[j],
                "above": above[i, j],
                "below": above[j, i],
                "level": ties[i, j],
                "evidence": verdict.evidence[i, j],
            }
            for i, j in pairs
        ],
    }


@dataclass(frozen=True)
class Line:
    """An option on the board."""

    option: str
    name: str
    retired: bool
    still_in: bool
    showings: int
    rank_from: Annotated[int, "Its rank is from here to rank_to, with the verdict's confidence for all options together."]
    rank_to: int
    strength: Annotated[
        tuple[float, float, float],
        "Strength, low, high; 0 is the average option as shown, 0.69 more doubles the odds. Ends are null while it is too early.",
    ]
    won: Annotated[tuple[float, float, float], "Share of its comparisons that it won, ties half, low, high; null where unknown."]


@dataclass(frozen=True)
class MarginOffer:
    """More votes than the owner wants to collect are needed, unless options this close need not be told apart."""

    margin: float
    forecast: str
    likely: float


@dataclass(frozen=True)
class Board:
    """The verdict, and what stands behind it. The API's types are made from these fields and their descriptions."""

    arena: str
    name: str
    number: Annotated[int, "Of the last event that it knows."]
    status: str
    question: str
    unit: str
    alpha: float
    margin: float
    kind: VerdictKind
    settled: bool
    sentence: Annotated[str, "The verdict: for whom it holds, and how sure it is."]
    result: Annotated[str, "The sentence without what it says of excluded votes: raters read this one."]
    winner: str | None
    still_in: tuple[str, ...]
    out: tuple[str, ...]
    cycle: tuple[str, ...]
    cycle_is_certain: bool
    answers: Annotated[int, "Votes that count."]
    set_aside: Annotated[int, "Excluded votes."]
    quarantined: Annotated[tuple[str, ...], "Labels of raters."]
    raters: int
    tickets: int
    forecast: str
    forecast_range: Annotated[tuple[float, float, float] | None, "Low, likely, high; null if it is too early to say."]
    margin_offer: MarginOffer | None
    notes: Annotated[tuple[str, ...], "What else the standings say: the best few, what it is too early for, what strengths miss."]
    lines: Annotated[tuple[Line, ...], "Best first, those retired last."]
    options: Annotated[tuple[str, ...], "Ids, in the order of 'above' and 'ties'."]
    above: Annotated[Floats, "above[i][j]: answers that placed options[i] above options[j]."]
    ties: Floats
    deciders: Annotated[str, "Whose votes decide: people, judges, or all."]
    whom: Annotated[str, "For whom the result holds, where the unit alone does not say it."]
    about: Annotated[str, "Which options the result is about, where a judge left them of more; else empty."]
    exactly: Annotated[str, "What holds for exactly these questions, where the questions are a sample; else empty."]
    kinds: Annotated[tuple[KindLine, ...], "What the other kinds of raters find, and all together; empty without judges."]

    def for_raters(self) -> dict[str, Any]:
        """What raters may see of it."""
        return {name: getattr(self, name) for name in FOR_RATERS} | {"sentence": self.result}

    def rater_json(self) -> dict[str, Any]:
        """``for_raters`` as plain JSON."""
        return {name: value for name, value in self.to_json().items() if name in FOR_RATERS} | {"sentence": self.result}

    def to_json(self, pairs: bool = True) -> dict[str, Any]:
        """All of it as plain JSON, for owners, with or without the table of all pairs."""
        table = asdict(self)
        tables = {"above": self.above.astype(int).tolist(), "ties": self.ties.astype(int).tolist()} if pairs else {}
        return {name: value for name, value in table.items() if name not in ("above", "ties")} | tables


@dataclass(frozen=True)
class Facts:
    """All that a board needs, taken from the state at one moment; the work is done later, without holding up votes."""

    arena: str
    name: str
    number: int
    status: str
    settings: Settings
    verdict: Verdict
    tally: RunningTally
    ids: tuple[str, ...]
    names: tuple[str, ...]
    sentence: str
    set_aside: int
    quarantined: tuple[str, ...]
    raters: int
    tickets: int
    result: str = ""  # the sentence without excluded votes
    whom: str = ""
    about: str = ""
    exactly: str = ""
    kinds: tuple[KindLine, ...] = ()


def facts(state: State, part: Part | None = None) -> Facts:
    """Of all votes, or of a part of them."""
    tally = state.tally if part is None else part.tally
    verdict, doubt = standing_verdict(state) if part is None else (_judge(state, part), "")
    whom = whom_words(state, part.kinds, tally.unit) if part is not None and part.kinds else decider_words(state)
    plain = " ".join(filter(None, (sentence(verdict, state.settings.question, whom, final=state.status == "closed"), doubt)))
    return Facts(
        state.arena,
        state.name,
        state.number,
        state.status,
        state.settings,
        verdict,
        tally.frozen(),
        tuple(option.id for option in state.options),
        tuple(option.name for option in state.options),
        plain + _aside_words(state) if part is None else plain,
        state.set_aside if part is None else part.excluded,
        tuple(rater.label for rater in state.raters.values() if rater.quarantined) if part is None else (),
        len(state.raters) if part is None else part.raters,
        state.issued,
        plain,
        whom.removeprefix("for "),
        shortlist_words(state),
        exact_words(state, verdict) if part is None else "",
        kind_lines(state) if part is None else (),
    )


def shortlist_words(state: State) -> str:
    """Say that a judge chose the options, if one did."""
    if state.shortlist is None:
        return ""
    by, of, first = (state.shortlist[name] for name in ("by", "of", "first"))
    kept = "are likely to be" if state.shortlist.get("rule") == "likely" else "may be"
    return (
        f"This result is about {len(state.options)} of {of} options: those that {kept} among the first {first} in the standings "
        f"of judge '{by}'. It says nothing about the others."
    )


def _judge(state: State, part: Part) -> Verdict:
    """The verdict of a part, with its share of the error."""
    settings, names = state.settings, [option.name for option in state.options]
    words: dict[str, Any] = {"margin": settings.margin, "room": settings.room, "retired": state.retired, "names": names}
    return verdict_of(part.tally, alpha=part.alpha, **words)


def board(known: Facts, coming: tuple[Forecast, MarginOffer | None]) -> Board:
    verdict, ids = known.verdict, known.ids
    guess, offer = coming
    found = standings(known.tally, names=known.names, alpha=verdict.alpha, room=known.settings.room, verdict=verdict)
    return Board(
        known.arena,
        known.name,
        known.number,
        known.status,
        known.settings.question,
        known.tally.unit,
        verdict.alpha,
        verdict.margin,
        verdict.kind,
        verdict.settled,
        known.sentence,
        known.result or sentence(verdict, known.settings.question, final=known.status == "closed"),
        None if verdict.winner is None else ids[verdict.winner],
        tuple(ids[k] for k in verdict.still_in),
        tuple(ids[k] for k in verdict.out),
        tuple(ids[k] for k in verdict.cycle),
        verdict.cycle_is_certain,
        known.tally.answers,
        known.set_aside,
        known.quarantined,
        known.raters,
        known.tickets,
        str(guess),
        None if guess.too_early else (guess.low, guess.likely, guess.high),
        offer,
        tuple(found.sentences()[1:]),
        _lines(known, found),
        ids,
        *verdict.tally,
        known.settings.deciders,
        known.whom,
        known.about,
        known.exactly,
        known.kinds,
    )


def _lines(known: Facts, found: Standings) -> tuple[Line, ...]:
    def line(k: int) -> Line:
        gone = k not in known.verdict.present
        unknown = (math.nan,) * 3
        return Line(
            known.ids[k],
            known.names[k],
            gone,
            k in known.verdict.still_in,
            int(known.tally.showings[k]),
            0 if gone else int(found.rank_from[k]),
            0 if gone else int(found.rank_to[k]),
            unknown if gone else (float(found.strength[k]), float(found.low[k]), float(found.high[k])),
            unknown if gone else (float(found.won[k]), float(found.won_low[k]), float(found.won_high[k])),
        )

    return tuple(line(k) for k in found.order)


def forecast_of(known: Facts) -> tuple[Forecast, MarginOffer | None]:
    """How many more votes; and if those are more than the owner wants, the narrowest margin that brings it within reach."""
    settings, tally = known.settings, Tally.of(*known.verdict.tally, answers=known.tally.answers, showings=known.tally.showings)
    retired = [k for k in range(tally.n_arms) if k not in known.verdict.present]
    if known.verdict.settled:
        return Forecast(False, 0.0, 0.0, 0.0), None

    def guess(margin: float) -> Forecast:
        seats, alpha, room = settings.slate_size, settings.alpha, settings.room
        return forecast(tally, slate_size=seats, alpha=alpha, margin=margin, room=room, retired=retired)

    first = guess(settings.margin)
    if math.isnan(first.likely) or settings.votes is None or first.likely <= settings.votes - known.tally.answers:
        return first, None
    for margin in MARGINS:
        if margin > settings.margin:
            wider = guess(margin)
            if wider.likely <= settings.votes - known.tally.answers:
                return first, MarginOffer(margin, str(wider), wider.likely)
    return first, None
