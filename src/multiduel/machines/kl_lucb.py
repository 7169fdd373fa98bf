"""KL-LUCB: LUCB with confidence bounds of the Bernoulli relative entropy.

Paper      Kaufmann, Kalyanakrishnan. Information Complexity in Bandit Subset Selection. COLT 2013, with one arm to find.
Symbols    u_a samples of arm a, t the round of two samples, delta the error allowed, epsilon the tolerance.
Deviates   the exploration rate is LUCB's, selectable (``radius``); the paper's theorem adds its logarithm.

    as LUCB, with   U_a = max{ q : u_a kl(mean_a, q) <= ln(5 K t^4 / (4 delta)) }   and   L_a = min{ q : the same }
    stop and return h* if U_l* - L_h* < epsilon
"""

from __future__ import annotations

import math
from typing import NamedTuple

from multiduel.kernels.confidence import kl_lower, kl_upper
from multiduel.kernels.contract import MachineSpec
from multiduel.machines import identification


@identification.identifies
class Params(NamedTuple):
    epsilon: float = 0.0  # tolerance
    radius: float = 4.0  # power of t in the exploration rate
    test: int = 0  # stop test after each round (0) or each sample (1)


@identification.uppers.implement(Params)
def uppers(params: Params, state: identification.State, row: int, leader: int, level: float) -> None:
    # By Pinsker's inequality no bound exceeds Hoeffding's: where that falls short of the best so far, nothing is solved.
    c = math.sqrt(0.5 * level)
    best = -1.0
    for a in range(state.value.shape[0]):
        bound = state.mean[row, a] + c * state.isn[row, a]
        if a == leader or bound < best:
            bound = -1.0
        elif bound < math.inf:
            bound = kl_upper(state.mean[row, a], level / state.N[row, a])
        state.value[a] = bound
        best = max(best, bound)


@identification.lower.implement(Params)
def lower(params: Params, mean: float, n: float, level: float) -> float:
    return kl_lower(mean, level / n)


SPEC = MachineSpec(
    name="kl-lucb", title="KL-LUCB", params=Params, cite="kaufmann2013", kind="identifier", parameters=identification.PARAMETERS
)
