"""Linear policies beyond what every policy is tested for: features that change, the estimators, the answer to a slate."""

import numpy as np
import pytest

from multiduel import best, make
from multiduel.kernels.linear_utilities import surprise
from multiduel.policies.linear_duels.slate_step import make_room, read_ranking, slate_step
from tests.naive.follow import follow
from tests.naive.linear import Duels
from tests.naive.linear_self_sparring import Naive as NaiveSparring

NAMES = ("colstim", "max-in-p", "max-pair-ucb", "rcdb", "linear-self-sparring")
TWO = NAMES[:4]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("compiled", [False, True])
def test_with_features_that_change_it_follows_its_oracle(name, compiled):
    theta = np.array([1.5, -1.0, 0.5])
    for K, m, seed in ((2, 2, 1), (6, 3, 2), (12, 4, 3)):
        follow(name, {"dimension": 3}, K, m, seed, theta, 200 if compiled else 60, compiled=compiled)


@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize("estimator", ["exact", "gram"])
def test_every_estimator_follows_its_oracle(name, estimator):
    words = {"dimension": 3, "estimator": estimator} | ({"history": 40} if estimator == "exact" else {})
    follow(name, words, 6, 2, 5, np.array([1.5, -1.0, 0.5]), 120, compiled=True)


def test_exact_estimator_is_the_maximum_likelihood_estimate_while_all_duels_are_kept():
    rng = np.random.default_rng(3)
    policy = make("max-pair-ucb", n_arms=5, dimension=3, estimator="exact", history=60, seed=1)
    duels = []
    for _ in range(60):
        rows = rng.normal(size=(5, 3))
        slate = policy.ask(features=rows)
        if len(slate.arms) == 2:
            winner = slate.arms[int(rng.random() < 0.5)]
            policy.tell(slate, best(winner))
            duels.append((rows[slate.arms[0]] - rows[slate.arms[1]], float(winner == slate.arms[0]), 1.0))
    assert len(duels) > 40
    theta, _ = Duels(5, dimension=3).fit(np.zeros(3), np.eye(3), duels)
    assert np.abs(theta - policy._state.theta).max() < 1e-8


@pytest.mark.parametrize("won", [0.0, 0.3, 1.0, 7.0])
@pytest.mark.parametrize("v", [-50.0, -1.0, 0.0, 3.0, 800.0])
@pytest.mark.parametrize("q", [0.0, 0.5, 1e6])
def test_surprise_solves_its_equation(won, v, q):
    n = won + 1.0
    r = surprise(v, q, won, n)
    at = v + r * q
    p = 1.0 / (1.0 + np.exp(-at)) if at > -700 else 0.0
    slope = 1.0 + n * p * (1.0 - p) * q
    assert won - n <= r <= won and abs(won - n * p - r) / slope < 1e-9


RANKED = np.triu(np.ones((4, 4)), 1)  # arm 0 before 1 before 2 before 3


@pytest.mark.parametrize(
    ("wins", "expected"),
    [
        (RANKED, (3, 4, 1.0, [0, 1, 2, 3])),
        (RANKED[::-1, ::-1].copy(), (3, 4, 1.0, [3, 2, 1, 0])),
        (np.array([[0, 0, 0, 0], [1, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0.0]]), (1, 4, 1.0, [1, 0, 2, 3])),  # the best
        (RANKED * np.array([[1, 1, 0, 0]]), (1, 2, 1.0, [0, 1])),  # two of four were judged
        (2.0 * RANKED, (3, 4, 2.0, [0, 1, 2, 3])),
        (np.array([[0, 0, 0], [1, 0, 0], [1, 0, 0.0]]), (0, 0, 0.0, [])),  # the worst
        (np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0.0]]), (0, 0, 0.0, [])),  # a cycle
        (np.array([[0, 0.5, 1], [0.5, 0, 1], [0, 0, 0.0]]), (0, 0, 0.0, [])),  # a tie
    ],
    ids=["whole", "reversed", "best", "partial", "weighted", "worst", "cycle", "tie"],
)
def test_rankings_are_told_from_other_answers(wins, expected):
    order, left = np.zeros(4, np.int64), np.zeros(4, np.int64)
    places, judged, weight = read_ranking(wins, len(wins), order, left)
    # the last place of a whole ranking has nobody left to beat
    assert (places, judged, weight, order[:judged].tolist()) == expected


def step(wins, rankings, seed=0, n=4, d=3):
    rng = np.random.default_rng(seed)
    X, theta, A = rng.normal(size=(d, 6)), rng.normal(size=d), rng.normal(size=(d, 2 * d))
    H = np.linalg.inv(A @ A.T)
    naive = NaiveSparring(6, n, None, dimension=d, answers="rankings" if rankings else "coins")
    naive.see(X.T)
    naive.theta, naive.H = theta.copy(), np.linalg.inv(H)
    slate = np.array([4, 1, 0, 5][:n])
    slate_step(theta, H, X, slate, wins, rankings, make_room(n, d))
    return theta, H, naive, slate


@pytest.mark.parametrize("rankings", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_slate_step_is_the_minimum_of_the_penalised_loss(rankings, seed):
    wins = RANKED if seed % 2 else np.array([[0, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 0], [0, 0, 1, 0.0]])
    theta, H, naive, slate = step(wins, rankings, seed)
    naive.tell(1, slate.tolist(), wins)
    assert np.abs(theta - naive.theta).max() < 1e-9
    assert np.abs(H - np.linalg.inv(naive.H)).max() < 1e-9 and (H == H.T).all()


def test_best_of_a_slate_is_one_choice_among_its_arms():
    """Its loss is ln sum exp(v) - v_best, checked by the equation for the minimum: H (theta' - theta) = the choice's gradient."""
    wins = np.zeros((4, 4))
    wins[2, [0, 1, 3]] = 1.0
    theta, _, naive, slate = step(wins, True)
    x = naive.x[slate]
    p = np.exp(x @ theta) / np.exp(x @ theta).sum()
    assert np.abs(naive.H @ (theta - naive.theta) - (x[2] - p @ x)).max() < 1e-9


def test_two_arms_learn_the_same_from_a_ranking_a_coin_and_the_duel_step():
    wins = np.array([[0.0, 1.0], [0.0, 0.0]])
    (one, H, naive, slate), (other, _, _, _) = step(wins, True, n=2), step(wins, False, n=2)
    duel = Duels(6, dimension=3)
    duel.see(naive.x)
    duel.theta, duel.H = naive.theta.copy(), naive.H.copy()
    duel.learn(slate[0], slate[1], 1.0, 1.0)
    assert np.abs(one - other).max() < 1e-10 and np.abs(one - duel.theta).max() < 1e-9
    assert np.abs(np.linalg.inv(H) - duel.H).max() < 1e-7
