"""Self-duels in reductions to bandit machines: an arm that meets itself feeds its machine a fair coin."""

from __future__ import annotations

from multiduel.arrays import Stream
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import Parameter
from multiduel.kernels.random import binomial, uniform

TOSS, HALF = 0, 1

PARAMETERS = {
    "machine": Parameter(meaning="the singleton bandit machine", machines="bandit"),
    "coin": Parameter(
        meaning="a self-duel feeds back a fair coin (published) or its mean, 1/2", choices={"toss": TOSS, "half": HALF}
    ),
}


@kernel
def toss(coin: int, rounds: int, rng: Stream) -> float:
    """What ``rounds`` self-duels feed back: heads of as many fair coins, or their mean."""
    if coin == HALF:
        return 0.5 * rounds
    if rounds == 1:
        return 1.0 if uniform(rng) < 0.5 else 0.0
    return float(binomial(rounds, 0.5, rng))
