"""Who looks at a page: keys in cookies, and tokens that show that a form is ours.

A cookie is sent to the pages of its arena only, never to the JSON API. It holds the key itself, unreadable to scripts. Whatever
changes something needs the token besides, which only our own pages know: it is made from the key.
"""

from __future__ import annotations

import hashlib
import hmac
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from multiduel.arena.domain.errors import Forbidden
from multiduel.arena.domain.texts import check_text
from multiduel.arena.files.uploads import MOST_FILES, Upload
from multiduel.arena.web.access import Grant
from multiduel.arena.web.context import app_context_of
from multiduel.inputs import BadInput

COOKIES = {"/vote": ("multiduel-rater",), "/own": ("multiduel-owner", "multiduel-server")}  # by the path they are sent to
KEPT = 90 * 86_400  # seconds
MOST_FIELDS = 1_000
SMALL = 100_000  # bytes of a form that is read at once; more in a thread
MOST_COOKIES = 8_000  # characters


def cookie_key(path: str, header: bytes | None) -> str | None:
    """The key that a page's cookie holds.

    >>> cookie_key("/vote/a1", b"multiduel-rater=mdrater.a1.r1.x"), cookie_key("/arenas/a1", b"multiduel-rater=mdrater.a1.r1.x")
    ('mdrater.a1.r1.x', None)
    """
    names = COOKIES.get("/" + path.split("/")[1]) if path.startswith("/") else None
    if names is None or header is None or len(header) > MOST_COOKIES:
        return None
    try:
        cookies = SimpleCookie(header.decode("latin-1"))
    except CookieError:
        return None
    return next((cookies[name].value for name in names if name in cookies), None)


def _path(grant: Grant) -> str:
    return {"rater": f"/vote/{grant.arena}", "owner": f"/own/{grant.arena}", "server": "/own"}[grant.role]


def remember(request: Request, response: Response, grant: Grant, key: str) -> None:
    """Put the key into a cookie for the pages that it is good for."""
    secure = request.url.scheme == "https"
    name = f"multiduel-{grant.role}"
    response.set_cookie(name, key, max_age=KEPT, path=_path(grant), httponly=True, samesite="lax", secure=secure)


def forget(response: Response, grant: Grant) -> None:
    """Take the key out of the cookie."""
    response.delete_cookie(f"multiduel-{grant.role}", path=_path(grant))


def token_of(request: Request) -> str:
    """What every form of this visitor carries."""
    key: str | None = request.scope.get("key")
    return hmac.new(b"multiduel form", (key or "").encode("utf-8", "replace"), hashlib.sha256).hexdigest()[:32]


def check_token(request: Request, given: Any) -> None:
    """Refuse what does not come from a page of ours."""
    check_origin(request)
    if not isinstance(given, str) or not hmac.compare_digest(given.encode("utf-8", "replace"), token_of(request).encode()):
        raise Forbidden("This form is out of date, or was sent from another page. Load the page again.")


def check_origin(request: Request) -> None:
    """Refuse what another site sends, where the browser says so. Another port, scheme or subdomain of ours is another site."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if site not in (None, "same-origin", "none") or (origin is not None and not _is_ours(request, origin)):
        raise Forbidden("This was sent from another site.")


def _is_ours(request: Request, origin: str) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    schemes = ("https",) if request.url.scheme == "https" else ("http", "https")  # a proxy may keep its TLS to itself
    return parts.scheme in schemes and parts.netloc.lower() == request.headers.get("host", "").lower()


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form (the last of each name)."""
    body = await request.body()
    if len(body) <= SMALL:
        return _fields(body)
    return await app_context_of(request).slow(str(request.path_params.get("arena", "")), _fields, body)


def _fields(body: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except (UnicodeDecodeError, ValueError):
        raise BadInput("This is no form that can be read.") from None
    check_text(pairs)
    return {name: value.replace("\r\n", "\n") for name, value in pairs}


async def checked_upload(request: Request) -> tuple[dict[str, str], list[Upload]]:
    """The fields and the files of a form of ours that may have some."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        return await checked_form(request), []
    most = app_context_of(request).limits.large_body
    try:
        form = await request.form(max_files=MOST_FILES, max_fields=MOST_FIELDS, max_part_size=most)
    except HTTPException:
        raise BadInput(f"This is no form that can be read, or it has more than {MOST_FILES:,} files.") from None
    fields, files = dict[str, str](), []
    try:
        for name, value in form.multi_items():
            if isinstance(value, str):
                fields[name] = value.replace("\r\n", "\n")
            elif value.filename:
                files.append(Upload(value.filename, await value.read()))
    finally:
        await form.close()
    check_text([fields, [file.name for file in files]])
    check_token(request, fields.get("token"))
    return fields, files


async def checked_form(request: Request) -> dict[str, str]:
    fields = await form_of(request)
    check_token(request, fields.get("token"))
    return fields
