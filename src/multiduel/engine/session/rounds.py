"""A round's compiled entries, which a policy calls from Python: one ask, one tell, one recommendation."""

from __future__ import annotations

from typing import Any, NamedTuple

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import ask, recommend, see, tell
from multiduel.kernels.evidence import Counts, count_answer

MOST_WEIGHT = 1e9  # of a duel that is told: even 10^9 of them sum to what every kernel can still count with
MOST_WINS = 1e15  # of one arm over another in a tally


STEPS, ASKED, ANSWERED, COMPARED, DIFFERS = range(5)  # entries of a course


class Duel(NamedTuple):
    """Room for one pair of arms."""

    pair: Ints  # i8[2]
    wins: Floats  # f8[2, 2]


class Past(NamedTuple):
    """Asks and answers in the order in which they came. All answers are about equally many arms."""

    sizes: Ints  # i8[steps]  of an ask, the arms that its slate had, -1 if nobody knows them; 0 for an answer
    slates: Ints  # i8[asks, most]  the slates that came of the asks
    arms: Ints  # i8[answers, n]
    wins: Floats  # f8[answers, n, n]


def ask_once(params: Any, state: Any, rng: Stream, round: int, slate: Ints) -> int:
    """One ask, committing to nothing. Returns how many arms it wrote into ``slate``."""
    n, _ = ask(params, state, rng, round, 1, slate)
    return n


def ask_seeing(params: Any, state: Any, rng: Stream, round: int, slate: Ints, arms: Ints, rows: Floats) -> int:
    """One ask with the features of its round."""
    see(params, state, arms, rows)
    n, _ = ask(params, state, rng, round, 1, slate)
    return n


@kernel
def sensible(wins: Floats, most: float) -> bool:
    """Are these weights of duels: from 0 to ``most``, and none of an arm against itself?"""
    n = wins.shape[0]
    good = True
    for a in range(n):
        good &= wins[a, a] == 0.0
        for b in range(n):
            good &= (wins[a, b] >= 0.0) & (wins[a, b] <= most)
    return good


@kernel
def count(slate: Ints, wins: Floats, tally: Counts) -> bool:
    """Count an answer in ``tally``, unless that is empty: what many answers gave is no answer. Was anything compared?"""
    compared = any_positive(wins)
    if compared and tally.above.shape[0] > 0:
        count_answer(tally, slate, wins)
    return compared


@kernel
def any_positive(wins: Floats) -> bool:
    for a in range(wins.shape[0]):
        for b in range(wins.shape[1]):
            if wins[a, b] > 0.0:
                return True
    return False


def tell_once(params: Any, state: Any, rng: Stream, round: int, slate: Ints, wins: Floats, tally: Counts) -> bool:
    """One tell, also counted in ``tally``. Wins that are not wins change nothing and give False."""
    if not sensible(wins, MOST_WEIGHT):
        return False
    if count(slate, wins, tally):
        tell(params, state, rng, round, slate, wins)
    return True


def tell_seeing(
    params: Any, state: Any, rng: Stream, round: int, slate: Ints, wins: Floats, tally: Counts, rows: Floats, last: Floats
) -> bool:
    """One tell with the features that the slate had when asked; ``last`` are those of the last ask, and are put back."""
    if not sensible(wins, MOST_WEIGHT):
        return False
    if count(slate, wins, tally):
        see(params, state, slate, rows)
        tell(params, state, rng, round, slate, wins)
        see(params, state, slate, last)
    return True


@kernel
def observe_slate(
    params: Any, state: Any, rng: Stream, most: float, duel: Duel | None, arms: Ints, wins: Floats, tally: Counts
) -> bool:
    """A comparison, or a whole tally, that the policy did not ask for, told as one slate."""
    if not sensible(wins, most):
        return False
    if count(arms, wins, tally):
        tell(params, state, rng, 0, arms, wins)
    return True


@kernel
def observe_pairs(params: Any, state: Any, rng: Stream, most: float, duel: Duel, arms: Ints, wins: Floats, tally: Counts) -> bool:
    """The same, told pair by pair: a two-dueling kernel looks at two arms only."""
    if not sensible(wins, most):
        return False
    count(arms, wins, tally)
    for a in range(arms.shape[0]):
        for b in range(a + 1, arms.shape[0]):
            if wins[a, b] + wins[b, a] > 0.0:
                duel.pair[0] = arms[a]
                duel.pair[1] = arms[b]
                duel.wins[0, 1] = wins[a, b]
                duel.wins[1, 0] = wins[b, a]
                tell(params, state, rng, 0, duel.pair, duel.wins)
    return True


def relive(
    params: Any,
    state: Any,
    rng: Stream,
    round: int,
    slate: Ints,
    duel: Duel | None,
    past: Past,
    until: int,
    tally: Counts,
    course: Ints,
) -> bool:
    """Ask and observe as in a past, up to step ``until`` or an ask that gives one arm. Was there such an ask?

    ``duel`` is for policies that are told pair by pair. ``course`` counts steps, asks, answers and those that compared anything,
    and says after which step a slate first came out otherwise (0: after none).
    """
    while course[STEPS] < until:
        size = past.sizes[course[STEPS]]
        course[STEPS] += 1
        if size == 0:
            answer = course[ANSWERED]
            course[ANSWERED] += 1
            arms, wins = past.arms[answer], past.wins[answer]
            if any_positive(wins):
                course[COMPARED] += 1
                if duel is None:
                    observe_slate(params, state, rng, MOST_WEIGHT, duel, arms, wins, tally)
                else:
                    observe_pairs(params, state, rng, MOST_WEIGHT, duel, arms, wins, tally)
        else:
            asked = course[ASKED]
            course[ASKED] += 1
            n, _ = ask(params, state, rng, round + course[ASKED], 1, slate)
            if n == 1:
                return True
            same = n == size
            for a in range(n):
                same = same and slate[a] == past.slates[asked, a]
            if not same and course[DIFFERS] == 0:
                course[DIFFERS] = course[STEPS]
    return False


def recommend_once(params: Any, state: Any) -> int:
    return recommend(params, state)


def recommend_seeing(params: Any, state: Any, arms: Ints, rows: Floats, last: Floats) -> int:
    """One recommendation for a round with these features; ``last`` are those of the last ask, and are put back."""
    see(params, state, arms, rows)
    arm = recommend(params, state)
    see(params, state, arms, last)
    return arm
