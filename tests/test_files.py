"""The one writer: whole files or none, and nothing but a file is ever replaced."""

from __future__ import annotations

import os
import platform
import stat
import subprocess
import sys

import pytest

import multiduel as md
from multiduel import files
from multiduel.inputs import BadInput
from multiduel.problems import read_csv, synthetic, write_csv
from multiduel.rankers import Log, generate, read_letor, write_letor


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    target = tmp_path / "a.txt"
    with files.whole_file(target) as draft:
        draft.write_text("half")
        assert not target.exists()
        draft.write_text("whole")
    assert target.read_text() == "whole"
    with pytest.raises(KeyError), files.whole_file(target) as draft:
        draft.write_text("half")
        raise KeyError
    assert target.read_text() == "whole" and len(list(tmp_path.iterdir())) == 1


def writers(path):
    """All that the library writes to a path of the user's."""
    yield lambda: files.write_whole(path, "text")
    yield lambda: files.refuse_unwritable(path)
    yield lambda: write_csv(synthetic(2), path)
    yield lambda: write_letor(generate(queries=1, documents=2, features=1), path)


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path):
    real, link, dangling = tmp_path / "real.csv", tmp_path / "link.csv", tmp_path / "dangling.csv"
    real.write_text("old")
    real.chmod(0o600)
    link.symlink_to("real.csv")
    write_csv(synthetic(2), link)
    assert link.is_symlink() and read_csv(real).n_arms == 2
    assert stat.S_IMODE(real.stat().st_mode) == 0o600, "who may read it stays"
    dangling.symlink_to("new.csv")
    write_csv(synthetic(2), dangling)
    assert dangling.is_symlink() and read_csv(tmp_path / "new.csv").n_arms == 2


def test_folders_pipes_and_devices_are_refused_and_left_as_they_are(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "loop").symlink_to("loop")
    kinds = {path.name: path.lstat().st_mode for path in tmp_path.iterdir()}
    for name in kinds:
        for write in writers(tmp_path / name):
            with pytest.raises(BadInput, match=r"must be a file\. Got a|Too many levels"):
                write()
    assert {path.name: path.lstat().st_mode for path in tmp_path.iterdir()} == kinds
    for path in ("/dev/null", "/dev/full", "/", ".", tmp_path):
        for write in writers(path):
            with pytest.raises(BadInput, match=r"must be a file\. Got a (folder|device or pipe) of that name\."):
                write()


@pytest.mark.parametrize("path", ["", None, 1, True, b"bytes", "a\0b"])
def test_what_is_no_name_of_a_file_is_refused(path):
    for call in (*writers(path), lambda: files.read_text(path), lambda: read_csv(path)):
        with pytest.raises(BadInput, match="A file must be given by its name"):
            call()


@pytest.mark.parametrize("path", ["nowhere/a.csv", "a.csv/b.csv", "x" * 300])
def test_what_the_system_refuses_is_a_sentence(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("")
    for write in writers(path):
        with pytest.raises(BadInput, match="cannot be written: "):
            write()
    assert len(list(tmp_path.iterdir())) == 1


def test_a_disk_that_is_full_amid_writing_is_a_sentence_and_leaves_the_old_file(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")
    with pytest.raises(BadInput, match=r"cannot be written: No space left on device\."), files.whole_file(target):
        raise OSError(28, "No space left on device")
    assert target.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_drafts_of_killed_processes_are_swept_and_those_of_living_ones_stay(tmp_path):
    done = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    here = platform.node()
    dead, alive = (tmp_path / f".a.txt.{here}.{process}.7.tmp" for process in (done.stdout.strip(), os.getppid()))
    elsewhere, mine = tmp_path / f".a.txt.{here}-2.1.7.tmp", tmp_path / ".a.txt.mine.tmp"
    for path in (dead, alive, elsewhere, mine):
        path.touch()
    files.write_whole(tmp_path / "a.txt", "whole")
    assert sorted(tmp_path.iterdir()) == sorted([alive, elsewhere, mine, tmp_path / "a.txt"])


def readers(path):
    """Readers of files that users name, each of its own way to the file."""
    yield lambda: files.read_text(path)
    yield lambda: read_csv(path)
    yield lambda: md.read_votes(path)
    yield lambda: list(read_letor(path))
    yield lambda: Log(path)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is read for ever here")
def test_a_device_that_would_be_read_for_ever_is_refused():
    for read in readers("/dev/full"):
        with pytest.raises(BadInput, match=r"must be a file\. Got a device( or pipe)? of that name\."):
            read()


def test_a_pipe_is_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen([sys.executable, "-c", f"open({str(pipe)!r}, 'w').write('text')"]):
        assert files.read_text(pipe) == "text"
