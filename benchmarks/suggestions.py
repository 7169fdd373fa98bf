"""Measure what md.suggest chooses from, and write engine/registry/measured.json.

    python benchmarks/suggestions.py             all of it; a row that the file already has is kept, so it may be stopped
    python benchmarks/suggestions.py --anew      from nothing
                                     --policy due-duel        the rows of one policy anew, because its code changed
                                     --only utilities --horizon 10000 --out FILE     a part of it, for instance side by side

Every row is 20 instances x 20 runs of one policy: the same instances and the same luck for all. In a pilot of two instances x 3
runs all policies play; those more than 3 times behind the best there, and those whose 400 runs would take longer than the
patience, are left out of that setting, and the file says so.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import platform
import time

import numpy as np
from due_duel import disputed  # beside this file

import multiduel as md
from multiduel.engine.registry.registry import POLICIES

MEASURED = pathlib.Path(md.__file__).parent / "engine" / "measured.json"
INSTANCES, RUNS, SEED = 20, 20, 11
ARMS, SEATS, HORIZONS = (8, 30), (2, 8), (10**4, 10**6)
PATIENCE = 20.0  # CPU seconds for all runs of a row
BEHIND = 3.0
NOT_FOR_REGRET = ("challengers",)  # made to be certain with few answers, not to lose little
AT_MOST = {"cw-rmed": 8}  # arms: a linear programme in every step
KEYS = ("assumption", "n_arms", "horizon", "slate_size", "policy")
PROBLEMS = {
    "utilities": "10 of md.random_utilities(K, seed=500..), 10 of md.bradley_terry(K, seed=500..)",
    "condorcet": "10 of md.random_tournament(K, seed=500..); 10 (seed=600..) whose winner has a quarter of its margins left, "
    "so that another arm is the Borda winner",
    "copeland": "20 of md.random_tournament(K, seed=500.., condorcet=False); regret against the best Copeland score",
}


def problems(assumption: str, n_arms: int) -> list[md.Problem]:
    half = INSTANCES // 2
    if assumption == "utilities":
        made = [md.random_utilities(n_arms, seed=500 + k) for k in range(half)]
        return made + [md.bradley_terry(n_arms, seed=500 + k) for k in range(half)]
    if assumption == "copeland":
        return [md.random_tournament(n_arms, seed=500 + k, condorcet=False) for k in range(INSTANCES)]
    made = [md.random_tournament(n_arms, seed=500 + k) for k in range(half)]
    return made + [disputed(n_arms, 600 + k) for k in range(half)]


def pilot(name: str, made: list[md.Problem], horizon: int, settings: dict[str, object]) -> tuple[float, float]:
    """Mean regret of a few runs on the first and the last instance, and CPU seconds a run; no regret if that is too long."""
    md.simulate(name, made[0], horizon=10, checkpoints=[10], runs=1, **settings)
    for part in (horizon // 100, horizon // 10):  # shorter first: a hopeless one is found out soon
        start = time.process_time()
        md.simulate(name, made[-1], horizon=part, checkpoints=[part], runs=1, **settings)
        if (each := time.process_time() - start) * INSTANCES * RUNS > PATIENCE:
            return np.inf, each * horizon / part
    start = time.process_time()
    played = [md.simulate(name, made[k], horizon=horizon, checkpoints=[horizon], runs=3, **settings) for k in (0, -1)]
    each = (time.process_time() - start) / 6
    late = each * INSTANCES * RUNS > PATIENCE
    print(
        "pilot", name, settings["slate_size"], f"{np.mean([result.final for result in played]):,.0f}", f"{each:.3f} s", flush=True
    )
    return np.inf if late else float(np.mean([result.final for result in played])), each


def measure(name: str, made: list[md.Problem], horizon: int, settings: dict[str, object]) -> dict[str, object]:
    finals, wrong = [], []
    for problem in made:
        result = md.simulate(name, problem, horizon=horizon, checkpoints=[horizon], runs=RUNS, **settings)
        finals.append(result.final)
        wrong.append(~np.isin(result.recommended, problem.copeland_winners))
    every = np.sort(np.concatenate(finals))
    return {
        **{"instances": len(made), "runs": len(every), "mean": round(float(every.mean()), 1)},
        **{"error": round(float(np.std([final.mean() for final in finals], ddof=1) / len(made) ** 0.5), 1)},
        **{"worst_tenth": round(float(every[-len(every) // 10 :].mean()), 1), "wrong": round(float(np.mean(wrong)), 4)},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--anew", action="store_true")
    parser.add_argument("--policy", choices=list(POLICIES))
    parser.add_argument("--only", choices=list(PROBLEMS))
    parser.add_argument("--horizon", type=int, choices=HORIZONS)
    parser.add_argument("--out", type=pathlib.Path, default=MEASURED)
    chosen = parser.parse_args()
    known = {} if chosen.anew or not chosen.out.exists() else json.loads(chosen.out.read_text())
    rows, left_out = (known["rows"], known["left_out"]) if "left_out" in known else ([], [])
    if chosen.policy:
        write([again(row) if row["policy"] == chosen.policy else row for row in rows], left_out, chosen.out)
        return
    done = {tuple(row[key] for key in KEYS[:3]) for row in rows}
    for horizon in HORIZONS if chosen.horizon is None else (chosen.horizon,):
        for assumption in PROBLEMS if chosen.only is None else (chosen.only,):
            if assumption == "copeland" and horizon > 10**4:
                continue  # the policies made for it need seconds a run: only the unfit would be measured
            for n_arms in ARMS:
                if (assumption, n_arms, horizon) not in done:
                    fresh = setting(assumption, n_arms, horizon)
                    rows, left_out = rows + fresh[0], left_out + fresh[1]
                    write(rows, left_out, chosen.out)


def common(assumption: str) -> dict[str, object]:
    return {"benchmark": "copeland" if assumption == "copeland" else "condorcet", "threads": 1, "seed": SEED}


def again(row: dict[str, object]) -> dict[str, object]:
    assumption, n_arms, horizon, slate_size, name = (row[key] for key in KEYS)
    settings = {**common(assumption), "slate_size": slate_size}
    fresh = {**row, **measure(name, problems(assumption, n_arms), horizon, settings)}
    print(*fresh.values(), "as before" if fresh == row else "before: " + str(row["mean"]), flush=True)
    return fresh


def setting(assumption: str, n_arms: int, horizon: int) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    made = problems(assumption, n_arms)
    settings = common(assumption)
    pilots = {
        (name, slate_size): pilot(name, made, horizon, {**settings, "slate_size": slate_size})
        for name, spec in POLICIES.items()
        if not spec.features and name not in NOT_FOR_REGRET and n_arms <= AT_MOST.get(name, n_arms)  # these arms have no features
        for slate_size in (SEATS if spec.slate == "any" else (2,))
    }
    best = {seats: min(mean for (_, size), (mean, _) in pilots.items() if size == seats) for seats in SEATS}
    rows, left_out = [], []
    for (name, slate_size), (mean, seconds) in pilots.items():
        row = dict(zip(KEYS, (assumption, n_arms, horizon, slate_size, name), strict=True))
        if mean == np.inf:
            left_out.append({**row, "seconds": float(f"{seconds:.2g}")})
        elif mean > BEHIND * best[slate_size]:
            left_out.append({**row, "times_behind": round(mean / best[slate_size], 1)})
        else:
            rows.append({**row, **measure(name, made, horizon, {**settings, "slate_size": slate_size})})
        print(*(left_out if mean > BEHIND * best[slate_size] else rows)[-1].values(), flush=True)
    return rows, left_out


def write(rows: list[dict[str, object]], left_out: list[dict[str, object]], out: pathlib.Path) -> None:
    about = {
        "what": "Final regret of every policy where md.suggest chooses from; made by benchmarks/suggestions.py. "
        "'error' is the standard error of 'mean' over instances, 'worst_tenth' the mean of the worst tenth of all runs, 'wrong' "
        "the share of runs whose last recommendation was wrong. "
        "'left_out': too slow ('seconds' a run) or, in the pilot, 'times_behind' the best; "
        "'not_for_regret': made for something else.",
        **{"version": md.__version__, "python": platform.python_version(), "problems": PROBLEMS, "seed": SEED},
    }
    listed = ",\n".join(json.dumps(row) for row in rows)
    left = ",\n".join(json.dumps(row) for row in left_out)
    parts = {"about": json.dumps(about), "rows": f"[\n{listed}\n]", "left_out": f"[\n{left}\n]"}
    parts["not_for_regret"] = json.dumps(NOT_FOR_REGRET)
    out.write_text("{" + ",\n".join(f'"{key}": {part}' for key, part in parts.items()) + "}\n")


if __name__ == "__main__":
    main()
