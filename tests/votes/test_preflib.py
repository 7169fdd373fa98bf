"""PrefLib files: as ``preflibtools`` reads them, and refused by line where that would guess."""

import numpy as np
import pytest

import multiduel as md
from multiduel import votes

HEAD = "# FILE NAME: x.{kind}\n# TITLE: t\n# DATA TYPE: {kind}\n# NUMBER ALTERNATIVES: 4\n# NUMBER VOTERS: 9\n" + "".join(
    f"# ALTERNATIVE NAME {k}: {name}\n" for k, name in enumerate(("Ada", "Ben, the second", "Cleo: 3", "Dan"), 1)
)
ORDERS = {
    "soc": "4: 1,2,3,4\n3: 4,3,2,1\n",
    "soi": "4: 1,2\n3: 4,3,2\n1: 3\n",
    "toc": "4: 1,{2,3},4\n3: {4,3,2,1}\n",
    "toi": "4: 1,{2,3}\n3: {4,3}, 1\n",
}
OLD = "3\n1,Ada\n2,Ben\n3,Cleo\n9,9,2\n5,1,2,3\n4,3,{1,2}\n"


@pytest.mark.parametrize("kind", list(ORDERS))
def test_orders_are_those_that_preflibtools_reads(kind, tmp_path):
    instances = pytest.importorskip("preflibtools.instances")
    file = tmp_path / f"x.{kind}"
    file.write_text(HEAD.format(kind=kind) + ORDERS[kind])
    theirs = instances.OrdinalInstance(str(file))
    read = votes.read(file)
    place = {number: read.votes.options.index(name) for number, name in theirs.alternatives_name.items()}
    above, ties = np.zeros((2, 4, 4))
    for order in theirs.orders:
        many = theirs.multiplicity[order]
        for a, group in enumerate(order):
            for i in group:
                for later in order[a + 1 :]:
                    for j in later:
                        above[place[i], place[j]] += many
                for j in group:
                    ties[place[i], place[j]] += many * (i != j)
    assert np.array_equal(read.votes.above, above) and np.array_equal(read.votes.ties, ties)
    renamed = tmp_path / "renamed.txt"
    renamed.write_text(file.read_text())
    assert np.array_equal(md.read_votes(renamed).above, above), "the header says what it is"


def test_the_format_before_2022_is_read(tmp_path):
    file = tmp_path / "x.toc"
    file.write_text(OLD)
    read = md.read_votes(file)
    assert read.options == ("Ada", "Ben", "Cleo") and read.counts.tolist() == [5, 4]
    assert read.above.tolist() == [[0, 5, 5], [0, 0, 5], [4, 4, 0]] and read.ties[0, 1] == 4


def test_a_weighted_graph_counts_answers(tmp_path):
    file = tmp_path / "x.wmd"
    file.write_text(HEAD.format(kind="wmd") + "1, 2, 7.0\n2, 1, 3\n4, 3, 0\n")
    read = md.read_votes(file)
    i, j = read.options.index("Ada"), read.options.index("Ben, the second")
    assert (read.above[i, j], read.above[j, i], read.above.sum()) == (7, 3, 10)


@pytest.mark.parametrize(
    ("kind", "line", "sentence"),
    [
        ("soc", "3: 1,2,3", "a .soc file orders all 4 alternatives. Got 3"),
        ("soc", "3: 1,2,2,4", "must name each option once"),
        ("soi", "3: 1,{2,3}", "a .soi file has no ties"),
        ("soi", "3: 1,,2;4", "must be an order such as"),
        ("soi", "3: 1,9", "by their numbers. Got '9'"),
        ("soi", "many: 1,2", "must be a count and an order"),
        ("soi", "0: 1,2", "must be a count and an order"),
        ("toi", "3: {1,2", "must be an order such as"),
        ("wmd", "1, 1, 3", "must be two alternatives and a weight"),
        ("wmd", "1, 2, -3", "must be two alternatives and a weight"),
    ],
)
def test_a_bad_line_is_named(kind, line, sentence, tmp_path):
    file = tmp_path / f"x.{kind}"
    file.write_text(HEAD.format(kind=kind) + line + "\n")
    with pytest.raises(md.BadInput, match=rf"line 10: .*{sentence}"):
        md.read_votes(file)
