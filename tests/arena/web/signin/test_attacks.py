"""Sign-in with accounts under attack: tokens, answers and cookies that do not belong together are good for nothing."""

from __future__ import annotations

import gzip
import json
import logging
import re
import shutil
import ssl
import subprocess
import time
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("authlib", reason="sign-in needs the extra [oidc]")

from joserfc import jws, jwt
from joserfc.jwk import OctKey

from multiduel.arena.web import access
from multiduel.arena.web.account_rights import end_sessions_of_former_admins
from multiduel.arena.web.accounts import KEPT, Accounts, Provider
from multiduel.inputs import BadInput
from tests.arena.calling import Caller
from tests.arena.web.pages.visiting import Visitor
from tests.arena.web.signin.providers import Hostile, rsa_key


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """A provider, and a server of ours that trusts it."""
    provider = Hostile()
    folder = tmp_path_factory.mktemp("town")
    caller = Caller(folder, accounts=Accounts(Provider(provider.url, "arena", ("ada@example.com",))))
    yield provider, caller
    caller.close()
    provider.close()


@pytest.fixture
def provider(town):
    town[0].begin_anew()
    return town[0]


@pytest.fixture
def call(town, provider):
    """Nobody is signed in, and the server has read nothing of its provider."""
    caller, accounts = town[1], town[1].app.app.pages.state.app_context.accounts
    accounts._metadata, accounts._keys, accounts._keys_at = {}, None, -1e9
    for key in caller.access.keys("", ("server",)):
        if key.subject.startswith("sso-"):
            caller.access.revoke("server", name=key.subject)
    return caller


def begin(visitor, provider, path="/signin"):
    """Follow the way to the provider. Returns what it was asked."""
    answer = visitor("GET", path, follow=False)
    assert answer.status_code == 303, answer.text
    where = urlsplit(answer.headers["location"])
    assert f"{where.scheme}://{where.netloc}" == provider.url
    asked = {name: value[0] for name, value in parse_qs(where.query).items()}
    provider.nonce = asked["nonce"]
    return asked


def back(visitor, asked, **changes):
    fields = {"code": "c1", "state": asked["state"]} | changes
    query = "&".join(f"{name}={value}" for name, value in fields.items() if value is not None)
    return visitor("GET", f"/signin/callback?{query}", follow=False)


def refused(call, answer, *words):
    assert answer.status_code == 403, answer.text
    assert all(word in answer.text for word in words), answer.text
    assert not [line for line in answer.headers.get_list("set-cookie") if "multiduel-server=" in line]
    assert len(call.access.keys("", ("server",))) == 1, "no session was made"


def test_a_good_answer_becomes_a_session(call, provider):
    visitor = Visitor(call)
    assert 'href="/signin"' in visitor("GET", "/").text
    asked = begin(visitor, provider)
    assert asked["response_type"] == "code" and asked["code_challenge_method"] == "S256" and len(asked["code_challenge"]) == 43
    assert asked["scope"] == "openid email profile" and asked["redirect_uri"] == "http://127.0.0.1:8000/signin/callback"
    answer = back(visitor, asked)
    assert (answer.status_code, answer.headers["location"]) == (303, "/own")
    assert visitor("GET", "/own").status_code == 200
    assert provider.asked[-1]["code_verifier"] and provider.asked[-1]["client_id"] == "arena", "a public client, by PKCE alone"
    key = next(one for one in call.access.keys("", ("server",)) if one.subject.startswith("sso-"))
    assert (key.label, key.made_by) == ("Ada (ada@example.com)", "account")


@pytest.mark.parametrize("how", ["signed_by_another", "signed_with_what_is_public", "unsigned"])
def test_a_forged_token_is_refused(call, provider, how):
    visitor = Visitor(call)
    asked = begin(visitor, provider)
    provider.sign = getattr(provider, how)
    refused(call, back(visitor, asked), "cannot be trusted")


@pytest.mark.parametrize(
    "change",
    [
        {"iss": "https://login.evil.example"},
        {"aud": "another"},
        {"aud": ["arena", "another"]},  # whose was it? it does not say
        {"aud": ["arena", "another"], "azp": "another"},
        {"nonce": "of another sign-in"},
        {"nonce": None},
        {"exp": 1_000_000_000},
        {"exp": None},
        {"iat": 4_000_000_000},
        {"sub": None},
        {"sub": ""},
        {"sub": ["ada"]},
        {"sub": "x" * 256},
    ],
)
def test_a_token_for_somebody_or_something_else_is_refused(call, provider, change):
    visitor = Visitor(call)
    asked = begin(visitor, provider)
    provider.change = change
    refused(call, back(visitor, asked), "cannot be trusted")


def test_userinfo_of_somebody_else_is_refused(call, provider):
    visitor = Visitor(call)
    asked = begin(visitor, provider)
    provider.change, provider.userinfo = {"email": None}, {"sub": "bob", "email": "ada@example.com", "email_verified": True}
    refused(call, back(visitor, asked), "cannot be trusted")


@pytest.mark.parametrize(
    ("token", "userinfo"),
    [
        ({"email": "ada@example.com"}, {"email": "eve@example.com", "email_verified": True}),
        ({"email_verified": True}, {"email": "ada@example.com"}),
    ],
)
def test_verified_is_said_of_one_address_and_not_of_another(call, provider, token, userinfo):
    visitor = Visitor(call)
    asked = begin(visitor, provider)
    provider.change, provider.userinfo = {"email": None, "email_verified": None} | token, userinfo
    refused(call, back(visitor, asked), "no verified e-mail address")
    provider.userinfo = {"email": "ada@example.com", "email_verified": True}
    assert back(visitor, begin(visitor, provider)).status_code == 303, "here the two belong together"


@pytest.mark.parametrize("verified", [False, None, "true", 1])
def test_an_address_that_is_not_verified_is_nobodys(call, provider, verified):
    visitor = Visitor(call)
    asked = begin(visitor, provider)
    provider.change = {"email_verified": verified}
    refused(call, back(visitor, asked), "no verified e-mail address")


def test_an_operator_may_trust_addresses_that_say_nothing_but_never_false(tmp_path, provider):
    provider.change = {"email_verified": None}
    call = Caller(tmp_path, accounts=Accounts(Provider(provider.url, "arena", ("ada@example.com",), trust_mail=True)))
    try:
        visitor = Visitor(call)
        assert back(visitor, begin(visitor, provider)).status_code == 303
        provider.change = {"email_verified": False}
        assert back(visitor, begin(visitor, provider)).status_code == 403
    finally:
        call.close()


def test_a_state_of_another_browser_is_refused(call, provider):
    """Login CSRF: whoever plants the answer to their own sign-in would have others act in their name."""
    attacker, victim = Visitor(call), Visitor(call)
    theirs = begin(attacker, provider)
    refused(call, back(victim, theirs), "not started in this browser")
    begin(victim, provider)
    refused(call, back(victim, theirs), "not started in this browser")
    assert provider.asked == [], "and the code was never looked at"


@pytest.mark.parametrize("state", ["", "x", None, "%C3%A9"])
def test_a_state_that_is_none_is_refused(call, provider, state):
    visitor = Visitor(call)
    asked = begin(visitor, provider)
    refused(call, back(visitor, asked, state=state), "not started in this browser")


def test_an_answer_is_good_once(call, provider):
    visitor = Visitor(call)
    asked = begin(visitor, provider)
    assert back(visitor, asked).status_code == 303
    used = len(provider.asked)
    visitor.cookies.pop("multiduel-signin")  # which the answer told the browser to forget
    again = back(visitor, asked)
    assert again.status_code == 403 and "not started in this browser" in again.text and len(provider.asked) == used
    lines = back(visitor, begin(visitor, provider)).headers.get_list("set-cookie")
    assert any("multiduel-signin=" in line and "Max-Age=0" in line for line in lines)


def test_an_answer_that_was_refused_ends_the_attempt_too(call, provider):
    visitor = Visitor(call)
    asked = begin(visitor, provider)
    lines = back(visitor, asked, state="x").headers.get_list("set-cookie")
    assert any("multiduel-signin=" in line and "Max-Age=0" in line for line in lines)


def test_no_address_from_outside_is_followed(call, provider):
    """Open redirect: the cookie is the browser's, so what it says is looked at as well."""
    visitor = Visitor(call)
    for path in ("/signin?to=https://evil.example", "/signin?next=//evil.example"):
        asked = begin(visitor, provider, path)
        assert back(visitor, asked).headers["location"] == "/own"
    asked = begin(visitor, provider)
    state, nonce, verifier, _ = visitor.cookies["multiduel-signin"][0].split(".", 3)
    for purpose in ("https://evil.example", "own://evil.example", "own:/evil.example", "own:../x", "join://evil", "own:a\\b", ""):
        visitor.cookies["multiduel-signin"] = (f"{state}.{nonce}.{verifier}.{purpose}", "/")
        assert back(visitor, asked).status_code == 403, purpose
    assert visitor("GET", "/signin/own/..%2F..%2Fevil", follow=False).status_code == 404


def test_another_site_cannot_begin_a_sign_in(call, provider):
    arena, _ = call.arena()
    link = call.access.new_key("link", arena=arena, name="sso-1")
    for path in ("/signin", f"/signin/join/{link}"):
        answer = Visitor(call)("GET", path, headers={"Sec-Fetch-Site": "cross-site"}, follow=False)
        assert answer.status_code == 403 and "location" not in answer.headers


def test_an_answer_of_another_provider_is_refused(call, provider):
    visitor = Visitor(call)
    refused(call, back(visitor, begin(visitor, provider), iss="https://login.evil.example"), "cannot be trusted")


def test_an_answer_must_name_its_provider_where_that_one_does(call, provider):
    provider.metadata = {"authorization_response_iss_parameter_supported": True}
    visitor = Visitor(call)
    refused(call, back(visitor, begin(visitor, provider)), "cannot be trusted")
    assert back(visitor, begin(visitor, provider), iss=provider.url).status_code == 303


def test_a_visitor_who_cancels_is_told_so_and_words_of_the_provider_are_not_shown(call, provider):
    visitor = Visitor(call)
    asked = begin(visitor, provider)
    answer = back(visitor, asked, code=None, error="access_denied", error_description="<script>alert(1)</script>")
    refused(call, answer, "You were not signed in")
    assert "alert(1)" not in answer.text


@pytest.mark.parametrize(
    "metadata",
    [{"issuer": "https://login.evil.example"}, {"token_endpoint": "ftp://127.0.0.1/token"}, {"jwks_uri": None}, {"jwks_uri": 5}],
)
def test_a_provider_that_describes_another_one_is_not_asked(call, provider, metadata, caplog):
    caplog.set_level(logging.CRITICAL)
    provider.metadata = metadata
    answer = Visitor(call)("GET", "/signin", follow=False)
    assert answer.status_code == 503 and "does not answer" in answer.text


def test_a_provider_that_is_down_stops_no_key(call, provider, caplog):
    caplog.set_level(logging.CRITICAL)
    provider.down = True
    visitor = Visitor(call)
    answer = visitor("GET", "/signin", follow=False)
    assert answer.status_code == 503 and "or use a key" in answer.text
    assert visitor.enter(call.server_key).status_code == 200
    provider.down = False
    other = Visitor(call)
    assert back(other, begin(other, provider)).status_code == 303, "and it recovers by itself"


def test_a_new_signing_key_is_looked_for_once_in_a_while(call, provider):
    visitor = Visitor(call)
    assert back(visitor, begin(visitor, provider)).status_code == 303
    provider.key = rsa_key("k2")
    provider.sign = lambda claims: jwt.encode({"alg": "RS256", "kid": "k2"}, claims, provider.key)
    assert back(visitor, begin(visitor, provider)).status_code == 403, "it looked a moment ago"
    call.app.app.pages.state.app_context.accounts._keys_at -= 61.0
    assert back(visitor, begin(visitor, provider)).status_code == 303


def test_a_signing_key_that_the_provider_gave_up_is_good_for_an_hour_at_most(call, provider):
    visitor = Visitor(call)
    assert back(visitor, begin(visitor, provider)).status_code == 303
    stolen, provider.key = provider.key, rsa_key("k2")
    provider.sign = lambda claims: jwt.encode({"alg": "RS256", "kid": "k1"}, claims, stolen)
    call.app.app.pages.state.app_context.accounts._read_at -= 3_601.0
    answer = back(visitor, begin(visitor, provider))
    assert answer.status_code == 403 and "cannot be trusted" in answer.text


def test_a_new_signing_key_under_the_old_name_is_looked_for_too(call, provider):
    visitor = Visitor(call)
    assert back(visitor, begin(visitor, provider)).status_code == 303
    provider.key = provider.other
    call.app.app.pages.state.app_context.accounts._keys_at -= 61.0
    assert back(visitor, begin(visitor, provider)).status_code == 303


@pytest.mark.parametrize(("late", "status"), [(30, 303), (-30, 303), (90, 403), (-90, 403)])
def test_the_clock_of_the_provider_may_differ_by_a_minute(call, provider, late, status):
    """``late``: seconds by which the token has ended; below 0, until it was made."""
    now = int(time.time())
    provider.change = {"exp": now - late} if late > 0 else {"iat": now - late}
    visitor = Visitor(call)
    assert back(visitor, begin(visitor, provider)).status_code == status


def test_a_published_shared_key_signs_nothing(call, provider):
    """A provider that offers shared keys only, and publishes one: anybody could sign with it."""
    shared = OctKey.generate_key(256, parameters={"kid": "k1"})
    provider.metadata = {"id_token_signing_alg_values_supported": ["HS256", "none"]}
    provider.keys = lambda: {"keys": [shared.as_dict(private=True)]}
    try:
        visitor = Visitor(call)
        asked = begin(visitor, provider)
        provider.sign = lambda claims: jwt.encode({"alg": "HS256", "kid": "k1"}, claims, shared)
        refused(call, back(visitor, asked), "cannot be trusted")
    finally:
        del provider.keys


# ---- answers of a provider that is broken, slow or hostile

DEEP = b"[" * 200_000
ODD = [
    b"",
    b"<html>",
    b"null",
    b"[]",
    b"5",
    b'"x"',
    b'{"error": 5}',
    b'{"error": {"a": 1}}',
    b'{"id_token": 5}',
    b'{"id_token": null}',
    DEEP,
]
ODD += [b'{"id_token": "a.b.c", "token_type": 5}', b'{"id_token": "e30.e30.e30"}', b'{"id_token": "\\ud800"}', b"\xff\xfe{}"]


@pytest.mark.parametrize("body", ODD, ids=range(len(ODD)))
def test_an_odd_answer_is_refused_in_a_sentence(call, provider, body, caplog):
    caplog.set_level(logging.CRITICAL)
    visitor = Visitor(call)
    asked = begin(visitor, provider)
    provider.bodies = {"/token": body}
    refused(call, back(visitor, asked), "cannot be trusted")
    provider.bodies = {"/jwks": body}
    call.app.app.pages.state.app_context.accounts._keys = None
    assert back(visitor, begin(visitor, provider)).status_code in (403, 503)
    provider.bodies = {"/.well-known/openid-configuration": body}
    call.app.app.pages.state.app_context.accounts._metadata = {}
    answer = visitor("GET", "/signin", follow=False)
    assert answer.status_code == 503 and "does not answer" in answer.text


@pytest.mark.parametrize("claims", [b"[]", b"5", b"null", b'"x"', DEEP, b"{}"], ids=range(6))
def test_a_signed_token_that_says_something_odd_is_refused(call, provider, claims):
    visitor = Visitor(call)
    asked = begin(visitor, provider)
    provider.sign = lambda _: jws.serialize_compact({"alg": "RS256", "kid": "k1"}, claims, provider.key)
    refused(call, back(visitor, asked), "cannot be trusted")


def test_a_subject_that_is_no_text_is_refused(call, provider):
    visitor = Visitor(call)
    asked = begin(visitor, provider)
    provider.change = {"sub": "\ud800"}
    provider.sign = lambda claims: jws.serialize_compact({"alg": "RS256", "kid": "k1"}, json.dumps(claims), provider.key)
    refused(call, back(visitor, asked), "cannot be trusted")


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/jwks", "/token", "/me"])
@pytest.mark.parametrize("how", ["huge", "slow", "packed"])
def test_a_huge_slow_or_packed_answer_is_cut_off(call, provider, path, how, monkeypatch, caplog):
    from multiduel.arena.web import accounts

    caplog.set_level(logging.CRITICAL)
    monkeypatch.setattr(accounts, "PATIENCE", 10.0 if how == "huge" else 1.0)
    visitor = Visitor(call)
    provider.change = {"email": None}  # so that it is asked for userinfo too
    if how == "slow":  # a byte now and then, each in time
        provider.at_once, provider.pause, provider.bodies = 1, 0.1, {path: b" " * 600}
    elif how == "huge":
        provider.at_once, provider.bodies = 10_000_000, {path: b" " * 50_000_000}
    else:
        provider.headers = {"Content-Encoding": "gzip"}
        provider.bodies = {path: gzip.compress(b" " * 50_000_000)}
    begun = time.monotonic()
    answer = visitor("GET", "/signin", follow=False)
    if answer.status_code == 303:
        asked = {name: value[0] for name, value in parse_qs(urlsplit(answer.headers["location"]).query).items()}
        provider.nonce = asked["nonce"]
        answer = back(visitor, asked)
    assert answer.status_code == 503 and "does not answer" in answer.text
    if how == "slow":
        assert time.monotonic() - begun < 30.0, "60 s, had it been patient"


def test_beginning_a_sign_in_reads_no_certificates(call, provider, monkeypatch):
    """Reading them takes 40 ms of the server's only thread for requests, and any stranger may begin a sign-in."""
    import httpcore2

    def read(*_, **__):
        raise AssertionError("certificates were read")

    monkeypatch.setattr(ssl, "create_default_context", read)
    monkeypatch.setattr(httpcore2, "default_ssl_context", read)
    visitor = Visitor(call)
    assert back(visitor, begin(visitor, provider)).status_code == 303


def test_a_provider_with_a_certificate_of_the_companys_own_authority(tmp_path, monkeypatch, caplog):
    """The server trusts whom the system trusts, or the file in SSL_CERT_FILE."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    whole, key = tmp_path / "whole.pem", tmp_path / "key.pem"
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=login"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(whole)]
    subprocess.run(command, check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(whole, key)
    provider = Hostile(tls)
    caplog.set_level(logging.CRITICAL)
    try:
        for trusted, status in ((False, 503), (True, 303)):
            if trusted:
                monkeypatch.setenv("SSL_CERT_FILE", str(whole))
            folder = tmp_path / str(trusted)
            folder.mkdir()
            call = Caller(folder, accounts=Accounts(Provider(provider.url, "arena", ("ada@example.com",))))
            assert Visitor(call)("GET", "/signin", follow=False).status_code == status
            call.close()
    finally:
        provider.close()


# ---- rights


def test_an_account_owns_what_it_was_invited_to_and_nothing_else(call, provider):
    arena, owner_key = call.arena()
    other, _ = call.arena()
    owner = Visitor(call)
    owner.enter(owner_key)
    token = owner.token(owner("GET", f"/own/{arena}/keys").text)
    assert owner("POST", f"/own/{arena}/accounts", {"token": token, "mail": "no address"}).status_code == 422
    page = owner("POST", f"/own/{arena}/accounts", {"token": token, "mail": "Bob@Example.com"}).text
    assert "bob@example.com" in page and "invited" in page
    provider.change = {"sub": "bob", "email": "bob@example.com", "name": "Bob"}
    bob = Visitor(call)
    listed = back(bob, begin(bob, provider))
    assert listed.status_code == 200 and f'href="/signin/own/{arena}"' in listed.text and other not in listed.text
    assert back(bob, begin(bob, provider, f"/signin/own/{other}")).status_code == 403
    assert back(bob, begin(bob, provider, f"/signin/own/{arena}")).headers["location"] == f"/own/{arena}"
    assert bob("GET", f"/own/{arena}").status_code == 200
    assert bob("GET", f"/own/{other}").status_code == 401 and bob("GET", "/own").status_code == 401
    token = bob.token(bob("GET", f"/own/{arena}").text)
    bob("POST", f"/own/{arena}/status", {"token": token, "do": "pause"})
    with call.service.look(arena) as state:
        assert state.status == "paused"
    last = call.service.events(arena)[-1].body["actor"]
    assert last.startswith("owner:sso-"), "the log names the account's key"
    assert "By Bob (bob@example.com), owner." in bob("GET", f"/own/{arena}/journal").text, "and the journal's page the person"

    # another account that has the address later
    provider.change = {"sub": "bob the second", "email": "bob@example.com"}
    second = Visitor(call)
    assert back(second, begin(second, provider, f"/signin/own/{arena}")).status_code == 403
    assert arena not in back(second, begin(second, provider)).text

    # removed: signed out at once, and invited again he is somebody new
    name = call.access.keys(arena, ("account",))[0].subject
    token = owner.token(owner("GET", f"/own/{arena}/keys").text)
    asked = owner("POST", f"/own/{arena}/accounts/remove", {"token": token, "name": name})
    assert "Remove this owner?" in asked.text and bob("GET", f"/own/{arena}").status_code == 200
    owner("POST", f"/own/{arena}/accounts/remove", {"token": token, "name": name, "sure": "1"})
    assert bob("GET", f"/own/{arena}").status_code == 401
    provider.change = {"sub": "bob", "email": "bob@example.com"}
    assert back(bob, begin(bob, provider, f"/signin/own/{arena}")).status_code == 403


def test_a_domain_keeps_other_accounts_out(tmp_path, provider):
    call = Caller(tmp_path, accounts=Accounts(Provider(provider.url, "arena", domains=("@example.com",))))
    try:
        arena, _ = call.arena()
        link = call.access.new_key("link", arena=arena, name="sso-1")
        visitor = Visitor(call)
        provider.change = {"email": "mallory@evil.example"}
        answer = back(visitor, begin(visitor, provider, f"/signin/join/{link}"))
        assert answer.status_code == 403 and "domain" in answer.text
        provider.change = {"email": "ada@example.com.evil.example"}
        assert back(visitor, begin(visitor, provider, f"/signin/join/{link}")).status_code == 403
        provider.change = {}
        assert back(visitor, begin(visitor, provider, f"/signin/join/{link}")).headers["location"] == f"/vote/{arena}"
    finally:
        call.close()


def test_one_person_is_one_rater_in_every_browser(call, provider):
    arena, owner = call.arena()
    link = call.access.new_key("link", arena=arena, name="sso-1")
    assert "Sign in and start" in Visitor(call)("GET", f"/vote/{arena}/start/{link}").text
    assert Visitor(call).enter(link).status_code == 403, "no rater without an account"
    answer = call("POST", f"/arenas/{arena}/join", {"label": "Ada"}, key=link)
    assert answer.status_code == 403 and "account" in answer.json()["error"], "nor through the API"
    for k in range(3):
        visitor = Visitor(call)
        assert back(visitor, begin(visitor, provider, f"/signin/join/{link}")).headers["location"] == f"/vote/{arena}"
        assert visitor("GET", f"/vote/{arena}").status_code == 200, k
    provider.change, provider.userinfo = {"sub": "bob", "name": "Bob", "email": None}, {"sub": "bob"}  # a rater needs no address
    visitor = Visitor(call)
    back(visitor, begin(visitor, provider, f"/signin/join/{link}"))
    with call.service.look(arena) as state:
        labels = [rater.label for rater in state.raters.values()]
    assert len(labels) == 2 and labels[0].startswith("Ada (") and labels[1].startswith("Bob (")
    assert Visitor(call)("GET", f"/signin/own/{arena}", follow=False).status_code == 303

    # nobody becomes Ada by sending what she was admitted under
    plain = call.access.new_key("link", arena=arena)
    request = next(event.body["request"] for event in call.service.events(arena) if event.kind == "rater_admitted")
    answer = call("POST", f"/arenas/{arena}/join", {"label": "x", "request": request}, key=plain)
    assert answer.status_code in (201, 422)
    with call.service.look(arena) as state:
        assert len(state.raters) == (3 if answer.status_code == 201 else 2), "somebody else"

    # whom the owner ended does not come back by signing in
    rater = next(iter(call.service.raters(arena))).rater
    call.good("DELETE", f"/arenas/{arena}/raters/{rater}/key", key=owner)
    provider.change = {}
    visitor = Visitor(call)
    answer = back(visitor, begin(visitor, provider, f"/signin/join/{link}"))
    assert answer.status_code == 403 and "revoked" in answer.text


def test_a_link_that_ended_or_needs_no_account_begins_no_sign_in(call):
    arena, _ = call.arena()
    plain, ended = call.access.new_key("link", arena=arena), call.access.new_key("link", arena=arena, name="sso-2")
    call.access.revoke("link", arena, "sso-2")
    for key in (plain, ended, "nonsense", call.server_key):
        assert Visitor(call)("GET", f"/signin/join/{key}", follow=False).status_code == 403


def test_a_session_ends_by_itself_and_a_key_does_not(call, provider, monkeypatch):
    visitor = Visitor(call)
    back(visitor, begin(visitor, provider))
    holder = Visitor(call)
    holder.enter(call.server_key)
    later = datetime.now(UTC) + timedelta(hours=13)

    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return later

    monkeypatch.setattr(access, "datetime", Clock)
    now = time.monotonic()
    monkeypatch.setattr(access.time, "monotonic", lambda: now + 3_600)
    answer = visitor("GET", "/own")
    assert answer.status_code == 401 and 'href="/signin"' in answer.text, "and the page says how to come in"
    assert holder("GET", "/own").status_code == 200


def test_signing_out_ends_a_session_and_only_forgets_a_key(call, provider):
    arena, owner_key = call.arena()
    visitor, holder, owner = Visitor(call), Visitor(call), Visitor(call)
    back(visitor, begin(visitor, provider))
    holder.enter(call.server_key)
    owner.enter(owner_key)
    stolen = dict(visitor.cookies)
    for who, page in ((visitor, f"/own/{arena}/keys"), (holder, "/own/keys"), (owner, f"/own/{arena}/keys")):
        found = who("GET", page).text
        action = re.search(r'action="(/own[^"]*/signout)"', found)[1]
        assert who("POST", action, {"token": "0" * 32}).status_code == 403, "another site cannot sign her out"
        answer = who("POST", action, {"token": who.token(found)})
        assert answer.status_code == 200 and "You are signed out." in answer.text
        assert any("Max-Age=0" in line for line in answer.headers.get_list("set-cookie"))
    visitor.cookies.update(stolen)
    assert visitor("GET", "/own").status_code == 401, "a copy of the cookie is good for nothing"
    assert Visitor(call).enter(call.server_key).status_code == 200 and Visitor(call).enter(owner_key).status_code == 200


def test_an_account_that_is_admin_no_more_is_signed_out_when_the_server_starts(call, provider):
    ada, holder = Visitor(call), Visitor(call)
    back(ada, begin(ada, provider))
    holder.enter(call.server_key)
    end_sessions_of_former_admins(call.access, ["bob@example.com", "ada@example.com"])
    assert ada("GET", "/own").status_code == 200
    end_sessions_of_former_admins(call.access, ["bob@example.com"])
    assert ada("GET", "/own").status_code == 401 and holder("GET", "/own").status_code == 200


def test_an_account_is_signed_in_in_a_few_browsers_and_the_oldest_makes_room(call, provider):
    visitors = [Visitor(call) for _ in range(6)]
    for visitor in visitors:
        back(visitor, begin(visitor, provider))
    assert [visitor("GET", "/own").status_code for visitor in visitors] == [401, *[200] * 5]


def test_cookies_of_tls_cannot_be_planted_by_neighbours(call, provider):
    visitor = Visitor(call)
    answer = visitor("GET", "https://127.0.0.1:8000/signin", follow=False)
    line = next(line for line in answer.headers.get_list("set-cookie"))
    assert line.startswith("__Host-multiduel-signin=") and "Secure" in line and "HttpOnly" in line and f"Max-Age={KEPT}" in line
    assert "https%3A%2F%2F127.0.0.1" in answer.headers["location"], "and the way back has TLS as well"


# ---- without it, and typed wrongly


def test_without_a_provider_everything_is_as_before(tmp_path):
    call = Caller(tmp_path)
    try:
        visitor = Visitor(call)
        assert "/signin" not in visitor("GET", "/").text
        for path in ("/signin", "/signin/callback?code=1&state=2", "/signin/own/a1"):
            assert visitor("GET", path, follow=False).status_code == 404
        arena, key = call.arena(raters="open")
        visitor.enter(key)
        page = visitor("GET", f"/own/{arena}/keys").text + visitor("GET", f"/own/{arena}/raters").text
        assert "account" not in page
        token = visitor.token(page)
        assert visitor("POST", f"/own/{arena}/accounts", {"token": token, "mail": "a@b.example"}).status_code == 404
        assert visitor("POST", f"/own/{arena}/links", {"token": token, "accounts": "1"}).status_code == 422
    finally:
        call.close()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"issuer": "http://login.example"}, "https"),
        ({"issuer": "login.example"}, "https"),
        ({"issuer": "https://["}, "https"),
        ({"issuer": "https://login.example/?x=1"}, "https"),
        ({"client": ""}, "--oidc-client"),
        ({"admins": ("ada",)}, "--oidc-admin"),
        ({"domains": ("example.com",)}, "--oidc-domain"),
        ({"hours": 0.0}, "--oidc-hours"),
        ({"hours": float("nan")}, "oidc-hours"),
    ],
)
def test_what_the_operator_typed_is_checked(words, said):
    with pytest.raises(BadInput, match=said):
        Provider(**{"issuer": "https://login.example", "client": "arena"} | words)


def test_what_the_operator_typed_or_set_reaches_the_server(monkeypatch):
    """By options, or by variables as systemd and compose set them; an empty one is none."""
    from typer.testing import CliRunner

    from multiduel.arena.web import serve
    from multiduel.cli import app

    made = []
    monkeypatch.setattr(serve, "serve", lambda setup: made.append(setup.checked()))
    names = {"ISSUER": "https://login.example", "CLIENT": "arena", "ADMINS": "a@b.example c@b.example", "DOMAINS": "@b.example"}
    names |= {"HOURS": "3", "TRUST_MAIL": "1"}
    variables = {f"MULTIDUEL_OIDC_{name}": value for name, value in names.items()}
    typed = ["--oidc-issuer", names["ISSUER"], "--oidc-client", "arena", "--oidc-domain", "@b.example"]
    typed += ["--oidc-admin", "a@b.example", "--oidc-admin", "c@b.example", "--oidc-hours", "3", "--oidc-trust-mail"]
    meant = Provider(names["ISSUER"], "arena", ("a@b.example", "c@b.example"), ("@b.example",), 3.0, True)
    for words, env in ((["arena", "serve"], variables), (["arena", "serve", *typed], {})):
        assert CliRunner().invoke(app, words, env=env).exit_code == 0
        assert made[-1].accounts().provider == meant
    assert CliRunner().invoke(app, ["arena", "serve"], env=dict.fromkeys(variables, "")).exit_code == 0
    assert made[-1].accounts() is None
    refused = CliRunner().invoke(app, ["arena", "serve", "--oidc-client", "arena"])
    assert refused.exit_code != 0 and len(made) == 3
