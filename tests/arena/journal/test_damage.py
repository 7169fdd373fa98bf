"""A write-ahead log that ends in the middle, as a power cut leaves it, and files that are not what they were."""

from __future__ import annotations

import random
import shutil
import sqlite3
import struct
from pathlib import Path

import pytest

from multiduel.arena import AdmitRater, Ask, BrokenLog, Open, Service, Unavailable, Vote, connect
from multiduel.arena.domain.commands import Create
from multiduel.arena.domain.settings import Settings
from multiduel.arena.files.exports import whole_events
from multiduel.arena.files.verify import verify
from multiduel.inputs import BadInput
from tests.arena.play import options

FRAME = 24  # bytes of a frame's head in SQLite's write-ahead log; then a page


def killed(folder: Path) -> tuple[Path, Path, str, int, int]:
    """Files as a kill leaves them after some acknowledged votes, and the same with one more transaction at their end.

    The arena, the number of acknowledged events, and the number with that transaction."""
    service = Service(connect(folder / "live.db"))
    arena = service.do(Create("torn", Settings(slate_size=3, seed=1), options(4))).id
    service.do(Open(arena))
    rater = service.do(AdmitRater(arena, "Ada"))
    ticket = service.do(Ask(arena, rater, "first"))
    for _ in range(5):
        ticket = service.do(Vote(ticket.id, {"rank": [[0], [1], [2]]}, next=True)).next
    acknowledged = service.info(arena).events
    before = _copy(folder / "live.db", folder / "before")
    service.do(Vote(ticket.id, {"rank": [[0], [1], [2]]}, next=True))
    more = service.info(arena).events
    after = _copy(folder / "live.db", folder / "after")
    service.close()
    return before, after, arena, acknowledged, more


def _copy(db: Path, folder: Path) -> Path:
    """Without the -shm file, which is made anew when nobody has the database open."""
    folder.mkdir()
    for end in ("", "-wal"):
        shutil.copy(f"{db}{end}", folder / f"arena.db{end}")
    return folder / "arena.db"


def _wal(db: Path) -> bytes:
    return Path(f"{db}-wal").read_bytes()


def test_a_torn_write_ahead_log_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    """The last transaction cut at many places, or with pages missing or wrong inside: it is there whole, or not at all."""
    before, after, arena, acknowledged, more = killed(tmp_path)
    safe, whole = len(_wal(before)), _wal(after)
    assert len(whole) > safe and whole[:safe] == _wal(before), "the last transaction is appended"
    page = FRAME + struct.unpack(">I", whole[8:12])[0]
    rng = random.Random(1)
    torn = [
        whole[:cut] for cut in (safe, safe + 1, safe + FRAME, safe + page // 2, len(whole) - 1, *range(safe, len(whole), page))
    ]
    torn += [whole[:cut] for cut in rng.sample(range(safe, len(whole)), 10)]
    for at in rng.sample(range(safe, len(whole)), 10):  # a byte wrong
        torn.append(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
    torn.append(whole[:safe] + bytes(len(whole) - safe))  # the file has grown, the data did not come
    torn.append(whole[:safe] + rng.randbytes(len(whole) - safe))
    seen = set()
    for k, wal in enumerate([*torn, whole]):
        db = tmp_path / f"torn{k}" / "arena.db"
        db.parent.mkdir()
        shutil.copy(before, db)
        Path(f"{db}-wal").write_bytes(wal)
        journal = connect(db)
        report = verify(journal, arena)
        assert report.good and report.events in (acknowledged, more), (k, report)
        seen.add(report.events)
        service = Service(journal)
        rater = service.do(AdmitRater(arena, "Bob"))  # and on it goes
        assert service.do(Ask(arena, rater, "on")).rater == rater
        service.close()
    assert seen == {acknowledged, more}


def test_a_disk_that_forgets_what_it_said_was_written_is_noticed_by_the_test_above(tmp_path: Path) -> None:
    """It can fail: without the frames of an acknowledged transaction, events are missing. No log on that disk could know."""
    before, _, arena, acknowledged, _ = killed(tmp_path)
    wal = _wal(before)
    Path(f"{before}-wal").write_bytes(wal[: len(wal) - 10])
    assert verify(connect(before), arena).events < acknowledged


@pytest.mark.parametrize("where", ["body", "hash", "missing"])
def test_a_log_that_was_altered_is_refused_and_the_event_named(tmp_path: Path, where: str) -> None:
    before, _, arena, acknowledged, _ = killed(tmp_path)
    number = acknowledged - 3
    with sqlite3.connect(before) as connection:
        for trigger in ("events_no_update", "events_no_delete"):
            connection.execute(f"DROP TRIGGER {trigger}")
        if where == "missing":
            connection.execute("DELETE FROM events WHERE number = ?", (number,))
        elif where == "hash":
            connection.execute("UPDATE events SET hash = ? WHERE number = ?", ("0" * 64, number))
        else:
            connection.execute("UPDATE events SET body = REPLACE(body, ':', ': ') WHERE number = ?", (number,))
    connection.close()
    journal = connect(before)
    report = verify(journal, arena)
    assert not report.good and report.first is not None and report.first[0] == number, report
    service = Service(journal)
    with pytest.raises(BrokenLog, match=f"Event {number}"):
        service.info(arena)
    with pytest.raises(BrokenLog, match=f"Event {number}"):
        service.do(AdmitRater(arena, "Bob"))
    service.close()


@pytest.mark.parametrize("where", ["body", "hash", "kind", "missing", "nothing"])
def test_whole_events_end_before_the_first_that_is_damaged(tmp_path: Path, where: str) -> None:
    before, _, arena, acknowledged, _ = killed(tmp_path)
    number = acknowledged - 3
    damage = {
        "body": "UPDATE events SET body = 'no JSON' WHERE number = ?",
        "hash": "UPDATE events SET hash = 'another' WHERE number = ?",
        "kind": "UPDATE events SET kind = 'of a later version' WHERE number = ?",
        "missing": "DELETE FROM events WHERE number = ?",
    }
    with sqlite3.connect(before) as connection:
        for trigger in ("events_no_update", "events_no_delete"):
            connection.execute(f"DROP TRIGGER {trigger}")
        if where in damage:
            connection.execute(damage[where], (number,))
    connection.close()
    journal = connect(before)
    last = number - 1 if where in damage else acknowledged
    assert [event.number for event in whole_events(journal, arena)] == list(range(1, last + 1))
    if where in ("body", "kind"):  # what cannot be decoded is said when its turn comes, and not before
        read = []
        with pytest.raises(BrokenLog, match=f"Event {number}"):
            for event in journal.stream(arena):
                read.append(event.number)
        assert read == list(range(1, number))
    journal.close()


def test_a_file_with_wrong_pages_is_refused_in_words(tmp_path: Path) -> None:
    """Overwritten somewhere: an error that says so, or all that was acknowledged is there; never a wrong count."""
    before, _, arena, acknowledged, _ = killed(tmp_path)
    with sqlite3.connect(before) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    good, rng, refused = before.read_bytes(), random.Random(2), 0
    for k in range(50):
        at = rng.randrange(0, len(good) - 600)
        db = tmp_path / f"wrong{k}.db"
        db.write_bytes(good[:at] + rng.randbytes(600) + good[at + 600 :])
        try:
            report = verify(connect(db), arena)
        except (BadInput, Unavailable, BrokenLog) as error:
            assert str(error).endswith("."), error
            refused += 1
            continue
        refused += not report.good
        assert not report.good or report.events == acknowledged, (k, report)
    assert refused > 3, refused
