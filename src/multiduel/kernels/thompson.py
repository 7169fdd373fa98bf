"""A race of Beta beliefs: theta_i ~ Beta(a_i, b_i) for every arm, the largest wins. Exact, and nearly free of draws.

Thompson sampling spends its time on draws that cannot win. Here a level tau is laid under the bulk of the leader's belief
and over the bulk of its rivals'. Call an arm *astray* in a race when it is on the wrong side of tau: the leader below, a rival
above. If nobody is astray the leader wins, and no theta needs to be known.

How chances to go astray are bounded. With a, b >= 1 a Beta density f is log-concave, so it lies under the exponential that
touches it at tau,

    f(x) <= f(tau) exp(slope (x - tau)),    slope = (ln f)'(tau),

and the tail that falls away from tau weighs at most  tail = f(tau) / |slope|.  So raise an *alarm* with chance ``tail``. If
raised, propose a theta from the exponential and accept it with chance f over its bound: accepted, it is exactly a theta from
beyond tau. Not raised or not accepted, the arm is not astray. That is exactly the law of theta, as far as it is asked for.

How whole stretches become one event. Let hazard = -ln(1 - tail), and lay the arms' hazards end to end, race after race, on
one line. Points dropped on the line at unit rate, of which only the first in each arm's piece counts, are the alarms: a piece
holds one with chance 1 - exp(-hazard) = tail. So an exponential says how many races pass before the next alarm, and until then
the leader wins them all. Exponentials have no memory, so after any change of a belief the wait may be drawn anew.

Arms whose bound is useless (mostly around tau, or few duels yet) are *open*: drawn plainly in every race. Any leader and any
tau are right; they are chosen for speed, and revised when the beliefs have moved.

Equal in distribution to plain draws (``draw_directly``), not draw by draw.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.contract import Parameter
from multiduel.kernels.random import beta, uniform

LAZY, DIRECT = 0, 1
DRAWS = Parameter(  # of every policy that races
    meaning="draw only what can win (lazy), or every theta in the order of the arms (direct): the same law",
    choices={"lazy": LAZY, "direct": DIRECT},
)

LEADER, OPEN, SILENT, NEWS = 0, 1, 2, 3  # places in `tally`
TAU, LOG_TAU, LOG_REST, HAZARD = 0, 1, 2, 3  # places in `level`

UNKNOWN = -1  # SILENT: must be drawn anew
ALL_NEW = 1 << 40  # NEWS: tau must be laid anew
USELESS = 0.25  # a bound above this is not worth a coin: the arm is open
PLAIN_DRAW, ALARM_DRAW, LEADER_ALARM = 70.0, 60.0, 12.0  # rough costs in ns, by which tau is chosen; the last is per arm
MANY_RACES = 1e15
HALF_LOG_2_PI = 0.9189385332046727


class Race(NamedTuple):
    a: Floats  # f8[K]  the belief in arm i is Beta(a_i, b_i); a_i, b_i >= 1
    b: Floats  # f8[K]
    log_B: Floats  # f8[K]  ln of the Beta function at (a_i, b_i)
    hazard: Floats  # f8[K]  -ln(1 - tail), where tail bounds the chance that arm i is astray; 0 if it is open
    slope: Floats  # f8[K]  of the log density at tau
    is_open: Ints  # i8[K]  1 if arm i is drawn in every race
    opened: Ints  # i8[K]  the open arms, in the first places
    tally: Ints  # i8[4]  leader; number of open arms; races without alarm still to come; beliefs changed since tau was laid
    level: Floats  # f8[4]  tau; ln tau; ln(1 - tau); the hazards' sum


def new_race(n_arms: int, prior: float = 1.0) -> Race:
    """Beliefs Beta(prior, prior), prior >= 1."""
    race = Race(
        a=np.zeros(n_arms),
        b=np.zeros(n_arms),
        log_B=np.zeros(n_arms),
        hazard=np.zeros(n_arms),
        slope=np.zeros(n_arms),
        is_open=np.zeros(n_arms, np.int64),
        opened=np.zeros(n_arms, np.int64),
        tally=np.zeros(4, np.int64),
        level=np.zeros(4),
    )
    forget_all(race, prior)
    return race


@kernel
def forget_all(race: Race, prior: float) -> None:
    """Back to Beta(prior, prior) for every arm, all open, until the first race looks closer."""
    log_B = log_beta(prior, prior)
    for i in range(race.a.shape[0]):
        race.a[i] = race.b[i] = prior
        race.log_B[i] = log_B
        race.hazard[i] = race.slope[i] = 0.0
        race.is_open[i] = 1
        race.opened[i] = i
    race.tally[LEADER] = 0
    race.tally[OPEN] = race.a.shape[0]
    race.tally[SILENT] = UNKNOWN
    race.tally[NEWS] = ALL_NEW
    race.level[TAU] = 0.5
    race.level[LOG_TAU] = race.level[LOG_REST] = math.log(0.5)
    race.level[HAZARD] = 0.0


@kernel
def update_belief(race: Race, arm: int, won: float, lost: float) -> None:
    """Count duels of an arm; weights need not be whole."""
    race.a[arm] += won
    race.b[arm] += lost
    race.log_B[arm] = log_beta(race.a[arm], race.b[arm])
    assess(race, arm)
    race.tally[SILENT] = UNKNOWN
    race.tally[NEWS] += 1


@kernel
def sure_races(race: Race, rng: Stream) -> int:
    """How many of the next races the leader is known to win. The caller subtracts those it uses by ``skip``."""
    prepare(race, rng)
    return race.tally[SILENT] if race.tally[OPEN] == 0 else 0


@kernel
def skip(race: Race, races: int) -> None:
    """Hold ``races`` of the ``sure_races`` without looking."""
    race.tally[SILENT] -= races


@kernel
def draw(race: Race, rng: Stream) -> int:
    """Hold one race; the winner's index."""
    prepare(race, rng)
    if race.tally[SILENT] > 0:
        race.tally[SILENT] -= 1
        return race.tally[LEADER] if race.tally[OPEN] == 0 else finish(race, -1.0, -1, -1.0, rng)
    winner = race_with_alarm(race, rng)
    race.tally[SILENT] = silence(race, rng)
    return winner


@kernel
def draw_directly(race: Race, rng: Stream) -> int:
    """Hold one race by plain draws in the order of the arms."""
    best = -1.0
    winner = 0
    for i in range(race.a.shape[0]):
        theta = beta(race.a[i], race.b[i], rng)
        if theta > best:
            best = theta
            winner = i
    return winner


@kernel
def favourite(race: Race) -> int:
    """The arm of the largest mean belief."""
    a, b = race.a, race.b
    best = 0
    for i in range(1, a.shape[0]):
        if a[i] * (a[best] + b[best]) > a[best] * (a[i] + b[i]):
            best = i
    return best


# Setting up: where tau lies, who is open, when the next alarm comes.


@kernel
def prepare(race: Race, rng: Stream) -> None:
    """After beliefs changed: revise tau if they moved far, and draw when the next alarm comes."""
    if race.tally[SILENT] != UNKNOWN:
        return
    leader = race.tally[LEADER]
    if race.tally[NEWS] > 8.0 + 0.03 * (race.a[leader] + race.b[leader]):
        choose_level(race)
    total = 0.0
    n = 0
    for i in range(race.a.shape[0]):
        total += race.hazard[i]
        race.opened[n] = i
        n += race.is_open[i]
    race.tally[OPEN] = n
    race.level[HAZARD] = total
    race.tally[SILENT] = silence(race, rng)


@kernel
def silence(race: Race, rng: Stream) -> int:
    """How many races pass before the next alarm."""
    hazard = race.level[HAZARD]
    return int(min(exponential(rng) / hazard, MANY_RACES)) if hazard > 0.0 else int(MANY_RACES)


@kernel
def exponential(rng: Stream) -> float:
    return -math.log1p(-uniform(rng))


@kernel
def choose_level(race: Race) -> None:
    """Lead with the favourite, and lay tau where a race is cheapest, 1 to 6.5 standard deviations below its mean."""
    leader = favourite(race)
    n_arms = race.a.shape[0]
    n = race.a[leader] + race.b[leader]
    mean = race.a[leader] / n
    deviation = math.sqrt(mean * (1.0 - mean) / (n + 1.0))
    least = math.inf
    tau = 0.02
    for half_deviations in range(2, 14):
        x = mean - 0.5 * half_deviations * deviation
        if x <= 0.01:
            break
        log_x = math.log(x)
        log_rest = math.log1p(-x)
        cost = 0.0
        for i in range(n_arms):
            slope, tail = tangent(race, i, x, log_x, log_rest)
            is_open = is_useless(slope, tail, i == leader)
            dear = LEADER_ALARM * n_arms + ALARM_DRAW if i == leader else ALARM_DRAW
            cost += PLAIN_DRAW if is_open else tail * dear
        if cost > 1.5 * least:  # it falls, then rises
            break
        if cost < least:
            least = cost
            tau = x
    lay_level(race, leader, tau)


@kernel
def lay_level(race: Race, leader: int, tau: float) -> None:
    race.tally[LEADER] = leader
    race.tally[SILENT] = UNKNOWN
    race.tally[NEWS] = 0
    race.level[TAU] = tau
    race.level[LOG_TAU] = math.log(tau)
    race.level[LOG_REST] = math.log1p(-tau)
    for i in range(race.a.shape[0]):
        assess(race, i)


@kernel
def assess(race: Race, i: int) -> None:
    """How likely arm i is astray, at most."""
    slope, tail = tangent(race, i, race.level[TAU], race.level[LOG_TAU], race.level[LOG_REST])
    useless = is_useless(slope, tail, i == race.tally[LEADER])
    race.slope[i] = slope
    race.is_open[i] = 1 if useless else 0
    race.hazard[i] = 0.0 if useless else -math.log1p(-tail)


@kernel
def is_useless(slope: float, tail: float, leads: bool) -> bool:
    """The tail must be thin, and fall away from tau: to the left for the leader, to the right for a rival."""
    falls = slope > 0.0 if leads else slope < 0.0
    return not (falls and tail <= USELESS)


@kernel
def tangent(race: Race, i: int, x: float, log_x: float, log_rest: float) -> tuple[float, float]:
    """Slope of the log density of arm i's belief at x, and the weight of the exponential that touches it there."""
    a1, b1 = race.a[i] - 1.0, race.b[i] - 1.0
    slope = a1 / x - b1 / (1.0 - x)
    if slope == 0.0:
        return slope, 1.0
    return slope, math.exp(a1 * log_x + b1 * log_rest - race.log_B[i]) / abs(slope)


# Holding a race.


@kernel
def race_with_alarm(race: Race, rng: Stream) -> int:
    """A race in which at least one alarm goes off."""
    hazard, leader, tau = race.hazard, race.tally[LEADER], race.level[TAU]
    above = -1.0  # the best rival above tau, and who it is
    who = -1
    below = -1.0  # the leader's theta, if it is below tau
    point = -math.log1p(uniform(rng) * math.expm1(-race.level[HAZARD]))  # an exponential, given that it falls in this race
    end = 0.0  # of arm i's piece of the line
    for i in range(hazard.shape[0]):
        end += hazard[i]
        if point >= end:
            continue
        x = tau - exponential(rng) / race.slope[i]  # to the left if the slope is positive, else to the right
        if accepted(race, i, tau, race.slope[i], x, rng):
            if i == leader:
                below = x
            elif x > above:
                above = x
                who = i
        point = end + exponential(rng)  # later points in the same piece say nothing new
    return finish(race, above, who, below, rng)


@kernel
def finish(race: Race, above: float, who: int, below: float, rng: Stream) -> int:
    """The winner, once it is known who is astray. ``above``: the best theta of ``who``, a rival astray; ``below``: the
    leader's, if astray; -1 for none."""
    leader, tau = race.tally[LEADER], race.level[TAU]
    best = above
    winner = who
    for k in range(race.tally[OPEN]):
        i = race.opened[k]
        theta = beta(race.a[i], race.b[i], rng)
        if theta > best:
            best = theta
            winner = i
    if race.is_open[leader] == 0:
        theta = below
        if below < 0.0:  # the leader is above tau
            if best < tau:
                return leader
            while theta < tau:
                theta = beta(race.a[leader], race.b[leader], rng)
        if theta > best:
            best = theta
            winner = leader
    if best < tau:  # then the rivals below tau are in it
        return best_below(race, best, winner, rng)
    return winner


@kernel
def best_below(race: Race, best: float, winner: int, rng: Stream) -> int:
    """The winner when the best theta so far is below tau: rivals that are neither open nor astray are drawn given that they
    are below tau, by the same tangent, now laid at the best theta so far."""
    leader, tau = race.tally[LEADER], race.level[TAU]
    log_best = math.log(best)
    log_rest = math.log1p(-best)
    for i in range(race.a.shape[0]):
        if race.is_open[i] == 1 or i == leader:
            continue
        slope, tail = tangent(race, i, best, log_best, log_rest)
        theta = tau
        while theta >= tau:  # until it is below tau
            theta = -1.0  # not above the best: it does not matter where
            if slope >= 0.0 or tail >= 0.5:
                theta = beta(race.a[i], race.b[i], rng)
            elif uniform(rng) < tail:
                x = best - exponential(rng) / slope
                if accepted(race, i, best, slope, x, rng):
                    theta = x
        if theta > best:
            best = theta
            winner = i
            log_best = math.log(best)
            log_rest = math.log1p(-best)
    return winner


@kernel
def accepted(race: Race, i: int, at: float, slope: float, x: float, rng: Stream) -> bool:
    """Accept x, proposed from the exponential that touches arm i's density at ``at``, with chance density over exponential."""
    if x <= 0.0 or x >= 1.0:
        return False
    log_ratio = (race.a[i] - 1.0) * math.log(x / at) + (race.b[i] - 1.0) * math.log((1.0 - x) / (1.0 - at)) - slope * (x - at)
    return -exponential(rng) <= log_ratio


# The Beta function. Not by math.lgamma: interpreted and compiled code have different ones, and they differ in the last bits.


@kernel
def log_beta(a: float, b: float) -> float:
    """ln B(a, b) for a, b >= 1.

    B(a, b) = B(a + 1, b) (a + b) / a carries both arguments beyond 10, where Stirling's series has full precision; there the
    large terms of the three gamma functions cancel on paper instead of in rounding.
    """
    carried = 1.0
    while a < 10.0:
        carried *= (a + b) / a
        a += 1.0
    while b < 10.0:
        carried *= (a + b) / b
        b += 1.0
    n = a + b
    leading = (a - 0.5) * math.log(a / n) + (b - 0.5) * math.log(b / n) - 0.5 * math.log(n) + HALF_LOG_2_PI
    return leading + stirling_series(a) + stirling_series(b) - stirling_series(n) + math.log(carried)


@kernel
def stirling_series(x: float) -> float:
    """ln Gamma(x) - (x - 1/2) ln x + x - ln(2 pi) / 2, for x >= 10."""
    y = 1.0 / (x * x)
    return (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y / 1188.0)))) / x
