"""How much, how often, and under which name this server may be spoken to."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from multiduel.inputs import BadInput, shortened

MOST_CALLERS = 50_000  # callers whose rates are remembered; the longest silent is forgotten first


@dataclass(frozen=True)
class Limits:
    """What one caller may do. A rate of r per second allows bursts of ten seconds' worth."""

    small_body: int = 64_000  # bytes of a request by a rater
    large_body: int = 64_000_000  # bytes of a request by an owner whose key was checked
    requests_per_second: float = 50.0  # by one address, or one key
    wrong_keys_per_minute: float = 10.0  # by one address
    joins_per_minute: float = 60.0  # new raters through an open link, by one address
    patience: float = 30.0  # seconds for the next part of a body
    waiting: int = 1_000  # requests at a time; more are told to come again


class Rate:
    """A bucket per caller that fills evenly: ``take`` says how many seconds to wait, 0 if none.

    >>> rate = Rate(per_second=2.0, burst=2.0)
    >>> [rate.take("a", now=0.0) for _ in range(3)], rate.take("b", now=0.0), rate.take("a", now=0.5)
    ([0.0, 0.0, 0.5], 0.0, 0.0)
    """

    def __init__(self, per_second: float, burst: float) -> None:
        self.per_second, self.burst = per_second, max(burst, 1.0)
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # caller -> (what is left, when)
        self._lock = threading.Lock()

    def take(self, caller: str, *, now: float) -> float:
        """One more of this caller, if that is not too many."""
        with self._lock:
            left = self._filled(caller, now)
            self._left[caller] = (left - 1.0 if left >= 1.0 else left, now)
            self._left.move_to_end(caller)
            if len(self._left) > MOST_CALLERS:
                self._left.popitem(last=False)
            return self._wait(left)

    def wait(self, caller: str, *, now: float) -> float:
        """What ``take`` would say, without taking."""
        with self._lock:
            return self._wait(self._filled(caller, now))

    def _filled(self, caller: str, now: float) -> float:
        left, since = self._left.get(caller, (self.burst, now))
        return min(self.burst, left + max(0.0, now - since) * self.per_second)

    def _wait(self, left: float) -> float:
        return 0.0 if left >= 1.0 else (1.0 - left) / self.per_second


class Hosts:
    """The names that a request may be addressed to: another name means that a page elsewhere was bent towards this server.

    >>> Hosts(["arena.example"]).allows("arena.example:8000"), Hosts([]).allows("evil.example")
    (True, False)
    """

    LOCAL = ("127.0.0.1", "localhost", "[::1]")

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = frozenset((*self.LOCAL, *map(host_name, names)))

    def allows(self, header: str | None) -> bool:
        if not header or len(header) > 300:
            return False
        name, colon, port = header.lower().rpartition(":")
        if not colon or header.endswith("]"):
            name = header.lower()
        elif not (port.isascii() and port.isdecimal()):
            return False
        return name in self.names


def host_name(name: str) -> str:
    """A name as in a URL, without scheme, port and path."""
    plain = name.strip().lower()
    if not plain or not all(letter.isalnum() or letter in "-.[:]" for letter in plain) or plain.endswith("."):
        raise BadInput(f"A host must be a name such as arena.example, without scheme and port. Got {shortened(name)}.")
    if ":" in plain and not (plain.startswith("[") and plain.endswith("]")):
        raise BadInput(f"A host must be a name such as arena.example, without scheme and port. Got {shortened(name)}.")
    return plain
