"""Play a policy on the suite, cell by cell, into one file; go on where an earlier call stopped.

A cell has a cap on its CPU time. Each instance is played once; then as many further runs as fit under the cap, at most those that
the suite asks for, the same number on every instance. A row with fewer says why, and a later call with a higher cap adds runs:
run r of an instance is the same whenever it is played.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import multiduel
from multiduel.engine.registry.benchmark_results import ENDING, PolicyResults, Row, read, write
from multiduel.engine.simulation.simulate import simulate
from multiduel.inputs import BadInput, shortened
from multiduel.kernels.contract import PolicySpec
from multiduel.lab.bench import suite
from multiduel.lab.bench.instances import INSTANCES
from multiduel.lab.bench.suite import FAMILIES, HORIZONS, RUNS, Cell
from multiduel.lab.provenance import code_digest

SAVE_EVERY = 5.0  # seconds of the clock: what a kill may cost, beside the cell at work
MOST_ARMS = {"cw-rmed": (100, "its linear programme has about K^2 rows and columns")}  # of policies that would fill the memory
LEFT_OUT = "left out: "  # begins the note of a row without runs
SAMPLE = 3  # runs that are compared before results of other code are added to

Progress = Callable[[float, float], None]  # done, in all


class _Slow(Exception):
    """The cap is passed; says how many runs of an instance, in parts of one, were played."""


def why_not(spec: PolicySpec) -> str:
    """Why a policy cannot play the suite; "" if it can."""
    return "it needs features of the arms, which the suite's arms do not have" if spec.features else ""


def cells_of(spec: PolicySpec, cells: Sequence[Cell]) -> list[Cell]:
    """The cells that a policy plays: a two-dueling policy those with slates of two."""
    return [cell for cell in cells if cell.slate_size == 2 or spec.slate == "any"]


def play(
    spec: PolicySpec,
    folder: Path,
    cells: Sequence[Cell],
    *,
    cap: float,
    runs: int = RUNS,
    threads: int | None = None,
    anew: bool = False,
    progress: Progress | None = None,
) -> PolicyResults:
    """Play what is missing of these cells, and return all results of the policy in the folder."""
    if reason := why_not(spec):
        raise BadInput(f"'{spec.name}' cannot play the suite: {reason}.")
    path = folder / f"{spec.name}{ENDING}"
    results = begun(spec, path, threads, anew=anew)
    make_folder(folder)
    todo, saved = cells_of(spec, cells), time.monotonic()
    try:
        for number, cell in enumerate(todo):
            row = results.rows.get((cell.family, cell.slate_size, cell.horizon))
            new = play_cell(spec, cell, row, cap=cap, runs=runs, threads=threads)
            if new is not row:
                results.rows[new.key] = new
                if time.monotonic() - saved > SAVE_EVERY:
                    write(results, path)
                    saved = time.monotonic()
            if progress:
                progress(number + 1, len(todo))
    finally:
        write(results, path)
    return results


def play_all(
    specs: Sequence[PolicySpec],
    folder: Path,
    *,
    cap: float,
    threads: int | None = None,
    anew: bool = False,
    say: Callable[[str], None],
) -> None:
    """Play the whole suite with several policies: the shortest horizon first, and then the cheapest policies first."""
    cost: dict[str, float] = {}
    for turn, horizon in enumerate(HORIZONS):
        for spec in sorted(specs, key=lambda spec: cost.get(spec.name, 0.0)):
            results = play(spec, folder, suite.cells(horizons=(horizon,)), cap=cap, threads=threads, anew=anew and turn == 0)
            rows = [row for row in results.rows.values() if row.horizon == horizon]
            cost[spec.name] = sum(row.seconds for row in rows)
            few = sum(0 < row.runs < RUNS for row in rows), sum(row.runs == 0 for row in rows)
            say(f"T = {horizon:,}: {spec.name}, {len(rows)} cells, {few[0]} with fewer runs, {few[1]} left out")


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"'{folder}' cannot be written: {error.strerror}.") from None


def begun(spec: PolicySpec, path: Path, threads: int | None, *, anew: bool = False) -> PolicyResults:
    """The results in a file, to be added to; new ones if there is none. Of other code they are kept if some runs of them, played
    again, come out the same."""
    fresh = PolicyResults(spec.name, suite.digest(), _facts(spec))
    if anew or not path.exists():
        return fresh
    old = read(path)
    if (old.policy, old.suite) != (fresh.policy, fresh.suite):
        raise BadInput(
            f"'{path}' holds results of '{old.policy}' on another suite. Choose another folder with --out, or play --anew."
        )
    if old.facts.get("code") != fresh.facts["code"]:
        changed = [each for each in check(spec, old, SAMPLE, threads) if not each.same]
        if changed:
            raise BadInput(f"'{path}' is of another version of '{spec.name}': {changed[0]}. Play it --anew, or choose --out.")
    return replace(old, facts=fresh.facts)


def play_cell(spec: PolicySpec, cell: Cell, row: Row | None, *, cap: float, runs: int, threads: int | None) -> Row:
    """The row with as many runs as fit under the cap; the one given if nothing is to be added."""
    if row is not None and (row.runs >= runs or _fitting(cap, row.seconds, runs) <= row.runs):
        return row
    most, reason = MOST_ARMS.get(spec.name, (max(FAMILIES[cell.family].arms), ""))
    if max(FAMILIES[cell.family].arms) > most:
        return replace(_empty(cell), note=f"{LEFT_OUT}more than {most} arms, and {reason}")
    _play(spec, cell, 0, 0, 1, threads, None, horizon=1)  # compile
    start, parts = time.process_time(), []
    if row is None or row.runs == 0:
        row = _empty(cell)
        done = 0

        def watch(share: float) -> None:
            spent = time.process_time() - start
            if spent > cap:
                raise _Slow(spent / max(done + share, 1e-6))

        try:
            for number in range(INSTANCES):
                parts.append(_play(spec, cell, number, 0, 1, threads, watch))
                done = number + 1
                if done < INSTANCES:
                    watch(0.0)
        except _Slow as slow:
            seconds = float(slow.args[0])
            note = f"{LEFT_OUT}at least {seconds:.2g} CPU seconds a run, {cap:.3g} allowed for {INSTANCES} of them"
            return replace(row, seconds=seconds, note=note)
        row = _with_runs(row, parts, time.process_time() - start)
        parts = []
    more = _fitting(cap, row.seconds, runs) - row.runs
    if more > 0:
        start = time.process_time()
        parts = [_play(spec, cell, number, row.runs, more, threads, None) for number in range(INSTANCES)]
        row = _with_runs(row, parts, time.process_time() - start)
    why = f"{cap:.3g} CPU seconds a cell" if row.runs < runs else "a quick pass"
    return replace(row, note=f"{row.runs} of {RUNS} runs an instance: {why}" if row.runs < RUNS else "")


def _empty(cell: Cell) -> Row:
    nothing = np.zeros((INSTANCES, 0))
    return Row(cell.family, cell.slate_size, cell.horizon, nothing.astype(np.float32), nothing.astype(bool), 0.0)


def _fitting(cap: float, seconds: float, runs: int) -> int:
    """How many runs of every instance take no longer than the cap."""
    return min(runs, max(int(cap / (INSTANCES * max(seconds, 1e-9))), 1 if INSTANCES * seconds <= cap else 0))


def _play(
    spec: PolicySpec,
    cell: Cell,
    number: int,
    first_run: int,
    runs: int,
    threads: int | None,
    watch: Callable[[float], None] | None,
    horizon: int | None = None,
) -> tuple[Any, Any]:
    """Regret at the end and whether that was wrong, of some runs of an instance."""
    family, rounds = FAMILIES[cell.family], horizon or cell.horizon
    result = simulate(
        spec,
        family.played(number),
        horizon=rounds,
        slate_size=cell.slate_size,
        runs=runs,
        first_run=first_run,
        seed=family.seed + number,
        checkpoints=[rounds],
        benchmark=family.benchmark,
        threads=threads,
        progress=watch,
        **family.options,
    )
    return result.final.astype(np.float32), ~np.isin(result.recommended, family.best(number))


def _with_runs(row: Row, parts: Sequence[tuple[Any, Any]], seconds: float) -> Row:
    """The row with further runs of every instance."""
    regret, wrong = (
        np.hstack([old, np.stack(new)]) for old, new in zip((row.regret, row.wrong), zip(*parts, strict=True), strict=True)
    )
    return replace(row, regret=regret, wrong=wrong, seconds=(row.seconds * row.regret.size + seconds) / regret.size)


def _facts(spec: PolicySpec) -> dict[str, Any]:
    return {
        **{"version": multiduel.__version__, "code": code_digest(spec.name), "python": platform.python_version()},
        **{"machine": platform.machine(), "title": spec.title, "slate": spec.slate, "anytime": spec.anytime, "cite": spec.cite},
        **{"assumes": spec.assumes},
    }


class Checked:
    """A run that was played again, beside what the results say of it."""

    def __init__(self, row: Row, number: int, run: int, regret: float, wrong: bool) -> None:
        self.row, self.number, self.run, self.regret, self.wrong = row, number, run, regret, wrong

    @property
    def same(self) -> bool:
        """Whether both are identical, to the last bit of 32."""
        place = self.number, self.run
        return bool(self.row.regret[place] == np.float32(self.regret) and self.row.wrong[place] == self.wrong)

    def __str__(self) -> str:
        family, slate_size, horizon = self.row.key
        where = f"{family}, m = {slate_size}, T = {horizon:,}, instance {self.number}, run {self.run}"
        told = self.row.regret[self.number, self.run]
        return f"{where}: {'identical' if self.same else 'another'}, regret {self.regret:.6g}, in the file {told:.6g}"


def check(spec: PolicySpec, results: PolicyResults, sample: int, threads: int | None, seed: int = 0) -> list[Checked]:
    """Play some runs of the results again, from nothing: drawn evenly from its rows, cells of the shortest horizon first."""
    if results.suite != suite.digest():
        raise BadInput(f"The results must be of suite {suite.VERSION}, {suite.digest()}. Got {shortened(results.suite)}.")
    rows = [row for row in results.rows.values() if row.runs and row.key[0] in FAMILIES]
    rng = np.random.default_rng(seed)
    order = sorted(rng.permutation(len(rows)).tolist(), key=lambda place: rows[place].horizon)
    found = []
    for place in order[:sample]:
        row, number = rows[place], int(rng.integers(INSTANCES))
        run = int(rng.integers(row.runs))
        (regret,), (wrong,) = _play(spec, Cell(*row.key), number, run, 1, threads, None)
        found.append(Checked(row, number, run, float(regret), bool(wrong)))
    return found
