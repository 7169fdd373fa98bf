"""How fair and how sensitive every method is, what ties cost policies, regret of defaults old and new, and signs that flip.

    python benchmarks/rankers_quality.py measure FOLDER   # with mq2008.svm.gz and mslr_web_fold1_sample.svm.gz
    python benchmarks/rankers_quality.py page    # docs/rankers-numbers.md from rankers.json

One thread. What was measured is kept in rankers.json; remove it to measure it again. ``measure FOLDER fairness:greedy``
measures one method of a part, ``sensitivity:greedy@text`` one method on one of its collections, ``play:mdb`` one policy,
``log:analyse`` one thing done with a long log.
"""

from __future__ import annotations

import functools
import itertools
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from multiduel import rankers, simulate
from multiduel.kernels.compiler.dispatch import entry
from multiduel.rankers.matrix import SUMS, count_wins
from multiduel.rankers.multileaving import TWO_ONLY
from multiduel.rankers.replay import replay
from multiduel.rankers.report import words

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import ranker_statements
import text_collection

STORE, TEMPLATE = Path(__file__).with_name("rankers.json"), Path(__file__).with_name("rankers.template.md")
PAGE = Path(__file__).parents[1] / "docs" / "rankers-numbers.md"
SIZES = (2, 4, 8)
POLICIES = ("multi-rucb", "mdb", "ind-self-sparring", "rmed1", "due-duel")
POWER = 7.849  # (1.96 + 0.842)^2: a two-sided test at 5 % that finds the difference in 80 % of trials
USERS = {"MQ2008": "navigational", "text": "navigational"}
LEAST = 0.004  # by so much the close pair of MQ2008 differs in NDCG
TEXT_PAIR = ("bm25", "bm25, no lengths")  # closer ones of the text collection were not told apart by 60,000 users
REPLAYED = {"policy": "uniform", "slate_size": 4}  # mixes all four on every page, as the log does: others soon ask for fewer
OLD, NEW = "team-draft", "pair-draft"  # the default method was, and is


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
def close_pair(lineup):
    """Of the best dozen by NDCG, the two that most often show the same document in the same slot, NDCG apart by LEAST."""
    ndcg = lineup.ndcg()
    best = [int(arm) for arm in np.argsort(-ndcg)[:12]]
    pairs = [(i, j) for i in best for j in best if ndcg[i] > ndcg[j] + LEAST]
    if set(TEXT_PAIR) <= set(lineup.names):
        pairs = [tuple(lineup.names.index(name) for name in TEXT_PAIR)]
    agreement = {pair: agree(lineup, *pair) for pair in pairs}
    pair = max(agreement, key=agreement.get)
    return pair, agreement[pair]


def agree(lineup, i, j):
    """How many of the first ten slots of a query hold the same document in both rankings, as a share."""
    same = 0.0
    for q, (lo, hi) in enumerate(zip(lineup.offset[:-1], lineup.offset[1:], strict=True)):
        top = min(10, hi - lo, lineup.returned[i, q], lineup.returned[j, q])
        same += (lineup.order[i, lo : lo + top] == lineup.order[j, lo : lo + top]).mean() if top else 1.0
    return same / len(lineup.queries)


def slate_with(lineup, pair, m):
    """The pair, and others spread over the whole range of quality."""
    others = [int(arm) for arm in np.argsort(-lineup.ndcg()) if int(arm) not in pair]
    return [*pair, *(others[k] for k in np.linspace(0, len(others) - 1, m - 2).astype(int))] if m > 2 else list(pair)


def settings(only):
    for name in [only] if only else rankers.METHODS:
        for m in SIZES[:1] if name in TWO_ONLY else SIZES:
            yield m, name


def fairness(worlds, only=None, users=20_000):
    rows = []
    lineup = worlds["MQ2008"]
    one = [np.roll(np.arange(6), -shift) for shift in range(8)]  # one query whose rankings are shifted: balanced falls for it
    shifted = rankers.line_up(
        [rankers.Query("q", np.zeros(6, np.int64), np.zeros((6, 1)), tuple("abcdef"))],
        [rankers.Ranker(str(k), lambda _, o=o: -np.argsort(o).astype(float)) for k, o in enumerate(one)],
    )
    twins = lineup.take([int(np.argmax(lineup.ndcg()))])
    for m, name in settings(only):
        row = {"m": m, "method": name, "users": users}
        blind = rankers.click_table([[0.8], [0.6], [0.4], [0.2]], 0.3, grades=1)
        row["shifted"] = worst(
            *count(rankers.click_problem(shifted, clicks=blind, method=name, ties="half"), range(m), users), users
        )
        grades = int(lineup.grade.max()) + 1
        blind = rankers.click_table(np.tile([[0.8], [0.6], [0.4], [0.2]], (1, grades)), 0.3, grades=grades)
        slate = slate_with(lineup, close_pair(lineup)[0], m)
        row["random"] = worst(*count(rankers.click_problem(lineup, clicks=blind, method=name, ties="half"), slate, users), users)
        others = lineup.take(slate[2:]) if m > 2 else None
        same = rankers.Lineup(("a",), *twins_of(twins)).join(rankers.Lineup(("b",), *twins_of(twins)))
        same = same.join(others) if others is not None else same
        found = count(rankers.click_problem(same, clicks="navigational", method=name, ties="half"), range(m), users)
        row["equal"] = worst(*found, users, {(0, 1)})
        rows.append(row)
        print(row, flush=True)
    return rows


def twins_of(lineup):
    return lineup.queries, lineup.offset, lineup.grade, lineup.order, lineup.rank, lineup.returned


def sensitivity(worlds, only=None, users=200_000):
    rows = []
    only, _, where = (only or "").partition("@")
    for data in [where] if where else ("MQ2008", "text"):
        lineup = worlds[data]
        pair, agreement = close_pair(lineup)
        for m, name in settings(only):
            start = time.process_time()
            problem = rankers.click_problem(lineup, clicks=USERS[data], method=name, ties="half")
            mean, spread = count(problem, slate_with(lineup, pair, m), users)
            seconds = time.process_time() - start
            gap, sd = mean[0, 1] - 0.5, spread[0, 1]
            row = {"data": data, "m": m, "method": name, "gap": gap, "spread": sd, "users": users, "seconds": seconds}
            row |= {"pair": [lineup.names[arm] for arm in pair], "agreement": agreement, "z": gap / (sd / users**0.5)}
            row["z_per_1000"], row["needed"] = gap / sd * 1000**0.5, POWER * (sd / gap) ** 2 if gap > 0 else None
            rows.append(row)
            print(row, flush=True)
    return rows


def play(worlds, only=None, horizon=50_000, runs=20):
    """Policies against the click world, by method and ties, the same seeds: regret by the old method's matrix."""
    lineup = worlds["MQ2008"]
    kept = lineup.take(np.argsort(-lineup.ndcg())[::3])
    clicks = USERS["MQ2008"]
    of_pairs = rankers.click_problem(kept, clicks=clicks, method=OLD, ties="half")
    reference = rankers.estimate_matrix(of_pairs, comparisons=10_000, threads=1).problem
    rows = []
    for policy in [only] if only else POLICIES:
        for method, ties in itertools.product((OLD, NEW), ("half", "drop")):
            world = rankers.click_problem(kept, clicks=clicks, method=method, ties=ties, reference=reference)
            for m in (2,) if policy == "rmed1" else (2, 8):
                options = {"slate_size": m, "horizon": horizon, "runs": runs, "threads": 1, "checkpoints": [horizon]}
                start = time.process_time()
                result = simulate(policy, world, benchmark="copeland", seed=5, **options)
                row = {"method": method, "ties": ties, "policy": policy, "m": m, "horizon": horizon, "runs": runs}
                error = float(result.final.std(ddof=1) / runs**0.5)
                row |= {"regret": result.final.mean(), "error": error, "arms": kept.n_arms}
                row["right"] = float(np.isin(result.recommended, reference.copeland_winners).mean())
                row["seconds"] = time.process_time() - start
                rows.append(row)
                print(row, flush=True)
    return rows


def flips(worlds, users=200_000):
    """Pairs of the same eight rankers whose sign differs between slates of two and one slate of eight, both for certain."""
    rows = []
    for data, clicks in (("MSLR", "perfect"), ("MQ2008", "navigational"), ("text", "navigational")):
        lineup = worlds[data]
        eight = [int(arm) for arm in np.argsort(-lineup.ndcg())[np.linspace(0, lineup.n_arms - 1, 8).astype(int)]]
        for method in (OLD, NEW):
            problem = rankers.click_problem(lineup, clicks=clicks, method=method, ties="half")
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


def log(worlds, only=None, pages=1_000_000):
    """Time and memory of a log of 4 rankers and 200,000 users: a tenth written, all analysed and replayed, each in a process."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        with open(path, "w") as file:
            texts = {}
            for k, (page, user, documents) in enumerate(pages_and_clicks(pages)):
                of, text = f'"id":"{k:016x}","time":{k}.0', texts.get(page["seed"]) or json.dumps(page, separators=(",", ":"))
                texts[page["seed"]] = text
                file.write(f'{{"kind":"impression",{of},"user":"{user}","session":null,"query":"q","page":{text}}}\n')
                for document in documents:
                    file.write(f'{{"kind":"click",{of},"document":"{document}","weight":1.0}}\n')
        for what, count in {"write": pages // 10, "analyse": pages, "state": pages, "again": 1000, "replay": pages}.items():
            if only not in (None, what):
                continue
            if what == "again":  # the log grows; clicks on old pages among them
                grown = rankers.Log(path, pseudonyms=False)
                for page, user, documents in pages_and_clicks(1000):
                    id = grown.shown(page, user=user, query="q", time=2e6)
                    for document in documents:
                        grown.clicked(id, document, time=2e6)
                with open(path, "a") as file:
                    for k in range(100):
                        document = next(itertools.islice(pages_and_clicks(64), k % 64, None))[0]["documents"][0]
                        file.write(f'{{"kind":"click","id":"{k:016x}","time":2e6,"document":"{document}","weight":1.0}}\n')
            command = [sys.executable, __file__, what, str(path), str(count)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            rows.append({"what": what, "pages": count, "megabytes": path.stat().st_size / 1e6, **json.loads(done.stdout)})
            print(rows[-1], flush=True)
    return rows


def pages_and_clicks(pages):
    """A page, whose it is, and the documents clicked: 1.7 on average, some of them twice."""
    rng = np.random.default_rng(0)
    lists = [[f"doc-{d}" for d in rng.permutation(30)] for _ in range(4)]
    made = [rankers.multileave(lists, names=list("abcd"), method=NEW, seed=k) for k in range(64)]
    who, count = rng.integers(200_000, size=pages), rng.poisson(1.7, size=pages)
    slot = rng.integers(10, size=(pages, 8)).tolist()
    for k in range(pages):
        page = made[k % 64]
        yield page, f"u{who[k]}", [page["documents"][at] for at in slot[k][: count[k]]]


def with_log(what, path, pages):
    """In a process of its own, whose memory is all this one's. What is compiled is compiled before."""
    found = {}
    if what == "write":
        content, log = list(pages_and_clicks(pages)), rankers.Log(f"{path}.written")
    else:
        log = rankers.Log(f"{path}.short")
        for page, user, _ in pages_and_clicks(100):
            log.shown(page, user=user)
        replay(log, **REPLAYED) if what == "replay" else words(rankers.analyse(log))
        log.path.unlink()
    before, start = peak_mb(), time.process_time()
    if what == "write":
        for page, user, documents in content:
            id = log.shown(page, user=user, query="q")
            for document in documents:
                log.clicked(id, document)
    elif what in ("analyse", "state", "again"):
        analysis = rankers.analyse(path, state=None if what == "analyse" else f"{path}.state")
        found |= {"users": analysis.users, "verdict_seconds": time.process_time() - start, "verdict_mb": peak_mb() - before}
        words(analysis)  # the other statements of the report too
    else:
        found["rounds"] = replay(path, **REPLAYED).rounds
    print(json.dumps({"seconds": time.process_time() - start, "peak_mb": peak_mb(), "before_mb": before, **found}))


def peak_mb():
    """Of this process alone: what getrusage says begins with the peak of the process that started this one."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1e3


PARTS = {"sensitivity": sensitivity, "fairness": fairness, "play": play, "flips": flips, "log": log}
PARTS |= {"statements": ranker_statements.statements, "contradictions": ranker_statements.contradictions}


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
    elif sys.argv[1:2] and sys.argv[1] in ("write", "analyse", "state", "again", "replay"):
        with_log(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    else:
        sys.exit(__doc__)
