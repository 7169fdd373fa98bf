"""From a template to an answer, with the policy that every page is sent with: nothing inline, nothing from elsewhere."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from multiduel import __version__
from multiduel.arena.domain.settings import Setting
from multiduel.arena.files.batches import letter
from multiduel.arena.web.context import app_context_of
from multiduel.arena.web.sessions import token_of

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "same-origin",  # so that a form says where it comes from
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}


@cache
def environment() -> Environment:
    made = Environment(
        loader=PackageLoader("multiduel.arena.web.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        percent=percent,
        count=count,
        size=size,
        moment=moment,
        letter=letter,
        plural=plural,
        number_input=number_input,
        no_votes=no_votes,
    )
    made.globals["static"] = lambda name: f"/static/{static_version()}/{name}"
    made.globals["version"] = __version__
    return made


def number_input(setting: Setting) -> Markup:
    """The attributes of an input of numbers, with the setting's limits as the form has them; none for other inputs."""
    if setting.kind not in ("whole", "number"):
        return Markup("")
    if setting.most > 2**53:  # more than browsers count to
        return Markup(' inputmode="numeric"')
    scale = 100 if setting.percent else 1
    step = "1" if setting.kind == "whole" else "any"
    return Markup(' type="number" min="{}" max="{}" step="{}"').format(scale * setting.least, scale * setting.most, step)


def percent(share: float) -> str:
    return "–" if share != share else f"{100.0 * share:.0f} %"


def count(number: float) -> str:
    return f"{number:,.0f}"


def size(number: float) -> str:
    """
    >>> size(900), size(1_200_000)
    ('900 bytes', '1.2 MB')
    """
    if number < 1_000:
        return plural(number, "byte")
    return f"{number / 1e3:.0f} kB" if number < 1e6 else f"{number / 1e6:.1f} MB"


def plural(number: float, one: str, many: str | None = None) -> str:
    """
    >>> plural(1, "vote"), plural(2_000, "vote")
    ('1 vote', '2,000 votes')
    """
    return f"{number:,.0f} {one if number == 1 else many or one + 's'}"


def no_votes(board: Any) -> str:
    """What a board without votes that count says. Raters are not told of excluded votes."""
    status, excluded = (board["status"], 0) if isinstance(board, Mapping) else (board.status, board.set_aside)
    if excluded:
        return f"No vote counts: {plural(excluded, 'is', 'are')} excluded."
    return "No votes." if status == "closed" else "No votes yet."


def moment(at: str) -> str:
    """
    >>> moment("2026-01-02T03:04:05.678901Z")
    '2026-01-02 03:04:05 UTC'
    """
    return f"{at[:10]} {at[11:19]} UTC"


def fragment(template: str, words: Mapping[str, Any]) -> str:
    return environment().get_template(template).render(**words)


def page(request: Request, template: str, *, status: int = 200, **words: Any) -> Response:
    """The whole page; ``token``, ``demo`` and ``accounts`` (may people sign in with accounts?) are known in every template."""
    state = request.app.state
    known = {"token": token_of(request), "demo": getattr(state, "demo", None), "path": request.url.path}
    known["accounts"] = app_context_of(request).accounts is not None
    return HTMLResponse(fragment(template, known | words), status, headers=HEADERS)


def confirm_page(
    request: Request,
    title: str,
    sentence: str,
    button: str,
    *,
    action: str,
    back: str,
    fields: Mapping[str, str] | None = None,
    ask: tuple[str, str] | None = None,
) -> Response:
    """Ask before what cannot be undone: the button sends the same form again, with ``sure``, and with what is asked besides."""
    words: dict[str, Any] = {"title": title, "sentence": sentence, "button": button, "action": action, "back": back, "ask": ask}
    return page(request, "confirm.html", fields=fields or {}, **words)


# ---- files that never change


@cache
def static_files() -> dict[str, tuple[bytes, bytes]]:
    """Name -> the file as it is, and compressed."""
    there = files("multiduel.arena.web.pages").joinpath("static")
    named = {one.name: one.read_bytes() for one in there.iterdir() if "." + one.name.rpartition(".")[2] in TYPES}
    return {name: (data, gzip.compress(data, 9, mtime=0)) for name, data in sorted(named.items())}


@cache
def static_version() -> str:
    """In the path of each: another version is another address, so that browsers may keep them for good."""
    whole = hashlib.sha256()
    for name, (data, _) in static_files().items():
        whole.update(name.encode() + b"\0" + data)
    return whole.hexdigest()[:12]


async def static_file(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in static_files():
        return Response(status_code=404)
    data, compressed = static_files()[name]
    headers = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        data, headers = compressed, headers | {"Content-Encoding": "gzip"}
    return Response(data, media_type=TYPES["." + name.rpartition(".")[2]], headers=headers)
