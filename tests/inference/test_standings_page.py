"""docs/standings-numbers.md is made from what was measured, and what was measured keeps the promise."""

import json
import math
from pathlib import Path

import standings_coverage
import standings_page  # of benchmarks/

STORE = json.loads(standings_page.STORE.read_text())


def test_the_page_is_made_from_its_measurements(tmp_path):
    standings_page.write(STORE, standings_page.TEMPLATE.read_text(), tmp_path / "page.md")
    made = (tmp_path / "page.md").read_text()
    assert made == (Path(__file__).parents[2] / "docs" / "standings-numbers.md").read_text() and "@@" not in made


def test_every_setting_was_measured_and_keeps_the_promise():
    measured = {(row["part"], *(row[name] for name in standings_coverage.Setting._fields)) for row in STORE["settings"]}
    assert measured == {(part, *setting) for part, setting in standings_coverage.settings()}
    for row in STORE["settings"]:
        noise = 3.0 * math.sqrt(STORE["alpha"] * (1.0 - STORE["alpha"]) / row["experiments"])
        if "contrast" in row["part"]:
            assert row["missed"] > STORE["alpha"], "a contrast that shows nothing"
        else:
            assert row["missed"] <= STORE["alpha"] + noise and row["experiments"] >= 500
