"""Mistakes in a policy of one's own: a sentence with file and line, never pages of the compiler, never a crash of memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import multiduel as md
from multiduel.engine.registry import registry
from multiduel.kernels.compiler.dispatch import JIT
from multiduel.kernels.compiler.explain import FULL
from tests.engine.own_policy import TEXT

LINE = "slate[1] = (round + 1) % K"
AT = TEXT.splitlines().index(f"    {LINE}") + 1
SRC = Path(md.__file__).parents[1]

pytestmark = pytest.mark.skipif(not JIT, reason="mistakes that only the compiler notices")


@pytest.fixture(autouse=True)
def forgotten():
    path = list(sys.path)
    yield
    sys.path[:] = path
    registry.POLICIES.pop("round-robin", None)


def own(folder, old="", new="", *, card=""):
    file = folder / "own.py"
    file.write_text(TEXT.replace(old, new).replace('    slate="two",', f'    slate="two",\n{card}'))
    return file


def play(file, **options):
    return md.simulate(f"{file}:SPEC", md.synthetic(5), horizon=20, runs=1, threads=1, **options)


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ("slate[1] = (rond + 1) % K", "name 'rond' is not defined. Did you mean 'round'?"),
        ("slate[1] = int(state.W[0.5 * round, 0])", "an index must be a whole number, and one of these is a float64"),
        ("x = np.zeros(K)\n    slate[1] = int(x[0])", "this makes a new array"),
        ("x = state.W + 1.0\n    slate[1] = int(x[0, 0])", "this makes a new array"),
        ("slate[1] = state.X[0]", "State has no 'X'"),
        ("slate[1] = helper(K)", "'helper' is plain Python, which compiled code cannot call. Put @kernel above it"),
        ("slate[1] = np.random.default_rng(3).integers(K)", "randomness comes from 'rng'"),
    ],
)
def test_the_compiler_is_translated(tmp_path, new, said):
    file = own(tmp_path, LINE, new)
    file.write_text(file.read_text() + "\n\ndef helper(K):\n    return 1\n")
    with pytest.raises(md.BadInput) as refused:
        play(file)
    text = str(refused.value)
    assert text.startswith(f"'{file}', line {AT}: {said}") and "\n" not in text, text


def test_all_that_the_compiler_said_on_request(tmp_path, monkeypatch):
    monkeypatch.setenv(FULL, "1")
    with pytest.raises(
        md.BadInput, match=r"(?s)name 'rond' is not defined\. Did you mean 'round'\?\n\nFailed in nopython.*play\.py"
    ):
        play(own(tmp_path, LINE, "slate[1] = (rond + 1) % K"))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (LINE, "slate[1] = K", r"must show arms from 0 to 4. It showed \[1, 5\] in round 1"),
        (LINE, "slate[1] = -1", r"must show arms from 0 to 4. It showed \[1, -1\] in round 1"),
        (LINE, "slate[1] = slate[0]", r"must show distinct arms. It showed \[1, 1\] in round 1"),
        ("return 2, 1", "return 3, 1", "must show 1 to 2 arms. It returned 3 in round 1"),
        ("return 2, 1", "return 2, 0", "must commit to 1 to 'limit' rounds, here 20. It returned 0"),
        (LINE, f"{LINE}\n    slate[10 ** 9] = 1", "an index of an array is out of range. With 'plain=True'"),
        ("return most_winning(state.W)", "return 17", "must name an arm from 0 to 4. It returned 17"),
    ],
)
def test_slates_and_bets_are_looked_at_in_the_loop_and_by_ask(tmp_path, old, new, said):
    file = own(tmp_path, old, new)
    with pytest.raises(md.BadInput, match=said):
        play(file)
    policy = md.make(f"{file}:SPEC", n_arms=5, seed=0)
    inside = said.replace("here 20", "here 1")
    if "must commit" in said:
        policy.ask()  # one ask commits to nothing
        return
    with pytest.raises(md.BadInput, match=inside):
        policy.ask()
        policy.recommend()


def test_who_is_trusted_is_played_the_same(tmp_path):
    watched = play(own(tmp_path), checkpoints=range(1, 21))
    (tmp_path / "other").mkdir()
    registry.POLICIES.pop("round-robin")
    trusted = play(own(tmp_path / "other", card="    trusted=True,\n"), checkpoints=range(1, 21))
    assert registry.find("round-robin").trusted and not registry.find("round-robin").watched
    assert (trusted.regret == watched.regret).all()


def test_plain_python_for_the_first_hour(tmp_path):
    compiled = play(own(tmp_path), checkpoints=range(1, 21))
    registry.POLICIES.pop("round-robin")
    (tmp_path / "plain").mkdir()
    lists = own(
        tmp_path / "plain", LINE, "x = [i for i in range(K)]\n    slate[1] = x[(round + 1) % K]", card="    plain=True,\n"
    )
    assert (play(lists, checkpoints=range(1, 21)).regret == compiled.regret).all()
    policy = md.make("round-robin", n_arms=4, seed=1)
    slate = policy.ask()
    policy.tell(slate, md.best(slate.arms[0]))
    again = md.restore(policy.snapshot())
    assert again.ask() == policy.ask()


def test_a_plain_policys_error_has_its_line_and_its_cause(tmp_path):
    file = own(tmp_path, LINE, "x = {}\n    slate[1] = x['no']", card="    plain=True,\n")
    with pytest.raises(md.BadInput, match=rf"'round-robin' failed: KeyError: 'no' \('{file}', line {AT + 1}\)\.") as refused:
        play(file)
    assert isinstance(refused.value.__cause__, KeyError)


def test_a_plain_state_may_be_anything_but_is_then_not_saved(tmp_path):
    file = own(
        tmp_path, "return State(np.zeros((n_arms, n_arms)))", "return State([[0.0] * n_arms] * n_arms)", card="    plain=True,\n"
    )
    text = file.read_text().replace("state.W.shape[0]", "len(state.W)").replace("most_winning(state.W)", "0")
    file.write_text(text.replace("state.W[slate[a], slate[b]]", "state.W[slate[a]][slate[b]]"))
    policy = md.make(f"{file}:SPEC", n_arms=4, seed=1)
    policy.tell(policy.ask(), np.array([[0.0, 1.0], [0.0, 0.0]]))
    with pytest.raises(md.BadInput, match="its State must be a NamedTuple of arrays"):
        policy.snapshot()


def test_a_state_with_a_number_that_is_no_array_is_not_saved_either(tmp_path):
    file = own(tmp_path, "W: np.ndarray", "W: np.ndarray\n    n: int")
    file.write_text(file.read_text().replace("return State(np.zeros((n_arms, n_arms)))", "return State(np.eye(n_arms), n_arms)"))
    policy = md.make(f"{file}:SPEC", n_arms=4, seed=1)
    with pytest.raises(md.BadInput, match="'round-robin' cannot be saved: its State must be a NamedTuple of arrays"):
        policy.snapshot()


def test_slates_of_three_and_of_one_are_slates_where_the_card_says_any(tmp_path):
    file = own(tmp_path, LINE, f"{LINE}\n    slate[2] = (round + 2) % K", card="    plain=True,\n")
    text = file.read_text().replace('slate="two"', 'slate="any"')
    file.write_text(text.replace("return 2, 1", "return (3 if round % 2 else 1), 1"))
    policy = md.make(f"{file}:SPEC", n_arms=5, seed=0)
    assert [len(policy.ask().arms) for _ in range(4)] == [3, 1, 3, 1]
    again = md.restore(policy.snapshot())
    assert again.open == policy.open and len(again.open) == 2


PARENT = """
import os, subprocess, sys, time
env = {**os.environ, "MULTIDUEL_CHECKED_BY": str(os.getpid()), "NUMBA_DISABLE_JIT": "1"}
child = subprocess.Popen([sys.executable, "-m", "multiduel.checks.plain"], stdin=open(sys.argv[1]), stdout=-3, env=env)
print(child.pid, flush=True)
time.sleep(600)
"""


def test_a_checking_process_dies_with_its_parent(tmp_path):
    one = {"name": "kernel-self-sparring", "words": {}, "policy": "", "machines": []}
    (tmp_path / "work.json").write_text(json.dumps([{**one, "key": str(k)} for k in range(200)]))  # for many minutes
    env = {**os.environ, "PYTHONPATH": str(SRC)}
    command = [sys.executable, "-c", PARENT, str(tmp_path / "work.json")]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    child = int(parent.stdout.readline())
    assert alive(child)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    patience = time.monotonic() + 300.0  # a busy machine loads it slowly
    while alive(child):
        assert time.monotonic() < patience, "still checking"
        time.sleep(0.2)


def alive(process: int) -> bool:
    """A process that has ended and that nobody asks about is none."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def test_a_file_that_checks_itself_without_a_guard_does_not_start_processes_without_end(tmp_path):
    file = own(tmp_path)
    file.write_text(file.read_text() + "\n\nfrom multiduel import checks\n\nprint(checks.run('slates-valid', SPEC))\n")
    env = {**os.environ, "PYTHONPATH": str(SRC)}
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, env=env, timeout=600)
    assert done.stdout == "passed    slates-valid\n", done
