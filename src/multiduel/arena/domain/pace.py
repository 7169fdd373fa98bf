"""How many votes came when: counted in spans that grow longer with the arena's life, so that there are never many."""

from __future__ import annotations

from collections.abc import Iterable

from multiduel.arena.domain.events import time_of

MOST_SPANS = 2_000


class Pace:
    """Votes by span of time.

    >>> pace = Pace()
    >>> pace.count("2026-01-01T10:00:00.400000Z", 1)
    >>> pace.count("2026-01-01T10:00:00.900000Z", 1)
    >>> pace.spans(), pace.width
    ([(1767261600, 2)], 1)
    """

    def __init__(self, width: int = 1, counts: Iterable[tuple[int, int]] = ()) -> None:
        self.width = width  # seconds
        self._counts = dict(counts)  # span -> votes

    def count(self, at: str, change: int) -> None:
        """Count a vote given at this time, or take one back."""
        span = int(time_of(at).timestamp()) // self.width
        now = self._counts.get(span, 0) + change
        if now:
            self._counts[span] = now
        else:
            self._counts.pop(span, None)
        while len(self._counts) > MOST_SPANS:
            self.width *= 2
            wider: dict[int, int] = {}
            for old, votes in self._counts.items():
                wider[old // 2] = wider.get(old // 2, 0) + votes
            self._counts = wider

    def spans(self) -> list[tuple[int, int]]:
        """When each span begins, in seconds since 1970, and its votes."""
        return [(span * self.width, votes) for span, votes in sorted(self._counts.items())]

    def saved(self) -> list[object]:
        """Save it, for ``Pace(*saved)``."""
        return [self.width, [list(one) for one in sorted(self._counts.items())]]
