"""How soon verdicts fell: the table and the figure, of settlements made by hand."""

from __future__ import annotations

import dataclasses
import io
import math
import re

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from rich.console import Console

import multiduel as md
from multiduel.display.tables import rich_table
from multiduel.engine.simulation.result import Result, Settlement
from multiduel.lab.time_to_verdict import settlement_plot, settlement_table
from tests.figure_words import expect

OPEN = math.inf


def settled(policy, answers, wrong=0, slate_size=2, label="a problem", **params):
    """A result whose runs came to a verdict after so many answers, each after twice as many rounds; the first are wrong."""
    runs = len(answers)
    numbers = np.array(answers, float)
    return Result(
        policy=policy, params=params, problem={"label": label, "n_arms": 5}, slate_size=slate_size, horizon=20_000,
        runs=runs, seed=7, benchmark="condorcet", checkpoints=np.array([20_000]), regrets={"average": np.ones((runs, 1))},
        recommended=np.zeros(runs, np.int64), events=np.ones(runs, np.int64), seconds=1.234, compile_seconds=0.0,
        settlement=Settlement(
            error=0.05, kind=tuple("open" if n == OPEN else "winner" for n in answers), arm=np.zeros(runs, np.int64),
            rounds=2.0 * numbers, answers=numbers, regret=np.arange(runs) * 1000.5, wrong=np.arange(runs) < wrong,
        ),
    )  # fmt: skip


SOON = settled("rucb", np.arange(20, 0, -1) * 100, wrong=1)
SELDOM = settled("multi-rucb", [OPEN, 3000, OPEN, OPEN, 1500, 700], slate_size=8, closing=True)
NEVER = settled("uniform", [OPEN, OPEN], slate_size=3)


def table_of(results):
    console = Console(width=130, file=io.StringIO())
    console.print(rich_table(settlement_table(results)))
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_the_table_says_open_where_it_is_only_known_that_runs_took_longer():
    assert table_of([SOON, SELDOM, NEVER]) == [
        "Answers to a verdict on a problem: T = 20,000 at most, 20 runs, seed 7",
        "",
        " policy      m   settled  answers, median   10 % to 90 %  rounds    wrong  regret by then  seconds",
        " ─────────────────────────────────────────────────────────────────────────────────────────────────",
        " rucb        2  20 of 20            1,100   300 to 1,900   2,200  1 of 20           9,505     1.23",
        " multi-rucb  5    3 of 6             open  1,500 to open    open   0 of 3           2,501     1.23",
        " uniform     3    0 of 2             open   open to open    open   0 of 0           500.2     1.23",
        "",
    ]
    assert table_of([SOON])[4].startswith(" rucb       2  20 of 20 "), "there is room for nine letters, and one more between"


@pytest.fixture
def figure_of(monkeypatch):
    """What would have been written into a file."""

    def draw(results, name):
        monkeypatch.setattr(Figure, "savefig", lambda figure, file, **how: expect(name, figure))
        settlement_plot(results, io.BytesIO())

    return draw


def test_the_figure_whatever_the_machine_prefers(figure_of):
    """Names are in the order of the medians: the soonest first."""
    with mpl.rc_context({"axes.facecolor": "#112233", "font.size": 20}):
        figure_of([SELDOM, SOON, NEVER], "settling")
        assert mpl.rcParams["font.size"] == 20


def test_several_of_a_policy_look_different_and_a_price_is_no_formula(figure_of):
    few = settled("rucb", [4000, 20, 300], slate_size=4, label="$5 or $6")
    figure_of([few, SOON, settled("a$b$", [20_000, 30_000])], "settling-twins")


def test_files_have_the_format_asked_for(tmp_path):
    settlement_plot([SOON], tmp_path / "a.svg")
    settlement_plot([SOON], str(tmp_path / "b.svg"))
    settlement_plot([SOON], tmp_path / "draft", kind="svg")
    data = {file.read_bytes() for file in tmp_path.iterdir()}
    assert len(data) == 1 and data.pop().startswith(b"<?xml"), "the same figure is the same file"


def test_a_stream_is_a_png_in_a_printers_resolution():
    file = io.BytesIO()
    settlement_plot([SOON], file)
    data = file.getvalue()
    assert data.startswith(b"\x89PNG")
    assert (int.from_bytes(data[16:20]), int.from_bytes(data[20:24])) == (6.4 * 300, 3.6 * 300)


def test_what_cannot_be_drawn_is_refused(tmp_path):
    running = dataclasses.replace(SOON, settlement=None)
    for refused, sentence in (
        (lambda: settlement_plot([], tmp_path / "a.png"), "A plot must show at least 1 result. Got none."),
        (
            lambda: settlement_plot([SOON], tmp_path / "a.gif"),
            "must end in .png, .svg or .pdf. Got 'plot.gif'.",
        ),
        (lambda: settlement_plot([SOON, running], tmp_path / "a.png"), "'rucb' was not simulated until a verdict."),
        (lambda: settlement_table([running]), "'rucb' was not simulated until a verdict."),
    ):
        with pytest.raises(md.BadInput, match=re.escape(sentence)):
            refused()
    assert not list(tmp_path.iterdir())
