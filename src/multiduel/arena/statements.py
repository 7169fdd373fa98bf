"""What an arena says: its verdict in words and with the numbers behind it, and its board."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from multiduel.arena.settings import Settings
from multiduel.arena.state import State
from multiduel.arrays import Floats
from multiduel.inference import Forecast, Score, Tally, Verdict, forecast
from multiduel.inference.words import sentence

MARGINS = (0.01, 0.02, 0.05, 0.1)  # that are offered


def verdict_words(state: State, verdict: Verdict) -> str:
    """A sentence, and what it leaves out."""
    return f"{sentence(verdict, state.settings.question)}{_aside_words(state)}"


def _aside_words(state: State) -> str:
    if state.set_aside == 0:
        return ""
    raters = sum(rater.quarantined for rater in state.raters.values())
    whose = f", those of {raters} rater{'s' * (raters != 1)} in quarantine among them" if raters else ""
    return f" {state.set_aside} vote{'s are' if state.set_aside != 1 else ' is'} set aside{whose}."


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
    rank_from: int  # its rank is one of these, with the verdict's confidence for all of them together
    rank_to: int
    borda: tuple[float, float, float]  # mean chance against the others, low, high
    copeland: tuple[float, float, float]  # how many others it beats, low, high


@dataclass(frozen=True)
class MarginOffer:
    """More votes than the owner wants to collect are needed, unless options this close need not be told apart."""

    margin: float
    forecast: str
    likely: float


@dataclass(frozen=True)
class Board:
    arena: str
    name: str
    number: int  # of the last event that it knows
    status: str
    question: str
    unit: str
    alpha: float
    margin: float
    kind: str  # winner, narrowed, cycle, open
    settled: bool
    sentence: str
    winner: str | None
    still_in: tuple[str, ...]
    out: tuple[str, ...]
    cycle: tuple[str, ...]
    cycle_is_certain: bool
    answers: int  # that count
    set_aside: int
    quarantined: tuple[str, ...]  # labels of raters
    raters: int
    tickets: int
    forecast: str
    forecast_range: tuple[float, float, float] | None  # low, likely, high; None: too early to say
    margin_offer: MarginOffer | None
    lines: tuple[Line, ...]  # best first, those retired last
    options: tuple[str, ...]  # ids in the order of ``above`` and ``ties``
    above: Floats
    ties: Floats

    def to_json(self, pairs: bool = True) -> dict[str, Any]:
        """As plain JSON, with or without the table of all pairs."""
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
    tally: Tally
    ids: tuple[str, ...]
    names: tuple[str, ...]
    sentence: str
    set_aside: int
    quarantined: tuple[str, ...]
    raters: int
    tickets: int


def facts(state: State) -> Facts:
    tally = state.tally
    verdict = state.judge()
    return Facts(
        state.arena,
        state.name,
        state.number,
        state.status,
        state.settings,
        verdict,
        Tally.of(*verdict.tally, answers=tally.answers, showings=tally.showings, unit=tally.unit),
        tuple(option.id for option in state.options),
        tuple(option.name for option in state.options),
        verdict_words(state, verdict),
        state.set_aside,
        tuple(rater.label for rater in state.raters.values() if rater.quarantined),
        len(state.raters),
        len(state.tickets),
    )


def board(known: Facts, coming: tuple[Forecast, MarginOffer | None]) -> Board:
    verdict, ids = known.verdict, known.ids
    guess, offer = coming
    return Board(
        known.arena,
        known.name,
        known.number,
        known.status,
        known.settings.question,
        known.settings.unit,
        verdict.alpha,
        verdict.margin,
        verdict.kind,
        verdict.settled,
        known.sentence,
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
        _lines(known),
        ids,
        *verdict.tally,
    )


def _lines(known: Facts) -> tuple[Line, ...]:
    verdict = known.verdict
    copeland = {score.arm: score for score in verdict.copeland}
    borda = {score.arm: score for score in verdict.borda}
    retired = [k for k in range(len(known.ids)) if k not in verdict.present]

    def line(k: int) -> Line:
        gone = k not in borda
        first, last = (0, 0) if gone else _ranks(borda[k], tuple(borda.values()))
        numbers = [(math.nan,) * 3] * 2 if gone else [(s.value, s.low, s.high) for s in (borda[k], copeland[k])]
        showings = int(known.tally.showings[k])
        return Line(known.ids[k], known.names[k], gone, k in verdict.still_in, showings, first, last, *numbers)

    return tuple(line(k) for k in (*borda, *retired))


def _ranks(mine: Score, all: Sequence[Score]) -> tuple[int, int]:
    above = sum(other.low > mine.high for other in all)
    below = sum(other.high < mine.low for other in all)
    return 1 + above, len(all) - below


def forecast_of(known: Facts) -> tuple[Forecast, MarginOffer | None]:
    """How many more votes; and if those are more than the owner wants, the narrowest margin that brings it within reach."""
    settings, tally = known.settings, known.tally
    retired = [k for k in range(tally.n_arms) if k not in known.verdict.present]
    if known.verdict.settled:
        return Forecast(False, 0.0, 0.0, 0.0), None

    def guess(margin: float) -> Forecast:
        seats, alpha, room = settings.slate_size, settings.alpha, settings.room
        return forecast(tally, slate_size=seats, alpha=alpha, margin=margin, room=room, retired=retired)

    first = guess(settings.margin)
    if first.too_early or settings.votes is None or first.likely <= settings.votes - known.tally.answers:
        return first, None
    for margin in MARGINS:
        if margin > settings.margin:
            wider = guess(margin)
            if wider.likely <= settings.votes - known.tally.answers:
                return first, MarginOffer(margin, str(wider), wider.likely)
    return first, None
