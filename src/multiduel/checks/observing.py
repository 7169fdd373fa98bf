"""Comparisons that a policy did not ask for: it learns from them as if it had, or says why it cannot."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from multiduel.arrays import Floats
from multiduel.checks.subject import EASY, EASY_WINNER, HORIZON, MIXED, Failed, Subject, coins, played, require
from multiduel.engine.session.outcomes import duels, ranking
from multiduel.engine.session.policy import Policy, make
from multiduel.inputs import BadInput


def observing(subject: Subject) -> None:
    """Observed one by one, in another order or all at once, duels lead to the same slates, and alone to an easy winner."""
    if not subject.spec.observes:
        _refuses(subject)
        return
    for rounds in (0, 40):  # before the first ask, and in mid-run
        pairs = _duels(MIXED.matrix, 150, random.Random(5))
        ways: dict[str, Callable[[Policy], None]] = {
            "one by one": lambda policy, pairs=pairs: _one_by_one(policy, pairs),  # type: ignore[misc]
            "in another order": lambda policy, pairs=pairs: _one_by_one(policy, pairs[::-1]),  # type: ignore[misc]
            "all at once": lambda policy, pairs=pairs: policy.observe(range(MIXED.n_arms), duels(pairs)),  # type: ignore[misc]
        }
        slates = {way: _slates_after(subject, act, rounds) for way, act in ways.items()}
        for way, later in slates.items():
            _require_equal(slates["one by one"], later, f"observed one by one and {way}, after {rounds} rounds")
    _tally(subject)
    _many_arms(subject)
    bets = []
    for seed in range(5):
        policy = subject.make(EASY.n_arms, 3, seed=seed)
        _one_by_one(policy, _duels(EASY.matrix, 1500, random.Random(seed)))
        bets.append(policy.recommend())
    count = bets.count(EASY_WINNER)
    require(count == 5, f"After observing 1500 duels it must recommend an easy winner in 5 of 5 runs. It did in {count}.")


def _duels(P: Floats, n: int, rng: random.Random) -> list[tuple[int, int]]:
    """(winner, loser) of random pairs."""
    pairs = [rng.sample(range(len(P)), 2) for _ in range(n)]
    return [(i, j) if rng.random() < P[i, j] else (j, i) for i, j in pairs]


def _one_by_one(policy: Policy, pairs: list[tuple[int, int]]) -> None:
    for pair in pairs:
        policy.observe(pair, duels([pair]))


def _slates_after(subject: Subject, act: Callable[[Policy], None], rounds: int) -> list[tuple[int, ...]]:
    """The 50 slates that follow, each told at once."""
    policy = subject.make(MIXED.n_arms, 3, seed=12)
    for _ in played(subject, policy, MIXED.matrix, rounds, seed=3, slate_size=3):
        pass
    act(policy)
    return _next_slates(subject, policy)


def _next_slates(subject: Subject, policy: Policy) -> list[tuple[int, ...]]:
    return [slate.arms for slate in played(subject, policy, MIXED.matrix, 50, seed=4, slate_size=3)]


def _require_equal(one: list[tuple[int, ...]], other: list[tuple[int, ...]], what: str) -> None:
    for t, (a, b) in enumerate(zip(one, other, strict=True), start=1):
        require(a == b, f"The same duels, {what}, must lead to the same slates. Slate {t} is {a} and {b}.")


def _tally(subject: Subject) -> None:
    """A start from a tally is an observation of it, but for the round."""
    pairs = _duels(MIXED.matrix, 150, random.Random(6))
    W = np.zeros((MIXED.n_arms, MIXED.n_arms))
    for winner, loser in pairs:
        W[winner, loser] += 1.0
    policy = make(
        subject.name, n_arms=MIXED.n_arms, slate_size=3, seed=12, horizon=HORIZON, tally=W, round=0, **dict(subject.words)
    )
    later = _slates_after(subject, lambda observer: _one_by_one(observer, pairs), 0)
    _require_equal(later, _next_slates(subject, policy), "observed one by one and as a tally")
    policy = make(subject.name, n_arms=MIXED.n_arms, horizon=HORIZON, tally=W, round=500, **dict(subject.words))
    round = policy.ask().round
    require(round == 501, f"A start from a tally of 500 rounds must go on at round 501. It went on at {round}.")


def _many_arms(subject: Subject) -> None:
    """A ranking of all arms is its pairs, whatever the policy's own slates hold."""
    order = [1, 5, 3, 4, 0, 2]
    pairs = [(order[a], order[b]) for a in range(6) for b in range(a + 1, 6)]
    _require_equal(
        _slates_after(subject, lambda policy: policy.observe(order, ranking(order)), 10),
        _slates_after(subject, lambda policy: _one_by_one(policy, pairs), 10),
        "observed as a ranking of six arms and as its pairs",
    )


def _refuses(subject: Subject) -> None:
    policy = subject.make(MIXED.n_arms, 3, seed=2)
    policy.ask()
    before = policy.snapshot()
    W = np.ones((MIXED.n_arms, MIXED.n_arms)) - np.eye(MIXED.n_arms)
    attempts: tuple[tuple[str, Callable[[], object]], ...] = (
        ("observe", lambda: policy.observe((0, 1), coins(MIXED.matrix, (0, 1), random.Random(1)))),
        ("a tally", lambda: make(subject.name, n_arms=MIXED.n_arms, horizon=HORIZON, tally=W, **dict(subject.words))),
    )
    for what, act in attempts:
        try:
            act()
        except BadInput as error:
            require(subject.spec.blind in str(error), f"The refusal of {what} must say why, as SPEC.blind does. Got: {error}")
        else:
            raise Failed(f"'blind' says why it cannot observe, so {what} must raise BadInput. It was accepted.")
    require(policy.snapshot() == before, "A refused observation must change nothing. The snapshot after it differs.")
