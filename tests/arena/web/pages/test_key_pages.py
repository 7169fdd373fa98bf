"""The pages of keys: who holds which; make, replace and revoke with a confirmation; whose browser is signed out."""

from __future__ import annotations

import re
import threading
import time

import pytest

from multiduel.arena.web.access import Access
from multiduel.arena.web.pages import routes_board
from tests.arena.calling import Caller
from tests.arena.web.pages.visiting import Visitor


@pytest.fixture
def call(tmp_path):
    caller = Caller(tmp_path)
    yield caller
    caller.close()


@pytest.fixture
def owner(call):
    """(visitor, arena, name of the visitor's key)"""
    arena, key = call.arena(raters="open")
    visitor = Visitor(call)
    visitor.enter(key)
    return visitor, arena, key.split(".")[2]


def post(visitor, path, page_path, **fields):
    token = visitor.token(visitor("GET", page_path).text)
    return visitor("POST", path, {"token": token, **fields})


def shown_key(page: str) -> str:
    return re.search(r'value="http://[^"]*/k/(md\w+\.[^"]+)"', page)[1]


def test_an_owner_makes_a_key_for_somebody_and_sees_it_listed(call, owner):
    visitor, arena, name = owner
    home = f"/own/{arena}/keys"
    assert ">Keys</a>" in visitor("GET", f"/own/{arena}").text
    made = post(visitor, home, home, label="Bo & <b>")
    key = shown_key(made.text)
    page = visitor("GET", home).text
    assert "Bo &amp; &lt;b&gt;" in page and key.split(".")[2] in page and key.split(".")[3] not in page
    assert page.count("yours") == 1 and "3 keys work now" in page
    assert f"owner:{name}" in page, "the record says who made it"
    assert Visitor(call).enter(key).status_code == 200


def test_a_label_that_does_not_print_makes_no_key(call, owner):
    visitor, arena, _ = owner
    answer = post(visitor, f"/own/{arena}/keys", f"/own/{arena}/keys", label="x" * 201)
    assert answer.status_code == 422 and "label" in answer.text
    assert len(call.access.keys(arena, ("owner",))) == 1


def test_revoking_needs_a_tick_and_ends_the_others_session(call, owner):
    visitor, arena, _ = owner
    key = call.access.new_key("owner", arena=arena, label="Bo")
    bo = Visitor(call)
    bo.enter(key)
    assert bo("GET", f"/own/{arena}").status_code == 200
    at = f"/own/{arena}/keys/owner/{key.split('.')[2]}"
    page = visitor("GET", at)
    assert "Owner key of Bo" in page.text and "last owner" not in page.text
    refused = post(visitor, f"{at}/revoke", at)
    assert refused.status_code == 422 and "tick the box" in refused.text and bo("GET", f"/own/{arena}").status_code == 200
    assert post(visitor, f"{at}/revoke", at, sure="1").status_code == 200
    ended = bo("GET", f"/own/{arena}")
    assert ended.status_code == 401 and "no key that works" in ended.text
    assert visitor("GET", at).status_code == 404


def test_the_last_key_is_revoked_after_a_warning_only(call, owner):
    visitor, arena, name = owner
    at = f"/own/{arena}/keys/owner/{name}"
    page = visitor("GET", at).text
    assert "This is the last owner’s key" in page and "This browser uses it" in page
    unsaid = post(visitor, f"{at}/revoke", at, sure="1")
    assert unsaid.status_code == 422 and call.access.any("owner", arena)
    answer = post(visitor, f"{at}/revoke", at, sure="1", last="1")
    assert answer.status_code == 200 and "Your key is revoked" in answer.text
    assert not call.access.any("owner", arena) and visitor("GET", f"/own/{arena}").status_code == 401


def test_who_replaces_their_own_key_stays_signed_in(call, owner):
    visitor, arena, name = owner
    old = visitor.cookies["multiduel-owner"][0]
    at = f"/own/{arena}/keys/owner/{name}"
    key = shown_key(post(visitor, f"{at}/replace", at).text)
    assert visitor.cookies["multiduel-owner"][0] == key != old and key.split(".")[2] == name
    assert visitor("GET", f"/own/{arena}").status_code == 200
    assert call("GET", f"/arenas/{arena}", key=old).status_code == 401


def test_a_raters_key_is_replaced_and_revoked_from_the_raters_page(call, owner):
    visitor, arena, _ = owner
    rater_key = call.rater(arena, visitor.cookies["multiduel-owner"][0], "Ada")
    rater = rater_key.split(".")[2]
    ada = Visitor(call)
    ada.enter(rater_key)
    page = visitor("GET", f"/own/{arena}/raters").text
    at = f"/own/{arena}/keys/rater/{rater}"
    assert f'href="{at}"' in page and "Manage the key of Ada" in page
    fresh = shown_key(post(visitor, f"{at}/replace", at).text)
    assert ada("GET", f"/vote/{arena}").status_code == 401
    ada.enter(fresh)
    assert ada("GET", f"/vote/{arena}").status_code == 200
    assert post(visitor, f"{at}/revoke", at, sure="1").status_code == 200
    assert ada("GET", f"/vote/{arena}").status_code == 401
    assert "no key" in visitor("GET", f"/own/{arena}/raters").text
    assert "This rater has no key" in visitor("GET", at).text
    assert "Make key" in visitor("GET", at).text


def test_the_servers_keys_are_for_the_server_only(call, owner):
    visitor, arena, _ = owner
    assert visitor("GET", "/own/keys").status_code in (401, 403)
    server = Visitor(call)
    server.enter(call.server_key)
    assert "Server keys" in server("GET", "/own").text
    key = shown_key(post(server, "/own/keys", "/own/keys", label="Zoe").text)
    assert "Zoe" in server("GET", "/own/keys").text
    at = f"/own/keys/server/{call.server_key.split('.')[2]}"
    zoe = Visitor(call)
    zoe.enter(key)
    assert post(zoe, f"{at}/revoke", at, sure="1").status_code == 200
    assert server("GET", "/own/keys").status_code == 401 and zoe("GET", f"/own/{arena}/keys").status_code == 200


def test_strangers_and_forged_forms_change_no_keys(call, owner):
    visitor, arena, name = owner
    elsewhere, key = call.arena()
    stranger = Visitor(call)
    stranger.enter(key)
    at = f"/own/{arena}/keys/owner/{name}"
    before = call.access.changes(arena)
    for path in (f"/own/{arena}/keys", at, f"/own/{arena}/keys/rater/r1"):
        assert stranger("GET", path).status_code in (401, 403)
    for path in (f"/own/{arena}/keys", f"{at}/replace", f"{at}/revoke"):
        assert visitor("POST", path, {"sure": "1", "last": "1"}).status_code == 403, "without the token"
        assert stranger("POST", path, {"sure": "1", "last": "1"}).status_code in (401, 403)
    for path in (f"/own/{arena}/keys/server/{name}", f"/own/{arena}/keys/owner/none", f"/own/{arena}/keys/rater/none"):
        assert visitor("GET", path).status_code == 404
    assert call.access.changes(arena) == before
    assert stranger("GET", f"/own/{elsewhere}/keys").status_code == 200


def test_a_key_revoked_in_another_process_ends_the_session_after_one_look(call, owner):
    visitor, arena, name = owner
    assert visitor("GET", f"/own/{arena}").status_code == 200
    Access(call.service.journal.secrets).revoke("owner", arena, name)
    call.access.look_around()
    assert visitor("GET", f"/own/{arena}").status_code == 401


def test_a_board_that_is_watched_ends_with_its_key(call, owner, monkeypatch):
    visitor, arena, name = owner
    monkeypatch.setattr(routes_board, "EVERY", 0.01)
    answers = []
    watching = threading.Thread(target=lambda: answers.append(visitor("GET", f"/own/{arena}/board/changes")))
    watching.start()
    until = time.monotonic() + 50.0
    while not visitor.call.app.app.pages.state.watch.streams and time.monotonic() < until:
        time.sleep(0.01)
    call.access.revoke("owner", arena, name)
    watching.join(60)
    assert not watching.is_alive() and answers[0].status_code == 200 and "data: " in answers[0].text
    assert visitor("GET", f"/own/{arena}/board/changes").status_code == 401


@pytest.mark.parametrize("request_id", ["", "1", "x" * 15, "has a space in it!"])
def test_a_join_request_that_is_not_random_makes_no_rater(call, owner, request_id):
    _, arena, _ = owner
    link = call.access.new_key("link", arena=arena)
    answer = Visitor(call)("POST", "/k", {"key": link, "request": request_id, "label": "Ada"})
    assert answer.status_code == 422 and "Load the page again" in answer.text and call.service.raters(arena) == []


def test_two_people_who_paste_the_link_on_the_first_page_are_two_raters(call, owner):
    _, arena, _ = owner
    link = call.access.new_key("link", arena=arena)
    for _ in range(2):
        visitor = Visitor(call)
        request = re.search(r'name="request" value="([^"]*)"', visitor("GET", "/").text)[1]
        assert re.fullmatch("[0-9a-f]{32}", request)
        assert visitor("POST", "/k", {"key": link, "request": request}).status_code == 200
    assert len(call.service.raters(arena)) == 2
