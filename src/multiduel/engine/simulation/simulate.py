"""Regret of a policy on a known problem: words and options become a plan, and what was played a Result."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, overload

import numpy as np

from multiduel.arrays import Ints
from multiduel.display.progress import progress_bar
from multiduel.engine.registry.registry import (
    ROUNDS_DIFFER,
    describe,
    dimension_of,
    feature_table,
    find,
    refuse_closing,
    resolve,
    with_dimension,
)
from multiduel.engine.simulation.contexts import ContextProblem
from multiduel.engine.simulation.delays import read_delay
from multiduel.engine.simulation.play import KINDS
from multiduel.engine.simulation.result import Result, Results, Settlement
from multiduel.engine.simulation.runs import Measurement, Plan, play_runs
from multiduel.inputs import MOST_SEED, BadInput, cores, finite, shortened, truth, whole
from multiduel.kernels.contract import FOREVER, PolicySpec
from multiduel.policies.wrappers import CYCLE, OPEN, REMEMBERED, WINNER, Closing, Watched
from multiduel.problems import Problem, from_matrix

MOST_RUNS = 100_000_000
MOST_CHECKPOINTS = 100_000


Chosen = str | PolicySpec | tuple[str | PolicySpec, Mapping[str, Any]]  # a policy, or a policy with parameters of its own


@overload
def simulate(
    policy: str | PolicySpec,
    problem: Problem | Any,
    *,
    horizon: int,
    slate_size: int = ...,
    runs: int = ...,
    seed: int = ...,
    first_run: int = ...,
    checkpoints: int | Sequence[int] | Ints | None = ...,
    threads: int | None = ...,
    benchmark: str = ...,
    commit: bool = ...,
    reset_horizon: bool = ...,
    features: Any = ...,
    until: str | None = ...,
    verdict_error: float = ...,
    delay: int | str = ...,
    progress: bool | Callable[[float], None] | None = ...,
    **params: Any,
) -> Result: ...
@overload
def simulate(
    policy: Sequence[Chosen],
    problem: Problem | Any,
    *,
    horizon: int,
    slate_size: int = ...,
    runs: int = ...,
    seed: int = ...,
    first_run: int = ...,
    checkpoints: int | Sequence[int] | Ints | None = ...,
    threads: int | None = ...,
    benchmark: str = ...,
    commit: bool = ...,
    reset_horizon: bool = ...,
    features: Any = ...,
    until: str | None = ...,
    verdict_error: float = ...,
    delay: int | str = ...,
    progress: bool | Callable[[float], None] | None = ...,
    **params: Any,
) -> Results: ...
def simulate(
    policy: str | PolicySpec | Sequence[Chosen],
    problem: Problem | Any,
    *,
    horizon: int,
    slate_size: int = 2,
    runs: int = 50,
    seed: int = 0,
    first_run: int = 0,
    checkpoints: int | Sequence[int] | Ints | None = None,
    threads: int | None = None,
    benchmark: str = "condorcet",
    commit: bool = True,
    reset_horizon: bool = False,
    features: Any = None,
    until: str | None = None,
    verdict_error: float = 0.05,
    delay: int | str = 0,
    progress: bool | Callable[[float], None] | None = None,
    **params: Any,
) -> Result | Results:
    """Measure the regret of a policy, or of several, on a known problem.

    All policies of a list meet the same problem and the same luck: run r draws the same arm labels and the same world for
    every policy given the same ``seed``. All that is wrong is refused before the first round is played. Ctrl-C stops within a
    moment and leaves nothing behind.

    Parameters
    ----------
    policy
        A name as for ``make`` (``"multi-rucb"``, ``"my_module:SPEC"``, ``"path/to/file.py:SPEC"``), a ``PolicySpec``, or a list
        of these. One of a list with parameters of its own is a pair, ``("rucb", {"alpha": 0.6})``.
    problem
        A ``Problem``, a preference matrix, or anything with ``n_arms``, ``benchmark_gaps``, ``to_json`` and
        ``world(labels, seats)``, which returns what ``compare`` is dispatched on (see ``rankers.ClickProblem``). One with a
        ``dimension`` above 0 has rounds that differ, as those of ``contexts``: its world also implements ``meet``.
    horizon
        Rounds of a run.
    slate_size
        How many arms a slate may hold. A two-dueling policy compares two, whatever it is.
    runs, seed, first_run
        How many runs, their seed, and the number of the first, so that many runs can be played in blocks.
    checkpoints
        Rounds at which regret is recorded, or how many log-spaced ones there are to be: 200 by default.
    threads
        All cores by default. Numbers do not depend on it.
    benchmark
        What regret is measured against: "condorcet", "copeland", "borda" or "utility". Where rounds differ, the best arm of
        each round: "condorcet" (the chance that it wins, minus 1/2) or "utility".
    commit
        False plays every round on its own, which is slow and gives the same (see the policy's description).
    reset_horizon
        How the paper plots policies that must know the horizon: each checkpoint is a run of its own, told that this is where
        it ends. Policies that need no horizon are not touched by it.
    features
        For policies that use them: a row of numbers per arm. Problems of ``contexts`` bring their own.
    until, verdict_error
        ``until="verdict"`` watches for the verdict (``md.verdict``, with this error): from then on its winner is used, and the
        result's ``settlement`` says when that was, whether it was wrong, and the regret by then. The horizon is how long to
        wait for it.
    delay
        How many rounds late each answer comes: a number of rounds, or ``"geometric:MEAN"`` for random delays, which every policy
        of a run meets alike. The answer of round t is told before the choice of round t + 1 + delay; answers that are still
        under way at the end are lost.
    progress
        True shows a bar; a function is called with the share that is played.
    **params
        Parameters of the policy, or of every policy of a list.

    Returns
    -------
    Result or Results
        Results, a list, if ``policy`` is a list.

    Raises
    ------
    BadInput
        If something cannot be used as given.

    Examples
    --------
    >>> import multiduel as md
    >>> results = md.simulate(["uniform", "rucb"], md.synthetic(5), horizon=1000, runs=4, checkpoints=10)
    >>> [result.policy for result in results], len(results[0].checkpoints)
    (['uniform', 'rucb'], 10)
    """
    if not isinstance(problem, Problem) and not hasattr(problem, "world"):
        problem = from_matrix(problem)
    if not (until is None or (isinstance(until, str) and until == "verdict")):
        raise BadInput(f"'until' of 'simulate' must be 'verdict', or not be given. Got {shortened(until)}.")
    if not 0.0 < finite("verdict_error", verdict_error, of="simulate") < 1.0:
        raise BadInput(f"'verdict_error' of 'simulate' must lie between 0 and 1. Got {verdict_error}.")
    if until and truth("reset_horizon", reset_horizon):
        raise BadInput("'until' and 'reset_horizon' of 'simulate' cannot be had together.")
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise BadInput(f"'progress' of 'simulate' must be True, False or a function. Got {shortened(progress)}.")
    rounds = whole("horizon", horizon, 1, FOREVER, of="simulate")
    dimension = getattr(problem, "dimension", 0)
    if until and dimension:
        raise BadInput(f"'until' of 'simulate' needs options that stay the same. {ROUNDS_DIFFER}")
    if isinstance(problem, ContextProblem):
        problem = problem.measured_by(benchmark)
    common: dict[str, Any] = {
        "problem": problem,
        "gaps": problem.benchmark_gaps(benchmark),
        "horizon": rounds,
        "runs": whole("runs", runs, 1, MOST_RUNS, of="simulate"),
        "seed": whole("seed", seed, 0, MOST_SEED, of="simulate"),
        "first_run": whole("first_run", first_run, 0, FOREVER, of="simulate"),
        "commit": truth("commit", commit) and not dimension,  # rounds that differ cannot be committed to
        "reset_horizon": truth("reset_horizon", reset_horizon),
        "delay": read_delay(delay),
    }
    marks = _checkpoints(checkpoints, rounds)
    workers = cores(threads, of="simulate")
    games = []
    for spec, words in _chosen(policy):  # all are refused before the first plays
        own = {**params, **words}
        table = feature_table(spec, own.pop("features", features), problem.n_arms)
        size = 2 if spec.slate == "two" else whole("slate_size", own.pop("slate_size", slate_size), 2, of=spec.name)
        if table is not None:
            if dimension:
                raise BadInput("'features' of 'simulate' come from the problem here, in every round. Leave them out.")
            own = with_dimension(spec, own, table.shape[1], "'features'")
        own = with_dimension(spec, own, dimension, "the problem")
        inside = resolve(spec, n_arms=problem.n_arms, slate_size=size, horizon=rounds, words=own)
        if isinstance(inside, Closing) and common["delay"].longest >= REMEMBERED:
            raise BadInput(
                f"'closing' of '{spec.name}' remembers the slates of {REMEMBERED:,} rounds: 'delay' of 'simulate' must be below. "
                f"It may reach {common['delay'].longest:,}."
            )
        if dimension:
            refuse_closing(spec, inside)
        elif spec.contextual and table is None and dimension_of(inside):
            raise BadInput(
                f"'dimension' of '{spec.name}' is for problems that bring features in every round, such as 'contexts'. Give "
                "'features', a row per arm, or leave it out."
            )
        plan = Plan(
            spec=spec,
            params=Watched(inside, verdict_error, spec.blocks) if until else inside,
            features=table,
            seats=max(2, min(problem.n_arms, size)),
            checkpoints=np.union1d(marks, [rounds]) if until else marks,  # regret by the verdict is reckoned from the end
            **common,
        )
        plan.delay.places(rounds, plan.seats)
        games.append((plan, inside, size))
    results = Results()
    label = ", ".join(plan.spec.name for plan, _, _ in games)
    with progress_bar(label) if progress is True else nullcontext(progress or None) as watch:
        for plan, inside, size in games:
            measurement = play_runs(plan, min(plan.runs, workers), _share(watch, len(results), len(games)))
            results.append(_result(plan, inside, size, marks, benchmark, measurement))
    if isinstance(policy, str | PolicySpec):
        return results[0]
    named = zip(results.labels, results, strict=True)  # what tells them apart stays with each of them
    return Results(result if label == result.policy else replace(result, label=label) for label, result in named)


def _chosen(policy: Any) -> list[tuple[PolicySpec, Mapping[str, Any]]]:
    """Find each policy, and the parameters that are its own."""
    if isinstance(policy, str | PolicySpec):
        return [(find(policy, "typed"), {})]
    if not isinstance(policy, Sequence) or not policy:
        raise BadInput(f"'policy' of 'simulate' must be a policy, or a list of at least one. Got {shortened(policy)}.")
    pairs = [(one, {}) if isinstance(one, str | PolicySpec) else one for one in policy]
    for pair in pairs:
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], Mapping)):
            raise BadInput(f"A policy of a list must be a name, or a name with its parameters. Got {shortened(pair)}.")
    return [(find(name, "typed"), words) for name, words in pairs]


def _share(watch: Callable[[float], None] | None, done: int, games: int) -> Callable[[float], None] | None:
    """Turn the share of one policy's rounds into the share of all."""
    return None if watch is None else lambda share: watch((done + share) / games)


def _result(plan: Plan, inside: Any, slate_size: int, marks: Ints, benchmark: str, measurement: Measurement) -> Result:
    words = describe(inside)
    if plan.features is not None:
        words["features"] = plan.features.tolist()
    return Result(
        policy=plan.spec.name,
        params=words,
        problem=plan.delay.described(plan.problem.to_json()),
        slate_size=slate_size,
        horizon=plan.horizon,
        runs=plan.runs,
        seed=plan.seed,
        first_run=plan.first_run,
        benchmark=benchmark,
        checkpoints=marks,
        regrets={kind: np.ascontiguousarray(measurement.regret[:, k, : len(marks)]) for k, kind in enumerate(KINDS)},
        recommended=measurement.recommended,
        events=measurement.events,
        seconds=measurement.seconds,
        compile_seconds=measurement.compile_seconds,
        settlement=_settlement(plan, measurement) if isinstance(plan.params, Watched) else None,
    )


def _settlement(plan: Plan, measurement: Measurement) -> Settlement:
    """From what the watcher wrote down. After the verdict each round cost the gap of the arm in use."""
    rounds, answers, arm, kind = measurement.settled.T
    is_open = kind == OPEN
    afterwards = np.where(is_open, 0.0, (plan.horizon - rounds) * plan.gaps[arm])
    winner = getattr(plan.problem, "winner", None)
    return Settlement(
        error=plan.params.alpha,
        kind=tuple(("open", "winner", "cycle")[k] for k in kind),
        arm=arm,
        rounds=np.where(is_open, np.inf, rounds),
        answers=np.where(is_open, np.inf, answers),
        regret=measurement.regret[:, 0, -1] - afterwards,
        wrong=((kind == WINNER) & (arm != winner)) | ((kind == CYCLE) & (winner is not None)),
    )


def _checkpoints(rounds: int | Sequence[int] | Ints | None, horizon: int) -> Ints:
    if rounds is None or isinstance(rounds, int | np.integer):
        count = whole("checkpoints", 200 if rounds is None else rounds, 1, MOST_CHECKPOINTS, of="simulate")
        marks = np.geomspace(1, horizon, count) if count > 1 else np.array([horizon])
        return np.unique(marks.astype(np.int64).clip(1, horizon))
    try:
        listed = [whole("checkpoints", mark, 1, FOREVER, of="simulate") for mark in rounds]
    except TypeError:
        raise BadInput(f"'checkpoints' of 'simulate' must be a list of rounds. Got {shortened(rounds)}.") from None
    if not listed or any(b <= a for a, b in itertools.pairwise(listed)):
        raise BadInput(f"'checkpoints' of 'simulate' must be rounds in ascending order. Got {listed[:8]}.")
    if listed[-1] > horizon:
        raise BadInput(f"'checkpoints' of 'simulate' must not pass the horizon, {horizon}. Got {listed[-1]}.")
    return np.array(listed, np.int64)
