"""The page of notices: added where the operator allows it, a secret shown once, removed after a question."""

from __future__ import annotations

import re

import pytest

from multiduel.arena.domain.notices import Allowed
from multiduel.arena.web.notifier import Mail, Notifier
from tests.arena.calling import Caller
from tests.arena.web.pages.visiting import Visitor


@pytest.fixture(scope="module")
def call(tmp_path_factory):
    caller = Caller(tmp_path_factory.mktemp("notices"))
    notifier = Notifier(
        caller.service, Allowed(["https://hooks.example", "@example.com"]), Mail("smtp://localhost", "a@example.com")
    )
    caller.app.app.pages.state.app_context.notifier = notifier
    yield caller
    caller.close()


def owner_of(call):
    arena, key = call.arena()
    visitor = Visitor(call)
    visitor.enter(key)
    home = f"/own/{arena}/notices"
    return visitor, arena, home, visitor.token(visitor("GET", home).text)


def test_a_webhook_is_added_with_a_secret_that_is_shown_once(call):
    visitor, arena, home, token = owner_of(call)
    assert "No notices yet" in visitor("GET", home).text
    made = visitor("POST", home, {"token": token, "target": "https://hooks.example/T1/own-secret"}).text
    (notice,) = call.service.journal.notices.get(arena)
    assert notice.secret in made and "https://hooks.example" in made and "own-secret" not in made
    page = visitor("GET", home).text
    assert notice.secret not in page and "Notices go to 1 address." in page and "own-secret" not in page


def test_mail_is_added_and_removed_after_a_question(call):
    visitor, arena, home, token = owner_of(call)
    visitor("POST", home, {"token": token, "target": " ada@example.com "})
    (notice,) = call.service.journal.notices.get(arena)
    assert (notice.kind, notice.target) == ("mail", "ada@example.com") and notice.made_by.startswith("owner:")
    asked = visitor("POST", f"{home}/remove", {"token": token, "notice": notice.id}).text
    assert "Remove this notice?" in asked and len(call.service.journal.notices.get(arena)) == 1
    visitor("POST", f"{home}/remove", {"token": token, "notice": notice.id, "sure": "1"})
    assert call.service.journal.notices.get(arena) == []
    assert visitor("POST", f"{home}/remove", {"token": token, "notice": notice.id, "sure": "1"}).status_code == 404


@pytest.mark.parametrize(
    "target", ["https://evil.example/x", "http://127.0.0.1:5432/", "eve@evil.example", "", "javascript:alert(1)"]
)
def test_a_place_that_is_not_allowed_is_refused_and_what_was_typed_stays(call, target):
    visitor, arena, home, token = owner_of(call)
    answer = visitor("POST", home, {"token": token, "target": target})
    assert answer.status_code == 422 and call.service.journal.notices.get(arena) == []
    assert re.search(r'id="target" name="target" value="([^"]*)"', answer.text)[1] == target


def test_only_owners_and_only_our_forms(call):
    visitor, arena, home, _ = owner_of(call)
    assert Visitor(call)("GET", home).status_code == 401
    other, _, _, others = owner_of(call)
    assert other("POST", home, {"token": others, "target": "ada@example.com"}).status_code in (401, 403)
    assert visitor("POST", home, {"token": "0" * 32, "target": "ada@example.com"}).status_code == 403
    assert call.service.journal.notices.get(arena) == []


def test_a_server_that_sends_nothing_says_so(tmp_path):
    call = Caller(tmp_path)
    arena, key = call.arena()
    visitor = Visitor(call)
    visitor.enter(key)
    page = visitor("GET", f"/own/{arena}/notices").text
    assert "This server sends no notices" in page and 'id="target"' not in page
    call.close()
