"""Double Thompson Sampling, D-TS and D-TS+: a sampled Copeland winner meets its strongest sampled challenger.

Paper      Wu, Liu. Double Thompson Sampling for Dueling Bandits. NIPS 2016, Algorithm 1 (D-TS) and its improved version (D-TS+).
Assumes    nothing of the order of the arms: a Condorcet winner, or else Copeland winners; D-TS+ is made for several of these.
Symbols    K arms, alpha width, W[i, j] wins of i over j, N_ij = W_ij + W_ji, (u, l)_ij = W_ij / N_ij +- sqrt(alpha ln
           t / N_ij), C the optimistic Copeland winners, theta a draw from the belief about a pair, score_i the sampled
           duels that i wins.
Deviates   unplayed pairs have u = 1, l = 0 (published: the same, by 0/0 := 1). Public code tests u >= 1/2 for C; the
           two differ only where ln t would be rational. ``draws = lazy`` is the published law by fewer draws. D-TS+
           ranks only the ties by the sum below, as published; a public library ranks all of C by it.

    for t = 1, 2, ...
      C <- arms with the largest #{ j != i : u_ij > 1/2 }
      theta_ij ~ Beta(W_ij + 1, W_ji + 1) for i < j, theta_ji <- 1 - theta_ij
      score_i <- #{ j != i : theta_ij > 1/2 }
      a1 <- argmax over C of score_i, ties
        D-TS:   at random
        D-TS+:  by the smallest sum over j != i of (max score - (score_i + score_j) / 2) / kl(theta_ij, 1/2)
      g_i ~ Beta(W_i,a1 + 1, W_a1,i + 1) for i != a1, g_a1 <- 1/2
      a2 <- argmax of g_i over { i : l_i,a1 <= 1/2 }
      compare a1 and a2; update W

How it is computed. Once an arm leads, nearly all draws only say that it leads: how many rounds (a1, a1) come next is
one geometric draw, exact in law, and the round after them is drawn given that it is not such a round
(sampling.py). In D-TS+ the values behind the bits "theta_ij > 1/2" are drawn only for tied arms.

>>> from multiduel import make
>>> len(make("dts", n_arms=5, seed=0).ask().arms) <= 2
True
>>> len(make("dts+", n_arms=5, seed=0).ask().arms) <= 2
True
"""

from __future__ import annotations

from typing import Any, NamedTuple

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.contract import Parameter, PolicySpec, ask, implement
from multiduel.policies.double_thompson.beliefs import DRAWS, LAZY, LAZY_EXCEPTIONS, best_so_far, update
from multiduel.policies.double_thompson.sampling import play_round
from multiduel.policies.double_thompson.scores import NONE, DoubleThompson, fresh_double_thompson, valid_double_thompson


class DTS(NamedTuple):
    alpha: float = 0.51  # the paper's experimental value; the theorem needs more than 1/2
    draws: int = LAZY


class DTSPlus(NamedTuple):
    alpha: float = 0.51
    draws: int = LAZY


@implement(DTS)
@implement(DTSPlus)
def init(params: DTS | DTSPlus, n_arms: int, rng: Stream) -> DoubleThompson:
    return fresh_double_thompson(n_arms)


@implement(DTS)
@implement(DTSPlus)
def valid(params: DTS | DTSPlus, state: DoubleThompson, n_arms: int, round: int) -> dict[str, Any]:
    return valid_double_thompson(state)


@ask.implement(DTS)
def ask_dts(params: DTS, state: DoubleThompson, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    return play_round(state, params.alpha, params.draws, False, rng, round, limit, slate)


@ask.implement(DTSPlus)
def ask_dts_plus(params: DTSPlus, state: DoubleThompson, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    return play_round(state, params.alpha, params.draws, True, rng, round, limit, slate)


@implement(DTS)
@implement(DTSPlus)
def tell(params: DTS | DTSPlus, state: DoubleThompson, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    if slate.shape[0] == 2 and wins[0, 1] + wins[1, 0] > 0.0:
        update(state.beliefs, slate[0], slate[1], wins[0, 1], wins[1, 0])
        state.loud[0] = NONE


@implement(DTS)
@implement(DTSPlus)
def recommend(params: DTS | DTSPlus, state: DoubleThompson) -> int:
    return best_so_far(state.beliefs)


PARAMETERS = {
    "alpha": Parameter(meaning="width of the confidence bounds: more than 1/2 for the theorem", above=0.0),
    "draws": DRAWS,
}

DTS_SPEC = PolicySpec(
    name="dts",
    title="D-TS",
    params=DTS,
    cite="wu2016",
    slate="two",
    assumes="nothing; Copeland regret without a Condorcet winner",
    regret="O(K ln T + K^2 ln ln T) with a Condorcet winner, O(K^2 ln T) without",
    use="A strong default for two options at a time, also when no option beats all others.",
    commits="distribution",
    parameters=PARAMETERS,
    exceptions=LAZY_EXCEPTIONS,
)

DTS_PLUS_SPEC = PolicySpec(
    name="dts+",
    title="D-TS+",
    params=DTSPlus,
    cite="wu2016",
    slate="two",
    assumes="nothing; Copeland regret without a Condorcet winner",
    regret="as D-TS",
    use="Two options at a time when several options may share the first place.",
    commits="distribution",
    parameters=PARAMETERS,
    exceptions=LAZY_EXCEPTIONS,
)
