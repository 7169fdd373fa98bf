"""Compiling ahead in another process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import multiduel as md
from multiduel.lab import compile_ahead
from multiduel.lab.experiment import parse

TWO = """
horizon = 100
[problem]
kind = "synthetic"
arms = 5
[[contenders]]
policy = "multi-sbm"
[[contenders]]
policy = "uniform"
[[contenders]]
policy = "multi-sbm"
id = "other-machine"
params = { machine = "thompson" }
[[contenders]]
policy = "multi-sbm"
id = "other-alpha"
params = { alpha = 1.0 }
"""


def test_each_policy_with_its_machine_is_compiled_once_and_found_on_disk(tmp_path):
    kinds = compile_ahead.kinds([parse(TWO, "two.toml")])
    assert kinds == [("multi-sbm", {}), ("uniform", {}), ("multi-sbm", {"machine": "thompson"})]
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(Path(md.__file__).parents[1])}
    subprocess.run([sys.executable, "-m", compile_ahead.__name__, json.dumps([("uniform", {})])], env=env, check=True)
    assert any("play_uniform" in path.name for path in tmp_path.rglob("*.nbi"))


def test_the_helper_ends_with_what_it_helps(monkeypatch):
    started = []
    real = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *args, **options: started.append(real(*args, **options)) or started[-1])
    with compile_ahead.compiling([parse(TWO, "two.toml")], cores=1):
        assert not started
    with compile_ahead.compiling([parse(TWO, "two.toml")], cores=2):
        assert started[0].poll() is None
    assert started[0].poll() is not None
