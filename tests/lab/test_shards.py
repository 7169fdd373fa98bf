"""Shards: several commands play one experiment into one folder, and the last merges."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import multiduel as md
from multiduel.cli import app
from multiduel.inputs import BadInput
from multiduel.lab import runner, sweeps
from multiduel.lab.experiment import parse, parse_all
from multiduel.lab.parts import Block
from multiduel.lab.shards import Shard, parse_shard

SMALL = """
horizon = 400
runs = 12
slate_size = 3
checkpoints = 4
[problem]
kind = "synthetic"
arms = 6
[[contenders]]
policy = "uniform"
[[contenders]]
policy = "borda"
runs = 5
"""


def merged(out: Path) -> Path:
    return out / "small" / "results.parquet"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Played by one command."""
    out = tmp_path_factory.mktemp("whole")
    runner.run(parse(SMALL, "small.toml"), out, threads=1)
    return merged(out).read_bytes()


@pytest.mark.parametrize("count", [1, 2, 3, 7, 50])
def test_shares_hold_every_block_once_and_some_of_each_contender(count):
    blocks = [Block(id, first, 1) for first in range(20) for id in ("a", "b", "c")]
    shares = [Shard(number, count).share(blocks) for number in range(1, count + 1)]
    assert sorted(map(str, itertools.chain(*shares))) == sorted(map(str, blocks))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
    if count <= 7:
        assert all({block.contender for block in share} == {"a", "b", "c"} for share in shares)


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 1, 2)])
def test_last_shard_merges_to_the_same_file(whole, tmp_path, order):
    experiment = parse(SMALL, "small.toml")
    for number in order[:-1]:
        assert runner.run_shard(experiment, tmp_path, Shard(number, 3), threads=1) is None
        assert not merged(tmp_path).exists()
    panel = runner.run_shard(experiment, tmp_path, Shard(order[-1], 3), threads=1)
    assert panel is not None and [result.runs for result in panel.results] == [12, 5]
    assert merged(tmp_path).read_bytes() == whole


def test_more_shards_than_blocks_and_a_shard_played_twice(whole, tmp_path):
    experiment = parse(SMALL, "small.toml")
    for number in range(1, 31):
        runner.run_shard(experiment, tmp_path, Shard(number, 30), threads=1)
    assert merged(tmp_path).read_bytes() == whole
    assert runner.run_shard(experiment, tmp_path, Shard(1, 30), threads=1) is not None


def test_shards_at_the_same_time_in_one_folder(whole, tmp_path):
    """Four processes begin together; nobody is refused, and the folder ends whole."""
    (tmp_path / "small.toml").write_text(SMALL)
    env = {**os.environ, "PYTHONPATH": str(Path(md.__file__).resolve().parents[1])}
    command = [sys.executable, "-m", "multiduel", "run", "small.toml", "--out", "out", "--threads", "1"]
    begun = [
        subprocess.Popen([*command, "--shard", f"{k}/4"], cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for k in range(1, 5)
    ]
    said = [process.communicate(timeout=300)[0].decode() for process in begun]
    assert [process.returncode for process in begun] == [0] * 4, said
    assert merged(tmp_path / "out").read_bytes() == whole
    assert any("Wrote" in each for each in said)
    assert (tmp_path / "out" / "small" / "summary.md").exists()


def test_sweep_is_merged_when_every_experiment_is_whole(tmp_path):
    sweep = parse_all(SMALL.replace("slate_size = 3", "slate_size = [2, 3]"), "both.toml")
    assert len(sweep.experiments) == 2
    assert sweeps.run(sweep, tmp_path / "out", threads=1, shard=Shard(1, 2)) == []
    assert not sweeps.is_here(tmp_path / "out" / "both")
    assert len(sweeps.run(sweep, tmp_path / "out", threads=1, shard=Shard(2, 2))) == 2
    assert sweeps.is_here(tmp_path / "out" / "both")


@pytest.mark.parametrize("text", ["", "3", "0/4", "5/4", "1/0", "-1/4", "a/b", "1/4/2", "1 / 4", "1/999999", "9999999/4", "١/٢"])
def test_shards_that_are_none_are_refused(text, tmp_path):
    with pytest.raises(BadInput, match="shard"):
        parse_shard(text)


def test_command_refuses_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(SMALL)
    for options in (["--shard", "9/4"], ["--shard", "1/4", "--cluster", "local"]):
        done = CliRunner().invoke(app, ["run", "small.toml", *options])
        assert done.exit_code != 0
        assert "--shard" in done.output
    assert sorted(os.listdir()) == ["small.toml"]
