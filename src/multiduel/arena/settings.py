"""What an arena is asked to find out, and how: fixed when it is created, but for the policy and the margin."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from multiduel.arena.ballots import QUESTIONS
from multiduel.arena.options import MOST_OPTIONS
from multiduel.engine.registry import find, resolve
from multiduel.inference.tally import UNITS
from multiduel.inputs import MOST_SEED, BadInput, choice, finite, no_others, shortened, text, truth, whole

MOST_SEATS = 20
MOST_SECONDS = 10 * 365 * 86_400
MOST_VOTES = 10**9
MOST_HORIZON = 10**9  # votes that a policy which must know how many is told of, if the owner states no limit


@dataclass(frozen=True)
class Settings:
    """Everything that a fold needs to know besides the events.

    >>> Settings(slate_size=4, question="best").unit
    'answer'
    """

    slate_size: int = 2
    question: str = "rank"  # rank, best or worst: they have different winners
    policy: str = "challengers"
    parameters: Mapping[str, Any] = field(default_factory=dict)  # of the policy
    alpha: float = 0.05  # the verdict's chance to be wrong, ever
    margin: float = 0.0  # options closer than this need not be told apart
    unit: str = "answer"  # "rater": only a rater's first judgement of a pair counts
    room: int | None = None  # options there will ever be, if some come or go
    votes: int | None = None  # as many as the owner is willing to collect; beyond, the board offers a margin
    expires: int = 3600  # seconds until a ticket's place is free again
    places: int = 1  # tickets that a rater may hold at once
    limit: int | None = None  # votes per rater at most, unless the rater has a limit of its own
    go_on: bool = False  # still ask after the verdict
    board: str = "verdict"  # when raters may see the board: "always", after the "verdict", or "never"
    seed: int | None = None  # drawn if not given

    def __post_init__(self) -> None:
        of = "arena"
        whole("slate_size", self.slate_size, 2, MOST_SEATS, of=of)
        choice("question", self.question, QUESTIONS)
        choice("unit", self.unit, UNITS)
        choice("board", self.board, ("always", "verdict", "never"))
        if not 0.0 < finite("alpha", self.alpha, of=of) < 1.0:
            raise BadInput(f"'alpha' of an arena must lie between 0 and 1. Got {self.alpha}.")
        check_margin(self.margin)
        if self.room is not None:
            whole("room", self.room, 2, MOST_OPTIONS, of=of)
        for name in ("votes", "limit"):
            if getattr(self, name) is not None:
                whole(name, getattr(self, name), 1, MOST_VOTES, of=of)
        whole("expires", self.expires, 1, MOST_SECONDS, of=of)
        whole("places", self.places, 1, 100_000, of=of)
        truth("go_on", self.go_on)
        if self.seed is not None:
            whole("seed", self.seed, 0, MOST_SEED, of=of)
        object.__setattr__(self, "parameters", check_policy(self.policy, self.parameters))

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self) | {"parameters": dict(self.parameters)}

    @classmethod
    def from_json(cls, table: Mapping[str, Any]) -> Settings:
        """From words, as a file or a request has them."""
        if not isinstance(table, Mapping):
            raise BadInput(f"The settings of an arena are names with values. Got {shortened(table)}.")
        no_others(table, [one.name for one in dataclasses.fields(cls)], "An arena")
        return cls(**table)


def check_margin(margin: float) -> float:
    if not 0.0 <= finite("margin", margin, of="arena") < 0.5:
        raise BadInput(f"'margin' of an arena must be at least 0 and below 0.5. Got {margin}.")
    return float(margin)


def check_policy(name: Any, parameters: Any) -> dict[str, Any]:
    """The parameters of a policy that an arena can use, or the reason why it cannot."""
    spec = find(text("policy", name))
    if spec.blind:
        raise BadInput(
            f"'{name}' cannot serve an arena, whose votes come late, never, or from elsewhere: {spec.blind}. "
            "'multiduel policies' lists the others."
        )
    if not isinstance(parameters, Mapping) or not all(isinstance(key, str) for key in parameters):
        raise BadInput(f"'parameters' of '{name}' must be names with values. Got {shortened(parameters)}.")
    for word in ("closing", "slate_size"):
        if word in parameters:
            raise BadInput(f"'{word}' is not a parameter of '{name}' in an arena, which sees to it by itself.")
    for value in parameters.values():
        if not isinstance(value, str | int | float | bool):
            raise BadInput(f"A parameter of '{name}' must be a number or a word. Got {shortened(value)}.")
    resolve(spec, n_arms=2, slate_size=2, horizon=MOST_HORIZON, words=parameters)
    return dict(parameters)
