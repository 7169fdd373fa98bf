"""MultiSparring: machines, duplicates, late answers."""

import numpy as np
from scipy.stats import ks_2samp

import multiduel as md
from multiduel.kernels.contract import ask, tell
from tests.naive.follow import follow
from tests.policies.instances import ALPHA, even_order, started


def test_multi_sparring_with_the_thompson_machine_follows_the_oracle():
    for K, m in ((1, 2), (2, 2), (6, 4)):
        follow("multi-sparring", {"machine": "thompson", "credit": "pairs", "duplicates": "coin"}, K, m, K, even_order(K), 60)


def test_the_thompson_machine_may_draw_lazily_too():
    marks = [20, 60, 200]
    size = {"slate_size": 3, "horizon": 200, "runs": 1500, "checkpoints": marks, "machine": "thompson"}
    lazy, direct = (
        md.simulate("multi-sparring", even_order(5), seed=seed, draws=draws, prior=1.5, **size)
        for draws, seed in (("lazy", 1), ("direct", 2))
    )
    assert not np.array_equal(lazy.regret, direct.regret)
    for k in range(len(marks)):
        assert ks_2samp(lazy.regret[:, k], direct.regret[:, k], method="asymp").pvalue > ALPHA


def test_multi_sparring_of_two_seats_is_sparring():
    """The same stream, the same slates."""
    P = even_order(5)
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
