"""How contents are sent, which come from others: nothing in them may run, load or be framed elsewhere."""

from __future__ import annotations

from multiduel.arena.domain.options import Content

CONTENT_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'self'",
    "X-Frame-Options": "SAMEORIGIN",
    "Content-Disposition": "inline",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


def served_as(content: Content) -> str:
    """Texts are sent as text, whatever they are: a browser must never take them for a page."""
    return content.type if content.kind in ("image", "audio") else "text/plain; charset=utf-8"
