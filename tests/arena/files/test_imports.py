"""Imported logs: checked as a stream, in memory that does not grow with the log, and taken whole or not at all."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from multiduel.arena import ImportVotes, Service, VoteLine
from multiduel.arena.domain.events import Event
from multiduel.arena.files import imports, verify
from multiduel.arena.files.exports import log_lines, stream_log
from multiduel.arena.files.imports import import_log
from multiduel.arena.service import service as module
from multiduel.inputs import BadInput
from tests.arena.play import an_arena, running


def many_votes(service: Service, number: int) -> str:
    arena, _ = an_arena(service, 4, go_on=True)
    lines = [VoteLine(f"l{k}", {"rank": [k % 3, (k + 1) % 3]}, shown=["o1", "o2", "o3"], rater=f"{k % 9}") for k in range(number)]
    assert service.do(ImportVotes(arena, lines)).accepted
    return arena


def written(service: Service, arena: str, file: Path) -> Path:
    journal = service.journal
    with file.open("w") as out:
        out.writelines(log_lines(journal.stream(arena), lambda sha256: journal.get_content(arena, sha256)))
    return file


def test_memory_of_an_import_does_not_grow_with_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "PAGE", 50)
    monkeypatch.setattr(verify, "PAGE", 50)
    monkeypatch.setattr(module, "SNAPSHOT_AFTER", 50)
    monkeypatch.setattr(module, "TRIM", 50)
    monkeypatch.setattr("multiduel.arena.journal.sql.PAGE", 50)
    peaks = {}
    for number in (200, 200, 3_000):  # the first of them loads what is loaded once
        with running(tmp_path / f"from{len(list(tmp_path.iterdir()))}.db") as service:
            arena = many_votes(service, number)
            file = written(service, arena, tmp_path / f"{arena}.jsonl")
        with running(tmp_path / f"to{arena}.db") as other:
            tracemalloc.start()
            with file.open() as lines:
                assert import_log(other, *stream_log(lines)).events > number
            peaks[number] = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert verify.verify(other.journal, arena).good
    assert peaks[3_000] < 1.5 * peaks[200], peaks


def test_a_log_that_breaks_off_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a reader that fails half-way, nor an event that is wrong at the end of many pages."""
    monkeypatch.setattr(imports, "PAGE", 20)
    with running(tmp_path / "from.db") as service:
        arena = many_votes(service, 100)
        events = service.events(arena)
        file = written(service, arena, tmp_path / "log.jsonl")
    with file.open() as lines:
        read, contents = stream_log(lines)
        assert list(read) == events and contents

    def failing() -> Iterator[Event]:
        yield from events[:70]
        raise OSError("the disk was pulled out")

    with running(tmp_path / "to.db") as other:
        with pytest.raises(OSError, match="pulled out"):
            import_log(other, failing(), contents)
        with pytest.raises(BadInput, match=f"event {len(events) + 1}, it is missing, the next one is 999"):
            import_log(other, iter([*events, events[-1]._replace(number=999)]), contents)
        with pytest.raises(BadInput, match="Got none"):
            import_log(other, iter([]), contents)
        assert other.arenas() == []
        monkeypatch.setattr(module, "SNAPSHOT_AFTER", 20)
        whole = other.journal.transaction

        def torn(*words: object) -> object:  # the last page cannot be written
            return FailingAppends(whole(*words))

        monkeypatch.setattr(other.journal, "transaction", torn)
        with pytest.raises(OSError, match="full"):
            import_log(other, iter(events), contents)
        monkeypatch.undo()
        assert other.arenas() == [] and other.journal.query("SELECT COUNT(*) FROM event_keys")[0][0] == 0
        assert import_log(other, iter(events), contents).events == len(events)


class FailingAppends:
    """A transaction whose third append fails."""

    def __init__(self, real: object) -> None:
        self.real, self.appends = real, 0

    def __enter__(self) -> FailingAppends:
        self.transaction = self.real.__enter__()  # type: ignore[attr-defined]
        self.put_content = self.transaction.put_content
        return self

    def append(self, events: list[Event]) -> None:
        self.appends += 1
        if self.appends == 3:
            raise OSError("the disk is full")
        self.transaction.append(events)

    def __exit__(self, *error: object) -> object:
        return self.real.__exit__(*error)  # type: ignore[attr-defined]
