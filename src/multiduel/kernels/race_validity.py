"""When a Race is sound. Arms would be drawn for ever if their bounds were not those of their beliefs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from multiduel.kernels import validity
from multiduel.kernels.thompson import (
    HAZARD,
    LOG_REST,
    LOG_TAU,
    MANY_RACES,
    TAU,
    UNKNOWN,
    Race,
    assess,
    log_beta,
)


def valid_race(race: Race) -> dict[str, Any]:
    """Everything but a, b, the leader and tau follows from these; who is open and the hazards' sum, once they are asked for."""
    K, tau = len(race.a), float(race.level[TAU])
    leader, n_open, silent, news = race.tally.tolist()
    beliefs = validity.between(race.a, 1.0, validity.MOST) and validity.between(race.b, 1.0, validity.MOST)
    placed = 0.0 < tau < 1.0 and 0 <= leader < K
    if not (beliefs and placed):
        return dict.fromkeys(Race._fields, False)
    twin = race._replace(**{name: array.copy() for name, array in race._asdict().items()})
    for i in range(K):
        twin.log_B[i] = log_beta(twin.a[i], twin.b[i])
    twin.level[LOG_TAU], twin.level[LOG_REST] = math.log(tau), math.log1p(-tau)
    for i in range(K):
        assess(twin, i)
    drawn = np.flatnonzero(twin.is_open)
    known = silent == UNKNOWN or (n_open == len(drawn) and race.opened[:n_open].tolist() == drawn.tolist())
    total = silent == UNKNOWN or validity.close(race.level[HAZARD], twin.hazard.sum())
    return {
        "a": beliefs,
        "b": beliefs,
        "log_B": validity.close(race.log_B, twin.log_B),
        "hazard": validity.close(race.hazard, twin.hazard) and validity.counts(race.hazard),
        "slope": validity.close(race.slope, twin.slope),
        "is_open": bool(np.all(race.is_open == twin.is_open)),
        "opened": known,
        "tally": known and UNKNOWN <= silent <= MANY_RACES and news >= 0,
        "level": total and validity.close(race.level[[LOG_TAU, LOG_REST]], twin.level[[LOG_TAU, LOG_REST]]),
    }
