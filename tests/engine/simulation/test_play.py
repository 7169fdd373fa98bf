"""The loop and the entries that are compiled, called as plain Python, with a policy that does as it is told."""

import math

import numpy as np
import pytest

from multiduel.engine.session.rounds import (
    Duel,
    any_positive,
    ask_once,
    observe_pairs,
    observe_slate,
    recommend_once,
    sensible,
    tell_once,
)
from multiduel.engine.simulation.play import EVENTS, FAULT, MARK, ROUND, STRETCH, Opponent, Pace, Record, faulty, play
from multiduel.engine.simulation.worlds import BlockMatrix, Matrix, sides
from multiduel.kernels.contract import FOREVER, compare
from multiduel.kernels.evidence import no_answers
from tests.engine.obedient import Params, silent

ME, RNG = Params(), np.arange(1, 5, dtype=np.uint64)
GAPS = np.array([0.0, 0.375, 0.75, 1.125, 1.5, 3.0])  # thirds and quarters of their sums are exact
FIRST_WINS = np.triu(np.ones((6, 6)), 1) + 0.5 * np.eye(6)


def a_record(checkpoints, seats=4):
    marks = np.array(checkpoints)
    clock = np.array([1, 0, 0, 0])
    return Record(marks, clock, np.zeros((2, 4)), np.zeros((4, len(marks))), np.zeros(6, np.int64), np.zeros((seats, seats)))


def played(state, record, *, horizon, stride=FOREVER, budget=1000, watched=False, gaps=GAPS):
    opponent = Opponent(Matrix(sides(FIRST_WINS)), np.uint64(3), gaps)
    return play(ME, state, RNG, opponent, Pace(horizon, stride, budget, watched), record)


SCRIPT = [  # each differs from the one before in one kind of regret only, or in none, or in all
    ((0, 1), 1),
    ((1, 0), 2),
    ((0, 1), 3, (1, 3)),  # in that of seats
    ((0, 1, 5), 2),
    ((0, 2, 5), 2, (1, 2, 1)),  # in the average
    ((0, 1, 4), 1),
    ((0, 2, 3), 4),  # in the strong
    ((0, 3, 4), 2),
    ((1, 2, 4), 3),  # in the weak
    ((5,), 7),
    ((2,), 5),
    ((4, 3, 2, 1), 6, (2, 1, 1, 4)),
]
HORIZON = sum(event[1] for event in SCRIPT)


def by_rounds(script):
    """The four regrets after each round."""
    rows = []
    for arms, rounds, *taken in script:
        gaps, times = GAPS[list(arms)], np.array(taken[0] if taken else [1] * len(arms))
        rows += [[gaps.mean(), gaps.max(), gaps.min(), (gaps * times).sum() / times.sum()]] * rounds
    return np.cumsum(rows, axis=0).T


@pytest.mark.parametrize("budget", [1, 2, 1000])
@pytest.mark.parametrize("checkpoints", [range(1, HORIZON + 1), [2, 3, 9, 13, 14, 30, HORIZON], [7]])
def test_regret_is_that_of_every_round_wherever_one_looks(checkpoints, budget):
    record, state, marks = a_record(checkpoints), silent(*SCRIPT), list(checkpoints)
    for call in range(1, math.ceil(len(SCRIPT) / budget) + 1):
        played(state, record, horizon=HORIZON, budget=budget)
        assert record.clock[EVENTS] == min(call * budget, len(SCRIPT))
    assert (record.regret == by_rounds(SCRIPT)[:, [mark - 1 for mark in marks]]).all()
    assert record.clock[[ROUND, MARK, EVENTS]].tolist() == [HORIZON + 1, len(marks), len(SCRIPT)]


def test_regret_is_the_same_to_the_last_bit_in_one_event_or_in_many():
    gaps, marks = np.array([0.1, 0.7, 0.3, 0.0, 0.0, 0.0]), range(1, 51)
    at_once, one_by_one = a_record(marks), a_record(marks)
    played(silent(((0, 1), 50, (2, 1))), at_once, horizon=50, gaps=gaps)
    played(silent(((0, 1), 1, (2, 1))), one_by_one, horizon=50, gaps=gaps)
    assert at_once.clock[EVENTS] == 1 and one_by_one.clock[EVENTS] == 50
    assert (at_once.regret == one_by_one.regret).all()
    assert at_once.clock[STRETCH] == one_by_one.clock[STRETCH] == 50


def test_it_asks_for_no_more_rounds_than_are_left_and_than_the_stride():
    state, record = silent(((0, 1), 4)), a_record([10])
    assert played(state, record, horizon=10, stride=3) == 0
    assert state.asked == [(1, 3), (4, 3), (7, 3), (10, 1)] and record.clock[ROUND] == 11
    state.bet[0] = 5
    assert played(state, record, horizon=10) == 5 and len(state.asked) == 4, "nothing is left to play"
    played(state, record, horizon=12)
    assert state.asked[4:] == [(11, 2)]


def test_it_is_told_what_came_of_every_slate_but_of_one_arm():
    state = silent(((2, 4, 1), 3), ((3,), 5), ((5, 0), 2))
    played(state, a_record([10]), horizon=10)
    three = [[0.0, 3.0, 0.0], [0.0, 0.0, 0.0], [3.0, 3.0, 0.0]]
    heard = [(round, arms, np.array(wins)[: len(arms), : len(arms)].tolist()) for round, arms, wins in state.heard]
    assert heard == [(1, [2, 4, 1], three), (9, [5, 0], [[0.0, 0.0], [2.0, 0.0]])]


GOOD = {"n": 3, "rounds": 5, "limit": 5, "most": 3, "n_arms": 6}


@pytest.mark.parametrize(
    ("slate", "more", "wrong"),
    [
        ([0, 5, 2], {}, False),
        ([5, 0, 9], {"n": 2}, False),  # what stands behind the slate is nobody's business
        ([0], {"n": 1, "most": 1, "rounds": 1, "limit": 1}, False),
        ([0, 1, 2], {"n": 0}, True),
        ([0, 1, 2, 3], {"n": 4}, True),
        ([0, 1, 2], {"rounds": 0}, True),
        ([0, 1, 2], {"rounds": 6}, True),
        ([0, 6, 2], {}, True),
        ([0, 2, -1], {}, True),
        ([0, 2, 0], {}, True),
        ([4, 4, 0], {}, True),
    ],
)
def test_what_is_no_slate(slate, more, wrong):
    assert faulty(np.array(slate), **(GOOD | more)) is wrong


@pytest.mark.parametrize(("arms", "seats"), [((0, 1, 2), 2), ((0, 1, 2, 3, 4, 5, 5), 9), ((1, 1), 4)])
def test_a_faulty_slate_stops_the_loop_if_it_is_watched(arms, seats):
    record = a_record([9], seats)._replace(slate=np.zeros(9, np.int64))
    state = silent(((0, 1), 4), (arms, 2))
    assert played(state, record, horizon=9, watched=True) == FAULT and FAULT < 0
    assert record.clock[[ROUND, MARK, STRETCH]].tolist() == [5, len(arms), 2] and len(state.heard) == 1
    assert record.slate[: len(arms)].tolist() == list(arms)


def test_a_good_slate_passes_the_watch_and_a_trusted_policy_is_not_watched():
    for script, watched in ([((0, 1), 3), ((3,), 6)], True), ([((0, 1), 3), ((2, 2), 6)], False):
        record = a_record([9])
        assert played(silent(*script), record, horizon=9, watched=watched) == 0 and record.clock[ROUND] == 10


def test_who_never_wins_never_wins_on_whichever_side_it_sits():
    """Of a chance of 0 the other side is -0.0, whose sign counts."""
    for P in FIRST_WINS, FIRST_WINS.T:
        for world in Matrix(sides(P)), BlockMatrix(sides(P), np.zeros(4, np.uint64)):
            for slate in ([0, 1, 2, 3, 4, 5], [5, 1, 4, 0, 3, 2]):
                wins, off = np.zeros((6, 6)), 1 - np.eye(6)
                for rounds in (1, 2, 7):
                    compare(world, np.uint64(5), 1, rounds, np.array(slate), wins)
                    assert (wins == rounds * P[np.ix_(slate, slate)] * off).all()


def test_the_sides_of_a_pair_are_its_chance_with_a_sign():
    P = np.array([[0.5, 0.8, 0.0], [0.2, 0.5, 1.0], [1.0, 0.0, 0.5]])
    assert sides(P).tolist() == [[0.5, 0.8, 0.0], [-0.8, 0.5, 1.0], [-0.0, -1.0, 0.5]]
    assert math.copysign(1.0, sides(P)[2, 0]) == -1.0 and sides(np.asfortranarray(P)).flags.c_contiguous


def test_blocks_have_the_chances_of_the_matrix_and_one_outcome_whoever_sits_where():
    P = np.array([[0.5, 0.9, 0.3], [0.1, 0.5, 0.6], [0.7, 0.4, 0.5]])
    world, total, blocks, rounds = BlockMatrix(sides(P), np.zeros(4, np.uint64)), np.zeros((3, 3)), 200, 50
    for t in range(blocks):
        everyone, turned, pair = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((2, 2))
        compare(world, np.uint64(9), 1 + rounds * t, rounds, np.arange(3), everyone)
        compare(world, np.uint64(9), 1 + rounds * t, rounds, np.array([2, 1, 0]), turned)
        compare(world, np.uint64(9), 1 + rounds * t, rounds, np.array([2, 0]), pair)
        assert (turned[::-1, ::-1] == everyone).all() and pair.tolist() == [[0.0, everyone[2, 0]], [everyone[0, 2], 0.0]]
        assert (everyone + everyone.T == rounds * (1 - np.eye(3))).all()
        total += everyone
        for one in Matrix(world.sides), world:
            compare(one, np.uint64(9), 1 + t, 1, np.array([2, 1, 0]), everyone if one is world else turned)
        assert (everyone == turned).all(), "a single round is that of the world without blocks"
    error = np.sqrt(P * (1 - P) / (blocks * rounds))
    assert (np.abs(total / (blocks * rounds) - P * (1 - np.eye(3))) < 4.5 * error + 0.5 * np.eye(3)).all()


WINS = np.array([[0.0, 2.0, 0.0], [0.5, 0.0, 0.0], [0.0, 0.25, 0.0]])
ARMS = np.array([4, 0, 3])


def entered(entry, wins, *, most=10.0, tally=None, arms=ARMS):
    """(taken?, what the policy heard, the tally)."""
    state, tally = silent(((0, 1), 1)), no_answers(6) if tally is None else tally
    if entry is tell_once:
        taken = tell_once(ME, state, RNG, 7, arms, wins, tally)
    else:
        taken = entry(ME, state, RNG, most, Duel(np.zeros(2, np.int64), np.zeros((2, 2))), arms, wins, tally)
    return taken, state.heard, tally


def test_an_ask_commits_to_one_round_and_a_bet_is_the_policys():
    state, slate = silent(((5, 0, 2), 9)), np.zeros(6, np.int64)
    state.bet[0] = 4
    assert recommend_once(ME, state) == 4
    assert ask_once(ME, state, RNG, 8, slate) == 3 and slate[:3].tolist() == [5, 0, 2] and state.asked == [(8, 1)]


def test_a_tell_reaches_the_policy_and_the_tally():
    taken, heard, tally = entered(tell_once, WINS)
    assert taken is True and heard == [(7, [4, 0, 3], WINS.tolist())]
    assert tally.above[4, 0] == tally.above[3, 0] == 1.0 and tally.above.sum() == 2.0 and tally.shares[:, 1].sum() == 3.0


def test_what_nobody_asked_for_is_told_as_of_round_0():
    taken, heard, tally = entered(observe_slate, WINS)
    assert taken is True and heard == [(0, [4, 0, 3], WINS.tolist())] and tally.above.sum() == 2.0


def test_a_two_dueling_policy_is_told_every_pair_that_was_compared():
    taken, heard, tally = entered(observe_pairs, WINS)
    assert taken is True and tally.above.sum() == 2.0
    assert heard == [(0, [4, 0], [[0.0, 2.0], [0.5, 0.0]]), (0, [0, 3], [[0.0, 0.0], [0.25, 0.0]])]


@pytest.mark.parametrize("entry", [tell_once, observe_slate, observe_pairs])
@pytest.mark.parametrize(("wins", "ties"), [([[0.0, 0.5], [0.5, 0.0]], 2.0), ([[0.0, 0.0], [1e-9, 0.0]], 0.0)])
def test_a_tie_and_the_least_weight_are_comparisons(entry, wins, ties):
    taken, heard, tally = entered(entry, np.array(wins), arms=ARMS[1:])
    assert taken is True and [told for _, *told in heard] == [[[0, 3], wins]]
    assert tally.ties.sum() == ties and tally.above[3, 0] == (0.0 if ties else 1.0)


@pytest.mark.parametrize("entry", [tell_once, observe_slate, observe_pairs])
def test_an_answer_that_compares_nothing_is_taken_and_changes_nothing(entry):
    taken, heard, tally = entered(entry, np.zeros((3, 3)))
    assert taken is True and heard == [] and not any(table.any() for table in tally)
    assert any_positive(np.zeros((3, 3))) is False


@pytest.mark.parametrize("entry", [observe_slate, observe_pairs])
@pytest.mark.parametrize("n", [0, 1, 6])
def test_an_empty_tally_counts_nothing_and_any_other_does(entry, n):
    arms, wins = (np.array([0]), np.zeros((1, 1))) if n == 1 else (ARMS, WINS)
    taken, heard, tally = entered(entry, wins, tally=no_answers(n), arms=arms)
    assert taken is True and len(tally.above) == n and tally.above.sum() == (2.0 if n == 6 else 0.0)
    assert bool(heard) == (n != 1)


@pytest.mark.parametrize("entry", [tell_once, observe_slate, observe_pairs])
@pytest.mark.parametrize("wrong", [-0.1, math.nan, math.inf, "too much", "itself"])
def test_wins_that_are_none_change_nothing(entry, wrong):
    wins, most = WINS.copy(), 1e9 if entry is tell_once else 10.0
    wins[(2, 2) if wrong == "itself" else (2, 0)] = {"itself": 1.0, "too much": np.nextafter(most, math.inf)}.get(wrong, wrong)
    taken, heard, tally = entered(entry, wins, most=most)
    assert taken is False and heard == [] and not any(table.any() for table in tally)
    wins[2] = 0.0, most, 0.0
    assert entered(entry, wins, most=most)[0] is True, "as much as the limit"


def test_sensible_wins():
    assert sensible(np.zeros((2, 2)), 1.0) and sensible(np.array([[0.0, 1.0], [1e-300, 0.0]]), 1.0)
    assert not sensible(np.array([[0.0, 1.0], [1.5, 0.0]]), 1.0) and not sensible(np.array([[0.0, 1.0], [-1e-300, 0.0]]), 1.0)
    assert not sensible(np.diag([0.0, 0.5]), 1.0) and not sensible(np.diag([0.0, -0.5]), 1.0)
