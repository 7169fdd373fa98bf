"""Logs that somebody forged, with all hashes right: refused with a sentence, or imported and of use."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from multiduel.arena import AddOptions, AdmitRater, BrokenLog, Service, connect
from multiduel.arena.domain import events as log
from multiduel.arena.domain.event_bodies import FIELDS
from multiduel.arena.domain.log_check import LogCheck
from multiduel.arena.domain.state import State
from multiduel.arena.files.exports import read_log
from multiduel.arena.files.imports import import_log
from multiduel.arena.files.verify import verify, verify_log
from multiduel.inputs import BadInput
from tests.arena.play import FROZEN, an_arena, frozen, options
from tests.fuzz.forged_logs import NONSENSE, a_log, paths, rechained, replaced, run


def test_forged_logs_are_refused_or_of_use(tmp_path: Path) -> None:
    """A few of all; ``make torture`` tries more."""
    found = run(tmp_path, every=701)
    assert not found.problems, "\n".join(found.problems[:5])
    assert found.refused > 20 and found.imported >= 6


def test_every_field_of_every_kind_is_checked(tmp_path: Path) -> None:
    """Each entry replaced by each kind of nonsense, and by nothing: the check says so or lets it pass, and never fails itself."""
    kinds: set[str] = set()
    refused: set[tuple[str, str]] = set()
    for events, _ in [*map(frozen, FROZEN), a_log(tmp_path, 1), a_log(tmp_path, 2, unit="rater", question="best")]:
        state, bodies, seen = State(""), LogCheck(), set[Any]()
        for event in events:
            form = (event.kind, tuple(sorted(event.body)))
            for path in paths(event.body) if form not in seen else ():
                for value in NONSENSE:
                    body = replaced(event.body, path, value)
                    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
                    other = LogCheck()
                    other.arena, other.awaited = bodies.arena, bodies.awaited
                    try:
                        other.check(state, event._replace(body=body, text=text))
                    except BrokenLog as broken:
                        assert broken.number == event.number and len(str(broken)) < 400 and "\n" not in str(broken)
                        refused.add((event.kind, str(path[0])))
            seen.add(form)
            kinds.add(event.kind)
            bodies.check(state, event)
            state.apply(event)
    assert kinds == set(log.KINDS) == set(FIELDS)
    fields = {(kind, name) for kind, names in FIELDS.items() for name in names} - {("vote", "aside")}
    assert refused >= fields, fields - refused


def forged(events: Any, number: int, **entries: Any) -> list[str]:
    rows = [{"number": e.number, "kind": e.kind, "at": e.at, "body": dict(e.body)} for e in events]
    rows[number - 1]["body"] |= entries
    return rechained(rows)


def first(events: Any, kind: str) -> int:
    return int(next(event.number for event in events if event.kind == kind))


CASES = {  # what once was a traceback, or was imported and broke something later
    "a list as the arena's id": ("created", {"arena": []}, "its 'arena' must be an arena's id"),
    "a limit that is a word": ("rater_admitted", {"limit": "ten"}, "its 'limit' must be null or a whole number"),
    "a rater twice": ("rater_admitted", {"rater": "r2"}, "its rater is not the next, r1"),
    "a group with half a character": ("ticket", {"stratum": "\ud800"}, "half a character"),
    "a time that no calendar has": ("ticket", {"expires": "2026-13-45T99:99:99.999999Z"}, "its 'expires' must be"),
    "a ticket of another arena": ("ticket", {"id": "000000000000-x"}, "its ticket is another arena's"),
    "a ballot that is a list": ("vote", {"ballot": []}, "its 'ballot' must be a ballot"),
    "a policy that the arena did not have": ("epoch", {"policy": "x.py:SPEC"}, "its policy is not the one that the arena had"),
    "a reason that is a number": ("quarantined", {"reason": 7}, "its 'reason' must be text"),
    "an undo that gives nothing again": ("undo", {"again": "000000000000-x"}, "the ticket that the undo before it gives again"),
    "an actor that nobody is": ("opened", {"actor": "king"}, "its 'actor' must be a role and a name"),
    "a slate size that is no whole number": ("created", {"settings": {}}, "of its settings, its 'slate_size' is missing"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_forged_log_is_refused_with_event_and_sentence(tmp_path: Path, case: str) -> None:
    kind, entries, sentence = CASES[case]
    events, contents = frozen(FROZEN[0])
    number = first(events, kind)
    lines = forged(events, number, **entries)
    report = verify_log(read_log(lines)[0], contents)
    assert report.first is not None and sentence in report.first[1], report.first
    assert report.first[0] == number + (kind == "undo")
    service = Service(connect(tmp_path / "a.db"))
    try:
        with pytest.raises(BadInput, match=f"This log cannot be taken: event {report.first[0]}, "):
            import_log(service, read_log(lines)[0], contents)
        assert service.arenas() == []
    finally:
        service.close()


def test_commands_answer_a_forged_log_with_a_sentence(tmp_path: Path) -> None:
    events, _ = frozen(FROZEN[0])
    file = tmp_path / "forged.jsonl"
    file.write_text("\n".join(forged(events, 1, arena=["x"])), encoding="utf-8")
    for words in (["verify", str(file)], ["import", str(file), "--db", str(tmp_path / "a.db")]):
        ended = subprocess.run([sys.executable, "-m", "multiduel", "arena", *words], capture_output=True, text=True, timeout=300)
        said = ended.stdout + ended.stderr
        assert ended.returncode == 2 and "event 1, its 'arena' must be" in said and "Traceback" not in said, said


@pytest.mark.parametrize(
    "line",
    [
        '{"number": 1e999}',
        '{"number": true, "kind": "opened", "at": "", "hash": "", "body": {}}',
        "[" * 100_000,
        "[]",
        '"x"',
        "{}",
    ],
    ids=["inf", "bool", "deep", "list", "text", "empty"],
)
def test_a_line_that_is_no_event_is_refused_by_its_number(line: str) -> None:
    with pytest.raises(BadInput, match="Line 1: "):
        read_log([line])


def test_what_commands_take_is_what_logs_may_hold(tmp_path: Path) -> None:
    """A request id that no log may hold is refused at once, so that every arena's own log is verified."""
    service = Service(connect(tmp_path / "a.db"))
    try:
        arena, _ = an_arena(service, room=9)
        for most, good in ((1_000, True), (1_001, False)):
            for command in (AdmitRater(arena, f"x{most}", request="x" * most), AddOptions(arena, options(1, most), "x" * most)):
                if good:
                    service.do(command)
                else:
                    with pytest.raises(BadInput, match="'request' must be text of 1 to 1000 characters"):
                        service.do(command)
        assert verify(service.journal, arena).good
    finally:
        service.close()


def test_a_content_that_is_not_what_its_event_says_is_refused(tmp_path: Path) -> None:
    events, contents = frozen(FROZEN[0])
    options = json.loads(json.dumps(events[0].body["options"]))
    options[0]["contents"][0] |= {"kind": "image", "type": "image/png"}
    service = Service(connect(tmp_path / "a.db"))
    try:
        with pytest.raises(BadInput, match="Event 1: a content of option o1 must be PNG"):
            import_log(service, read_log(forged(events, 1, options=options))[0], contents)
        options[0]["contents"][0] |= {"kind": "text", "type": "text/plain; charset=utf-8", "size": 15}
        with pytest.raises(BadInput, match="is not what the event says of it"):
            import_log(service, read_log(forged(events, 1, options=options))[0], contents)
    finally:
        service.close()
