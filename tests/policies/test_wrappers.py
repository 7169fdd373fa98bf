"""Closing and watching: policies around a policy."""

import json
import math

import numpy as np
import pytest

import multiduel as md
from multiduel.engine.session.snapshots import pack
from multiduel.engine.simulation import worlds
from multiduel.engine.simulation.rankings import answered_by
from multiduel.inference import Tally
from multiduel.kernels.contract import ask, compare, init, recommend, seats, tell, use_features, valid
from multiduel.kernels.evidence import weighed
from multiduel.policies import challengers, uniform
from multiduel.policies.wrappers import REMEMBERED, Closing, Watched
from tests.engine import obedient

EASY = md.from_utilities([1.2, 0.3, 0.0, -0.2, -0.4], link="logit")


def play(policy, rounds, seed=0, late=0):
    rng, waiting, slates = np.random.default_rng(seed), [], []
    for _ in range(rounds):
        slate = policy.ask()
        slates.append(slate.arms)
        if len(slate.arms) > 1:
            waiting.append(slate)
        while len(waiting) > late:
            told = waiting.pop(0)
            score = {arm: EASY.utilities[arm] + rng.gumbel() for arm in told.arms}
            policy.tell(told, md.ranking(sorted(told.arms, key=lambda arm, score=score: -score[arm])))
    return slates


def test_what_never_settles_does_with_closing():
    alone = md.make("ind-self-sparring", n_arms=5, slate_size=3, seed=1)
    play(alone, 2500)
    assert not alone.verdict().settled
    closing = md.make("ind-self-sparring", n_arms=5, slate_size=3, seed=1, closing=True)
    play(closing, 2500)
    assert closing.verdict().winner == 0 and closing.recommend() == 0
    assert all(len(arms) == 1 for arms in play(closing, 20))


def test_it_changes_nothing_while_the_policy_still_compares():
    alone, closing = (md.make("multi-rucb", n_arms=5, slate_size=3, seed=2, **more) for more in ({}, {"closing": True}))
    for _ in range(60):
        slates = [policy.ask() for policy in (alone, closing)]
        if len(slates[0].arms) == 1:
            break
        assert slates[0] == slates[1]
        for policy, slate in zip((alone, closing), slates, strict=True):
            policy.tell(slate, md.ranking(sorted(slate.arms)))
    else:
        pytest.fail("the policy never stopped comparing")
    assert len(slates[1].arms) > 1


def test_late_answers_go_to_whoever_asked():
    policy = md.make("ind-self-sparring", n_arms=5, slate_size=3, seed=4, closing=True)
    play(policy, 800, late=9)
    inner = policy._state.policy.race
    duels = inner.a.sum() + inner.b.sum() - 10
    assert 0 < duels < policy.tally.above.sum() * 2  # what the challengers showed is not the sampler's
    assert policy.verdict().winner == 0


def test_a_closing_policy_is_saved_and_restored():
    policy = md.make("multi-rucb", n_arms=5, slate_size=3, seed=3, closing=0.01)
    assert isinstance(policy.params, Closing) and policy.params.closer.alpha == 0.01
    play(policy, 300)
    twin = md.restore(json.loads(json.dumps(policy.snapshot())))
    assert twin.snapshot() == policy.snapshot()
    assert play(policy, 200, seed=5) == play(twin, 200, seed=5)
    broken = policy.snapshot()
    broken["state"][-2] = pack(np.full(REMEMBERED, 10**9))
    with pytest.raises(md.BadInput, match="'closed'"):
        md.restore(broken)
    with pytest.raises(md.BadInput, match="'closing' of 'multi-rucb'"):
        md.make("multi-rucb", n_arms=5, closing=2.0)
    assert md.make("multi-rucb", n_arms=5, closing="false").params == md.make("multi-rucb", n_arms=5).params
    assert REMEMBERED > 100


def test_until_a_verdict_is_what_ask_and_tell_see():
    result = md.simulate("challengers", md.Rankings(EASY), slate_size=3, horizon=5000, runs=30, seed=1, until="verdict")
    settled = result.settlement
    assert settled.settled.all() and not settled.wrong.any() and (settled.arm == 0).all() and set(settled.kind) == {"winner"}
    assert (settled.answers == settled.rounds).all()
    answers = []
    for seed in range(30):
        policy = md.make("challengers", n_arms=5, slate_size=3, seed=seed)
        for t in range(1, 5000):
            play(policy, 1, seed=1000 * seed + t)
            if policy.verdict().settled:
                answers.append(t)
                break
    assert 0.6 < np.median(answers) / np.median(settled.answers) < 1.6


def test_regret_until_the_verdict():
    problem = md.from_utilities([1.2, 0.3, 0.0], link="logit")
    options = {"slate_size": 2, "horizon": 3000, "runs": 6, "seed": 3}
    result = md.simulate("uniform", problem, until="verdict", **options)
    full = md.simulate("uniform", problem, checkpoints=range(1, 3001), **options)
    for run in range(6):
        at = int(result.settlement.rounds[run])
        assert result.settlement.regret[run] == pytest.approx(full.regret[run, at - 1])
    assert len(result.checkpoints) == result.regret.shape[1]
    few = md.simulate("uniform", problem, until="verdict", checkpoints=[10, 20], **options)
    assert few.checkpoints.tolist() == [10, 20] and (few.settlement.rounds == result.settlement.rounds).all()
    assert (few.regret == full.regret[:, [9, 19]]).all()
    json.dumps(result.to_json(), allow_nan=False)


def test_until_a_verdict_of_a_policy_that_commits_in_blocks():
    options = {"horizon": 4000, "runs": 4, "seed": 3, "until": "verdict"}
    result = md.simulate("doubler-bai", EASY, closing=True, **options)
    assert (result.settlement.settled & ~result.settlement.wrong).all()


def test_a_cycle_is_a_verdict_too_and_an_open_matter_is_said_to_be():
    P = [[0.5, 0.8, 0.2], [0.2, 0.5, 0.8], [0.8, 0.2, 0.5]]
    options = {"horizon": 3000, "runs": 5, "benchmark": "copeland", "until": "verdict"}
    assert set(md.simulate("challengers", P, **options).settlement.kind) == {"cycle"}
    options["horizon"] = 20
    settled = md.simulate("challengers", P, **options).settlement
    assert set(settled.kind) == {"open"} and not settled.wrong.any() and np.isinf(settled.rounds).all()


@pytest.mark.parametrize("arguments", [{"until": "noon"}, {"until": "verdict", "verdict_error": 0.0}])
def test_what_is_refused(arguments):
    with pytest.raises(md.BadInput):
        md.simulate("uniform", EASY, horizon=10, **arguments)
    with pytest.raises(md.BadInput, match="strengths"):
        md.Rankings(md.synthetic(5))
    with pytest.raises(md.BadInput, match=r"strengths.* is off by inf"):
        md.Rankings(md.from_matrix([[0.5, 1.0], [0.0, 0.5]]))


def test_rankings_have_the_pairs_of_the_problem_and_agree_with_themselves():
    world = md.Rankings(EASY).world(np.arange(5), 5)
    slate, wins, total = np.array([3, 0, 4, 1]), np.zeros((4, 4)), np.zeros((4, 4))
    for t in range(1, 6001):
        compare(world, np.uint64(7), t, 1, slate, wins)
        assert (wins + wins.T + np.eye(4) == 1.0).all() and sorted(wins.sum(axis=1)) == [0, 1, 2, 3]  # a ranking
        total += wins
    expected = EASY.matrix[np.ix_(slate, slate)] * (1 - np.eye(4))
    assert np.abs(total / 6000 - expected).max() < 4.5 * 0.5 / np.sqrt(6000)
    both = np.zeros((4, 4))
    compare(world, np.uint64(7), 1, 50, slate, both)
    one_by_one = np.zeros((4, 4))
    for t in range(1, 51):
        compare(world, np.uint64(7), t, 1, slate, wins)
        one_by_one += wins
    assert (both == one_by_one).all()


def test_who_comes_first_of_many_is_by_plackett_and_luces_law():
    """Which pairs do not tell: noise with a long tail below has the same, and the strong arm would come first in 69 of 100."""
    strength = np.array([2.0] + [0.0] * 9)
    world = md.Rankings(md.from_utilities(strength, link="logit")).world(np.arange(10), 10)
    wins, first = np.zeros((10, 10)), np.zeros(10)
    for t in range(1, 1001):
        compare(world, np.uint64(3), t, 1, np.arange(10), wins)
        first[wins.sum(axis=1).argmax()] += 1.0
    law = np.exp(strength) / np.exp(strength).sum()
    assert (np.abs(first / 1000 - law) < 4.5 * np.sqrt(law * (1.0 - law) / 1000)).all()


def test_the_least_chance_that_can_be_drawn_comes_first_and_is_no_error(monkeypatch):
    monkeypatch.setattr(worlds, "chance", lambda start, arm: 0.0 if arm == 2 else 0.5)
    wins = np.zeros((3, 3))
    compare(md.Rankings(EASY).world(np.arange(5), 3), np.uint64(7), 1, 2, np.array([0, 2, 1]), wins)
    assert wins.tolist() == [[0.0, 0.0, 2.0], [2.0, 0.0, 2.0], [0.0, 0.0, 0.0]]


@pytest.mark.parametrize(("off", "taken"), [(0.5e-6, True), (1.5e-6, False)])
def test_strengths_may_be_off_by_rounding_and_no_more(off, taken):
    P = np.array(EASY.matrix)
    P[1, 2] += off
    P[2, 1] -= off
    if taken:
        assert md.Rankings(md.from_matrix(P)).n_arms == 5
        return
    with pytest.raises(md.BadInput, match=r"is off by 1\.5e-06"):
        md.Rankings(md.from_matrix(P))


def test_judges_toss_coins_or_rank_and_a_result_says_which():
    assert answered_by(EASY, "coins") is EASY
    with pytest.raises(md.BadInput, match=r"'answers' must be one of coins, rankings\. Got 'shouts'"):
        answered_by(EASY, "shouts")
    ranked = answered_by(EASY, "rankings")
    assert isinstance(ranked, md.Rankings)
    assert ranked.to_json() == {**EASY.to_json(), "label": f"{EASY.label}, rankings", "answers": "rankings"}


def test_a_log_is_a_problem():
    policy = md.make("uniform", n_arms=5, slate_size=3, seed=1)
    play(policy, 400)
    problem = md.estimate(policy.tally, names=list("abcde"))
    truth = EASY.matrix
    assert isinstance(problem, md.Problem) and ((problem.low <= truth) & (truth <= problem.high)).all()
    assert problem.winner == 0 and md.theory.condorcet_winner(problem.matrix) == 0
    assert md.simulate("multi-rucb", problem, horizon=100, runs=2).problem["low"] == problem.low.tolist()
    import pickle

    copy = pickle.loads(pickle.dumps(problem))
    assert (copy.low == problem.low).all() and (copy.matrix == problem.matrix).all() and copy.names == problem.names
    with pytest.raises(md.BadInput):
        md.estimate(policy.tally, alpha=0.0)


RNG, FIRST_WINS = np.arange(1, 5, dtype=np.uint64), np.array([[0.0, 1.0], [0.0, 0.0]])


def around(params, *script, n_arms=4):
    """A policy that obeys, with another around it: the State, and a way to ask for (arms, rounds)."""
    state, slate = init(params, n_arms, RNG.copy()), np.zeros(n_arms, np.int64)
    state.policy.script[:] = script

    def asked(round, limit=100):
        n, rounds = ask(params, state, RNG, round, limit, slate)
        return slate[:n].tolist(), rounds

    return state, asked


def test_challengers_choose_where_one_arm_is_shown_and_the_matter_is_open():
    params = Closing(obedient.Params(), challengers.Params(3, 0.05))
    state, asked = around(params, ((1, 3), 7, (4, 2)), ((2,), 5), ((1, 3), 7, (4, 2)), ((1,), 9))
    assert asked(1) == ([1, 3], 1) and state.policy.asked == [(1, 1)], "round by round while it is open"
    assert [seats(params, state, place) for place in (0, 1)] == [4, 2]
    arms, rounds = asked(2)
    assert len(set(arms)) == 3 and rounds == 1 and state.policy.asked[1:] == [(2, 1)]
    assert [seats(params, state, place) for place in (0, 1, 2)] == [1, 1, 1]
    assert asked(3) == ([1, 3], 1) and seats(params, state, 0) == 4
    assert np.flatnonzero(state.closed).tolist() == [2] and state.closed[2] == 2


def test_they_take_over_until_the_verdict_falls_and_not_beyond():
    params = Closing(obedient.Params(), challengers.Params(2, 0.05))
    state, asked = around(params, ((1,), 9))
    state.policy.bet[0], needed = 3, math.log(4 / 0.05)
    state.closer.against[:] = 9.0, 9.0, -9.0, 9.0
    state.closer.L[2] = np.nextafter(needed, 0.0)
    assert len(asked(1)[0]) == 2 and recommend(params, state) == 3
    state.closer.L[2] = needed
    assert asked(2) == ([1], 9) and state.policy.asked[-1] == (2, 100) and recommend(params, state) == 2
    assert seats(params, state, 0) == 1 and state.closed[2] == 0


def test_answers_to_what_challengers_showed_are_theirs_alone_for_1024_rounds():
    params = Closing(obedient.Params(), challengers.Params(2, 0.05))
    state, asked = around(params, ((1,), 1))

    def reaches(round):
        """Does the policy inside hear of the answer? The challengers do."""
        before, heard = state.closer.W.sum(), len(state.policy.heard)
        tell(params, state, RNG, round, np.array([3, 1]), FIRST_WINS)
        assert state.closer.W.sum() == before + 1.0
        return len(state.policy.heard) > heard

    assert reaches(0), "nobody asked for it"
    for round in (1, 2, 1024):
        asked(round)
    assert not reaches(1) and not reaches(2) and not reaches(1024) and reaches(3)
    asked(1025)
    assert not reaches(1025) and not reaches(2) and reaches(1), "older ones are not told apart any more"
    assert state.policy.heard[-1] == (1, [3, 1], FIRST_WINS.tolist())
    assert state.closed.shape == (1024,) and state.last.shape == (1,), "as in every snapshot"


def test_what_a_closing_state_may_hold_is_said_of_every_part():
    params = Closing(uniform.Params(2))
    state = init(params, 4, RNG.copy())
    fresh = valid(params, state, 4, 0)
    assert set(fresh) == {"policy", "closer", "closed", "last"} and all(fresh.values())
    assert fresh["policy"] == valid(params.policy, state.policy, 4, 0) and fresh["closer"]["W"] is True
    state.closed[7], state.last[0] = 7, 1
    assert (
        valid(params, state, 4, 7)["closed"] and valid(params, state, 4, 7)["last"] and not valid(params, state, 4, 6)["closed"]
    )
    state.closed[7], state.last[0], state.closer.W[0, 1] = -1, 2, -1.0
    broken = valid(params, state, 4, 7)
    assert not broken["closed"] and not broken["last"] and not broken["closer"]["W"]


@pytest.mark.parametrize(
    "params", [Closing(obedient.Params()), Watched(obedient.Params(), 0.05, False)], ids=["closing", "watched"]
)
def test_features_reach_the_policy_inside(params):
    state, _ = around(params)
    use_features(params, state, np.array([[1.0], [2.0], [3.0], [4.0]]))
    assert state.policy.features == [[[1.0], [2.0], [3.0], [4.0]]]


def noisy(rng):
    """Of four options the last is the best; some are level."""
    arms = rng.permutation(4)[:3]
    value = arms + rng.integers(-2, 3, size=3)
    return arms, (value[:, None] > value) + 0.5 * (value[:, None] == value) * (1 - np.eye(3))


def in_circles(rng):
    i = int(rng.integers(3))
    return np.array([i, (i + 1) % 3]), FIRST_WINS


@pytest.mark.parametrize(("answer", "n_arms", "kind", "arm"), [(noisy, 4, 1, 3), (in_circles, 3, 2, 2)])
@pytest.mark.parametrize("alpha", [0.05, 0.3])
def test_a_watched_policy_is_settled_with_the_answer_that_settles_the_verdict(answer, n_arms, kind, arm, alpha):
    params, rng, tally = Watched(obedient.Params(), alpha, False), np.random.default_rng(5), Tally(n_arms)
    state, asked = around(params, ((0, 1), 7, (4, 2)), n_arms=n_arms)
    state.policy.bet[0] = 2
    while not (verdict := md.verdict(tally, alpha=alpha)).settled:
        assert state.settled.tolist() == [0, tally.answers, 0, 0]
        began = 3 * tally.answers + 1
        assert asked(began) == ([0, 1], 7) and recommend(params, state) == 2 and seats(params, state, 0) == 4
        arms, wins = answer(rng)
        tally.add(tuple(arms.tolist()), wins)
        tell(params, state, RNG, 3 * tally.answers, arms, wins)
        assert state.policy.heard[-1][:2] == (3 * tally.answers, arms.tolist()) and len(state.policy.heard) == tally.answers
        assert (tally.above == state.D).all() and np.allclose(state.L, weighed(state.D)[0])
    assert verdict.kind == ("open", "winner", "cycle")[kind]
    assert state.settled.tolist() == [began + 6, tally.answers, arm, kind], "after the rounds that are played, however late"
    tell(params, state, RNG, 3, arms, wins)  # was under way
    assert state.settled.tolist() == [began + 6, tally.answers, arm, kind] and len(state.policy.heard) == tally.answers
    assert asked(9, 55) == ([arm], 55) and recommend(params, state) == arm and seats(params, state, 0) == 1


def test_every_answer_is_looked_at_where_a_policy_would_commit_to_several_arms():
    state, asked = around(Watched(obedient.Params(), 0.05, True), ((0, 1), 7))
    assert asked(1) == ([0, 1], 1) and state.policy.asked == [(1, 1)]
