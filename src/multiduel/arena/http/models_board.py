"""The board and the list of raters, as types of the OpenAPI document."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

Interval = Annotated[list[float | None], Field(description="Value, low, high; null where it cannot be said.")]


class BoardLineOut(BaseModel):
    option: str
    name: str
    retired: bool
    still_in: bool
    showings: int
    rank_from: int
    rank_to: int
    borda: Interval
    copeland: Interval


class MarginOfferOut(BaseModel):
    margin: float
    forecast: str
    likely: float | None


class BoardOut(BaseModel):
    arena: str
    name: str
    number: int = Field(description="Of the last event that it knows.")
    status: str
    question: str
    unit: str
    alpha: float
    margin: float
    kind: Literal["winner", "narrowed", "cycle", "open"]
    settled: bool
    sentence: str = Field(description="The verdict: for whom it holds, and how sure it is.")
    winner: str | None
    still_in: list[str]
    out: list[str]
    cycle: list[str]
    cycle_is_certain: bool
    answers: int
    set_aside: int
    quarantined: list[str]
    raters: int
    tickets: int
    forecast: str
    forecast_range: list[float | None] | None
    margin_offer: MarginOfferOut | None
    lines: list[BoardLineOut]
    options: list[str]
    above: list[list[int]] = Field(description="above[i][j]: answers that placed options[i] above options[j].")
    ties: list[list[int]]


class RaterOut(BaseModel):
    rater: str
    label: str
    stratum: str | None
    limit: int | None
    votes: int
    skipped: int
    late: int
    aside: int
    quarantined: bool
    reason: str
    agreement: float | None = Field(description="Share of judgements of pairs that go with the majority of the others.")
    judgements: int
    seconds: float | None = Field(description="From ticket to vote, the median.")


class RatersOut(BaseModel):
    raters: list[RaterOut]


class VerifiedOut(BaseModel):
    good: bool
    sentence: str
