"""Answers that come late: how long each takes, and a world around a world that keeps them until they are due."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.inputs import BadInput, finite, shortened, whole
from multiduel.kernels.compiler.dispatch import generic, kernel
from multiduel.kernels.contract import FOREVER, compare, meet, tell
from multiduel.kernels.random import chance, place

LATENESS = (1 << 30) + 1  # number of the draw that delays a round's answer: apart from those of arms, contexts, noise, pairs
DUE, WAITING = 0, 1  # places in `queue`
MOST_DELAY = 100_000  # rounds, or their mean
MOST_KEPT = 50_000_000  # numbers that the answers of one run may fill while they wait
GEOMETRIC = "geometric:"  # before the mean of a random delay
LARGEST = 53.0 * math.log(2.0)  # exponential that is made of a draw of 53 bits


class Delay(NamedTuple):
    """How many rounds pass between a slate and its answer: ``rounds``, or a geometric number with the mean ``mean``."""

    rounds: int = 0
    mean: float = 0.0

    @property
    def longest(self) -> int:
        """The longest delay that can be drawn."""
        return int(LARGEST / math.log1p(1.0 / self.mean)) + 1 if self.mean else self.rounds

    @property
    def word(self) -> int | str:
        """As it is given: a number of rounds, or "geometric:MEAN"."""
        return f"{GEOMETRIC}{self.mean:g}" if self.mean else self.rounds

    def label(self, problem: str) -> str:
        """What tables and figures call a problem with this delay."""
        return f"{problem}, {self}" if self.longest else problem

    def described(self, problem: dict[str, Any]) -> dict[str, Any]:
        """Describe a problem for result files, with its delay."""
        return problem | {"label": self.label(problem["label"]), "delay": self.word} if self.longest else problem

    def places(self, horizon: int, seats: int) -> int:
        """How many answers may wait at a time in a run of so many rounds, and one more. Refused if that is too many."""
        places = min(self.longest, horizon) + 1
        if places * (seats + 4) > MOST_KEPT:
            raise BadInput(
                f"'delay' of 'simulate' must be shorter: up to {places:,} slates of {seats} arms would wait for answers, and "
                f"there is room for {MOST_KEPT // (seats + 4):,}. Got {self.word}."
            )
        return places

    def __str__(self) -> str:
        if self.mean:
            return f"answers late by a geometric number of rounds of mean {self.mean:g}"
        return f"answers {self.rounds:,} {'round' if self.rounds == 1 else 'rounds'} late"


def read_delay(value: Any, of: str = "simulate") -> Delay:
    """Read a delay: a number of rounds, or "geometric:MEAN".

    >>> read_delay(20).longest, read_delay("geometric:2.5").word
    (20, 'geometric:2.5')
    """
    if isinstance(value, str) and value.startswith(GEOMETRIC):
        try:
            mean = float(value.removeprefix(GEOMETRIC))
        except ValueError:
            mean = math.nan
        if not 0.0 < mean <= MOST_DELAY:
            raise BadInput(f"The mean of 'delay' of '{of}' must be above 0 and at most {MOST_DELAY:,}. Got {shortened(value)}.")
        return Delay(mean=finite("delay", mean, of=of))
    if isinstance(value, str) and not (value.isdecimal() and len(value) < 20):
        raise BadInput(f"'delay' of '{of}' must be a number of rounds, or '{GEOMETRIC}MEAN'. Got {shortened(value)}.")
    return Delay(whole("delay", int(value) if isinstance(value, str) else value, 0, MOST_DELAY, of=of))


@generic(optional=True)
def answer(
    world: Any, key: np.uint64, round: int, rounds: int, slate: Ints, wins: Floats, params: Any, state: Any, rng: Stream
) -> None:
    """The policy has shown a slate of several arms: tell it who won, or keep that for later."""
    compare(world, key, round, rounds, slate, wins)
    tell(params, state, rng, round, slate, wins)


@generic(optional=True)
def arrive(world: Any, key: np.uint64, round: int, gaps: Floats, wins: Floats, params: Any, state: Any, rng: Stream) -> int:
    """Tell the policy what is due before ``round``. Returns how many rounds from this one on nothing else will arrive."""
    return FOREVER


class Delayed(NamedTuple):
    """A world whose answers come late. The slate of a round waits; features and answer are found again when it is due.

    That is possible because both are functions of (key, round). What is due before the same round is told in the order of the
    rounds. Both rings have C places, the longest delay and one more.
    """

    world: Any
    rounds: int  # of every delay; or
    rate: float  # of geometric ones, P(delay >= k) = exp(-rate k); 0: they are fixed
    first: Ints  # i8[C]     by the round before which it is due: the first round whose answer is; 0: none
    last: Ints  # i8[C]     the last of them
    after: Ints  # i8[C]     by round: the next round whose answer is due at the same time; 0: none
    size: Ints  # i8[C]     by round: arms in its slate
    slates: Ints  # i8[C, m]  by round
    queue: Ints  # i8[2]     the round before which something is due next; how many answers wait


def delayed(world: Any, delay: Delay, seats: int, horizon: int) -> Delayed:
    """A world around a world."""
    C = delay.places(horizon, seats)
    first, last, after, size = (np.zeros(C, np.int64) for _ in range(4))
    rate = math.log1p(1.0 / delay.mean) if delay.mean else 0.0
    slates, queue = np.zeros((C, seats), np.int64), np.array([FOREVER, 0])
    return Delayed(world, delay.rounds, rate, first, last, after, size, slates, queue)


@kernel
def delay_of(world: Delayed, key: np.uint64, round: int) -> int:
    """How many rounds late this round's answer is: the same for every policy of a run."""
    if world.rate == 0.0:
        return world.rounds
    return int(-math.log(1.0 - chance(place(key, round), LATENESS)) / world.rate)


@meet.implement(Delayed)
def meet_now(world: Delayed, key: np.uint64, round: int, gaps: Floats, params: Any, state: Any) -> None:
    meet(world.world, key, round, gaps, params, state)


@answer.implement(Delayed)
def keep(
    world: Delayed, key: np.uint64, round: int, rounds: int, slate: Ints, wins: Floats, params: Any, state: Any, rng: Stream
) -> None:
    """Keep a slate of one round: policies that commit to several arms for many are asked in every round."""
    C = world.first.shape[0]
    delay = delay_of(world, key, round)
    if delay >= C:  # longer than the run
        return
    due = round + 1 + delay
    kept, when = round % C, due % C
    world.size[kept] = slate.shape[0]
    for a in range(slate.shape[0]):
        world.slates[kept, a] = slate[a]
    world.after[kept] = 0
    if world.first[when] == 0:
        world.first[when] = round
    else:
        world.after[world.last[when] % C] = round
    world.last[when] = round
    world.queue[WAITING] += 1
    world.queue[DUE] = min(world.queue[DUE], due)


@arrive.implement(Delayed)
def tell_due(world: Delayed, key: np.uint64, round: int, gaps: Floats, wins: Floats, params: Any, state: Any, rng: Stream) -> int:
    queue, C = world.queue, world.first.shape[0]
    if queue[DUE] == round:
        told = world.first[round % C]
        world.first[round % C] = 0
        while told != 0:
            kept = told % C
            slate = world.slates[kept, : world.size[kept]]
            meet(world.world, key, told, gaps, params, state)  # the features of that round
            compare(world.world, key, told, 1, slate, wins)
            tell(params, state, rng, told, slate, wins)
            queue[WAITING] -= 1
            told = world.after[kept]
        meet(world.world, key, round - 1, gaps, params, state)  # those of the last ask, which a recommendation is for
        queue[DUE] = FOREVER
        if queue[WAITING] > 0:
            queue[DUE] = round + 1
            while world.first[queue[DUE] % C] == 0:
                queue[DUE] += 1
    return queue[DUE] - round if queue[WAITING] > 0 else FOREVER
