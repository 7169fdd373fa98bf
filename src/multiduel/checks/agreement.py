"""Two ways to the same numbers: compiled and plain, kernel and oracle, committing and stepping, restored and not."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
from scipy.stats import ks_2samp

from multiduel.arrays import Floats
from multiduel.checks.plain import evidence, record, require_plain_passes
from multiduel.checks.subject import EASY, HORIZON, MIXED, Skipped, Subject, coins, played, require
from multiduel.engine.registry.plugins import is_ours
from multiduel.engine.session.policy import Policy, restore
from multiduel.engine.session.slates import Slate
from multiduel.engine.simulation.play import KINDS
from multiduel.engine.simulation.seeds import streams

FALSE_ALARM = 1e-6  # of one statistical test; the seeds are fixed, so an alarm does not come and go


def compiled_equals_plain(subject: Subject) -> None:
    """The compiled play loop, compiled ask and tell, and both without the compiler agree to the last bit."""
    seen = evidence(subject)
    require(not seen["error"], f"Without the compiler it fails with {seen['error']}")
    here, plain = json.loads(json.dumps(record(subject))), seen["record"]
    for kind, regret in here["regret"].items():
        _same_series(f"the play loop's regret ('{kind}')", here["stepping"][kind], "ask and tell's", regret)
    require(
        here["stepping"]["recommended"] == [here["recommended"]],
        "The play loop and ask and tell recommend different arms.",
    )
    _same_series("compiled slates", here["slates"], "plain", plain["slates"])
    for way in ("stepping", "committing"):
        for kind, regret in here[way].items():
            _same_series(f"compiled '{kind}' when {way}", regret, "plain", plain[way][kind])
    differing = [part for part, value in here["snapshot"].items() if value != plain["snapshot"][part]]
    require(not differing, f"Compiled and plain play end in different snapshots. They differ in: {', '.join(differing)}.")


def _same_series(what: str, one: list[Any], other_name: str, other: list[Any]) -> None:
    for t, (a, b) in enumerate(zip(one, other, strict=True), start=1):
        require(a == b, f"{what[0].upper()}{what[1:]} and {other_name} differ in round {t}: {a} and {b}.")


def naive_oracle(subject: Subject) -> None:
    """On the same stream and the same outcomes, its slates are those of an oracle written from the paper alone."""
    oracle = subject.oracle
    if oracle is None:
        require(not is_ours(subject.spec), "No oracle was given: a plain second implementation to compare with.")
        raise Skipped(
            "No oracle was given. A plain second implementation, written from the paper, would show that the kernel plays what "
            "the paper says: check(..., oracle=...)."
        )
    sizes = ((5, 2), (7, 2)) if subject.spec.slate == "two" else ((5, 2), (7, 3))
    sharp = np.where(np.triu(np.ones((7, 7)), 1) > 0, 0.95, 0.05)  # soon decided, so that late phases are seen too
    for (n_arms, slate_size), P in zip((*sizes, *sizes), (MIXED.matrix, sharp, sharp, _wide()), strict=True):
        _compare_with(oracle, subject, n_arms, slate_size, P[:n_arms, :n_arms])


def _wide() -> Floats:
    utilities = np.linspace(0.2, 0.8, 7)[[2, 5, 0, 6, 3, 1, 4]]
    return 0.5 + 0.5 * (utilities[:, None] - utilities)


def _compare_with(oracle: Any, subject: Subject, n_arms: int, slate_size: int, P: Floats) -> None:
    rounds, seed = 400, 17
    params = dict(subject.words) | ({} if subject.spec.anytime else {"horizon": rounds})
    policy = subject.make_unlabelled(n_arms, slate_size, seed=seed, horizon=rounds)
    words = streams(np.random.SeedSequence(seed), n_arms).policy
    naive = oracle(n_arms, slate_size, [int(word) for word in words], **params)
    coin = random.Random(seed)
    ordered = subject.spec.slate == "two"
    for t in range(1, rounds + 1):
        slate = policy.ask()
        arms = tuple(int(arm) for arm in naive.ask(t))
        same = slate.arms == arms if ordered else set(slate.arms) == set(arms) and len(slate.arms) == len(arms)
        require(same, f"Kernel and oracle differ in round {t} (K = {n_arms}, m = {slate_size}): {slate.arms} and {arms}.")
        if len(arms) > 1:
            wins = coins(P, slate.arms, coin)
            place = [slate.arms.index(arm) for arm in arms]
            policy.tell(slate, wins)
            naive.tell(t, list(arms), wins[np.ix_(place, place)])


def commit_equals_step(subject: Subject) -> None:
    """Committing ahead plays the same runs as stepping: bit for bit, or in distribution where the description says so."""
    require_plain_passes(subject, "commit-equals-step")
    if subject.spec.commits == "exact":
        for problem in (EASY, MIXED):
            horizon, runs = (1500, 2) if subject.plain else (10_000, 4)
            options: dict[str, Any] = {"horizon": horizon, "slate_size": 3, "runs": runs, "seed": 3}
            ahead, step = (subject.simulate(problem, commit=commit, **options) for commit in (True, False))
            for kind in KINDS:
                same = (ahead.regrets[kind] == step.regrets[kind]).all()
                at = ahead.checkpoints[(ahead.regrets[kind] != step.regrets[kind]).any(axis=0)][:1]
                require(same, f"Committing ahead and stepping must give equal regrets. '{kind}' differs at round {at}.")
            require(
                (ahead.recommended == step.recommended).all(),
                "Committing and stepping must end in equal recommendations.",
            )
        return
    marks, runs = ([50, 200], 100) if subject.plain else ([200, 2000], 400)
    options = {"horizon": marks[-1], "slate_size": 3, "runs": runs, "checkpoints": marks}
    ahead = subject.simulate(EASY, commit=True, seed=1, **options)
    step = subject.simulate(EASY, commit=False, seed=2, **options)
    for k, mark in enumerate(marks):
        test = ks_2samp(ahead.regret[:, k], step.regret[:, k])
        require(
            test.pvalue > FALSE_ALARM,
            f"Committing ahead and stepping must give regrets of one distribution. At round {mark}, "
            f"Kolmogorov-Smirnov over {runs} runs each: p = {test.pvalue:.1e}, "
            f"means {ahead.mean[k]:.4g} and {step.mean[k]:.4g}.",
        )


def snapshot(subject: Subject) -> None:
    """Saved as JSON in mid-run with slates still open, then restored, it goes on as if never interrupted."""
    policy = subject.make(MIXED.n_arms, 3, seed=9)
    coin = random.Random(9)
    waiting = _go_on(policy, [], 60, coin)
    before = policy.snapshot()
    policy.recommend()
    require(policy.snapshot() == before, "'recommend' must change nothing. The snapshot after it differs.")
    twin = restore(json.loads(json.dumps(before)))
    require(twin.snapshot() == before, "A restored policy must have the snapshot that it was restored from.")
    require(twin.open == policy.open, f"A restored policy must know its open slates, {policy.open}. Got {twin.open}.")
    state = coin.getstate()
    ends = []
    for one in (policy, twin):
        coin.setstate(state)
        _go_on(one, list(waiting), 150, coin)
        ends.append(one.snapshot())
    require(ends[0] == ends[1], "A restored policy must go on as the uninterrupted one. 150 rounds later they differ.")


def _go_on(policy: Policy, waiting: list[Slate], rounds: int, coin: random.Random) -> list[Slate]:
    """Play with every answer three slates late. Returns the slates still waiting."""
    for _ in range(rounds):
        slate = policy.ask()
        if len(slate.arms) > 1:
            waiting.append(slate)
        if len(waiting) > 3:
            told = waiting.pop(0)
            policy.tell(told, coins(MIXED.matrix, told.arms, coin))
    return waiting


def reproducible(subject: Subject) -> None:
    """Same seed, same slates, for any number of threads; the global random states are left alone."""
    numpy_state, python_state = np.random.get_state(), random.getstate()
    runs = [
        [slate.arms for slate in played(subject, subject.make(MIXED.n_arms, 3, seed=4), MIXED.matrix, 150, seed=4, slate_size=3)]
        for _ in range(2)
    ]
    require(runs[0] == runs[1], "The same seed must give the same slates. Two runs of 150 rounds differ.")
    horizon = HORIZON // 10 if subject.plain else HORIZON
    one, two = (
        subject.simulate(MIXED, horizon=horizon, slate_size=3, runs=6, seed=8, threads=threads, checkpoints=[10, 100, horizon])
        for threads in (1, 2)
    )
    require((one.regret == two.regret).all(), "One thread and two must give equal regrets. They differ.")
    require((one.recommended == two.recommended).all(), "One thread and two must end in equal recommendations.")
    now = np.random.get_state()
    same = all(np.array_equal(a, b) for a, b in zip(numpy_state, now, strict=True)) and random.getstate() == python_state
    require(same, "The global random state of NumPy and Python must be left alone. It was used.")
