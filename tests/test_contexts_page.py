"""docs/contexts.md says what was measured, and so does what suggest reads."""

import json
import math
import sys
from pathlib import Path

from multiduel.engine.registry.suggest import measured_contexts

ROOT = Path(__file__).resolve().parents[1]
STORE = json.loads((ROOT / "benchmarks" / "contexts.json").read_text())


def test_the_page_is_made_from_what_was_measured(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import contexts_page

    contexts_page.write(STORE, (ROOT / "benchmarks" / "contexts.template.md").read_text(encoding="utf-8"), tmp_path / "page.md")
    made = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert made == (ROOT / "docs" / "contexts.md").read_text(encoding="utf-8") and "@@" not in made
    sys.modules.pop("contexts_page")


def test_suggestions_read_the_same_measurements():
    grid = {(row["dimension"], row["n_arms"], row["policy"], row["slate_size"]): row["mean"][-1] for row in STORE["grid"]["rows"]}
    assert grid == {(r["dimension"], r["n_arms"], r["policy"], r["slate_size"]): r["mean"] for r in measured_contexts()}


def test_what_the_page_says_in_words_holds_of_its_numbers():
    """Sentences of the template that would be wrong with other numbers."""
    slates = {(r["world"], r["slate_size"], r["answers"]): r for r in STORE["slates"]["rows"]}
    for m in (4, 8):
        ranked, pairs = slates["rankings", m, "rankings"], slates["rankings", m, "coins"]
        assert pairs["weak"] - ranked["weak"] > 2.5 * (pairs["weak_error"] ** 2 + ranked["weak_error"] ** 2) ** 0.5
        apart = abs(pairs["mean"][-1] - ranked["mean"][-1])
        assert apart < 2.5 * (pairs["error"][-1] ** 2 + ranked["error"][-1] ** 2) ** 0.5
        assert slates["coins", m, "coins"]["mean"] < slates["coins", m, "rankings"]["mean"]
    for row in STORE["numpy"]["rows"]:
        ours, plain = row["ours"], row["numpy"]
        errors = [math.hypot(*pair) for pair in zip(ours["error"], plain["error"], strict=True)]
        assert all(abs(a - b) < 3.0 * e for a, b, e in zip(ours["mean"], plain["mean"], errors, strict=True))
    for part, rule in (("public", "exact estimate"), ("their_code", "exact estimate")):
        rows = {row["label"]: row["mean"][-1] for row in STORE[part]["rows"]}
        for policy in ("their CoLSTIM", "MaxPairUCB"):
            assert rows[f"{policy}, {rule}"] < rows[f"{policy}, their step"]
    lies = {(row["false"], row["policy"], row["prepared"]): row["mean"][-1] for row in STORE["lies"]["rows"]}
    assert lies[0, "rcdb", 100.0] > lies[0, "max-pair-ucb", 0.0] and lies[300, "rcdb", 100.0] < lies[300, "max-pair-ucb", 0.0]
