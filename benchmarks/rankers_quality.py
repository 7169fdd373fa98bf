"""How fair and how sensitive every method is, what ties cost policies, regret of defaults old and new, and signs that flip.

    PYTHONPATH=src python benchmarks/rankers_quality.py measure FOLDER   # with mq2008.svm.gz and mslr_web_fold1_sample.svm.gz
    PYTHONPATH=src python benchmarks/rankers_quality.py page             # docs/rankers.md from rankers.json and the template

One thread. What was measured is kept in rankers.json; remove it to measure it again. ``measure FOLDER fairness:greedy``
measures one method of a part, ``sensitivity:greedy@text`` one method on one of its collections, ``play:mdb`` one policy.
"""

from __future__ import annotations

import functools
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from multiduel import rankers, simulate
from multiduel.kernels.dispatch import entry
from multiduel.rankers.matrix import SUMS, count_wins
from multiduel.rankers.multileaving import TWO_ONLY

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import text_collection

STORE, TEMPLATE = Path(__file__).with_name("rankers.json"), Path(__file__).with_name("rankers.template.md")
PAGE = Path(__file__).parents[1] / "docs" / "rankers.md"
SLOW = ("optimised", "greedy")
SIZES = (2, 4, 8)
POWER = 7.849  # (1.96 + 0.842)^2: a two-sided test at 5 % that finds the difference in 80 % of trials
USERS = {"MQ2008": "navigational", "text": "navigational"}
LEAST = {"MQ2008": 0.004, "text": 0.02}  # two of the text collection that are closer were not told apart by 60,000 users
OLD = {"method": "team-draft", "ties": "half"}


def count(problem, slate, users, key=1):
    """Of each pair: mean of wins, its standard deviation per user, share of users who told them apart."""
    m = len(slate)
    world = problem.world(np.arange(problem.n_arms), m)
    run = entry(count_wins, world, "comparisons", type(world.method))
    sums = np.zeros((SUMS, m, m))
    args = (world, np.uint64(key), 1, users, np.array(slate), np.zeros((m, m)), sums)
    run.prepare(*args)
    run.call(*args)
    mean = sums[0] / users
    return mean, np.sqrt(np.maximum(sums[1] / users - mean**2, 0.0))


def worst(mean, spread, users, pairs=None):
    """The pair furthest from 1/2: by how much, and in standard errors."""
    found = (0.0, 0.0)
    for a in range(len(mean)):
        for b in range(a):
            if pairs is None or (b, a) in pairs:
                off = abs(mean[a, b] - 0.5)
                z = off / (spread[a, b] / users**0.5) if spread[a, b] > 0 else 0.0
                found = max(found, (z, off))
    return found


@functools.cache
def close_pair(lineup, least):
    """Of the best dozen by NDCG, the two that most often show the same document in the same slot, NDCG apart by ``least``."""
    ndcg = lineup.ndcg()
    best = np.argsort(-ndcg)[:12]
    agreement = {}
    for i in best:
        for j in best:
            if ndcg[i] > ndcg[j] + least:
                same = 0.0
                for q, (lo, hi) in enumerate(zip(lineup.offset[:-1], lineup.offset[1:], strict=True)):
                    top = min(10, hi - lo, lineup.returned[i, q], lineup.returned[j, q])
                    same += (lineup.order[i, lo : lo + top] == lineup.order[j, lo : lo + top]).mean() if top else 1.0
                agreement[int(i), int(j)] = same / len(lineup.queries)
    pair = max(agreement, key=agreement.get)
    return pair, agreement[pair]


def slate_with(lineup, pair, m):
    """The pair, and others spread over the whole range of quality."""
    others = [int(arm) for arm in np.argsort(-lineup.ndcg()) if int(arm) not in pair]
    return [*pair, *(others[k] for k in np.linspace(0, len(others) - 1, m - 2).astype(int))] if m > 2 else list(pair)


def settings(only):
    for name in [only] if only else rankers.METHODS:
        for m in SIZES[:1] if name in TWO_ONLY else SIZES:
            yield m, name


def fairness(worlds, only=None):
    rows = []
    lineup = worlds["MQ2008"]
    one = [np.roll(np.arange(6), -shift) for shift in range(8)]  # one query whose rankings are shifted: balanced falls for it
    shifted = rankers.line_up(
        [rankers.Query("q", np.zeros(6, np.int64), np.zeros((6, 1)), tuple("abcdef"))],
        [rankers.Ranker(str(k), lambda _, o=o: -np.argsort(o).astype(float)) for k, o in enumerate(one)],
    )
    twins = lineup.take([int(np.argmax(lineup.ndcg()))])
    for m, name in settings(only):
        users = 3_000 if name in SLOW else 30_000
        row = {"m": m, "method": name, "users": users}
        blind = rankers.click_table([[0.8], [0.6], [0.4], [0.2]], 0.3, grades=1)
        row["shifted"] = worst(*count(rankers.click_problem(shifted, clicks=blind, method=name), range(m), users), users)
        grades = int(lineup.grade.max()) + 1
        blind = rankers.click_table(np.tile([[0.8], [0.6], [0.4], [0.2]], (1, grades)), 0.3, grades=grades)
        slate = slate_with(lineup, close_pair(lineup, LEAST["MQ2008"])[0], m)
        row["random"] = worst(*count(rankers.click_problem(lineup, clicks=blind, method=name), slate, users), users)
        others = lineup.take(slate[2:]) if m > 2 else None
        same = rankers.Lineup(("a",), *twins_of(twins)).join(rankers.Lineup(("b",), *twins_of(twins)))
        same = same.join(others) if others is not None else same
        found = count(rankers.click_problem(same, clicks="navigational", method=name), range(m), users)
        row["equal"] = worst(*found, users, {(0, 1)})
        rows.append(row)
        print(row, flush=True)
    return rows


def twins_of(lineup):
    return lineup.queries, lineup.offset, lineup.grade, lineup.order, lineup.rank, lineup.returned


def sensitivity(worlds, only=None):
    rows = []
    only, _, where = (only or "").partition("@")
    for data in [where] if where else ("MQ2008", "text"):
        lineup = worlds[data]
        pair, agreement = close_pair(lineup, LEAST[data])
        for m, name in settings(only):
            users = 6_000 if name in SLOW else 60_000
            start = time.process_time()
            problem = rankers.click_problem(lineup, clicks=USERS[data], method=name)
            mean, spread = count(problem, slate_with(lineup, pair, m), users)
            seconds = time.process_time() - start
            gap, sd = mean[0, 1] - 0.5, spread[0, 1]
            row = {"data": data, "m": m, "method": name, "gap": gap, "spread": sd, "users": users, "seconds": seconds}
            row |= {"pair": [lineup.names[arm] for arm in pair], "agreement": agreement, "z": gap / (sd / users**0.5)}
            row["z_per_1000"], row["needed"] = gap / sd * 1000**0.5, POWER * (sd / gap) ** 2 if gap > 0 else None
            rows.append(row)
            print(row, flush=True)
    return rows


def play(worlds, only=None, horizon=20_000, runs=4):
    """Four policies against the click world, by method and ties, the same seeds: regret by the old method's matrix."""
    lineup = worlds["MQ2008"]
    kept = lineup.take(np.argsort(-lineup.ndcg())[::3])
    clicks = USERS["MQ2008"]
    reference = rankers.estimate_matrix(rankers.click_problem(kept, clicks=clicks, **OLD), comparisons=10_000, threads=1).problem
    rows = []
    for method in ("team-draft", "neutral-team-draft"):
        for ties in rankers.TIES:
            world = rankers.click_problem(kept, clicks=clicks, method=method, ties=ties, reference=reference)
            for policy in [only] if only else ("multi-rucb", "mdb", "ind-self-sparring", "rmed1"):
                for m in (2, 8):
                    if policy == "rmed1" and m > 2:
                        continue
                    options = {"slate_size": m, "horizon": horizon, "runs": runs, "threads": 1, "checkpoints": [horizon]}
                    result = simulate(policy, world, benchmark="copeland", seed=5, **options)
                    row = {"method": method, "ties": ties, "policy": policy, "m": m, "horizon": horizon, "runs": runs}
                    row |= {"regret": result.final.mean(), "std": float(result.std[-1]), "arms": kept.n_arms}
                    row["right"] = float(np.isin(result.recommended, reference.copeland_winners).mean())
                    rows.append(row)
                    print(row, flush=True)
    return rows


def flips(worlds, users=200_000):
    """Pairs of the same eight rankers whose sign differs between slates of two and one slate of eight, both for certain."""
    rows = []
    for data, clicks in (("MSLR", "perfect"), ("MQ2008", "navigational"), ("text", "navigational")):
        lineup = worlds[data]
        eight = [int(arm) for arm in np.argsort(-lineup.ndcg())[np.linspace(0, lineup.n_arms - 1, 8).astype(int)]]
        for method in ("team-draft", "neutral-team-draft"):
            problem = rankers.click_problem(lineup, clicks=clicks, method=method)
            together, spread = count(problem, eight, users)
            flipped, known = 0, 0
            for a in range(8):
                for b in range(a):
                    alone, sd = count(problem, [eight[a], eight[b]], users // 4)
                    z = (together[a, b] - 0.5) / (spread[a, b] / users**0.5 + 1e-12)
                    y = (alone[0, 1] - 0.5) / (sd[0, 1] / (users // 4) ** 0.5 + 1e-12)
                    known += abs(z) > 4 and abs(y) > 4
                    flipped += abs(z) > 4 and abs(y) > 4 and (z > 0) != (y > 0)
            rows.append({"data": data, "clicks": clicks, "method": method, "flipped": int(flipped), "certain": int(known)})
            print(rows[-1], flush=True)
    return rows


def log(worlds, pages=1_000_000):
    """Time and memory of analysing a log of four rankers and 200,000 users. Run it alone: memory is the process's."""
    rng = np.random.default_rng(0)
    lists = [[f"doc-{d}" for d in rng.permutation(30)] for _ in range(4)]
    made = [rankers.multileave(lists, names=list("abcd"), method="neutral-team-draft", ties="drop", seed=k) for k in range(64)]
    texts = [json.dumps(page, separators=(",", ":")) for page in made]
    who, slot, hit = rng.integers(200_000, size=pages), rng.integers(10, size=pages), rng.random(pages) < 0.7
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        with open(path, "w") as file:
            for k in range(pages):
                of = f'"id":"{k:x}","time":{k}'
                file.write(f'{{"kind":"impression",{of},"user":"u{who[k]}","session":null,"query":"q","page":{texts[k % 64]}}}\n')
                if hit[k]:
                    document = made[k % 64]["documents"][slot[k]]
                    file.write(f'{{"kind":"click",{of},"document":"{document}","weight":1.0}}\n')
        before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        found = rankers.analyse(path)
        row = {"pages": pages, "users": found.users, "megabytes": path.stat().st_size / 1e6}
    row["seconds"] = time.process_time() - start
    row |= {"peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, "before_mb": before / 1e3}
    print(row, flush=True)
    return [row]


PARTS = {"sensitivity": sensitivity, "fairness": fairness, "play": play, "flips": flips, "log": log}


def measure(folder, names):
    worlds = Worlds(folder)
    for wanted in names or PARTS:
        name, _, only = wanted.partition(":")
        known = stored().get(name, {"rows": [], "cpu_seconds": 0.0})
        what, _, where = only.partition("@")
        if any(not only or (what in row.values() and (not where or row["data"] == where)) for row in known["rows"]):
            continue
        start = time.process_time()
        rows = PARTS[name](worlds, only) if only else PARTS[name](worlds)
        seconds = round(known["cpu_seconds"] + time.process_time() - start, 1)
        STORE.write_text(json.dumps(stored() | {name: {"rows": known["rows"] + rows, "cpu_seconds": seconds}}, indent=1) + "\n")


class Worlds(dict):
    """The collections, read when they are needed."""

    def __init__(self, folder):
        self.folder = folder

    def __missing__(self, name):
        if name == "text":
            made = text_collection.make_collection()
            self[name] = text_collection.line_up(made, text_collection.searchers(made, libraries=False))
        else:
            file = {"MQ2008": "mq2008", "MSLR": "mslr_web_fold1_sample"}[name]
            self[name] = rankers.line_up(rankers.read_letor(self.folder / f"{file}.svm.gz"))
        return self[name]


def stored():
    return json.loads(STORE.read_text()) if STORE.exists() else {}


def page():
    import rankers_page

    rankers_page.write(stored(), TEMPLATE.read_text(), PAGE)


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"] and len(sys.argv) > 2:
        measure(Path(sys.argv[2]), sys.argv[3:])
    elif sys.argv[1:] == ["page"]:
        page()
    else:
        sys.exit(__doc__)
