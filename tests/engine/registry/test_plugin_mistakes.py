"""Mistakes that can be seen without running a plug-in policy: a sentence with file and line, with the compiler and without."""

from __future__ import annotations

import inspect
import re
import time
from pathlib import Path

import pytest

import multiduel as md
from multiduel import authoring
from multiduel.engine.registry import registry
from multiduel.engine.registry.plugin_mistakes import helpers
from multiduel.kernels.compiler.explain import FULL, explained

ROOT = Path(__file__).parents[3]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SKELETON = re.search(r"<!-- skeleton: policy -->\n```python[^\n]*\n(.*?)^```$", CONTRIBUTING, re.M | re.S)[1]
TWO = "'ask' must return two numbers: how many arms, and for how many rounds, such as 'return 2, 1'."
FLOATS = "values, rng). 'values' must be an array of floats."


@pytest.fixture(autouse=True)
def forgotten():
    yield
    registry.POLICIES.pop("epsilon-greedy", None)


def own(folder, old, new):
    assert old in SKELETON
    file = folder / "own.py"
    file.write_text(SKELETON.replace(old, new))
    return file


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("return most_winning(state.W)", "most_winning(state.W)", "'recommend' must return an arm. It returns nothing."),
        ("return most_winning(state.W)", "return", "'recommend' must return an arm. It returns nothing."),
        ("return most_winning(state.W)", "return None", "'recommend' must return an arm. It returns nothing."),
        ("    return 1, 1", "    return 1", TWO),
        ("    return 1, 1", "    return state.seen[0]", TWO),
        ("    return 1, 1", "    return 1, 1, 1", TWO),
        ("    return 1, 1", "    return", TWO),
        ("won = 0.0", "won = sum(W[i, j] for j in range(2))", "a generator expression cannot be compiled. Write a loop."),
        ("slate[0] = argmax(state.s, rng)", "slate[0] = 2.7", "a slate holds arms, which are whole numbers. Got 2.7."),
        ("uniform(rng)", "np.random.random()", "randomness comes from 'rng', not from NumPy: uniform(rng), below(n, rng)."),
        ("argmax(state.s, rng)", "argmax(rng, state.s)", "the arguments of 'argmax' are argmax(values, rng), in this order."),
        ("uniform(rng)", "beta(1.0, rng, 2.0)", "the arguments of 'beta' are beta(a, b, rng), in this order."),
    ],
)
def test_a_mistake_is_refused_with_file_and_line(tmp_path, old, new, words):
    file = own(tmp_path, old, new)
    line = next(k for k, text in enumerate(file.read_text().splitlines(), 1) if text != (SKELETON.splitlines() + [""] * 9)[k - 1])
    with pytest.raises(md.BadInput) as refused:
        md.make(f"{file}:SPEC", n_arms=4)
    at = line - 1 if new == "most_winning(state.W)" else line  # a function without a return: where it begins
    assert str(refused.value) == f"'{file}', line {at}: {words}"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return np.zeros", "return np.zeros"),
        ("    return 1, 1", "    pair = (1, 1)\n    return pair"),
        ("pool = state.pool", "pool = state.pool  # np.random in a comment"),
        ('"seen": validity.flags(state.seen)', '"seen": [validity.flags(x) for x in (state.seen,)][0]'),
    ],
)
def test_what_is_right_is_not_refused(tmp_path, old, new):
    file = own(tmp_path, old, new) if old in SKELETON else own(tmp_path, "K arms", "K arms")
    assert md.make(f"{file}:SPEC", n_arms=4).ask().round == 1


def test_a_file_that_was_mended_is_taken(tmp_path):
    file = own(tmp_path, "argmax(state.s, rng)", "argmax(rng, state.s)")
    with pytest.raises(md.BadInput, match="in this order"):
        md.make(f"{file}:SPEC", n_arms=4)
    time.sleep(0.02)
    file.write_text(SKELETON)
    assert md.make(f"{file}:SPEC", n_arms=4).ask().round == 1


def test_every_helper_takes_the_stream_last():
    """``ask`` and ``tell`` are called by the engine, not by authors."""
    takes = {}
    for name in authoring.__all__:
        if inspect.isfunction(function := getattr(authoring, name)) or hasattr(function, "__wrapped__"):
            takes[name] = list(inspect.signature(function).parameters)
    takes = {name: names for name, names in takes.items() if "rng" in names and name not in ("ask", "tell")}
    assert {"uniform", "beta", "binomial", "argmax", "draw_distinct", "random_order", "advance", "feedback"} <= set(takes)
    assert {name: names[-1] for name, names in takes.items()} == dict.fromkeys(takes, "rng")
    assert takes == helpers()


def test_the_authors_page_names_everything_and_writes_calls_as_they_are():
    """The reference, made from the code, has the signatures of all helpers."""
    page = (ROOT / "docs" / "kernels.md").read_text(encoding="utf-8")
    for name in authoring.__all__:
        assert re.search(rf"`[^`]*\b{name}\b[^`]*`", page), name
    calls = [
        call
        for call in re.findall(r"`(\w+)\(([^`)]+)\)(?: -> [^`]*)?`", page)
        if call[0] in authoring.__all__ and "=" not in call[1]
    ]
    assert {"ask", "tell", "recommend"} <= {name for name, _ in calls}
    for name, order in calls:
        assert order == ", ".join(inspect.signature(getattr(authoring, name)).parameters), name


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("argmax(state.s, rng)", "argmax(stream, state.s)", f"{FLOATS} Got an array of 4 uint64."),
        ("argmax(state.s, rng)", "argmax(state.seen, rng)", f"{FLOATS} Got an array of 1 int64."),
        ("uniform(rng)", "uniform(state.s)", "rng). 'rng' must be the policy's stream. Got an array of 4 float64."),
        ("draw_distinct(pool, pool.shape[0], params.slate_size, slate, 0, rng)", "draw_distinct(pool, 2.5, 2, slate, 0, rng)",
         "pool, size, count, slate, seated, rng). 'size' must be a whole number. Got 2.5."),
    ],
)  # fmt: skip
def test_a_wrong_type_is_refused_without_the_compiler(tmp_path, old, new, words):
    """Names other than 'rng' cannot be judged from the file alone."""
    file = own(tmp_path, old, new)
    source = file.read_text().replace("    use=", "    plain=True,\n    use=")
    file.write_text(source.replace("    if state.seen[0] == 0 or", "    stream = rng\n    if state.seen[0] == 0 or"))
    line = next(k for k, text in enumerate(file.read_text().splitlines(), 1) if new in text)
    policy = md.make(f"{file}:SPEC", n_arms=4)
    with pytest.raises(md.BadInput) as refused:
        for _ in range(60):
            policy.tell(slate := policy.ask(), md.ranking(slate.arms))
    name = new.partition("(")[0]
    said = f"'epsilon-greedy' failed: TypeError: The arguments of '{name}' are {name}({words} ('{file}', line {line})."
    assert str(refused.value) == said


def test_our_own_policies_have_none_of_these_mistakes():
    from multiduel.engine.registry.plugin_mistakes import _mistake

    for file in sorted((ROOT / "src/multiduel/policies").rglob("*.py")):
        assert _mistake(str(file), 0) is None


def test_all_that_the_compiler_said_has_no_escape_codes(tmp_path, monkeypatch):
    monkeypatch.setenv(FULL, "1")
    file = tmp_path / "own.py"
    file.write_text("x = 1\n")
    said = str(explained(RuntimeError("\x1b[1m\x1b[1mNo implementation\x1b[0m of \x1b[31m'x'\x1b[0m"), [file]))
    assert "\x1b" not in said and "No implementation of 'x'" in said
