"""Answers counted, added and undone."""

import numpy as np
import pytest

from multiduel import BadInput
from multiduel.inference import Tally


def ranking(n):
    return np.triu(np.ones((n, n)), 1)


def test_an_answer_counts_once_per_pair_and_ties_apart():
    tally = Tally(4)
    tally.add((3, 1, 0), [[0, 7, 0.5], [2, 0, 0], [0.5, 0, 0]])  # 3 over 1, level with 0; 1 and 0 were not told apart
    assert tally.above[3, 1] == 1.0 and tally.above.sum() == 1.0
    assert tally.ties[3, 0] == tally.ties[0, 3] == 1.0 and tally.ties.sum() == 2.0
    assert tally.showings.tolist() == [1, 1, 0, 1] and tally.answers == 1


@pytest.mark.parametrize("unit", ["answer", "rater"])
def test_undoing_in_any_order_leaves_what_the_others_said(unit):
    rng = np.random.default_rng(3)
    tally, answers, said = Tally(6, unit=unit), [], []
    for _ in range(200):
        arms = rng.permutation(6)[:3].tolist()
        rank = rng.integers(3, size=3)
        wins = (rank[:, None] < rank) + 0.5 * (rank[:, None] == rank) * (1 - np.eye(3))
        said.append((arms, wins, int(rng.integers(12))))
        answers.append(tally.add(*said[-1]))
    gone = set(rng.permutation(200)[:120].tolist())
    for k in rng.permutation(sorted(gone)):
        tally.undo(answers[k])
    kept = Tally(6, unit=unit)
    for k in range(200):
        if k not in gone:
            kept.add(*said[k])
    assert (tally.above == kept.above).all() and (tally.ties == kept.ties).all()
    assert tally.answers == kept.answers == 80 and (tally.showings == kept.showings).all()


def test_by_rater_the_first_judgement_of_a_pair_counts():
    tally = Tally(3, unit="rater")
    first = tally.add((0, 1), ranking(2), rater="ann")
    tally.add((1, 0, 2), ranking(3), rater="ann")  # 1 over 0 came second
    tally.add((1, 0), ranking(2), rater="bob")
    assert tally.above.tolist() == [[0, 1, 1], [1, 0, 1], [0, 0, 0]]
    tally.undo(first)
    assert tally.above.tolist() == [[0, 0, 1], [2, 0, 1], [0, 0, 0]]
    by_answer = Tally(3)
    for _ in range(2):
        by_answer.add((0, 1), ranking(2), rater="ann")
    assert by_answer.above[0, 1] == 2.0, "by answer, each of hers"


def test_what_is_refused():
    tally = Tally(3)
    answer = tally.add((0, 1), ranking(2))
    before = tally.above.copy()
    tally.undo(answer)
    for act in (
        lambda: tally.undo(answer),
        lambda: tally.undo("it"),
        lambda: tally.add((0, 3), ranking(2)),
        lambda: tally.add((0, 0), ranking(2)),
        lambda: tally.add((0, 1), ranking(3)),
        lambda: tally.add((0, 1), [[0, -1], [0, 0]]),
        lambda: tally.add((0, 1), [[1, 0], [0, 0]]),
        lambda: tally.add((0, 1), [[0, float("nan")], [0, 0]]),
        lambda: tally.add((0, 1), [[0, float("inf")], [0, 0]]),
        lambda: tally.add((0, 1.5), ranking(2)),
        lambda: Tally(0),
        lambda: Tally(3, unit="day"),
        lambda: Tally(3, unit="rater").add((0, 1), ranking(2)),
        lambda: Tally.of([[0, 1], [2, 1]]),
        lambda: Tally.of([[0, 1]]),
        lambda: Tally.of("counts"),
        lambda: Tally.of([[0, 1], [2, 0]], [[0, 1], [0, 0]]),
        lambda: Tally.of([[0, 1], [2, 0]], showings=[1, 3]),
    ):
        with pytest.raises(BadInput):
            act()
    assert tally.above.sum() == 0.0 and before.sum() == 1.0


def test_counts_from_elsewhere():
    """What is not said is the least that it can be."""
    tally = Tally.of([[0, 5, 0], [2, 0, 1], [0, 0, 0]], [[0, 0.5, 0], [0.5, 0, 0], [0, 0, 0]])
    assert tally.showings.tolist() == [8, 8, 1] and tally.answers == 8 and tally.unit == "answer"
    assert tally.showings.dtype == np.int64
    assert Tally.of(np.zeros((2, 2))).answers == 0
    given = Tally.of([[0, 5], [2, 0]], showings=[7, 9], answers=11, unit="rater")
    assert given.showings.tolist() == [7, 9] and given.answers == 11 and given.unit == "rater"
    assert given.ties.tolist() == [[0, 0], [0, 0]]
    above = np.array([[0.0, 1.0], [0.0, 0.0]])
    Tally.of(above).add((1, 0), ranking(2))
    assert above.tolist() == [[0, 1], [0, 0]], "the tally counts in a copy"


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ({"above": [[0, 1], [2, 1]]}, "'above' must hold finite counts of at least 0, with 0 on the diagonal"),
        ({"above": [[0, -1], [2, 0]]}, "'above' must hold finite counts"),
        ({"above": [[0, np.inf], [2, 0]]}, "'above' must hold finite counts"),
        ({"above": np.zeros((0, 0))}, "'above' must be a square table of counts. Got shape"),
        ({"above": [[0, 1]]}, "'above' must be a square table of counts. Got shape"),
        ({"above": [1, 2]}, "'above' must be a square table of counts. Got shape"),
        ({"above": [[0, 1], [1, 0]], "ties": np.zeros((3, 3))}, "'ties' must be symmetric and of the shape of 'above'"),
        ({"above": [[0, 1], [1, 0]], "showings": [2, 2, 2]}, "'showings' must have 2 counts"),
    ],
)
def test_counts_that_cannot_be(counts, says):
    with pytest.raises(BadInput, match=says):
        Tally.of(**counts)


@pytest.mark.parametrize("n_arms", [True, 2.0, "3", 0, -1])
def test_how_many_arms_a_tally_may_have(n_arms):
    with pytest.raises(BadInput, match="'n_arms' of a tally must be a whole number of at least 1"):
        Tally(n_arms)
    assert Tally(np.int64(1)).n_arms == 1


def test_answers_are_numbered_and_may_say_nothing():
    tally = Tally(3)
    numbers = [tally.add(*said).number for said in (((0, 1), ranking(2)), ((), np.zeros((0, 0))), ((2,), [[0]]))]
    assert numbers == [1, 2, 3] and tally.answers == 3 and tally.showings.tolist() == [1, 1, 1]
    last = tally.add((0, 1), [[0, 1], [1, 0]])
    assert last.said.tolist() == [[False, True], [True, False]] and not last.placed.any()
    tally.undo(last)
    assert tally.add((0, 1), ranking(2)).number == 5, "a number is never given again"


def test_who_has_judged_what():
    tally = Tally(3, unit="rater")
    answer = tally.add((2, 0), ranking(2), rater="ann")
    assert tally.has_judged("ann", 2, 0) and tally.has_judged("ann", 0, 2)
    assert not tally.has_judged("ann", 0, 1) and not tally.has_judged("bob", 0, 2)
    tally.undo(answer)
    assert not tally.has_judged("ann", 0, 2)
    tally.grow(4)
    assert tally.n_arms == 4 and tally.showings.tolist() == [0, 0, 0, 0] and tally.ties.shape == (4, 4)
    tally.grow(4)  # as many as there are is fine
    with pytest.raises(BadInput, match="cannot shrink"):
        tally.grow(3)
