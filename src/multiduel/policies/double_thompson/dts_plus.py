"""Double Thompson Sampling+: D-TS whose ties go to the arm that promises the least regret.

Paper      Wu, Liu. Double Thompson Sampling for Dueling Bandits. NIPS 2016, its improved version.
Assumes    nothing of the order of the arms; made for several Copeland winners.
Symbols    as in D-TS (dts.py); score_i = #{ j != i : theta_ij > 1/2 }.
Deviates   nothing. A public library ranks all of C by the sum below, not only the ties.

    as D-TS, but among the arms of C with the best score, a1 is the one with the smallest
      sum over j != i of (max score - (score_i + score_j) / 2) / kl(theta_ij, 1/2)

How it is computed. As D-TS; the values behind the bits "theta_ij > 1/2" are drawn only for tied arms.

>>> from multiduel import make
>>> policy = make("dts+", n_arms=5, seed=0)
>>> len(policy.ask().arms) <= 2
True
"""

from __future__ import annotations

from typing import Any, NamedTuple

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.contract import Parameter, PolicySpec, ask, init, recommend, tell, valid
from multiduel.policies.double_thompson.beliefs import best_so_far
from multiduel.policies.double_thompson.sampling import DIRECT, LAZY, hear, play_round
from multiduel.policies.double_thompson.scores import DoubleThompson, fresh_double_thompson, sound_double_thompson


class Params(NamedTuple):
    alpha: float = 0.51
    draws: int = LAZY


@init.implement(Params)
def start(params: Params, n_arms: int, rng: Stream) -> DoubleThompson:
    return fresh_double_thompson(n_arms)


@valid.implement(Params)
def sound(params: Params, state: DoubleThompson, n_arms: int, round: int) -> dict[str, Any]:
    return sound_double_thompson(state)


@ask.implement(Params)
def choose(params: Params, state: DoubleThompson, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    return play_round(state, params.alpha, params.draws, True, rng, round, limit, slate)


@tell.implement(Params)
def learn(params: Params, state: DoubleThompson, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    hear(state, slate, wins)


@recommend.implement(Params)
def bet(params: Params, state: DoubleThompson) -> int:
    return best_so_far(state.beliefs)


SPEC = PolicySpec(
    name="dts+",
    title="D-TS+",
    params=Params,
    cite="wu2016",
    slate="two",
    assumes="nothing; Copeland regret without a Condorcet winner",
    regret="as D-TS",
    use="Two options at a time when several options may share the first place.",
    commits="distribution",
    parameters={
        "alpha": Parameter(meaning="width of the confidence bounds: more than 1/2 for the theorem", above=0.0),
        "draws": Parameter(
            meaning="draw only what decides (same law, far fewer draws), or everything",
            choices={"lazy": LAZY, "direct": DIRECT},
        ),
    },
    exceptions={"naive-oracle": "draws are lazy: the oracle's law, not its draws (draws=direct has them; both are tested)"},
)
