"""Experiments on problems whose rounds differ: from a file, stored, read back, refused where they cannot be."""

import json

import pytest
from typer.testing import CliRunner

from multiduel import BadInput
from multiduel.cli import app
from multiduel.engine.simulation.contexts import random_contexts
from multiduel.lab import problem as tables
from multiduel.lab import results, runner
from multiduel.lab.experiment import from_json

EXPERIMENT = """
name = "features"
horizon = 200
runs = 4
benchmark = "utility"
checkpoints = [100, 200]
problem = { kind = "contexts", arms = 5, dimension = 3, items = 50, answers = "rankings" }

[[contenders]]
policy = "colstim"

[[contenders]]
policy = "linear-self-sparring"
slate_size = 3
"""


def test_an_experiment_is_played_stored_and_read_back(tmp_path):
    (tmp_path / "features.toml").write_text(EXPERIMENT)
    done = CliRunner().invoke(app, ["run", str(tmp_path / "features.toml"), "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "random contexts, K = 5, d = 3, rankings" in done.output
    folder = tmp_path / "out" / "features"
    assert not (folder / "problem.csv").exists()
    before = (folder / "summary.json").read_text()
    again = CliRunner().invoke(app, ["report", str(folder)])
    assert again.exit_code == 0 and json.loads((folder / "summary.json").read_text()) == json.loads(before)
    panel = results.find_folder(folder).finish()
    assert panel.problem.dimension == 3 and len(panel.lines) == 2


def test_results_with_other_features_than_the_seed_gives_are_refused(tmp_path):
    (tmp_path / "features.toml").write_text(EXPERIMENT)
    assert CliRunner().invoke(app, ["run", str(tmp_path / "features.toml"), "--out", str(tmp_path / "out")]).exit_code == 0
    manifest = tmp_path / "out" / "features" / "experiment.json"
    changed = json.loads(manifest.read_text())
    changed["problem"]["problem_sha256"] = "0" * 64
    manifest.write_text(json.dumps(changed))
    with pytest.raises(BadInput, match="other features than its seed gives"):
        results.find_folder(manifest.parent)


def test_runs_with_other_answers_on_the_same_table_are_not_taken_for_the_same(tmp_path):
    table = {"kind": "contexts", "arms": 4, "dimension": 2, "items": 30}
    entries = {"horizon": 50, "runs": 2, "checkpoints": [50], "contenders": [{"policy": "colstim"}]}
    coins = from_json({"name": "coins", "problem": table, **entries}, tmp_path)
    ranked = from_json({"name": "ranked", "problem": {**table, "answers": "rankings"}, **entries}, tmp_path)
    panel = runner.run(coins, tmp_path / "out")
    block = results.plan_folder(tmp_path / "x" / "ranked", ranked, runner.problem_of(ranked)).blocks()[0]
    assert runner.known_runs(coins, runner.problem_of(coins), block, [panel]) is not None
    assert runner.known_runs(ranked, runner.problem_of(ranked), block, [panel]) is None


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ({"dimension": 0}, "dimension"),
        ({"items": 0}, "items"),
        ({"law": "cauchy"}, "law"),
        ({"answers": "shouts"}, "answers"),
        ({"link": "natural"}, "link"),
        ({"gap": 0.1}, "gap"),
    ],
)
def test_wrong_entries_are_refused(entries, words):
    with pytest.raises(BadInput, match=words):
        tables.check({"kind": "contexts", **entries})


def test_a_table_that_would_not_fit_is_refused_before_it_is_made():
    with pytest.raises(BadInput, match="items"):
        tables.resolve(tables.check({"kind": "contexts", "dimension": 1000, "items": 10**8}))


def test_the_command_takes_contexts_and_says_where_dimension_belongs():
    options = ["--problem", "contexts", "--dimension", "3", "--arms", "4", "--horizon", "50", "--runs", "2"]
    done = CliRunner().invoke(app, ["simulate", "colstim", "rucb", *options])
    assert done.exit_code == 0 and "random contexts, K = 4, d = 3" in done.output
    for wrong, words in (
        (["--problem", "cyclic", "--dimension", "3"], "it is for 'contexts'"),
        (["--problem", "contexts", "--until", "verdict"], "another option in every round"),
        (["--problem", "contexts", "--benchmark", "borda"], "condorcet or utility"),
    ):
        refused = CliRunner().invoke(app, ["simulate", "colstim", "--horizon", "50", *wrong])
        assert refused.exit_code == 2 and words in refused.output


def test_false_answers_of_a_file_are_those_of_python():
    table = {"kind": "contexts", "arms": 4, "dimension": 2, "items": 30, "false_answers": 7}
    made = tables.resolve(tables.check(table))
    assert made.to_json() == random_contexts(4, dimension=2, items=30).corrupted(7).to_json()
    with pytest.raises(BadInput, match=r"'false_answers' of 'problem' must be a whole number of at least 0. Got -1."):
        tables.check(table | {"false_answers": -1})
