"""Users are pseudonyms in a log, by default; the key lies beside it."""

import os
import stat
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from multiduel import BadInput, rankers
from multiduel.cli import app
from tests.rankers.test_log import NAMES, RANKINGS

PAGE = rankers.multileave(RANKINGS, names=NAMES, seed=1)


def users(log):
    return [shown.user for shown in rankers.Log(log.path).pages()]


def test_names_are_not_in_the_log(tmp_path):
    log = rankers.Log(tmp_path / "log.jsonl")
    for user in ("zoe@example.org", "bob", "zoe@example.org", None):
        log.clicked(log.shown(PAGE, user=user, session=user and f"session of {user}"), PAGE["documents"][0])
    text = log.path.read_text()
    assert "zoe" not in text and "example" not in text
    one, two, three, nobody = users(log)
    assert one == three != two and nobody is None
    assert rankers.analyse(log).users == 3
    assert log.pseudonym("bob") == rankers.Log(log.path).pseudonym("bob") == two
    sessions = [shown.session for shown in log.pages()]
    assert sessions[0] == sessions[2] != sessions[1] and not set(sessions[:3]) & {one, two}


def test_key_is_for_its_owner_and_needed_to_find_a_name(tmp_path):
    log = rankers.Log(tmp_path / "log.jsonl")
    log.shown(PAGE, user="ada")
    assert log.key == tmp_path / "log.jsonl.key" and stat.S_IMODE(os.stat(log.key).st_mode) == 0o600
    other = rankers.Log(tmp_path / "other.jsonl")
    other.shown(PAGE, user="ada")
    assert users(other) != users(log)
    same = rankers.Log(tmp_path / "same.jsonl", key=log.key)
    same.shown(PAGE, user="ada")
    assert users(same) == users(log)


def test_processes_that_begin_a_log_at_once_share_a_key(tmp_path):
    code = (
        "import sys; from multiduel import rankers; log = rankers.Log(sys.argv[1]);"
        "page = rankers.multileave([['x', 'y'], ['y', 'x']], names=['old', 'new'], seed=1);"
        "[log.shown(page, user=f'u{k}') for k in range(20)]"
    )
    started = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "log.jsonl")]) for _ in range(3)]
    assert [process.wait() for process in started] == [0, 0, 0]
    found = users(rankers.Log(tmp_path / "log.jsonl"))
    assert len(found) == 60 and len(set(found)) == 20
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.jsonl", "log.jsonl.key"]


def test_forget_takes_names_and_pseudonyms(tmp_path):
    log = rankers.Log(tmp_path / "log.jsonl")
    for user in ("ada", "bob", "ada", "eve"):
        log.clicked(log.shown(PAGE, user=user), PAGE["documents"][0])
    run = CliRunner().invoke(app, ["rankers", "forget", str(log.path), "ada"])
    assert run.exit_code == 0 and "Removed 2 pages and 2 clicks" in run.output
    assert log.forget(log.pseudonym("bob")) == (1, 1)
    assert log.forget("ada") == (0, 0)
    assert users(log) == [log.pseudonym("eve")]


def test_names_as_given_are_an_explicit_choice(tmp_path):
    log = rankers.Log(tmp_path / "log.jsonl", pseudonyms=False)
    log.shown(PAGE, user="ada", session="s")
    assert users(log) == ["ada"] and not log.key.exists() and log.pseudonym("ada") == "ada"
    before = log.path.read_bytes()
    with pytest.raises(BadInput, match="names as given, or the key was lost"):  # ada would be two users
        rankers.Log(log.path).shown(PAGE, user="ada")
    with pytest.raises(BadInput, match="names as given, or the key was lost"), rankers.Log(log.path).all_or_nothing():
        pass
    assert log.path.read_bytes() == before and not log.key.exists()
    assert rankers.Log(log.path, pseudonyms=False).forget("ada") == (1, 0)


def test_names_are_not_written_into_a_log_of_pseudonyms(tmp_path):
    log = rankers.Log(tmp_path / "log.jsonl")
    log.shown(PAGE, user="ada")
    with pytest.raises(BadInput, match="without pseudonyms=False"):
        rankers.Log(log.path, pseudonyms=False).shown(PAGE, user="ada")
    assert users(log) == [log.pseudonym("ada")]


def test_old_log_becomes_one_of_pseudonyms(tmp_path):
    old = rankers.Log(tmp_path / "log.jsonl", pseudonyms=False)
    for user in ("ada", "bob", "ada", None):
        old.clicked(old.shown(PAGE, user=user, time=5.0), PAGE["documents"][0], time=6.0)
    with open(old.path, "a") as file:
        file.write("no line of a log\n")
    before = rankers.analyse(old, bad="skip")
    run = CliRunner().invoke(app, ["rankers", "pseudonyms", str(old.path)])
    assert run.exit_code == 0 and "Replaced names on 3 pages" in run.output
    assert '"ada"' not in old.path.read_text() and "no line of a log\n" in old.path.read_text()
    log = rankers.Log(old.path)
    log.shown(PAGE, user="ada")
    after = rankers.analyse(log, bad="skip")
    assert (after.users, after.pages) == (before.users, before.pages + 1)
    assert log.pseudonymise() == 0


def test_imports_write_pseudonyms(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("impression,position,document,ranker,clicked,user\n1,1,x,old,1,ada\n1,2,y,new,0,ada\n")
    for options, names in (([], False), (["--no-pseudonyms"], True)):
        out = tmp_path / f"{len(options)}.jsonl"
        assert CliRunner().invoke(app, ["rankers", "import", str(table), "--out", str(out), *options]).exit_code == 0
        assert ('"ada"' in out.read_text()) == names == (not out.with_name(f"{out.name}.key").exists())
    log = rankers.Log(tmp_path / "0.jsonl")
    assert users(log) == [log.pseudonym("ada")] and log.forget("ada") == (1, 1)


def test_exported_pseudonyms_stay_when_they_are_imported(tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    log, back = rankers.Log(tmp_path / "log.jsonl"), rankers.Log(tmp_path / "back.jsonl", key=tmp_path / "log.jsonl.key")
    log.shown(PAGE, user="ada", session="s")
    rankers.export_parquet(log, tmp_path / "log.parquet")
    rankers.import_table(tmp_path / "log.parquet", back)
    assert users(back) == users(log) and back.forget("ada") == (1, 0)


def test_refused_page_leaves_no_key(tmp_path):
    log = rankers.Log(tmp_path / "log.jsonl")
    for page, user in ((PAGE, ""), (PAGE, "\ud800"), (PAGE, 7), (rankers.Impression({**PAGE, "more": {1, 2}}), "ada")):
        with pytest.raises(BadInput):
            log.shown(page, user=user)
    with pytest.raises(BadInput), log.all_or_nothing() as draft:
        draft.shown(PAGE, user="ada")
        draft.shown(PAGE, user="")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["", "short\n", "g" * 64, "a" * 65])
def test_file_that_holds_no_key_is_refused(tmp_path, content):
    log = rankers.Log(tmp_path / "log.jsonl")
    log.key.write_text(content)
    with pytest.raises(BadInput, match="64 hexadecimal digits"):
        log.shown(PAGE, user="ada")
    assert not log.path.exists() and log.key.read_text() == content
