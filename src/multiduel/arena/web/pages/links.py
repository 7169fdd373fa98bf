"""Links that hold a key, with their QR codes. Keys are stored as hashes: a link is shown when it is made, and never again."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup
from starlette.requests import Request


@dataclass(frozen=True)
class Link:
    words: str
    url: str
    qr: Markup


def link_of(request: Request, words: str, key: str) -> Link:
    """Under the name that this page was asked for by."""
    import segno

    url = f"{request.url.scheme}://{request.headers['host']}/k/{key}"
    code = segno.make(url, error="m", micro=False).svg_inline(border=3, omitsize=True, svgclass=None, lineclass=None)
    return Link(words, url, Markup(code))
