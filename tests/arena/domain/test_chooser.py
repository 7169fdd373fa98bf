"""Numbers that an arena draws from its seed, and a chooser that lives through a past."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import multiduel as md
from multiduel.arena.domain import chooser
from multiduel.arena.domain.chooser import Asked, Choice, Chooser, Epoch, Told, draw, shuffled
from multiduel.arena.domain.settings import Settings
from multiduel.engine.session.reliving import Journey
from multiduel.kernels.contract import PolicySpec


@given(st.integers(0, 2**64), st.integers(1, 10**9), st.lists(st.integers(0, 999), unique=True, max_size=12))
def test_shuffled_sorts_by_the_number_drawn_for_each(seed: int, number: int, arms: list[int]) -> None:
    assert shuffled(seed, number, "order", arms) == sorted(arms, key=lambda arm: draw(seed, number, f"order/{arm}"))


RETIRED = 4  # no option of the epoch
EPOCH = (0, 5, 1, 3, 2)


def a_chooser(policy: str, slate_size: int) -> Chooser:
    epoch = Epoch(9, (), policy, {}, EPOCH, "", 3, True, np.triu(np.ones((5, 5)), 1))
    return Chooser(epoch, Settings(seed=4, slate_size=slate_size, votes=5_000))


def a_past(chooser: Chooser, rng: random.Random, number: int = 0, *, noise: float = 0.1) -> list[Asked | Told]:
    """What a chooser goes through step by step: tickets wait for their votes, and some judge nothing, or fewer options."""
    past: list[Asked | Told] = []
    waiting: list[tuple[int, ...]] = []
    for _ in range(400):
        number += 1
        if len(waiting) < 3 or rng.random() < 0.4:
            past.append(Asked(number, chooser.ask(number)))
            arms = past[-1].choice.arms
            waiting.append(rng.choice([arms] * 60 + [arms[:2], (RETIRED, *arms[1:])]))
        else:
            arms = waiting.pop(rng.randrange(len(waiting)))
            better = np.array([[float((a < b) != (rng.random() < noise) and a != b) for b in arms] for a in arms])
            past.append(Told(arms, better * float(rng.random() < 0.9)))
            chooser.tell(*past[-1])  # type: ignore[misc]
    return past


@pytest.mark.parametrize(("policy", "slate_size"), [("challengers", 3), ("multi-rucb", 3), ("rucb", 2), ("due-duel", 4)])
def test_many_steps_at_once_are_the_same_as_one_by_one(policy: str, slate_size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever portions end, whoever chose, whatever was told of options that are gone; also where slates come out otherwise."""
    monkeypatch.setattr(chooser, "PORTION", 60)
    rng, by, at_once = random.Random(slate_size), set(), []
    relive = Chooser._relive
    monkeypatch.setattr(Chooser, "_relive", lambda *words: (at_once.append(relive(*words)), at_once[-1])[1])
    live, follows, altered = (a_chooser(policy, slate_size) for _ in range(3))
    for k in range(12):
        past = a_past(live, rng, 1_000 * k, noise=0.2)
        by |= {step.choice.by for step in past if isinstance(step, Asked)}
        follows.follow(past)
        assert follows.differs is None and follows.snapshot() == live.snapshot()
        wrong = rng.sample([step for step in past if isinstance(step, Asked)], 2)
        altered.differs = None
        altered.follow([Asked(step.number, other(step.choice, rng)) if step in wrong else step for step in past])
        assert altered.differs == min(step.number for step in wrong) and altered.snapshot() == live.snapshot()
    assert at_once.count(True) > 30 and False in at_once
    assert by == {"policy", "uniform"} | ({"challengers"} - {policy})


def other(choice: Choice, rng: random.Random) -> Choice:
    """A slate that looks like this one."""
    arms = choice.arms
    return rng.choice(
        [
            Choice(arms[::-1], choice.by),
            Choice(arms[:-1], choice.by),
            Choice((*arms[:-1], RETIRED), choice.by),
            Choice((*arms, RETIRED), choice.by),
            Choice(arms, "uniform" if choice.by != "uniform" else "policy"),
        ]
    )


def test_a_long_log_is_lived_through_in_few_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """What makes a start from the log quick; a plug-in's slates are looked at one by one."""
    live, calls = a_chooser("challengers", 3), []
    past = a_past(live, random.Random(1), noise=0.5)
    here = [step for step in past if isinstance(step, Asked) or (RETIRED not in step.arms and len(step.arms) == 3)]
    on = Journey.on
    monkeypatch.setattr(Journey, "on", lambda *words: (calls.append(words), on(*words))[1])
    a_chooser("challengers", 3).follow(here)
    alone = sum(step.choice.by == "uniform" for step in past if isinstance(step, Asked))
    assert 1 <= len(calls) <= 1 + alone < len(here) / 3
    ask = next(k for k, step in enumerate(here) if isinstance(step, Asked) and step.choice.by == "policy" and k > 20)
    who = a_chooser("challengers", 3)
    who.follow([*here[:ask], Asked(here[ask].number, Choice(here[ask].choice.arms, "uniform")), *here[ask + 1 :]])
    assert who.differs == here[ask].number, "the same options, but of somebody else's choice"
    calls.clear()
    watched = a_chooser("challengers", 3)
    monkeypatch.setattr(PolicySpec, "watched", True)
    watched.follow(here)
    assert not calls and watched.policy.round > 50
    with pytest.raises(md.BadInput, match="step by step"):
        Journey(watched.policy, np.zeros(0, int), np.zeros((0, 2), int), np.zeros((0, 2), int), np.zeros((0, 2, 2)))


@pytest.mark.parametrize(
    ("sizes", "slates", "arms", "wins"),
    [
        ([0, 3], [[0, 1]], [[2, 1]], [[[0, 1], [0, 0]]]),  # a slate wider than its row
        ([0, 2], [[0, 4]], [[2, 1]], [[[0, 1], [0, 0]]]),  # no such arm
        ([0, 2], [[0, 1]], [[2, 4]], [[[0, 1], [0, 0]]]),
        ([0, 2], [[0, 1]], [[-1, 1]], [[[0, 1], [0, 0]]]),
        ([0, 2], [[0, 1]], [[2, 1]], [[[0, np.nan], [0, 0]]]),
        ([0, 2], [[0, 1]], [[2, 1]], [[[0, 1e10], [0, 0]]]),
        ([0, 2], [[0, 1]], [[2, 1]], [[[0, 1, 0], [0, 0, 0]]]),
        ([0, 0], [[0, 1]], [[2, 1]], [[[0, 1], [0, 0]]]),  # rows and steps do not agree
        ([0, 2], [[0, 1], [1, 2]], [[2, 1]], [[[0, 1], [0, 0]]]),
    ],
)
def test_a_past_that_does_not_fit_is_refused(sizes: Any, slates: Any, arms: Any, wins: Any) -> None:
    """Compiled code reads these tables without a look at their bounds."""
    policy = md.make("challengers", n_arms=4, slate_size=3, seed=0)
    with pytest.raises(md.BadInput, match="A past has"):
        Journey(policy, np.array(sizes), np.array(slates), np.array(arms), np.array(wins, float))
    assert policy.round == 0
