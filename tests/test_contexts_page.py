"""docs/contexts.md says what was measured, and so does what suggest reads."""

import json
import math
import sys
from pathlib import Path

import numpy as np

import multiduel as md
from multiduel.engine.registry.suggest import measured_contexts
from multiduel.lab import problem

ROOT = Path(__file__).resolve().parents[1]
STORE = json.loads((ROOT / "benchmarks" / "contexts.json").read_text())


def test_the_page_is_made_from_what_was_measured(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import contexts_page

    contexts_page.write(STORE, (ROOT / "benchmarks" / "contexts.template.md").read_text(encoding="utf-8"), tmp_path / "page.md")
    made = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert made == (ROOT / "docs" / "contexts.md").read_text(encoding="utf-8") and "@@" not in made
    sys.modules.pop("contexts_page")
    sys.modules.pop("rcdp_public", None)


def test_the_public_panels_are_what_this_code_plays(monkeypatch):
    """The first runs of a cheap contender in both panels; runs are the same however many there are."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import rcdp_public

    stored = json.loads(rcdp_public.STORE.read_text())
    for name in rcdp_public.PANELS:
        panel = rcdp_public.panel(name)
        contender = panel.contender("max-pair-ucb-step")
        instance = problem.resolve(panel.problem)
        options = {"horizon": panel.horizon, "benchmark": panel.benchmark, "delay": panel.delay, "seed": panel.seed}
        played = md.simulate(contender.policy, instance, runs=2, checkpoints=[panel.horizon], **options, **contender.params)
        assert np.round(played.final, 2).tolist() == stored["ours"][name][contender.id][:2]
        assert {len(runs) for part in stored.values() for runs in part[name].values()} == {panel.runs}
    sys.modules.pop("rcdp_public")


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
    assert len(STORE["numpy"]["rows"]) == 9 and all(row["ours"]["runs"] >= 100 for row in STORE["numpy"]["rows"])
    best = {(r["dimension"], r["n_arms"]): r["mean"][-1] for r in STORE["grid"]["rows"] if r["policy"] == "max-pair-ucb"}
    for row in STORE["grid"]["rows"]:
        pair, mean = best[row["dimension"], row["n_arms"]], row["mean"][-1]
        if row["slate_size"] == 2:
            assert mean >= pair, row
        elif row["dimension"] >= 10:
            assert mean < 0.9 * pair, row
    lies = {(row["false"], row["policy"], row["prepared"]): row["mean"][-1] for row in STORE["lies"]["rows"]}
    assert lies[0, "rcdb", 100.0] > lies[0, "max-pair-ucb", 0.0] and lies[300, "rcdb", 100.0] < lies[300, "max-pair-ucb", 0.0]
