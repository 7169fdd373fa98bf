"""``multiduel paper`` on two small panels: data, fallback, resuming."""

from __future__ import annotations

import dataclasses
import json
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

from multiduel import cli, problems, theory
from multiduel.inputs import BadInput
from multiduel.lab import results, runner
from multiduel.lab.paper import claims, drawing, panels, stand_in
from multiduel.lab.paper import figures as paper_figures
from multiduel.lab.paper import reproduction as paper

(MSLR,) = {e.problem["file"] for e in panels.load_all() if e.problem["kind"] == "data"}


@pytest.fixture
def small(monkeypatch):
    """All experiments with uniform play, 60 rounds and 2 runs; no figures."""
    every = panels.load_all()

    def load_all(*, quick=False, mslr=None):
        return [
            dataclasses.replace(
                e,
                contenders=tuple(dataclasses.replace(c, policy="uniform", params={}, runs=2, rival=False) for c in e.contenders),
                problem={**e.problem, "file": mslr or MSLR} if e.problem["kind"] == "data" else e.problem,
                horizon=60,
                checkpoints=(30, 60),
                horizons=None,
                runs=2,
            )
            for e in every
        ]

    def save(figure, folder, name):
        path = folder / f"{name}.svg"
        path.write_text("<svg/>")
        return [path, path]

    monkeypatch.setattr(panels, "load_all", load_all)
    monkeypatch.setattr(paper_figures, "save", save)
    monkeypatch.setattr(drawing, "helper", lambda: None)  # another process would draw them


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    problems.write_csv(problems.synthetic(24), folder / MSLR)
    return folder


def test_from_the_command_line_and_again(small, data, tmp_path, monkeypatch):
    out = tmp_path / "out"
    arguments = ["paper", "--out", str(out), "--data", str(data), "--threads", "1"]
    result = CliRunner().invoke(cli.app, arguments)
    assert result.exit_code == 0, result.output
    assert "report.html" in result.stdout
    assert [line.partition(":")[0] for line in result.stderr.splitlines()] == [
        e.name for e in panels.load_all()
    ]  # as they finish
    assert {"report.html", "report.md", "claims.json", "figures"} <= {path.name for path in out.iterdir()}
    assert len(json.loads((out / "claims.json").read_text())) == 12
    text = (out / "report.md").read_text()
    assert "MSLR rankers" in text and stand_in.LABEL not in text
    monkeypatch.setattr(runner, "on_threads", None)  # a second call plays nothing
    assert CliRunner().invoke(cli.app, arguments).exit_code == 0
    assert paper.is_here(out)


def test_a_report_is_judged_on_the_problem_that_was_played(small, data, tmp_path, monkeypatch):
    """Run with --data; report without it, with the data gone and nothing to put in its place."""
    monkeypatch.delenv("MULTIDUEL_DATA", raising=False)
    monkeypatch.setattr(stand_in, "stand_in", None)
    out, here = tmp_path / "out", tmp_path / "here"
    here.mkdir()
    assert CliRunner().invoke(cli.app, ["paper", "--out", str(out), "--data", str(data), "--threads", "1"]).exit_code == 0
    before = (out / "claims.json").read_bytes()
    matrix = problems.read_csv(data / MSLR).matrix
    shutil.rmtree(data)
    for name in ("claims.json", "report.md"):
        (out / name).unlink()
    monkeypatch.chdir(here)
    judged = []
    real = claims.judge
    monkeypatch.setattr(claims, "judge", lambda measured: judged.append(measured) or real(measured))
    result = CliRunner().invoke(cli.app, ["report", str(out)])
    assert result.exit_code == 0, result.output
    assert (judged[0]["two-dueling-f"].problem.matrix == matrix).all()
    assert (out / "claims.json").read_bytes() == before
    text = (out / "report.md").read_text()
    assert "| (f) MSLR rankers, K = 24 |" in text and "generated" not in text


def test_without_data_every_title_says_so(small, tmp_path, monkeypatch):
    monkeypatch.delenv("MULTIDUEL_DATA", raising=False)
    label = f"{stand_in.LABEL}: 24 of 38"
    monkeypatch.setattr(stand_in, "stand_in", lambda arms: problems.from_matrix(problems.synthetic(24).matrix, label=label))
    (tmp_path / "shared" / "data").mkdir(parents=True)  # a folder of that name beside the checkout means nothing
    problems.write_csv(problems.synthetic(24), tmp_path / "shared" / "data" / MSLR)
    (tmp_path / "checkout").mkdir()
    monkeypatch.chdir(tmp_path / "checkout")
    path = paper.paper(tmp_path / "out", threads=1)
    text = path.with_suffix(".md").read_text()
    assert "MSLR (search rankers compared by clicks), was not at hand" in text and "MSLR rankers" not in text
    assert f"(f) {stand_in.LABEL}, K = 24" in text
    panel = results.read(tmp_path / "out" / "two-dueling-f")
    assert panels.generated(panel.experiment) and panel.problem.label == label


def test_where_the_data_is(data, tmp_path, monkeypatch):
    monkeypatch.delenv("MULTIDUEL_DATA", raising=False)
    experiments = panels.load_all()
    assert paper.find_data(data, experiments) == data
    assert paper.find_data(None, experiments) is None
    monkeypatch.setenv("MULTIDUEL_DATA", str(data))
    assert paper.find_data(None, experiments) == data
    with pytest.raises(BadInput, match=r"must be a folder with the file 'other.csv'"):
        paper.find_data(data, panels.load_all(mslr="other.csv"))
    monkeypatch.setenv("MULTIDUEL_DATA", str(tmp_path))  # one without it is never made up for
    with pytest.raises(BadInput, match=rf"must be a folder with the file '{MSLR}'"):
        paper.find_data(None, experiments)


def test_the_stand_in_is_a_total_order_and_says_what_it_is(monkeypatch):
    monkeypatch.setattr(stand_in, "COMPARISONS", 300)
    first = stand_in.stand_in.__wrapped__(6)
    assert theory.is_total_order(first.matrix) and first.n_arms == 6
    assert "not MSLR" in first.label
    again = stand_in.stand_in.__wrapped__(6)
    assert np.array_equal(first.matrix, again.matrix)


def test_quick_is_small_and_keeps_the_names():
    for small, full in zip(panels.load_all(quick=True), panels.load_all(), strict=True):
        assert small.name == full.name and small.horizon <= 10_000 and small.runs <= 5
    assert all(e.problem.get("file") == "x.csv" for e in panels.load_all(mslr="x.csv") if e.problem["kind"] == "data")


def test_the_public_files_make_the_rankers_matrix(small, tmp_path, monkeypatch):
    from multiduel import rankers
    from multiduel.lab.paper import mslr

    file = tmp_path / "train.svm.gz"
    rankers.write_letor(rankers.generate(queries=100, documents=20, features=60, seed=24), file)
    out = tmp_path / "out"
    arguments = ["paper", "--out", str(out), "--threads", "1", "--mslr", str(file)]
    result = CliRunner().invoke(cli.app, arguments)
    assert result.exit_code == 0, result.output
    assert {"rankers.csv", "rankers.errors.csv", "rankers.json", "rankers_24.csv"} == {p.name for p in (out / "mslr").iterdir()}
    about = json.loads((out / "mslr" / "rankers.json").read_text())
    assert about["ties"] == "drop" and about["comparisons"] == mslr.COMPARISONS
    played = results.read(out / "two-dueling-f").problem
    assert theory.is_total_order(played.matrix) and played.n_arms == 24 and set(played.names) <= set(about["names"])
    assert stand_in.LABEL not in (out / "report.md").read_text()
    monkeypatch.setattr(rankers, "estimate_matrix", None)  # a second call counts nothing anew
    assert CliRunner().invoke(cli.app, arguments).exit_code == 0
    refused = CliRunner().invoke(cli.app, ["paper", "--out", str(out), str(file)])
    assert refused.exit_code != 0
