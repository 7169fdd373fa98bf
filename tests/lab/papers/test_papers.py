"""Other papers: their files are whole, their claims are judged by rule, and what is missing is said."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import multiduel as md
from multiduel.cli import app
from multiduel.lab.paper.verdicts import DOES_NOT, INCONCLUSIVE, REPRODUCES
from multiduel.lab.papers import claims_file, reproduction
from multiduel.policies.citations import PAPERS

PANEL = """
horizon = 2000
runs = 20
[problem]
kind = "arithmetic"
[[contenders]]
policy = "rmed1"
[[contenders]]
policy = "uniform"
[[contenders]]
policy = "rmed1"
id = "again"
"""
CLAIMS = """
title = "A paper"
[[claims]]
statement = "RMED1 has less regret than uniform play."
less = "rmed1"
than = ["uniform"]
[[claims]]
statement = "Uniform play has less regret than RMED1."
less = "uniform"
than = ["rmed1"]
[[claims]]
statement = "RMED1 has less regret than itself."
less = "again"
than = ["rmed1"]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "claims.toml").write_text(CLAIMS)
    (tmp_path / "own" / "panel.toml").write_text(PANEL)
    return tmp_path / "own"


@pytest.mark.parametrize("name", claims_file.shipped())
def test_a_paper_that_ships_is_whole(name):
    paper = claims_file.load(name)
    assert paper.cite in PAPERS and paper.source and len(paper.panels) >= 2 and paper.claims
    assert all(panel.name.startswith(f"{name}-") and panel.runs >= 20 for panel in paper.panels)


def test_claims_are_judged_by_what_was_measured(folder, tmp_path):
    page = reproduction.reproduce(str(folder), tmp_path / "out", threads=1)
    judged = json.loads((tmp_path / "out" / "claims.json").read_text())
    assert [each["verdict"] for each in judged] == [REPRODUCES, DOES_NOT, INCONCLUSIVE]
    text = page.read_text()
    assert "1 of 3 claims reproduce, 1 does not, 1 is inconclusive, in 1 panel." in text
    assert "RMED1 has less regret than uniform play." in text


def test_a_panel_without_its_data_is_left_out_and_said(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("MULTIDUEL_DATA", "")
    (folder / "data.toml").write_text(PANEL.replace('kind = "arithmetic"', 'kind = "data"\nfile = "no.csv"'))
    text = reproduction.reproduce(str(folder), tmp_path / "out", quick=True, threads=1).read_text()
    assert "in 1 of 2 panels" in text and "needs the file 'no.csv'" in text


def test_the_command_names_papers(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = CliRunner().invoke(app, ["paper", str(folder), "--quick", "--threads", "1"])
    assert said.exit_code == 0 and (tmp_path / "results" / "own-quick" / "report.html").exists()


@pytest.mark.parametrize(
    ("was", "becomes", "says"),
    [
        ('less = "rmed1"', 'less = "rmed9"', "names 'rmed9', which is no contender of 'panel'"),
        ('than = ["uniform"]', "than = []", "'than' of claim 1 .* must name at least one contender"),
        ('than = ["uniform"]', 'than = "uniform"', "'than' in .* must be a list"),
        ('than = ["uniform"]', 'than = ["uniform"]\npanels = ["pannel"]', "must be of panel. Got 'pannel'. Did you mean 'panel'"),
        ('than = ["uniform"]', 'than = ["uniform"]\nmore = 1', "takes 'statement', 'less', 'than' and 'panels'"),
        ('title = "A paper"', "", "'title' in .* must be text"),
        ('title = "A paper"', "title =", "must be TOML"),
    ],
)
def test_files_that_are_wrong_are_refused(folder, was, becomes, says):
    (folder / "claims.toml").write_text(CLAIMS.replace(was, becomes, 1))
    with pytest.raises(md.BadInput, match=says):
        claims_file.load(str(folder))


def test_an_unknown_name_is_refused(tmp_path):
    with pytest.raises(md.BadInput, match=r"Did you mean 'rmed2015'\?"):
        claims_file.load("rmed2016")


def test_ratios_are_of_the_runs_that_both_have(folder, tmp_path):
    reproduction.reproduce(str(folder), tmp_path / "out", threads=1)
    judged = json.loads((tmp_path / "out" / "claims.json").read_text())
    own = md.simulate(["rmed1", "uniform"], md.instance("arithmetic"), horizon=2000, runs=20, seed=0)
    assert np.isclose(judged[0]["comparisons"][0]["value"], own[0].final.mean() / own[1].final.mean())
