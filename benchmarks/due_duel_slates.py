"""An experiment: DueDuel with slates priced as the lower bound's linear programme would price them.

Paper      none. docs/due-duel.md says what came of it.
Assumes    a Condorcet winner.
Symbols    as in multiduel's due_duel; h the handicap; gap_k what an arm costs, estimated from its duels with the leader x;
           info_kj = E_kj / (N_kj + 1) evidence per duel, divided by h if j is not x, whose E_kx counts as 1/2 at least;
           y_k the price of a nat against arm k.
Deviates   from DueDuel in the slates only: when arms are compared is the same.

    y_k <- min over j of (gap_k + gap_j) / (2 info_kj)   for arms with due_k <= L t, else 0
    A <- {i}, the arm of least due
    while |A| < m: add the arm for which  sum_{k in A} y_k sum_{j in A} info_kj / (mean gap of A)  is largest, if it grows

    python benchmarks/due_duel_slates.py measure     against DueDuel on families of suite v1; writes due_duel_slates.json
    python benchmarks/due_duel_slates.py judge

The rule of decision, written before a family of the suite was played (h = 2 was chosen on ten other tournaments of 30 arms).
It helps if all three hold at T = 10^6 on *tournaments* and *disputed tournaments*, m = 2 and 4, 20 instances with 50 runs each:

1. Its mean regret is lower in all four cells, by three standard errors of the difference over instances in at least three.
2. No more runs end wrong.
3. The mean of its worst hundredth of runs is lower, as a geometric mean over the cells.

It could be DueDuel's rule only if no other family loses. Six others were to be played with 20 runs of an instance at T = 10^6;
that took too long, and five of them were played with 5 runs at T = 10^5.
"""

from __future__ import annotations

import json
import math
import pathlib
import sys
from typing import Any, NamedTuple

import numpy as np

import multiduel as md
from multiduel.authoring import Floats, Ints, Parameter, PolicySpec, Stream, implement, validity
from multiduel.kernels import contract
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.policies.due_duel import due_duel
from multiduel.policies.due_duel.due_times import look_at
from multiduel.policies.due_duel.state import ALL


class Params(NamedTuple):
    slate_size: int = 2
    handicap: float = 2.0  # h
    look_ahead: float = 50.0


class State(NamedTuple):
    inner: due_duel.State
    gap: Floats
    price: Floats  # y


@implement(Params)
def init(params: Params, n_arms: int, rng: Stream) -> State:
    return State(
        contract.init(due_duel.Params(params.slate_size, params.look_ahead, 16.0, 0.0), n_arms, rng),
        np.zeros(n_arms),
        np.zeros(n_arms),
    )


@implement(Params)
def valid(params: Params, state: State, n_arms: int, round: int) -> dict[str, Any]:
    inner = contract.valid(due_duel.Params(params.slate_size, params.look_ahead, 16.0, 0.0), state.inner, n_arms, round)
    return {"inner": inner, "gap": validity.SCRATCH, "price": validity.SCRATCH}


@kernel
def info(N: Floats, E: Floats, k: int, j: int, x: int, handicap: float) -> float:
    """Evidence per duel of k with j; an opponent other than the leader counts less."""
    if j == x:
        return max(E[k, x], 0.5) / (N[k, x] + 1.0)
    return E[k, j] / ((N[k, j] + 1.0) * handicap)


@kernel
def compose(m: int, handicap: float, latest: float, inner: due_duel.State, gap: Floats, price: Floats, slate: Ints) -> int:
    N = inner.N
    E = inner.E
    D = inner.D
    order = inner.order
    K = order.shape[0]
    x = order[0]
    i = inner.first[0]
    for a in range(1, K):
        k = order[a]
        gap[k] = max((0.5 * D[k, x] + 0.5) / (N[k, x] + 2.0), 0.01)
    gap[x] = 0.0
    for a in range(K):
        k = order[a]
        price[k] = 0.0
        if k == x:
            continue
        if inner.known[k] != ALL:
            look_at(inner, k, inner.ring[a], latest, 0.0)
        if inner.known[k] != ALL or inner.due[k] > latest:
            continue
        best = math.inf
        for j in range(K):
            rate = info(N, E, k, j, x, handicap) if j != k else 0.0
            if rate > 0.0:
                best = min(best, (gap[k] + gap[j]) / (2.0 * rate))
        price[k] = best
    slate[0] = i
    n = 1
    worth = 0.0
    cost = gap[i]
    ratio = 0.0
    while n < m:
        arm = -1
        best = ratio
        its_worth = 0.0
        for k in range(K):
            seated = False
            more = worth
            for b in range(n):
                s = slate[b]
                if s == k:
                    seated = True
                    break
                if price[k] > 0.0:
                    more += price[k] * info(N, E, k, s, x, handicap)
                if price[s] > 0.0:
                    more += price[s] * info(N, E, s, k, x, handicap)
            if seated or (n == 1 and info(N, E, i, k, x, handicap) <= 0.0):
                continue
            value = more * (n + 1.0) / (cost + gap[k])
            if value > best:
                arm, best, its_worth = k, value, more
        if arm < 0:
            break
        slate[n] = arm
        n += 1
        worth, ratio = its_worth, best
        cost += gap[arm]
    return n


@implement(Params)
def ask(params: Params, state: State, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    n, rounds = contract.ask(
        due_duel.Params(params.slate_size, params.look_ahead, 16.0, 0.0), state.inner, rng, round, limit, slate
    )
    if n == 1:
        return n, rounds
    latest = math.log(float(round)) + math.log(params.look_ahead)
    return compose(params.slate_size, params.handicap, latest, state.inner, state.gap, state.price, slate), 1


@implement(Params)
def tell(params: Params, state: State, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    contract.tell(due_duel.Params(params.slate_size, params.look_ahead, 16.0, 0.0), state.inner, rng, round, slate, wins)


@implement(Params)
def recommend(params: Params, state: State) -> int:
    return contract.recommend(due_duel.Params(params.slate_size, params.look_ahead, 16.0, 0.0), state.inner)


SPEC = PolicySpec(
    name="lp-slates",
    title="LP slates",
    params=Params,
    cite="none",
    slate="any",
    assumes="a Condorcet winner",
    regret="O(ln T)",
    use="An experiment.",
    parameters={
        "slate_size": Parameter(meaning="arms compared in one round, at most", at_least=1),
        "handicap": Parameter(meaning="evidence of an opponent other than the leader counts so many times less", at_least=1.0),
        "look_ahead": Parameter(meaning="only arms due before look_ahead times now are worth evidence", at_least=1.0),
    },
)


RESULTS = pathlib.Path(__file__).parent / "due_duel_slates.json"
OWN = f"{pathlib.Path(__file__)}:SPEC"
JUDGED = ("tournaments", "disputed")
OTHERS = ("bradley-terry", "small-margins", "geometric", "mixed-tastes", "cyclic")
SEATS = (2, 4)


def measure():
    from multiduel.lab.bench.suite import FAMILIES

    rows = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    done = {(row["family"], row["slate_size"]) for row in rows}
    for name in (*JUDGED, *OTHERS):
        for slate_size in SEATS:
            if (name, slate_size) not in done:
                rows.append(duel(FAMILIES[name], slate_size, *((50, 10**6) if name in JUDGED else (5, 10**5))))
                print(rows[-1], flush=True)
                RESULTS.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


def duel(family, slate_size, runs, horizon):
    """One cell: both on all instances, with the suite's seeds."""
    regret, wrong = {}, {}
    for which, policy in (("without", "due-duel"), ("with", OWN)):
        played = [
            md.simulate(policy, p, slate_size=slate_size, horizon=horizon, runs=runs, seed=family.seed + number, threads=1)
            for number, p in enumerate(family.problems)
        ]
        regret[which] = np.array([result.final for result in played])
        pairs = zip(played, family.problems, strict=True)
        wrong[which] = sum(int(np.sum(result.recommended != p.winner)) for result, p in pairs)
    units = (regret["with"] - regret["without"]).mean(axis=1)
    row = {"family": family.name, "slate_size": slate_size, "runs": runs * len(units), "horizon": horizon}
    row |= {"difference": round(float(units.mean()), 2), "error": round(float(units.std(ddof=1) / len(units) ** 0.5), 2)}
    for which, values in regret.items():
        last = np.sort(values.ravel())
        worst = float(last[-(len(last) // 100) :].mean())
        row[which] = {"mean": round(float(last.mean()), 1), "worst_hundredth": round(worst, 1), "wrong": wrong[which]}
    return row


def judge():
    rows = [row for row in json.loads(RESULTS.read_text()) if row["family"] in JUDGED]
    lower = sum(row["difference"] < 0.0 for row in rows)
    clearly = sum(row["difference"] < -3.0 * row["error"] for row in rows)
    more, less = (sum(row[which]["wrong"] for row in rows) for which in ("with", "without"))
    tail = math.exp(np.mean([math.log(row["with"]["worst_hundredth"] / row["without"]["worst_hundredth"]) for row in rows]))
    print(f"1. {lower == len(rows) and clearly >= 3}: lower in {lower} of {len(rows)} cells, clearly in {clearly}")
    print(f"2. {more <= less}: {more} runs end wrong, {less} without")
    print(f"3. {tail < 1.0}: worst hundredth {tail:.2f} times the other's")


if __name__ == "__main__":
    {"measure": measure, "judge": judge}[sys.argv[1]]()
