"""The runner: resuming after kill -9, and the same numbers on any number of threads."""

from __future__ import annotations

import dataclasses
import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import multiduel as md
from multiduel.lab import results, runner
from multiduel.lab.experiment import load, parse
from multiduel.lab.parts import Block
from multiduel.lab.task import task
from multiduel.lab.threads import Queue

SRC = Path(md.__file__).resolve().parents[1]
SLOW = """
horizon = 300_000
runs = 10
slate_size = 4
checkpoints = 8
[problem]
kind = "synthetic"
arms = 16
[[contenders]]
policy = "uniform"
[[contenders]]
policy = "multi-rucb"
runs = 3
[[contenders]]
policy = "if1"
runs = 3
"""
PARTS = 10 + 3 + 3


def merged(out: Path) -> bytes:
    return (out / "slow" / "results.parquet").read_bytes()


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """An uninterrupted run on one thread."""
    out = tmp_path_factory.mktemp("reference")
    runner.run(parse(SLOW, "slow.toml"), out, threads=1)
    return out


def test_two_threads_give_the_same_file(reference, tmp_path):
    runner.run(parse(SLOW, "slow.toml"), tmp_path, threads=2)
    assert merged(tmp_path) == merged(reference)


def test_blocks_of_another_size_give_the_same_file(reference, tmp_path):
    runner.run(parse(SLOW, "slow.toml"), tmp_path, block=4)
    assert len(os.listdir(tmp_path / "slow" / "parts")) == 3 + 1 + 1
    assert merged(tmp_path) == merged(reference)


def test_killed_in_the_middle_and_run_again(reference, tmp_path):
    (tmp_path / "slow.toml").write_text(SLOW)
    command = [sys.executable, "-m", "multiduel", "run", str(tmp_path / "slow.toml")]
    command += ["--out", str(tmp_path), "--threads", "1"]
    parts = tmp_path / "slow" / "parts"
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(SRC)}, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 120
        while not (parts.is_dir() and len(list(parts.glob("*.parquet"))) >= 4):
            assert process.poll() is None and time.monotonic() < deadline, process.stderr.read()
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
    left = {path: path.stat().st_mtime_ns for path in parts.glob("*.parquet")}
    assert 4 <= len(left) < PARTS, "it must be killed in the middle"
    assert not (tmp_path / "slow" / "results.parquet").exists()

    runner.run(load(tmp_path / "slow.toml"), tmp_path)
    assert {path: path.stat().st_mtime_ns for path in left} == left  # finished parts are not redone
    assert len(list(parts.glob("*.parquet"))) == PARTS
    # Timings stand in the parts' metadata only, so the merged table has no column to leave out: same bytes.
    again, before = (pq.read_table(out / "slow" / "results.parquet") for out in (tmp_path, reference))
    assert again.equals(before)
    assert merged(tmp_path) == merged(reference)


def test_an_exception_stops_the_other_threads_and_keeps_parts(tmp_path, no_thread_stays):
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runner.run(parse(SLOW, "slow.toml"), tmp_path, threads=2, progress=stop)
    assert len(list((tmp_path / "slow" / "parts").glob("*.parquet"))) < PARTS


def test_progress_counts_rounds(tmp_path):
    seen = []
    experiment = parse(SLOW.replace("300_000", "3000"), "slow.toml")
    runner.run(experiment, tmp_path, progress=lambda done, total: seen.append((done, total)))
    total = 13 * 3000 + 3 * int(experiment.marks().sum())  # 'if1' plays one run per checkpoint
    assert seen[-1] == (total, total)
    assert all(a[0] <= b[0] for a, b in itertools.pairwise(seen))


def test_policies_that_must_know_the_horizon_are_told_each_checkpoint(tmp_path):
    experiment = parse(SLOW.replace("300_000", "3000"), "slow.toml")
    panel = runner.run(experiment, tmp_path)
    regret = panel.line("if1").result.regret
    assert [result.slate_size for result in panel.results] == [4, 4, 2]  # two-dueling policies compare two
    mark = int(experiment.marks()[-3])
    ends_there = md.simulate("if1", md.synthetic(16), horizon=mark, runs=3, checkpoints=[mark])
    assert (regret[:, -3] == ends_there.regret[:, 0]).all()


def test_first_run_continues_the_numbering():
    options = {"problem": md.synthetic(16), "horizon": 500, "checkpoints": [500], "slate_size": 4}
    all_runs, last = md.simulate("uniform", runs=5, **options), md.simulate("uniform", runs=2, first_run=3, **options)
    assert (all_runs.regret[3:] == last.regret).all() and not (all_runs.regret[:2] == last.regret).all()
    with pytest.raises(md.BadInput, match="'first_run' of 'simulate'"):
        md.simulate("uniform", first_run=-1, **options)


def test_refused_before_anything_is_written(tmp_path):
    text = SLOW.replace('"synthetic"', '"tournament"\ncondorcet = false')
    with pytest.raises(md.BadInput, match="Gaps need a Condorcet winner"):
        runner.run(parse(text, "slow.toml"), tmp_path)
    with pytest.raises(md.BadInput, match="'threads' of 'run'"):
        runner.run(parse(SLOW, "slow.toml"), tmp_path, threads=0)
    assert not list(tmp_path.iterdir())


def test_features_of_the_arms_come_from_the_file(tmp_path):
    text = """
horizon = 60
runs = 2
checkpoints = 3
slate_size = 3
[problem]
kind = "synthetic"
arms = 4
[[contenders]]
policy = "kernel-self-sparring"
features = [[0], [0.1], [0.5], [2]]
[[contenders]]
policy = "kernel-self-sparring"
id = "without"
"""
    panel = runner.run(parse(text, "features.toml"), tmp_path, threads=1)
    options = {"horizon": 60, "runs": 2, "slate_size": 3, "checkpoints": panel.results[0].checkpoints}
    by_hand = md.simulate("kernel-self-sparring", md.synthetic(4), features=[[0], [0.1], [0.5], [2]], **options)
    assert (panel.results[0].regret == by_hand.regret).all() and panel.results[0].params == by_hand.params
    assert (panel.results[0].regret != panel.results[1].regret).any()
    runner.run(parse(text, "features.toml"), tmp_path)  # the same experiment still
    with pytest.raises(md.BadInput, match="'features' of 'kernel-self-sparring' must be a table with 5 rows"):
        runner.run(parse(text.replace("arms = 4", "arms = 5"), "other.toml"), tmp_path)
    assert not (tmp_path / "other").exists()


KNOWN = """
name = "fewer"
horizon = 300_000
runs = 2
slate_size = 4
checkpoints = [300_000]
[problem]
kind = "synthetic"
arms = 16
[[contenders]]
policy = "multi-rucb"
id = "default"
params = { alpha = 0.51 }
[[contenders]]
policy = "multi-rucb"
id = "another"
params = { alpha = 0.7 }
[[contenders]]
policy = "if1"
"""


def test_runs_that_another_experiment_played_are_taken_from_there(reference, tmp_path, monkeypatch):
    """With the same parameters in other words, at fewer checkpoints, for fewer runs; not who was told another end."""
    experiment = parse(KNOWN, "fewer.toml")
    runner.run(experiment, tmp_path / "alone")
    played = []
    monkeypatch.setattr(runner, "task", lambda *args: played.append(args[2].contender) or task(*args))
    runner.run(experiment, tmp_path / "taken", known=[results.read(reference / "slow")])
    assert set(played) == {"another", "if1"}
    alone, taken = (tmp_path / how / "fewer" / "results.parquet" for how in ("alone", "taken"))
    assert alone.read_bytes() == taken.read_bytes()
    played.clear()
    runner.run(dataclasses.replace(experiment, seed=1), tmp_path / "seed", known=[results.read(reference / "slow")])
    assert set(played) == {"default", "another", "if1"}


def test_the_dearest_blocks_are_played_first_once_each_contender_has_begun():
    """So that no core ends with a long block while the others have nothing to do."""
    experiment = parse(SLOW, "slow.toml")
    blocks = [Block(id, first, 1) for first in range(3) for id in ("uniform", "multi-rucb", "if1")]
    queue = Queue([task(experiment, md.synthetic(16), block) for block in blocks], 2)
    seconds = {"uniform": 1.0, "multi-rucb": 3.0, "if1": 2.0}
    order = []
    while queue.waiting:
        order.append(queue.take())
        queue.took(order[-1], seconds[order[-1].block.contender])
    names = [each.block.contender for each in order]
    assert names == ["uniform", "multi-rucb", "if1", *["multi-rucb"] * 2, *["if1"] * 2, *["uniform"] * 2]
    assert sorted(each.block.first_run for each in order) == [0, 0, 0, 1, 1, 1, 2, 2, 2]
