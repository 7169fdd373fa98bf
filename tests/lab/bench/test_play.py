"""Playing the suite: the same numbers however it is interrupted or capped, and a wrong policy is found out."""

import dataclasses
import re
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from typer.testing import CliRunner

import multiduel as md
from multiduel.cli import app
from multiduel.engine.registry import benchmark_results as files
from multiduel.engine.registry.registry import POLICIES, find
from multiduel.lab.bench import play, report, suite
from multiduel.lab.bench.suite import Cell, cells

RUCB, UNIFORM = POLICIES["rucb"], POLICIES["uniform"]
CELL = Cell("cyclic", 2, 10_000)
INVERTED = Path(__file__).parent / "inverted_rucb.py"


def played(spec, folder, runs=2, wanted=(CELL,), **options):
    return play.play(spec, folder, list(wanted), cap=options.pop("cap", 1000.0), runs=runs, threads=1, **options)


def test_a_row_is_what_simulate_gives_for_its_seeds(tmp_path):
    row = played(RUCB, tmp_path).rows["cyclic", 2, 10_000]
    family = suite.FAMILIES["cyclic"]
    for number in (0, 7, 19):
        result = md.simulate("rucb", family.problems[number], horizon=10_000, runs=2, seed=family.seed + number, threads=1)
        assert np.array_equal(row.regret[number], result.final.astype(np.float32))
        assert np.array_equal(row.wrong[number], result.recommended != family.problems[number].winner)
    assert row.regret.shape == (20, 2) and row.note == "2 of 20 runs an instance: a quick pass"


def test_runs_that_are_added_are_those_of_one_go(tmp_path):
    first = played(RUCB, tmp_path / "a", runs=1).rows[CELL.family, 2, 10_000]
    more = played(RUCB, tmp_path / "a", runs=3).rows[CELL.family, 2, 10_000]
    whole = played(RUCB, tmp_path / "b", runs=3).rows[CELL.family, 2, 10_000]
    assert np.array_equal(more.regret, whole.regret) and np.array_equal(more.wrong, whole.wrong)
    assert np.array_equal(first.regret, whole.regret[:, :1])


def test_what_is_played_is_not_played_again(tmp_path, monkeypatch):
    played(RUCB, tmp_path)
    monkeypatch.setattr(play, "_play", lambda *_, **__: pytest.fail("played again"))
    played(RUCB, tmp_path)


def test_an_interruption_loses_at_most_the_cell_at_work(tmp_path, monkeypatch):
    wanted, real = cells(families=["cyclic", "ties"], slate_sizes=(2,), horizons=(10_000,)), play.play_cell

    def stops(spec, cell, *rest, **options):
        if cell.family == "ties":
            raise KeyboardInterrupt
        return real(spec, cell, *rest, **options)

    monkeypatch.setattr(play, "play_cell", stops)
    with pytest.raises(KeyboardInterrupt):
        played(RUCB, tmp_path, wanted=wanted)
    assert list(files.read(tmp_path / "rucb.npz").rows) == [("cyclic", 2, 10_000)]
    monkeypatch.setattr(play, "play_cell", real)
    assert set(played(RUCB, tmp_path, wanted=wanted).rows) == {("cyclic", 2, 10_000), ("ties", 2, 10_000)}


def test_a_cap_leaves_fewer_runs_or_none_and_says_so(tmp_path, monkeypatch):
    clock = iter(np.arange(0.0, 1e6, 0.5))  # every look at the clock is half a second later
    monkeypatch.setattr(play.time, "process_time", lambda: float(next(clock)))
    row = played(RUCB, tmp_path / "a", runs=20, cap=30.0).rows[CELL.family, 2, 10_000]
    assert 1 <= row.runs < 20 and row.note == f"{row.runs} of 20 runs an instance: 30 CPU seconds a cell"
    none = played(RUCB, tmp_path / "b", runs=20, cap=3.0).rows[CELL.family, 2, 10_000]
    assert none.runs == 0 and none.note.startswith("left out: at least ") and none.seconds > 0
    again = played(RUCB, tmp_path / "b", runs=1, cap=1000.0).rows[CELL.family, 2, 10_000]
    assert again.runs == 1, "a higher cap plays what was left out"


def test_results_of_another_version_are_not_mixed(tmp_path):
    old = played(RUCB, tmp_path)
    row = old.rows[CELL.family, 2, 10_000]
    facts = {**old.facts, "code": "older"}
    files.write(dataclasses.replace(old, facts=facts), tmp_path / "rucb.npz")
    assert played(RUCB, tmp_path).facts["code"] == old.facts["code"], "the same numbers: they are kept"
    changed = {row.key: dataclasses.replace(row, regret=row.regret + 1)}
    files.write(dataclasses.replace(old, facts=facts, rows=changed), tmp_path / "rucb.npz")
    with pytest.raises(md.BadInput, match=r"another version of 'rucb'.*--anew"):
        played(RUCB, tmp_path)
    assert np.array_equal(played(RUCB, tmp_path, anew=True).rows[row.key].regret, row.regret)
    files.write(dataclasses.replace(old, suite="another"), tmp_path / "rucb.npz")
    with pytest.raises(md.BadInput, match="on another suite"):
        played(RUCB, tmp_path)


def test_who_needs_features_cannot_play_and_two_dueling_policies_play_two(tmp_path):
    with pytest.raises(md.BadInput, match="'kernel-self-sparring' cannot play the suite: it needs features"):
        played(POLICIES["kernel-self-sparring"], tmp_path)
    assert {cell.slate_size for cell in play.cells_of(RUCB, cells())} == {2}
    assert {cell.slate_size for cell in play.cells_of(UNIFORM, cells())} == {2, 4, 8, 16}


def test_answers_of_every_kind_are_played(tmp_path):
    wanted = [Cell(name, 4, 10_000) for name in ("rankings", "winner-only", "late")]
    rows = played(UNIFORM, tmp_path, runs=1, wanted=wanted).rows
    assert all(row.runs == 1 for row in rows.values()) and len(rows) == 3


@pytest.fixture(scope="module")
def inverted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inverted")
    with mock.patch.dict(POLICIES):  # other tests do not know it
        spec = find(f"{INVERTED}:SPEC", "typed")
        wanted = cells(families=["arithmetic", "cyclic", "bradley-terry"], slate_sizes=(2,), horizons=(10_000,))
        pool = {name: played(POLICIES[name], folder, wanted=wanted) for name in ("rucb", "uniform", "ws-s")}
        own = played(spec, folder, wanted=wanted)
        found = report.report(own, pool)
        yield found, report.write(found, own, folder)


def test_rucb_with_wins_inverted_lands_last_and_the_page_shows_that_it_ends_wrong(inverted):
    found, paths = inverted
    (table,) = found.tables
    assert [row[2].split()[0] for row in table.rows] == ["4", "4", "4"], "last of four in every family"
    assert all("rucb" not in row[8].split(", ") for row in table.rows), "told apart from what it was made of"
    assert all(float(row[4].rstrip("%")) > 50 for row in table.rows), "most runs end wrong"
    page = paths[0].read_text()
    assert "rank 4 of 4" in page and "It ends wrong in most runs." in page


def test_the_figures_are_for_a_page_and_for_a_paper(inverted):
    _, paths = inverted
    assert {path.suffix for path in paths} == {".html", ".svg", ".pdf"} and all(path.exists() for path in paths)
    pdf = next(path for path in paths if path.suffix == ".pdf").read_bytes()
    assert b"/Type3" not in pdf and b"CIDFontType2" in pdf
    assert "this one" in next(path for path in paths if path.suffix == ".svg").read_text()


def call(*words):
    return CliRunner().invoke(app, ["bench", *map(str, words)])


def test_the_command_plays_writes_checks_and_refuses(tmp_path):
    options = ("--family", "cyclic", "--out", tmp_path, "--threads", 1, "--cap", 5)
    done = call("ws-s", *options)
    assert done.exit_code == 0, done.output
    assert re.search(r"ws-s: rank \d+ of \d+.* with m = 2 and T = 10,000", done.output.replace("\n", " "))
    assert (tmp_path / "ws-s.html").exists()
    checked = call("--check", tmp_path / "ws-s.npz", "--sample", 1)
    assert checked.exit_code == 0 and "1 of 1 runs are identical." in checked.output
    results = files.read(tmp_path / "ws-s.npz")
    forged = {key: dataclasses.replace(row, regret=row.regret * np.float32(0.5)) for key, row in results.rows.items()}
    files.write(dataclasses.replace(results, rows=forged), tmp_path / "ws-s.npz")
    checked = call("--check", tmp_path / "ws-s.npz", "--sample", 1)
    assert checked.exit_code == 1 and "0 of 1 runs are identical." in checked.output
    for words, says in (
        (("nobody",), "There is no policy"),
        (("ws-s", "--family", "nothing"), "'family' must be one of"),
        (("ws-s", "--horizon", "5"), "'--horizon' must be one of the suite's"),
        (("ws-s", "--cap", "-1"), "'--cap' must be above 0"),
        (("colstim",), "cannot play the suite"),
        (("--check", tmp_path / "none.npz"), "must be a file of benchmark results"),
        (("rucb", "--check", tmp_path / "ws-s.npz"), "holds results of 'ws-s'. Got 'rucb'."),
    ):
        refused = call(*words, "--out", tmp_path)
        assert refused.exit_code != 0 and says in refused.output.replace("\n", " "), refused.output


def test_a_changed_instance_is_refused_and_never_compared_with_shipped_results(tmp_path, monkeypatch):
    own = played(RUCB, tmp_path)
    pool = {name: played(POLICIES[name], tmp_path) for name in ("ws-s", "uniform")}
    pool["ws-s"] = dataclasses.replace(pool["ws-s"], suite="another")
    assert report.report(own, pool).profiles[0].policies == ("uniform", "rucb")
    monkeypatch.setattr(suite, "digest", lambda: "f2f37339f29db1d5")
    refused = call("ws-s", "--family", "cyclic", "--out", tmp_path)
    said = " ".join(refused.output.split())
    assert refused.exit_code != 0 and "must be those of suite v1 as it was frozen" in said and "f2f37339f29db1d5" in said


def test_one_command_remakes_the_suite_with_every_policy(tmp_path, monkeypatch):
    monkeypatch.setattr(suite, "cells", lambda **limits: [CELL] if limits.get("horizons") == (10_000,) else [])
    few = {name: POLICIES[name] for name in ("rucb", "ws-s", "colstim")}
    monkeypatch.setattr("multiduel.engine.registry.registry.POLICIES", few)
    done = call("--all", "--cap", 1, "--out", tmp_path, "--threads", 1)
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix) == ["rucb.npz", "suite.json", "ws-s.npz"]
    assert (tmp_path / "suite.json").read_text() == suite.as_text()
    assert "2 policies" in done.output and "they need features of the arms: colstim." in done.output


def test_a_policy_named_in_a_file_loads_no_code(tmp_path):
    results = files.PolicyResults(f"{INVERTED}:SPEC", suite.digest(), {})
    files.write(results, tmp_path / "x.npz")
    assert "There is no registered policy" in call("--check", tmp_path / "x.npz").output.replace("\n", " ")
