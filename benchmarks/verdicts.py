"""What verdicts promise and what they cost, measured.

    python benchmarks/verdicts.py measure [errors tastes answers width forecast speed]   into benchmarks/verdicts.json
    python benchmarks/verdicts.py page                                            docs/verdicts.md and its figures, from there

``measure`` without names measures everything: about an hour on one core. MULTIDUEL_DATA is the folder with llmfao_bt_59.csv.
"""

from __future__ import annotations

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
from multiduel.engine.registry import POLICIES as POLICY
from multiduel.inference import pair_intervals

HERE = Path(__file__).resolve().parent
STORE = HERE / "verdicts.json"
ALPHA = 0.05
TRIALS = 1000
POLICIES = (  # with closing, where they may stop comparing before a verdict
    ("challengers", False),
    ("multi-rucb", True),
    ("ind-self-sparring", True),
    ("rmed1", True),
    ("dts", True),
    ("uniform", False),
)


KEY = ("K", "world", "answers", "slates", "m", "T")


def stored(name):
    return json.loads(STORE.read_text()).get(name, []) if STORE.exists() else []


def keep(name, part):
    store = json.loads(STORE.read_text()) if STORE.exists() else {}
    STORE.write_text(json.dumps(store | {name: part}, indent=0) + "\n")


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
                        T = (6000 if K < 59 else 1500) // m
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
    rows = []
    u = np.array([0.0, 0.0, -0.8, -1.0, -1.5])
    for raters in (5, 20, 100):
        for unit in ("answer", "rater"):
            for about in ("these raters", "the population"):
                for m in (2, 4):
                    T = 4000 // m
                    options = {"rankings": True, "adaptive": True, "by_rater": unit == "rater"}

                    def setting(seed, o=options, m=m, T=T, raters=raters, about=about):
                        tastes = u + np.random.default_rng(seed).normal(size=(raters, 5))
                        P = sigmoid(tastes).mean(axis=0)
                        truth = P if about == "these raters" else population(u)
                        return tastes, truth, condorcet(truth), seed, o, m, T

                    row = {
                        "K": 5,
                        "world": f"{raters} raters with tastes",
                        "answers": "rankings",
                        "slates": "challengers",
                        "m": m,
                    }
                    rows.append(row | {"T": T, "unit": unit, "about": about} | tried(setting))
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
    runs = 20 if K == 59 else 100
    options = {"slate_size": m, "horizon": 10**6, "runs": runs, "seed": 1, "until": "verdict", "threads": 1, "checkpoints": [1]}
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
    rows = []
    for K, runs in ((5, 100), (20, 40), (59, 10)):
        u = models()[K]
        for m in (2, 4):
            for run in range(runs):
                policy = md.make("challengers", n_arms=K, slate_size=m, seed=run)
                rng = np.random.default_rng(run)
                looks, t, next_look = [], 0, 40 * K / m
                while True:
                    slate = policy.ask()
                    if len(slate.arms) == 1:
                        break
                    t += 1
                    score = {arm: u[arm] + rng.gumbel() for arm in slate.arms}
                    policy.tell(slate, md.ranking(sorted(slate.arms, key=lambda arm, score=score: -score[arm])))
                    if t >= next_look:
                        f = md.forecast(policy.tally, slate_size=m)
                        next_look *= 1.5
                        if not f.too_early:
                            looks.append((t, f.low, f.likely, f.high))
                rows += [
                    {"K": K, "m": m, "run": run, "at": at, "end": t, "low": low, "likely": likely, "high": high}
                    for at, low, likely, high in looks
                    if at < t
                ]
            print(K, m, len(rows), flush=True)
    return rows


def speed():
    """A verdict at K = 200 after 10^6 duels."""
    rng = np.random.default_rng(0)
    pairs = np.triu(rng.multinomial(10**6, np.full(200 * 200, 1 / 40000)).reshape(200, 200) * 2, 1)
    wins = rng.binomial(pairs, 0.6)
    tally = md.Tally.of((wins + (pairs - wins).T).astype(float))
    md.verdict(tally)
    best = min(_timed(lambda: md.verdict(tally)) for _ in range(30))
    with_margin = min(_timed(lambda: md.verdict(tally, margin=0.05)) for _ in range(30))
    return {"duels": int(tally.above.sum()), "verdict_ms": best * 1e3, "with_margin_ms": with_margin * 1e3}


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
