"""The round of Double Thompson Sampling: a literal one, and one that draws only what decides.

Let L be an arm of C. If it wins all of its sampled duels, it is the first arm: no other arm of C can win all of its
own. If then no challenger's fresh draw exceeds 1/2, it is the second arm too, and nothing is compared. Both have
known probabilities (`Beliefs.log_row`), which no quiet round changes, so the number of quiet rounds is geometric:
one event. The round that ends them is drawn given that it is not quiet: either L loses some sampled duel, or some
challenger is above 1/2. Draws are made as bits "above 1/2" first; a value is drawn only where two of them compete. And
an arm of C that has already lost more sampled duels than the best so far cannot be the first: its other bits are not drawn.
"""

from __future__ import annotations

import math

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.choice import argmax
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.quiet import quiet_rounds
from multiduel.kernels.random import below, beta, uniform
from multiduel.policies.double_thompson.beliefs import DIRECT, Beliefs, draw_above_half, draw_theta, refresh
from multiduel.policies.double_thompson.scores import NONE, DoubleThompson, best_of_C, best_score, least_regret


@kernel
def play_round(
    state: DoubleThompson, alpha: float, draws: int, plus: bool, rng: Stream, round: int, limit: int, slate: Ints
) -> tuple[int, int]:
    """One round of D-TS, or of D-TS+; several if they are quiet."""
    threshold = 4.0 * alpha * math.log(float(round))
    refresh(state.beliefs, threshold)
    if draws == DIRECT:
        first = literal_first(state, plus, rng)
        return pair(slate, first, literal_second(state, first, threshold, rng))

    L = state.loud[0]
    state.loud[0] = NONE
    if L == NONE:
        L = leader(state.beliefs)
        quiet = rounds_of_leader(state.beliefs, L, alpha, threshold, rng, round, limit)
        if quiet > 0:
            slate[0] = L
            if quiet < limit_of(state.beliefs, L, alpha, round, limit):
                state.loud[0] = L
            return 1, quiet
    log_wins = state.beliefs.log_row[L]
    loses = -math.expm1(log_wins)
    loud = -math.expm1(log_wins + log_unchallenged(state.beliefs, L, threshold))
    if uniform(rng) * loud < loses:
        first = first_when_losing(state, L, plus, rng)
        return pair(slate, first, second(state, first, threshold, 1.0, rng))
    return pair(slate, L, second(state, L, threshold, -math.expm1(log_unchallenged(state.beliefs, L, threshold)), rng))


@kernel
def pair(slate: Ints, first: int, other: int) -> tuple[int, int]:
    slate[0] = first
    if other == first:
        return 1, 1
    slate[1] = other
    return 2, 1


# Quiet rounds


@kernel
def leader(beliefs: Beliefs) -> int:
    """The arm of C most likely to win all its sampled duels. Any arm of C gives the same law, this one long quiets."""
    best = 0
    for i in range(beliefs.up.shape[0]):
        more = beliefs.up[i] - beliefs.up[best]
        best = i if more > 0 or (more == 0 and beliefs.log_row[i] > beliefs.log_row[best]) else best
    return best


@kernel
def log_unchallenged(beliefs: Beliefs, L: int, threshold: float) -> float:
    """Log-probability that no challenger i with l_iL <= 1/2 draws above 1/2."""
    if beliefs.up[L] == beliefs.up.shape[0] - 1:
        return beliefs.log_row[L]
    total = 0.0
    for i in range(beliefs.up.shape[0]):
        total += beliefs.log_above[L, i] if beliefs.Z[L, i] <= threshold else 0.0
    return total


@kernel
def limit_of(beliefs: Beliefs, L: int, alpha: float, round: int, limit: int) -> int:
    """For how many rounds L surely stays in C with the same challengers, if nothing is compared."""
    if beliefs.up[L] == beliefs.up.shape[0] - 1:
        return limit
    wake = math.inf
    for i in range(beliefs.up.shape[0]):
        wake = min(wake, beliefs.wake[i])
    return quiet_rounds(wake / (4.0 * alpha), round, limit)


@kernel
def rounds_of_leader(beliefs: Beliefs, L: int, alpha: float, threshold: float, rng: Stream, round: int, limit: int) -> int:
    """How many of the next rounds are (L, L), as far as limit_of; a geometric draw."""
    rate = -(beliefs.log_row[L] + log_unchallenged(beliefs, L, threshold))
    e = -math.log(1.0 - uniform(rng))
    if e < rate:
        return 0
    most = limit_of(beliefs, L, alpha, round, limit)
    return most if e >= rate * most else int(e / rate)


# The lazy draws of a round that is not quiet


@kernel
def bit(chance: float, rng: Stream) -> float:
    return 1.0 if uniform(rng) < chance else 0.0


@kernel
def first_when_losing(state: DoubleThompson, L: int, plus: bool, rng: Stream) -> int:
    """The first arm, given that L loses at least one of its sampled duels."""
    lose_some(state, L, rng)
    return least_regret_of_all(state, L, rng) if plus else least_losing(state, L, rng)


@kernel
def lose_some(state: DoubleThompson, L: int, rng: Stream) -> None:
    """sample[L, j] for all j: 1 if L wins, else 0, given that it loses at least once."""
    above, sample = state.beliefs.above, state.sample
    target = uniform(rng) * -math.expm1(state.beliefs.log_row[L])  # which of L's lost duels comes first, by inversion
    passed = 0.0
    none_yet = 1.0
    found = False
    likeliest = L
    for j in range(sample.shape[0]):
        if j == L:
            continue
        if found:
            lost = bit(above[j, L], rng)
        else:
            likeliest = j if likeliest == L or above[j, L] > above[likeliest, L] else likeliest
            passed += none_yet * above[j, L]
            none_yet *= above[L, j]
            found = target < passed
            lost = 1.0 if found else 0.0
        sample[L, j] = 1.0 - lost
    if not found:  # rounding ate the last sliver
        sample[L, likeliest] = 0.0


@kernel
def least_losing(state: DoubleThompson, L: int, rng: Stream) -> int:
    """D-TS: the arm of C that loses the fewest sampled duels, ties at random; only bits that decide that are drawn."""
    above, up = state.beliefs.above, state.beliefs.up
    sample, drawn, strong, turn = state.sample, state.drawn, state.strong, state.values
    K = up.shape[0]
    state.serial[0] += 1
    loss = 2 * state.serial[0]  # in `drawn`; a win is one more, and what is less was drawn for another round
    fewest = 0
    for j in range(K):
        fewest += 1 if j != L and sample[L, j] == 0.0 else 0
        turn[j] = strong[j]  # `strong` is reordered on the way
    best = L
    tied = 1
    for a in range(K):
        i = int(turn[a])
        if i == L or up[i] != up[L]:
            continue
        lost = int(sample[L, i])
        b = 0
        while b < K and lost <= fewest:
            j = strong[b]
            if j != i and j != L:
                if drawn[i, j] < loss:
                    won = 1 if uniform(rng) < above[i, j] else 0
                    drawn[i, j] = loss + won
                    drawn[j, i] = loss + 1 - won
                if drawn[i, j] == loss:
                    lost += 1
                    strong[b] = strong[max(b - 1, 0)]  # who wins moves forward
                    strong[max(b - 1, 0)] = j
            b += 1
        if lost < fewest:
            fewest = lost
            best = i
            tied = 1
        elif lost == fewest:
            tied += 1
            best = i if below(tied, rng) == 0 else best
    return best


@kernel
def least_regret_of_all(state: DoubleThompson, L: int, rng: Stream) -> int:
    """D-TS+: the scores of C, and, if arms tie, those of all arms, and the values behind the tied arms' bits."""
    above, up = state.beliefs.above, state.beliefs.up
    sample, score = state.sample, state.score
    K = up.shape[0]
    top = up[L]
    for i in range(K):
        score[i] = 0.0
    for j in range(K):
        if j != L:
            note(sample, score, L, j, sample[L, j])
    for i in range(K):
        if up[i] != top or i == L:
            continue
        for j in range(K):
            if j != L and (j > i or (up[j] != top and j != i)):
                note(sample, score, i, j, bit(above[i, j], rng))
    best, tied = best_score(state)
    if tied > 1:
        for i in range(K):
            for j in range(i + 1, K):
                if up[i] != top and up[j] != top:
                    note(sample, score, i, j, bit(above[i, j], rng))
        for i in range(K):
            if up[i] == top and score[i] == best:
                for j in range(K):
                    if j != i and (sample[i, j] == 0.0 or sample[i, j] == 1.0):
                        sample[i, j] = draw_theta(state.beliefs, i, j, sample[i, j] == 1.0, rng)
                        sample[j, i] = 1.0 - sample[i, j]
    return least_regret(state, best, tied, rng)


@kernel
def note(sample: Floats, score: Floats, i: int, j: int, i_wins: float) -> None:
    sample[i, j] = i_wins
    sample[j, i] = 1.0 - i_wins
    score[i] += i_wins
    score[j] += 1.0 - i_wins


@kernel
def second(state: DoubleThompson, first: int, threshold: float, mass: float, rng: Stream) -> int:
    """The second arm. ``mass`` < 1 is the chance of any challenger above 1/2, and says there is one; 1 says nothing."""
    beliefs = state.beliefs
    above, W = beliefs.above, beliefs.W
    found = mass == 1.0
    target = 0.0 if found else uniform(rng) * mass
    passed = 0.0
    none_yet = 1.0
    likeliest = first
    winner = first
    value = -1.0  # of the winner; drawn when it meets a rival
    for i in range(W.shape[0]):
        if i == first or beliefs.Z[first, i] > threshold:
            continue
        if found:
            hit = uniform(rng) < above[i, first]
        else:
            likeliest = i if likeliest == first or above[i, first] > above[likeliest, first] else likeliest
            passed += none_yet * above[i, first]
            none_yet *= above[first, i]
            hit = found = target < passed
        if not hit:
            continue
        if winner == first:
            winner = i
            continue
        if value < 0.0:
            value = draw_above_half(W[winner, first] + 1.0, W[first, winner] + 1.0, above[winner, first], rng)
        rival = draw_above_half(W[i, first] + 1.0, W[first, i] + 1.0, above[i, first], rng)
        if rival > value:
            value = rival
            winner = i
    return winner if found else likeliest


# Literal draws, in a fixed order


@kernel
def literal_first(state: DoubleThompson, plus: bool, rng: Stream) -> int:
    """theta_ij ~ Beta(W_ij + 1, W_ji + 1) for all i < j; the arm of C that wins the most."""
    W, sample, score = state.beliefs.W, state.sample, state.score
    for i in range(score.shape[0]):
        score[i] = 0.0
    for i in range(score.shape[0]):
        for j in range(i + 1, score.shape[0]):
            theta = beta(W[i, j] + 1.0, W[j, i] + 1.0, rng)
            sample[i, j] = theta
            sample[j, i] = 1.0 - theta
            score[i] += 1.0 if theta > 0.5 else 0.0
            score[j] += 1.0 if 1.0 - theta > 0.5 else 0.0
    if not plus:
        return best_of_C(state, rng)
    best, tied = best_score(state)
    return least_regret(state, best, tied, rng)


@kernel
def literal_second(state: DoubleThompson, first: int, threshold: float, rng: Stream) -> int:
    W, values = state.beliefs.W, state.values
    for i in range(values.shape[0]):
        g = 0.5 if i == first else beta(W[i, first] + 1.0, W[first, i] + 1.0, rng)
        values[i] = g if state.beliefs.Z[first, i] <= threshold or i == first else -1.0
    return argmax(values, rng)
