"""Problems of experiments: from tables, from files, from the folder of data, handed over."""

from __future__ import annotations

import pytest

import multiduel as md
from multiduel.lab import experiment as experiments
from multiduel.lab import problem as problem_tables
from multiduel.lab import results, runner


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ({"kind": "synthetic", "arms": 5, "link": "natural"}, md.synthetic(5, link="natural")),
        ({"kind": "random", "arms": 5, "link": "logit", "seed": 3}, md.random_utilities(5, link="logit", seed=3)),
        ({"kind": "bradley-terry", "arms": 5, "scale": 2}, md.bradley_terry(5, scale=2)),
        ({"kind": "tournament", "arms": 5, "condorcet": False}, md.random_tournament(5, condorcet=False)),
        ({"kind": "cyclic", "arms": 5, "gap": 0.2}, md.cyclic(5, gap=0.2)),
    ],
)
def test_from_tables(table, problem):
    assert (problem_tables.resolve(problem_tables.check(table)).matrix == problem.matrix).all()


SMALL = """
horizon = 50
runs = 2
[problem]
{}
[[contenders]]
policy = "uniform"
"""


def test_a_csv_file_is_looked_for_beside_the_experiment(tmp_path):
    (tmp_path / "duels.csv").write_text("a,b\n0.5,0.8\n0.2,0.5\n")
    (tmp_path / "small.toml").write_text(SMALL.format('kind = "csv"\nfile = "duels.csv"'))
    assert problem_tables.resolve(experiments.load(tmp_path / "small.toml").problem).names == ("a", "b")


def test_data_by_folder_or_environment_and_nowhere_else(monkeypatch, tmp_path):
    table = {"kind": "data", "file": "duels.csv", "arms": 2}
    folder = tmp_path / "shared" / "data"
    folder.mkdir(parents=True)
    (folder / "duels.csv").write_text("a,b\n0.5,0.8\n0.2,0.5\n")
    (tmp_path / "checkout").mkdir()
    monkeypatch.chdir(tmp_path / "checkout")
    monkeypatch.delenv(problem_tables.DATA, raising=False)
    with pytest.raises(md.BadInput, match=r"'duels.csv' must be in a folder of data, named by --data or by MULTIDUEL_DATA"):
        problem_tables.resolve(table)
    assert problem_tables.resolve(table, folder).names == ("a", "b")
    monkeypatch.setenv(problem_tables.DATA, str(folder))
    assert problem_tables.resolve(table).n_arms == 2
    with pytest.raises(md.BadInput, match=r"'arms' of the problem must be 2, as many as 'duels.csv' has. Got 3."):
        problem_tables.resolve({**table, "arms": 3})
    monkeypatch.setenv(problem_tables.DATA, str(tmp_path))
    with pytest.raises(md.BadInput, match=r"must be a file that exists"):  # a folder without it is never made up for
        problem_tables.resolve(table)


def test_a_problem_of_ones_own_is_handed_over_and_kept(tmp_path):
    own = md.from_matrix(
        [[0.5, 0.7, 0.9], [0.3, 0.5, 0.6], [0.1, 0.4, 0.5]], names=["tea", "coffee, black", "milk"], label="mine"
    )
    experiment = experiments.parse(SMALL.format('kind = "given"\nsource = "a survey"'), "own.toml")
    panel = runner.run(experiment, tmp_path, problem=own, threads=1)
    assert panel.problem is own
    kept = results.read(tmp_path / "own").problem
    assert kept.to_json() == own.to_json() and (kept.matrix == own.matrix).all()
    with pytest.raises(md.BadInput, match=r"must be handed over by who runs it. Its source: a survey."):
        runner.run(experiment, tmp_path / "other")
    other = experiments.parse(SMALL.format('kind = "synthetic"'), "own.toml")
    with pytest.raises(md.BadInput, match=r"where the experiment's is of kind 'given'. Got one of 'synthetic'."):
        runner.run(other, tmp_path / "other", problem=own)
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(("kind", "key"), [("csv", "file"), ("data", "file"), ("given", "source")])
def test_what_must_be_told(kind, key):
    with pytest.raises(md.BadInput, match=f"A problem of kind '{kind}' must name its '{key}'"):
        problem_tables.check({"kind": kind})
