"""What the oracles do not show of ind-self-sparring, mdb, multi-sparring and kernel-self-sparring."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

import multiduel as md
from multiduel.engine.registry import find, resolve
from multiduel.kernels.contract import ask, init, seats, tell, use_features
from multiduel.kernels.random import stream
from multiduel.kernels.thompson import LAZY
from multiduel.machines import contract as machines
from multiduel.machines import thompson
from tests.naive.follow import follow

SELF_SPARRING = [{}, {"eta": 0.75}, {"self_duels": "both"}, {"self_duels": "both", "eta": 2.5}]
ALPHA = 1e-4  # fixed seeds: a failure is a fault


def linear(K):
    utility = np.linspace(0.9, 0.1, K)
    return 0.5 + 0.5 * (utility[:, None] - utility[None, :])


def started(name, K, m, seed=0, **params):
    chosen = resolve(find(name), n_arms=K, slate_size=m, given=params)
    rng = stream(np.random.SeedSequence(seed))
    return chosen, init(chosen, K, rng), rng


@pytest.mark.parametrize("params", SELF_SPARRING)
def test_direct_draws_follow_the_oracle_draw_by_draw(params):
    for K, m in ((1, 2), (2, 2), (3, 3), (6, 4), (5, 9)):
        follow("ind-self-sparring", {"draws": "direct", **params}, K, m, 10 * K + m, linear(K), 60)


@pytest.mark.parametrize("params", [{}, {"variance": 0.01, "noise": 0.1, "correlation": 0.2}])
def test_kernel_self_sparring_follows_the_oracle(params):
    for K, m in ((1, 2), (2, 2), (6, 4)):
        follow("kernel-self-sparring", params, K, m, K, linear(K), 60)


def test_arms_that_are_alike_learn_from_each_other():
    params, state, rng = started("kernel-self-sparring", 4, 2)
    use_features(params, state, np.array([[0.0, 0.0], [0.4, 0.0], [9.0, 0.0], [0.0, 9.0]]))
    tell(params, state, rng, 1, np.array([0, 2]), np.array([[0.0, 30.0], [0.0, 0.0]]))
    assert state.mean[0] > state.mean[1] > 0.7  # never seen, but kin of the winner
    assert abs(state.mean[3] - 0.5) < 1e-9 and state.mean[2] < 0.3
    assert np.array_equal(state.C, state.C.T)


def test_features_reach_the_arms_they_are_of():
    """Arms 0 to 3 are alike, 4 is not: in the user's numbers, whatever the policy's own are."""
    features = [[0.0], [0.1], [0.2], [0.3], [50.0]]
    policy = md.make("kernel-self-sparring", n_arms=5, slate_size=2, seed=4, features=features, variance=0.04)
    order = np.argsort(policy._label)
    assert order.tolist() != [0, 1, 2, 3, 4]
    covariance = policy._state.C[np.ix_(order, order)]
    assert covariance[4, :4].max() < 1e-9 < 0.035 < covariance[:4, :4].min()


def test_features_that_tell_quality_save_regret():
    quality = np.linspace(0.9, 0.1, 24)[:, None]
    informed, blind = (
        md.simulate("kernel-self-sparring", linear(24), horizon=150, runs=60, seed=1, **given)
        for given in ({"features": quality, "length": 0.4}, {})
    )
    assert informed.mean[-1] < 0.5 * blind.mean[-1]
    assert informed.params["features"] == quality.tolist() and "features" not in blind.params


@pytest.mark.parametrize(
    ("features", "says"),
    [
        ([[1.0], [2.0]], r"must be a table with 3 rows, one per arm. Got shape \(2, 1\)"),
        ([1.0, 2.0, 3.0], "3 rows"),
        ([["a"], ["b"], ["c"]], "must be a table of numbers"),
        ([[1.0], [np.nan], [2.0]], "finite"),
        ("file.csv", "table of numbers"),
    ],
)
def test_features_that_are_refused(features, says):
    with pytest.raises(md.BadInput, match=says):
        md.make("kernel-self-sparring", n_arms=3, features=features)
    with pytest.raises(md.BadInput, match=r"'mdb' takes no features of the arms\. These do: kernel-self-sparring"):
        md.make("mdb", n_arms=3, features=[[0.0]] * 3)


def test_mdb_takes_the_published_alpha():
    assert md.make("mdb", n_arms=3, alpha=0.5).params.alpha == 0.5
    with pytest.raises(md.BadInput, match=r"at least 0\.5"):
        md.make("mdb", n_arms=3, alpha=0.49)


def test_ind_self_sparring_has_no_pairs_of_seats():
    """One outcome counted (m/2)^2 times misled two thirds of runs; it is gone."""
    with pytest.raises(md.BadInput, match="no parameter 'pairs'"):
        md.make("ind-self-sparring", n_arms=3, pairs="seats")


def test_multi_sparring_with_the_thompson_machine_follows_the_oracle():
    for K, m in ((1, 2), (2, 2), (6, 4)):
        follow("multi-sparring", {"machine": "thompson", "credit": "pairs", "duplicates": "coin"}, K, m, K, linear(K), 60)


@pytest.mark.parametrize("params", [{}, {"self_duels": "both"}])
def test_lazy_draws_give_the_regrets_of_direct_draws(params):
    marks = [20, 60, 200]
    size = {"slate_size": 3, "horizon": 200, "runs": 3000, "checkpoints": marks}
    lazy, direct = (
        md.simulate("ind-self-sparring", linear(6), seed=seed, draws=draws, **size, **params)
        for draws, seed in (("lazy", 1), ("direct", 2))
    )
    for k in range(len(marks)):
        for kind in ("average", "slots"):
            assert ks_2samp(lazy.regrets[kind][:, k], direct.regrets[kind][:, k], method="asymp").pvalue > ALPHA
    assert ks_2samp(lazy.recommended, direct.recommended, method="asymp").pvalue > ALPHA


def test_the_thompson_machine_may_draw_lazily_too():
    marks = [20, 60, 200]
    size = {"slate_size": 3, "horizon": 200, "runs": 1500, "checkpoints": marks, "machine": "thompson"}
    lazy, direct = (
        md.simulate("multi-sparring", linear(5), seed=seed, draws=draws, prior=1.5, **size)
        for draws, seed in (("lazy", 1), ("direct", 2))
    )
    assert not np.array_equal(lazy.regret, direct.regret)
    for k in range(len(marks)):
        assert ks_2samp(lazy.regret[:, k], direct.regret[:, k], method="asymp").pvalue > ALPHA


def test_a_lazy_machine_forgets_on_reset():
    params = thompson.Params(prior=2.0, draws=LAZY)
    rng = stream(np.random.SeedSequence(0))
    state, fresh = (machines.allocate(params, 2, 4) for _ in range(2))
    for step in range(1, 60):
        arm = machines.advance(params, state, 1, step, rng)
        machines.feedback(params, state, 1, arm, 1.0, 0.5, rng)
    assert state.races.a[1].sum() > fresh.races.a[1].sum()
    machines.reset(params, state, 1, 0.5, rng)
    for array, untouched in zip(state.races, fresh.races, strict=True):
        assert np.array_equal(array, untouched)


@pytest.mark.parametrize("name", ["ind-self-sparring", "mdb"])
def test_commitments_agree_with_stepping_to_the_last_bit(name):
    size = {"slate_size": 3, "horizon": 4000, "runs": 3, "seed": 3}
    ahead, stepped = (md.simulate(name, linear(6), commit=commit, **size) for commit in (True, False))
    assert ahead.events.max() < stepped.events.min()
    for kind, regret in ahead.regrets.items():
        assert np.array_equal(regret, stepped.regrets[kind])


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


def test_mdb_plays_all_of_the_wide_set_when_it_fits():
    params, state, rng = started("mdb", 6, 6)
    slate = np.zeros(6, np.int64)
    assert ask(params, state, rng, 1, 1, slate)[0] == 6


def test_mdb_keeps_the_narrow_set_first():
    """Two arms in E, four more in F, three seats: with cap = narrow the two always sit."""
    params, state, rng = started("mdb", 6, 3, cap="narrow", beta=4.0)
    state.Z[2:] = 5.0  # ln 60 = 4.1 is below, four times that above
    slate, third = np.zeros(6, np.int64), set()
    for _ in range(40):
        n, rounds = ask(params, state, rng, 60, 5, slate)
        assert (n, rounds) == (3, 1)
        assert {0, 1} <= set(slate[:3].tolist())
        third |= set(slate[:3].tolist()) - {0, 1}
    assert third == {2, 3, 4, 5}


def test_multi_sparring_of_two_seats_is_sparring():
    """The same stream, the same slates."""
    P = linear(5)
    played = []
    for name in ("multi-sparring", "sparring"):
        params, state, rng = started(name, 5, 2, seed=4)
        world, slate = np.random.default_rng(1), np.zeros(5, np.int64)
        slates = []
        for t in range(1, 300):
            n, _ = ask(params, state, rng, t, 1, slate)
            slates.append(slate[:n].tolist())
            if n == 2:
                won = float(world.random() < P[slate[0], slate[1]])
                tell(params, state, rng, t, slate[:2].copy(), np.array([[0.0, won], [1.0 - won, 0.0]]))
        played.append(slates)
    assert played[0] == played[1]


def test_multi_sparring_ignores_what_it_has_forgotten():
    params, state, rng = started("multi-sparring", 5, 3)
    slate, asked = np.zeros(5, np.int64), {}
    for t in range(1, 400):
        n, _ = ask(params, state, rng, t, 1, slate)
        asked[t] = slate[:n].copy()
    old = next(t for t in asked if len(asked[t]) > 1)
    before = state.S.N.copy()
    tell(params, state, rng, old, asked[old], np.triu(np.ones((len(asked[old]),) * 2), 1))
    assert np.array_equal(state.S.N, before)
    new = max(t for t in asked if len(asked[t]) > 1)
    tell(params, state, rng, new, asked[new], np.triu(np.ones((len(asked[new]),) * 2), 1))
    assert state.S.N.sum() == before.sum() + 3.0
