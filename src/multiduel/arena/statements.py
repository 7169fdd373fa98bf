"""What an arena says: its verdict in words and numbers."""

from __future__ import annotations

from typing import Any

from multiduel.arena.state import State
from multiduel.inference import Verdict


def verdict_body(state: State, verdict: Verdict) -> dict[str, Any]:
    ids = [option.id for option in state.options]
    return {
        "kind": verdict.kind if verdict.settled else "open",
        "winner": None if verdict.winner is None else ids[verdict.winner],
    }
