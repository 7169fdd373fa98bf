"""The project as a whole: light to import, true to its documents, open to policies from outside."""

from __future__ import annotations

import doctest
import importlib
import inspect
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import multiduel as md
from multiduel import checks
from multiduel.engine.registry.registry import POLICIES
from tests.conftest import SLOW
from tests.naive.stream import NaiveStream
from tools import release

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ("numba", "scipy", "matplotlib", "pyarrow", "sklearn", "dask", "fastapi")


@pytest.fixture(scope="module")
def pyproject():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "code",
    ["import multiduel", "from multiduel.cli import app; app(['--help'], standalone_mode=False)"],
    ids=["import", "help"],
)
def test_light_to_start(code):
    code += f"; import sys; print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stderr.strip() == "[]"


def test_commands_let_numpy_use_one_thread_unless_told_otherwise():
    code = "import sys, os, multiduel.cli; print('numpy' in sys.modules, os.environ['OPENBLAS_NUM_THREADS'])"
    plain = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    for given, wanted in (({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")):
        env = {**plain, **given, "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
        assert done.stdout.split() == ["False", wanted], "set before NumPy reads it"


def test_every_public_name_resolves():
    assert set(md.__all__) == {"__version__", *md._HOME, *md._MODULES}
    for name in md.__all__:
        assert getattr(md, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        md.nothing  # noqa: B018


FACES = tuple(f"multiduel{room}" for room in ("", ".authoring", ".theory", ".inference", ".problems", ".rankers", ".checks"))


def public_names():
    for face in FACES:
        module = importlib.import_module(face)
        for name in module.__all__:
            value = getattr(module, name)
            if (callable(value) and getattr(value, "__module__", "").startswith("multiduel")) or inspect.ismodule(value):
                yield f"{face}.{name}", value  # not what is a number, a table, or a name of NumPy's types
    for name in ("Client", "Service", "connect"):  # commands and answers are in the arena's own example
        yield f"multiduel.arena.{name}", getattr(importlib.import_module("multiduel.arena"), name)
    for face in (*FACES, "multiduel.arena"):
        yield face, importlib.import_module(face)


def test_every_public_name_has_an_example_and_the_suite_runs_it():
    """The doctests of src are part of the suite; those that pytest would not find there are failures here."""
    named = dict(public_names())
    assert len(named) > 130
    lacking = [name for name, value in named.items() if ">>>" not in (value.__doc__ or "")]
    assert not lacking, lacking
    finder, found = doctest.DocTestFinder(exclude_empty=True), {}
    for name, value in named.items():
        home = value if inspect.ismodule(value) else sys.modules[value.__module__]
        if home not in found:
            found[home] = {test.name for test in finder.find(home) if test.examples}
        wanted = home.__name__ if value is home else f"{home.__name__}.{value.__name__}"
        assert wanted in found[home], f"{name}: no runner of doctests finds its example"


def test_slow_tests_are_where_the_list_says():
    for place in SLOW:
        file, _, test = place.partition("::")
        assert (ROOT / file).exists(), place
        assert not test or f"def {test}(" in (ROOT / file).read_text(), place


def test_the_core_needs_six_libraries(pyproject):
    names = {re.match(r"[a-z-]+", need)[0] for need in pyproject["project"]["dependencies"]}
    assert names == {"numpy", "numba", "scipy", "typer", "rich", "msgspec"}


def test_the_citation_and_the_templates_are_there():
    citation = text("CITATION.cff")
    assert re.search(rf"^version: {re.escape(md.__version__)}$", citation, re.M) and "license: MIT" in citation
    assert "## Report" in text("SECURITY.md") and list((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def test_metadata_name_the_pythons(pyproject):
    project = pyproject["project"]
    named = [entry.rpartition(" ")[2] for entry in project["classifiers"] if re.search(r":: 3\.\d+$", entry)]
    assert project["requires-python"] == ">=3.11" and named == ["3.11", "3.12", "3.13", "3.14"]
    assert project["license-files"] == ["LICENSE"] and project["urls"] and project["readme"] == "README.md"


def test_a_release_follows_the_readme_and_invents_no_address(pyproject, capsys):
    assert [len(blocks) for blocks in release.minutes().values()] == [2, 1, 1, 1, 1]
    release.warn_of_links()
    named = {"Source", "Documentation"} & set(pyproject["project"]["urls"])
    assert bool(named) != ("name 'Source' in pyproject's urls" in capsys.readouterr().out)


def test_constraints_pin_what_the_extras_name(pyproject):
    lines = [line for line in text("constraints.txt").splitlines() if line and not line.startswith("#")]
    pinned = {line.partition("==")[0] for line in lines}
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", line) for line in lines)
    extras = pyproject["project"]["optional-dependencies"]
    needed = [
        *pyproject["project"]["dependencies"],
        *(need for extra in ("lab", "docs", "release", "dev") for need in extras[extra]),
    ]
    assert {re.match(r"[a-z-]+", need)[0] for need in needed} - {"multiduel"} <= pinned


def skeleton(part: str) -> str:
    """The policy, or its oracle, that CONTRIBUTING.md begins with."""
    parts = dict(re.findall(r"<!-- skeleton: (\w+) -->\n```python[^\n]*\n(.*?)^```$", text("CONTRIBUTING.md"), re.M | re.S))
    return parts[part]


def test_the_skeleton_in_contributing_is_a_policy(tmp_path, monkeypatch):
    (tmp_path / "epsilon_greedy.py").write_text(skeleton("policy"))
    (tmp_path / "naive_epsilon_greedy.py").write_text(skeleton("oracle"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{ROOT / 'src'}")
    policy, naive = (importlib.import_module(name) for name in ("epsilon_greedy", "naive_epsilon_greedy"))
    md.register(policy.SPEC)
    try:
        result = md.simulate("epsilon-greedy", md.synthetic(6), slate_size=3, horizon=100, runs=2)
        assert (result.final > 0).all()

        def oracle(n_arms, slate_size, words, **params):
            return naive.Naive(n_arms, slate_size, NaiveStream(words), **params)

        some = ("slates-valid", "outcomes-matter", "naive-oracle", "snapshot", "late-tells", "observing", "small-sizes")
        report = checks.check("epsilon-greedy", oracle=oracle, only=some)
        assert report.ok, str(report)
    finally:
        del POLICIES["epsilon-greedy"]
        del sys.modules["epsilon_greedy"], sys.modules["naive_epsilon_greedy"]


@pytest.mark.parametrize("name", ["ask_and_tell", "simulate_and_plot"])
def test_examples_run(name, tmp_path):
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, str(ROOT / "examples" / f"{name}.py"), str(tmp_path / "regret.png")]
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert ("use 'step by step'" in done.stdout) if name == "ask_and_tell" else (tmp_path / "regret.png").exists()
