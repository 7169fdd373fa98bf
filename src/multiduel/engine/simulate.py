"""Regret of a policy on a known problem: words and options become a plan, and what was played a Result."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

import numpy as np

from multiduel.arrays import Ints
from multiduel.engine.bars import watching
from multiduel.engine.closing import CYCLE, OPEN, WINNER, Watched
from multiduel.engine.play import KINDS
from multiduel.engine.registry import describe, feature_table, find, resolve
from multiduel.engine.result import Result, Results, Settlement
from multiduel.engine.runs import Measurement, Plan, play_runs
from multiduel.inputs import MOST_SEED, BadInput, cores, shortened, whole
from multiduel.kernels.contract import FOREVER, PolicySpec
from multiduel.problems import Problem, from_matrix

MOST_RUNS = 100_000_000
MOST_CHECKPOINTS = 100_000


Chosen = str | PolicySpec | tuple[str | PolicySpec, Mapping[str, Any]]  # a policy, or a policy with parameters of its own


@overload
def simulate(policy: str | PolicySpec, problem: Problem | Any, *, horizon: int, **options: Any) -> Result: ...
@overload
def simulate(policy: Sequence[Chosen], problem: Problem | Any, *, horizon: int, **options: Any) -> Results: ...
def simulate(
    policy: str | PolicySpec | Sequence[Chosen], problem: Problem | Any, *, progress: Any = None, **options: Any
) -> Result | Results:
    """Regret of ``policy`` on ``problem`` (or a preference matrix) over ``runs`` runs of ``horizon`` rounds.

    A policy is named as for ``make``: ``"multi-rucb"``, ``"my_module:SPEC"``, ``"path/to/file.py:SPEC"``. Of a list of policies
    all meet the same problem and the same luck, and a list of results comes back; one with parameters of its own is a pair,
    ``("rucb", {"alpha": 0.6})``.

    ``slate_size`` is how many arms a slate may hold; a two-dueling policy compares two, whatever it is. Run r draws the same
    arm labels and the same world for every policy given the same ``seed``; ``first_run`` is the number of the first, so that many
    runs can be played in blocks. ``checkpoints`` are rounds, or how many log-spaced ones there are to be: 200 by default.
    ``benchmark`` is what regret is measured against: "condorcet", "copeland", "borda" or "utility".
    ``commit=False`` plays every round on its own, which is slow and gives the same (see the policy's card).
    A ``problem`` may also bring its own world: ``world(labels, seats)`` returns what ``compare`` is dispatched on, arm
    k being the user's labels[k]; it has ``n_arms``, ``benchmark_gaps`` and ``to_json`` too (see rankers.ClickProblem).
    ``reset_horizon`` is how the paper plots policies that must know the horizon: each checkpoint is a run of its own, told
    that this is where it ends; policies that need no horizon are not touched by it.
    ``features`` are for policies that use them: a row of numbers per arm.
    ``until="verdict"`` watches for the verdict (``md.verdict``, with an error of ``verdict_error``): from then on its winner is
    used, and the result's ``settlement`` says when that was, whether it was wrong, and the regret by then. The horizon is
    how long to wait for it.
    ``progress=True`` shows a bar; a function is called with the share of rounds played. Ctrl-C stops within a moment and leaves
    nothing behind.

    >>> import multiduel as md
    >>> results = md.simulate(["uniform", "rucb"], md.synthetic(5), horizon=1000, runs=4, checkpoints=10)
    >>> [result.policy for result in results], len(results[0].checkpoints)
    (['uniform', 'rucb'], 10)
    """
    if isinstance(policy, str | PolicySpec):
        with watching(progress, find(policy).name) as watch:
            return _simulate(policy, problem, progress=watch, **options)
    if not isinstance(policy, Sequence) or not policy:
        raise BadInput(f"'policy' of 'simulate' must be a policy, or a list of at least one. Got {shortened(policy)}.")
    pairs = [(one, {}) if isinstance(one, str | PolicySpec) else one for one in policy]
    for pair in pairs:
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], Mapping)):
            raise BadInput(f"A policy of a list must be a name, or a name with its parameters. Got {shortened(pair)}.")
        find(pair[0])  # refuse all that is wrong before the first plays
    results = []
    for one, params in pairs:
        with watching(progress, find(one).name) as watch:
            results.append(_simulate(one, problem, progress=watch, **{**options, **params}))
    return Results(results)


def _simulate(
    policy: str | PolicySpec,
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
    progress: Callable[[float], None] | None = None,
    **params: Any,
) -> Result:
    spec = find(policy)
    if not isinstance(problem, Problem) and not hasattr(problem, "world"):
        problem = from_matrix(problem)
    n_arms = problem.n_arms
    horizon = whole("horizon", horizon, 1, FOREVER, of="simulate")
    slate_size = 2 if spec.slate == "two" else whole("slate_size", slate_size, 2, of=spec.name)
    inside = resolve(spec, n_arms=n_arms, slate_size=slate_size, horizon=horizon, words=params)
    if until not in (None, "verdict"):
        raise BadInput(f"'until' of 'simulate' must be 'verdict', or not be given. Got {until!r}.")
    if not 0.0 < verdict_error < 1.0:
        raise BadInput(f"'verdict_error' of 'simulate' must lie between 0 and 1. Got {verdict_error}.")
    if until and reset_horizon:
        raise BadInput("'until' and 'reset_horizon' of 'simulate' cannot be had together.")
    marks = _checkpoints(checkpoints, horizon)
    plan = Plan(
        spec=spec,
        params=Watched(inside, verdict_error, spec.blocks) if until else inside,
        features=feature_table(spec, features, n_arms),
        problem=problem,
        gaps=problem.benchmark_gaps(benchmark),
        seats=max(2, min(n_arms, slate_size)),
        horizon=horizon,
        checkpoints=np.union1d(marks, [horizon]) if until else marks,  # regret by the verdict is reckoned from the end
        runs=whole("runs", runs, 1, MOST_RUNS, of="simulate"),
        seed=whole("seed", seed, 0, MOST_SEED, of="simulate"),
        first_run=whole("first_run", first_run, 0, FOREVER, of="simulate"),
        commit=commit,
        reset_horizon=reset_horizon,
    )
    measurement = play_runs(plan, min(plan.runs, cores(threads, of="simulate")), progress)
    words = describe(inside)
    if plan.features is not None:
        words["features"] = plan.features.tolist()
    return Result(
        policy=spec.name,
        params=words,
        problem=problem.to_json(),
        slate_size=slate_size,
        horizon=horizon,
        runs=plan.runs,
        seed=plan.seed,
        benchmark=benchmark,
        checkpoints=marks,
        regrets={kind: np.ascontiguousarray(measurement.regret[:, k, : len(marks)]) for k, kind in enumerate(KINDS)},
        recommended=measurement.recommended,
        events=measurement.events,
        seconds=measurement.seconds,
        compile_seconds=measurement.compile_seconds,
        settlement=_settlement(plan, measurement) if until else None,
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
