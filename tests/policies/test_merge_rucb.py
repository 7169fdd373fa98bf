"""MergeRUCB: what its listing promises."""

import numpy as np

from multiduel.kernels.contract import ask, init, tell
from multiduel.policies import merge_rucb
from tests.naive.follow import follow
from tests.policies.instances import STREAM, clear_order


def test_merge_rucb_drops_arms_for_good_and_merges():
    K = 20
    params = merge_rucb.Params(delta=1.0)
    rng, slate = STREAM.copy(), np.zeros(K, np.int64)
    state = init(params, K, rng)
    P, world, stages, alive = clear_order(K), np.random.default_rng(0), set(), set(range(K))
    for t in range(1, 20_000):
        n, rounds = ask(params, state, rng, t, 10, slate)
        batches = state.batches
        size = batches.size[: batches.tally[0]]
        left = {int(arm) for k, n_b in zip(batches.first, size, strict=False) for arm in batches.arms[k : k + n_b]}
        assert len(left) == size.sum() and left <= alive and (size > 0).all()
        assert set(slate[:n].tolist()) <= left
        alive = left
        stages.add((int(batches.tally[0]), int(batches.tally[1])))
        if n == 1:
            break
        won = float(world.random() < P[slate[0], slate[1]])
        tell(params, state, rng, t, slate[:2], np.array([[0.0, won], [1.0 - won, 0.0]]))
    assert (n, rounds, alive) == (1, 10, {0})
    assert (5, 1) in stages and any(count < 5 and stage > 1 for count, stage in stages)


def test_merge_rucb_follows_its_oracle_to_the_end():
    P = np.where(clear_order(9) > 0.5, 0.95, 0.05)
    naive = follow("merge-rucb", {"delta": 1.0}, 9, 2, 4, P, 4000, compiled=True)
    assert naive.stage > 1 and naive.batches == [[0]]
