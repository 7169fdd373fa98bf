"""Features that change from round to round: a policy uses them, each round its own, or refuses them in a sentence."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from multiduel.arrays import Floats
from multiduel.checks.plain import evidence
from multiduel.checks.round_features import ARMS, DIMENSION, PROBLEM, context_record, features_words, utilities_of
from multiduel.checks.subject import HORIZON, Failed, Subject, coins, require
from multiduel.engine.session.policy import Policy, fresh, make, restore
from multiduel.engine.session.slates import Slate
from multiduel.engine.simulation.simulate import simulate
from multiduel.inputs import BadInput

ROUNDS = 120
PROBES = 60  # tables of features about which two policies must recommend the same
LONG = 4000
SHORT = 1000  # without the compiler: enough for most


def contexts(subject: Subject) -> None:
    """With features that change, each round has its own, late tells too, and they are used; other policies refuse them."""
    if not subject.spec.contextual:
        _refuses(subject)
        return
    _one_table_in_every_round_is_a_fixed_table(subject)
    _late_tells_find_their_features(subject)
    _permuted_rows_permute_slates(subject)
    _compiled_equals_plain(subject)
    _uses_features(subject)


def _tables(seed: int) -> Callable[[], Floats]:
    rng = np.random.default_rng(seed)
    return lambda: rng.normal(size=(ARMS, DIMENSION))


def _wins(slate: Slate, rows: Floats, coin: random.Random) -> Floats:
    u = utilities_of(rows)
    return coins(1.0 / (1.0 + np.exp(u[None, :] - u[:, None])), slate.arms, coin)


def _make(subject: Subject, seed: int, **words: Any) -> Policy:
    given = {**subject.words, **words}
    return make(subject.name, n_arms=ARMS, slate_size=3, seed=seed, horizon=HORIZON, **given)


def _one_table_in_every_round_is_a_fixed_table(subject: Subject) -> None:
    table = _tables(1)()
    fixed, shown = _make(subject, 5, features=table), _make(subject, 5, dimension=DIMENSION)
    coin = random.Random(5)
    for t in range(1, ROUNDS + 1):
        one, other = fixed.ask(), shown.ask(features=table)
        require(
            one == other,
            f"The same features in every round must lead to the slates of fixed features. Slate {t}: {other.arms}, {one.arms}.",
        )
        if len(one.arms) > 1:
            wins = _wins(one, table, coin)
            fixed.tell(one, wins)
            shown.tell(other, wins)


def _late_tells_find_their_features(subject: Subject) -> None:
    """Two copies are told the same slates; one is asked about other features in between, which must not change what it learns."""
    table, coin = _tables(2), random.Random(7)
    policy = _make(subject, 7, dimension=DIMENSION)
    waiting: list[tuple[Slate, Floats]] = []
    for _ in range(ROUNDS):
        rows = table()
        slate = policy.ask(features=rows)
        if len(slate.arms) > 1:
            waiting.append((slate, rows))
    twins = [restore(json.loads(json.dumps(policy.snapshot()))) for _ in range(2)]
    coin.shuffle(waiting)
    for slate, rows in waiting:
        wins = _wins(slate, rows, coin)
        twins[1].ask(features=10.0 * table())
        for twin in twins:
            twin.tell(slate, wins)
    for _ in range(PROBES):
        rows = table()
        before = twins[0].snapshot()
        bets = [twin.recommend(features=rows) for twin in twins]
        require(bets[0] == bets[1], "A late tell must find the features of its own round. Those of later rounds changed it.")
        require(twins[0].snapshot() == before, "'recommend' must change nothing. The snapshot after it differs.")


def _permuted_rows_permute_slates(subject: Subject) -> None:
    labels = [3, 0, 5, 1, 4, 2]  # our number of each of the kernel's arms
    params = subject_params(subject)
    seed = np.random.SeedSequence(9)
    straight = fresh(subject.spec, params, ARMS, seed, labels=range(ARMS))
    turned = fresh(subject.spec, params, ARMS, seed, labels=labels)
    table, coin = _tables(3), random.Random(9)
    for t in range(1, ROUNDS + 1):
        rows = table()
        moved = np.empty_like(rows)
        moved[labels] = rows
        one, other = straight.ask(features=rows), turned.ask(features=moved)
        expected = tuple(labels[arm] for arm in one.arms)
        require(other.arms == expected, f"Permuted rows must permute slates. Slate {t} is {other.arms}, not {expected}.")
        if len(one.arms) > 1:
            wins = _wins(one, rows, coin)
            straight.tell(one, wins)
            turned.tell(other, wins)


def subject_params(subject: Subject) -> Any:
    """Its Params, with features that change."""
    return Subject(subject.name, features_words(subject)).params(ARMS, 3)


def _compiled_equals_plain(subject: Subject) -> None:
    seen = evidence(subject)
    require(not seen["error"], f"Without the compiler it fails with {seen['error']}")
    here, plain = json.loads(json.dumps(context_record(subject))), seen["record"]["contexts"]
    for what, value in here.items():
        require(value == plain[what], f"With features that change, compiled and plain play differ in: {what}.")
    off = np.abs(np.array(here["regret"]) - np.array(here["regret by ask and tell"])).max()
    require(off < 1e-9, f"With features that change, the play loop and ask and tell must agree. Regret differs by {off:.2g}.")


def _uses_features(subject: Subject) -> None:
    """Uniform play is what a policy comes to that ignores the features: no arm is better than another on average."""
    for horizon in (SHORT, LONG) if subject.plain else (LONG,):
        options: dict[str, Any] = {"horizon": horizon, "slate_size": 2, "runs": 5, "seed": 5, "checkpoints": [horizon]}
        uniform = simulate("uniform", PROBLEM, **options)
        share = float(subject.simulate(PROBLEM, **options).mean[-1] / uniform.mean[-1])
        if share <= 0.7:
            break
    require(
        share <= 0.7, f"Where only features help, its regret must be at most 70 % of uniform play's. It is {100 * share:.0f} %."
    )


def _refuses(subject: Subject) -> None:
    policy = subject.make(ARMS, 3, seed=2)
    policy.ask()
    before = policy.snapshot()
    for what, act in (
        ("ask", lambda: policy.ask(features=np.ones((ARMS, DIMENSION)))),
        ("recommend", lambda: policy.recommend(features=np.ones((ARMS, DIMENSION)))),
    ):
        try:
            act()
        except BadInput as error:
            require("round to round" in str(error), f"'{what}' must say that it takes no such features. Got: {error}")
        else:
            raise Failed(f"It implements no 'see', so that '{what}' must refuse features. It took them.")
    require(policy.snapshot() == before, "Refused features must change nothing. The snapshot after it differs.")
