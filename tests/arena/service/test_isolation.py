"""One arena that is damaged, or busy, and a server that serves all others."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from multiduel.arena import AdmitRater, BrokenLog, Service
from multiduel.arena.domain.errors import TooOften
from multiduel.arena.files.exports import read_log
from multiduel.arena.files.imports import import_log
from multiduel.arena.web.pages import pasting, routes_files
from multiduel.arena.web.pages.pasting import read_pasted
from multiduel.arena.web.thread_pools import Lanes
from multiduel.arena.web.warming import warm_up
from multiduel.inputs import BadInput
from tests.arena.calling import Caller
from tests.arena.web.pages.visiting import Visitor

TRIGGERS = ("events_no_update", "events_no_delete", "contents_no_delete", "contents_no_update")
NUMBER = 4  # of the event that is damaged


def _sql(*statements: str) -> Callable[[sqlite3.Connection, str], None]:
    def damage(connection: sqlite3.Connection, arena: str) -> None:
        for statement in statements:
            connection.execute(statement, {"arena": arena, "number": NUMBER})

    return damage


WHERE = "WHERE arena = :arena AND number = :number"
DAMAGE = {
    "hash altered": _sql(f"UPDATE events SET hash = '{'0' * 64}' {WHERE}"),
    "body altered": _sql(f"UPDATE events SET body = '{{}}' {WHERE}"),
    "no JSON": _sql(f"UPDATE events SET body = 'x' {WHERE}"),
    "nested too deeply": _sql(f"UPDATE events SET body = '{'[' * 100_000}' {WHERE}"),
    "event missing": _sql(f"DELETE FROM events {WHERE}"),
    "all events missing": _sql("DELETE FROM events WHERE arena = :arena"),
    "unknown kind": _sql(f"UPDATE events SET kind = 'revealed' {WHERE}"),
    "bytes for text": _sql(f"UPDATE events SET body = x'ff00' {WHERE}"),
}


def damage(db: Path, arena: str, how: Callable[[sqlite3.Connection, str], None]) -> None:
    with sqlite3.connect(db) as connection:
        for trigger in TRIGGERS:
            connection.execute(f"DROP TRIGGER {trigger}")
        connection.execute("DELETE FROM snapshots")
        how(connection, arena)
    connection.close()


@pytest.fixture(scope="module", params=DAMAGE)
def damaged(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[tuple[Caller, str, str, str, str]]:
    """A server with an arena that is damaged and another one, and their owners' keys."""
    folder = tmp_path_factory.mktemp("damaged")
    call = Caller(folder)
    bad, bad_key = call.arena()
    good, good_key = call.arena()
    for arena, key in ((bad, bad_key), (good, good_key)):
        rater = call.rater(arena, key, "Ada")
        ticket = call.ask(arena, rater)
        call.good("PUT", f"/tickets/{ticket['ticket']}/vote?next=1", {"rank": [0, 1]}, key=rater)
    call.close()
    damage(folder / "arena.db", bad, DAMAGE[request.param])
    again = Caller(folder)
    yield again, bad, bad_key, good, good_key
    again.close()


def test_server_gets_ready_beside_a_damaged_arena(damaged: Any) -> None:
    call, bad, *_ = damaged
    app_context = call.app.app.pages.state.app_context
    app_context.ready.clear()
    warm_up(app_context)
    assert call.good("GET", "/health/ready") == {"ready": True, "why": ""}
    assert call.service.damaged() == [bad]
    assert "multiduel_damaged_arenas 1" in call.good("GET", "/metrics")


def test_lists_and_pages_of_other_arenas_stay_up(damaged: Any) -> None:
    call, bad, _, good, good_key = damaged
    assert len(call.good("GET", "/arenas", key=call.server_key)["arenas"]) == 2
    visitor = Visitor(call)
    visitor.enter(call.server_key)
    listed = visitor("GET", "/own")
    assert listed.status_code == 200 and "damaged" in listed.text and f"/own/{bad}" in listed.text
    for path in ("", "/board", "/options", "/raters", "/votes", "/sheets", "/journal", "/log.csv"):
        assert visitor("GET", f"/own/{good}{path}").status_code == 200, path
    assert call.good("GET", f"/arenas/{good}/board", key=good_key)["answers"] == 1
    rater = call.rater(good, good_key, "Bob")
    ticket = call.ask(good, rater)
    assert call.good("PUT", f"/tickets/{ticket['ticket']}/vote", {"rank": [0, 1]}, key=rater)["counted"] == "counted"


def test_damaged_arena_says_so_and_what_its_owner_can_do(damaged: Any) -> None:
    call, bad, bad_key, *_ = damaged
    visitor = Visitor(call)
    visitor.enter(bad_key)
    for path in ("", "/board", "/options", "/raters", "/votes", "/sheets", "/journal"):
        page = visitor("GET", f"/own/{bad}{path}")
        assert page.status_code == 500 and "is damaged" in page.text, path
        assert f"/own/{bad}/verify" in page.text and f"/own/{bad}/log.jsonl" in page.text, path
    answer = call("GET", f"/arenas/{bad}/board", key=bad_key)
    assert answer.status_code == 500
    number = int(re.search(r"Event (\d+):", answer.json()["error"])[1])
    assert "/verify" in answer.json()["error"]
    report = call.good("GET", f"/arenas/{bad}/verify", key=bad_key)
    assert not report["good"] and f"event {number}," in report["sentence"]
    assert "Not verified" in visitor("GET", f"/own/{bad}/verify").text
    for path, key in ((f"/arenas/{bad}/log.jsonl", bad_key), (f"/own/{bad}/log.jsonl", None)):
        log = call("GET", path, key=key) if key else visitor("GET", path)
        assert log.status_code == 200 and log.headers["multiduel-damaged-event"] == str(number)
        events, _ = read_log(log.text.split("\n"))
        if number > 1:  # the policy's name is in the first event, and the log as such is in order
            assert [event.number for event in events] == list(range(1, number))


def test_rater_of_a_damaged_arena_learns_no_details(damaged: Any) -> None:
    call, bad, *_ = damaged
    key = call.access.new_key("rater", arena=bad, rater="r1")
    answer = call("POST", f"/arenas/{bad}/tickets", {}, key=key)
    assert answer.status_code == 500 and "Please tell" in answer.json()["error"] and "Event" not in answer.text
    visitor = Visitor(call)
    visitor.enter(key)
    page = visitor("GET", f"/vote/{bad}")
    assert page.status_code == 500 and "Please tell" in page.text and "Event" not in page.text


def test_damaged_log_is_not_folded_at_every_request(damaged: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    call, bad, *_ = damaged
    service: Service = call.service
    with pytest.raises(BrokenLog):
        service.info(bad)
    monkeypatch.setattr(service.journal, "stream", lambda *arguments: pytest.fail("it is known to be damaged"))
    for _ in range(3):
        with pytest.raises(BrokenLog):
            service.info(bad)
    with pytest.raises(BrokenLog):
        service.do(AdmitRater(bad, "Bob"))


def test_missing_content_and_torn_snapshot_stay_in_their_arena(tmp_path: Path) -> None:
    call = Caller(tmp_path)
    arena, owner = call.arena()
    rater = call.rater(arena, owner, "Ada")
    ticket = call.ask(arena, rater)
    other, other_owner = call.arena()
    call.close()
    with sqlite3.connect(tmp_path / "arena.db") as connection:
        for trigger in TRIGGERS:
            connection.execute(f"DROP TRIGGER {trigger}")
        connection.execute("DELETE FROM contents WHERE arena = ?", (arena,))
        connection.execute("UPDATE snapshots SET data = x'00'")
    connection.close()
    call = Caller(tmp_path)
    try:
        warm_up(call.app.app.pages.state.app_context)
        assert call.good("GET", "/health/ready")["ready"]
        answer = call("GET", f"/tickets/{ticket['ticket']}/contents/0")
        assert answer.status_code == 500 and "damaged" in answer.json()["error"]
        visitor = Visitor(call)
        visitor.enter(rater)
        assert "damaged" in visitor("GET", f"/vote/{arena}").text
        assert call.good("GET", f"/arenas/{arena}/board", key=owner)["answers"] == 0, "what is whole is shown"
        assert "is missing" in call.good("GET", f"/arenas/{arena}/verify", key=owner)["sentence"]
        assert call.ask(other, call.rater(other, other_owner))["positions"] == 2
    finally:
        call.close()


# ---- text at the door

BAD = ("\\ud800", "\\u0000", "a\\udc00")  # as JSON writes them


def test_half_characters_are_refused_on_every_route(tmp_path: Path) -> None:
    call = Caller(tmp_path)
    try:
        arena, owner = call.arena()
        rater = call.rater(arena, owner, "Ada")
        ticket = call.ask(arena, rater)["ticket"]
        events = call.service.info(arena).events
        visitor = Visitor(call)
        visitor.enter(rater)
        token = re.search(r"[0-9a-f]{32}", visitor("GET", f"/vote/{arena}").text)
        heads = {"X-Token": token[0], "Content-Type": "application/json", "Accept": "application/json"}
        for bad in BAD:
            body = f'{{"request": "{bad}"}}'
            page = visitor("POST", f"/vote/{arena}/undo", body.encode(), headers=heads)
            assert page.status_code == 422 and "whole characters" in page.json()["error"]
            for path, key in (
                (f"/arenas/{arena}/undo", rater), (f"/arenas/{arena}/tickets", rater), (f"/arenas/{arena}/raters", owner),
                (f"/arenas/{arena}/sheets", owner), (f"/arenas/{arena}/options", owner), ("/arenas", call.server_key),
            ):  # fmt: skip
                answer = call("POST", path, body, key=key, headers={"Content-Type": "application/json"})
                assert answer.status_code == 422 and "whole characters" in answer.json()["error"], path
            line = f'{{"id": "{bad}", "shown": ["mild", "sharp"], "rank": ["mild", "sharp"]}}'
            answer = call("POST", f"/arenas/{arena}/votes?format=jsonl", line, key=owner)
            assert answer.status_code == 422 and "Line 1" in answer.json()["error"]
        table = "id,shown,rank\na\0,mild|sharp,mild>sharp\n"
        answer = call("POST", f"/arenas/{arena}/votes", table, key=owner)
        assert answer.status_code == 422 and "Line 2" in answer.json()["error"]
        for path in (f"/arenas/{arena}/votes?format=%00", f"/own/{arena}/journal?text=%ED%A0%80", f"/k/%FF%FE{ticket}"):
            assert call("GET", path, key=owner).status_code == 400
        form = visitor("POST", f"/vote/{arena}", b"token=" + token[0].encode() + b"&best=%00")
        assert form.status_code == 422 and "whole characters" in form.text
        assert call.service.info(arena).events == events
    finally:
        call.close()


def test_log_with_half_a_character_is_refused(tmp_path: Path) -> None:
    from multiduel.arena.domain import events as log

    call = Caller(tmp_path)
    try:
        arena, owner = call.arena()
        call.good("POST", f"/arenas/{arena}/raters", {"label": "Ada"}, key=owner)
        events, contents = read_log(call.good("GET", f"/arenas/{arena}/log.jsonl", key=owner).split("\n"))
        last = events[-1]
        events[-1] = log.sealed(last.number, events[-2].hash, last.kind, last.at, last.body | {"label": "\ud800"})
        with pytest.raises(BadInput, match="half a character"):
            import_log(call.service, events, contents)
    finally:
        call.close()


# ---- what is pasted, searched and waited for


def in_time(function: Callable[[], Any]) -> Any:
    """What it returns or raises; on code that is quadratic this would take hours."""
    came: list[Any] = []

    def run() -> None:
        try:
            came.append(function())
        except Exception as error:
            came.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(120)
    assert came, "it did not come to its end"
    return came[0]


@pytest.mark.parametrize("filling", ["\n", " ", "\t\n", "-", "- ", "--\n", "\n ", "---\n", "#", "* \n"])
def test_reading_what_is_pasted_takes_linear_time(filling: str) -> None:
    written = "a" + filling * 600_000 + "b"
    assert isinstance(in_time(lambda: read_pasted(written)), BadInput | tuple)


def test_too_many_options_are_refused_before_any_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pasting, "make_content", lambda *words: pytest.fail("it was made"))
    with pytest.raises(BadInput, match="2 to 200 options"):
        read_pasted("\n".join(f"option {k}" for k in range(100_000)))
    with pytest.raises(BadInput, match="2 to 200 options"):
        read_pasted("\n---\n".join(f"option {k}" for k in range(100_000)))
    with pytest.raises(BadInput, match="at most 1,000,000 lines"):
        read_pasted("a" + "\n" * 2_000_000 + "b")


def test_pasted_rules_split_blocks_as_before() -> None:
    written = "# warm\nDear all,\n\nhello.\n  ---  \n\n# cold\nYou.\n-----\nThird - of all --- three"
    names = [option.name for option in read_pasted(written)[0]]
    assert names == ["warm", "cold", "Third - of all --- three"]


def test_search_looks_at_so_many_events_and_goes_on_when_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call = Caller(tmp_path)
    try:
        arena, owner = call.arena()
        table = "id,shown,rank,rater\n" + "".join(f"l{k},mild|sharp,mild>sharp,Rater {k % 40}\n" for k in range(300))
        assert call.good("POST", f"/arenas/{arena}/votes", table, key=owner)["entered"]
        monkeypatch.setattr(routes_files, "SEARCHED", 60)
        monkeypatch.setattr(routes_files, "SEARCHED_AT_ONCE", 25)
        visitor = Visitor(call)
        visitor.enter(owner)
        seen: list[int] = []
        path, pages = f"/own/{arena}/journal?text=RATER+7%3A", 0
        while path:
            page = visitor("GET", path).text
            seen += [int(number) for number in re.findall(r'<tr><td class="n">(\d+)</td>', page)]
            found = re.search(r'href="([^"]+)">Search further', page)
            path, pages = found[1].replace("&amp;", "&") if found else "", pages + 1
        with call.service.look(arena) as state:
            rater = state.labels["Rater 7"]
        votes = [e.number for e in call.service.events(arena) if e.kind == "vote" and e.body["rater"] == rater]
        assert seen == votes[::-1] and pages >= 5
        kinds = visitor("GET", f"/own/{arena}/journal?kind=opened").text
        assert "Opened" in kinds and "Rater 7" not in kinds
    finally:
        call.close()


def test_lane_of_one_arena_leaves_threads_for_others() -> None:
    async def play() -> None:
        lanes = Lanes("test", threads=2, at_once=1, waiting=2)
        go = threading.Event()
        busy = [asyncio.create_task(lanes.run("a", go.wait, 30)) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(TooOften, match="Try again"):
            await lanes.run("a", print)
        assert await asyncio.wait_for(lanes.run("b", lambda: 7), 20) == 7
        busy[1].cancel()  # while it waits
        patient = asyncio.create_task(lanes.run("a", lambda: 8, patient=True))
        go.set()
        assert await asyncio.wait_for(busy[2], 20) and await asyncio.wait_for(patient, 20) == 8
        with pytest.raises(RuntimeError, match="SystemExit"):
            await lanes.run("a", _exits)
        await asyncio.sleep(0.05)
        assert not lanes._lanes, "nothing is kept of arenas that are silent"
        lanes.close()

    asyncio.run(play())


def _exits() -> None:
    raise SystemExit


def test_one_arena_that_is_busy_is_refused_and_others_are_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call = Caller(tmp_path)
    try:
        busy, busy_owner = call.arena()
        arena, owner = call.arena()
        go, begun = threading.Event(), threading.Semaphore(0)

        def verify_slowly(journal: Any, arena: str) -> Any:
            from multiduel.arena.files.verify import Verification

            begun.release()
            go.wait(60)
            return Verification()

        monkeypatch.setattr("multiduel.arena.files.verify.verify", verify_slowly)
        codes: list[int] = []

        def ask() -> None:
            codes.append(call("GET", f"/arenas/{busy}/verify", key=busy_owner).status_code)

        threads = [threading.Thread(target=ask) for _ in range(20)]
        for thread in threads:
            thread.start()
        assert begun.acquire(timeout=30)
        rater = call.rater(arena, owner)
        ticket = call.ask(arena, rater)
        assert call.good("PUT", f"/tickets/{ticket['ticket']}/vote", {"rank": [0, 1]}, key=rater)["counted"] == "counted"
        assert call.good("GET", f"/arenas/{arena}/board", key=owner)["answers"] == 1
        assert call.ask(busy, call.rater(busy, busy_owner))["positions"] == 2, "its raters are served too"
        go.set()
        for thread in threads:
            thread.join(60)
        assert sorted(codes) == [200] * 4 + [429] * 16
    finally:
        go.set()
        call.close()


# ---- ready


@pytest.fixture
def ready(tmp_path: Path) -> Iterator[Caller]:
    call = Caller(tmp_path)
    call.app.app.pages.state.app_context.ready.set()
    yield call
    call.close()


def test_server_is_not_ready_while_nothing_can_be_written(ready: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    from multiduel.arena.service import service as module

    assert ready.good("GET", "/health/ready") == {"ready": True, "why": ""}
    monkeypatch.setattr(module, "FRESH", 0.0)
    journal: Any = ready.service.journal
    for connection in journal._free:
        connection.execute("PRAGMA query_only=ON")
    answer = ready("GET", "/health/ready")
    assert answer.status_code == 503 and "readonly" in answer.json()["why"] and answer.headers["retry-after"]
    ready.service._beat = None  # as if a second had passed
    assert ready.good("GET", "/health/ready")["ready"]


def test_public_server_does_not_tell_why_it_cannot_write(tmp_path: Path) -> None:
    from tests.arena.play import full_disk

    call = Caller(tmp_path, public=True)
    try:
        call.app.app.pages.state.app_context.ready.set()
        with full_disk(call.service):
            answer = call("GET", "/health/ready")
        assert answer.status_code == 503 and answer.json()["why"].startswith("Nothing can be written")
    finally:
        call.close()


def test_server_whose_writer_ended_is_not_ready_and_answers(ready: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    arena, owner = ready.arena()

    def dies() -> Any:
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(ready.service._writers, "_next", dies)
        assert ready("POST", f"/arenas/{arena}/pause", key=owner).status_code == 503
    answer = ready("GET", "/health/ready")
    assert answer.status_code == 503 and "writer thread has ended" in answer.json()["why"]
    assert ready("POST", f"/arenas/{arena}/pause", key=owner).status_code == 503
    assert "multiduel_ready 0" in ready.good("GET", "/metrics")


def test_plugin_that_exits_does_not_end_the_writer(ready: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    from multiduel.arena.service import lifecycle

    def exits(*arguments: Any) -> Any:
        raise SystemExit(3)

    arena, owner = ready.arena()
    monkeypatch.setattr(lifecycle, "check_policy", exits)
    assert ready("PUT", f"/arenas/{arena}/policy", {"policy": "uniform"}, key=owner).status_code == 500
    assert ready.good("POST", f"/arenas/{arena}/pause", key=owner)["status"] == "paused"
    assert ready.good("GET", "/health/ready")["ready"]
