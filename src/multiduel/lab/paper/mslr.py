"""The MSLR panels from the public learning-to-rank files themselves.

Each feature is a ranker. Simulated informational users click on probabilistic interleavings of two rankers' lists; of all pairs
comes the matrix of all rankers, ties left out, as in the published ones. Of it the 24 in a total order are kept that
``rankers.total_order`` picks: by Copeland score, then Borda, kept if all kept before beat it by the largest margin that leaves
enough. All is stored beside the results, with standard errors; a run that was stopped goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from multiduel.inputs import BadInput
from multiduel.problems import read_csv, write_csv

ARMS = 24
COMPARISONS = 4000  # users per pair: with a tenth, too few rankers of a small file stand in an order
SEED = 24
FOLDER, WHOLE, KEPT = "mslr", "rankers.csv", "rankers_24.csv"


def make(
    files: Sequence[Path],
    out: Path,
    *,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Path:
    """The folder with the matrices made of these files: a folder of data for the paper's panels."""
    from multiduel import rankers
    from multiduel.rankers.matrix import remove_parts

    folder = out / FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"'{folder}' cannot be written: {error.strerror}.") from None
    lineup = rankers.line_up(rankers.read_letor(*files))
    if lineup.n_arms < ARMS:
        raise BadInput(f"The files of '--mslr' must have at least {ARMS} features, a ranker each. Got {lineup.n_arms}.")
    clicks = rankers.click_problem(lineup, clicks="informational", method="probabilistic-drawn", ties="drop")
    whole = folder / WHOLE
    if not _is_there(whole, lineup.digest):
        parts = whole.with_suffix(".parts")
        estimate = rankers.estimate_matrix(
            clicks, comparisons=COMPARISONS, seed=SEED, threads=threads, parts=parts, progress=progress
        )
        estimate.write(whole)
        remove_parts(parts)
    problem = read_csv(whole)
    write_csv(rankers.take(problem, rankers.total_order(problem, ARMS, margin=None)), folder / KEPT)
    return folder


def _is_there(whole: Path, digest: str) -> bool:
    """Does the matrix lie there, of these very files?"""
    try:
        about = json.loads(whole.with_suffix(".json").read_text(encoding="utf-8"))
        return whole.exists() and (about["lineup_sha256"], about["comparisons"]) == (digest, COMPARISONS)
    except (OSError, ValueError, KeyError):
        return False
