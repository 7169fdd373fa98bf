"""Figures, tables and bibliographies that go into a paper as they are."""

from __future__ import annotations

import importlib.util
import re
import zlib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import multiduel as md
from multiduel import cli
from multiduel.inputs import BadInput
from multiduel.lab import report, sweeps
from multiduel.lab.experiment import parse_all
from multiduel.policies.citations import CITATIONS, PAPERS, bibtex

ROOT = Path(__file__).parents[2]
SWEEP = """
title = "Sizes"
horizon = 60
runs = 3
slate_size = [2, 3]
checkpoints = 6
[problem]
kind = "synthetic"
arms = 4
link = ["linear", "logit"]
[[contenders]]
policy = "uniform"
label = "By chance"
[[contenders]]
policy = "ind-self-sparring"
label = "IndSelf & co"
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    sweep = parse_all(SWEEP, folder / "sizes.toml")
    sweeps.run(sweep, folder, threads=1)
    return folder / "sizes"


def call(*words):
    done = CliRunner().invoke(cli.app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_sweeps_folder_is_read_by_experiment_and_label(study):
    found = md.read_results(study)
    assert list(found) == ["linear-link-m-2", "linear-link-m-3", "logit-link-m-2", "logit-link-m-3"]
    assert found["logit-link-m-3"].labels == ["By chance", "IndSelf & co"]
    assert found["logit-link-m-3"]["By chance"].policy == "uniform"
    assert set(found["linear-link-m-2"].columns()["label"]) == {"By chance", "IndSelf & co"}
    assert list(md.read_results(study / "linear-link-m-2")) == ["linear-link-m-2"]


def test_one_table_in_latex_for_a_sweep_with_the_best_in_bold(study):
    text = call("report", study, "--latex")
    assert text.count(r"\begin{tabular}") == 1 and r"IndSelf \& co" in text and "Student's t over runs" in text
    rows = [line for line in text.splitlines() if " link, m = " in line]
    found = md.read_results(study)
    assert len(rows) == len(found) and all(row.count(r"\textbf{") == 1 for row in rows)
    for row, results in zip(rows, found.values(), strict=True):
        best = min(range(2), key=lambda k: results[k].final.mean())
        assert r"\textbf{" in row.split("&")[1 + best]


def test_the_figure_is_a_grid_with_shared_axes_as_pdf_without_type_3_fonts(study):
    said = call("report", study, "--pdf", "--size", "double", "--legend", "outside")
    assert "regret.pdf" in said
    pdf = (study / "regret.pdf").read_bytes()
    streams = [zlib.decompress(part) for part in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.S) if part[:1] == b"x"]
    fonts = b"".join([pdf, *streams])
    assert b"/Type3" not in fonts and b"/FontFile2" in fonts
    box = [float(x) for x in re.search(rb"/MediaBox \[([\d. ]+)\]", fonts)[1].split()]
    assert box[2] == pytest.approx(7.0 * 72, abs=1.0), "as wide as both columns"


def test_a_sweep_of_problems_and_sizes_is_a_grid(study):
    _, panels = sweeps.read(study)
    options = sweeps.grid(panels, report.FigureOptions())
    assert options.columns == 2 and sweeps.grid(panels, report.FigureOptions(columns=3)).columns == 3
    assert sweeps.grid(panels[:1], report.FigureOptions()).columns is None
    shape = report.layout([report.subplot(panel, "t") for panel in panels], options)
    assert shape["share"] == "all" and shape["columns"] == 2


@pytest.mark.parametrize(("show", "stem"), [("per-log", "regret-per-log"), ("runs", "runs")])
def test_other_kinds_of_plot_have_files_of_their_own(study, show, stem):
    folder = study / "linear-link-m-2"
    call("report", folder, "--show", show, "--pdf")
    assert {f"{stem}.png", f"{stem}.svg", f"{stem}.pdf", "regret.png"} <= {path.name for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"size": "triple"}, "'size' must be one of single, double"),
        ({"legend": "left"}, "'legend' must be one of labels, inside, outside"),
        ({"columns": 0}, "'columns' of 'report' must be a whole number of at least 1"),
        ({"show": "all"}, "'show' must be one of regret, per-log, runs"),
    ],
)
def test_what_cannot_be_drawn_is_refused_before_anything_is_read(options, words):
    with pytest.raises(BadInput, match=words):
        report.FigureOptions(**options).check()
    flags = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    done = CliRunner().invoke(cli.app, ["report", "no-such-folder", *flags])
    assert done.exit_code == 2 and words in done.stderr


def test_every_paper_has_full_names_a_venue_and_a_year():
    assert set(CITATIONS) == {"none", *PAPERS}
    for key, paper in PAPERS.items():
        entry = bibtex(key)
        assert all(len(name.split()) >= 2 for name in paper.authors.split(" and ")), key
        assert entry.count("{") == entry.count("}") and f"year = {{{paper.year}}}" in entry
        assert ("journal = {" in entry) is paper.journal and ("booktitle = {" in entry) is not paper.journal
        assert CITATIONS[key].endswith(f" {paper.year}.") and "{" not in CITATIONS[key]
        assert "--" in paper.pages or not paper.pages
        assert paper.doi.startswith("10.") or not paper.doi


def test_a_paper_page_compiles(tmp_path):
    spec = importlib.util.spec_from_file_location("paper_page", ROOT / "tools" / "paper_page.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    if tool.missing():
        pytest.skip(f"needs {', '.join(tool.missing())}: apt-get install texlive-latex-recommended")
    page = tool.make(tmp_path / "page")
    log = (tmp_path / "page" / "page.log").read_text(errors="replace")
    assert page.read_bytes().startswith(b"%PDF") and "undefined" not in log
    assert "(1 page," in log
    cited = (tmp_path / "page" / "page.bbl").read_text()
    assert "Yihan Du" in cited and "Yanan Sui" in cited
