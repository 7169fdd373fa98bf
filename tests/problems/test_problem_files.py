"""CSV files: round trips, errors that name line and column, and the real data."""

from __future__ import annotations

import csv
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multiduel import theory
from multiduel.inputs import BadInput
from multiduel.problems import cyclic, from_matrix, random_tournament, read_csv, synthetic, write_csv


@given(K=st.integers(1, 8), seed=st.integers(0, 1000))
def test_round_trip(tmp_path_factory, K, seed):
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    names = [f'arm "{i}", {seed}' for i in range(K)]
    problem = from_matrix(random_tournament(K, seed=seed).matrix, names=names)
    write_csv(problem, path)
    again = read_csv(path)
    assert np.array_equal(again.matrix, problem.matrix)
    assert again.names == problem.names and again.label == "table"


def test_format(tmp_path):
    path = tmp_path / "table.csv"
    write_csv(from_matrix([[0.5, 0.9], [0.1, 0.5]], names=["x", "y"]), path)
    assert path.read_bytes() == b"x,y\n0.5,0.9\n0.1,0.5\n"


def test_spaces_blank_lines_and_byte_order_mark(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"\xef\xbb\xbfx, y\r\n0.5, 0.75\r\n\r\n0.25, 0.5\r\n")
    assert read_csv(path).names == ("x", "y")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("0.5 0.75\n0.25 0.5\n", ("arm 0", "arm 1")),  # as the RMED and MergeDTS authors publish matrices
        ("2\n0.5         0.75  \n0.25  0.5  ", ("arm 0", "arm 1")),  # as the D-TS authors do
        ("5.000e-01 7.500e-01\n2.500e-01 5.000e-01\n", ("arm 0", "arm 1")),  # as numpy.savetxt does
        ("0.5,0.75\n0.25,0.5\n", ("arm 0", "arm 1")),
        ("mild\tvery sharp\n0.5\t0.75\n0.25\t0.5\n", ("mild", "very sharp")),
        ("mild sharp\n0.5 0.75\n0.25 0.5\n", ("mild", "sharp")),
        ("1,2\n0.5,0.75\n0.25,0.5\n", ("1", "2")),  # numbers may be names
    ],
)
def test_what_others_publish(tmp_path, text, names):
    path = tmp_path / "table.txt"
    path.write_text(text)
    assert read_csv(path).names == names and read_csv(path).matrix.tolist() == [[0.5, 0.75], [0.25, 0.5]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must hold a line of arm names and a line of numbers per arm. Got an empty file."),
        ("\n \n", "Got an empty file."),
        ("a,b\n0.5,0.7\n0.3\n", "line 3: must have 2 numbers, one per name in line 1. Got 1."),
        ("a,b\n0.5,0.7\n\n0.3,oops\n", "line 4, column 2: must be a number. Got 'oops'."),
        ("a,b\n0.5,\n0.3,0.5\n", "line 2, column 2: must be a number. Got ''."),
        ("0.5 0.7 0.8\n0.3\n0.2 0.5 0.5\n", "line 2: must have 3 numbers, as many as line 1 has. Got 1."),
        ("2\n0.5 0.7\n0.3 oops\n", "line 3, column 2: must be a number. Got 'oops'."),
        ("a b\n0.5 0.7\n", "must have 2 lines of numbers, one per name in line 1. Got 1."),
        ("a,b\n0.5,0.5\n0.5,0.5\n0.5,0.5\n", "must have 2 lines of numbers, one per name in line 1. Got 3."),
        ("a,a\n0.5,0.7\n0.3,0.5\n", "line 1: 'names' must be different from each other. Got 'a' twice."),
        ("a,\n0.5,0.7\n0.3,0.5\n", "line 1: The name of arm 1 must not be blank."),
        (
            "a,b\n0.5,1.7\n0.3,0.5\n",
            "line 2, column 2 ('a' against 'b'): must be a probability, between 0 and 1. Got 1.7.",
        ),
        ("a,b\n0.5,nan\n0.3,0.5\n", "line 2, column 2 ('a' against 'b'): must be a finite number. Got nan."),
        ("a,b\n0.5,0.7\n0.4,0.5\n", "and its mirror entry must sum to 1. Got 0.7 and 0.4 the other way."),
        ('a,"b\n0.5,0.7\n', "must be comma-separated text."),
    ],
)
def test_refused_files(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(BadInput) as caught:
        read_csv(path)
    assert str(path) in str(caught.value) and message in str(caught.value)


def test_unreadable_files(tmp_path):
    with pytest.raises(BadInput, match="no such file"):
        read_csv(tmp_path / "absent.csv")
    with pytest.raises(BadInput, match="cannot be read"):
        read_csv(tmp_path)
    path = tmp_path / "latin.csv"
    path.write_bytes("é,b\n".encode("latin-1"))
    with pytest.raises(BadInput, match="must be UTF-8 text"):
        read_csv(path)


def test_writing_is_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    write_csv(synthetic(2), path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(BadInput, match="cannot be written: No space left"):
        write_csv(synthetic(3), path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
    with pytest.raises(BadInput, match="cannot be written"):
        write_csv(synthetic(3), tmp_path / "absent" / "table.csv")


def test_real_data_agrees_with_its_summary(data_dir):
    with open(data_dir / "SUMMARY.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) >= 10
    for row in rows:
        problem = read_csv(data_dir / row["file"])
        of = row["file"]
        assert problem.n_arms == int(row["arms"]), of
        winner = "none" if problem.winner is None else problem.names[problem.winner]
        assert winner == row["condorcet_winner"], of
        assert {problem.names[i] for i in problem.copeland_winners} == set(row["copeland_winners"].split(";")), of
        assert [problem.names[i] for i in problem.borda_winners] == [row["borda_winner"]], of
        assert problem.total_order == (row["total_order"] == "yes"), of
        assert problem.weakly_transitive == (row["wst_violations"] == "0"), of
        assert problem.strongly_transitive == (row["sst_violations"] == "0"), of
        assert np.count_nonzero(problem.matrix == 0.5) == problem.n_arms + 2 * int(row["ties"]), of
        if problem.winner is not None:
            assert np.sort(problem.gaps)[1] == pytest.approx(float(row["cw_min_gap"]), rel=1e-8), of


def test_real_matrices_are_read_bit_for_bit(data_dir):
    for name in ("mslr_perfect_136.csv", "arxiv_6.csv", "breakfast_15.csv"):
        assert np.array_equal(read_csv(data_dir / name).matrix, np.loadtxt(data_dir / name, delimiter=",", skiprows=1)), name


def test_mslr_is_outside_property_1_but_best_responses_reach_its_winner(data_dir):
    for name in ("mslr_informational_135.csv", "mslr_perfect_136.csv"):
        problem = read_csv(data_dir / name)
        assert problem.gamma == np.inf
        assert theory.best_response_reaches_winner(problem.matrix)


def test_the_cyclic_default_is_the_standard_instance(data_dir):
    assert cyclic(4).matrix == pytest.approx(read_csv(data_dir / "synthetic_cyclic_4.csv").matrix, abs=1e-15)
