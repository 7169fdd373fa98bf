"""LUCB: best-arm identification by sampling the leader and its strongest rival.

Paper      Kalyanakrishnan, Tewari, Auer, Stone. PAC Subset Selection in Stochastic Multi-armed Bandits. ICML 2012,
           with one arm to find (m = 1).
Symbols    u_a samples of arm a, t the round of two samples, delta the error allowed, epsilon the tolerance.
Deviates   nothing. The exploration rate is a parameter (``radius``), because DoublerBAI's paper leaves it open.

    sample every arm once; t = 1
    repeat   beta(u, t) = sqrt(ln(5 K t^4 / (4 delta)) / (2 u))
             h* = argmax mean_a;   l* = argmax over a != h* of mean_a + beta(u_a, t);   ties at random
             stop and return h* if (mean_l* + beta(u_l*, t)) - (mean_h* - beta(u_h*, t)) < epsilon
             sample h* and l*; t <- t + 1
"""

from __future__ import annotations

import math
from typing import NamedTuple

from multiduel.kernels.contract import MachineSpec
from multiduel.machines import identification


@identification.identifies
class Params(NamedTuple):
    epsilon: float = 0.0  # tolerance
    radius: float = 4.0  # power of t in the exploration rate
    test: int = 0  # stop test after each round (0) or each sample (1)


@identification.uppers.implement(Params)
def uppers(params: Params, state: identification.State, row: int, leader: int, level: float) -> None:
    c = math.sqrt(0.5 * level)
    for a in range(state.value.shape[0]):
        state.value[a] = state.mean[row, a] + c * state.isn[row, a]


@identification.lower.implement(Params)
def lower(params: Params, mean: float, n: float, level: float) -> float:
    return mean - math.sqrt(0.5 * level / n)


SPEC = MachineSpec(
    name="lucb", title="LUCB", params=Params, cite="kalyanakrishnan2012", kind="identifier", parameters=identification.PARAMETERS
)
