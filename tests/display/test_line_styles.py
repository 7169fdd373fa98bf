"""Lines of figures: a policy has the same style in all of them, and no two have the same."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

import multiduel as md
from multiduel.display import regret_figures
from multiduel.display.line_styles import COLOURS, LINE_STYLES, line_style, line_styles, marker_positions
from multiduel.lab import experiment
from tests.lab import made_up

SWEPT = """
horizon = 1e5
[problem]
kind = "synthetic"
arms = 5
[[contenders]]
policy = "multi-rucb"
params = { alpha = [0.6, 1.0, 2.0] }
[[contenders]]
policy = "due-duel"
[[contenders]]
policy = "btm"
rival = true
"""


@pytest.fixture(scope="module")
def panel():
    return made_up.panel(experiment.parse(SWEPT, "swept.toml"), lambda contender: 100.0 + 40.0 * len(contender.id))


def test_no_two_policies_have_the_same_style():
    assert len(set(LINE_STYLES.values())) == len(LINE_STYLES) > 30
    assert line_style("somebody-elses").colour in COLOURS
    twins = line_styles(["rucb", "btm", *["rucb"] * 4])
    assert twins[0] == line_style("rucb") and twins[1] == line_style("btm")
    assert len({each.colour for each in twins}) == len({each.marker for each in twins}) == 6


def test_a_plugin_policy_has_the_same_style_for_ever():
    assert [line_style(name) for name in ("somebody-elses", "mine", "thine")] == [
        ("#E69F00", "P"),
        ("#CC79A7", "p"),
        ("#B8A800", "d"),
    ]


def test_lines_of_one_policy_are_lighter_and_lighter():
    shades = [sum(int(each.colour[k : k + 2], 16) for k in (1, 3, 5)) for each in line_styles(["rucb"] * 5)]
    assert shades == sorted(set(shades)) and shades[-1] < 0.9 * 3 * 255, "none so light that it is not seen"


def regret_plot(results, file=None, **options):
    return md.Results(results).plot(file, **options)


def drawn(panel, **options):
    figure = regret_plot(panel.results, labels=[line.label for line in panel.lines], **options)
    figure.draw_without_rendering()
    return figure.axes[0]


@pytest.mark.parametrize("scale", ["log", "linear"])
def test_labels_stand_at_the_ends_in_their_order_with_leaders_to_them(panel, scale):
    axes = drawn(panel, scale=scale)
    heights = {text.get_text(): text.get_position()[1] for text in axes.texts}
    by_end = sorted(panel.lines, key=lambda line: line.final.mean())
    assert sorted(heights, key=heights.get) == [line.label for line in by_end]
    boxes = sorted((text.get_window_extent() for text in axes.texts), key=lambda box: box.y0)
    assert all(low.y1 <= high.y0 + 1.0 for low, high in itertools.pairwise(boxes)), "labels do not overlap"
    curves, leaders = axes.lines[: len(panel.lines)], axes.lines[len(panel.lines) :]
    to_share = axes.transData + axes.transAxes.inverted()
    for curve, leader, text in zip(curves, leaders, axes.texts, strict=True):
        assert curve.get_color() == leader.get_color() == text.get_color()
        end = to_share.transform(curve.get_xydata()[-1])
        assert np.allclose(leader.get_xydata()[0], end, atol=0.01), "from the end of its line"
        assert leader.get_ydata()[-1] == pytest.approx(text.get_position()[1]), "to its label"
    assert [curve.get_marker() for curve in curves] == [each.marker for each in line_styles([r.policy for r in panel.results])]


def test_a_logarithmic_axis_shows_four_decades_and_a_linear_one_all_rounds(panel):
    one = panel.results[3]
    rounds = one.checkpoints
    log, linear = (regret_plot([one], scale=scale).axes[0].lines[0].get_xdata() for scale in ("log", "linear"))
    assert rounds[0] == 1 and rounds[-1] == 10**5
    assert log.tolist() == rounds[rounds >= 10].tolist() and linear.tolist() == rounds.tolist()


def test_markers_stand_evenly_along_the_axis():
    assert marker_positions(np.arange(101), 0, "linear", 0.0) == [0, 20, 40, 60, 80]
    assert marker_positions(np.arange(101), 50, "linear", 0.5) == [55, 65, 75, 85, 95]
    assert marker_positions(2 ** np.arange(11), 1, "log", 0.25) == [1, 3, 5, 7, 9]
    assert marker_positions(np.arange(3), 9, "linear", 0.5) == []
    assert marker_positions(np.arange(3), 0, "linear", 0.5) == [1, 2], "on a short line fewer, to its end"
    assert marker_positions(np.arange(1, 2), 1, "log", 0.999999) == [0]


def test_a_policy_keeps_its_style_whoever_else_is_in_the_figure(panel):
    alone = dataclasses.replace(panel, results=panel.results[3:], experiment=dataclasses.replace(
        panel.experiment, contenders=panel.experiment.contenders[3:]))  # fmt: skip
    ours = [(line.get_color(), line.get_marker()) for line in drawn(panel).lines[3:5]]
    assert [(line.get_color(), line.get_marker()) for line in drawn(alone).lines[:2]] == ours


def test_a_label_says_that_two_are_equal_bit_by_bit(panel):
    twin = dataclasses.replace(panel.results[3], policy="rucb")
    axes = regret_plot([panel.results[3], twin, panel.results[4]], labels=["one", "other", "third"]).axes[0]
    assert [text.get_text() for text in axes.texts] == ["one", "other (equal)", "third"]


def test_axes_sizes_and_every_kind_of_regret(panel):
    from matplotlib.figure import Figure

    results = panel.results[3:]
    drawn = [regret_plot(results, size=size) for size in ("single", "double", None)]
    assert [tuple(figure.get_size_inches()) for figure in drawn] == [(3.4, 2.5), (7.0, 3.4), (6.4, 3.6)]
    small, large, usual = (figure.axes[0].xaxis.label.get_fontsize() for figure in drawn)
    assert small < large == usual, "less room, smaller words"
    axes = Figure().add_subplot()
    assert regret_plot(results, axes, regret="strong") is None
    assert axes.get_ylabel() == "cumulative strong regret" and len(axes.texts) == 2
    with pytest.raises(md.BadInput, match="'regret' must be one of"):
        regret_plot(results, axes, regret="strnog")
    title = (
        regret_plot(results, title="A title that is much too long for a single column of a paper", size="single").axes[0].title
    )
    title.figure.draw_without_rendering()
    assert title.get_window_extent().x1 <= title.figure.bbox.x1
    with pytest.raises(md.BadInput, match="'size' must be one of single, double"):
        regret_plot(results, size="triple")


def test_bands_and_intervals_stay_in_their_range(panel):
    values = np.array([[0.0, 0.0, 900.0], [0.0, 10.0, 0.0], [0.0, 0.0, 1.0]])
    first = panel.results[3]
    wild = dataclasses.replace(first, regrets=dict.fromkeys(first.regrets, values), runs=3, checkpoints=np.array([10, 100, 1000]))
    assert all((wild.interval(kind=kind)[0] >= 0.0).all() for kind in wild.regrets)
    for scale in ("log", "linear"):
        axes = regret_plot([wild], scale=scale).axes[0]
        assert axes.get_ylim()[0] >= 0.0
        assert all(path.vertices[:, 1].min() >= 0.0 for band in axes.collections for path in band.get_paths())


def test_small_multiples_in_one_column_or_two(panel):
    subplots = [regret_figures.Subplot(panel.curves(), f"K = {k}") for k in (8, 16, 32)]
    for columns, size in ((1, (4.4, 9.0)), (2, (8.8, 6.0))):
        figure = regret_figures.small_multiples(subplots, columns=columns)
        assert tuple(figure.get_size_inches()) == size
        assert [axes.get_title(loc="left") for axes in figure.axes] == ["K = 8", "K = 16", "K = 32"]
    with pytest.raises(md.BadInput, match="at least 1 result"):
        regret_figures.small_multiples([])
