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


def test_a_tally_is_saved_and_goes_on():
    """Through saving and restoring at any point, what counts, what is undone and which judgement is the first stay the same."""
    for unit in ("answer", "rater"):
        rng = np.random.default_rng(3)
        plain, moved = Tally(4, unit=unit), Tally(4, unit=unit)
        told = []
        for step in range(120):
            if told and rng.random() < 0.3:
                number, arms, wins, rater = told.pop(int(rng.integers(len(told))))
                for tally in (plain, moved):
                    tally.undo(tally.held(number, arms, wins, rater))
            else:
                arms = tuple(int(arm) for arm in rng.permutation(plain.n_arms)[:3])
                wins, rater = np.triu(rng.integers(0, 2, (3, 3)), 1).astype(float), f"r{rng.integers(5)}"
                (number,) = {tally.add(arms, wins, rater).number for tally in (plain, moved)}
                told.append((number, arms, wins, rater))
            if step % 7 == 0:
                moved = Tally.restored(moved.saved())
            if step == 60:
                for tally in (plain, moved):
                    tally.grow(5)
            assert (plain.above == moved.above).all() and (plain.ties == moved.ties).all()
            assert (plain.showings == moved.showings).all() and plain.answers == moved.answers
        for rater in ("r0", "r4"):
            for pair in ((0, 1), (3, 2)):
                assert plain.has_judged(rater, *pair) == moved.has_judged(rater, *pair)
        for name, value in plain.saved().items():
            assert np.array_equal(value, moved.saved()[name]), name
    with pytest.raises(BadInput, match="cannot shrink"):
        plain.grow(3)
    with pytest.raises(BadInput, match="as many judgements"):
        Tally.restored(plain.saved() | {"lengths": np.array([1])})
