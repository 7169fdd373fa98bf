"""Tables: every form of them says the same, and files are whole."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest
from rich.console import Console

import multiduel as md
from multiduel.display import tables
from multiduel.display.tables import Table


def test_a_file_holds_all_or_is_not_written(tmp_path, monkeypatch):
    ragged = {"a": [1, 2], "b": [1]}
    with pytest.raises(ValueError, match="shorter"):
        tables.save(ragged, None, tmp_path / "r.csv")
    with pytest.raises(ValueError, match="JSON compliant"):
        tables.save({}, {"regret": np.nan}, tmp_path / "r.json")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(md.BadInput, match=r"A \.parquet file needs PyArrow, which is not installed"):
        tables.save({"a": [1]}, None, tmp_path / "r.parquet")
    assert not list(tmp_path.iterdir())


def test_html_tables_are_text_whatever_is_in_them():
    assert tables.html_table(Table(["a"], [["<1>"]])) == (
        "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;1&gt;</td></tr></tbody></table>"
    )
    assert tables.html_table(Table(["a"], [], title="b & c")).startswith("<table><caption>b &amp; c</caption><thead>")


def test_text_tables_have_columns_as_wide_as_they_need_to_be():
    assert tables.text_table(Table(["a", "b"], [["long", "1"], ["x", "yy"]])) == "a     b\nlong  1\nx     yy"
    with pytest.raises(ValueError, match="shorter"):
        tables.text_table(Table(["a"], [["x", "under no head"]]))


def test_terminal_tables_set_numbers_flush_right():
    screen = Console(width=60, file=io.StringIO())
    screen.print(tables.rich_table(Table(["policy", "mean"], [["rucb", "1"], ["a", "1,000"]], [1], "Tea")))
    assert [line.rstrip() for line in screen.file.getvalue().splitlines()] == [
        "Tea", "", " policy      mean", " ────────────────", " rucb           1", " a          1,000", "",
    ]  # fmt: skip


def test_latex_tables_keep_letters_that_are_commands():
    text = tables.latex_table(Table(["x", "m"], [["a_b~^\\", "**1.5**"], ["c", "-"]], [1], "50% & more"))
    assert r"\caption{50\% \& more}" in text and r"\begin{tabular}{lr}" in text and text.endswith("\\end{table}\n")
    assert "a\\_b\\textasciitilde{}\\textasciicircum{}\\textbackslash{} & \\textbf{1.5} \\\\" in text and "c & -- \\\\" in text


def test_numbers_are_written_for_reading():
    said = [tables.number(x) for x in (999.0, 1000.0, 1e7, -np.inf, np.nan)]
    assert said == ["999", "1,000", "1e+07", "-infinite", "-"]
