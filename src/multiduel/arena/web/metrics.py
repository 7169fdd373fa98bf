"""Counts for Prometheus, in its text format. No label names an arena, a rater or a ticket.

>>> metrics = Metrics()
>>> metrics.answered("/arenas/{arena}/tickets", "POST", 200, 0.003)
>>> print(metrics.text({"multiduel_ready": 1.0}).splitlines()[2])
multiduel_requests_total{route="/arenas/{arena}/tickets",method="POST",status="200"} 1
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds


class Metrics:
    """Of this process: with several workers each has its own, and a scrape reaches one of them."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._seconds: dict[str, list[float]] = {}  # route -> counts by bucket, then count, then sum
        self._refused: Counter[str] = Counter()
        self._lock = threading.Lock()

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        with self._lock:
            self._requests[route, method, status] += 1
            row = self._seconds.setdefault(route, [0.0] * (len(BOUNDS) + 2))
            row[min(bisect_left(BOUNDS, seconds), len(BOUNDS))] += 1
            row[-1] += seconds

    def refused(self, why: str) -> None:
        """At the gate: host, path, rate, size, slow, busy, key."""
        with self._lock:
            self._refused[why] += 1

    def text(self, gauges: Mapping[str, float]) -> str:
        with self._lock:
            requests, seconds, refused = dict(self._requests), {k: list(v) for k, v in self._seconds.items()}, dict(self._refused)
        lines = _head("multiduel_requests_total", "counter", "Requests answered.")
        for (route, method, status), count in sorted(requests.items()):
            lines.append(f'multiduel_requests_total{{route="{route}",method="{method}",status="{status}"}} {count}')
        lines += _head("multiduel_request_seconds", "histogram", "From the last byte of a request's head to its answer.")
        for route, row in sorted(seconds.items()):
            total = 0.0
            for bound, here in zip((*map(str, BOUNDS), "+Inf"), row[:-1], strict=True):
                total += here
                lines.append(f'multiduel_request_seconds_bucket{{route="{route}",le="{bound}"}} {total:g}')
            lines.append(f'multiduel_request_seconds_sum{{route="{route}"}} {row[-1]:.6f}')
            lines.append(f'multiduel_request_seconds_count{{route="{route}"}} {total:g}')
        lines += _head("multiduel_refused_total", "counter", "Requests refused before they were looked at, by reason.")
        lines += [f'multiduel_refused_total{{why="{why}"}} {count}' for why, count in sorted(refused.items())]
        for name, value in sorted(gauges.items()):
            lines += [*_head(name, "counter" if name.endswith("_total") else "gauge", ""), f"{name} {value:.17g}"]
        return "\n".join(lines) + "\n"


def _head(name: str, kind: str, words: str) -> list[str]:
    return [*([f"# HELP {name} {words}"] if words else []), f"# TYPE {name} {kind}"]
