"""Figures: both formats, the same each time, nothing missing, one colour per algorithm."""

from __future__ import annotations

import dataclasses
import re

import pytest

from multiduel.lab.paper import figures as paper_figures
from multiduel.lab.paper.panels import STAND_IN, title
from tests.lab.made_up import all_panels


@pytest.fixture(scope="module")
def panels():
    return all_panels(lambda contender: 50.0 + 10 * len(contender.label))


def test_both_formats_and_the_same_file_each_time(panels, tmp_path):
    two = [panels["two-dueling-a"]]
    png, svg = paper_figures.save(lambda: paper_figures.regret(two), tmp_path, "a")
    again = paper_figures.save(lambda: paper_figures.regret(two), tmp_path, "b")
    assert png.read_bytes().startswith(b"\x89PNG") and png.read_bytes() == again[0].read_bytes()
    assert svg.read_bytes() == again[1].read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "a.svg", "b.png", "b.svg"]


@pytest.mark.parametrize("scale", ["log", "linear"])
def test_every_contender_is_drawn_with_a_band_and_in_the_legend(panels, scale):
    panel = panels["multi-dueling-a"]
    figure = paper_figures.regret([panel], scale, columns=2)
    (axes,) = figure.axes
    assert len(axes.lines) == len(axes.collections) == len(panel.lines)
    shown = [text.get_text() for text in figure.legends[0].get_texts()]
    by_end = sorted(panel.lines, key=lambda line: -line.final.mean())
    assert [line.label for line in by_end] == [re.sub(r" \(\d+ runs\)", "", text) for text in shown]
    styles = {(line.get_marker(), line.get_color()) for line in axes.lines}
    assert len(styles) == len({marker for marker, _ in styles}) == len(panel.lines)  # told apart by shape alone
    dashed = [line.get_linestyle() != "-" for line in axes.lines]
    assert dashed == [line.contender.rival for line in panel.lines]
    assert axes.get_xscale() == scale


def test_who_is_told_the_horizon_is_drawn_as_points(panels):
    panel = panels["two-dueling-a"]
    figure = paper_figures.regret([panel], "linear")
    for line, drawn in zip(panel.lines, figure.axes[0].lines, strict=True):
        told = line.id in ("if2", "btm", "savage")
        assert (drawn.get_markevery() is None) == told and len(drawn.get_xdata()) >= (20 if told else 200)


def test_bounds_are_drawn_beside_what_is_measured(panels):
    from multiduel.lab.paper import claims

    figure = paper_figures.bounds(claims.bound_curves(panels))
    assert len(figure.axes) == 4 and all(len(axes.lines) >= 2 for axes in figure.axes)


def test_two_peaks_show_as_two_clusters_of_dots(panels):
    panel = panels["multi-dueling-a"]
    line = panel.lines[0]
    line.regret[::2] *= 50
    figure = paper_figures.distribution([panel])
    dots = [collection.get_offsets()[:, 0] for collection in figure.axes[0].collections]
    assert any(max(x) / min(x) > 25 for x in dots)
    assert sorted(len(x) for x in dots) == sorted(line.result.runs for line in panel.lines)
    line.regret[::2] /= 50


def test_slate_sizes_and_cost(panels):
    figure = paper_figures.slate_sizes([panels["reading-slate-sizes"], panels["reading-slate-sizes-rankers"]])
    assert [text.get_text() for text in figure.legends[0].get_texts()][:2] == ["MultiRUCB", "MultiRUCB, alpha = 1.01"]
    names = [text.get_text() for text in paper_figures.cost([panels["two-dueling-a"]]).axes[0].get_yticklabels()]
    assert sorted(names) == sorted(line.label for line in panels["two-dueling-a"].lines)


def test_rankers_say_whose_they_are(panels):
    panel = panels["two-dueling-f"]
    assert title(panel) == "(f) MSLR rankers, K = 24"
    generated = dataclasses.replace(panel.experiment, problem=STAND_IN)
    for text in ("(f) rankers, K = 24", "(f)", ""):  # whatever the title is
        assert "not MSLR" in title(dataclasses.replace(panel, experiment=dataclasses.replace(generated, title=text)))


def test_a_curve_far_above_the_others_is_cropped_and_said_to_be(panels):
    panel = panels["multi-dueling-a"]
    panel.lines[3].regret[:] *= 1000
    axes = paper_figures.regret([panel], "linear").axes[0]
    assert any("MultiSparring goes on to" in text.get_text() for text in axes.texts)
    panel.lines[3].regret[:] /= 1000
