"""Route questions to models: which model should answer which question, learned from people's votes.

    python examples/route_questions.py FOLDER

FOLDER holds ``crowd-comparisons.csv`` and ``prompts.jsonl`` of github.com/dustalov/llmfao (CC BY 4.0): 8,931 votes of people on
59 models and 13 questions. The votes are the truth here: on each question, each of the 12 best models has a utility, fitted to
the votes on this question and drawn towards the model's utility over all questions. A policy sees features of the question only.

It prints two comparisons with an honest baseline, the best single model:

- on questions that it has seen: what the single model costs, and what policies cost early and late;
- on questions that it has not seen: each is left out once, and the policy recommends a model for it after learning on the others.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from pathlib import Path

import numpy as np

import multiduel as md

MODELS, ROUNDS, RUNS = 12, 20_000, 10
WINDOWS = ((2000, 3000), (ROUNDS - 1000, ROUNDS))  # rounds over which regret is averaged: early and late
PRIOR = 2.0  # how strongly a model's utility on one question is drawn towards its utility over all


def read(folder: Path) -> tuple[list[str], list[dict[str, str]], list[tuple[int, int, int, float]]]:
    """Names of the models, the questions that people voted on, and votes (question, left, right, share of the vote for left)."""
    with open(folder / "crowd-comparisons.csv", encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    names = sorted({line[side] for line in lines for side in ("left", "right")})
    asked = {line["prompt"] for line in lines}
    questions = [json.loads(line) for line in (folder / "prompts.jsonl").read_text(encoding="utf-8").splitlines()]
    questions = [question for question in questions if str(question["id"]) in asked]
    place = {str(question["id"]): q for q, question in enumerate(questions)}
    share = {"left": 1.0, "right": 0.0, "tie": 0.5}
    votes = [(place[x["prompt"]], names.index(x["left"]), names.index(x["right"]), share[x["winner"]]) for x in lines]
    return names, questions, votes


def fit(votes: list[tuple[int, int, float]], centre: np.ndarray, prior: float) -> np.ndarray:
    """Bradley and Terry's utilities, drawn towards ``centre``, by Newton's method."""
    left, right = np.array([v[0] for v in votes], int), np.array([v[1] for v in votes], int)
    won, u, K = np.array([v[2] for v in votes]), centre.copy(), len(centre)
    for _ in range(50):
        p = 1.0 / (1.0 + np.exp(u[right] - u[left]))
        gradient, hessian = -prior * (u - centre), prior * np.eye(K)
        np.add.at(gradient, left, won - p)
        np.add.at(gradient, right, p - won)
        for i, j, sign in ((left, left, 1), (right, right, 1), (left, right, -1), (right, left, -1)):
            np.add.at(hessian, (i, j), sign * p * (1.0 - p))
        step = np.linalg.solve(hessian, gradient)
        u += step
        if np.abs(step).max() < 1e-10:
            break
    return u


def features_of(question: dict[str, str]) -> list[float]:
    """What is known of a question before anyone answers it."""
    kinds = [float(question["type"] == kind) for kind in ("instruct", "knowledge", "reflexion")]  # none of them: creativity
    return [1.0, *kinds, math.log(len(question["text"])) - 4.5]


def learn(contexts: np.ndarray, utilities: np.ndarray, seed: int) -> md.Policy:
    """A policy that has routed ROUNDS questions. People prefer an answer by the utilities."""
    rng = np.random.default_rng(seed)
    K, d = utilities.shape[1], contexts.shape[1]
    policy = md.make("max-pair-ucb", n_arms=K, dimension=K * d, seed=seed)
    for _ in range(ROUNDS):
        q = rng.integers(len(contexts))
        slate = policy.ask(features=rows_of(contexts[q], K))
        if len(slate.arms) == 2:
            a, b = slate.arms
            won = rng.random() < 1.0 / (1.0 + math.exp(utilities[q, b] - utilities[q, a]))
            policy.tell(slate, md.best(a if won else b))
    return policy


def rows_of(context: np.ndarray, n_arms: int) -> np.ndarray:
    """Each model has weights of its own for the question's features: they stand in the model's own block of its row."""
    return np.kron(np.eye(n_arms), context)


def main(folder: Path) -> None:
    names, questions, votes = read(folder)
    overall = fit([vote[1:] for vote in votes], np.zeros(len(names)), 0.1)
    chosen = np.argsort(-overall)[:MODELS]
    per_question = [fit([vote[1:] for vote in votes if vote[0] == q], overall, PRIOR)[chosen] for q in range(len(questions))]
    utilities, contexts = np.array(per_question), np.array([features_of(question) for question in questions])
    single = int(utilities.mean(axis=0).argmax())
    print(f"{len(votes):,} votes on {len(questions)} questions. The {MODELS} best models: {', '.join(names[k] for k in chosen)}.")

    gap = utilities.max(axis=1) - utilities[:, single]
    best_on = int((gap == 0).sum())
    print(f"\nQuestions that it has seen. Best single model: {names[chosen[single]]}. It is the best on {best_on} of")
    print(f"{len(questions)} questions, and costs {gap.mean():.3f} in utility a round against the best of each.")
    problem = md.context_arms(contexts, n_arms=MODELS, utilities=utilities, label="models for questions")
    marks = [mark for window in WINDOWS for mark in window]
    print(f"  regret in utility, a round {'':12} rounds 2,001 to 3,000   rounds {ROUNDS - 999:,} to {ROUNDS:,}")
    for name, label in (
        ("max-pair-ucb", "max-pair-ucb, with features"),
        ("linear-self-sparring", "linear-self-sparring, with features"),
        ("dts", "dts, without: one model for all"),
    ):
        result = md.simulate(name, problem, horizon=ROUNDS, runs=RUNS, benchmark="utility", checkpoints=marks, seed=1)
        rates = np.diff(result.regret, axis=1)[:, ::2] / 1000
        half = 1.96 * rates.std(axis=0, ddof=1) / math.sqrt(RUNS)
        print(f"  {label:38} {rates[:, 0].mean():.3f} ±{half[0]:.3f}           {rates[:, 1].mean():.3f} ±{half[1]:.3f}")

    print("\nQuestions that it has not seen: each is left out once.")
    edges = []
    for q in range(len(questions)):
        others = np.arange(len(questions)) != q
        before = int(utilities[others].mean(axis=0).argmax())
        arm = learn(contexts[others], utilities[others], seed=q).recommend(rows_of(contexts[q], MODELS))
        edges.append(float(utilities[q, arm] - utilities[q, before]))
    better, worse = sum(edge > 1e-9 for edge in edges), sum(edge < -1e-9 for edge in edges)
    error = np.std(edges, ddof=1) / math.sqrt(len(edges))
    print(f"  Routed minus single model, in utility: {np.mean(edges):+.3f} ±{1.96 * error:.3f};")
    print(f"  better on {better} questions, worse on {worse}.")
    print("\nThirteen questions of four kinds cannot tell whether routing helps on other questions: the last interval is all")
    print("that they say of that. The first comparison is about these very questions, and its utilities model the votes.")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
