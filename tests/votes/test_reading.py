"""Votes of every kind of file: what is recognised, what becomes of it, and what is refused in which sentence."""

import gzip
import json

import numpy as np
import pytest

import multiduel as md
from multiduel import votes

BATTLES = [("tea", "milk", "model_a"), ("milk", "water", "model_b"), ("water", "tea", "tie"), ("tea", "milk", "model_b")]
ABOVE = {("tea", "milk"): 1, ("water", "milk"): 1, ("milk", "tea"): 1}


def counts(read):
    """Who was placed above whom how often, by name, and the ties."""
    names, above, ties = read.options, read.above, read.ties
    won = {(names[i], names[j]): float(above[i, j]) for i, j in zip(*np.nonzero(above), strict=True)}
    return won, {frozenset((names[i], names[j])): float(ties[i, j]) for i, j in zip(*np.nonzero(ties), strict=True)}


def csv_text(cut=",", end="\n", header=("model_a", "model_b", "winner"), rows=BATTLES):
    return end.join(cut.join(row) for row in (header, *rows)) + end


@pytest.mark.parametrize("cut", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_battles_are_read_from_any_csv(cut, end, encoding, tmp_path):
    file = tmp_path / "votes.csv"
    file.write_bytes(csv_text(cut, end).encode(encoding))
    won, ties = counts(md.read_votes(file))
    assert won == ABOVE and ties == {frozenset(("water", "tea")): 1}
    packed = tmp_path / "votes.csv.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert counts(md.read_votes(packed)) == (won, ties)


def test_every_carrier_gives_the_same_votes(tmp_path):
    pandas, polars, arrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    names = ("model_a", "model_b", "winner", "judge", "question_id", "tstamp")
    rows = [(*row, f"j{k % 2}", k // 2, 1_700_000_000.5 + k) for k, row in enumerate(BATTLES)]
    records = [dict(zip(names, row, strict=True)) for row in rows]
    frame = pandas.DataFrame(records)
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "indexed.csv")  # with a first column without a name
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    frame.to_json(tmp_path / "a.json", orient="records")
    sources = [frame, polars.DataFrame(records), arrow.table({name: frame[name].tolist() for name in names}), records]
    sources += [{name: list(frame[name]) for name in names}, frame.astype({"model_a": "category"})]
    sources += [tmp_path / name for name in ("a.csv", "indexed.csv", "a.parquet", "a.jsonl", "a.json")]
    first = md.read_votes(sources[0])
    assert first.raters == ("j0", "j1") and first.cases == ("0", "1") and first.time is not None
    for source in sources[1:]:
        read = md.read_votes(source)
        for name in ("options", "raters", "cases", "ordered"):
            assert getattr(read, name) == getattr(first, name), source
        for name in ("first", "second", "outcome", "rater", "case", "time"):
            assert np.array_equal(getattr(read, name), getattr(first, name)), (source, name)


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        (("left", "right", "winner"), [("a1", "b1", "left"), ("b1", "c1", "right"), ("a1", "c1", "tie")]),
        (("Model A", "Model B", "Winner"), [("a1", "b1", "model_a"), ("b1", "c1", "model_b"), ("a1", "c1", "tie (bothbad)")]),
        (("model_a", "model_b", "winner"), [("a1", "b1", "a1"), ("b1", "c1", "c1"), ("a1", "c1", "both_bad")]),
        (("generator_1", "generator_2", "preference"), [("a1", "b1", "1"), ("b1", "c1", "2.0"), ("a1", "c1", "1.5")]),
        (("generator_1", "generator_2", "preference"), [("a1", "b1", "1.03"), ("b1", "c1", "1.98"), ("a1", "c1", "1.5")]),
        (("x", "y", "score"), [("a1", "b1", "1"), ("b1", "c1", "0"), ("a1", "c1", "0.5")]),
        (("i", "j", "outcome"), [("a1", "b1", "1"), ("b1", "c1", "-1"), ("a1", "c1", "0")]),
        (
            ("model_a", "model_b", "winner_model_a", "winner_model_b", "winner_tie"),
            [("a1", "b1", "1", "0", "0"), ("b1", "c1", "0", "1", "0"), ("a1", "c1", "0", "0", "1")],
        ),
    ],
)
def test_common_ways_to_name_a_winner(header, rows, tmp_path):
    file = tmp_path / "votes.csv"
    file.write_text(csv_text(header=header, rows=rows))
    won, ties = counts(md.read_votes(file))
    assert won == {("a1", "b1"): 1, ("c1", "b1"): 1} and ties == {frozenset(("a1", "c1")): 1}


def test_columns_and_outcomes_can_be_said():
    rows = [{"one": "a", "two": "b", "got": "0", "who": "x"}, {"one": "b", "two": "a", "got": "1", "who": "y"}]
    mapping = {"first": "one", "second": "two", "winner": "got", "rater": "who"}
    read = md.read_votes(rows, columns=mapping, outcomes={"0": "first", "1": "second"})
    assert counts(read)[0] == {("a", "b"): 2} and read.raters == ("x", "y")
    assert md.read_votes(rows, columns=mapping | {"rater": None}, outcomes={"0": "tie", "1": "none"}).rater is None
    with pytest.raises(md.BadInput, match="may mean the first option, the second, or a score"):
        md.read_votes(rows, columns=mapping)
    with pytest.raises(md.BadInput, match=r"'columns' has no 'winer'. Did you mean 'winner'"):
        md.read_votes(rows, columns={"winer": "got"})
    with pytest.raises(md.BadInput, match=r"no column 'goot'. Did you mean 'got'"):
        md.read_votes(rows, columns={"winner": "goot"})


def test_a_winner_that_is_a_name_and_a_side_is_not_guessed():
    rows = [("B", "A", "A"), ("A", "B", "A")]
    with pytest.raises(md.BadInput, match="row 1: the winner 'A' is the name of an option and of a side"):
        md.read_votes(rows)
    assert counts(md.read_votes(rows, outcomes="names"))[0] == {("A", "B"): 2}
    assert counts(md.read_votes(rows, outcomes={"A": "first", "B": "second"}))[0] == {("A", "B"): 1, ("B", "A"): 1}
    assert counts(md.read_votes([("A", "B", "A")]))[0] == {("A", "B"): 1}, "both say the same: nothing to ask"


def test_pairs_of_winner_and_loser():
    assert counts(md.read_votes([("a", "b"), ("a", "b"), ("c", "a")]))[0] == {("a", "b"): 2, ("c", "a"): 1}
    assert counts(md.read_votes([(3, 1), (2, 1)]))[0] == {("3", "1"): 1, ("2", "1"): 1}, "numbers are names, as choix has them"


def test_rankings_in_lines_count_as_often_as_they_say(tmp_path):
    file = tmp_path / "rankings.txt"
    file.write_text("# said on Monday\n3: tea > milk = water\nwater>tea\n\ntea\n")
    read = votes.read(file)
    won, ties = counts(read.votes)
    assert won == {("tea", "milk"): 3, ("tea", "water"): 3, ("water", "tea"): 1} and ties == {frozenset(("milk", "water")): 3}
    assert read.votes.answers == 2 and "2 rows of 4 answers" in read.note and "1 row without an answer left out" in read.note
    assert counts(md.read_votes(["tea > milk = water"] * 3 + ["water>tea"])) == (won, ties)


def test_rankings_in_a_column_or_a_column_per_place(tmp_path):
    rows = [("x", "tea>milk>water", "2"), ("y", "water>tea=milk", "1")]
    (tmp_path / "r.csv").write_text(csv_text(header=("rater", "ranking", "count"), rows=rows))
    (tmp_path / "p.csv").write_text("rater;1st;2nd;3rd;count\nx;tea;milk;water;2\ny;water;tea=milk;;1\n")
    (tmp_path / "j.jsonl").write_text(
        '{"rater": "x", "ranking": ["tea", "milk", "water"], "count": 2}\n'
        '{"rater": "y", "ranking": ["water", ["tea", "milk"]], "count": 1}\n'
    )
    expected = {("tea", "milk"): 2, ("tea", "water"): 2, ("milk", "water"): 2, ("water", "tea"): 1, ("water", "milk"): 1}
    for name in ("r.csv", "p.csv", "j.jsonl"):
        read = md.read_votes(tmp_path / name)
        assert counts(read) == (expected, {frozenset(("tea", "milk")): 1}), name
        assert read.raters == ("x", "y") and read.answers == 2, name


def test_best_and_worst_say_nothing_of_the_others(tmp_path):
    file = tmp_path / "v.csv"
    file.write_text("rater,shown,best,worst\nx,tea|milk|water,tea,\ny,tea|milk|water,,tea\nz,tea|milk|water,,\n")
    expected = {("tea", "milk"): 1, ("tea", "water"): 1, ("milk", "tea"): 1, ("water", "tea"): 1}
    assert counts(md.read_votes(file)) == (expected, {})


def test_counts_of_pairs_square_and_long(tmp_path):
    pandas = pytest.importorskip("pandas")
    names = ["tea", "milk", "water"]
    table = pandas.DataFrame([[0, 5, 3], [2, 0, 4], [1, 0, 0]], index=names, columns=names)
    expected = {("tea", "milk"): 5, ("tea", "water"): 3, ("milk", "tea"): 2, ("milk", "water"): 4, ("water", "tea"): 1}
    table.to_csv(tmp_path / "square.csv")
    table.to_csv(tmp_path / "bare.csv", index=False)
    (tmp_path / "long.csv").write_text("i,j,wins,losses,ties\ntea,milk,5,2,7\ntea,water,3,1,0\nmilk,water,4,0,0\n")
    for source in (table, tmp_path / "square.csv", tmp_path / "bare.csv"):
        assert counts(md.read_votes(source)) == (expected, {})
    assert counts(md.read_votes(tmp_path / "long.csv")) == (expected, {frozenset(("tea", "milk")): 7})
    with pytest.raises(md.BadInput, match="chances, which do not say how many there were"):
        (tmp_path / "P.csv").write_text("a,b\n0.5,0.7\n0.3,0.5\n")
        md.read_votes(tmp_path / "P.csv")


SLATES = "id,case,option_1,option_2,option_3,answer\n1,x,tea,milk,water,tea>milk\n2,x,tea,milk,water,3>1=2\n3,y,water,tea,,tea\n"


def test_slates_are_answered_by_name_or_position(tmp_path):
    file = tmp_path / "slates.csv"
    file.write_text(SLATES + "4,y,milk,tea,water,\n5,y,milk,tea,water,tie\n6,y,milk,tea,water,2\n")
    read = votes.read(file)
    won, ties = counts(read.votes)
    assert won == {
        ("tea", "milk"): 2, ("water", "tea"): 1, ("water", "milk"): 1, ("tea", "water"): 2,
    }  # fmt: skip
    assert ties == {frozenset(("tea", "milk")): 2, frozenset(("tea", "water")): 1, frozenset(("milk", "water")): 1}
    assert read.votes.ordered and read.votes.cases == ("x", "y") and "1 slate without an answer yet" in read.note
    shown_first = {
        (read.votes.options[i], read.votes.options[j]) for i, j in zip(read.votes.first, read.votes.second, strict=True)
    }
    assert shown_first == {("tea", "milk"), ("tea", "water"), ("milk", "water"), ("water", "tea"), ("milk", "tea")}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("model_a,model_b,winner\na,b,a\na,c,banana\n", "line 3: 'winner' must be .* Got 'banana' for 'a' against 'c'"),
        ("model_a,model_b,winner\na,b,model_a\na,,model_b\n", "line 3: 'model_b' must name an option. Got an empty cell"),
        ("model_a,model_b,winner\na,b,model_a\nb,b,model_b\n", "line 3: must compare two different options. Got 'b' twice"),
        ("model_a,model_b,winner\na,b,model_a\na,b\n", "line 3: must have 3 cells, as the first line has. Got 2: 'a,b'"),
        ('model_a,model_b,winner\n"a\nlong",b,model_a\na,b,c\n', "line 4: 'winner' must be"),
        ('model_a,model_b,winner\na,"b"x,model_a\n', "line 2: must be comma-separated text"),
        ("model_a,model_b,winner,time\na,b,a,never\n", "line 2: 'time' must be seconds or a date"),
        ("i,j,wins,losses\na,b,1,2\na,c,-1,2\n", "line 3: 'wins' must be a count of at least 0. Got '-1'"),
        ("ranking\na>b\na>>b\n", "line 3: a ranking must be written as A>B=C"),
        ("a>b\nb>b\n", "line 2: a ranking must name each option once"),
        (",a,b\na,0,1\nb,2,many\n", "line 3: the count of 'b' above 'b' must be a number"),
        (",a,b\na,0,1\nc,2,0\n", "must have two options and a winner"),
        (",a,b,c\na,0,1,1\nb,2,0,1\n", "a square table of 3 options must have 3 rows of counts. Got 2"),
        ("option_1,option_2,answer\na,b,c\n", "line 2: the answer must be an option that is shown, its position from 1 to 2"),
        ("option_1,option_2,answer\na,a,a\n", "line 2: a slate must show at least two options, each once"),
        ("colour,taste\nred,sweet\n", "must have two options and a winner .* Got the columns 'colour', 'taste'"),
        ("model_a,model_a,winner\na,b,a\n", "columns must have different names. Got 'model_a' twice"),
        ("", "must hold votes. Got an empty file"),
        ("model_a,model_b,winner\na\0,b,a\n", "line 2: must be text. Got a zero byte"),
        ('{"model_a": "a", "model_b": "b", "winner": "a"}\n{"model_a": \n', "line 2: must be JSON"),
        ('{"model_a": "a", "model_b": "b", "winner": "a"}\n[1]\n', "line 2: must be a JSON object"),
        ('{"model_a": "a", "model_b": "b", "winner": "a"}\n\n{"model_a": "a", "winner": "a"}\n', "line 3: 'model_b' must name"),
    ],
)
def test_a_bad_line_is_named_with_what_was_expected(text, sentence, tmp_path):
    file = tmp_path / ("votes.jsonl" if text.startswith("{") else "votes.txt")
    file.write_text(text)
    with pytest.raises(md.BadInput, match=sentence):
        md.read_votes(file)


def test_names_that_a_spreadsheet_was_kept_from_running_come_back(tmp_path):
    file = tmp_path / "votes.csv"
    file.write_text("model_a,model_b,winner\n'=1+1,b,'=1+1\n@x,b,b\n")
    assert md.read_votes(file).options == ("=1+1", "@x", "b")


def test_unknown_raters_are_nobody_else(tmp_path):
    read = md.read_votes([("a", "b", "a", "x"), ("a", "b", "a", None), ("a", "b", "b", "")])
    assert len(read.raters) == 3 and len(set(read.rater.tolist())) == 3


def test_several_sources_are_joined_by_name(tmp_path):
    read = votes.read([("a", "b", "a", "x")], [("c", "a", "c", "x"), ("b", "c", "tie", "y")], ["a>b>c"])
    assert counts(read.votes) == ({("a", "b"): 2, ("c", "a"): 1, ("a", "c"): 1, ("b", "c"): 1}, {frozenset("bc"): 1})
    assert read.votes.rater is None, "not all of them know who answered"
    both = md.read_votes([("a", "b", "a", "x")], [("c", "a", "c", "x"), ("b", "c", "tie", "y")])
    assert both.raters == ("x", "y") and both.rater.tolist() == [0, 0, 1]
    assert "together; 4 answers, 3 options" in read.note


@pytest.mark.parametrize("source", [None, 5, b"votes", [], [1, 2], [("a",)], [("a", "b"), ("a", "b", "c")], {"a": 1}, object()])
def test_what_is_no_table_is_a_sentence(source):
    with pytest.raises(md.BadInput):
        md.read_votes(source)


def test_a_broken_parquet_or_gzip_file_is_a_sentence(tmp_path):
    file = tmp_path / "votes.parquet"
    for content in (
        b"PAR1",
        b"PAR1" + bytes(100) + b"PAR1",
        gzip.compress(b"model_a,model_b,winner\n" * 99)[:-9],
        b"\xff\xfe\x00",
    ):
        file.write_bytes(content)
        with pytest.raises(md.BadInput):
            md.read_votes(file)


def test_more_options_than_a_table_can_have_are_refused():
    rows = [{"model_a": f"a{k}", "model_b": f"b{k}", "winner": "a"} for k in range(6000)]
    with pytest.raises(md.BadInput, match=r"at most 10,000 options. Got 12,000, such as 'a0'. Is this the column of the options"):
        md.read_votes(rows)


def test_the_note_says_how_columns_were_understood(tmp_path):
    file = tmp_path / "v.csv"
    file.write_text("id,prompt,worker,winner,left,right\n1,p,w,left,tea,milk\n2,p,w,,tea,milk\n")
    assert votes.read(file).note == (
        "battles: first = 'left', second = 'right', winner = 'winner', rater = 'worker', case = 'prompt' (by side); "
        "1 answer, 2 options, 1 rater, 1 case, 1 row without an answer left out"
    )
    assert json.dumps(votes.read(file).kind) == '"battles"'
