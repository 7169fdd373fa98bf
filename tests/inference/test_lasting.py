"""A verdict once reached stands: agreement with verdicts asked for after every answer, and the error by simulation."""

import numpy as np
import pytest

from multiduel.inference import Lasting, verdict
from multiduel.inference.verdict import needed
from multiduel.inputs import BadInput


def answers(P, n, rng, ties=0.0):
    K = len(P)
    first = rng.integers(K, size=n)
    second = (first + 1 + rng.integers(K - 1, size=n)) % K
    won = (rng.random(n) < np.array(P)[first, second]).astype(float)
    won[rng.random(n) < ties] = 0.5
    return first, second, won


def tables(first, second, won, K):
    above, level = np.zeros((K, K)), np.zeros((K, K))
    for i, j, part in zip(first, second, won, strict=True):
        if part == 0.5:
            level[i, j] += 1
            level[j, i] += 1
        else:
            above[(i, j) if part > 0.5 else (j, i)] += 1
    return above, level


@pytest.mark.parametrize("margin", [0.0, 0.05])
def test_the_first_verdict_is_the_one_that_stands(margin):
    """The reference asks ``verdict`` after every answer and keeps the largest evidence by hand."""
    P = [[0.5, 0.7, 0.75], [0.3, 0.5, 0.6], [0.25, 0.4, 0.5]]
    rng = np.random.default_rng(1)
    first, second, won = answers(P, 400, rng, ties=0.2)
    course = Lasting(3, margin=margin)
    course.add(first, second, won)
    stood = course.verdict()
    peak, against, reached = np.full((3, 3), -np.inf), np.full(3, -np.inf), None
    for n in range(1, 401):
        now = verdict(*tables(first[:n], second[:n], won[:n], 3), margin=margin)
        peak, against = np.maximum(peak, now.evidence), np.maximum(against, now.against)
        L = peak.copy()
        np.fill_diagonal(L, np.inf)
        if reached is None and L.min(axis=1).max() >= needed(3, 0.05).winner:
            reached, winner = n, int(L.min(axis=1).argmax())
    assert (stood.reached, stood.verdict.winner) == (reached, winner) == (reached, 0)
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(stood.verdict.evidence[off], np.maximum(peak, 0.0)[off], atol=1e-9)
    np.testing.assert_allclose(stood.verdict.against, np.maximum(against, 0.0), atol=1e-9)
    np.testing.assert_array_equal(stood.now.tally, tables(first, second, won, 3))


def test_in_portions_as_at_once():
    rng = np.random.default_rng(2)
    columns = answers([[0.5, 0.6], [0.4, 0.5]], 300, rng)
    once, portions = Lasting(2), Lasting(2)
    once.add(*columns)
    for start in range(0, 300, 37):
        portions.add(*(column[start : start + 37] for column in columns))
    assert once.verdict().reached == portions.verdict().reached
    np.testing.assert_array_equal(once.course.peak, portions.course.peak)


def test_later_answers_cloud_a_verdict_and_do_not_take_it_back():
    course = Lasting(2)
    course.add([0] * 20, [1] * 20, [1.0] * 20)
    assert course.verdict().doubt == ""
    course.add([0] * 18, [1] * 18, [0.0] * 18)
    stood = course.verdict(names=["a", "b"])
    assert stood.verdict.winner == 0 and stood.now.winner is None
    assert "Later answers cloud it: now 'a' is placed above 'b' in 52.6 % of the answers" in str(stood)
    course.add([0] * 200, [1] * 200, [0.0] * 200)
    stood = course.verdict(names=["a", "b"])
    assert stood.verdict.winner == 0 and stood.now.winner == 1 and "Later answers contradict it: 'b' reached" in str(stood)


def test_with_a_margin_all_within_it_are_named():
    course = Lasting(3, margin=0.1)
    rng = np.random.default_rng(0)
    course.add(*answers([[0.5, 0.5, 0.8], [0.5, 0.5, 0.8], [0.2, 0.2, 0.5]], 3000, rng))
    stood = course.verdict(names=["a", "b", "c"])
    assert set(stood.winners) == {0, 1} and stood.verdict.winner == stood.winners[0]
    assert "as good as the best, within 10 %" in str(stood)


def test_counts_seen_between_answers_are_kept():
    course = Lasting(2)
    course.see(np.array([[0.0, 20.0], [0.0, 0.0]]), np.zeros((2, 2)), 20)
    course.see(np.array([[0.0, 20.0], [18.0, 0.0]]), np.zeros((2, 2)), 38)
    stood = course.verdict()
    assert stood.verdict.winner == 0 and stood.reached == 20 and stood.now.winner is None
    with pytest.raises(BadInput, match="counts of 2 options"):
        course.see(np.zeros((3, 3)), np.zeros((3, 3)), 1)


@pytest.mark.parametrize(
    "columns", [([0], [0], [1.0]), ([0], [2], [1.0]), ([0], [1], [1.5]), ([0, 1], [1], [1.0]), ("x", "y", "z")]
)
def test_what_is_no_judgement_is_refused_and_changes_nothing(columns):
    course = Lasting(2)
    with pytest.raises(BadInput, match="Judgements must be two columns"):
        course.add(*columns)
    assert course.answers == 0 and not course.course.above.any()


@pytest.mark.parametrize(("K", "n"), [(2, 2500), (4, 1500)])
def test_error_of_verdicts_that_stand_is_at_most_alpha(K, n):
    """Equal options, 400 logs, looked at after every answer: errors at most alpha = 0.1, by 3 standard errors."""
    rng, wrong = np.random.default_rng(5), 0
    for _ in range(400):
        course = Lasting(K, alpha=0.1)
        course.add(*answers(np.full((K, K), 0.5), n, rng))
        wrong += course.verdict().verdict.kind == "winner"
    assert wrong <= 40 + 3 * np.sqrt(400 * 0.1 * 0.9)
