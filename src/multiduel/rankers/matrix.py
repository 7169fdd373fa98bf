"""Preference matrices from clicks: every pair of rankers meets a number of users, on as many cores as there are.

A pair's users depend on the seed and the pair alone, so the matrix is the same for any number of threads, and a
stopped run goes on where it was: finished batches of pairs lie in a folder beside the result until that is written.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.files import is_draft, read_text, write_whole
from multiduel.inference import Tally, Verdict, verdict
from multiduel.inputs import MOST_SEED, BadInput, cores, did_you_mean, whole
from multiduel.kernels.compiler.dispatch import entry
from multiduel.kernels.contract import compare
from multiduel.problems import Problem, write_csv
from multiduel.problems.files import write_table
from multiduel.rankers.clicks import ClickModel
from multiduel.rankers.lineup import Lineup
from multiduel.rankers.world import ClickProblem, click_problem

BATCH = 32  # pairs whose result is stored together
STRIDE = 20_000  # comparisons between two looks at Ctrl-C
FORMAT = "multiduel-preference-matrix-2"
SUMS = 4  # per pair: wins of the first, their squares, comparisons that count, and how far the first was above 1/2, doubled


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """A preference matrix with the standard error of every entry.

    >>> from multiduel import rankers
    >>> lineup = rankers.line_up(rankers.generate(queries=20, documents=10, features=3))
    >>> estimate = rankers.estimate_matrix(rankers.click_problem(lineup, method="team-draft"), comparisons=100)
    >>> estimate.comparisons, estimate.errors.shape
    (100, (3, 3))
    """

    problem: Problem
    errors: Floats  # f8[K, K], 0 on the diagonal
    comparisons: int  # per pair
    tally: Tally  # the users as answers, for a verdict
    about: dict[str, Any]  # how it was made

    def __repr__(self) -> str:
        return f"Estimate({self.problem.label!r}, {self.comparisons} comparisons a pair)"

    def verdict(self, *, alpha: float = 0.05, margin: float = 0.0) -> Verdict:
        """Judge whether it is certain, after these simulated users, which ranker is best.

        Parameters
        ----------
        alpha, margin
            As for ``verdict``.
        """
        return verdict(self.tally, alpha=alpha, margin=margin, names=self.problem.names)

    def write(self, path: str | os.PathLike[str]) -> tuple[Path, Path, Path]:
        """Write P.csv, and beside it P.errors.csv (standard errors, same layout) and P.json (how it was made).

        Parameters
        ----------
        path
            P.csv.

        Returns
        -------
        tuple of Path
            The three files.
        """
        target, errors, about = written_beside(path)
        write_table(self.problem.names, self.errors, errors)
        write_whole(about, json.dumps(self.about, indent=1) + "\n")
        write_csv(self.problem, target)
        return target, errors, about


def written_beside(path: str | os.PathLike[str]) -> tuple[Path, Path, Path]:
    """The files that an estimate is written to."""
    target = Path(path)
    if not target.name:
        raise BadInput(f"A matrix must be written to a file. Got '{path}'.")
    return target, target.with_suffix(".errors.csv"), target.with_suffix(".json")


def estimate_matrix(
    clicks: ClickProblem,
    *,
    comparisons: int = 10_000,
    seed: int = 0,
    threads: int | None = None,
    parts: str | os.PathLike[str] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Estimate:
    """Estimate P[i, j], the chance that ranker i beats ranker j, from so many simulated users per pair.

    Ties count half, as in a duel that must be decided; where the problem drops them, as the published matrices do, it is the
    share of wins among decided comparisons.

    Parameters
    ----------
    clicks
        The click world.
    comparisons
        How many users per pair.
    seed
        Of the users.
    threads
        All cores by default. Numbers do not depend on it.
    parts
        A folder in which finished batches are kept: a run that was stopped goes on from them. It is removed by whoever has stored
        the result.
    progress
        Called with the share of pairs done.

    Returns
    -------
    Estimate
        The matrix, with a standard error of every entry.

    Examples
    --------
    >>> from multiduel import rankers
    >>> lineup = rankers.line_up(rankers.generate(queries=20, documents=10, features=3))
    >>> rankers.estimate_matrix(rankers.click_problem(lineup, method="team-draft"), comparisons=2000).problem.winner
    0
    """
    of = "estimate_matrix"
    comparisons, seed = whole("comparisons", comparisons, 2, 1 << 62, of=of), whole("seed", seed, 0, MOST_SEED, of=of)
    workers = cores(threads, of=of)
    K = clicks.n_arms
    if K < 2:
        raise BadInput(f"A preference matrix needs at least 2 rankers. Got {K}.")
    pairs = np.stack(np.triu_indices(K, 1), 1).astype(np.int64)
    batches = [pairs[at : at + BATCH] for at in range(0, len(pairs), BATCH)]
    about = _about(clicks, comparisons, seed)
    store = _Parts(Path(parts), about) if parts is not None else None
    batch_sums = [store.load(b, len(batch)) if store else None for b, batch in enumerate(batches)]
    missing = [b for b, sums in enumerate(batch_sums) if sums is None]

    everyone = np.arange(K)
    example = clicks.world(everyone, 2)
    run = entry(count_wins, example, f"{clicks.method} comparisons", type(example.method))
    run.prepare(example, np.uint64(0), 1, 0, pairs[0], np.zeros((2, 2)), np.zeros((SUMS, 2, 2)))
    cancelled = threading.Event()
    done = np.zeros(len(batches))
    done[[b for b in range(len(batches)) if batch_sums[b] is not None]] = 1.0

    def one(b: int) -> None:
        world = clicks.world(everyone, 2)
        sums = np.zeros((len(batches[b]), SUMS))
        for k, pair in enumerate(batches[b]):
            key = np.random.SeedSequence(seed, spawn_key=(int(pair[0]), int(pair[1]))).generate_state(1, np.uint64)[0]
            wins, total = np.zeros((2, 2)), np.zeros((SUMS, 2, 2))
            for at in range(0, comparisons, STRIDE):
                if cancelled.is_set():
                    return
                run.call(world, key, at + 1, min(STRIDE, comparisons - at), pair, wins, total)
            sums[k] = total[:, 0, 1]
            done[b] = (k + 1) / len(batches[b])
        if store:
            store.save(b, sums)
        batch_sums[b] = sums

    with ThreadPoolExecutor(max(1, min(workers, len(missing))), thread_name_prefix="multiduel") as pool:
        waiting = {pool.submit(one, b) for b in missing}
        try:
            while waiting:
                finished, waiting = wait(waiting, timeout=0.2)
                for future in finished:
                    future.result()
                if progress:
                    progress(float(done.mean()))
        except BaseException:
            cancelled.set()
            for future in waiting:
                future.cancel()
            raise
    sums = np.concatenate([part for part in batch_sums if part is not None])
    return _estimate(clicks, pairs, sums, comparisons, about)


def count_wins(world: Any, key: np.uint64, start: int, count: int, slate: Ints, wins: Floats, sums: Floats) -> None:
    """Add up, over ``count`` users from ``start``, what SUMS names, for every pair of the slate."""
    n = slate.shape[0]
    for t in range(start, start + count):
        compare(world, key, t, 1, slate, wins)
        for a in range(n):
            for b in range(n):
                sums[0, a, b] += wins[a, b]
                sums[1, a, b] += wins[a, b] * wins[a, b]
                sums[2, a, b] += wins[a, b] + wins[b, a]
                sums[3, a, b] += max(0.0, wins[a, b] - wins[b, a])


def _estimate(clicks: ClickProblem, pairs: Ints, sums: Floats, N: int, about: dict[str, Any]) -> Estimate:
    K = clicks.n_arms
    P, errors, above = np.full((K, K), 0.5), np.zeros((K, K)), np.zeros((K, K))
    won, squares, counted, ahead = sums.T
    n = np.maximum(counted, 1.0)
    mean = np.where(counted > 0.0, won / n, 0.5)
    spread = np.where(counted > 1.0, np.maximum(0.0, squares / n - mean**2), 0.25)
    i, j = pairs.T
    P[i, j], P[j, i] = mean, 1.0 - mean
    errors[i, j] = errors[j, i] = np.sqrt(spread / np.maximum(counted - 1.0, 1.0))
    above[i, j], above[j, i] = ahead, np.maximum(0.0, ahead - (2.0 * won - counted))
    level = np.zeros((K, K))
    level[i, j] = level[j, i] = np.maximum(0.0, counted - above[i, j] - above[j, i])
    convention = ", wins among decided comparisons" if clicks.ties == "drop" else ""
    label = f"{K} rankers, {clicks.clicks.name} clicks, {clicks.method}{convention}"
    problem = Problem(P, clicks.lineup.names, label)
    return Estimate(problem, errors, N, in_parts(above, level), {**about, "result": problem.to_json()})


def in_parts(above: Floats, level: Floats) -> Tally:
    """A tally of outcomes that are fractions X of a win: 2X - 1 answers above and 2 - 2X level where X > 1/2, and so below.

    It is sound. What the verdict bets grows by ln(1 + b (X - q) / q) an answer, which is concave in X; counting parts takes the
    chord between 1/2 and 1 (or 0 and 1/2) instead, which is less. Counting who is ahead would not be: of a fair outcome the
    sign need not be fair.
    """
    return Tally.of(np.round(above, 9), np.round(level, 9))


def _about(clicks: ClickProblem, comparisons: int, seed: int) -> dict[str, Any]:
    tables = {"click": clicks.clicks.click.tolist(), "stop": clicks.clicks.stop.tolist()}
    description = {key: value for key, value in clicks.to_json().items() if key != "reference"}
    return {"format": FORMAT, **description, "tables": tables, "comparisons": comparisons, "seed": seed}


class _Parts:
    """Finished batches in a folder, each file whole or absent, under a note of what they belong to."""

    def __init__(self, folder: Path, about: dict[str, Any]) -> None:
        self.folder = folder
        note = folder / "about.json"
        text = json.dumps({"digest": hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()})
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not note.exists() and any(not _own(path) for path in folder.iterdir()):
                raise BadInput(f"'{folder}' must be free for unfinished parts. It holds something else: choose another output.")
            if note.exists() and note.read_text("utf-8") != text:
                raise BadInput(
                    f"'{folder}' must hold parts of this very matrix. It holds those of another: other files, clicks, "
                    f"method, comparisons or seed. Remove it, or choose another output."
                )
        except OSError as error:
            raise BadInput(f"'{folder}' cannot be used for unfinished parts: {error.strerror}.") from None
        write_whole(note, text)

    def save(self, batch: int, sums: Floats) -> None:
        data = sums.astype("<f8").tobytes()
        write_whole(self.folder / f"{batch}.part", hashlib.sha256(data).digest() + data)

    def load(self, batch: int, pairs: int) -> Floats | None:
        try:
            raw = (self.folder / f"{batch}.part").read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadInput(f"'{self.folder}' cannot be read: {error.strerror}.") from None
        if hashlib.sha256(raw[32:]).digest() != raw[:32]:
            return None  # damaged: counted again
        return np.frombuffer(raw[32:], "<f8").astype(np.float64).reshape(pairs, SUMS)


def read_about(path: str | os.PathLike[str]) -> dict[str, Any]:
    """How the matrix in this file was made, by the note beside it; empty without one."""
    note = Path(path).with_suffix(".json")
    if not note.exists():
        return {}
    try:
        about = json.loads(read_text(note))
        if about["format"] != FORMAT:
            raise ValueError
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"'{note}' must be what 'rankers matrix' wrote beside '{path}' ({FORMAT}). Got something else.") from None
    return dict(about)


def click_problem_of(path: str | os.PathLike[str], lineup: Lineup, reference: Problem, **options: Any) -> ClickProblem:
    """The click world that the matrix in this file was made of, with it to count regret by: ``lineup`` as it was then.

    ``options`` are those of ``click_problem``; users, method and depth must be those of the matrix, where the note beside it
    tells them. Without a note nobody knows, and the options or their defaults are taken.
    """
    about = read_about(path)
    for name in reference.names:
        if name not in lineup.names:
            raise BadInput(f"'{path}' must name rankers of these files. Got '{name}'.{did_you_mean(name, lineup.names)}")
    if about and about["lineup_sha256"] != lineup.digest:
        raise BadInput(f"'{path}' was made of other files, features or runs. Give those that it was made of.")
    if about:
        tables = about["tables"]
        model = ClickModel(about["clicks"], np.array(tables["click"]), np.array(tables["stop"]))
        if "clicks" in options or "depth" in options:
            asked: dict[str, Any] = {"clicks": model.name, "depth": model.depth} | options
            wanted = click_problem(lineup, **asked).clicks
            same = [np.array_equal(a, b) for a, b in ((wanted.click, model.click), (wanted.stop, model.stop))]
            if not all(same):
                raise BadInput(
                    f"'{path}' was made with {model.name} clicks on {model.depth} slots. Got {wanted.name} on {wanted.depth}: "
                    f"leave the options out, or make another matrix."
                )
        if options.get("method", about["method"]) != about["method"]:
            raise BadInput(
                f"'{path}' was made with the method {about['method']}. Got '{options['method']}': leave the option out, or make "
                f"another matrix."
            )
        options = {"ties": about["ties"]} | options | {"clicks": model, "method": about["method"]}
    chosen = lineup.take([lineup.names.index(name) for name in reference.names])
    return click_problem(chosen, reference=reference, **options)


def remove_parts(folder: str | os.PathLike[str]) -> None:
    """Remove the folder, if nothing but parts is in it."""
    with suppress(OSError):
        for path in Path(folder).iterdir():
            if _own(path):
                path.unlink()
        Path(folder).rmdir()


def _own(path: Path) -> bool:
    return path.name == "about.json" or path.suffix == ".part" or is_draft(path)
