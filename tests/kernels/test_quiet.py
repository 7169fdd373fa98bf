"""Quiet rounds: how long nothing can change."""

import math

from multiduel.kernels.quiet import quiet_rounds, quiet_through


def test_quiet_rounds_end_where_the_logarithm_says():
    for wake in (0.0, 0.5, math.log(7.0), math.log(1000.0), 5.4321, 40.0):
        for now in (1, 2, 6, 7, 8, 999, 1000):
            for limit in (1, 5, 2000):
                later = next((t for t in range(now + 1, now + limit) if math.log(t) >= wake), now + limit)
                assert quiet_rounds(wake, now, limit) == later - now
                last = next((t for t in range(now, now + limit) if math.log(t) >= wake), now + limit - 1)
                assert quiet_through(wake, now, limit) == last - now + 1
