"""Keys, rates, names of hosts, and tables that are safe to open."""

from __future__ import annotations

import csv
import io
import re
import statistics
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multiduel.arena.domain.errors import Conflict, Forbidden
from multiduel.arena.files.exports import csv_lines
from multiduel.arena.web import access
from multiduel.arena.web.access import Access, Grant
from multiduel.arena.web.limits import Hosts, Rate, host_name
from multiduel.inputs import BadInput
from multiduel.spreadsheets import harmless, original


class Table(dict):
    """Secrets in memory."""

    def __init__(self):
        self.record = []  # arena, what, secret's or key's name, by whom
        self.noted = []

    def put(self, arena, secret, *, replace=False):
        known = (arena, secret.role, secret.subject) in self
        if known or not replace:
            self[arena, secret.role, secret.subject] = secret
            self.record.append((arena, "rotated" if known else "made", secret.subject, secret.made_by))
        return known

    def remove(self, arena, role, subject, *, at="", made_by="", keep_last=False):
        if keep_last and len(self.get(arena, role)) == 1:
            raise Conflict("This is the last.")
        self.record.append((arena, "revoked", subject, made_by))
        return self.pop((arena, role, subject), None) is not None

    def get(self, arena, role, subject=None):
        return [secret for (a, r, s), secret in self.items() if (a, r) == (arena, role) and subject in (None, s)]

    def ended(self):
        return sum(what != "made" for _, what, _, _ in self.record)

    def note_used(self, used):
        self.noted.append(list(used))


@pytest.fixture
def doors():
    return Access(Table())


def test_a_key_opens_what_it_was_made_for(doors):
    server = doors.new_key("server")
    owner = doors.new_key("owner", arena="a")
    rater = doors.new_key("rater", arena="a", rater="r1")
    assert doors.check(server).owns("a") and doors.check(server).owns("b")
    assert doors.check(owner).owns("a") and not doors.check(owner).owns("b")
    grant = doors.check(rater)
    assert grant == Grant("rater", "a", "r1", "r1") and grant.rates("a", "r1")
    assert not grant.owns("a") and not grant.rates("a", "r2") and not grant.rates("b", "r1")
    assert not doors.check(owner).rates("a", "r1"), "an owner is no rater"


def test_secrets_are_long_and_stored_as_hashes_only(doors):
    keys = [doors.new_key("owner", arena="a") for _ in range(3)] + [doors.new_key("rater", arena="a", rater="r")]
    assert len(set(keys)) == 4
    stored = repr(dict(doors._secrets))
    for key in keys:
        _, _, name, secret = key.split(".")
        assert len(secret) == 43 and name in stored and secret not in stored  # 43 letters of base 64: 256 bits
    assert stored.count("$argon2id$") == 3


def test_other_keys_are_refused(doors):
    owner, rater = doors.new_key("owner", arena="a"), doors.new_key("rater", arena="a", rater="r")
    stolen = "mdowner" + rater[7:]  # a rater's key, dressed as an owner's
    for key in (
        "",
        "x",
        owner[:-1],
        owner[:-1] + ("A" if owner[-1] != "A" else "B"),
        owner + "A",
        f" {owner}",
        stolen,
        "mdserver" + owner[7:],
    ):
        with pytest.raises(Forbidden):
            doors.check(key)
    doors.check(owner)
    assert doors.remembered(owner) == Grant("owner", "a", None, owner.split(".")[2]) and doors.remembered(stolen) is None


def test_a_link_lets_join_and_can_be_revoked(doors):
    link, rater = doors.new_key("link", arena="a"), doors.new_key("rater", arena="a", rater="r")
    grant = doors.check(link)
    assert grant.joins("a") and not grant.joins("b") and not grant.owns("a") and not doors.check(rater).joins("a")
    assert doors.any("link", "a") and doors.revoke("link", "a") == 1 and not doors.any("link", "a")
    with pytest.raises(Forbidden):
        doors.check(link)
    assert doors.check(rater).rates("a", "r") and doors.revoke("rater", "a", "other") == 0


def test_a_key_that_was_good_is_asked_again_after_a_minute(doors, monkeypatch):
    key = doors.new_key("rater", arena="a", rater="r")
    doors.check(key)
    doors._secrets.clear()
    assert doors.check(key).rates("a", "r")
    now = time.monotonic()
    monkeypatch.setattr(access.time, "monotonic", lambda: now + access.REMEMBERED_FOR + 1)
    with pytest.raises(Forbidden):
        doors.check(key)


def test_hard_work_is_done_once_per_key(doors, monkeypatch):
    key = doors.new_key("owner", arena="a")
    assert doors.costly(key) and not doors.costly("x") and not doors.costly(doors.new_key("rater", arena="a", rater="r"))
    doors.check(key)
    assert not doors.costly(key)
    now = time.monotonic()
    monkeypatch.setattr(access.time, "monotonic", lambda: now + access.REMEMBERED_FOR + 1)
    monkeypatch.setattr(access, "_verified", None)
    assert doors.remembered(key) is None and doors.check(key).owns("a")
    doors._secrets.clear()
    monkeypatch.undo()
    doors.revoke("owner", "a")
    with pytest.raises(Forbidden):
        doors.check(key)


def test_unknown_and_wrong_keys_take_as_long(doors):
    """An owner's key: without the hash of nobody, unknown names would be refused a thousand times sooner."""
    key = doors.new_key("owner", arena="a")
    wrong = key[:-5] + "AAAAA"
    unknown = re.sub(r"\.[0-9a-f]{16}\.", ".0123456789abcdef.", key)

    def seconds(tried: str) -> float:
        spent = []
        for _ in range(7):
            start = time.process_time()
            with pytest.raises(Forbidden):
                doors.check(tried)
            spent.append(time.process_time() - start)
        return statistics.median(spent)

    seconds(wrong)
    assert 0.5 < seconds(unknown) / seconds(wrong) < 2.0


def test_roles_need_what_they_are_about(doors):
    for role, about in (
        ("server", {"arena": "a"}),
        ("owner", {}),
        ("rater", {"arena": "a"}),
        ("king", {}),
        ("owner", {"arena": "a", "rater": "r"}),
    ):
        with pytest.raises(BadInput):
            doors.new_key(role, **about)


def test_rates_fill_again_and_forget_nobody_else():
    rate = Rate(per_second=1.0, burst=3.0)
    assert [rate.take("a", now=10.0) for _ in range(4)] == [0.0, 0.0, 0.0, 1.0]
    assert rate.take("a", now=10.5) == 0.5 and rate.take("b", now=10.5) == 0.0
    assert rate.take("a", now=11.0) == 0.0 and rate.take("a", now=11.0) == 1.0
    assert [rate.take("a", now=1000.0) for _ in range(4)].count(0.0) == 3, "no more than the burst, however long the silence"
    assert rate.take("a", now=0.0) > 0.0, "a clock that goes back gives nothing"


def test_memory_of_callers_is_bounded(monkeypatch):
    monkeypatch.setattr("multiduel.arena.web.limits.MOST_CALLERS", 10)
    rate = Rate(per_second=1.0, burst=1.0)
    for k in range(100):
        rate.take(f"caller {k}", now=0.0)
    assert len(rate._left) == 10 and rate.take("caller 99", now=0.0) > 0.0


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1:8000", "[::1]", "[::1]:80", "LOCALHOST:1", "arena.example", "Arena.Example:443"]
)
def test_hosts_that_are_ours(host):
    assert Hosts(["Arena.example"]).allows(host)


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "evil.example",
        "localhost.evil.example",
        "localhost:80:80",
        "localhost:x",
        "127.0.0.1.nip.example",
        "a" * 400,
        "[::1",
        "::1",
        "localhost:²",
    ],
)
def test_hosts_that_are_not(host):
    assert not Hosts(["arena.example"]).allows(host)


@pytest.mark.parametrize("name", ["", "http://arena.example", "arena.example:80", "a b", "arena.example/", "*"])
def test_a_host_is_a_name(name):
    with pytest.raises(BadInput):
        host_name(name)


@pytest.mark.parametrize(
    "cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "=cmd|' /C calc'!A0", "＝1", "'=1"]
)
def test_no_cell_is_a_formula(cell):
    written = next(csv.reader(io.StringIO("".join(csv_lines(["x"], [[cell]])).split("\r\n", 1)[1], newline="")))[0]
    assert written.startswith("'") and original(written) == cell


def test_numbers_stay_numbers():
    assert "".join(csv_lines(["a", "b", "c", "d"], [[-1, 2.5, None, True]])) == "a,b,c,d\r\n-1,2.5,,True\r\n"
    assert harmless([1, "é"]) == '[1, "é"]'


@given(st.text())
def test_cells_come_back(cell):
    if "\0" in cell:
        return
    assert original(harmless(cell)) == cell
    assert not harmless(cell).lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r"))
