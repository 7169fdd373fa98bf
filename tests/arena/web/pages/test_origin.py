"""Forms that other sites send: every value of Sec-Fetch-Site and Origin, at a form with a token and at the one without."""

from __future__ import annotations

import pytest

from tests.arena.calling import Caller
from tests.arena.web.pages.visiting import Visitor

HERE = "http://127.0.0.1:8000"  # as in Caller


@pytest.fixture(scope="module")
def owner(tmp_path_factory):
    """An owner who is signed in, and what is needed to send a form."""
    caller = Caller(tmp_path_factory.mktemp("origin"))
    arena, key = caller.arena()
    visitor = Visitor(caller)
    page = visitor.enter(key)
    yield visitor, arena, key, visitor.token(page.text)
    caller.close()


def sent(owner, headers: dict[str, str], at: str = HERE) -> set[int]:
    """The statuses of both forms."""
    visitor, arena, key, token = owner
    cookies = {"Cookie": "; ".join(f"{name}={value}" for name, (value, _) in visitor.cookies.items())}
    entered = visitor.call("POST", f"{at}/k", headers=headers, data={"key": key})
    turned = visitor.call("POST", f"{at}/own/{arena}/status", headers={**cookies, **headers}, data={"token": token, "do": "open"})
    return {entered.status_code, turned.status_code}


@pytest.mark.parametrize("site", ["same-site", "cross-site", "Same-Origin", "same-origin, cross-site", "nonsense", ""])
def test_sec_fetch_site_of_another_site_is_refused(owner, site):
    assert sent(owner, {"Sec-Fetch-Site": site}) == {403}
    assert sent(owner, {"Sec-Fetch-Site": site, "Origin": HERE}) == {403}


@pytest.mark.parametrize("site", [None, "same-origin", "none"])
@pytest.mark.parametrize("origin", [None, HERE, "HTTP://127.0.0.1:8000", "https://127.0.0.1:8000"])
def test_forms_of_our_own_pages_are_taken(owner, site, origin):
    """The last: a proxy with TLS that does not say so."""
    headers = {"Sec-Fetch-Site": site, "Origin": origin}
    assert sent(owner, {name: value for name, value in headers.items() if value is not None}) == {303}


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://127.0.0.1",
        "http://127.0.0.1:8001",
        "http://127.0.0.1:80",
        "http://127.0.0.1.:8000",
        "http://a.127.0.0.1:8000",
        "http://127.0.0.1:8000.evil.example",
        "http://localhost:8000",
        "http://[::1]:8000",
        "http://127.0.0.1:8000@evil.example",
        "http://evil.example@127.0.0.1:8000",
        "http://evil.example/127.0.0.1:8000",
        "http://evil.example",
        "ftp://127.0.0.1:8000",
        "file://",
        "chrome-extension://127.0.0.1:8000",
        "127.0.0.1:8000",
        "//127.0.0.1:8000",
        "http://[",
        "http://127.0.0.1:8000, http://evil.example",
    ],
)
@pytest.mark.parametrize("site", [None, "same-origin"])
def test_another_origin_is_refused(owner, origin, site):
    headers = {"Origin": origin} | ({"Sec-Fetch-Site": site} if site else {})
    assert sent(owner, headers) == {403}


def test_a_page_without_tls_is_another_origin_where_there_is_tls(owner):
    secure = HERE.replace("http", "https")
    assert sent(owner, {"Origin": HERE}, at=secure) == {403}
    assert sent(owner, {"Origin": secure}, at=secure) == {303}
