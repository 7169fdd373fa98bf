"""What passes between a policy and whoever talks to it: slates, and things shown for them."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol


class Slate(NamedTuple):
    """The arms to compare in a round. One arm means: nothing to compare, use it; no tell is needed.

    >>> Slate(1, (3, 0))
    Slate(round=1, arms=(3, 0))
    """

    round: int
    arms: tuple[int, ...]


class Told(NamedTuple):
    """What a thing that was shown knows of itself and its answer: see ``Policy.tell``."""

    round: int
    arms: tuple[int, ...]
    policy: str  # the fingerprint of the policy that asked for it
    wins: Any  # an outcome, or wins[a][b]


class Showing(Protocol):
    """What was shown for a slate, able to read the answer to it: a page of search results, whose answer is the clicks."""

    def told(self, answer: Any) -> Told: ...
