"""Who is to blame: the sentences about a policy that is not ours. Nothing here is compiled."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

import multiduel as md
from multiduel.engine.registry import registry
from multiduel.engine.registry.plugin_errors import blamed, guarded, refuse_arm, refuse_slate, seats_of
from multiduel.engine.registry.plugins import load
from multiduel.kernels.contract import PolicySpec
from tests.engine.own_policy import TEXT


@pytest.fixture
def theirs(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)  # and away again afterwards
    (tmp_path / "own_blamed.py").write_text(TEXT)
    return load(f"{tmp_path / 'own_blamed.py'}:SPEC", PolicySpec)


def line(function):
    """Number the line of a function's decorator, where Python says that the function begins."""
    return next(number for number, text in enumerate(TEXT.splitlines()) if text.startswith(f"def {function}("))


def test_how_many_arms_a_slate_may_hold(theirs):
    def seats(name, n_arms, **words):
        spec = registry.find(name)
        return seats_of(spec, registry.resolve(spec, n_arms=n_arms, slate_size=3, words=words), n_arms)

    assert seats("multi-rucb", 5) == 3 and seats("multi-rucb", 5, closing=True) == 3 and seats("multi-rucb", 2) == 2
    assert seats("rucb", 5) == 2 and seats("rucb", 1) == 1
    anyhow = PolicySpec(**{**vars(theirs), "slate": "any"})
    assert seats_of(anyhow, theirs.params(), 7) == 7, "all of them, where Params have no slate_size"


@pytest.mark.parametrize(
    ("slate", "rounds", "said"),
    [
        ([], 1, "must show 1 to 3 arms. It returned 0"),
        ([0, 1, 2, 3], 1, "must show 1 to 3 arms. It returned 4"),
        ([0, 1], 0, "must commit to 1 to 'limit' rounds, here 9. It returned 0"),
        ([0, 1], 10, "must commit to 1 to 'limit' rounds, here 9. It returned 10"),
        ([4, 5], 1, r"must show arms from 0 to 4. It showed \[4, 5\]"),
        ([0, -1], 1, r"must show arms from 0 to 4. It showed \[0, -1\]"),
        ([4, 0, 4], 1, r"must show distinct arms. It showed \[4, 0, 4\]"),
    ],
)
def test_a_slate_that_is_none_is_refused_with_its_round_and_place(theirs, slate, rounds, said):
    space = np.array([*slate, 0, 0, 0, 0])
    with pytest.raises(md.BadInput, match=rf"'ask' of 'round-robin' {said} in round 7 \(.*own_blamed.py', line {line('ask')}\)"):
        refuse_slate(theirs, space, len(slate), rounds, 9, most=3, n_arms=5, round=7)


def test_slates_and_bets_that_are_fine_are_not_refused(theirs):
    for slate, rounds in (([0, 4, 2], 1), ([4], 9)):
        refuse_slate(theirs, np.array([*slate, 0, 0]), len(slate), rounds, 9, most=3, n_arms=5, round=1)
    for arm in (0, 4):
        refuse_arm(theirs, arm, 5)
    for arm in (-1, 5):
        with pytest.raises(
            md.BadInput, match=rf"an arm from 0 to 4. It returned {arm} \(.*own_blamed.py', line {line('recommend')}\)"
        ):
            refuse_arm(theirs, arm, 5)


def raised(act):
    try:
        act()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def test_an_error_is_told_with_the_last_line_of_the_users_own():
    here = raised(lambda: [][3])
    place = rf"\('{__file__}', line {here.__traceback__.tb_next.tb_lineno}\)\."
    with pytest.raises(md.BadInput, match=f"^it failed: IndexError: list index out of range {place}$"):
        raise blamed(here, "it failed")
    missing = raised(lambda: importlib.import_module("no_such_thing_anywhere"))
    with pytest.raises(md.BadInput, match=rf"ModuleNotFoundError: .* \('{__file__}', line \d+\)\.$"):
        raise blamed(missing, "it failed")
    ours = raised(lambda: registry.describe(3))  # raised in multiduel, but called from here
    with pytest.raises(md.BadInput, match=rf"KeyError: .* \('{__file__}', line \d+\)\.$"):
        raise blamed(ours, "it failed")
    inside = raised(lambda: json.loads("{"))
    with pytest.raises(md.BadInput, match=rf"JSONDecodeError: .* \('{__file__}', line \d+\)\.$"):
        raise blamed(inside, "it failed")
    installed = inside.with_traceback(inside.__traceback__.tb_next.tb_next)  # a policy that is installed is among libraries
    with pytest.raises(md.BadInput, match=rf"JSONDecodeError: .* \('{Path(json.__file__).parent}.*', line \d+\)\.$"):
        raise blamed(installed, "it failed")


def test_compiled_code_does_not_say_where():
    assert str(blamed(ValueError("too much"), "it failed")) == "it failed: ValueError: too much."
    assert str(blamed(IndexError("?"), "it failed")).startswith(
        "it failed: an index of an array is out of range. With 'plain=True'"
    )


def test_a_sentence_stays_as_it_is_and_ours_are_not_guarded(theirs):
    said = md.BadInput("It must be so.")
    assert blamed(said, "it failed") is said
    assert guarded(registry.find("rucb"), len) is len
    with pytest.raises(md.BadInput, match="'round-robin' failed: TypeError"):
        guarded(theirs, len)(3)
