"""What verdicts promise and what they cost, measured.

    python benchmarks/verdicts.py measure [errors tastes answers width forecast speed]   into benchmarks/verdicts.json
    python benchmarks/verdicts.py page                                            docs/verdicts-numbers.md and its figure

``measure`` without names measures everything: about an hour on one core. MULTIDUEL_DATA is the folder with llmfao_bt_59.csv.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import sys
import time
from pathlib import Path

import numpy as np
import verdict_page
import verdict_trials
from scipy.stats import beta as beta_law

import multiduel as md
from multiduel.engine.registry.registry import POLICIES as POLICY
from multiduel.inference import pair_intervals

HERE = Path(__file__).resolve().parent
STORE = HERE / "verdicts.json"
ALPHA = 0.05
TRIALS = 1000
POLICIES = (  # with closing, where they may stop comparing before a verdict
    ("challengers", False),
    ("multi-rucb", True),
    ("ind-self-sparring", True),
    ("due-duel", True),
    ("rmed1", True),
    ("dts", True),
    ("uniform", False),
)

SLOW = ("multi-rucb", "uniform")  # with 59 options they take 20,000 to a million answers


KEY = ("K", "world", "answers", "slates", "m", "T")


def stored(name):
    return json.loads(STORE.read_text()).get(name, []) if STORE.exists() else []


def keep(name, part):
    store = json.loads(STORE.read_text()) if STORE.exists() else {}
    STORE.write_text(listed(store | {name: part}))


def listed(store):
    """JSON with a row to a line."""
    parts = []
    for name, part in store.items():
        rows = ",\n".join(json.dumps(row) for row in part) if isinstance(part, list) else None
        parts.append(f"{json.dumps(name)}: " + (json.dumps(part) if rows is None else f"[\n{rows}\n]"))
    return "{\n" + ",\n".join(parts) + "\n}\n"


def clopper_pearson(hits, n):
    low = 0.0 if hits == 0 else float(beta_law.ppf(0.025, hits, n - hits + 1))
    high = 1.0 if hits == n else float(beta_law.ppf(0.975, hits + 1, n - hits))
    return [low, high]


def sigmoid(u):
    return 1.0 / (1.0 + np.exp(u[..., None, :] - u[..., :, None]))


def worlds(K):
    """Name -> utilities, a row per kind of rater."""
    top = np.concatenate([[0.0, 0.0], -np.linspace(0.3, 1.5, K - 2)])
    cycle = np.tile(np.concatenate([[0.0, 0.0, 0.0], np.full(K - 3, -1.5)]), (3, 1))
    cycle[np.arange(3)[:, None], (np.arange(3)[:, None] + np.arange(3)) % 3] += [
        1.5,
        0.0,
        -1.5,
    ]  # A > B > C, B > C > A, C > A > B
    return {
        "all alike": np.zeros((1, K)),
        "two alike on top": top[None],
        "a cycle": cycle,
        "a winner": np.linspace(1.0, -1.0, K)[None],
    }


def condorcet(P):
    wins = (P > 0.5 + 1e-12).sum(axis=1)
    return int(wins.argmax()) if wins.max() == len(P) - 1 else -1


def errors():
    """Wrong verdicts, best options called out, and intervals that missed: trials in which it happened at any time."""
    rows = stored("errors")
    known = {json.dumps([row[name] for name in KEY]) for row in rows}
    for K in (5, 20, 59):
        for world, tastes in worlds(K).items():
            P = sigmoid(tastes).mean(axis=0)
            best = condorcet(P)
            for answers in ("rankings", "coins"):
                for slates in ("uniform", "challengers"):
                    for m in (2, 4, 8):
                        T = (6000 if K < 59 else 12000) // m
                        row = {"K": K, "world": world, "answers": answers, "slates": slates, "m": min(m, K), "T": T}
                        if json.dumps([row[name] for name in KEY]) in known:
                            continue  # measured before: it goes on where it was
                        options = {"rankings": answers == "rankings", "adaptive": slates == "challengers", "by_rater": False}
                        setting = (tastes, P, best, options, min(m, K), T)
                        rows.append(row | {"unit": "answer"} | tried(lambda seed, s=setting: (*s[:3], seed, *s[3:])))
                        print(rows[-1], flush=True)
                        keep("errors", rows)
    return rows


def tastes():
    """Few raters, each with a taste; in the population two are alike on top."""
    rows = stored("tastes")
    known = {json.dumps([row[name] for name in (*KEY, "unit", "about")]) for row in rows}
    for K, raters in ((5, 5), (5, 20), (5, 100), (20, 20), (59, 20)):
        u = np.concatenate([[0.0, 0.0], -np.linspace(0.8, 1.5, K - 2)])
        everyone = population(u)
        for slates, unit, about, m in itertools.product(
            ("challengers", "uniform"), ("answer", "rater"), ("these raters", "the population"), (2, 4, 8)
        ):
            if m > K:
                continue
            T = 4000 // m
            row = {"K": K, "world": f"{raters} raters with tastes", "answers": "rankings", "slates": slates, "m": m, "T": T}
            row |= {"unit": unit, "about": about}
            if json.dumps([row[name] for name in (*KEY, "unit", "about")]) in known:
                continue
            options = {"rankings": True, "adaptive": slates == "challengers", "by_rater": unit == "rater"}

            def setting(seed, o=options, m=m, T=T, raters=raters, about=about, u=u, everyone=everyone):
                tastes = u + np.random.default_rng(seed).normal(size=(raters, len(u)))
                truth = sigmoid(tastes).mean(axis=0) if about == "these raters" else everyone
                return tastes, truth, condorcet(truth), seed, o, m, T

            rows.append(row | tried(setting))
            print(rows[-1], flush=True)
            keep("tastes", rows)
    return rows


def population(u):
    """P over all raters: utilities differ by u_i - u_j + sqrt(2) z."""
    z, weight = np.polynomial.hermite_e.hermegauss(80)
    return np.einsum(
        "g,gij->ij", weight / weight.sum(), 1.0 / (1.0 + np.exp(-(u[:, None] - u) - math.sqrt(2.0) * z[:, None, None]))
    )


def tried(setting):
    wrong = out_wrong = missed = claims = 0
    for seed in range(TRIALS):
        tastes, P, best, number, options, m, T = setting(seed)
        result, D = verdict_trials.run(number, tastes, P, best, m=m, T=T, alpha=ALPHA, **options)
        claim, all_out = result[verdict_trials.CLAIM] > 0, result[verdict_trials.ALL_OUT] > 0
        claims += claim
        wrong += (claim and int(result[verdict_trials.ARM]) != best) or (all_out and best >= 0)
        out_wrong += result[verdict_trials.OUT_WRONG] > 0
        missed += result[verdict_trials.MISSED] > 0
        if seed < 20 and claim and options["adaptive"] and not options["by_rater"]:  # the last answer settled it
            assert md.verdict(D).winner == int(result[verdict_trials.ARM]), "the package finds another verdict"
    rates = {"wrong": wrong, "out_wrong": out_wrong, "missed": missed, "claims": claims}
    return {"trials": TRIALS} | {name: int(n) for name, n in rates.items()} | {
        f"{name}_interval": clopper_pearson(int(n), TRIALS) for name, n in rates.items()
    }  # fmt: skip


def models():
    """The 59 models of llmfao, and 20 and 5 of them, by strength."""
    P = md.read_csv(Path(os.environ["MULTIDUEL_DATA"]) / "llmfao_bt_59.csv").matrix
    u = np.sort(np.log(P[:, 0] / P[0, :]))[::-1]
    return {59: u, 20: u[::3][:20], 5: u[[0, 1, 4, 9, 20]]}


def answers():
    """Answers to a verdict with judges who rank the slate."""
    rows = stored("answers")
    known = {(row["K"], row["policy"], row["m"]) for row in rows}
    for K, u in sorted(models().items()):
        problem = md.Rankings(md.from_utilities(u - u.mean(), link="logit"))
        for policy, closing in POLICIES:
            for m in (2, 4) if POLICY[policy].slate == "any" else (2,):
                if (K, policy, m) not in known:
                    rows.append(settled(problem, K, policy, closing, m))
                    print(rows[-1], flush=True)
                    keep("answers", rows)
    return rows


def settled(problem, K, policy, closing, m):
    runs = 20 if K == 59 and policy in SLOW else 100
    options = {"slate_size": m, "horizon": 10**7, "runs": runs, "seed": 1, "until": "verdict", "threads": 1, "checkpoints": [1]}
    result = md.simulate(policy, problem, **options, **({"closing": True} if closing else {}))
    s = result.settlement
    row = {"K": K, "policy": policy, "closing": closing, "m": m, "runs": runs, "wrong": int(s.wrong.sum())}
    for q in (10, 50, 90):
        value = float(np.quantile(s.answers, q / 100, method="higher"))
        row[f"answers_{q}"] = value if math.isfinite(value) else None
    return row | {"settled": int(s.settled.sum()), "regret": float(np.median(s.regret)), "seconds": result.seconds}


def width():
    """The price of looking at any time: half-widths of a pair's interval against Clopper and Pearson's at a fixed n."""
    rows = []
    for n in np.unique([*np.geomspace(20, 20000, 40).astype(int).tolist(), 100, 1000, 10000]):
        for share in (0.5, 0.7, 0.9):
            w = round(share * n)
            D = np.array([[0.0, w], [n - w, 0.0]])
            low, high = pair_intervals(D, np.zeros((2, 2)), error=ALPHA)
            fixed = clopper_pearson(int(w), int(n))
            rows.append({"n": int(n), "share": share, "anytime": float(high[0, 1] - low[0, 1]), "fixed": fixed[1] - fixed[0]})
    return rows


def forecast():
    """How far off forecasts were: along the way, against the answers that it then took."""
    drawn = np.random.default_rng(2026)
    rows = []
    for world, K, runs in (("llmfao", 5, 100), ("llmfao", 20, 40), ("llmfao", 59, 10), ("drawn", 5, 100), ("drawn", 20, 60)):
        for m in (2, 4):
            for run in range(runs):
                u = models()[K] if world == "llmfao" else drawn.standard_normal(K)
                rows += forecasts_along(u, m, run, {"world": world, "K": K, "m": m, "run": run})
            print(world, K, m, len(rows), flush=True)
    return rows


def forecasts_along(u, m, seed, label):
    """Forecasts at 40 showings per option and at every half more; the end is None if it was still open after MOST answers."""
    policy = md.make("challengers", n_arms=len(u), slate_size=m, seed=seed)
    rng = np.random.default_rng(seed)
    looks, t, next_look = [], 0, 40 * len(u) / m
    while t < verdict_page.MOST:
        slate = policy.ask()
        if len(slate.arms) == 1:
            break
        t += 1
        score = {arm: u[arm] + rng.gumbel() for arm in slate.arms}
        policy.tell(slate, md.ranking(sorted(slate.arms, key=lambda arm: -score[arm])))
        if t >= next_look:
            f = md.forecast(policy.tally, slate_size=m)
            next_look *= 1.5
            if np.isfinite(f.likely):  # also where the range is too wide to be said
                looks.append((t, f.low, f.likely, f.high))
    end = t if t < verdict_page.MOST else None
    return [
        label | {"at": at, "end": end, "low": round(low), "likely": round(likely), "high": round(high)}
        for at, low, likely, high in looks
        if at < t
    ]


def speed():
    """At K = 200, after 10^6 duels: a verdict, and each policy that starts from the tally. The least of 30 times."""
    rng = np.random.default_rng(0)
    pairs = np.triu(rng.multinomial(10**6, np.full(200 * 200, 1 / 40000)).reshape(200, 200) * 2, 1)
    wins = rng.binomial(pairs, 0.6)
    tally = md.Tally.of((wins + (pairs - wins).T).astype(float))
    best = _least(lambda: md.verdict(tally))
    with_margin = _least(lambda: md.verdict(tally, margin=0.05))
    observe = {name: start_from(name, tally.above) * 1e3 for name, spec in POLICY.items() if not spec.blind}
    return {"duels": int(tally.above.sum()), "verdict_ms": best * 1e3, "with_margin_ms": with_margin * 1e3, "observe_ms": observe}


def start_from(name, wins):
    """Seconds that a policy takes to be told a whole tally: with it less without it, both compiled before."""
    options = {"n_arms": len(wins), "slate_size": 2, "seed": 1} | (
        {"horizon": 10**7} if "horizon" in POLICY[name].params._fields else {}
    )
    with_it = _least(lambda: md.make(name, tally=wins, **options))
    return with_it - _least(lambda: md.make(name, **options))


def _least(call, times=30):
    call()
    return min(_timed(call) for _ in range(times))


def _timed(call):
    start = time.process_time()
    call()
    return time.process_time() - start


PARTS = {"errors": errors, "tastes": tastes, "answers": answers, "width": width, "forecast": forecast, "speed": speed}


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        for name in sys.argv[2:] or PARTS:
            keep(name, PARTS[name]())
    elif sys.argv[1:] == ["page"]:
        verdict_page.write(json.loads(STORE.read_text()), HERE.parent / "docs")
    else:
        sys.exit(__doc__)
