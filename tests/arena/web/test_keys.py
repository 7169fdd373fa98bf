"""Keys: listed, made, rotated and revoked by those who may, with a record; known in other processes; old databases."""

from __future__ import annotations

import itertools
import threading
import time

import pytest

from multiduel.arena import connect
from multiduel.arena.domain.errors import Conflict, Forbidden, NotFound, Unavailable
from multiduel.arena.journal import Secret, migrations
from multiduel.arena.web import access
from multiduel.arena.web.access import Access, Grant
from multiduel.inputs import BadInput
from tests.arena.calling import Caller


@pytest.fixture
def call(tmp_path):
    caller = Caller(tmp_path)
    yield caller
    caller.close()


def name_of(key: str) -> str:
    return key.split(".")[2]


def listed(call, arena, key):
    return call.good("GET", f"/arenas/{arena}/keys", key=key)["keys"]


def refused(call, status, method, path, body=None, **words):
    answer = call(method, path, body, **words)
    assert answer.status_code == status, answer.text
    return answer.json()["error"]


# ---- the API


def test_owner_keys_are_made_listed_rotated_and_revoked(call):
    arena, owner = call.arena()
    at = f"/arenas/{arena}/keys"
    made = call.good("POST", at, {"label": "Ada"}, key=owner)
    assert made["role"] == "owner" and made["name"] == name_of(made["key"])
    rows = {row["name"]: row for row in listed(call, arena, owner)}
    ada = rows[made["name"]]
    assert (ada["label"], ada["role"], ada["last_used"], ada["yours"]) == ("Ada", "owner", None, False)
    assert ada["made_by"] == f"owner:{name_of(owner)}" and rows[name_of(owner)]["yours"]
    assert call("GET", f"/arenas/{arena}", key=made["key"]).status_code == 200

    rotated = call.good("POST", f"{at}/{made['name']}/rotate", key=owner)
    assert rotated["name"] == made["name"] and rotated["key"] != made["key"]
    refused(call, 401, "GET", f"/arenas/{arena}", key=made["key"])
    assert call("GET", f"/arenas/{arena}", key=rotated["key"]).status_code == 200
    assert {row["name"]: row["label"] for row in listed(call, arena, owner)}[made["name"]] == "Ada", "the label stays"

    assert call.good("DELETE", f"{at}/{made['name']}", key=owner) == {"revoked": 1}
    refused(call, 401, "GET", f"/arenas/{arena}", key=rotated["key"])
    assert "no key" in refused(call, 404, "DELETE", f"{at}/{made['name']}", key=owner)
    assert "no key" in refused(call, 404, "POST", f"{at}/{made['name']}/rotate", key=owner)
    assert [row["name"] for row in listed(call, arena, owner)] == [name_of(owner)]


def test_the_record_says_who_changed_which_key(call):
    arena, owner = call.arena()
    made = call.good("POST", f"/arenas/{arena}/keys", {"label": "Ada"}, key=owner)
    call.good("POST", f"/arenas/{arena}/keys/{made['name']}/rotate", key=owner)
    call.good("DELETE", f"/arenas/{arena}/keys/{made['name']}", key=call.server_key)
    changes = call.good("GET", f"/arenas/{arena}/keys", key=owner)["changes"]
    by = f"owner:{name_of(owner)}"
    said = [(one["what"], one["label"], one["by"]) for one in changes if one["name"] == made["name"]]
    assert said == [("revoked", "Ada", f"server:{name_of(call.server_key)}"), ("rotated", "Ada", by), ("made", "Ada", by)]
    assert all(one["at"].endswith("Z") for one in changes)


def test_the_record_is_not_flooded_by_raters_who_join(db):
    call = Caller(db)
    try:
        arena, owner = call.arena()
        link = call.good("POST", f"/arenas/{arena}/links", key=owner)["key"]
        joined = [call.good("POST", f"/arenas/{arena}/join", {}, key=link)["rater"] for _ in range(3)]
        again = {"request": "one-and-only-one"}
        assert len({call.good("POST", f"/arenas/{arena}/join", again, key=link)["rater"] for _ in range(3)}) == 1
        call.good("POST", f"/arenas/{arena}/raters/{joined[0]}/key", key=owner)
        changes = call.good("GET", f"/arenas/{arena}/keys", key=owner)["changes"]
        said = [(one["role"], one["what"], one["by"].partition(":")[0]) for one in changes]
        assert said == [("rater", "rotated", "owner"), ("link", "made", "owner"), ("owner", "made", "server")]
        assert sum(row["role"] == "rater" for row in listed(call, arena, owner)) == 4
    finally:
        call.close()


def test_no_answer_holds_a_hash_or_an_old_secret(call):
    arena, owner = call.arena(raters="open")
    rater = call.rater(arena, owner, "Ada")
    texts = [call("GET", f"/arenas/{arena}/keys", key=owner).text, call("GET", "/keys", key=call.server_key).text]
    hashes = [one.hash for role in ("owner", "link", "rater") for one in call.service.journal.secrets.get(arena, role)]
    hashes += [one.hash for one in call.service.journal.secrets.get("", "server")]
    assert len(hashes) == 4
    for secret in (*hashes, *(key.split(".")[3] for key in (owner, rater, call.server_key))):
        assert not any(secret in text for text in texts)


def test_keys_are_no_part_of_the_exported_log(call):
    arena, owner = call.arena()
    made = call.good("POST", f"/arenas/{arena}/keys", {"label": "Ada the owner"}, key=owner)
    written = call.good("GET", f"/arenas/{arena}/log.jsonl", key=owner)
    assert made["name"] not in written and "Ada the owner" not in written


def test_the_last_owner_key_needs_force_unless_the_server_revokes_it(call):
    arena, owner = call.arena()
    at = f"/arenas/{arena}/keys/{name_of(owner)}"
    assert "force=1" in refused(call, 409, "DELETE", at, key=owner)
    assert call("GET", f"/arenas/{arena}", key=owner).status_code == 200, "nothing changed"
    assert call.good("DELETE", f"{at}?force=1", key=owner) == {"revoked": 1}
    refused(call, 401, "GET", f"/arenas/{arena}", key=owner)
    fresh = call.good("POST", f"/arenas/{arena}/keys", {}, key=call.server_key)
    assert call.good("DELETE", f"/arenas/{arena}/keys/{fresh['name']}", key=call.server_key) == {"revoked": 1}


def test_the_last_server_key_needs_force(call):
    name = name_of(call.server_key)
    assert "force=1" in refused(call, 409, "DELETE", f"/keys/{name}", key=call.server_key)
    made = call.good("POST", "/keys", {"label": "Zoe"}, key=call.server_key)
    assert {row["label"]: row["yours"] for row in call.good("GET", "/keys", key=made["key"])["keys"]} == {"": False, "Zoe": True}
    assert call.good("DELETE", f"/keys/{name}", key=made["key"]) == {"revoked": 1}
    refused(call, 401, "GET", "/keys", key=call.server_key)
    rotated = call.good("POST", f"/keys/{made['name']}/rotate", key=made["key"])
    refused(call, 401, "GET", "/keys", key=made["key"])
    assert call.good("DELETE", f"/keys/{made['name']}?force=1", key=rotated["key"]) == {"revoked": 1}


def test_a_rater_with_a_lost_phone_gets_another_key_and_keeps_the_votes(call):
    arena, owner = call.arena()
    rater = call.rater(arena, owner, "Ada")
    ticket = call.ask(arena, rater)
    call.good("PUT", f"/tickets/{ticket['ticket']}/vote", {"rank": [0, 1]}, key=rater)
    row = next(row for row in listed(call, arena, owner) if row["role"] == "rater")
    assert (row["name"], row["label"]) == (name_of(rater), "Ada")
    fresh = call.good("POST", f"/arenas/{arena}/raters/{row['name']}/key", key=owner)["key"]
    refused(call, 401, "POST", f"/arenas/{arena}/tickets", {}, key=rater)
    assert "ticket" in call.ask(arena, fresh)
    assert call.good("DELETE", f"/arenas/{arena}/raters/{row['name']}/key", key=owner) == {"revoked": 1}
    refused(call, 401, "POST", f"/arenas/{arena}/tickets", {}, key=fresh)
    refused(call, 404, "DELETE", f"/arenas/{arena}/raters/{row['name']}/key", key=owner)
    refused(call, 404, "POST", f"/arenas/{arena}/raters/nobody/key", key=owner)
    assert call.good("GET", f"/arenas/{arena}/raters", key=owner)["raters"][0]["votes"] == 1
    again = call.good("POST", f"/arenas/{arena}/raters/{row['name']}/key", key=owner)["key"]
    assert "ticket" in call.ask(arena, again)


def test_one_link_is_revoked_and_the_other_stays(call):
    arena, owner = call.arena()
    one, other = (call.good("POST", f"/arenas/{arena}/links", key=owner)["key"] for _ in range(2))
    assert call.good("DELETE", f"/arenas/{arena}/keys/{name_of(one)}", key=owner) == {"revoked": 1}
    refused(call, 401, "POST", f"/arenas/{arena}/join", {}, key=one)
    rater = call.good("POST", f"/arenas/{arena}/join", {}, key=other)
    row = next(row for row in listed(call, arena, owner) if row["name"] == rater["rater"])
    assert row["made_by"] == f"link:{name_of(other)}"


def test_a_revoked_rater_does_not_come_back_by_the_same_join_request(call):
    arena, owner = call.arena()
    link = call.good("POST", f"/arenas/{arena}/links", key=owner)["key"]
    body = {"request": "0123456789abcdef"}
    rater = call.good("POST", f"/arenas/{arena}/join", body, key=link)["rater"]
    assert call.good("POST", f"/arenas/{arena}/join", body, key=link)["rater"] == rater, "a lost answer is asked for again"
    call.good("DELETE", f"/arenas/{arena}/raters/{rater}/key", key=owner)
    assert "revoked" in refused(call, 403, "POST", f"/arenas/{arena}/join", body, key=link)


def test_only_those_who_may_see_and_change_keys(call):
    arena, owner = call.arena(raters="open")
    elsewhere, stranger = call.arena()
    rater = call.rater(arena, owner, "Ada")
    link = call.good("POST", f"/arenas/{arena}/links", key=owner)["key"]
    name, id = name_of(owner), name_of(rater)
    of_arena = [
        ("GET", f"/arenas/{arena}/keys", None),
        ("POST", f"/arenas/{arena}/keys", {"label": "x"}),
        ("POST", f"/arenas/{arena}/keys/{name}/rotate", None),
        ("DELETE", f"/arenas/{arena}/keys/{name}?force=1", None),
        ("POST", f"/arenas/{arena}/raters/{id}/key", None),
        ("DELETE", f"/arenas/{arena}/raters/{id}/key", None),
    ]
    server = name_of(call.server_key)
    of_server = [
        ("GET", "/keys", None),
        ("POST", "/keys", {"label": "x"}),
        ("POST", f"/keys/{server}/rotate", None),
        ("DELETE", f"/keys/{server}?force=1", None),
    ]
    before = call.good("GET", f"/arenas/{arena}/keys", key=call.server_key)["changes"]
    for (method, path, body), key in itertools.product(of_arena, (stranger, rater, link, None)):
        refused(call, 401 if key is None else 403, method, path, body, key=key)
    for (method, path, body), key in itertools.product(of_server, (owner, stranger, rater, link, None)):
        refused(call, 401 if key is None else 403, method, path, body, key=key)
    assert call.good("GET", f"/arenas/{arena}/keys", key=call.server_key)["changes"] == before, "nothing changed"
    # another arena's key is not found by its name, and the server's not among an arena's
    for other in (name_of(stranger), server):
        refused(call, 404, "DELETE", f"/arenas/{arena}/keys/{other}?force=1", key=owner)
    refused(call, 404, "GET", "/arenas/none/keys", key=call.server_key)
    refused(call, 404, "POST", "/arenas/none/keys", {}, key=call.server_key)
    assert call("GET", f"/arenas/{elsewhere}/keys", key=stranger).status_code == 200


def test_a_label_that_does_not_print_is_refused(call):
    arena, owner = call.arena()
    assert "label" in refused(call, 422, "POST", f"/arenas/{arena}/keys", {"label": "a\nb"}, key=owner)
    refused(call, 422, "POST", f"/arenas/{arena}/keys", {"label": "x" * 201}, key=owner)
    assert len(listed(call, arena, owner)) == 1


def test_join_requests_of_few_characters_are_refused(call):
    arena, owner = call.arena()
    link = call.good("POST", f"/arenas/{arena}/links", key=owner)["key"]
    for request in ("1", "x" * 15):
        refused(call, 422, "POST", f"/arenas/{arena}/join", {"request": request}, key=link)
    assert call.good("POST", f"/arenas/{arena}/join", {"request": "x" * 16}, key=link)["rater"]


def test_the_log_does_not_hold_the_join_request(call):
    arena, owner = call.arena()
    link = call.good("POST", f"/arenas/{arena}/links", key=owner)["key"]
    call.good("POST", f"/arenas/{arena}/join", {"request": "my-random-request-id"}, key=link)
    assert "my-random-request-id" not in call.good("GET", f"/arenas/{arena}/log.jsonl", key=owner)


# ---- several processes, and when keys were used


def test_a_key_revoked_elsewhere_is_refused_after_one_look(db):
    here, elsewhere = connect(db), connect(db)
    try:
        one, other = Access(here.secrets), Access(elsewhere.secrets)
        keys = [one.new_key("owner", arena="a"), one.new_key("rater", arena="a", rater="r"), one.new_key("server")]
        for key in keys:
            one.check(key)
        one.look_around()
        for key in keys:
            one.check(key)
        assert other.revoke("owner", "a") == 1
        other.new_key("rater", arena="a", rater="r")  # replaces it
        assert one.remembered(keys[0]) is not None, "it is not known here yet"
        one.look_around()
        for key in keys[:2]:
            with pytest.raises(Forbidden):
                one.check(key)
        assert one.check(keys[2]) == Grant("server", None, None, name_of(keys[2]))
    finally:
        here.close()
        elsewhere.close()


def test_no_key_is_worked_out_again_because_another_one_ended(tmp_path, monkeypatch):
    journal = connect(str(tmp_path / "arena.db"))
    doors = Access(journal.secrets)
    stays, goes = doors.new_key("owner", arena="a"), doors.new_key("owner", arena="a")
    doors.check(stays)
    Access(journal.secrets).revoke("owner", "a", name_of(goes))
    doors.look_around()
    monkeypatch.setattr(access, "_verified", None)  # argon2
    assert doors.remembered(stays) is None and doors.check(stays).owns("a")
    journal.close()


def test_a_check_under_way_while_its_key_is_revoked_is_not_remembered(tmp_path, monkeypatch):
    journal = connect(str(tmp_path / "arena.db"))
    doors = Access(journal.secrets)
    key = doors.new_key("rater", arena="a", rater="r")
    get = journal.secrets.get

    def slow(*args):
        found = get(*args)
        monkeypatch.undo()
        doors.revoke("rater", "a", "r")
        return found

    monkeypatch.setattr(journal.secrets, "get", slow)
    doors.check(key)  # it was good when it was looked up
    with pytest.raises(Forbidden):
        doors.check(key)
    journal.close()


def test_last_used_is_written_once_in_a_while_and_only_forward(db, monkeypatch):
    journal = connect(db)
    try:
        doors = Access(journal.secrets)
        key = doors.new_key("owner", arena="a")
        (record,) = doors.keys("a", ("owner",))
        assert record.used == "" and record.hash == ""
        monkeypatch.setattr(access.time, "time", lambda: 1_800_000_000.0)
        doors.check(key)
        assert doors.keys("a", ("owner",))[0].used == "", "not on the request's path"
        doors.look_around()
        assert doors.keys("a", ("owner",))[0].used == "2027-01-15T08:00:00.000000Z"
        monkeypatch.setattr(access.time, "time", lambda: 1_800_000_100.0)
        doors.check(key)
        doors.look_around()
        assert doors.keys("a", ("owner",))[0].used == "2027-01-15T08:00:00.000000Z", "not again so soon"
        doors.look_around(last=True)
        assert doors.keys("a", ("owner",))[0].used == "2027-01-15T08:01:40.000000Z"
        journal.secrets.note_used([("a", "owner", name_of(key), "2020-01-01T00:00:00.000000Z")])
        assert doors.keys("a", ("owner",))[0].used == "2027-01-15T08:01:40.000000Z"
    finally:
        journal.close()


def test_a_database_that_fails_costs_no_request_its_key(tmp_path, monkeypatch):
    journal = connect(str(tmp_path / "arena.db"))
    doors = Access(journal.secrets)
    key = doors.new_key("owner", arena="a")
    doors.check(key)

    def fails(*args):
        raise Unavailable("The disk is full.")

    with monkeypatch.context() as patched:
        patched.setattr(journal.secrets, "note_used", fails)
        doors.look_around()
        assert doors.remembered(key) is None or doors.check(key).owns("a")
    doors.look_around()
    assert doors.keys("a", ("owner",))[0].used, "it was written later"
    journal.close()


def test_keep_up_ends_when_told_and_writes_what_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(access, "LOOK_EVERY", 0.01)
    journal = connect(str(tmp_path / "arena.db"))
    doors, stop = Access(journal.secrets), threading.Event()
    thread = threading.Thread(target=doors.keep_up, args=(stop,))
    thread.start()
    key = doors.new_key("rater", arena="a", rater="r")
    doors.check(key)
    until = time.monotonic() + 30.0
    while not doors.keys("a", ("rater",))[0].used and time.monotonic() < until:
        time.sleep(0.01)
    stop.set()
    thread.join(30)
    assert not thread.is_alive() and doors.keys("a", ("rater",))[0].used
    journal.close()


def test_of_two_owners_who_revoke_each_other_one_stays(db):
    journal = connect(db)
    try:
        doors = Access(journal.secrets)
        names = [name_of(doors.new_key("owner", arena="a")) for _ in range(2)]
        outcomes = []

        def end(name):
            try:
                outcomes.append(doors.revoke("owner", "a", name, keep_last=True))
            except Conflict:
                outcomes.append("last")

        threads = [threading.Thread(target=end, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert sorted(map(str, outcomes)) == ["1", "last"] and len(doors.keys("a", ("owner",))) == 1
    finally:
        journal.close()


def test_rotating_a_key_that_was_revoked_does_not_bring_it_back(db):
    journal = connect(db)
    try:
        doors = Access(journal.secrets)
        name = name_of(doors.new_key("owner", arena="a"))
        doors.revoke("owner", "a", name)
        with pytest.raises(NotFound):
            doors.rotate("owner", "a", name)
        assert doors.keys("a", ("owner",)) == [] and doors.was_revoked("owner", "a", name)
    finally:
        journal.close()


# ---- the tables


def test_the_record_of_keys_is_append_only(db):
    journal = connect(db)
    try:
        journal.secrets.put("a", Secret("owner", "k", "hash", "Ada", "2026-01-01T00:00:00.000000Z", "command"))
        for statement in ("UPDATE key_changes SET made_by = 'nobody'", "DELETE FROM key_changes"):
            with pytest.raises(Unavailable, match="append-only"):
                journal.change(statement)
        assert [one.made_by for one in journal.secrets.changes("a", 10)] == ["command"]
    finally:
        journal.close()


def test_an_old_database_opens_with_its_keys(db, monkeypatch):
    with monkeypatch.context() as before:
        before.setattr(migrations, "VERSION", 1)
        before.setattr(migrations, "MIGRATIONS", {1: migrations.MIGRATIONS[1]})
        old = connect(db)
        secret = "s" * 43
        hashed = access._quick(secret)
        old.change("INSERT INTO secrets (arena, role, subject, hash) VALUES ('a', 'rater', 'r1', ?)", (hashed,))
        old.close()
    journal = connect(db)
    try:
        doors = Access(journal.secrets)
        assert doors.check(f"mdrater.a.r1.{secret}").rates("a", "r1")
        assert doors.keys("a", ("rater",)) == [Secret("rater", "r1", "")]
        doors.look_around()
        assert doors.keys("a", ("rater",))[0].used and doors.changes("a") == []
    finally:
        journal.close()


def test_labels_are_words_that_print():
    assert access.key_label("  Ada ") == "Ada"
    for label in ("x" * 201, "a\tb", None):
        with pytest.raises(BadInput, match="label"):
            access.key_label(label)
