"""When an arm is due: the largest of the parts of its due time, of which most are never computed."""

from __future__ import annotations

import math

from multiduel.kernels.compiler.dispatch import kernel
from multiduel.policies.due_duel.state import ALL, AT_ONCE, NOTHING, PART, SINGLE, SUMS, State

LOG_2 = math.log(2.0)
SLACK = 1e-9  # beyond rounding: a value that is not computed for being too small is too small


@kernel
def nats(d: float, n: float) -> float:
    """n kl+(d / n): evidence of d more losses than wins in n duels that losing is the rule."""
    if d <= 0.0:
        return 0.0
    if d >= n:
        return n * LOG_2
    return 0.5 * ((n + d) * math.log((n + d) / n) + (n - d) * math.log((n - d) / n))


@kernel
def nats_at_most(d: float, n: float) -> float:
    """A bound of it without logarithms: two terms of its series in d / n, and all later ones as if they were the third."""
    r = max(d, 0.0) / n
    s = r * r
    return n * s * (0.5 + s * (1.0 / 12.0 + s * (LOG_2 - 7.0 / 12.0)))


@kernel
def log_due(n: float, e: float, stretch: float) -> float:
    """ln of n (1 + stretch e) exp(e): when an arm is due after n duels with e nats of evidence against it."""
    return math.log(n * (1.0 + stretch * e)) + e


@kernel
def add_up(state: State, i: int, start: int, stop: int) -> None:
    """The sums of D_ij and N_ij over the first 2^c arms in order, c = start to stop - 1; those below start are there."""
    D, N, order, lost, met = state.D[i], state.N[i], state.order, state.lost, state.met
    a, d, n = 0, 0.0, 0.0
    if start > 0:
        a, d, n = 1 << (start - 1), lost[start - 1], met[start - 1]
    for c in range(start, stop):
        for b in range(a, 1 << c):
            d += D[order[b]]
            n += N[order[b]]
        a, lost[c], met[c] = 1 << c, d, n


@kernel
def look_at(state: State, i: int, groups: int, enough: float, stretch: float) -> None:
    """Bring due[i] up to date; or, if the part that was the largest last time still gives more than ``enough``, that part."""
    D, N, E, lost, met = state.D, state.N, state.E, state.lost, state.met
    part, rival = state.largest[i], state.rival[i]
    added = 0
    if state.known[i] == NOTHING:
        part = state.largest[i] = min(part, groups)
        if part != SINGLE:
            add_up(state, i, 0, part)
            added = part
            state.d[i], state.n[i] = lost[part - 1], met[part - 1]
        elif D[i, rival] > 0.0:
            state.d[i], state.n[i] = D[i, rival], N[i, rival]
        else:
            state.d[i], state.n[i] = 0.0, 0.0
        state.known[i] = SUMS
    d, M = state.d[i], state.n[i]
    if part != SINGLE and surely_later(d, M, enough):
        return
    due, log_K = AT_ONCE, math.log(float(N.shape[0]))
    value, e, per_M = 0.0, 0.0, 1.0
    if M > 0.0:
        e, per_M = nats(d, M), 1.0 / M
        value = log_due(M, e, stretch)
        due = max(due, value - (log_K if part == SINGLE else 0.0))
    state.due[i] = due
    if due > enough:
        state.known[i] = PART
        return

    # Most other parts are seen to be smaller without a logarithm: ln n + ln(1 + stretch e) is below its tangents at M and e.
    add_up(state, i, added, groups)
    known = part
    slope = 1.0 + stretch / (1.0 + stretch * e)
    rest = value - slope * e - 1.0 + SLACK
    for c in range(groups):
        d, n = lost[c], met[c]
        if n > 0.0 and c + 1 != known and slope * nats_at_most(d, n) + n * per_M + rest > due:
            value = log_due(n, nats(d, n), stretch)
            if value > due:
                due, part = value, c + 1
                state.d[i], state.n[i] = d, n
    rest -= log_K
    perhaps = slope * 2.0 * LOG_2 * state.most_E[i] + state.most_N[i] * per_M + rest > due
    for j in range(N.shape[0] if perhaps else 0):
        d, n = D[i, j], N[i, j]
        if E[i, j] > 0.0 and slope * nats_at_most(d, n) + n * per_M + rest > due:
            value = log_due(n, nats(d, n), stretch) - log_K
            if value > due:
                due, part, rival = value, SINGLE, j
                state.d[i], state.n[i] = d, n
    state.due[i], state.largest[i], state.rival[i], state.known[i] = due, part, rival, ALL


@kernel
def surely_later(d: float, n: float, enough: float) -> bool:
    """Whether an arm with these sums is due after ``enough``, by d^2 / 2n, which is less."""
    return d > 0.0 and n >= 1.0 and 0.5 * d * d > enough * n


@kernel
def cross(state: State, arm: int, old: int, new: int) -> None:
    """An arm went from one ring to another: the sums and due times of those who met it. The compiler does four at once."""
    D, N, d, n, largest, known = state.D[arm], state.N[arm], state.d, state.n, state.largest, state.known
    low, high, sign = min(old, new), max(old, new), 1.0 if new < old else -1.0
    for i in range(D.shape[0]):
        inside = (largest[i] > low) & (largest[i] <= high)  # the arm entered, or left, the group that is i's largest part
        share = sign if inside else 0.0
        d[i] -= share * D[i]  # D[i, arm] = -D[arm, i]
        n[i] += share * N[i]
        known[i] = min(known[i], (SUMS if inside else PART) if N[i] > 0.0 else ALL)
