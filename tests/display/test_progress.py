"""The progress bar: in a terminal, in a notebook, nowhere."""

import re
import sys
import types

from multiduel.display.progress import pace, progress_bar


def test_progress_bar_shows_the_label_as_it_is_and_ends_full(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress_bar("mine[red].py", keep=True) as update:
        update(0.25)
    last = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err).strip().splitlines()[-1]
    assert re.fullmatch(r"mine\[red\]\.py \S+ 100 % 0:00:00", last.strip())


def test_progress_bar_says_units_per_second(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress_bar("a panel", unit="rounds", keep=True) as update:
        update(3e6, 4e6)
    assert "rounds/s" in capsys.readouterr().err


def test_progress_bar_says_what_is_being_done_now(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress_bar("checks", keep=True) as update:
        update(0.5, label="checks: header")
    assert "checks: header" in capsys.readouterr().err


def test_progress_bar_is_silent_where_nobody_watches(capsys):
    with progress_bar("x") as update:
        update(0.5, label="y")
    assert capsys.readouterr() == ("", "")


def test_progress_bar_in_a_notebook_is_one_display_that_is_updated(monkeypatch):
    seen = []

    class Shown:
        def update(self, html):
            seen.append(html)

    def display(html, display_id):
        seen.append(html)
        return Shown() if display_id else None  # as IPython's

    notebook = types.ModuleType("IPython.display")
    notebook.HTML, notebook.display = str, display
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", notebook)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    with progress_bar("a<b") as update:
        update(0.25)
    assert [html.partition(" value=")[2][:7] for html in seen] == ['"0.000"', '"0.250"', '"1.000"']
    assert seen[-1].endswith(" 100 % a&lt;b")


def test_pace_says_how_many_units_a_second_and_how_long_it_takes_still():
    assert pace(0, 10, 1, "rounds") == ""
    assert pace(50, 100, 1, "rounds") == "50 rounds/s, 1 s left"
    assert pace(1e9, 4e9, 3600, "rounds") == "278 thousand rounds/s, 3 h 0 min left"
