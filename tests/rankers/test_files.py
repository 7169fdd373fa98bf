"""Learning-to-rank files and runs: read back bit for bit, and every kind of damage named with its line."""

import gzip
import tracemalloc

import numpy as np
import pytest
from typer.testing import CliRunner

from multiduel import rankers
from multiduel.cli.rankers import app
from multiduel.inputs import BadInput


@pytest.fixture
def write(tmp_path):
    def writer(text, name="data.svm"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return writer


@pytest.mark.parametrize("name", ["made.svm", "made.svm.gz"])
def test_written_data_reads_back_bit_for_bit(tmp_path, name):
    made = list(rankers.generate(queries=4, documents=6, features=3, seed=1))
    assert rankers.write_letor(made, tmp_path / name) == sum(len(query.grades) for query in made)
    back = list(rankers.read_letor(tmp_path / name))
    for query, again in zip(made, back, strict=True):
        assert query.id == again.id
        assert query.documents == again.documents
        np.testing.assert_array_equal(query.grades, again.grades)
        np.testing.assert_array_equal(query.features, again.features)


def test_equal_data_gives_equal_bytes(tmp_path):
    for name in ("a.svm.gz", "b.svm.gz"):
        rankers.write_letor(rankers.generate(queries=2, seed=1), tmp_path / name)
    assert (tmp_path / "a.svm.gz").read_bytes() == (tmp_path / "b.svm.gz").read_bytes()


def test_sparse_features_string_ids_comments_and_blank_lines(write):
    path = write(
        "# a header\n\n2 qid:WT04-1 3:1.5 1:-2e-3 # docid = G00-1 inc = 1\r\n0.0 qid:WT04-1 2:7\n1 qid:x\n0 qid:x 4:1 #docid=last"
    )
    first, second = rankers.read_letor(path)
    assert (first.id, second.id) == ("WT04-1", "x")
    assert first.documents == ("G00-1", "2")
    assert second.documents == ("1", "last")
    np.testing.assert_array_equal(first.features, [[-0.002, 0, 1.5], [0, 7, 0]])
    np.testing.assert_array_equal(second.features, [[0, 0, 0, 0], [0, 0, 0, 1]])
    np.testing.assert_array_equal(first.grades, [2, 0])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("x qid:1 1:2", r"line 2: the grade must be a whole number from 0 to 999\. Got 'x'"),
        ("-1 qid:1 1:2", "the grade must be a whole number.* Got '-1'"),
        ("1.5 qid:1 1:2", "the grade must be a whole number.* Got '1.5'"),
        ("inf qid:1 1:2", "the grade must be a whole number.* Got 'inf'"),
        ("1 1:2", r"line 2: the query must follow the grade, as in 'qid:17'\. Got '1:2'"),
        ("1", "the query must follow the grade.* Got nothing"),
        ("1 qid: 1:2", "the query must follow the grade.* Got 'qid:'"),
        ("1 qid:1 1:2 abc", "line 2: a feature must look like '3:0.25'.* Got 'abc'"),
        ("2 qid:1 1:0.5 2", "line 2: a feature must look like '3:0.25'.* Got '2'"),
        ("2 qid:1 1 0.5:2:7", "line 2: a feature must look like '3:0.25'.* Got '1'"),
        (f"1 qid:1 {'9' * 5000}:2", r"numbered from 1 to 1000000\. Got '9999.* \.\.\."),
        ("1 qid:1 1000001:2", "numbered from 1 to 1000000"),
        ("1 qid:1 0:2", "numbered from 1.* Got '0:2'"),
        ("1 qid:1 1:2:3", "a feature's value must be a finite number. Got '1:2:3'"),
        ("1 qid:1 1:", "a feature's value must be a finite number. Got '1:'"),
        ("1 qid:1 1:nan", "a feature's value must be a finite number. Got '1:nan'"),
        ("1 qid:1 1:1e999", "a feature's value must be a finite number. Got '1:1e999'"),
        ("1 qid:1 1:2 1:3", "a feature must come once. Got feature 1 twice"),
        (
            "1 qid:2 1:2\n1 qid:1 1:3",
            "line 3: the documents of a query must stand together. Query '1' began at .*line 1",
        ),
    ],
)
def test_a_bad_line_is_named(write, line, words):
    with pytest.raises(BadInput, match=words):
        list(rankers.read_letor(write(f"1 qid:1 1:2\n{line}\n")))


def test_bad_files_are_named(write, tmp_path):
    whole = gzip.compress(b"1 qid:1 1:2\n" * 1000)
    for path, words in (
        (write(""), "must hold a line per document. Got none"),
        (tmp_path / "absent", "must be a file that exists"),
        (tmp_path, "cannot be read"),
        (write(b"1 qid:1 1:2\n1 qid:\xff 1:2\n", "bytes"), "line 2: must be UTF-8"),
        (write(whole[:40], "cut.gz"), "the gzip data is broken"),
        (write(whole[:20] + b"\xff\xff" + whole[22:], "rotten.gz"), "the gzip data is broken"),
        (1, "A file must be given by its name"),
    ):
        with pytest.raises(BadInput, match=words):
            list(rankers.read_letor(path))
    with pytest.raises(BadInput, match="Got none"):
        list(rankers.read_letor())


def test_a_large_feature_number_costs_what_is_there(write):
    lines = [f"{d % 3} qid:{q} 1:{d}.5 1000000:{-d}" for q in range(20) for d in range(200)]
    path = write("\n".join([*lines, "1 qid:other 1:1 2:2", "0 qid:other 1:2 2:1", ""]))
    tracemalloc.start()
    queries = list(rankers.read_letor(path))
    lineup = rankers.line_up(queries)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 20e6, "a table of all numbers up to a million would need 1.6 GB for a single query"
    assert lineup.names == ("f1", "f2", "f1000000")
    assert queries[0].numbers.tolist() == [1, 1_000_000] and queries[-1].numbers is None
    asked = rankers.line_up(queries, [rankers.feature(f) for f in (1, 2, 1_000_000, 999_999)])
    np.testing.assert_array_equal(lineup.order, asked.order[:3])
    np.testing.assert_array_equal(asked.order[1, :200], asked.order[3, :200])  # a feature that does not occur is constant
    both = rankers.line_up(queries, direction="both")
    assert both.names == ("f1", "f1-asc", "f2", "f2-asc", "f1000000", "f1000000-asc")
    np.testing.assert_array_equal(both.order[::2], lineup.order)
    np.testing.assert_array_equal(both.order[1::2], rankers.line_up(queries, direction="ascending").order)
    again = path.with_name("again")
    rankers.write_letor(queries, again)
    np.testing.assert_array_equal(rankers.line_up(rankers.read_letor(again)).order, lineup.order)


def test_the_same_query_in_two_files_is_refused(write):
    one, two = write("1 qid:1 1:2\n", "one"), write("1 qid:1 1:2\n", "two")
    with pytest.raises(BadInput, match=r"two', line 1: .* Query '1' began at .*one', line 1"):
        list(rankers.read_letor(one, two))


def test_run_files(write):
    data = write("1 qid:q1 1:1 # docid = a\n0 qid:q1 1:2 # docid = b\n0 qid:q1 1:3 # docid = c\n0 qid:q2 1:1 #docid = d\n")
    run = write("q1 Q0 b 1 9.5 mine\nq1 Q0 zzz 2 9 mine\nq1 Q0 a 3 0.5 mine\n", "mine.run")
    lineup = rankers.line_up(rankers.read_letor(data), [rankers.run_file(run), rankers.feature(1)])
    assert lineup.names == ("mine.run", "f1")
    assert lineup.order[0, :3].tolist() == [1, 0, 2]  # b, a, and c that was not retrieved
    assert lineup.order[1, :3].tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("q1 Q0 b 1 9.5\n", "line 1: must be 'query Q0 document rank score name', 6 words. Got 5"),
        ("q1 Q0 b 1 much x\n", "line 1: the score must be a finite number. Got 'much'"),
        ("q1 Q0 b 1 2 x\nq1 Q0 b 1 2 x\n", "line 2: document 'b' must come once"),
        ("\n", "must hold a line per retrieved document"),
    ],
)
def test_bad_runs_are_named(write, text, words):
    with pytest.raises(BadInput, match=words):
        rankers.read_run(write(text))


QRELS = "q1 0 a 2\nq1 0 b 0\nq1 0 c -1\nq2 0 d 1\n"
RUN = "q1 Q0 b 1 9.5 x\nq1 Q0 new 2 9 x\nq1 Q0 a 3 0.5 x\nq9 Q0 a 1 1 x\n"


TABLES = {"q1": {"a": 2, "b": 0, "c": -1}, "q2": {"d": 1}}, {"q1": {"b": 9.5, "new": 9, "a": 0.5}, "q9": {"a": 1}}


def lineup_of(judged, retrieved):
    """The run, and a ranker that takes documents as they come; what was judged is checked on the way."""
    one, two = rankers.judged_queries(judged, [retrieved])
    assert one.id == "q1" and dict(zip(one.documents, one.grades.tolist(), strict=True)) == {"a": 2, "b": 0, "c": 0, "new": 0}
    assert two.documents == ("d",)
    mine = rankers.run_file(retrieved, name="mine")
    other = rankers.Ranker("other", lambda query: [-ord(name[0]) for name in query.documents])
    lineup = rankers.line_up(rankers.judged_queries(judged, [retrieved]), [mine, other])
    assert lineup.returned.tolist() == [[3, 0], [4, 1]] and lineup.answered.tolist() == [1, 2]
    assert [one.documents[d] for d in lineup.order[0, :3]] == ["b", "new", "a"]
    return lineup


def test_judgements_and_runs_without_features(write):
    qrels, run = write(QRELS, "qrels"), write(RUN, "mine.run")
    ranx = [type("Ranx", (), {"to_dict": lambda self, t=table: t, "name": "mine.run"})() for table in TABLES]
    judgements = [
        type("Qrel", (), {"query_id": q, "doc_id": d, "relevance": g}) for q, row in TABLES[0].items() for d, g in row.items()
    ]
    dataset = type("Dataset", (), {"qrels_iter": lambda self: iter(judgements)})()
    pairs = ((qrels, run), TABLES, ranx, (dataset, run))
    assert len({lineup_of(judged, retrieved).digest for judged, retrieved in pairs}) == 1
    for text, words in (
        ("q1 0 a\n", "must be 'query 0 document grade', 4 words. Got 3"),
        ("q1 0 a x\n", "the grade must be a finite number"),
        ("q1 0 a 1\nq1 0 a 2\n", "'a' must come once for query 'q1'"),
        ("\n", "must hold a line per judged document"),
    ):
        with pytest.raises(BadInput, match=words):
            rankers.read_qrels(write(text, "bad"))
    for bad in ({"q": {"a": 0.5}}, {"q": {"a": 5000}}):
        with pytest.raises(BadInput, match="with whole grades below 1000"):
            list(rankers.judged_queries(bad))
    for bad in (7, {}, {"q": 3}, {"q": {"a": float("nan")}}):
        with pytest.raises(BadInput, match="Judgements must be a file, or finite numbers"):
            list(rankers.judged_queries(bad))


def test_qrels_at_the_terminal(write, tmp_path):
    qrels, run, other = write(QRELS, "qrels"), write(RUN, "mine.run"), write(RUN.replace("9.5", "0.1"), "other.run")
    arguments = ["--qrels", qrels, "--run", run, "--run", other, "--comparisons", "200", "--out", tmp_path / "P.csv"]
    said = CliRunner().invoke(app, ["matrix", *map(str, arguments)], catch_exceptions=False).stdout
    assert "mine.run: documents for 1 of 2 queries" in said and "2 queries, 5 documents" in said
    for wrong, words in ((["--qrels", qrels], "goes with '--run'"), (["--run", run], "Got neither")):
        found = CliRunner().invoke(app, ["matrix", *map(str, wrong), "--out", str(tmp_path / "Q.csv")])
        assert isinstance(found.exception, BadInput) and words in str(found.exception)


@pytest.mark.parametrize(
    ("name", "features", "queries", "documents", "counts"),
    [
        ("mq2008", 46, 784, 15211, [12279, 2001, 931]),
        ("mslr_web_fold1_sample", 136, 89, 9122, [5053, 2709, 1169, 136, 55]),
    ],
)
def test_real_files(data_dir, name, features, queries, documents, counts):
    lineup = rankers.line_up(rankers.read_letor(data_dir / f"{name}.svm.gz"))
    assert (lineup.n_arms, len(lineup.queries), len(lineup.grade)) == (features, queries, documents)
    assert np.bincount(lineup.grade).tolist() == counts


def test_real_file_with_string_ids(data_dir):
    first = next(iter(rankers.read_letor(data_dir / "np2004_fold1_vali_test.svm.gz")))
    assert first.id == "WT04-132"
    assert first.documents[0] == "G00-43-3417672"
    assert first.features.shape[1] == 64


def test_objects_of_ranx_itself():
    ranx = pytest.importorskip("ranx", reason="needs the package ranx: pip install 'multiduel[search]'")
    judged = ranx.Qrels({q: {d: max(0, grade) for d, grade in row.items()} for q, row in TABLES[0].items()})
    run = ranx.Run({q: {d: float(score) for d, score in row.items()} for q, row in TABLES[1].items()}, name="theirs")
    lineup_of(judged, run)
    assert rankers.run_file(run).name == "theirs"


def test_a_dataset_of_ir_datasets_itself(write):
    ir_datasets = pytest.importorskip("ir_datasets", reason="needs the package ir_datasets: pip install 'multiduel[search]'")
    judged = ir_datasets.create_dataset(
        queries_tsv=str(write("q1\tpie\nq2\ttea\n", "queries.tsv")), qrels_trec=str(write(QRELS, "q"))
    )
    lineup_of(judged, write(RUN, "mine.run"))
    with pytest.raises(BadInput, match="Judgements must be a file, or finite numbers"):
        list(rankers.judged_queries(ir_datasets.create_dataset(queries_tsv=str(write("q1\tpie\n", "queries.tsv")))))
