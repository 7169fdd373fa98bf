"""Figures of regret over rounds: what is in them and what they say, of results made by hand.

A few are stored in words (tests/figure_words.py says how to write them anew); the other tests are of what figures promise.
"""

from __future__ import annotations

import io
import itertools
import re

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

import multiduel as md
from multiduel.display import regret_figures
from multiduel.display.regret_figures import Curve, Subplot, small_multiples
from multiduel.engine.simulation.result import Result, Results
from tests.figure_words import expect

ROUNDS = (1, 10, 100, 1000, 10_000, 100_000)
LONG = "Twelve options that raters know well, some of them old, and three that nobody has seen before"


def by_hand(policy, means, spread=(0.0,), rounds=ROUNDS, label="a problem", **params):
    """Runs that lie around these means at these rounds, each further away by its share in ``spread``."""
    regret = np.array(means, float) * (1.0 + np.array(spread)[:, None])
    runs = len(spread)
    return Result(
        policy=policy, params=params, problem={"label": label, "n_arms": 5}, slate_size=2, horizon=rounds[len(means) - 1],
        runs=runs, seed=0, benchmark="condorcet", checkpoints=np.array(rounds[: len(means)]),
        regrets={"average": regret, "strong": 2.0 * regret, "weak": 0.0 * regret, "slots": regret},
        recommended=np.zeros(runs, np.int64), events=np.ones(runs, np.int64), seconds=1.0, compile_seconds=0.0,
    )  # fmt: skip


def regret_plot(results, file=None, **options):
    return Results(results).plot(file, **options)


def subplot(results, title="a problem, one run"):
    return Subplot([result.curve() for result in results], title)


def axes_of(results, **options):
    """Drawn without a layout, which takes longest."""
    axes = Figure().add_subplot()
    regret_plot(results, axes, **options)
    return axes


# The first is not seen to begin with, nor is the second; the third is shorter, and a single run.
LATE = by_hand("rucb", [0, 0.4, 6, 30, 55, 70], [-0.5, 0.0, 0.5])
LATER = by_hand("btm", [0, 0, 3, 40, 300, 2000], [-0.1, 0.1])
SHORT = by_hand("multi-rucb", [0.2, 0.5, 4, 20, 52], slate_size=4)
STEADY = by_hand("mdb", np.linspace(0, 8000, 6), [-0.9, 0.9], (1, 8000, 16_000, 24_000, 32_000, 40_000))


def test_regret_on_logarithmic_axes_whatever_the_machine_prefers():
    own = {
        "axes.facecolor": "#112233",
        "font.size": 20,
        "axes.grid.axis": "x",
        "axes.labelsize": 30,
        "lines.solid_capstyle": "butt",
    }
    with mpl.rc_context(own):
        expect("log", regret_plot([LATE, LATER, SHORT], dashed=(False, True, False), lower_bound=5.0))
        assert mpl.rcParams["font.size"] == 20, "that is as it was"


def test_regret_on_linear_axes():
    expect("linear", regret_plot([STEADY], scale="linear", title="It costs $5 or $6", lower_bound=5.0))


def test_regret_in_a_column_of_a_paper():
    expect("single", regret_plot([LATE, SHORT], size="single", title=LONG, regret="strong"))


def test_regret_after_one_round_with_nothing_lost():
    nothing = by_hand("uniform", [0.0], [0.0, 0.0])
    expect("one-round", regret_plot([nothing], lower_bound=5.0))
    axes = axes_of([nothing], scale="linear")
    assert axes.get_xlim() == (0, 1) and axes.get_ylim() == (0, 1)


def test_several_subplots():
    subplots = [subplot([LATE, SHORT], LONG), subplot([LATER], LONG), subplot([SHORT])]
    expect("several", small_multiples(subplots))
    figure = small_multiples(subplots[1:], columns=9, style={"font.size": 7})
    assert tuple(figure.get_size_inches()) == (8.8, 3.0) and figure.axes[0].xaxis.label.get_fontsize() == 7


@pytest.mark.parametrize("layout", ["constrained", None])
def test_regret_on_axes_of_somebody_elses(layout):
    figure = Figure(figsize=(4.0, 2.2), layout=layout)
    axes = figure.add_subplot() if layout else figure.add_axes((0.2, 0.3, 0.5, 0.4))
    assert regret_plot([LATE, SHORT], axes, title=LONG) is None
    expect(f"own-axes-{layout or 'placed'}", figure)


def test_shapes_stand_at_other_places_on_each_line():
    rounds = tuple(range(1, 102))
    steady = [by_hand(policy, np.arange(101), rounds=rounds) for policy in ("rucb", "btm", "mdb", "scb")]
    axes = axes_of(steady, scale="linear")
    assert [line.get_markevery() for line in axes.lines[:4]] == [
        [10, 30, 50, 70, 90], [18, 38, 58, 78, 98], [6, 26, 46, 66, 86], [13, 33, 53, 73, 93],
    ]  # fmt: skip
    log = axes_of([by_hand("rucb", np.arange(101), rounds=rounds)]).lines[0]
    at = np.log(log.get_xdata()[log.get_markevery()])
    assert np.diff(at) == pytest.approx([np.log(101 / 2) / 5] * 4, abs=0.1), "evenly along the axis, which is logarithmic"


def test_a_band_is_the_interval_of_the_mean_and_begins_at_the_floor():
    low, high = LATE.interval()
    assert low[2] < 0.4 < high[2], "the band would begin below the axis"
    for scale, floor, seen in (("log", 0.4, range(1, 6)), ("linear", 0.0, range(6))):
        axes = axes_of([LATE, SHORT], scale=scale)
        (band,) = axes.collections  # one run has none
        corners = np.concatenate([path.vertices for path in band.get_paths()])
        for k in seen:
            edges = corners[corners[:, 0] == ROUNDS[k], 1]
            assert (edges.min(), edges.max()) == pytest.approx((max(low[k], floor), high[k]))


@pytest.mark.parametrize(("runs", "words"), [(1, "one run"), (2, "mean of 2 runs, 95 % band"), (3, "mean of 3 runs, 95 % band")])
def test_the_title_says_how_many_runs(runs, words):
    axes = axes_of([by_hand("rucb", [1, 2, 3], [0.0] * runs)])
    assert axes.get_title() == f"a problem, {words}" and len(axes.collections) == (runs > 1)


def test_a_title_is_broken_where_the_figure_ends_but_not_into_single_words():
    tiny = Figure(figsize=(1.5, 1.5)).add_subplot()
    regret_plot([SHORT], tiny, title="five words of 17 letters and so on")
    assert tiny.get_title() == "five words of 17\nletters and so\non"


def test_a_linear_axis_has_room_above_the_highest_mean():
    for top in (0.5, 1.0, 900.0):
        axes = axes_of([by_hand("rucb", [0, top / 2, top])], scale="linear")
        assert axes.get_xlim() == (0, 100) and axes.get_ylim() == pytest.approx((0, 1.08 * top))


@pytest.mark.parametrize(
    ("horizon", "begin"), [(1, 1), (10_000, 1), (20_000, 2), (10**9, 10**5)]
)  # fmt: skip
def test_a_logarithmic_axis_begins_four_decades_before_its_end(horizon, begin):
    axes = axes_of([by_hand("rucb", [1.0], rounds=(horizon,)), by_hand("btm", [1.0])])
    assert axes.get_xlim() == (begin, max(2, horizon))
    assert axes.get_ylim()[0] == 1.0, "at the least regret that is seen"


def test_the_lower_bound_is_drawn_dotted_over_all_rounds_that_are_seen():
    for scale, rounds, begin in (("log", 1000, 2), ("log", 30_000, 3), ("linear", 1000, 2), ("linear", 100_000, 2)):
        short = by_hand("btm", [1.0], rounds=(3,))
        lines = axes_of([by_hand("rucb", [1.0], rounds=(rounds,)), short], scale=scale, lower_bound=7.0).lines
        (bound,) = (line for line in lines if line.get_linestyle() == ":")
        x, y = bound.get_xdata(), bound.get_ydata()
        assert (x[0], x[-1]) == pytest.approx((begin, rounds)) and y == pytest.approx(7.0 * np.log(x))


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.05, 3e6, "0.1 1 10 100 1,000 10,000 100,000 1,000,000"),
        (50, 20_000, "100 1,000 10,000"),
        (0.02, 3, "0.03 0.1 0.3 1 3"),
        (2, 20, "3 10"),
        (0.05, 0.25, "0.07 0.1 0.2"),
        (900, 4500, "1,000 2,000 4,000"),
    ],
)
def test_ticks_are_plain_numbers_and_neither_few_nor_many(low, high, labels):
    axes = Figure().add_subplot()
    axes.set(yscale="log", ylim=(low, high))
    regret_figures.plain_ticks(axes.yaxis, axes.get_ylim())
    axes.figure.draw_without_rendering()
    ticks = [tick for tick in axes.yaxis.get_major_ticks() if low <= tick.get_loc() <= high]
    assert " ".join(tick.label1.get_text() for tick in ticks) == labels
    assert not axes.yaxis.get_minorticklocs().size


def test_lines_are_named_by_what_tells_them_apart():
    def names(*results):
        return [text.get_text() for text in axes_of(results).texts]

    one, two, other = ([1, 2, k] for k in (3, 4, 5))
    assert names(by_hand("rucb", one, alpha=0.6)) == ["rucb"]
    pair = by_hand("mdb", one, slate_size=2), by_hand("mdb", two, slate_size=3), by_hand("scb", other, alpha=3.0)
    assert names(*pair) == ["mdb", "mdb, m = 3", "scb"]
    assert names(by_hand("rucb", one, alpha=0.6, a=1), by_hand("rucb", two, alpha=2.0, a=1), by_hand("scb", other, a=3)) == [
        "rucb, alpha = 0.6", "rucb, alpha = 2.0", "scb",
    ]  # fmt: skip
    twins = [by_hand("mdb", means, slate_size=m, a=a) for means, m, a in ((one, 4, 1), (two, 4, 2), (other, 3, 2))]
    assert names(*twins) == ["mdb, m = 4, a = 1", "mdb, m = 4, a = 2", "mdb, m = 3, a = 2"]
    assert names(by_hand("a$b$c", one)) == [r"a\$b\$c"], "no formula"


@pytest.mark.parametrize(("lines", "least", "most"), [(2, 8.5, 8.5), (22, 6.6, 8.4), (45, 6.5, 6.5)])
def test_labels_are_smaller_where_there_are_many(lines, least, most):
    results = [by_hand("rucb", [1.0, 50.0, 100.0 + number], rounds=(1, 10, 100)) for number in range(lines)]
    axes = regret_plot(results, labels=[f"line {number}" for number in range(lines)]).axes[0]
    axes.figure.draw_without_rendering()
    (points,) = {text.get_fontsize() for text in axes.texts}
    assert least <= points <= most
    places = [text.get_position()[1] for text in axes.texts]
    boxes = [text.get_window_extent() for text in axes.texts]
    assert places == sorted(places) and all(low.y1 <= high.y0 + 1.0 for low, high in itertools.pairwise(boxes)), "none overlap"
    assert all(axes.bbox.x1 < box.x0 and box.x1 <= axes.figure.bbox.x1 for box in boxes)
    assert all(leader.get_xdata()[1:] == pytest.approx((1.009, 1.03), abs=1e-6) for leader in axes.lines[lines:])
    if lines == 45:  # more than there is room for
        assert places[0] + places[-1] == pytest.approx(1.0)
    else:
        height = axes.get_window_extent().height / axes.figure.dpi * 72
        assert places[0] >= 0.0 and places[-1] <= 1.0, "beside the axes"
        assert points == pytest.approx(min(8.5, height / (1.3 * lines)), rel=0.01)
        assert np.diff(places) * height == pytest.approx([1.25 * points] * (lines - 1), rel=0.01)


@pytest.mark.parametrize(
    ("places", "apart"),
    [
        ([], []),
        ([0.3], [0.3]),
        ([0.9, 0.2, 0.5], [0.9, 0.2, 0.5]),  # far enough
        ([0.5, 0.5], [0.45, 0.55]),
        ([0.52, 0.48, 0.9], [0.55, 0.45, 0.9]),
        ([0.5, 0.5, 0.7], [0.45, 0.55, 0.7]),  # the third is still far enough
        ([0.2, 0.2, 0.31], [0.13667, 0.23667, 0.33667]),  # moved apart, the two would touch the third
        ([0.31, 0.2, 0.2, 0.8, 0.8], [0.33667, 0.13667, 0.23667, 0.75, 0.85]),
        ([1.0, 1.0, 0.95], [0.9, 1.0, 0.8]),  # not beyond the end
        ([0.0, 0.02, 0.01], [0.0, 0.2, 0.1]),
        ([0.5] * 21, np.linspace(-0.5, 1.5, 21)),  # no room: as much above as below
        ([0.0] * 16, np.linspace(-0.25, 1.25, 16)),
        ([1.0] * 16, np.linspace(-0.25, 1.25, 16)),
    ],
)
def test_labels_are_moved_as_little_as_needed(places, apart):
    assert regret_figures._apart(places, 0.1) == pytest.approx(list(apart), abs=1e-4)


@given(st.lists(st.floats(0.0, 1.0), max_size=9))
def test_labels_keep_their_order_are_apart_and_stay_on_the_axes(places):
    moved = regret_figures._apart(places, 0.1)
    ranked = [moved[k] for k in sorted(range(len(places)), key=lambda k: places[k])]
    assert all(high - low >= 0.1 - 1e-9 for low, high in itertools.pairwise(ranked))
    assert all(-1e-9 <= place <= 1.0 + 1e-9 for place in moved)


def png_size(data):
    return int.from_bytes(data[16:20]), int.from_bytes(data[20:24])


def test_files_have_the_format_asked_for_in_a_printers_resolution(tmp_path):
    regret_plot([SHORT], str(tmp_path / "a.png"))
    regret_plot([SHORT], tmp_path / "a.pdf")
    regret_plot([SHORT], tmp_path / "draft", kind="svg")
    for name, start in (("a.png", b"\x89PNG"), ("a.pdf", b"%PDF"), ("draft", b"<?xml")):
        data = (tmp_path / name).read_bytes()
        assert data.startswith(start) and not re.search(rb"Software|CreationDate|<dc:date>", data), "the same file on any day"
    assert png_size((tmp_path / "a.png").read_bytes()) == (6.4 * 300, 3.6 * 300)
    file = io.BytesIO()
    small_multiples([subplot([SHORT]), subplot([SHORT])], file)
    assert png_size(file.getvalue()) == (2 * 4.4 * 160, 3.0 * 160), "a stream is a PNG if nothing is said"


def test_what_cannot_be_drawn_is_refused(tmp_path):
    own = Figure().add_subplot()
    nothing = "A plot must show at least 1 result. Got none."
    for refused, sentence in (
        (lambda: regret_plot([]), nothing),
        (lambda: regret_plot([], own), nothing),
        (lambda: small_multiples([]), nothing),
        (lambda: small_multiples([subplot([LATE]), subplot([])]), nothing),
        (lambda: regret_plot([LATE], tmp_path / "a.gif"), "must end in .png, .svg or .pdf. Got 'plot.gif'."),
        (lambda: regret_plot([LATE], scale="cubic"), "'scale' of a plot must be log or linear. Got 'cubic'."),
        (lambda: regret_plot([LATE], own, scale="cubic"), "'scale' of a plot must be log or linear. Got 'cubic'."),
        (lambda: regret_plot([LATE], regret="own"), "'regret' must be one of average, strong, weak, slots"),
        (lambda: regret_plot([LATE, LATER], labels=["a"]), "'labels' of a plot must be 2, one for each result. Got 1."),
        (lambda: regret_plot([LATE], own, labels=["a", "b"]), "'labels' of a plot must be 1, one for each result. Got 2."),
        (lambda: regret_plot([LATE], size="triple"), "'size' must be one of single, double"),
    ):
        with pytest.raises(md.BadInput, match=re.escape(sentence)):
            refused()
    assert not own.lines and not list(tmp_path.iterdir())


def curve(name, means, policy="rucb", runs=3, **line):
    regret = np.array([means] * runs, float)
    return Curve(name, policy, np.array(ROUNDS[: len(means)]), regret, 0.9 * regret[0], 1.1 * regret[0], **line)


def test_a_figure_needs_nothing_but_arrays():
    axes = small_multiples([Subplot([curve("mine", [1, 5, 20])], "tea", "weak")]).axes[0]
    assert axes.get_title(loc="left") == "tea" and axes.get_ylabel() == "cumulative weak regret"
    assert axes.lines[0].get_ydata().tolist() == [1, 5, 20] and [text.get_text() for text in axes.texts] == ["mine"]


def test_lines_are_thick_dashed_or_have_a_marker_at_each_point():
    lines = [curve("a", [1, 5, 20]), curve("b", [1, 6, 30], thick=True), curve("c", [1, 7, 40], points=True, dashed=True)]
    plain, thick, points = small_multiples([Subplot(lines, "")]).axes[0].lines[:3]
    assert plain.get_linewidth() == points.get_linewidth() < thick.get_linewidth() and thick.get_zorder() > plain.get_zorder()
    assert points.get_markevery() is None and points.get_markerfacecolor() == points.get_color()
    assert plain.get_markevery() is not None and plain.get_markerfacecolor() == "white"
    assert [line.get_linestyle() for line in (plain, thick, points)] == ["-", "-", "--"]
    for count, everywhere in ((24, True), (25, False)):
        many = Curve("a", "rucb", np.arange(1, count + 1), np.ones((1, count)), np.ones(count), np.ones(count), points=True)
        line = small_multiples([Subplot([many], "")], scale="linear").axes[0].lines[0]
        assert (line.get_markevery() is None) == everywhere and line.get_markerfacecolor() == line.get_color()


def test_a_legend_has_each_name_once_the_highest_end_first():
    high, low = curve("high", [1, 9, 90], "btm"), curve("low", [1, 2, 3], runs=2)
    both = [Subplot([low, high], "one"), Subplot([high, low], "two")]
    figure = small_multiples(both, legend="outside", legend_title="mean of 3 runs")
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["high", "low (2 runs)"]
    assert legend.get_title().get_text() == "mean of 3 runs"
    assert not any(axes.texts for axes in figure.axes), "no names at the lines' ends"
    first, second = legend.get_lines()
    drawn = figure.axes[0].lines
    assert [first.get_color(), second.get_color()] == [drawn[1].get_color(), drawn[0].get_color()]


def test_only_outer_axes_of_several_are_labelled():
    axes = small_multiples([Subplot([curve("a", [1, 2])], "")] * 3, columns=2).axes
    assert [bool(each.get_ylabel()) for each in axes] == [True, False, True]
    assert [bool(each.get_xlabel()) for each in axes] == [False, True, True]


@pytest.mark.parametrize("decades", [1, 2])
def test_a_logarithmic_axis_shows_the_decades_asked_for(decades):
    axes = small_multiples([Subplot([curve("a", [1, 2, 4, 8])], "")], decades=decades).axes[0]
    assert axes.get_xlim() == (1000 / 10**decades, 1000) and axes.lines[0].get_xdata()[0] == 1000 // 10**decades


def test_a_line_far_above_the_others_is_cropped_if_asked_and_its_end_is_said():
    lines = [curve("low", [0, 5, 10]), curve("high", [0, 500, 6000], "btm")]
    for crop, scale, top in ((True, "linear", 13.5), (False, "linear", 6480.0)):
        axes = small_multiples([Subplot(lines, "")], scale=scale, crop=crop).axes[0]
        assert axes.get_ylim() == pytest.approx((0, top))
        assert any(text.get_text() == "high goes on to 6,000" for text in axes.texts) == crop
    near = [lines[0], curve("high", [0, 20, 50], "btm")]
    assert small_multiples([Subplot(near, "")], scale="linear", crop=True).axes[0].get_ylim()[1] == pytest.approx(54.0)


def test_a_line_comes_from_the_axis_where_no_checkpoint_is_at_its_begin():
    line = Curve("a", "rucb", np.array([1, 50, 200, 10_000]), np.array([[1.0, 50.0, 80.0, 90.0]]), np.zeros(4), np.zeros(4))
    axes = small_multiples([Subplot([line], "")], decades=2).axes[0]
    assert axes.get_xlim() == (100, 10_000) and axes.get_ylim()[0] == pytest.approx(60.0), "as high as the line is there"
    assert axes.lines[0].get_xdata().tolist() == [50, 200, 10_000] and 0 not in axes.lines[0].get_markevery()
