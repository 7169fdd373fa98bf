"""What passes between a policy and whoever talks to it, seen by one that does as it is told."""

import copy
import math

import numpy as np
import pytest

import multiduel as md
from multiduel.engine.registry.registry import POLICIES
from multiduel.engine.session import policy as engine_policy
from multiduel.engine.session.slates import Told
from tests.engine.obedient import card


@pytest.fixture
def made():
    """Make an obedient policy: its first asks follow the script."""

    def make(*script, n_arms=6, seed=3, words=None, **options):
        policy = md.make(card(**(words or {})), n_arms=n_arms, seed=seed, **options)
        policy._state.script[:] = script or [((0, 1), 1)]
        return policy

    yield make
    POLICIES.pop("obedient", None)


def users(policy, *inner):
    """What the policy's own arms are called outside: it bets on one after the other."""
    names = []
    for policy._state.bet[0] in inner:
        names.append(policy.recommend())
    return tuple(names)


def test_arms_have_the_users_numbers_outside_and_their_own_inside(made):
    policy = made(((4, 0, 2), 1), ((3,), 1), ((1, 5), 1))
    assert sorted(users(policy, *range(6))) == list(range(6)) and users(policy, *range(6)) != tuple(range(6))
    first, second, third = (policy.ask() for _ in range(3))
    assert first == (1, users(policy, 4, 0, 2)) and second == (2, users(policy, 3)) and third == (3, users(policy, 1, 5))
    assert policy.open == (first, third) and policy.round == 3 and policy._state.asked == [(1, 1), (2, 1), (3, 1)]
    policy.tell(third, md.best(third.arms[1]))
    policy.tell(first, md.ranking(first.arms))
    assert policy._state.heard == [
        (3, [1, 5], [[0.0, 0.0], [1.0, 0.0]]),
        (1, [4, 0, 2], [[0.0, 1.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]),
    ]
    assert policy.open == () and policy.tally.above[first.arms[0], first.arms[2]] == 1.0


def test_features_come_in_the_order_of_the_policys_own_arms(made):
    policy = made(words={"features": True}, features=[[10.0 * arm, 1.0] for arm in range(6)])
    assert policy._state.features == [[[10.0 * name, 1.0] for name in users(policy, *range(6))]]
    assert made(words={"features": True})._state.features == []


def test_what_others_compared_comes_as_one_slate_or_in_pairs(made):
    ranked = [[0.0, 1.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    policy = made()
    policy.observe(users(policy, 5, 1, 3), md.ranking(users(policy, 5, 1, 3)))
    assert policy._state.heard == [(0, [5, 1, 3], ranked)]
    two = made(words={"slate": "two"})
    two.observe(users(two, 5, 1, 3), md.ranking(users(two, 5, 1, 3)))
    won = [[0.0, 1.0], [0.0, 0.0]]
    assert two._state.heard == [(0, [5, 1], won), (0, [5, 3], won), (0, [1, 3], won)]
    assert two.round == 0 and two.tally.above.sum() == policy.tally.above.sum() == 3.0


@pytest.mark.parametrize("slate", ["any", "two"])
def test_a_tally_to_start_from_is_told_but_is_no_answer(made, slate):
    W = np.array([[0.0, 5.0, 0.5], [3.0, 0.0, 0.0], [1.5, 0.0, 0.0]])
    policy = made(n_arms=3, tally=W, words={"slate": slate})
    told = np.zeros((3, 3))
    for _, arms, wins in policy._state.heard:
        told[np.ix_(arms, arms)] += wins
    assert (told[np.ix_(*[np.argsort(users(policy, 0, 1, 2))] * 2)] == W).all() and policy.round == 10
    assert (policy.tally.above == W).all() and policy.tally.showings.tolist() == [8.0, 8.0, 2.0]
    policy.observe((0, 1), md.tie(0, 1))
    assert policy.tally.ties[0, 1] == 1.0 and policy.tally.showings.tolist() == [9.0, 9.0, 2.0]


def test_rounds_of_a_tally_have_an_end(made):
    assert made(n_arms=2, tally=[[0.0, 1e15], [1e15, 0.0]]).round == 10**15
    assert made(n_arms=2, round=0).round == 0 and made(n_arms=2, tally=np.zeros((2, 2)), round=1).round == 1
    with pytest.raises(md.BadInput, match=r"says how many rounds a tally took. Give it 'tally' too"):
        made(n_arms=2, round=1)


def test_whoever_learns_only_from_what_it_asked_for_says_why(made):
    says = "'obedient' cannot use comparisons that it did not ask for: it forgets them."
    policy = made(words={"blind": "it forgets them"})
    with pytest.raises(md.BadInput, match=says):
        policy.observe((0, 1), md.best(0))
    with pytest.raises(md.BadInput, match=says):
        made(n_arms=2, tally=np.zeros((2, 2)), words={"blind": "it forgets them"})
    assert policy._state.heard == [] and policy.tally.above.sum() == 0.0


def test_code_is_looked_up_once_for_each_kind_of_call(made, monkeypatch):
    found, real = [], engine_policy.entry
    monkeypatch.setattr(engine_policy, "entry", lambda function, *rest, **more: (
        found.append((function.__name__, rest[1])) or real(function, *rest, **more)
    ))  # fmt: skip
    policy = made()
    for _ in range(3):
        slate = policy.ask()
        policy.tell(slate, md.best(slate.arms[0]))
        policy.observe((0, 1), md.best(0))
        policy.recommend()
    kinds = ["ask", "tell", "observe", "recommend"]
    assert [label for _, label in found] == [f"obedient ({kind})" for kind in kinds]
    assert [name for name, _ in found] == ["ask_once", "tell_once", "observe_slate", "recommend_once"]


def test_slates_and_bets_of_others_are_looked_at_before_they_count(made):
    script = [((0, 1), 1), ((2, 2), 1)]
    policy = made(*script)
    policy.ask()
    with pytest.raises(md.BadInput, match=r"must show distinct arms. It showed \[2, 2\] in round 2"):
        policy.ask()
    assert policy.round == 1 and len(policy.open) == 1
    policy._state.bet[0] = -1
    with pytest.raises(md.BadInput, match=r"must name an arm from 0 to 5. It returned -1"):
        policy.recommend()
    trusted = made(*script, words={"trusted": True})
    trusted.ask()
    assert len(set(trusted.ask().arms)) == 1 and trusted.round == 2, "its author's word is taken for it"
    trusted._state.bet[0] = -1
    assert trusted.recommend() in range(6)


class Page:
    """Something shown for a slate, able to read its answer."""

    def __init__(self, slate, policy):
        self.slate, self.policy = slate, policy

    def told(self, answer):
        return Told(*self.slate, self.policy, md.best(answer))


def test_what_was_shown_for_a_slate_reads_the_answer_for_its_own_policy(made):
    policy, other = made(((4, 0), 1)), made(seed=4)
    slate = policy.ask()
    with pytest.raises(
        md.BadInput, match=f"shown for another policy: its fingerprint is {other.fingerprint}, not {policy.fingerprint}"
    ):
        policy.tell(Page(slate, other.fingerprint), slate.arms[1])
    with pytest.raises(md.BadInput, match=r"'tell' takes an impression .* as rankers.Impression\(it\). Got a plain dict"):
        policy.tell({"round": 1}, slate.arms[1])
    assert policy._state.heard == [] and policy.open == (slate,)
    policy.tell(Page(slate, policy.fingerprint), slate.arms[1])
    assert policy._state.heard == [(1, [4, 0], [[0.0, 0.0], [1.0, 0.0]])] and policy.open == ()


def test_a_slate_that_went_through_json_is_one_still(made):
    policy = made()
    round, arms = policy.ask()
    policy.tell([round, list(arms)], md.best(arms[0]))
    assert policy.open == () and len(policy._state.heard) == 1


@pytest.mark.parametrize("round", [1.0, True, np.int32(1)])
def test_the_policy_is_told_its_round_as_an_int(made, round):
    """Compiled code is made for the type that comes first."""
    policy = made()
    policy.tell((round, policy.ask().arms), [[0, 1], [0, 0]])
    assert [type(told) for told, *_ in policy._state.heard] == [int]


def test_a_slate_of_one_arm_may_be_told_and_changes_nothing(made):
    policy = made(((3,), 1), ((0, 1), 1), ((2, 4), 1), ((5,), 1))
    first, second, third, last = (policy.ask() for _ in range(4))
    policy.tell(third, md.best(third.arms[0]))
    for slate in first, list(first), (1, list(first.arms)), last:
        assert policy.tell(slate, md.best(slate[1][0])) is None
    for slate, says in (
        ((0, first.arms), "Round 0 was never asked. So far there were 4."),
        ((5, first.arms), "Round 5 was never asked"),
        ((1.0, first.arms), "Round 1.0 was never asked"),
        ((2, first.arms), "Round 2 showed"),
        ((1, "a"), "Round 1 is told already, or had a single arm."),
        ((1, None), "Round 1 is told already"),
        ((9, None), "Round 9 was never asked"),
        ((1, 7), "Round 1 is told already"),
        ((1, second.arms), "Round 1 is told already"),
        (third, "Round 3 is told already, or had a single arm."),
        ((4, second.arms), "Round 4 is told already"),
        ((2, third.arms), "Round 2 showed .*, not "),
    ):
        with pytest.raises(md.BadInput, match=says):
            policy.tell(slate, md.best(0))
    assert len(policy._state.heard) == 1 and policy.open == (second,)


def test_only_what_is_older_than_all_that_is_open_may_be_forgotten(made, monkeypatch):
    monkeypatch.setattr(engine_policy, "MOST_OPEN", 3)
    policy = made(((0, 1), 1))
    told = policy.ask()
    policy.tell(told, md.best(told.arms[0]))

    def said(slate):
        with pytest.raises(md.BadInput) as refused:
            policy.tell(slate, md.best(0))
        return str(refused.value)

    assert said(told) == "Round 1 is told already, or had a single arm."
    slates = [policy.ask() for _ in range(2)]
    assert said(told) == "Round 1 is told already, or had a single arm."
    slates += [policy.ask() for _ in range(2)]
    assert policy.open == tuple(slates[1:])
    forgotten = ", or is forgotten: the last 3 slates that are not told stay open."
    assert said(slates[0]) == f"Round 2 is told already, or had a single arm{forgotten}"
    assert said((3, (0, 9))) == f"Round 3 showed {slates[1].arms}, not (0, 9)."
    policy.tell(slates[2], md.best(slates[2].arms[0]))
    policy.ask()
    assert len(policy.open) == 3 and "forgotten" not in said(slates[2]) and "forgotten" in said(told)


@pytest.mark.parametrize("slate", [None, 1, [1, (0, 1)], (1,), (1, (0, 1), 2), ("a", (0, 1)), (None, None), ((0, 1), 1), ([], 1)])
def test_what_is_no_slate_is_not_forgotten(made, slate):
    policy = made()
    shown = policy.ask()
    with pytest.raises(md.BadInput, match="'forget' takes the Slate that 'ask' returned"):
        policy.forget(slate)
    for round, arms in ((2, shown.arms), (1, (0, 9)), (2, None)):
        with pytest.raises(md.BadInput, match=f"Round {round} is not open with these arms"):
            policy.forget((round, arms))
    assert policy.open == (shown,)
    policy.forget(tuple(shown))
    assert policy.open == ()


def test_a_refused_answer_leaves_the_slate_open(made):
    policy = made()
    slate = policy.ask()
    for wins, says in (
        ([[0, -1], [0, 0]], "finite and at least 0"),
        ([[0, 2e9], [0, 0]], "from 0 to 1e"),
        ([[1, 0], [0, 0]], "itself"),
    ):
        with pytest.raises(md.BadInput, match=says):
            policy.tell(slate, wins)
        with pytest.raises(md.BadInput, match=says):
            policy.observe((0, 1), wins)
    assert policy.open == (slate,) and policy._state.heard == []


def test_standings_are_those_of_the_tally(made):
    policy = made(n_arms=4)
    for arms, best, times in (((0, 1, 2), 0, 30), ((1, 2), 1, 25)):
        for _ in range(times):
            policy.observe(arms, md.best(best))
    found = policy.standings(names=["a", "b", "c", "d"], alpha=0.1)
    assert [line.name for line in found.lines][:2] == ["a", "b"] and found.alpha == 0.1
    assert (found.above == policy.tally.above).all() and found.verdict.tally[0].sum() == policy.tally.above.sum()
    assert found.lines[0].won == 1.0 and math.isnan(found.won[3]) and math.isnan(found.low[3])


def test_a_verdict_has_the_usual_error_and_no_margin_unless_told(made):
    policy = made(n_arms=3)
    usual, told = policy.verdict(), policy.verdict(alpha=0.2, margin=0.1, names=["a", "b", "c"])
    assert (usual.alpha, usual.margin) == (0.05, 0.0) and (told.alpha, told.margin, told.names) == (0.2, 0.1, ("a", "b", "c"))


@pytest.mark.parametrize("state", [None, np.zeros((2, 2)), [np.zeros(2)], (np.zeros(2), 3)])
def test_only_a_state_of_arrays_is_saved(made, state):
    policy = made()
    if state is not None:
        policy._state = state
    with pytest.raises(md.BadInput, match="'obedient' cannot be saved: its State must be a NamedTuple of arrays"):
        policy.snapshot()


def test_what_is_scratch_is_asked_once(monkeypatch):
    asked, real = [], engine_policy.is_scratch
    monkeypatch.setattr(engine_policy, "is_scratch", lambda *args: asked.append(1) or real(*args))
    policy = md.make("uniform", n_arms=3, seed=0)
    assert policy.snapshot() == policy.snapshot() and len(asked) == 1


def test_a_fingerprint_is_of_one_policy_and_its_copies():
    """Two policies of one seed are not one: after a restart an old page would be taken for a new round."""
    made = [md.make("multi-rucb", n_arms=5, seed=1) for _ in range(50)] + [md.make("uniform", n_arms=5) for _ in range(50)]
    prints = {policy.fingerprint for policy in made}
    assert len(prints) == len(made) and all(len(one) == 16 for one in prints)
    assert md.restore(made[0].snapshot()).fingerprint == copy.deepcopy(made[0]).fingerprint == made[0].fingerprint
    assert made[0].ask() == made[1].ask()  # their choices are the same


@pytest.mark.parametrize(("n_arms", "slate_size"), [(1, 2), (2, 2), (5, 2), (5, 3)])
def test_the_smallest_and_newest_policies_are_made_and_restored(n_arms, slate_size):
    policy = md.make("uniform", n_arms=n_arms, slate_size=slate_size, seed=0)
    twin = md.restore(policy.snapshot())
    assert policy.params.slate_size == min(n_arms, slate_size) and twin.params == policy.params and twin.round == 0
    assert twin.snapshot() == policy.snapshot() and len(twin.ask().arms) == min(n_arms, slate_size)


def test_an_older_snapshot_without_fingerprint_or_slate_size_is_restored():
    policy = md.make("uniform", n_arms=4, seed=7)
    policy.tell(policy.ask(), [[0, 1], [0, 0]])
    slate, saved = policy.ask(), policy.snapshot()
    del saved["fingerprint"], saved["params"]["slate_size"]
    twin = md.restore(saved)
    assert twin.open == (slate,) and twin.round == 2 and (twin.tally.above == policy.tally.above).all()
    assert len(twin.fingerprint) == 16 and md.restore(saved).fingerprint == twin.fingerprint
    assert [twin.ask() for _ in range(5)] == [policy.ask() for _ in range(5)]


def test_forgetting_a_round_of_thousands_of_digits_is_refused_in_a_sentence():
    with pytest.raises(md.BadInput, match="is not open with these arms"):
        md.make("uniform", n_arms=3, seed=0).forget((10**5000, (0, 1)))
