"""The package to copy: installed as anyone would, found by its name, through all checks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "examples" / "policy_package"


def test_the_package_is_the_skeleton_of_the_documents():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    parts = dict(re.findall(r"<!-- skeleton: (\w+) -->\n```python[^\n]*\n(.*?)^```$", text, re.M | re.S))
    assert (PACKAGE / "src" / "duel_epsilon" / "policy.py").read_text() == parts["policy"]
    assert (PACKAGE / "tests" / "naive.py").read_text() == parts["oracle"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder that holds the installed package, and how to run Python with it."""
    folder = tmp_path_factory.mktemp("installed")
    options = [
        "--disable-pip-version-check",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--no-build-isolation",
        "--target",
        str(folder),
    ]
    done = subprocess.run([sys.executable, "-m", "pip", "install", *options, str(PACKAGE)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    env = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT / 'src'}"}

    def run(*command):
        return subprocess.run([sys.executable, *command], capture_output=True, text=True, env=env, cwd=folder)

    return run


def test_it_is_found_by_its_name(installed):
    assert "EpsilonGreedy" in installed("-m", "multiduel", "policies", "epsilon-greedy").stdout
    done = installed("-m", "multiduel", "simulate", "epsilon-greedy", "--arms", "5", "--horizon", "100", "--runs", "1")
    assert done.returncode == 0 and "epsilon-greedy" in done.stdout, done.stderr


def test_its_own_tests_pass(installed):
    done = installed(
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(PACKAGE),
        "-c",
        str(PACKAGE / "pyproject.toml"),
        str(PACKAGE),
    )
    assert done.returncode == 0 and "3 passed" in done.stdout, done.stdout[-3000:]
