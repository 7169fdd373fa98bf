"""How much, how often, and under which name this server may be spoken to."""

from __future__ import annotations

import ipaddress
import math
import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

from multiduel.inputs import BadInput, shortened

MOST_CALLERS = 50_000  # callers whose rates are remembered; the longest silent is forgotten first


@dataclass(frozen=True)
class Limits:
    """What one caller may do. A rate of r per second allows bursts of ten seconds' worth.

    An address is an IPv4 address, or the first 64 bits of an IPv6 address (``network_of``). Requests count for the address that a
    proxy of ours forwards, connections for the one that they come from.

    >>> Limits().changed(["waiting=50"]).waiting, Limits.local().connections_per_address
    (50, 4000)
    """

    small_body: int = 64_000  # bytes of a request by a rater
    large_body: int = 64_000_000  # bytes of a request by an owner whose key was checked
    requests_per_second: float = 50.0  # by one address without a known key, or by one owner's key
    rater_requests_per_second: float = 20.0  # by one rater, from whichever addresses
    raters_requests_per_second: float = 100.0  # by all raters of one address together
    wrong_keys_per_minute: float = 10.0  # by one address
    key_checks: int = 2  # owners' keys that are hashed at a time: each takes 19 MB
    key_checks_waiting: int = 50  # and those that wait for it
    joins_per_minute: float = 60.0  # new raters through a shared link, by one address
    head_seconds: float = 10.0  # for the head of a request: from the connection, or from the first byte on a kept one
    body_seconds: float = 30.0  # for a whole body, and besides the time that its bytes take at ``least_rate``
    least_rate: float = 10_000.0  # bytes per second of a body: 64 MB may take 1.8 hours
    quick_body: float = 2.0  # seconds after which a body that is not whole is a slow one
    slow_bodies: int = 20  # at a time, by one address
    patience: float = 30.0  # seconds for the next part of a body, or until the caller reads more of an answer
    idle_seconds: float = 75.0  # that a connection is kept without a request
    rest_seconds: float = 5.0  # for the rest of a body whose request was answered already
    waiting: int = 1_000  # requests at a time; more are told to come again
    waiting_per_address: int = 250  # of these, by one address
    connections: int = 4_000  # at a time; fewer if the system gives fewer handles
    connections_per_address: int = 200  # of these, by one address that is no proxy of ours

    @classmethod
    def local(cls) -> Limits:
        """The limits of a server for this machine only: whoever can connect could as well keep it busy otherwise."""
        return cls(
            requests_per_second=math.inf,
            rater_requests_per_second=math.inf,
            raters_requests_per_second=math.inf,
            waiting_per_address=cls.waiting,
            connections_per_address=cls.connections,
        )

    def changed(self, settings: Iterable[str]) -> Limits:
        """Return these limits with some replaced, each given as NAME=VALUE."""
        known = {field.name: type(getattr(Limits, field.name)) for field in fields(Limits)}
        changes: dict[str, Any] = {}
        for setting in settings:
            name, _, value = setting.partition("=")
            if name not in known:
                raise BadInput(f"'--limit' must be NAME=VALUE, with a name among {', '.join(known)}. Got {shortened(setting)}.")
            changes[name] = _number(name, value, known[name])
        return replace(self, **changes)


def _number(name: str, value: str, kind: type[int] | type[float]) -> float:
    try:
        number = kind(value)
    except ValueError:
        number = -1
    if not number > 0:
        raise BadInput(f"The limit '{name}' must be a {'whole ' if kind is int else ''}number above 0. Got {shortened(value)}.")
    return number


def network_of(address: str) -> str:
    """Return what limits count as one address: who has one IPv6 address has 2**64 of them.

    >>> network_of("192.0.2.7"), network_of("::ffff:192.0.2.7"), network_of("2001:db8:1:2:3:4:5:6"), network_of("elsewhere")
    ('192.0.2.7', '192.0.2.7', '2001:db8:1:2::/64', 'elsewhere')
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:100]  # a proxy may forward a word
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(parsed) >> 64 << 64, 64)))


class Shares:
    """Counts what is under way, in all and by address, up to a limit for each.

    >>> shares = Shares(3, each=2)
    >>> [shares.take(address) for address in ("a", "a", "a", "b", "c")], shares.give_back("a"), shares.take("c")
    ([True, True, False, True, False], None, True)
    """

    def __init__(self, most: int, *, each: int) -> None:
        self.most, self.each, self.all = most, each, 0
        self._by_address: dict[str, int] = {}

    def full(self, address: str) -> bool:
        """Are there more than there may be, in all or of this address?"""
        return self.all > self.most or self._by_address.get(address, 0) > self.each

    def take(self, address: str) -> bool:
        """Count one more of this address, if that is not too many."""
        if self.all >= self.most or self._by_address.get(address, 0) >= self.each:
            return False
        self.add(address)
        return True

    def add(self, address: str) -> None:
        """Count one more, however many there are."""
        self.all += 1
        self._by_address[address] = self._by_address.get(address, 0) + 1

    def give_back(self, address: str) -> None:
        self.all -= 1
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]


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

    def give_back(self, caller: str, *, now: float) -> None:
        """Undo a ``take`` that turned out not to count."""
        with self._lock:
            self._left[caller] = (min(self.burst, self._filled(caller, now) + 1.0), now)

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
