"""Features that change from round to round, at the boundary: given to ask, found by tell, kept by snapshots, refused if wrong."""

import copy
import json

import numpy as np
import pytest

from multiduel import BadInput, best, make, ranking, restore
from multiduel.engine.session import snapshots

NAMES = ("colstim", "max-in-p", "max-pair-ucb", "rcdb", "linear-self-sparring")


def tables(seed=0, K=5, d=3):
    rng = np.random.default_rng(seed)
    while True:
        yield rng.normal(size=(K, d))


def made(name="colstim", **words):
    return make(name, n_arms=5, slate_size=3, seed=1, **{"dimension": 3, **words})


@pytest.mark.parametrize("name", NAMES)
def test_late_and_shuffled_tells_with_snapshots_between_change_nothing(name):
    policy, rows = made(name), tables()
    open_slates = [slate for slate in (policy.ask(features=next(rows)) for _ in range(30)) if len(slate.arms) > 1]
    twin = restore(json.loads(json.dumps(policy.snapshot())))
    for slate in open_slates[::-1]:
        policy.tell(slate, ranking(slate.arms))
    for slate in open_slates[::-1]:
        twin.tell(slate, ranking(slate.arms))
        twin = copy.deepcopy(restore(json.loads(json.dumps(twin.snapshot()))))
    assert policy.snapshot() == twin.snapshot() and not policy.open
    later = [next(rows) for _ in range(20)]
    assert [policy.ask(features=table) for table in later] == [twin.ask(features=table) for table in later]


def test_recommendation_is_about_the_features_given_and_changes_nothing():
    policy, rows = made("max-pair-ucb"), tables(3)
    theta = np.array([2.0, -1.0, 0.5])
    for _ in range(300):
        table = next(rows)
        slate = policy.ask(features=table)
        if len(slate.arms) > 1:
            policy.tell(slate, best(max(slate.arms, key=lambda arm: table[arm] @ theta)))
    before = policy.snapshot()
    found = [policy.recommend(features=table) == int(np.argmax(table @ theta)) for _, table in zip(range(50), rows, strict=False)]
    assert sum(found) >= 45 and policy.snapshot() == before


def test_a_refused_tell_leaves_no_features_behind():
    policy, rows = made(), tables()
    slate = next(slate for slate in (policy.ask(features=next(rows)) for _ in range(20)) if len(slate.arms) == 2)
    policy.ask(features=next(rows))
    before = policy.snapshot()
    for outcome in (np.full((2, 2), -1.0), np.full((2, 2), np.nan), best(99), None):
        with pytest.raises(BadInput):
            policy.tell(slate, outcome)
        assert policy.snapshot() == before


GOOD = np.ones((5, 3))


@pytest.mark.parametrize(
    ("features", "words"),
    [
        (None, "give it the 'features' of the round"),
        (np.ones((4, 3)), "5 rows"),
        (np.ones((5, 2)), "3 numbers a row. Got 2"),
        (GOOD * np.nan, "finite"),
        (GOOD * 1e7, "from -1,000,000 to 1,000,000"),
        ("rows", "table of numbers"),
        ([[1, 2, 3], [1, 2]], "table of numbers"),
    ],
    ids=["none", "too-few-rows", "short-rows", "nan", "too-large", "word", "ragged"],
)
def test_wrong_features_are_refused_and_change_nothing(features, words):
    policy = made()
    slate = policy.ask(features=GOOD * 0.5)
    before = policy.snapshot()
    for act in (policy.ask, policy.recommend):
        with pytest.raises(BadInput, match=words):
            act(features=features)
    assert policy.snapshot() == before and slate.round == 1


def test_what_needs_options_that_stay_the_same_is_refused():
    policy = made()
    policy.ask(features=GOOD)
    for act in (policy.verdict, policy.standings, lambda: policy.tally):
        with pytest.raises(BadInput, match="another option in every round"):
            act()
    with pytest.raises(BadInput, match="'closing' of 'colstim'"):
        made(closing=True)
    with pytest.raises(BadInput, match="depends on the order"):
        policy.observe((0, 1), best(0))


def test_fixed_features_keep_verdict_standings_and_closing():
    policy = make("colstim", n_arms=5, features=GOOD, closing=True, seed=1)
    slate = policy.ask()
    policy.tell(slate, best(slate.arms[0]))
    assert len(policy.standings().lines) == 5 and policy.verdict().winner is None and policy.tally.answers == 1
    with pytest.raises(BadInput, match="stay as it was made"):
        policy.ask(features=GOOD)


def test_dimension_and_features_must_agree():
    with pytest.raises(BadInput, match="'dimension' of 'colstim' must be 3"):
        make("colstim", n_arms=5, features=GOOD, dimension=4)
    assert make("colstim", n_arms=5, features=GOOD, dimension=3).params.dimension == 3
    with pytest.raises(BadInput, match="at most 1000"):
        make("colstim", n_arms=5, dimension=1001)


def test_policies_without_features_that_change_name_those_that_take_them():
    for name in ("rucb", "kernel-self-sparring"):
        with pytest.raises(BadInput, match="colstim, max-pair-ucb, linear-self-sparring"):
            make(name, n_arms=5).ask(features=GOOD)


def test_forgotten_slates_lose_their_features(monkeypatch):
    monkeypatch.setattr("multiduel.engine.session.policy.MOST_OPEN_FEATURES", 5 * 2 * 3)
    policy, rows = made(alone=False), tables()
    slates = [policy.ask(features=next(rows)) for _ in range(8)]
    assert len(policy.open) == 5 == len(policy._open_features)
    with pytest.raises(BadInput, match="the last 5 slates"):
        policy.tell(slates[0], best(slates[0].arms[0]))
    policy.forget(slates[-1])
    assert len(policy._open_features) == 4
    policy.tell(slates[-2], best(slates[-2].arms[0]))
    assert len(policy._open_features) == 3


def spoiled(saved, change):
    saved = copy.deepcopy(saved)
    change(saved)
    return saved


@pytest.mark.parametrize(
    "change",
    [
        lambda saved: saved["features"].pop("last"),
        lambda saved: saved["features"]["open"].pop(),
        lambda saved: saved.update(features=[1]),
        lambda saved: saved["features"].update(last=snapshots.pack(np.ones((5, 2)))),
        lambda saved: saved["features"].update(last=snapshots.pack(np.full((5, 3), np.nan))),
        lambda saved: saved["features"].update(last=snapshots.pack(np.full((5, 3), 1e7))),
        lambda saved: saved["features"]["open"].__setitem__(0, snapshots.pack(np.ones((3, 3)))),
        lambda saved: saved["params"].update(dimension=0),
        lambda saved: saved["params"].update(dimension=4),
        lambda saved: saved["params"].update(closing=True),
    ],
)
def test_damaged_features_in_a_snapshot_are_refused(change):
    policy, rows = made(alone=False), tables()
    for _ in range(3):
        policy.ask(features=next(rows))
    with pytest.raises(BadInput):
        restore(spoiled(policy.snapshot(), change))


def test_a_snapshot_cannot_give_features_to_a_policy_without():
    saved = make("rucb", n_arms=5, seed=0).snapshot()
    with pytest.raises(BadInput, match="no features that change"):
        restore({**saved, "features": {"last": snapshots.pack(GOOD), "open": []}})


def test_a_snapshot_cannot_ask_for_more_memory_than_open_slates_may_have(monkeypatch):
    policy, rows = made(alone=False), tables()
    for _ in range(3):
        policy.ask(features=next(rows))
    saved = policy.snapshot()
    monkeypatch.setattr(snapshots, "MOST_OPEN_FEATURES", 17)
    with pytest.raises(BadInput, match="at most 17 numbers"):
        restore(saved)
