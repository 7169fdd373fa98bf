"""CONTRIBUTING.md is true: a policy added by its steps, and by nothing else, passes the tests that look at every policy.

The steps are followed in a copy of the project. A step is followed only if CONTRIBUTING.md names its file, so that a step
that is missing there fails here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NAME, FILE = "greedy-by-steps", "greedy_by_steps"
LOOK_AT_EVERY_POLICY = (
    f"{NAME} or {FILE} or test_suggest or no_two_policies_have_the_same_style or lists_every_policy or is_a_table_with_filters "
    "or has_a_figure or changelog_names or every_registered_policy"
)


def between(text: str, start: str, end: str) -> str:
    return text.partition(start)[2].partition(end)[0]


CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
STEPS = between(CONTRIBUTING, "## Add a policy in six steps", "\n### ")
SKELETON = dict(re.findall(r"<!-- skeleton: (\w+) -->\n```python[^\n]*\n(.*?)^```$", CONTRIBUTING, re.M | re.S))


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text, f"{file.name} has no {old!r}."
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def write_policy(root: Path) -> None:
    text = SKELETON["policy"].replace('"epsilon-greedy"', f'"{NAME}"').replace('"EpsilonGreedy"', '"GreedyBySteps"')
    (root / f"src/multiduel/policies/{FILE}.py").write_text(text.replace('cite="none"', 'cite="nobody2031"'))


def write_oracle(root: Path) -> None:
    (root / f"tests/naive/{FILE}.py").write_text(SKELETON["oracle"])


def add_citation(root: Path) -> None:
    paper = 'Paper("Nora Nobody", "On Steps", "ICML", 2031, _icml("48th"))'
    edit(root / "src/multiduel/policies/citations.py", "PAPERS = {\n", f'PAPERS = {{\n    "nobody2031": {paper},\n')


def add_to_all(root: Path) -> None:
    listing = root / "src/multiduel/policies/__init__.py"
    edit(listing, "    interleaved_filter,\n", f"    {FILE},\n    interleaved_filter,\n")
    edit(listing, "    uniform.SPEC,\n", f"    uniform.SPEC,\n    {FILE}.SPEC,\n")


def draw_figure(root: Path) -> None:
    done = python(root, "docs/scripts/figures.py", f"policy-{NAME}")
    assert done.returncode == 0, done.stderr


def add_to_changelog(root: Path) -> None:
    edit(root / "CHANGELOG.md", "### Added\n\n", f"### Added\n\n- `{NAME}`.\n")


# What CONTRIBUTING.md names, how it is done, the file that it changes, and the test that fails without it.
ACTIONS: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "src/multiduel/policies/<your_name>.py": (write_policy, f"src/multiduel/policies/{FILE}.py", "ImportError"),
    "src/multiduel/policies/citations.py": (add_citation, "src/multiduel/policies/citations.py", f"{NAME}-header"),
    "src/multiduel/policies/__init__.py": (add_to_all, "src/multiduel/policies/__init__.py", ""),
    "tests/naive/<your_name>.py": (write_oracle, f"tests/naive/{FILE}.py", f"{NAME}-naive-oracle"),
    "docs/scripts/figures.py": (draw_figure, "docs/figures/results.json", "test_every_policy_has_a_figure"),
    "CHANGELOG.md": (add_to_changelog, "CHANGELOG.md", "test_changelog_names_every_policy"),
}


def python(root: Path, *command: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}
    return subprocess.run([sys.executable, *command], cwd=root, env=env, capture_output=True, text=True)


def run_tests(root: Path, which: str, *places: str) -> subprocess.CompletedProcess[str]:
    return python(root, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", which, *places)


@pytest.fixture(scope="module")
def followed(tmp_path_factory) -> Path:
    """A copy of the project in which the steps were followed."""
    root = tmp_path_factory.mktemp("followed") / "multiduel"
    leave_out = shutil.ignore_patterns(".*", "__pycache__", "results", "site", "dist", "images")
    shutil.copytree(ROOT, root, ignore=leave_out)
    for named, (follow, _, _) in ACTIONS.items():
        if named in STEPS:
            follow(root)
    return root


def test_policy_added_by_the_steps_passes(followed):
    places = ["checks/test_conformance.py", "policies/test_oracles.py", "test_documents.py", "cli/test_simulate.py"]
    places += ["display/test_line_styles.py"]
    places += [f"engine/{name}.py" for name in ("test_limits", "session/test_snapshots", "registry/test_suggest", "test_face")]
    done = run_tests(followed, LOOK_AT_EVERY_POLICY, *(f"tests/{place}" for place in places), f"src/multiduel/policies/{FILE}.py")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 40


@pytest.mark.parametrize("named", ACTIONS)
def test_step_left_out_is_noticed(followed, named):
    _, file, says = ACTIONS[named]
    changed, original = followed / file, ROOT / file
    kept = changed.read_bytes()
    try:
        changed.unlink()
        if original.exists():
            shutil.copy(original, changed)
        which = f"({NAME} and (header or naive-oracle)) or has_a_figure or changelog_names"
        done = run_tests(followed, which, "tests/checks/test_conformance.py", "tests/test_documents.py")
    finally:
        changed.write_bytes(kept)
    if named == "src/multiduel/policies/__init__.py":  # nothing looks at a policy that is not in the list, and all passes
        assert done.returncode == 0 and "2 passed" in done.stdout
    else:
        assert done.returncode != 0 and re.search(says, done.stdout + done.stderr), done.stdout[-2000:]


def test_every_file_of_the_steps_is_followed_or_read():
    named = set(re.findall(r"`(?:\.venv/bin/python )?([\w./<>-]+\.(?:py|md))\b", STEPS))
    read = {"src/multiduel/policies/multi_rucb.py", "src/multiduel/policies/beat_the_mean.py", "tests/test_contributing.py"}
    optional = {"src/multiduel/display/line_styles.py"}
    assert named - read - optional == set(ACTIONS)
