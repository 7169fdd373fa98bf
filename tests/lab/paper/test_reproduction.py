"""``multiduel paper`` on two small panels: data, fallback, resuming."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from multiduel import cli, problems, theory
from multiduel.inputs import BadInput
from multiduel.lab import experiment as experiments
from multiduel.lab.paper import figures as paper_figures
from multiduel.lab.paper import reproduction as paper
from multiduel.lab.paper import stand_in


@pytest.fixture
def small(monkeypatch):
    """All experiments with their first contender only, 100 rounds and 2 runs; no figures."""
    every = paper.asked()

    def asked(*, quick=False, mslr=experiments.MSLR_FILE, readings=True):
        uniform = [dataclasses.replace(c, policy="uniform", params={}, runs=2) for c in every[0].contenders]
        return [
            dataclasses.replace(
                e,
                contenders=tuple(dataclasses.replace(uniform[0], label=c.label, slate_size=c.slate_size) for c in e.contenders),
                problem={**e.problem, "file": mslr} if e.problem["kind"] == "mslr" else e.problem,
                horizon=60,
                checkpoints=(30, 60),
                runs=2,
            )
            for e in every
        ]

    def save(figure, folder, name):
        path = folder / f"{name}.svg"
        path.write_text("<svg/>")
        return [path, path]

    monkeypatch.setattr(paper, "asked", asked)
    monkeypatch.setattr(paper_figures, "save", save)


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    problems.write_csv(problems.synthetic(24), folder / experiments.MSLR_FILE)
    return folder


def test_from_the_command_line_and_again(small, data, tmp_path, monkeypatch):
    out = tmp_path / "out"
    arguments = ["paper", "--out", str(out), "--data", str(data), "--threads", "1"]
    result = CliRunner().invoke(cli.app, arguments)
    assert result.exit_code == 0, result.output
    assert "report.html" in result.stdout
    assert {"report.html", "report.md", "claims.json", "figures"} <= {path.name for path in out.iterdir()}
    assert len(json.loads((out / "claims.json").read_text())) == 10
    text = (out / "report.md").read_text()
    assert "MSLR rankers" in text and stand_in.LABEL not in text
    from multiduel.lab import runner

    monkeypatch.setattr(runner, "_on_threads", None)  # a second call plays nothing
    assert CliRunner().invoke(cli.app, arguments).exit_code == 0
    assert paper.is_here(out)


def test_without_data_every_title_says_so(small, data, tmp_path, monkeypatch):
    monkeypatch.delenv("MULTIDUEL_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    made = problems.from_matrix(problems.synthetic(24).matrix, label=f"{stand_in.LABEL}: 24 of 38")
    monkeypatch.setattr(stand_in, "stand_in", lambda arms: made)
    path = paper.paper(tmp_path / "out", threads=1)
    text = path.with_suffix(".md").read_text()
    assert "do not use MSLR" in text and "MSLR rankers" not in text
    assert f"(f) {stand_in.LABEL}, K = 24" in text


def test_where_the_data_is(data, tmp_path, monkeypatch):
    monkeypatch.delenv("MULTIDUEL_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    assert paper.find_data(data) == data
    assert paper.find_data(None) is None
    monkeypatch.setenv("MULTIDUEL_DATA", str(data))
    assert paper.find_data(None) == data
    with pytest.raises(BadInput, match=r"must be a folder with the file 'other.csv'"):
        paper.find_data(data, "other.csv")


def test_the_stand_in_is_a_total_order_and_says_what_it_is(monkeypatch):
    monkeypatch.setattr(stand_in, "COMPARISONS", 300)
    made = stand_in.stand_in.__wrapped__(6)
    assert theory.is_total_order(made.matrix) and made.n_arms == 6
    assert "not MSLR" in made.label
    again = stand_in.stand_in.__wrapped__(6)
    assert np.array_equal(made.matrix, again.matrix)


def test_quick_is_small_and_keeps_the_names():
    for small, full in zip(paper.asked(quick=True), paper.asked(), strict=True):
        assert small.name == full.name and small.horizon <= 10_000 and small.runs <= 5
    assert all(e.problem.get("file") == "x.csv" for e in paper.asked(mslr="x.csv") if e.problem["kind"] == "mslr")
