"""The shipped results: of the frozen suite, of every policy that can play it, and a sample of them played again."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import multiduel as md
from multiduel.engine.registry import benchmark_results as files
from multiduel.engine.registry import suggest
from multiduel.engine.registry.registry import find
from multiduel.lab.bench import leaderboard, play, suite
from multiduel.policies import ALL

ROOT = Path(__file__).parents[3]
CAN_PLAY = [spec.name for spec in ALL if not play.why_not(spec)]
PLAYED = sorted(files.shipped())  # a new policy is none of them until somebody has played it
SUBMITTED = sorted({*PLAYED} - {spec.name for spec in ALL})
PACKAGES = [line for line in (ROOT / "benchmarks" / "submissions.txt").read_text().splitlines() if line[:1] not in ("", "#")]
OURS = [name for name in PLAYED if name not in SUBMITTED]
DRAWN = [OURS[place] for place in np.random.default_rng(31).permutation(len(OURS))[:10].tolist()]
SAMPLED = list(dict.fromkeys(["due-duel", *DRAWN, *SUBMITTED]))  # due-duel, whose rule is the likeliest to change, and others


def test_the_suite_beside_the_results_is_the_frozen_one():
    assert (files.shipped_folder() / files.SUITE).read_text() == suite.as_text()
    assert all(results.suite == suite.digest() for results in files.shipped().values())


def test_every_policy_has_all_its_short_cells_or_says_why_not():
    assert set(OURS) <= set(CAN_PLAY) and len(SUBMITTED) == len(PACKAGES)
    short = suite.cells(horizons=suite.HORIZONS[:1])
    for name, results in files.shipped().items():
        sizes = suite.SLATE_SIZES if results.facts["slate"] == "any" else (2,)
        for cell in [cell for cell in short if cell.slate_size in sizes]:
            row = results.rows[cell.family, cell.slate_size, cell.horizon]
            assert row.regret.shape[0] == 20 and (row.runs == suite.RUNS or row.note), (name, cell)


def test_results_are_a_few_megabytes():
    assert sum(file.stat().st_size for file in files.shipped_folder().iterdir()) < 4_000_000


@pytest.mark.parametrize("name", SAMPLED)
def test_a_sample_played_again_from_nothing_is_identical(name):
    try:
        spec = find(name, "typed" if name in SUBMITTED else "data")
    except md.BadInput:
        pytest.skip(f"The package of '{name}' is not installed: pip install -r benchmarks/submissions.txt")
    checked = play.check(spec, files.shipped()[name], 10 if name in SUBMITTED else 1, threads=1, seed=31)
    assert checked and all(each.same for each in checked), "; ".join(map(str, checked))


def test_a_submitted_policy_is_ranked_and_not_suggested_where_it_is_not_installed(monkeypatch):
    theirs = dataclasses.replace(files.shipped()["due-duel"], policy="theirs")
    everyone = {**files.shipped(), "theirs": theirs}
    caches = (leaderboard.pool, leaderboard.overall_of, leaderboard.standings_of, suggest.measured)
    try:
        for module in (leaderboard, suggest):
            monkeypatch.setattr(module, "shipped", lambda: everyone)
        for cached in caches:
            cached.cache_clear()
        assert f"{len(everyone)} policies played" in " ".join(leaderboard.summary())
        for table in leaderboard.overall_tables():
            ranks = {row[0]: row[3] for row in table.rows}
            assert ranks["theirs"] == ranks["due-duel"], table.title
        rows = [row for row in theirs.rows.values() if row.key[1:] == (2, 10_000)]
        wrong = {row[0]: row[5] for row in next(leaderboard.overall_tables()).rows}
        assert wrong["theirs"] == f"{100 * np.mean([row.wrong.mean() for row in rows]):.1f} %", (
            "families with more runs count no more"
        )
        suggested = md.suggest(n_arms=20, slate_size=4)
        assert suggested.policy == "due-duel" and "theirs" not in dict(suggested.others)
    finally:
        for cached in caches:
            cached.cache_clear()


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
