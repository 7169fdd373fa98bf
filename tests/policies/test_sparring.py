"""Doubler and Sparring over their machines."""

import pytest

from tests.naive.follow import follow
from tests.policies.instances import shuffled


@pytest.mark.parametrize("machine", ["ucb", "kl-ucb"])
@pytest.mark.parametrize("name", ["doubler", "sparring"])
def test_reductions_follow_their_oracles_over_machines(name, machine):
    follow(name, {"machine": machine}, 5, 2, 7, shuffled(5, 7), 1200, compiled=True)
