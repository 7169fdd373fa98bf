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


@pytest.mark.parametrize("rivals", [False, True])
def test_every_contender_is_drawn_with_a_band_and_in_the_legend(panels, rivals):
    panel = panels["multi-dueling-a"]
    lines = [line for line in panel.lines if rivals or not line.contender.rival]
    assert len(lines) == (6 if rivals else 4)
    figure = paper_figures.regret([panel], columns=2, rivals=rivals)
    (axes,) = figure.axes
    assert len(axes.lines) == len(axes.collections) == len(lines)
    shown = [text.get_text() for text in figure.legends[0].get_texts()]
    by_end = sorted(lines, key=lambda line: -line.final.mean())
    assert [line.label for line in by_end] == [re.sub(r" \(\d+ runs\)", "", text) for text in shown]
    styles = {(line.get_marker(), line.get_color()) for line in axes.lines}
    assert len(styles) == len({marker for marker, _ in styles}) == len(lines)  # told apart by shape alone
    assert [line.get_linestyle() != "-" for line in axes.lines] == [line.contender.rival for line in lines]
    assert axes.get_xscale() == "log"


def test_the_papers_figures_stand_beside_the_joint_interpretation(panels):
    """Linear axes, no rivals; on the right the contenders that the joint interpretation changes, under the same names."""
    names = ("two-dueling-a", "two-dueling-b", "joint-two-dueling-a")
    figure = paper_figures.side_by_side([panels[name] for name in names])
    left, right, alone, empty = figure.axes
    assert left.get_xscale() == left.get_yscale() == "linear" and left.get_ylim() == right.get_ylim()
    assert left.get_title("left").endswith("our defaults") and right.get_title("left").endswith("joint interpretation")
    ends = {}
    for axes in (left, right):
        by_colour = {(line.get_color(), line.get_marker()): line.get_ydata()[-1] for line in axes.lines}
        ends[axes] = by_colour
    changed = [key for key in ends[left] if ends[left][key] != ends[right][key]]
    panel, joint = panels["two-dueling-a"], panels["joint-two-dueling-a"]
    own = [line for line in panel.lines if not line.contender.rival]
    assert len(ends[left]) == len(ends[right]) == len(own) and len(changed) == len(joint.lines) == 2
    assert sorted(ends[right][key] for key in changed) == pytest.approx(sorted(line.final.mean() for line in joint.lines))
    assert sorted(text.get_text() for text in figure.legends[0].get_texts()) == sorted(line.label for line in own)
    assert "two-dueling-b" in panels and not empty.axison and alone.lines
    narrow = paper_figures.side_by_side([panels[name] for name in names], narrow=True)
    assert len(narrow.axes) == 3 and not narrow.legends


def test_who_is_told_the_horizon_is_drawn_as_points(panels):
    panel = panels["two-dueling-a"]
    figure = paper_figures.side_by_side([panel])
    lines = [line for line in panel.lines if not line.contender.rival]
    for line, drawn in zip(lines, figure.axes[0].lines, strict=True):
        told = line.id in ("if1", "if2", "btm", "savage")
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
    both = [panels["slate-sizes"], panels["slate-sizes-rankers"]]
    for shown in (both, both[:1]):  # no legend is cut
        one = paper_figures.slate_sizes(shown)
        one.draw_without_rendering()
        box = one.legends[0].get_window_extent()
        assert box.x0 >= 0 and box.x1 <= one.bbox.width
    figure = paper_figures.slate_sizes(both)
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
    axes = paper_figures.side_by_side([panel]).axes[0]
    assert any("MultiSparring goes on to" in text.get_text() for text in axes.texts)
    panel.lines[3].regret[:] /= 1000
