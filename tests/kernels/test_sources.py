"""The one code hash: what it sees, and what it must not see."""

import importlib
import os
import sys
import time
from pathlib import Path

import pytest

import multiduel
from multiduel.engine.simulation import runs
from multiduel.kernels.compiler import sources
from multiduel.kernels.compiler.sources import code_hash, files_behind

PACKAGE = Path(multiduel.__file__).parent
RUNS = runs.__name__


def behind(*modules):
    return {path.relative_to(PACKAGE).as_posix() for path in files_behind(*modules)}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder of a user's modules; ``write`` makes one, ``load`` imports it."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (time.time() - 3600,) * 2)  # older than this process: not an edit
        return path

    def load(name):
        importlib.invalidate_caches()
        return importlib.import_module(name).__name__

    write.load = load
    write.folder = tmp_path
    yield write
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_the_files_behind_a_run_are_those_that_decide_its_numbers():
    files = behind(RUNS, "multiduel.policies.rmed.rmed")
    assert {
        "engine/simulation/runs.py",
        "engine/simulation/play.py",
        "engine/simulation/seeds.py",
        "kernels/random.py",
        "kernels/compiler/dispatch.py",
    } <= files
    assert {"policies/rmed/rmed.py", "policies/rmed/forced_draws.py", "policies/rmed/divergence.py"} <= files
    assert not files & {
        "engine/registry/suggest.py",
        "engine/simulation/simulate.py",
        "engine/registry/registry.py",
        "policies/mdb.py",
        "__init__.py",
    }


def test_a_helper_of_a_users_policy_counts(project):
    helper = project("helper.py", "FACTOR = 1\n")
    project("policy.py", "import numpy\nfrom helper import FACTOR\n")
    name = project.load("policy")
    before = code_hash(name)
    assert code_hash(name) == before
    project("helper.py", "FACTOR = 2\n")
    assert code_hash(name) != before
    assert helper.resolve() in files_behind(name)


def test_libraries_are_left_out_wherever_they_lie(project):
    """An overlay folder, as of pip install --target: beside the library lies its .dist-info, in it a file that is no text."""
    project("wheel/__init__.py", "from wheel import compiled\n")
    project("wheel/compiled.py", "X = 1\n")
    (project.folder / "wheel-1.0.dist-info").mkdir()
    project("policy.py", "import numba, numpy, json, wheel\n")
    name = project.load("policy")
    assert [path.name for path in files_behind(name)] == ["policy.py"]
    sys.modules["wheel.compiled"].__file__ = str(project.folder / "wheel" / "compiled.so")
    installed = project.load("wheel")  # a policy that was itself installed: its own package counts, its .so does not
    assert {path.name for path in files_behind(installed)} == {"__init__.py"}


def test_an_edit_after_loading_makes_the_hash_private_and_a_future_date_does_not(project, monkeypatch):
    path = project("policy.py", "X = 1\n")
    name = project.load("policy")
    settled = code_hash(name)
    os.utime(path, (time.time() + 86400,) * 2)
    assert code_hash(name) == settled  # a clock that was wrong: nothing was edited
    monkeypatch.setattr(sources, "LOADED", time.time() - 60)
    os.utime(path, (time.time() - 1,) * 2)
    assert code_hash(name) != settled and code_hash(name) != code_hash(name)
