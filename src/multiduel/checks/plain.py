"""The same play without the compiler: what a policy does with NUMBA_DISABLE_JIT=1, seen from a process of its own.

Plain Python also notices what compiled code does not: an index beyond an array's end. One process serves all policies.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from multiduel.arrays import Floats
from multiduel.checks.parent import INSIDE
from multiduel.checks.round_features import context_record
from multiduel.checks.subject import HORIZON, MIXED, Failed, Subject, play_late, played, require, require_bet
from multiduel.engine.registry.plugins import address_of, is_ours, load
from multiduel.engine.registry.registry import MACHINES, POLICIES, register
from multiduel.engine.session.policy import Policy, fresh
from multiduel.engine.simulation.play import KINDS
from multiduel.engine.simulation.seeds import run_seeds, streams
from multiduel.engine.simulation.worlds import Matrix, sides
from multiduel.kernels.contract import MachineSpec, PolicySpec, ask, compare, init, seats, tell
from multiduel.kernels.random import stream

ROUNDS = 200
SEATS = 3
SEED = 11
LIMITS = (2, 1000)


def record(subject: Subject) -> dict[str, Any]:
    """One run as JSON, to be compared to the last bit: by the play loop (stepping, committing), by ask and tell."""
    marks = range(1, ROUNDS + 1)
    options: dict[str, Any] = {
        "horizon": ROUNDS,
        "slate_size": SEATS,
        "runs": 1,
        "seed": SEED,
        "checkpoints": marks,
        "threads": 1,
    }
    told: dict[str, Any] = {}
    for way, commit in (("stepping", False), ("committing", True)):
        result = subject.simulate(MIXED, commit=commit, **options)
        told[way] = {kind: result.regrets[kind][0].tolist() for kind in KINDS} | {"recommended": result.recommended.tolist()}
    policy, slates, taken = ask_and_tell(subject)
    told["slates"] = slates
    told["regret"] = regret_of(slates, taken)
    told["recommended"] = policy.recommend()
    told["snapshot"] = {part: value for part, value in policy.snapshot().items() if part != "fingerprint"}  # drawn by every make
    if subject.spec.contextual:
        told["contexts"] = context_record(subject)
    return told


def ask_and_tell(subject: Subject) -> tuple[Policy, list[list[int]], list[list[int]]]:
    """The run that ``simulate`` plays, through ask and tell: same labels, same stream, same coins. Slates, and seats taken."""
    n_arms = MIXED.n_arms
    seed = run_seeds(SEED, 1)[0]
    policy = fresh(subject.spec, subject.params(n_arms, SEATS, ROUNDS), n_arms, seed)
    drawn = streams(seed, n_arms)
    world = Matrix(sides(MIXED.matrix[np.ix_(drawn.labels, drawn.labels)]))
    slates, taken = [], []
    for t in range(1, ROUNDS + 1):
        slate = policy.ask()
        slates.append(list(slate.arms))
        n = len(slate.arms)
        taken.append([int(seats(policy.params, policy._state, place)) for place in range(n)])
        if n > 1:
            wins = np.zeros((n, n))
            compare(world, drawn.world, t, 1, np.array([policy._inner[arm] for arm in slate.arms]), wins)
            policy.tell(slate, wins)
    return policy, slates, taken


def regret_of(slates: list[list[int]], taken: list[list[int]]) -> dict[str, list[float]]:
    """Summed as the play loop does it, stretch by stretch of equal rate, so that the last bit agrees."""
    gaps = MIXED.benchmark_gaps("condorcet")
    ways: dict[str, Callable[[list[float], list[int]], float]] = {
        "average": lambda g, _: sum(g) / len(g),
        "strong": lambda g, _: max(g),
        "weak": lambda g, _: min(g),
        "slots": lambda g, s: sum(gap * times for gap, times in zip(g, s, strict=True)) / sum(s),
    }
    rates = [
        tuple(way([float(gaps[arm]) for arm in slate], seated) for way in ways.values())
        for slate, seated in zip(slates, taken, strict=True)
    ]
    total, stretch, current = [0.0] * len(ways), 0, rates[0]
    sums: dict[str, list[float]] = {kind: [] for kind in ways}
    for rate in rates:
        if rate != current:
            total = [before + part * stretch for before, part in zip(total, current, strict=True)]
            stretch, current = 0, rate
        stretch += 1
        for kind, before, part in zip(ways, total, current, strict=True):
            sums[kind].append(before + part * stretch)
    return sums


def probe_slates(subject: Subject) -> None:
    """Slates of every size, with indices checked by Python."""
    for m in (2, 3, 6):
        for _ in played(subject, subject.make(MIXED.n_arms, m), MIXED.matrix, 40, seed=m, slate_size=m):
            pass


def probe_limits(subject: Subject) -> None:
    """Every commitment lies between 1 and the limit. Outcomes are clear ones, so that late phases are reached."""
    n_arms = 4
    for limit in LIMITS:
        params = subject.params(n_arms, SEATS, HORIZON)
        rng = stream(np.random.SeedSequence(limit))
        state = init(params, n_arms, rng)
        slate = np.zeros(n_arms, np.int64)
        coin = np.random.default_rng(limit)
        t = 1
        for _ in range(400):
            n, rounds = ask(params, state, rng, t, limit, slate)
            require(1 <= rounds <= limit, f"'ask' must commit to 1 to {limit} rounds (the limit). Got {rounds}.")
            if n > 1:
                tell(params, state, rng, t, slate[:n].copy(), _clear_wins(slate[:n], rounds, coin))
            t += rounds


def _clear_wins(slate: Any, rounds: int, rng: np.random.Generator) -> Floats:
    """The lower number wins 19 duels of 20."""
    wins = np.zeros((len(slate), len(slate)))
    for a, i in enumerate(slate):
        for b, j in enumerate(slate[:a]):
            wins[a, b] = rng.binomial(rounds, 0.95 if i < j else 0.05)
            wins[b, a] = rounds - wins[a, b]
    return wins


def probe_late(subject: Subject) -> None:
    play_late(subject, subject.make(MIXED.n_arms, SEATS), MIXED.matrix, 120, seed=1, slate_size=SEATS)


def probe_small(subject: Subject) -> None:
    play_small(subject, (1, 2, 50))


def play_small(subject: Subject, horizons: tuple[int, ...]) -> None:
    """K = 1, 2, 3 with m below, at and above K, each to a little beyond its horizon."""
    for n_arms in (1, 2, 3):
        P = MIXED.matrix[:n_arms, :n_arms]
        for slate_size in (2, 3, 5):
            for horizon in horizons:
                try:
                    policy = subject.make(n_arms, slate_size, seed=horizon, horizon=horizon)
                    for _ in played(subject, policy, P, horizon + 3, seed=horizon, slate_size=slate_size):
                        pass
                    require_bet(policy)
                except Exception as error:
                    where = f"K = {n_arms}, m = {slate_size}, horizon {horizon}"
                    raise Failed(f"It must work with {where}. Got {type(error).__name__}: {error}.") from error


PROBES = {
    "slates-valid": probe_slates,
    "commit-equals-step": probe_limits,
    "late-tells": probe_late,
    "small-sizes": probe_small,
}
_seen: dict[str, dict[str, Any]] = {}


def evidence(subject: Subject) -> dict[str, Any]:
    """What the plain process saw of this policy: its record, and a sentence for each probe that failed."""
    if _key(subject) not in _seen:
        ours = [name for name, spec in POLICIES.items() if is_ours(spec)] if is_ours(subject.spec) else []
        gather([subject, *map(Subject, ours)])
    return _seen[_key(subject)]


def gather(subjects: Iterable[Subject]) -> None:
    """Let one plain process look at all of these that it has not seen yet, and keep what it saw."""
    if INSIDE in os.environ:
        raise RuntimeError("A check began a check: put what your file does when run under: if __name__ == '__main__'.")
    addresses = {_key(one): _address(one) for one in subjects if _key(one) not in _seen}
    path = os.pathsep.join(folder or os.getcwd() for folder in sys.path)
    ended = subprocess.run(
        [sys.executable, "-m", "multiduel.checks.plain"],
        input=json.dumps(list(addresses.values())),
        env=os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path, INSIDE: str(os.getpid())},
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode != 0:
        raise RuntimeError(f"The plain process ended with code {ended.returncode}: {ended.stderr[-2000:]}")
    _seen.update(json.loads(ended.stdout))


def require_plain_passes(subject: Subject, check: str) -> None:
    """Fail with the plain process's sentence, if it has one for this check."""
    seen = evidence(subject)["probes"].get(check)
    require(not seen, f"Without the compiler: {seen}")


def _key(subject: Subject) -> str:
    version = id(subject.spec.params)  # a file may be edited, and loaded again, between two checks
    return json.dumps([subject.name, dict(subject.words), version], sort_keys=True)


def _address(subject: Subject) -> dict[str, Any]:
    """Where the other process finds the policy, and any machine that is not ours."""
    machines = [address_of(card) for card in MACHINES.values() if not is_ours(card)]
    policy = "" if is_ours(subject.spec) else address_of(subject.spec)
    return {"name": subject.name, "words": dict(subject.words), "key": _key(subject), "policy": policy, "machines": machines}


def _witness(address: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {"record": None, "error": "", "probes": {}}
    try:
        for place in address["machines"]:
            register(load(place, MachineSpec))
        if address["policy"]:
            register(load(address["policy"], PolicySpec))
        subject = Subject(address["name"], address["words"])
        for check, probe in PROBES.items():
            told["probes"][check] = _sentence(probe, subject)
        told["record"] = record(subject)
    except Exception as error:
        told["error"] = f"{type(error).__name__}: {error}"
    return told


def _sentence(probe: Callable[[Subject], None], subject: Subject) -> str:
    try:
        probe(subject)
    except AssertionError as error:
        return str(error)
    except Exception as error:
        line = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({os.path.basename(line.filename)}, line {line.lineno})"
    return ""


if __name__ == "__main__":
    answer, sys.stdout = sys.stdout, sys.stderr  # what a policy's file prints is no part of the answer
    json.dump({address["key"]: _witness(address) for address in json.load(sys.stdin)}, answer)
