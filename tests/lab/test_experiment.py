"""Experiments from TOML: what they say, and what is refused."""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import multiduel as md
from multiduel.lab import experiment as lab
from multiduel.lab import report, runner

GOOD = """
title = "Small"
slate_size = 4
horizon = 1e3
runs = 6
[problem]
kind = "synthetic"
arms = 8
[[contenders]]
policy = "multi-rucb"
label = "MultiRUCB"
params = { alpha = 0.6 }
[[contenders]]
policy = "if1"
runs = 2
rival = true
"""


def parse(*changes: tuple[str, str]) -> lab.Experiment:
    text = GOOD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return lab.parse(text, "folder/small.toml")


def test_a_file_says_it_all():
    experiment = parse()
    assert (experiment.name, experiment.title, experiment.horizon, experiment.runs) == ("small", "Small", 1000, 6)
    first, second = experiment.contenders
    assert (first.label, first.params, first.rival) == ("MultiRUCB", {"alpha": 0.6}, False)
    assert (first.id, second.id, second.label, second.rival) == ("multi-rucb", "if1", "if1", True)
    assert [experiment.runs_of(c) for c in experiment.contenders] == [6, 2]
    assert [experiment.slate_size_of(c) for c in experiment.contenders] == [4, 4]
    assert experiment.reset_horizon is True
    assert lab.from_json(experiment.to_json(), "again") == experiment


def test_checkpoints():
    marks = parse().marks()
    assert marks[0] == 1 and marks[-1] == 1000 and (np.diff(marks) > 0).all() and len(marks) <= 50
    assert parse(("runs = 6", "runs = 6\ncheckpoints = [10, 500]")).marks().tolist() == [10, 500]
    assert parse(("runs = 6", "runs = 6\ncheckpoints = 1")).marks().tolist() == [1000]


def test_quick_is_small_and_lives_elsewhere():
    small = lab.quick(parse(("1e3", "1e6"), ("runs = 6", "runs = 60\ncheckpoints = [5, 20000, 1000000]")))
    assert (small.name, small.horizon, small.runs, small.checkpoints) == ("small-quick", 10_000, 5, (5, 10_000))
    assert [small.runs_of(c) for c in small.contenders] == [5, 2]


def test_a_policy_may_come_twice_under_two_ids():
    experiment = parse(('policy = "if1"', 'policy = "multi-rucb"\nid = "multi-rucb-default"'))
    assert [(c.id, c.label) for c in experiment.contenders] == [
        ("multi-rucb", "MultiRUCB"), ("multi-rucb-default", "multi-rucb-default"),
    ]  # fmt: skip
    assert experiment.contender("multi-rucb-default") is experiment.contenders[1]
    with pytest.raises(md.BadInput, match=r"'small' has no contender 'multi-rcub'\. Did you mean 'multi-rucb'\? It has:"):
        experiment.contender("multi-rcub")
    with pytest.raises(md.BadInput, match="'id' of a contender must be of small letters"):
        lab.Contender(policy="if1", id="../up")
    with pytest.raises(md.BadInput, match="contender 1: each needs an 'id' of its own"):
        dataclasses.replace(experiment, contenders=experiment.contenders[:1] * 2)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('"multi-rucb"', '"multi-rcub"', "contender 1: There is no policy 'multi-rcub'. Did you mean 'multi-rucb'?"),
        ("alpha = 0.6", "alhpa = 0.6", "contender 1: 'multi-rucb' has no parameter 'alhpa'. Did you mean 'alpha'?"),
        ("alpha = 0.6", "alpha = 0.2", "'alpha' of 'multi-rucb' must be above 0.5. Got 0.2."),
        ("params = { alpha = 0.6 }", "alpha = 0.6", "contender 1: 'alpha' belongs into 'params'"),
        ("params = { alpha = 0.6 }", "params = 3", "'params' of contender 1 must be a table"),
        ("alpha = 0.6", "horizon = 6", "'horizon' must not be among the 'params' of contender 1"),
        ("runs = 6", "rnus = 6", "an experiment has no 'rnus'. Did you mean 'runs'?"),
        ("rival", "rivla", "contender 2 has no 'rivla'. Did you mean 'rival'?"),
        ("arms = 8", "amrs = 8", "a problem of kind 'synthetic' has no 'amrs'. Did you mean 'arms'?"),
        ('"synthetic"', '"sinthetic"', "'kind' must be one of synthetic, 1good"),
        ("horizon = 1e3\n", "", "'horizon' is missing."),
        ("1e3", "1.5", "'horizon' of 'experiment' must be a whole number of at least 1. Got 1.5."),
        ("runs = 6", "runs = 0", "'runs' of 'experiment' must be a whole number of at least 1. Got 0."),
        ("runs = 6", "checkpoints = [10, 2000]", "'checkpoints' must not pass the horizon, 1000. Got 2000."),
        ("runs = 6", "checkpoints = [10, 10]", "'checkpoints' must be rounds in ascending order."),
        ("runs = 6", 'regret = "strnog"', "'regret' must be one of average, strong, weak, slots."),
        ("runs = 6", 'benchmark = "best"', "'benchmark' must be one of condorcet"),
        ("runs = 6", 'name = "../up"', "'name' names a folder"),
        ('policy = "if1"', 'policy = "multi-rucb"', "contender 1: each needs an 'id' of its own. Got 'multi-rucb' 2 times."),
        ('policy = "if1"', 'policy = "if1"\nlabel = "MultiRUCB"', "each needs a 'label' of its own"),
        ('policy = "if1"', 'policy = "if1"\nid = "IF_1"', "contender 2: 'id' of a contender must be of small letters"),
        ('policy = "if1"', 'policy = "if1"\nid = 3', "'id' must be text in quotes. Got 3."),
        ('policy = "if1"', 'policy = "If One"', "contender 2: There is no policy 'If One'"),
        ("rival = true", "features = [[1.0]]", "contender 2: 'if1' takes no features of the arms."),
        ("rival = true", "features = 3", "'features' of contender 2 must be a list of rows of numbers, one per arm. Got 3."),
        ('title = "Small"', "short = 3", "'short' must be text in quotes. Got 3."),
        ('"synthetic"\narms = 8', '"csv"', "A problem of kind 'csv' must name its 'file'."),
        ("alpha = 0.6", "alpha = [[0.6]]", "must be a number, a word, true or false. Got [0.6]."),
        ('kind = "synthetic"', "kind = []", "'kind' of a problem must be a value, or a list of 1 to 1000 of them in all. Got 0."),
        ('kind = "synthetic"', "kind = {}", "'kind' must be one of"),
        ("1e3", "1e30", "'horizon' of 'experiment' must be at most"),
        ("runs = 6", "runs = 1e9", "'runs' of 'experiment' must be at most 1,000,000."),
        ("runs = 6", "runs = 1979-05-27", "'runs' of 'experiment' must be a whole number"),
        ("rival = true", 'rival = "yes"', "'rival' must be true or false. Got 'yes'."),
    ],
)
def test_refused_and_said_where(old, new, sentence):
    with pytest.raises(md.BadInput) as refused:
        parse((old, new))
    assert str(refused.value).startswith("'folder/small.toml': ")
    assert sentence in str(refused.value)


def test_broken_toml_tells_the_line(tmp_path):
    with pytest.raises(md.BadInput, match=r"small.toml' is not TOML: .*line 5"):
        parse(("runs = 6", "runs = "))
    with pytest.raises(md.BadInput, match="must be a file that exists"):
        lab.load(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(md.BadInput, match="must be UTF-8 text"):
        lab.load(tmp_path / "bytes.toml")
    with pytest.raises(md.BadInput, match="at least one"):
        lab.parse('horizon = 5\ncontenders = []\n[problem]\nkind = "cyclic"', "x.toml")


def test_the_documented_experiments_are_good():
    root = Path(__file__).resolve().parents[2]
    assert len(lab.load(root / "examples" / "my_experiment.toml").contenders) == 6


@pytest.mark.parametrize("kind", [lab.Experiment, lab.Contender])
def test_every_key_has_the_comment_that_the_reference_shows(kind):
    source = inspect.getsource(kind)
    assert [entry.name for entry in dataclasses.fields(kind) if not re.search(rf"^    {entry.name}:.*  # \w", source, re.M)] == []


def test_late_answers_are_part_of_an_experiment(tmp_path):
    table = {"name": "late", "horizon": 300, "runs": 4, "checkpoints": [300], "problem": {"kind": "synthetic", "arms": 5}}
    table["contenders"] = [{"policy": "rucb"}]
    prompt, late = (lab.from_json({**table, **more}, tmp_path) for more in ({}, {"delay": "geometric:20"}))
    assert "delay" not in prompt.to_json() and lab.from_json(late.to_json(), tmp_path) == late
    assert lab.from_json({**table, "delay": "15"}, tmp_path).delay == 15
    panel = runner.run(late, tmp_path / "late")
    expected = md.simulate("rucb", md.synthetic(5), horizon=300, runs=4, checkpoints=[300], delay="geometric:20")
    assert (panel.lines[0].final == expected.final).all() and "of mean 20" in repr(panel)
    assert panel.lines[0].result.problem["label"] == expected.problem["label"]
    page = " ".join(str(block) for block in report.blocks(panel, tmp_path / "a.svg", tmp_path / "b.svg"))
    assert "late by a geometric number of rounds of mean 20" in page
    problem, contender = md.synthetic(5), prompt.contenders[0]
    assert not runner.same_runs(problem, (prompt, contender), (late, contender))
    with pytest.raises(md.BadInput, match=r"'delay' of 'experiment' must be a number of rounds"):
        lab.from_json({**table, "delay": "soon"}, tmp_path)
    with pytest.raises(md.BadInput, match="'delay' was None, now it is geometric:20"):
        runner.run(prompt, tmp_path / "one")
        runner.run(late, tmp_path / "one")
