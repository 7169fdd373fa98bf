"""Rankers as arms, NDCG, click models."""

import json

import numpy as np
import pytest

from multiduel import rankers
from multiduel.inputs import BadInput
from multiduel.rankers.corpus import Query


def query(grades, features, id="q"):
    return Query(id, np.array(grades), np.array(features, float), tuple(str(d) for d in range(len(grades))))


def test_directions_and_names():
    one = query([0, 1, 2], [[3, 1], [1, 2], [2, 3]])
    down, up, both = (rankers.line_up([one], direction=d) for d in ("descending", "ascending", "both"))
    assert down.names == ("f1", "f2")
    assert up.names == ("f1-asc", "f2-asc")
    assert both.names == ("f1", "f1-asc", "f2", "f2-asc")
    assert down.order.tolist() == [[0, 2, 1], [2, 1, 0]]
    assert up.order.tolist() == [[1, 2, 0], [0, 1, 2]]
    assert both.order.tolist() == [[0, 2, 1], [1, 2, 0], [2, 1, 0], [0, 1, 2]]
    assert down.rank.tolist() == [[0, 2, 1], [2, 1, 0]]


def test_callables_rank_too():
    def by_length(q):
        return [len(name) for name in q.documents]

    one = query([0, 1], [[1], [2]])._replace(documents=("long", "s"))
    lineup = rankers.line_up([one], [by_length, lambda q: -q.features[:, 0], rankers.feature(9)])
    assert lineup.names == ("by_length", "ranker 1", "f9")
    assert lineup.order[:2].tolist() == [[0, 1], [0, 1]]


def test_constant_features_share_one_random_order_and_the_order_of_the_file_never_counts():
    queries = [query(sorted([0] * 10 + [4] * 10, reverse=True), np.ones((20, 2)), str(k)) for k in range(200)]
    lineup = rankers.line_up(queries)
    np.testing.assert_array_equal(lineup.order[0], lineup.order[1])
    tops = lineup.grade.reshape(200, 20)[np.arange(200), lineup.order[0].reshape(200, 20)[:, 0]]
    assert 60 < (tops == 4).sum() < 140  # half of 200, give or take 5.6 standard deviations
    other = rankers.line_up(queries, seed=1)
    assert not np.array_equal(lineup.order, other.order)


def test_features_that_a_query_does_not_mention_are_zero():
    lineup = rankers.line_up([query([0, 1], [[1], [2]], "a"), query([0, 1], [[1, 5, 1], [2, 6, 0]], "b")])
    assert lineup.n_arms == 3
    np.testing.assert_array_equal(lineup.order[1, :2], lineup.order[2, :2])
    assert lineup.order[1, 2:].tolist() == [1, 0]


def test_ndcg_by_hand():
    lineup = rankers.line_up([query([0, 2, 1], [[3, 1], [2, 3], [1, 2]]), query([0, 0], [[1, 1], [2, 2]], "none relevant")])
    best = 3 + 1 / np.log2(3)
    assert lineup.ndcg(10) == pytest.approx([(3 / np.log2(3) + 1 / 2) / best, 1.0])
    assert lineup.ndcg(1) == pytest.approx([0.0, 1.0])
    assert np.isnan(rankers.line_up([query([0, 0], [[1], [2]])]).ndcg()).all()


def test_taking_and_joining():
    lineup = rankers.line_up(rankers.generate(queries=3, documents=5, features=4))
    some = lineup.take([2, 0])
    assert some.names == ("f3", "f1")
    np.testing.assert_array_equal(some.order, lineup.order[[2, 0]])
    with pytest.raises(BadInput, match="Got 'f3' twice"):
        lineup.join(some)
    with pytest.raises(BadInput, match="from 0 to 3"):
        lineup.take([4])
    assert lineup.take([0]).join(lineup.take([1])).digest == lineup.take([0, 1]).digest


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (lambda q: [1.0], "one number per document, 2 for query 'q'"),
        (lambda q: [1.0, float("nan")], "with nan"),
        (lambda q: ["x", "y"], "must return numbers"),
        (3, "must be a Ranker or a function"),
    ],
)
def test_bad_rankers_are_named(bad, words):
    with pytest.raises(BadInput, match=words):
        rankers.line_up([query([0, 1], [[1], [2]])], [bad])


def test_nothing_to_rank():
    for queries, words in (([], "At least one query"), ([query([0], np.zeros((1, 0)))], "At least one feature")):
        with pytest.raises(BadInput, match=words):
            rankers.line_up(queries)
    with pytest.raises(BadInput, match="At least one ranker"):
        rankers.line_up([query([0], [[1]])], [])
    with pytest.raises(BadInput, match="direction"):
        rankers.line_up([query([0], [[1]])], direction="sideways")


def test_generated_features_fall_in_quality():
    ndcg = rankers.line_up(rankers.generate(queries=200, features=6)).ndcg()
    assert (np.diff(ndcg) < 0).all()


def test_generated_query_does_not_depend_on_their_number():
    few, many = (list(rankers.generate(queries=n, seed=4)) for n in (2, 5))
    np.testing.assert_array_equal(few[1].features, many[1].features)


def test_named_users_have_the_values_of_the_literature():
    nav = rankers.click_model("navigational", grades=5)
    assert nav.click[0].tolist() == nav.click[9].tolist() == [0.05, 0.3, 0.5, 0.7, 0.95]
    assert nav.stop[0].tolist() == [0.2, 0.3, 0.5, 0.7, 0.9]
    assert rankers.click_model("informational", grades=3).click[0].tolist() == [0.4, 0.7, 0.9]
    assert rankers.click_model("perfect", grades=2).click[0].tolist() == [0.0, 1.0]
    assert rankers.click_model("perfect", grades=1).click[0].tolist() == [0.0]
    pbm = rankers.click_model("position-based", grades=5)
    assert pbm.click[:, 4] == pytest.approx(0.9 / np.arange(1, 11))
    assert not pbm.stop.any()


def test_tables(tmp_path):
    table = rankers.click_table([[0.1, 0.9], [0.0, 0.5]], 0.25, grades=2, depth=3)
    assert table.click.tolist() == [[0.1, 0.9], [0.0, 0.5], [0.0, 0.5]]
    assert (table.stop == 0.25).all()
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"click": [0.1, 0.9], "stop": [[0.0, 0.5]]}))
    read = rankers.click_model(str(file), grades=2, depth=2)
    assert (read.name, read.click.tolist(), read.stop.tolist()) == ("mine", [[0.1, 0.9]] * 2, [[0.0, 0.5]] * 2)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"click": [0.1]}', "mine.json': 'click' must have 2 numbers a row, one per grade"),
        ('{"click": [0.1, 1.5]}', "'click' must hold probabilities, between 0 and 1. Got 1.5"),
        ('{"klick": 1}', "an object with 'click'"),
        ("{", "must be a JSON file"),
        ('{"click": "x"}', "'click' must be a table of numbers"),
    ],
)
def test_bad_tables_are_named(tmp_path, content, words):
    file = tmp_path / "mine.json"
    file.write_text(content)
    with pytest.raises(BadInput, match=words):
        rankers.click_model(str(file), grades=2)


def test_unknown_users():
    with pytest.raises(BadInput, match="Did you mean 'navigational'"):
        rankers.click_model("navigation", grades=5)
    with pytest.raises(BadInput, match="must be a file that exists"):
        rankers.click_model("absent.json", grades=5)
    lineup = rankers.line_up([query([0, 3], [[1], [2]])])
    with pytest.raises(BadInput, match="must know grades 0 to 3"):
        rankers.click_problem(lineup, clicks=rankers.click_model("perfect", grades=2))
