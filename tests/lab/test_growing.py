"""Experiments grow: only what is missing is played. One command at a time works in a folder. Files may stand on others."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import multiduel as md
from multiduel.engine.registry.registry import POLICIES
from multiduel.lab import experiment as experiments
from multiduel.lab import results, runner
from multiduel.lab import task as tasks
from multiduel.lab.folder_lock import occupied

SMALL = """
horizon = 100
runs = 10
checkpoints = 4
slate_size = 3
[problem]
kind = "synthetic"
arms = 4
[[contenders]]
policy = "uniform"
[[contenders]]
policy = "uniform"
id = "pairs"
slate_size = 2
"""
THIRD = experiments.Contender(policy="uniform", id="third", slate_size=4)


@pytest.fixture
def played(monkeypatch):
    """The blocks that are played, as they are given out."""
    blocks = []
    real = runner.task

    def task(experiment, problem, block):
        blocks.append((block.contender, block.first_run, block.runs))
        return real(experiment, problem, block)

    monkeypatch.setattr(runner, "task", task)
    return blocks


def merged(out, name="small"):
    return (out / name / "results.parquet").read_bytes()


def test_more_runs_and_a_third_contender_play_only_what_is_missing(played, tmp_path):
    ten = experiments.parse(SMALL, "small.toml")
    runner.run(ten, tmp_path / "grown", threads=1)
    assert sum(runs for *_, runs in played) == 20
    played.clear()
    twenty = dataclasses.replace(ten, runs=20)
    runner.run(twenty, tmp_path / "grown", threads=1)
    size = results.runs_per_part(10)
    assert sorted(played) == [(id, run, size) for id in ("pairs", "uniform") for run in range(10, 20, size)]
    played.clear()
    three = dataclasses.replace(twenty, contenders=(THIRD, *twenty.contenders))
    panel = runner.run(three, tmp_path / "grown", threads=1)
    assert sorted(played) == [("third", run, size) for run in range(0, 20, size)]
    played.clear()
    runner.run(three, tmp_path / "grown", threads=1)
    assert not played
    fresh = runner.run(three, tmp_path / "fresh", threads=1)
    assert merged(tmp_path / "grown") == merged(tmp_path / "fresh"), "the same numbers as from scratch, to the last byte"
    assert [line.final.tolist() for line in panel.lines] == [line.final.tolist() for line in fresh.lines]
    assert results.read(tmp_path / "grown" / "small").results[0].runs == 20


def test_a_last_part_that_was_not_full_is_played_again_and_nothing_else(played, tmp_path):
    some = dataclasses.replace(experiments.parse(SMALL, "small.toml"), runs=23)
    runner.run(some, tmp_path, threads=1, block=5)
    played.clear()
    panel = runner.run(dataclasses.replace(some, runs=30), tmp_path, threads=1)
    assert sorted(played) == [(id, first, 5) for id in ("pairs", "uniform") for first in (20, 25)]
    whole = md.simulate("uniform", panel.problem, horizon=100, slate_size=3, runs=30, checkpoints=some.marks())
    assert (panel.lines[0].final == whole.final).all()


LONGER = """
horizon = 3000
runs = 4
slate_size = 3
checkpoints = [100, 1000, 3000]
[problem]
kind = "synthetic"
arms = 6
[[contenders]]
policy = "multi-rucb"
[[contenders]]
policy = "if1"
"""


@pytest.fixture
def pieces(monkeypatch):
    """What is asked of ``simulate``: the contender's policy, its horizon and its checkpoints."""
    asked = []
    real = tasks.simulate

    def simulate(policy, problem, **options):
        if options["horizon"] > 1:  # not the round for the compiler
            asked.append((policy, options["horizon"], *np.asarray(options["checkpoints"]).tolist()))
        return real(policy, problem, **options)

    monkeypatch.setattr(tasks, "simulate", simulate)
    return asked


def same_as_from_scratch(experiment, grown, fresh):
    """All numbers, to the last byte; but for how often who is told its end was asked, which depends on how it was played."""
    one, other = (runner.run(experiment, out, threads=1) for out in (grown, fresh))
    for ours, theirs in zip(one.results, other.results, strict=True):
        assert ours.checkpoints.tolist() == theirs.checkpoints.tolist() and ours.params == theirs.params
        assert all((ours.regrets[kind] == theirs.regrets[kind]).all() for kind in ours.regrets)
        assert (ours.recommended == theirs.recommended).all()
    told = any(experiment.plays_again(contender) for contender in experiment.contenders)
    return told or merged(grown, experiment.name) == merged(fresh, experiment.name)


def test_a_longer_horizon_and_new_checkpoints_play_only_what_is_missing(pieces, tmp_path):
    first = experiments.parse(LONGER, "longer.toml")
    runner.run(first, tmp_path / "grown", threads=1)
    steps = (  # what changes, and what is played for it: of a policy that is told its end a run per new checkpoint
        (dict(checkpoints=(100, 500, 1000, 3000)), {("multi-rucb", 500, 100, 500), ("if1", 3000, 500)}),
        (dict(checkpoints=(100, 3000)), set()),
        (dict(checkpoints=(100, 500, 3000), runs=8), {("multi-rucb", 3000, 100, 500, 3000), ("if1", 3000, 100, 500, 3000)}),
        (
            dict(checkpoints=(100, 1000, 9000), horizon=9000, runs=8),
            {("multi-rucb", 9000, 100, 1000, 9000), ("if1", 9000, 1000, 9000), ("if1", 9000, 9000)},
        ),
        (dict(checkpoints=(100, 1000, 8000), horizon=9000, runs=8), {("multi-rucb", 8000, 100, 1000, 8000), ("if1", 9000, 8000)}),
        (dict(checkpoints=(100, 1000, 9000), horizon=9000, runs=8), {("if1", 9000, 9000)}),  # its last word was of round 8000
        (dict(checkpoints=(100, 1000, 9000), horizon=9000, runs=8), set()),
    )
    for step, (change, expected) in enumerate(steps):
        pieces.clear()
        grown = dataclasses.replace(first, **change)
        runner.run(grown, tmp_path / "grown", threads=1)
        assert set(pieces) == expected, step
        assert same_as_from_scratch(grown, tmp_path / "grown", tmp_path / f"fresh-{step}")
        anytime = dataclasses.replace(grown, contenders=grown.contenders[:1], name="anytime")
        assert same_as_from_scratch(anytime, tmp_path / "anytime", tmp_path / f"fresh-anytime-{step}")


LONG = [name for name, spec in POLICIES.items() if spec.anytime and (spec.blocks or spec.commits != "exact")]


@pytest.mark.parametrize("name", LONG)
def test_a_run_is_the_same_however_long_it_goes_on(name):
    """Policies that commit for as long as they wish: of all others it holds because committing agrees with stepping."""
    options = {"runs": 2, "slate_size": 3, "threads": 1}
    long = md.simulate(name, md.synthetic(5), horizon=2000, checkpoints=[10, 300, 777, 2000], **options)
    for horizon in (777, 776):
        marks = [mark for mark in (10, 300, 777) if mark <= horizon]
        short = md.simulate(name, md.synthetic(5), horizon=horizon, checkpoints=marks, **options)
        assert all((short.regrets[kind] == long.regrets[kind][:, : len(marks)]).all() for kind in short.regrets)


def test_who_is_told_one_end_plays_anew_for_a_later_one(pieces, tmp_path):
    once = dataclasses.replace(experiments.parse(LONGER, "longer.toml"), reset_horizon=False)
    runner.run(once, tmp_path / "grown", threads=1)
    pieces.clear()
    longer = dataclasses.replace(once, horizon=4000)
    runner.run(longer, tmp_path / "grown", threads=1)
    assert pieces.count(("if1", 4000, 100, 1000, 3000)) == longer.runs, "all of its runs"
    assert same_as_from_scratch(longer, tmp_path / "grown", tmp_path / "fresh")


def test_runs_played_again_must_give_what_is_stored(tmp_path, monkeypatch):
    first = experiments.parse(LONGER, "longer.toml")
    runner.run(first, tmp_path, threads=1)
    real = tasks.simulate
    monkeypatch.setattr(tasks, "simulate", lambda *args, **options: real(*args, **{**options, "seed": 1}))
    with pytest.raises(md.BadInput, match="holds other numbers than the same runs, played again"):
        runner.run(dataclasses.replace(first, horizon=4000), tmp_path, threads=1)


def test_what_decides_a_run_may_not_change(tmp_path):
    ten = experiments.parse(SMALL, "small.toml")
    runner.run(ten, tmp_path, threads=1)
    changed = dataclasses.replace(ten.contenders[0], slate_size=2)
    for other, said in (
        (dataclasses.replace(ten, seed=1), "'seed' was 0, now it is 1"),
        (dataclasses.replace(ten, runs=20, horizon=50), "'horizon' was 100, now it is 50"),
        (dataclasses.replace(ten, horizon=200, checkpoints=3, benchmark="borda"), "'benchmark' was condorcet, now it is borda"),
        (dataclasses.replace(ten, contenders=(changed, ten.contenders[1])), "contender 1 was"),
        (dataclasses.replace(ten, contenders=ten.contenders[:1]), "there were 2 contenders, now there are 1"),
    ):
        with pytest.raises(md.BadInput, match=said):
            runner.run(other, tmp_path, threads=1)


def test_the_second_command_says_who_is_at_it(tmp_path):
    ten = experiments.parse(SMALL, "small.toml")
    with occupied(tmp_path / "small"):
        said = rf"small' is at work already: process {os.getpid()} on .*\. Wait for it, or choose another folder"
        with pytest.raises(md.BadInput, match=said):
            runner.run(ten, tmp_path, threads=1)
    runner.run(ten, tmp_path, threads=1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small"]


def test_who_was_killed_keeps_nobody_out(tmp_path):
    code = "import os, sys, pathlib\nfrom multiduel.lab.folder_lock import occupied\n"
    code += "with occupied(pathlib.Path(sys.argv[1])):\n    os.kill(os.getpid(), 9)\n"
    env = {**os.environ, "PYTHONPATH": str(Path(md.__file__).parents[1])}
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path / "small")], env=env).returncode == -9
    assert (tmp_path / ".small.lock").exists()
    with occupied(tmp_path / "small"):
        pass
    assert not (tmp_path / ".small.lock").exists()


def test_a_file_stands_on_another(tmp_path):
    (tmp_path / "base.toml").write_text(SMALL)
    (tmp_path / "own").mkdir()
    above = """
base = "../base.toml"
title = "Others"
runs = 3
[problem]
kind = "cyclic"
arms = 5
[[contenders]]
policy = "rucb"
[[contenders]]
policy = "uniform"
label = "Chance"
"""
    (tmp_path / "own" / "other.toml").write_text(above)
    both = experiments.load(tmp_path / "own" / "other.toml")
    assert (both.name, both.title, both.runs, both.horizon, both.slate_size) == ("other", "Others", 3, 100, 3)
    assert both.problem == {"kind": "cyclic", "arms": 5}
    assert [(c.id, c.label) for c in both.contenders] == [("uniform", "Chance"), ("pairs", "pairs"), ("rucb", "rucb")]
    for text, said in (
        ('base = "other.toml"', "is based on itself"),
        ("base = 3", "'base' must be the name of a file"),
        ('base = "nowhere.toml"', "must be a file that exists"),
    ):
        (tmp_path / "own" / "other.toml").write_text(text)
        with pytest.raises(md.BadInput, match=said):
            experiments.load(tmp_path / "own" / "other.toml")


def test_a_list_where_a_value_stands_is_a_sweep():
    text = (
        SMALL
        + """
[[contenders]]
policy = "multi-rucb"
label = "MultiRUCB"
slate_size = [2, 4]
params = { alpha = [0.6, 1.01] }
"""
    )
    all_of_them = experiments.parse(text, "some.toml").contenders[2:]
    assert [(c.id, c.label, c.slate_size, c.params["alpha"]) for c in all_of_them] == [
        ("multi-rucb-m-2-alpha-0-6", "MultiRUCB, m = 2, alpha = 0.6", 2, 0.6),
        ("multi-rucb-m-2-alpha-1-01", "MultiRUCB, m = 2, alpha = 1.01", 2, 1.01),
        ("multi-rucb-m-4-alpha-0-6", "MultiRUCB, m = 4, alpha = 0.6", 4, 0.6),
        ("multi-rucb-m-4-alpha-1-01", "MultiRUCB, m = 4, alpha = 1.01", 4, 1.01),
    ]
    for wrong, said in (("[]", "Got 0"), ("[0.6, 0.2]", "'alpha' of 'multi-rucb' must be above 0.5. Got 0.2")):
        with pytest.raises(md.BadInput, match=said):
            experiments.parse(text.replace("[0.6, 1.01]", wrong), "some.toml")
