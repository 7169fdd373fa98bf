"""Strengths and standard errors beside those of other packages, where the models coincide: no ridge, duels, a plain mean.

The packages are optional: `pip install evalica choix arena-rank`.
"""

import numpy as np
import pytest

from multiduel.inference import Votes
from multiduel.inference.strengths import centring, duel_sums, fit, spread


def votes(ties):
    rng, K, n = np.random.default_rng(3), 12, 4000
    theta = np.linspace(1.5, -1.5, K)
    first = rng.integers(0, K, n)
    second = (first + rng.integers(1, K, n)) % K
    outcome = np.where(rng.random(n) < 1 / (1 + np.exp(theta[second] - theta[first])), 1, -1)
    if ties:
        outcome[rng.random(n) < 0.15] = 0
    return Votes.of([f"o{k:02}" for k in range(K)], first=first, second=second, outcome=outcome)


def ours(given):
    theta, J = fit(given.above + 0.5 * given.ties, ridge=1e-9)
    return theta - theta.mean(), J


def test_strengths_equal_those_of_choix():
    choix = pytest.importorskip("choix")
    given = votes(ties=False)
    won = np.where(given.outcome > 0, given.first, given.second).tolist()
    lost = np.where(given.outcome > 0, given.second, given.first).tolist()
    theirs = choix.ilsr_pairwise(12, list(zip(won, lost, strict=True)), tol=1e-12)
    assert np.allclose(ours(given)[0], theirs - np.mean(theirs), atol=1e-6)


def test_strengths_equal_those_of_evalica():
    evalica = pytest.importorskip("evalica")
    given = votes(ties=True)
    words = {1: evalica.Winner.X, -1: evalica.Winner.Y, 0: evalica.Winner.Draw}
    names = np.array(given.options)
    winners = [words[int(outcome)] for outcome in given.outcome]
    found = evalica.bradley_terry(
        names[given.first].tolist(), names[given.second].tolist(), winners, tolerance=1e-12, limit=10_000
    )
    theirs = np.log(found.scores.loc[list(given.options)].to_numpy())
    assert np.allclose(ours(given)[0], theirs - theirs.mean(), atol=1e-5)


def test_standard_errors_equal_those_of_arena_rank():
    pytest.importorskip("arena_rank")
    import pandas as pd
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    given = votes(ties=True)
    names = np.array(given.options)
    words = {1: "model_a", -1: "model_b", 0: "tie"}
    frame = pd.DataFrame(
        {
            "model_a": names[given.first],
            "model_b": names[given.second],
            "winner": [words[int(outcome)] for outcome in given.outcome],
        }
    )
    dataset = PairDataset.from_pandas(frame)
    model = BradleyTerry(n_competitors=12, scale=1.0, base=float(np.e), init_rating=0.0, hessian_reg=1e-7)
    found = model.compute_ratings_and_cis(dataset, significance_level=0.05)
    order = [found["competitors"].index(name) for name in given.options]
    theirs = np.asarray(found["ratings"])[order]
    half = (np.asarray(found["rating_upper"]) - np.asarray(found["rating_lower"]))[order] / 2.0
    theta, J = ours(given)
    assert np.allclose(theta, theirs - theirs.mean(), atol=1e-5)
    one_group = np.zeros(12, np.int64)
    covariance = spread(J, duel_sums(given.above, given.ties, theta), one_group, centring(one_group, np.ones(12)), 1.0)
    assert np.allclose(1.959964 * np.sqrt(covariance.robust.diagonal()), half, rtol=1e-4)
