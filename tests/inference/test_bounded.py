"""The half-width of an interval that holds at all times is where the bets of its proof have won 1 / error."""

import math

import numpy as np
import pytest

from multiduel.inference.bounded import bounded_radius


def wealth(S, n, rho):
    """The mean of exp(c S - c^2 n / 8) over c ~ N(0, 1 / rho), added up over a fine grid."""
    c, step = np.linspace(-12.0 / math.sqrt(rho), 12.0 / math.sqrt(rho), 200_001, retstep=True)
    density = np.exp(-0.5 * rho * c**2) * math.sqrt(rho / (2.0 * math.pi))
    return float(np.sum(np.exp(c * S - c**2 * n / 8.0) * density) * step)


@pytest.mark.parametrize("n", [1, 7, 100, 2000])
@pytest.mark.parametrize("error", [0.05, 0.01, 0.0004])
def test_it_is_where_the_bets_have_won_enough(n, error):
    rho = 25.0 / (2.0 * math.log(1.0 / error) + 1.0)
    assert wealth(n * bounded_radius(n, error), n, rho) == pytest.approx(1.0 / error, rel=1e-6)


@pytest.mark.parametrize("error", [0.05, 0.001])
def test_it_is_about_as_tight_as_can_be_near_a_hundred(error):
    def radius(rho, v=25.0):
        return math.sqrt((v + rho) * (2.0 * math.log(1.0 / error) + math.log((v + rho) / rho))) / 100.0

    assert bounded_radius(100, error) <= 1.01 * min(radius(rho) for rho in np.geomspace(0.1, 100.0, 200))
