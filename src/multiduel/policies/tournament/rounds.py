"""Knockout tournaments: pair the arms at random, keep the winners, again until one is left. How a match is decided is
the caller's."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import draw_distinct
from multiduel.kernels.compiler.dispatch import kernel

SIZE, MATCH, KEPT, STAGE = 0, 1, 2, 3  # places in `at`

EXCEPTIONS = {"late-tells": "matches are played one after the other; a close one outlasts the check before every arm was met"}


class Tournament(NamedTuple):
    """Match k of a stage is between order[2k] and order[2k + 1]; order[:KEPT] are its winners so far."""

    order: Ints  # i8[K]
    at: Ints  # i8[4]  arms in this stage, the match being played, winners so far, the stage (0 before the start)


def fresh_tournament(n_arms: int) -> Tournament:
    """All arms, not yet paired."""
    return Tournament(np.arange(n_arms), np.array([n_arms, 0, 0, 0]))


def valid_tournament(tournament: Tournament) -> dict[str, Any]:
    """One winner per match played. Winners and arms still to play are all different."""
    K = len(tournament.order)
    size, match, kept, stage = tournament.at.tolist()
    here = 1 <= size <= K and 0 <= 2 * match <= size and kept == match
    return {
        "order": here and validity.arms(tournament.order, K) and validity.distinct(still_in(tournament), K),
        "at": here and 0 <= stage <= 1 + K.bit_length(),
    }


def still_in(tournament: Tournament) -> Ints:
    """Winners of this stage, and the arms that have yet to play in it."""
    size, match, kept, _ = tournament.at.tolist()
    return np.concatenate([tournament.order[:kept], tournament.order[2 * match : size]])


def match_to_play(tournament: Tournament) -> bool:
    return bool(2 * tournament.at[MATCH] + 1 < tournament.at[SIZE])


@kernel
def begin(tournament: Tournament, size: int, rng: Stream) -> None:
    """Stage 1 of a tournament among order[:size], paired at random."""
    at = tournament.at
    at[SIZE] = size
    at[MATCH] = at[KEPT] = 0
    at[STAGE] = 1
    draw_distinct(tournament.order, size, size, tournament.order, 0, rng)


@kernel
def match_open(tournament: Tournament, rng: Stream) -> bool:
    """Is there a match to play? If a stage is over, starts the next. False: order[0] has won the tournament."""
    order, at = tournament.order, tournament.at
    while at[SIZE] > 1:
        if 2 * at[MATCH] + 1 < at[SIZE]:
            return True
        if at[SIZE] % 2 == 1:  # the odd one out goes through
            order[at[KEPT]] = order[at[SIZE] - 1]
            at[KEPT] += 1
        stage = at[STAGE]
        begin(tournament, at[KEPT], rng)
        at[STAGE] = stage + 1
    return False


@kernel
def close_match(tournament: Tournament, winner: int) -> None:
    at = tournament.at
    tournament.order[at[KEPT]] = winner
    at[KEPT] += 1
    at[MATCH] += 1


@kernel
def count_duels(match: Floats, won: Floats, lost: Floats, slate: Ints, wins: Floats) -> None:
    """Add the duels of the match being played: ``match`` holds those won by slate[0] and all, ``won`` and ``lost`` are by arm."""
    i, j = slate[0], slate[1]
    won[i] += wins[0, 1]
    lost[j] += wins[0, 1]
    won[j] += wins[1, 0]
    lost[i] += wins[1, 0]
    match[0] += wins[0, 1]
    match[1] += wins[0, 1] + wins[1, 0]


@kernel
def best_left(tournament: Tournament, won: Floats, lost: Floats) -> int:
    """Of the arms still in the tournament, the one with the largest share of its duels won."""
    order, at = tournament.order, tournament.at
    best = order[0]
    best_share = -1.0
    for place in range(at[SIZE]):
        if at[KEPT] <= place < 2 * at[MATCH]:
            continue  # copies of arms that went through or out
        arm = order[place]
        share = won[arm] / (won[arm] + lost[arm]) if won[arm] + lost[arm] > 0.0 else 0.0
        if share > best_share:
            best_share = share
            best = arm
    return best
