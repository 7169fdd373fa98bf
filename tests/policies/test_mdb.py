"""MDB: the wide set, the narrow set, the published alpha."""

import numpy as np
import pytest

import multiduel as md
from multiduel.kernels.contract import ask
from tests.policies.instances import started


def test_mdb_takes_the_published_alpha():
    assert md.make("mdb", n_arms=3, alpha=0.5).params.alpha == 0.5
    with pytest.raises(md.BadInput, match=r"at least 0\.5"):
        md.make("mdb", n_arms=3, alpha=0.49)


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
