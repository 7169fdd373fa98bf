"""Whatever others wrote is text in a spreadsheet of any locale, and our own readers get it back."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from multiduel.arena.files.batches import read_votes
from multiduel.arena.files.exports import csv_lines
from multiduel.display.tables import save
from multiduel.problems import Problem, read_csv, write_csv
from multiduel.spreadsheets import harmless, original

SEPARATORS = (",", ";", "\t", "|", "\u061b", "\uff1b")
SIGNS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
HOSTILE = (
    "=1+1",
    ";=1+1",
    "mild;=1+1",
    'mild;"=1+1',
    'mild; =HYPERLINK("http://x")&',
    "- one\n- two",
    "a\r\n=1",
    "a\t@SUM(A1)",
    "a|+1",
    "'=1",
    ";'=1",
    " '' =1",
    "\u061b\uff1d1",
    "\t;-1",
)


def cells(written: str, separator: str) -> list[str]:
    """The cells that a spreadsheet with this separator sees: quotes count only at the beginning of its cells."""
    return [cell for row in csv.reader(io.StringIO(written, newline=""), delimiter=separator) for cell in row]


hostile = st.text(st.sampled_from("=+-@;,|\t\r\n\"' x\u061b\uff1d"), max_size=12) | st.sampled_from(HOSTILE)


@pytest.mark.parametrize("separator", SEPARATORS)
@given(texts=st.lists(hostile, min_size=1, max_size=4))
@example(texts=list(HOSTILE))
def test_csv_of_hostile_text_has_no_formula_in_any_locale(separator, texts):
    for cell in cells("".join(csv_lines(texts, [texts])), separator):
        assert not cell.lstrip(' \t"').startswith(SIGNS), (separator, cell)


@given(hostile | st.text())
def test_original_undoes_harmless(text):
    if "\0" not in text:
        assert original(harmless(text)) == text


@pytest.mark.parametrize("text", ["'tis", "it's", "'quoted'", "a;'b", "1 - 2", "x=y", "a, -b", '{"wins": -1}'])
def test_harmless_leaves_other_text_alone(text):
    assert harmless(text) == text == original(text)


def test_a_matrix_file_keeps_names_that_look_like_formulas(tmp_path):
    names = ("=1+1", "mild;=1+1", "-a", "'quoted'")
    path = tmp_path / "P.csv"
    write_csv(Problem(np.full((4, 4), 0.5), names), path)
    assert read_csv(path).names == names
    for separator in SEPARATORS:
        assert not any(cell.startswith(SIGNS) for cell in cells(path.read_text().split("\n")[0], separator))


def test_saved_results_have_no_formula(tmp_path):
    save({"policy": ["=1+1", "x;=1+1"], "regret": [-1.0, 2.0]}, {}, tmp_path / "r.csv")
    assert (tmp_path / "r.csv").read_text() == "policy,regret\n'=1+1,-1.0\nx;'=1+1,2.0\n"


def test_votes_by_name_come_back_from_a_sheet():
    names = ["=1+1", "mild;=1+1"]
    written = "".join(csv_lines(["id", "shown", "best"], [["7", "|".join(names), names[1]]]))
    (line,) = read_votes(written, format="csv").lines
    assert line.shown == tuple(names) and line.ballot == {"best": 1}
