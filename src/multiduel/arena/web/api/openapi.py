"""What the OpenAPI document says of the answers of a route: refusals, and files."""

from __future__ import annotations

from typing import Any

from multiduel.arena.web.api.models import Error
from multiduel.arena.web.errors import MEANING


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For a route's entry in the OpenAPI document; what any request may meet is among them."""
    return {
        status: {"model": Error, "description": MEANING[status]} for status in sorted({400, 408, 413, 421, 429, 503, *statuses})
    }


def file(kind: str, words: str) -> dict[int | str, dict[str, Any]]:
    """The answer of a route that is no JSON."""
    return {200: {"description": words, "content": {kind: {"schema": {"type": "string"}}}}}
