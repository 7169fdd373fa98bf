"""CCB: every step of its listing."""

import numpy as np

from tests.naive.follow import follow
from tests.policies.instances import shuffled, tournament


class Turning:
    """A world that turns around after so many duels: what was believed comes out wrong."""

    def __init__(self, P, duels):
        self.P, self.duels = P, duels

    def __getitem__(self, pair):
        self.duels -= 1
        return self.P[pair] if self.duels >= 0 else self.P[pair[::-1]]


def test_every_step_of_the_ccb_listing_is_followed():
    seen = set()
    for K, seed, P in (
        (1, 0, np.full((1, 1), 0.5)),
        (5, 1, shuffled(5, 1)),
        (5, 2, tournament(5, 2)),
        (7, 3, tournament(7, 3, 0.2)),
        (4, 5, np.full((4, 4), 0.5)),
        (6, 6, shuffled(6, 6, 0.1)),
        (3, 4, Turning(tournament(3, 4, 0.49), 40)),
        (4, 2, Turning(tournament(4, 2, 0.3), 100)),
        (5, 5, Turning(tournament(5, 5, 0.49), 100)),
    ):
        seen |= set(follow("ccb", {}, K, 2, seed, P, 2500, compiled=True).events)
    assert seen >= {"A", "B", "C", "trim", "3", "4", "5", "self"}
