"""When the lists of CW-RMED and ECW-RMED are sound."""

from __future__ import annotations

from typing import Any

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.kernels import validity
from multiduel.policies.rmed.copeland import HEAD, IN_LINE, IN_N, IN_R, LISTED, NEXT, PLAYED, SEEN, STEP, WAITING, Pairs
from multiduel.policies.rmed.divergence import sound_duels


def sound_pairs(pairs: Pairs) -> dict[str, Any]:
    """Lists hold each pair at most once, flags say who is listed, and the sweep always has a next pair."""
    K, place = len(pairs.arms), pairs.place.tolist()
    P, D = pairs.duels.P, pairs.duels.D
    most = pairs.lists.shape[1]
    here = 0 <= place[PLAYED] <= place[LISTED] <= most and 0 <= place[NEXT] <= most and place[STEP] in (0, 1)
    goes_on = place[PLAYED] < place[LISTED] or place[STEP] == 1
    ring = 0 <= place[HEAD] < len(pairs.line) and 0 <= place[WAITING] <= len(pairs.line)
    waiting = pairs.line[(place[HEAD] + np.arange(place[WAITING] if ring else 0)) % len(pairs.line)]
    lists = {
        IN_R: pairs.lists[0, place[PLAYED] : place[LISTED]] if here else None,
        IN_N: pairs.lists[1, : place[NEXT]] if here else None,
        IN_LINE: waiting if ring else None,
    }
    flagged = all(listed is not None and _flagged(listed, pairs.member[row], K) for row, listed in lists.items())
    beaten = P < 0.5
    return {
        "arms": validity.order(pairs.arms),
        "numbers": validity.order(pairs.numbers) and bool(np.all(pairs.arms[pairs.numbers] == np.arange(K))),
        "duels": sound_duels(pairs.duels),
        "L": bool(np.all(beaten.sum(axis=1) == pairs.L)),
        "ranked": _ranked(pairs.ranked, beaten, D),
        "beats": bool(np.all(pairs.beats == beaten.sum(axis=0))),
        "beaten": _ranked(pairs.beaten, beaten.T, D.T),
        "lists": here and _are_pairs(pairs.lists, K),
        "member": flagged and validity.flags(pairs.member),
        "line": ring and _are_pairs(pairs.line, K) and bool(np.all(waiting // K != waiting % K)),
        "place": here and goes_on and ring and -1 <= place[SEEN] <= validity.MOST,
        "q": validity.SCRATCH,
        "costs": validity.SCRATCH,
        "values": validity.SCRATCH,
        "order": validity.SCRATCH,
        "programme": dict.fromkeys(pairs.programme._fields, validity.SCRATCH),
    }


def _are_pairs(values: Ints, K: int) -> bool:
    """i K + j with i <= j."""
    return validity.counts(values, K * K - 1) and bool(np.all(values // K <= values % K))


def _flagged(listed: Ints, member: Ints, K: int) -> bool:
    return _are_pairs(listed, K) and sorted(listed.tolist()) == np.flatnonzero(member).tolist()


def _ranked(rows: Ints, whom: Any, cost: Floats) -> bool:
    """Row i begins with the arms that ``whom`` marks, by their cost, least first."""
    for row, marked, costs in zip(rows, whom, cost, strict=True):
        arms = np.flatnonzero(marked)
        first = row[: len(arms)]
        if sorted(first.tolist()) != arms.tolist() or bool(np.any(np.diff(costs[first]) < 0.0)):
            return False
    return True
