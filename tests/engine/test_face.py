"""The Python face: tables, several policies at once, results that show, draw and save themselves."""

from __future__ import annotations

import json
import struct
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import multiduel as md
from multiduel.cli import app
from multiduel.engine.registry.registry import POLICIES

PROBLEM = md.synthetic(5)
OPTIONS = {"horizon": 200, "runs": 3, "threads": 1, "seed": 2}


@pytest.fixture(scope="module")
def results():
    return md.simulate(["uniform", ("uniform", {"slate_size": 3})], PROBLEM, checkpoints=6, **OPTIONS)


def test_policies_is_a_table_with_filters():
    everything = md.catalogue()
    assert {spec.name for spec in everything} == set(POLICIES)
    assert all(spec.slate == "any" and not spec.anytime for spec in md.catalogue(slate="any", anytime=False))
    assert md.catalogue("sparring").names == [name for name in everything.names if "sparring" in name]
    assert all("Condorcet" in spec.assumes for spec in md.catalogue(assumes="condorcet")) and md.catalogue(assumes="condorcet")
    assert md.catalogue(features=True).names == [spec.name for spec in everything if spec.features]
    assert {"kernel-self-sparring", "colstim"} <= set(md.catalogue(features=True).names)
    assert "<td>rucb</td>" in md.catalogue("rucb")._repr_html_() and repr(md.catalogue("rucb")).startswith("policy")
    with pytest.raises(md.BadInput, match="'slate' must be one of two, any"):
        md.catalogue(slate="three")
    with pytest.raises(md.BadInput, match="'anytime' of 'catalogue' must be True or False"):
        md.catalogue(anytime="yes")
    from multiduel import policies

    assert md.policies is policies and policies.ALL, "the package is still there"


def test_several_policies_meet_the_same_luck(results):
    alone = md.simulate("uniform", PROBLEM, checkpoints=6, **OPTIONS)
    assert (results[0].regret == alone.regret).all() and len(alone.checkpoints) == 6
    assert results[1].slate_size == 3 and isinstance(results, md.Results)
    assert len(md.simulate("uniform", PROBLEM, checkpoints=1, **OPTIONS).checkpoints) == 1
    for wrong, said in (
        ([], "at least one"),
        ([3], "a name with its parameters"),
        ([("uniform", 3)], "a name with its parameters"),
        ([("uniform", {}, {})], "a name with its parameters"),
        ([["uniform", {}]], "a name with its parameters"),
        (3, "must be a policy"),
        (["nobody"], "no policy"),
    ):
        with pytest.raises(md.BadInput, match=said):
            md.simulate(wrong, PROBLEM, **OPTIONS)
    with pytest.raises(md.BadInput, match="'checkpoints' of 'simulate' must be a whole number of at least 1"):
        md.simulate("uniform", PROBLEM, checkpoints=0, **OPTIONS)


def test_of_a_list_all_is_refused_before_the_first_plays():
    shares = []
    with pytest.raises(md.BadInput, match="no policy 'nobody'"):
        md.simulate(["uniform", "nobody"], PROBLEM, progress=shares.append, **OPTIONS)
    with pytest.raises(md.BadInput, match="'alpha' of 'rucb' must be"):
        md.simulate(["uniform", ("rucb", {"alpha": -1})], PROBLEM, progress=shares.append, **OPTIONS)
    assert shares == []


def test_progress_of_a_list_is_the_share_of_all():
    shares = []
    md.simulate(["uniform", "uniform"], PROBLEM, progress=shares.append, **OPTIONS)
    assert shares == sorted(shares) and 0.5 in shares and shares[-1] == 1.0


def test_they_show_themselves(results):
    assert repr(results[0]).startswith("Result('uniform' on synthetic, K = 5") and "\n" not in repr(results[0])
    lines = repr(results).splitlines()
    assert lines[0].split()[:3] == ["policy", "problem", "m"] and len(lines) == 3
    assert results._repr_html_().count("<tr>") == 3 and results[0]._repr_html_().count("<tr>") == 2
    odd = md.from_matrix(PROBLEM.matrix, label="<b>bold</b>")
    assert "&lt;b&gt;" in md.simulate("uniform", odd, **OPTIONS)._repr_html_()


def test_columns_frames_and_files(results, tmp_path, monkeypatch):
    table = results.columns()
    assert {len(column) for column in table.values()} == {2 * 3 * 6}
    assert np.allclose(table["average"][:6], results[0].regret[0])
    results.save(tmp_path / "r.csv")
    head, first, *rest = (tmp_path / "r.csv").read_text().splitlines()
    assert head == "label,policy,problem,slate_size,run,round,average,strong,weak,slots"
    assert first.startswith('"uniform, m = 2",uniform,') or first.startswith("uniform,uniform,")
    assert len(rest) == 35
    results[0].save(tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["policy"] == "uniform"
    pq = pytest.importorskip("pyarrow.parquet")
    results.save(tmp_path / "r.parquet")
    assert pq.read_table(tmp_path / "r.parquet")["average"].to_numpy().tolist() == table["average"].tolist()
    with pytest.raises(md.BadInput, match=r"must end in .csv, .json, .parquet. Got 'r.txt'"):
        results.save("r.txt")
    for library in ("pandas", "polars"):
        module = pytest.importorskip(library)
        table = results.to_frame(library)
        assert isinstance(table, module.DataFrame) and list(table.columns) == head.split(",") and table.shape == (36, 10)
        assert table["average"].to_numpy().tolist() == results.columns()["average"].tolist()
        assert set(table["policy"]) == {"uniform"} and table["run"].max() == 2
        read = module.read_csv(tmp_path / "r.csv")
        assert (read["weak"].to_numpy() == table["weak"].to_numpy()).all()
        cards = md.catalogue("rucb").to_frame(library)
        assert list(cards["policy"]) == ["multi-rucb", "rucb", "merge-rucb"] and bool(cards["anytime"].all())
        assert md.catalogue("no such policy").to_frame(library).shape == (0, 9)
    with pytest.raises(md.BadInput, match="'library' must be one of pandas, polars"):
        results.to_frame("excel")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(md.BadInput, match="A frame needs pandas or polars, not installed here"):
        results[0].to_frame()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_names_are_kept_from_a_frame(library):
    module = pytest.importorskip(library)
    frame = module.DataFrame({"tea": [0.5, 0.3], "coffee": [0.7, 0.5]})
    problem = md.from_matrix(frame)
    assert problem.names == ("tea", "coffee") and problem.matrix[0, 1] == 0.7 and problem.winner == 0
    assert md.from_matrix(frame, names=["a", "b"]).names == ("a", "b")
    assert md.simulate("uniform", frame, **OPTIONS).problem["names"] == ["tea", "coffee"]
    unnamed = module.DataFrame(np.array(frame))
    assert library == "polars" or md.from_matrix(unnamed).names == ("arm 0", "arm 1")


def test_rows_of_a_frame_in_another_order_are_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[0.5, 0.7], [0.3, 0.5]], columns=["tea", "coffee"], index=["tea", "coffee"])
    assert md.from_matrix(frame).names == ("tea", "coffee")
    with pytest.raises(md.BadInput, match="rows of a DataFrame must be named as its columns, in their order"):
        md.from_matrix(frame.loc[["coffee", "tea"]])


def test_progress_is_a_bar_or_a_function(capsys, monkeypatch):
    shares = []
    md.simulate("uniform", PROBLEM, progress=shares.append, **OPTIONS)
    assert shares and shares[-1] <= 1.0
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    md.simulate([POLICIES["uniform"], "rucb"], PROBLEM, progress=True, **OPTIONS)
    assert "uniform, rucb" in capsys.readouterr().err, "their names"
    with pytest.raises(md.BadInput, match="must be True, False or a function"):
        md.simulate("uniform", PROBLEM, progress="yes", **OPTIONS)


def _curves(axes):
    """The lines that are drawn where their data are: leaders to labels are not."""
    return [line for line in axes.lines if line.get_transform() == axes.transData]


def test_plots_go_into_files_onto_axes_and_into_figures(results, tmp_path):
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    results.plot(tmp_path / "r.pdf", size="double", regret="strong")
    assert (tmp_path / "r.pdf").read_bytes().startswith(b"%PDF")
    before = (tmp_path / "r.pdf").read_bytes()
    results.plot(tmp_path / "r.pdf", size="double", regret="strong")
    assert (tmp_path / "r.pdf").read_bytes() == before, "the same figure is the same file"
    axes = Figure().add_subplot()
    assert results[0].plot(axes) is None and len(_curves(axes)) == 1
    figure = results.plot(size="single")
    picture = figure._repr_png_()
    assert picture.startswith(b"\x89PNG"), "a notebook shows it"
    assert struct.unpack(">II", picture[16:24]) == (408, 300), "3.4 x 2.5 inches of 120 points"
    assert tuple(figure.get_size_inches()) == (3.4, 2.5) and len(_curves(figure.axes[0])) == 2
    assert figure.axes[0].get_ylabel() == "cumulative regret"
    assert results.plot(regret="weak").axes[0].get_ylabel() == "cumulative weak regret"
    with pytest.raises(md.BadInput, match="'size' must be one of single, double"):
        results.plot(size="triple")
    with pytest.raises(md.BadInput, match=r"must end in .png, .svg or .pdf"):
        results.plot("r.gif")


def test_no_interval_of_regret_begins_below_zero():
    result = md.simulate("rucb", md.synthetic(8), horizon=3, runs=2, checkpoints=[1, 2, 3], seed=5)
    mean, spread = result.regret.mean(axis=0), result.regret.std(axis=0, ddof=1)
    low, high = result.interval(0.999)
    assert (mean < 100 * spread).any(), "it would begin below otherwise"
    assert (low >= 0.0).all() and (high >= mean).all() and (low <= mean).all()
    alone = md.simulate("rucb", md.synthetic(8), horizon=3, runs=1)
    assert (alone.interval()[0] == 0.0).all() and np.isinf(alone.interval()[1]).all()


EXPERIMENT = """
title = "50% & more"
horizon = 50
runs = 2
[problem]
kind = "synthetic"
arms = 4
[[contenders]]
policy = "uniform"
label = "a_b"
[[contenders]]
policy = "rucb"
"""


def test_tables_and_citations_for_a_paper(tmp_path):
    from multiduel.lab import experiment, runner

    runner.run(experiment.parse(EXPERIMENT, "some.toml"), tmp_path, threads=1)
    folder = str(tmp_path / "some")
    done = CliRunner().invoke(app, ["report", folder, "--latex"])
    assert done.exit_code == 0
    assert r"50\% \& more" in done.stdout and r"a\_b & 2 & 2 &" in done.stdout
    assert done.stdout.count(r"\textbf") == 1 and done.stdout.count(r"\\") == 3
    done = CliRunner().invoke(app, ["cite", folder, "multi-rucb", "rucb", "ucb"])
    assert done.stdout.count("@inproceedings{") == 2 and "@inproceedings{zoghi2014," in done.stdout
    assert CliRunner().invoke(app, ["cite", "uniform"]).stdout == "% no paper\n"
