"""The Thompson machine."""

import numpy as np

from multiduel.kernels.random import stream
from multiduel.kernels.thompson import LAZY
from multiduel.machines import contract as machines
from multiduel.machines import thompson


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
