"""IndSelfSparring: draws, seats, and what may not be counted twice."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

import multiduel as md
from multiduel.kernels.contract import ask, seats, tell
from tests.naive.follow import follow
from tests.policies.instances import ALPHA, even_order, started

SELF_SPARRING = [{}, {"eta": 0.75}, {"self_duels": "both"}, {"self_duels": "both", "eta": 2.5}]


@pytest.mark.parametrize("params", SELF_SPARRING)
def test_direct_draws_follow_the_oracle_draw_by_draw(params):
    for K, m in ((1, 2), (2, 2), (3, 3), (6, 4), (5, 9)):
        follow("ind-self-sparring", {"draws": "direct", **params}, K, m, 10 * K + m, even_order(K), 60)


def test_ind_self_sparring_has_no_pairs_of_seats():
    """One outcome counted (m/2)^2 times misled two thirds of runs; it is gone."""
    with pytest.raises(md.BadInput, match="no parameter 'pairs'"):
        md.make("ind-self-sparring", n_arms=3, pairs="seats")


@pytest.mark.parametrize("params", [{}, {"self_duels": "both"}])
def test_lazy_draws_give_the_regrets_of_direct_draws(params):
    marks = [20, 60, 200]
    size = {"slate_size": 3, "horizon": 200, "runs": 3000, "checkpoints": marks}
    lazy, direct = (
        md.simulate("ind-self-sparring", even_order(6), seed=seed, draws=draws, **size, **params)
        for draws, seed in (("lazy", 1), ("direct", 2))
    )
    for k in range(len(marks)):
        for kind in ("average", "slots"):
            assert ks_2samp(lazy.regrets[kind][:, k], direct.regrets[kind][:, k], method="asymp").pvalue > ALPHA
    assert ks_2samp(lazy.recommended, direct.recommended, method="asymp").pvalue > ALPHA


@pytest.mark.parametrize("name", ["ind-self-sparring", "multi-sparring", "kernel-self-sparring"])
def test_seats_are_counted(name):
    params, state, rng = started(name, 4, 4)
    slate = np.zeros(4, np.int64)
    several = 0
    for t in range(1, 120):
        n, _ = ask(params, state, rng, t, 1, slate)
        assert sum(seats(params, state, a) for a in range(n)) == 4
        several += n < 4
        if n > 1:
            better = (slate[:n, None] < slate[None, :n]).astype(float)
            tell(params, state, rng, t, slate[:n].copy(), better)
    assert several > 0


def test_fractions_and_late_tells_leave_the_beliefs_valid():
    params, state, rng = started("ind-self-sparring", 5, 3, eta=0.3)
    slate, pending = np.zeros(5, np.int64), []
    for t in range(1, 200):
        n, _ = ask(params, state, rng, t, 1, slate)
        if n > 1:
            pending.append((t, slate[:n].copy()))
        if t % 7 == 0:
            for when, arms in reversed(pending[::2]):
                half = 0.5 * (1.0 - np.eye(len(arms)))
                tell(params, state, rng, when, arms, half)
            pending.clear()
    race = state.race
    assert np.all(race.a >= 1.0) and np.allclose(race.a, race.b)
    assert np.all((race.hazard >= 0.0) & (race.hazard < 0.3))
    assert race.a.sum() > 6.0
