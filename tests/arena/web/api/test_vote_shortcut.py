"""Votes are answered without the framework, and exactly as the framework would answer them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from multiduel.arena.web.api import vote_shortcut
from tests.arena.calling import Caller


@pytest.fixture
def call(tmp_path: Path) -> Iterator[Caller]:
    caller = Caller(tmp_path)
    yield caller
    caller.close()


def through_the_route(call: Caller, monkeypatch: pytest.MonkeyPatch, *words: Any, **more: Any) -> Any:
    with monkeypatch.context() as patch:
        patch.setattr(vote_shortcut, "NEXT", {})  # nothing is in its usual form
        return call(*words, **more)


BODIES: list[Any] = [
    {"rank": [0, 1, 2]},  # carried out by the first who sends it, and the same answer for the second
    {"rank": [[1], [0, 2]]},  # another vote: a conflict
    {"rank": [0, 0]},
    {"rank": [7, 8]},
    {"rank": "012"},
    {"rank": [0, 1], "best": 1},
    {"best": 1},
    {"skip": False},
    {"skip": "\ud800"},
    {"wins": [[0, 1], [1, 0]]},
    {},
    [],
    None,
    b"",
    b"{",
    b'{"rank": [0, 1, NaN]}',
    b"[" * 5000,
    b'{"rank": [' + b"0," * 20_000 + b"0]}",
]


@pytest.mark.parametrize("next", ["", "?next=1", "?next=2"])
def test_both_ways_answer_alike(call: Caller, monkeypatch: pytest.MonkeyPatch, next: str) -> None:
    arena, owner = call.arena(slate_size=3)
    key, other = call.rater(arena, owner), call.rater(arena, owner)
    ticket = call.ask(arena, key)["ticket"]
    json = {"Content-Type": "application/json"}
    for body in BODIES:
        for who in (key, other, owner, None):
            for headers in (json, {"Content-Type": "text/plain"}, {"Content-Type": "application/json; charset=utf-8"}):
                sent = body if isinstance(body, bytes) else _json(body)
                for path in (f"/tickets/{ticket}/vote{next}", f"/tickets/{arena}-none/vote{next}"):
                    quick = call("PUT", path, sent, key=who, headers=headers)
                    slow = through_the_route(call, monkeypatch, "PUT", path, sent, key=who, headers=headers)
                    assert (quick.status_code, quick.json()) == (slow.status_code, slow.json()), (path, body, headers)
                    assert dict(quick.headers) == dict(slow.headers)
    assert call.service.info(arena).events <= 8, "carried out once"


def _json(body: Any) -> bytes:
    import json

    return json.dumps(body).encode()


def test_a_vote_never_reaches_the_framework(call: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the test above would compare the route with itself."""
    arena, owner = call.arena(slate_size=3)
    key = call.rater(arena, owner)
    ticket = call.ask(arena, key)["ticket"]

    async def broken(*words: Any) -> None:
        raise AssertionError

    with monkeypatch.context() as patch:
        patch.setattr(call.app.app.api, "api", broken)
        assert call("PUT", f"/tickets/{ticket}/vote?next=1", {"rank": [0, 1, 2]}, key=key).json()["counted"] == "counted"
        assert call("PUT", f"/tickets/{ticket}/vote?next=3", {"rank": [0, 1, 2]}, key=key).status_code == 500
    assert 'route="/tickets/{ticket}/vote",method="PUT",status="200"' in call.app.metrics.text({})
