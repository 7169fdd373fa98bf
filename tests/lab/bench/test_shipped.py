"""The shipped results: of the frozen suite, of every policy that can play it, and a sample of them played again."""

import re
from pathlib import Path

import numpy as np
import pytest

from multiduel.engine.registry import benchmark_results as files
from multiduel.engine.registry.registry import find
from multiduel.lab.bench import play, suite
from multiduel.policies import ALL

ROOT = Path(__file__).parents[3]
CAN_PLAY = [spec.name for spec in ALL if not play.why_not(spec)]
PLAYED = sorted(files.shipped())  # a new policy is none of them until somebody has played it
DRAWN = [PLAYED[place] for place in np.random.default_rng(31).permutation(len(PLAYED))[:10].tolist()]
SAMPLED = list(dict.fromkeys(["due-duel", *DRAWN]))  # ours, whose rule is the likeliest to change, and ten others


def test_the_suite_beside_the_results_is_the_frozen_one():
    assert (files.shipped_folder() / files.SUITE).read_text() == suite.as_text()
    assert all(results.suite == suite.digest() for results in files.shipped().values())


def test_every_policy_has_all_its_short_cells_or_says_why_not():
    assert set(PLAYED) <= set(CAN_PLAY)
    short = suite.cells(horizons=suite.HORIZONS[:1])
    for name, results in files.shipped().items():
        for cell in play.cells_of(find(name), short):
            row = results.rows[cell.family, cell.slate_size, cell.horizon]
            assert row.regret.shape[0] == 20 and (row.runs == suite.RUNS or row.note), (name, cell)


def test_results_are_a_few_megabytes():
    assert sum(file.stat().st_size for file in files.shipped_folder().iterdir()) < 4_000_000


@pytest.mark.parametrize("name", SAMPLED)
def test_a_sample_played_again_from_nothing_is_identical(name):
    (checked,) = play.check(find(name), files.shipped()[name], 1, threads=1, seed=31)
    assert checked.same, str(checked)


def test_uniform_loses_what_random_slates_lose():
    """The scale of all scores: 100, but for chance."""
    rows = [row for row in files.shipped()["uniform"].rows.values() if row.runs]
    for row in rows:
        values = 100 * row.regret.mean(axis=1) / (row.horizon * np.array(_losses(row.family)))
        assert abs(values.mean() - 100.0) < 3.0, row.key


def _losses(family):
    return files.shipped_suite()["families"][family]["random_loss"]


def test_the_page_says_what_the_suite_is():
    page = (ROOT / "docs" / "benchmark.md").read_text()
    assert f"`{suite.digest()}`" in page
    assert f"{len(suite.FAMILIES)} families of 20 instances, in {len(suite.cells())} cells" in re.sub(r"\s+", " ", page)
    anyone, two = (len([cell for cell in suite.cells() if cell.slate_size == 2 or everyone]) for everyone in (True, False))
    assert f"| {anyone} | {two} |" in page and f"| {anyone // 2} | {two // 2} | 2 minutes |" in page
    assert f"{len(PLAYED)} policies" in page
