"""What the fold remembers of options, raters, tickets and votes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from multiduel.arena.domain.ballots import SKIPPED


@dataclass(slots=True)
class OptionRecord:
    id: str  # "o1", ...
    name: str
    contents: list[dict[str, Any]]  # kind, sha256, size, type; one, or one per context
    retired: bool = False
    features: list[float] | None = None  # numbers that describe it


@dataclass(slots=True)
class VoteRecord:
    event: int
    at: str
    ballot: str  # canonical JSON: there are many, and few are looked at again
    counted: str  # what the rater was told: counted, late, aside, skipped
    late: bool = False
    aside: str = ""  # why it never counts
    undone: bool = False

    @property
    def says(self) -> bool:
        return self.ballot != SKIPPED


@dataclass(slots=True)
class TicketRecord:
    id: str
    event: int
    rater: str | None
    context: int | None
    group: str | None
    shown: tuple[int, ...]  # options by index, in the order shown
    by: str
    issued: str
    expires: str | None
    request: str | None = None
    printed: bool = False
    lapsed: bool = False  # it expired and its rater holds it no more: a vote on it is late, whatever the clock says
    vote: VoteRecord | None = None


@dataclass(slots=True)
class Printing:
    """Tickets that were printed together."""

    at: str
    group: str | None
    sheets: int = 0
    voted: int = 0


@dataclass(slots=True)
class RaterRecord:
    id: str  # "r1", ...
    label: str
    group: str | None = None
    limit: int | None = None
    kind: str = "person"  # or "judge": a model or a program
    quarantined: bool = False
    reason: str = ""
    given: int = 0  # votes that were not undone, skips among them
    last: list[tuple[str, int]] = field(default_factory=list)  # tickets and events of the latest of them, in order
    open: list[str] = field(default_factory=list)  # tickets without a vote, that had not expired when the last one was issued
    votes: int = 0  # that stand, skips not among them
    pairs: int = 0  # judged, where a rater's first judgement of a pair counts
    contexts: dict[int, int] = field(default_factory=dict)  # tickets per context
    seen: set[tuple[int, int, int]] = field(default_factory=set)  # two options and a context (0: none), where that counts once
