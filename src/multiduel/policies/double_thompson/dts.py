"""Double Thompson Sampling: a sampled Copeland winner meets its strongest sampled challenger.

Paper      Wu, Liu. Double Thompson Sampling for Dueling Bandits. NIPS 2016, Algorithm 1.
Assumes    nothing of the order of the arms: a Condorcet winner, or else Copeland winners.
Symbols    K arms, alpha width, W[i, j] wins of i over j, N_ij = W_ij + W_ji, (u, l)_ij = W_ij / N_ij +- sqrt(alpha ln
           t / N_ij), C the optimistic Copeland winners, theta a draw from the belief about a pair.
Deviates   unplayed pairs have u = 1, l = 0 (published: the same, by 0/0 := 1). Public code tests u >= 1/2 for C; the
           two differ only where ln t would be rational. ``draws = lazy`` is the published law by fewer draws.

    for t = 1, 2, ...
      C <- arms with the largest #{ j != i : u_ij > 1/2 }
      theta_ij ~ Beta(W_ij + 1, W_ji + 1) for i < j, theta_ji <- 1 - theta_ij
      a1 <- argmax over C of #{ j != i : theta_ij > 1/2 }, ties at random
      g_i ~ Beta(W_i,a1 + 1, W_a1,i + 1) for i != a1, g_a1 <- 1/2
      a2 <- argmax of g_i over { i : l_i,a1 <= 1/2 }
      compare a1 and a2; update W

How it is computed. Once an arm leads, nearly all draws only say that it leads: how many rounds (a1, a1) come next is
one geometric draw, exact in law, and the round after them is drawn given that it is not such a round
(sampling.py).

>>> from multiduel import make
>>> policy = make("dts", n_arms=5, seed=0)
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
    alpha: float = 0.51  # the paper's experimental value; the theorem needs more than 1/2
    draws: int = LAZY


@init.implement(Params)
def start(params: Params, n_arms: int, rng: Stream) -> DoubleThompson:
    return fresh_double_thompson(n_arms)


@valid.implement(Params)
def sound(params: Params, state: DoubleThompson, n_arms: int, round: int) -> dict[str, Any]:
    return sound_double_thompson(state)


@ask.implement(Params)
def choose(params: Params, state: DoubleThompson, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    return play_round(state, params.alpha, params.draws, False, rng, round, limit, slate)


@tell.implement(Params)
def learn(params: Params, state: DoubleThompson, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    hear(state, slate, wins)


@recommend.implement(Params)
def bet(params: Params, state: DoubleThompson) -> int:
    return best_so_far(state.beliefs)


SPEC = PolicySpec(
    name="dts",
    title="D-TS",
    params=Params,
    cite="wu2016",
    slate="two",
    assumes="nothing; Copeland regret without a Condorcet winner",
    regret="O(K ln T + K^2 ln ln T) with a Condorcet winner, O(K^2 ln T) without",
    use="A strong default for two options at a time, also when no option beats all others.",
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
