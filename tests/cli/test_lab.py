"""``multiduel run`` and ``multiduel report``."""

from __future__ import annotations

import json
import os

import pytest
from typer.testing import CliRunner

import multiduel as md
from multiduel import cli
from multiduel.display import regret_figures
from multiduel.lab.paper import panels, stand_in

SMALL = """
title = "Uniform play"
horizon = 200
runs = 4
[problem]
kind = "synthetic"
arms = 5
[[contenders]]
policy = "uniform"
label = "Any two"
"""
PAGE = ["regret{}.png", "regret{}.svg", "regret{}-narrow.svg", "summary{}.md", "summary{}.html", "summary{}.json"]
FILES = {"experiment.json", "problem.csv", "parts", "results.parquet", *(name.format("") for name in PAGE)}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def no_figures(monkeypatch):
    """Drawing takes its time; two tests look at what is drawn."""
    monkeypatch.setattr(regret_figures, "small_multiples", lambda *args, **options: None)


def call(*args: object):
    return CliRunner().invoke(cli.app, [str(arg) for arg in args])


def good(*args: object) -> str:
    result = call(*args)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""  # quiet when nobody watches
    return result.stdout


def refused(*args: object) -> str:
    result = call(*args)
    assert result.exit_code == 2 and result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    return result.stderr


def test_run_writes_results_figure_and_summary(file, tmp_path):
    shown = good("run", file, "--out", tmp_path / "out", "--threads", "1")
    assert "Any two" in shown and "Wrote regret.png" in shown
    assert shown.startswith("small: 1 contender, 4 parts: all to be played.\nEstimated time: ")
    folder = tmp_path / "out" / "small"
    assert {path.name for path in folder.iterdir()} == FILES
    page = (folder / "summary.md").read_text()
    assert page.startswith("# Uniform play\n") and "| Any two | 2 | 4 |" in page
    line = json.loads((folder / "summary.json").read_text())["contenders"][0]
    low, high = line["interval_95"]
    assert low < line["mean"] < high and line["policy"] == "uniform" and 0 <= line["found_winner"] <= 1
    assert f"{line['mean']:.4g}" in page and f"{line['mean']:.4g}" in shown


def test_report_makes_them_anew_from_the_parts(file, tmp_path):
    good("run", file, "--out", tmp_path / "out")
    folder = tmp_path / "out" / "small"
    before = {name.format(""): (folder / name.format("")).read_bytes() for name in PAGE}
    for name in (*before, "results.parquet"):
        (folder / name).unlink()
    assert "Any two" in good("report", folder)
    assert {name: (folder / name).read_bytes() for name in before} == before
    assert "Any two" in good("report", tmp_path / "out")  # or the folder of all
    assert "must be a folder of results" in refused("report", tmp_path / "none")
    os.remove(next((folder / "parts").iterdir()))
    assert "is not finished: 1 of 4 parts are missing" in refused("report", folder)


def test_quick(file, tmp_path, no_figures):
    file.write_text(SMALL.replace("200", "1e9").replace("runs = 4", "runs = 1000"))
    good("run", file, "--quick", "--out", tmp_path / "out")
    assert json.loads((tmp_path / "out" / "small-quick" / "summary.json").read_text())["experiment"]["horizon"] == 10_000


def test_list_and_names(file, tmp_path, monkeypatch, no_figures):
    monkeypatch.setattr(panels, "FOLDER", tmp_path)
    assert good("run", "--list") == "small  Uniform play\n"
    assert "Did you mean 'small'?" in refused("run", "smal")
    good("run", "small", "--out", tmp_path / "out")


def test_shipped_panels_run_without_data_and_say_so(tmp_path, monkeypatch, no_figures):
    monkeypatch.delenv("MULTIDUEL_DATA", raising=False)
    monkeypatch.setattr(panels, "FOLDER", tmp_path)
    text = SMALL.replace('kind = "synthetic"', 'kind = "data"\nfile = "rankers.csv"')
    (tmp_path / "rankers.toml").write_text(text)
    label = f"{stand_in.LABEL}: 5 of 8"
    monkeypatch.setattr(stand_in, "stand_in", lambda arms: md.from_matrix(md.synthetic(arms).matrix, label=label))
    assert stand_in.LABEL in good("run", "rankers", "--out", tmp_path / "out")
    assert (tmp_path / "out" / "rankers" / "summary.md").read_text().startswith(f"# Uniform play: {label}\n")
    assert "must be in a folder of data, named by --data or by MULTIDUEL_DATA" in refused("run", tmp_path / "rankers.toml")


def test_another_kind_of_regret_from_the_same_folder(file, tmp_path):
    file.write_text(SMALL.replace("runs = 4", 'runs = 4\nregret = "weak"'))
    good("run", file, "--out", tmp_path / "out", "--threads", "1")
    folder = tmp_path / "out" / "small"
    shown = good("report", folder, "--regret", "strong")
    assert shown.lstrip().startswith("Strong regret on") and "regret-strong.png" in shown
    assert {path.name for path in folder.iterdir()} == FILES | {name.format("-strong") for name in PAGE}
    assert "'regret' must be one of" in refused("report", folder, "--regret", "strnog")


def test_refused(file, tmp_path):
    assert "Name an experiment" in refused("run")
    assert "different names. Got 'small' 2 times" in refused("run", file, file)
    assert "must be a file that exists" in refused("run", tmp_path / "none.toml")
    assert "Not a directory" in refused("run", file, "--out", file)
    assert "'threads' of 'run'" in refused("run", file, "--threads", "0", "--out", tmp_path / "out")
    assert "'cluster' must be local" in refused("run", file, "--cluster", "here", "--out", tmp_path / "out")
    file.write_text(SMALL.replace('"uniform"', '"unifrom"'))
    assert "Did you mean 'uniform'?" in refused("run", file)
    file.write_text("horizon = = 3")
    assert "is not TOML" in refused("run", file) and "line 1" in refused("run", file)


def test_labels_and_titles_are_text_and_no_markup_or_formula(file, tmp_path):
    strange = r"MultiRUCB [fast] [/foo] $\frac{ $5 :smile:"
    file.write_text(SMALL.replace('"Any two"', f"'{strange}'").replace('"Uniform play"', "'[/b] costs $x_1$ or $$'"))
    shown = good("run", file, "--out", tmp_path / "out", "--threads", "1")
    assert strange in shown
    drawn = (tmp_path / "out" / "small" / "regret.svg").read_text()
    assert "[/b] costs $x_1$ or $$" in drawn  # Matplotlib puts a text beside its outlines
    assert strange in (tmp_path / "out" / "small" / "summary.md").read_text()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("horizon = 200", f"horizon = {'9' * 5000}", "is not TOML"),
        ("horizon = 200", f"horizon = {'9' * 400}", "must be at most 4,611,686,018,427,387,904"),
        ("horizon = 200", "horizon = 1e400", "'horizon' of 'experiment' must be a whole number"),
        ("runs = 4", f"runs = 4\nseed = {'9' * 60}", "'seed' of 'experiment' must be at most"),
        ("runs = 4", f"x = {'[' * 5000}", "is not TOML"),
        ('policy = "uniform"', 'policy = "rucb"\nparams = { alpha = 1e400 }', "'alpha' of 'rucb' must be"),
        ('policy = "uniform"', 'policy = "rucb"\nparams = { alpha = nan }', "'alpha' of 'rucb' must be"),
        ('kind = "synthetic"', 'kind = "bradley-terry"\nscale = inf', "'scale' of 'problem' must be a finite number"),
        ('kind = "synthetic"', f'kind = "bradley-terry"\nseed = {"9" * 60}', "'seed' of 'problem' must be at most"),
        ("arms = 5", "arms = 100001", "'arms' of 'problem' must be at most 100,000"),
    ],
)
def test_numbers_beyond_all_bounds_in_a_file_are_a_sentence(file, tmp_path, old, new, says):
    file.write_text(SMALL.replace(old, new))
    assert says in refused("run", file, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("out", ["/dev/null", "small.toml"])
def test_results_go_into_folders_only(file, tmp_path, out, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "cannot be written: Not a directory" in refused("run", file, "--out", out)
    assert file.read_text() == SMALL
