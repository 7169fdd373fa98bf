"""Logs of strangers: any nonsense in any field is refused in a sentence with its line, and changes nothing."""

import copy
import csv
import json
import subprocess
import sys

import numpy as np
import pytest

from multiduel import rankers
from multiduel.inputs import BadInput

PAGE = dict(rankers.multileave([["x", "y"], ["y", "x"]], names=["old", "new"], seed=1))
QUERY = {
    "query_id": "1",
    "client_id": "ada",
    "session_id": "s",
    "user_query": "pie",
    "timestamp": 1.0,
    "query_attributes": {"multileaving": PAGE},
}
EVENT = {
    "action_name": "click",
    "query_id": "1",
    "timestamp": "2026-01-31T12:00:00Z",
    "event_attributes": {"object": {"object_id": "x"}},
}
IMPRESSION = {"kind": "impression", "id": "a", "time": 1.5, "user": "u", "session": "s", "query": "q", "page": PAGE}
MORE = {"kind": "more", "id": "a", "time": 1.5, "page": PAGE}
CLICK = {"kind": "click", "id": "a", "time": 2.0, "document": "x", "weight": 1.0}
ROW = {"impression": "1", "position": 1, "document": "x", "ranker": "old", "clicked": 1, "rankers": "old|new", "time": 3}
ROW |= {"user": "u", "session": "s", "query": "q"}
NONSENSE = (
    None,
    True,
    -1,
    1.5,
    10**400,
    float("nan"),
    float("inf"),
    1e308,
    "",
    "x",
    "\ud800",
    "\0",
    [],
    ["a"],
    [[1]],
    {},
    {"a": 1},
)


def places(value, path=()):
    """The path of the value itself and of every field within."""
    yield path
    inner = value.items() if isinstance(value, dict) else list(enumerate(value))[:1] if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*path, key))


def replaced(value, path, new):
    if not path:
        return new
    changed = copy.deepcopy(value)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = new
    return changed


def lines(path, *records):
    path.write_text("".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records))
    return path


def refused_or_taken(work, log):
    """Carry out; a refusal is a sentence that fits on a page, and leaves the log as it was."""
    try:
        work()
    except BadInput as refusal:
        assert len(str(refusal)) < 1000
        assert not log.path.exists()
        return str(refusal)
    list(log.pages(bad="skip"))
    return ""


@pytest.mark.parametrize("nonsense", NONSENSE, ids=repr)
def test_ubi_refuses_nonsense_in_any_field(tmp_path, nonsense):
    for queries, events, name in [
        *((replaced(QUERY, path, nonsense), EVENT, "queries") for path in places(QUERY)),
        *((QUERY, replaced(EVENT, path, nonsense), "events") for path in places(EVENT)),
    ]:
        files = lines(tmp_path / "queries", queries), lines(tmp_path / "events", events)
        log = rankers.Log(tmp_path / "log.jsonl")
        said = refused_or_taken(lambda: rankers.import_ubi(*files, log), log)  # noqa: B023
        assert not said or name in said
        log.path.unlink(missing_ok=True)


@pytest.mark.parametrize("name", ["action_name", "query_id"])
def test_ubi_names_the_line_of_a_list_in_an_event(tmp_path, name):
    files = lines(tmp_path / "q", QUERY), lines(tmp_path / "e", EVENT, EVENT | {name: ["click"]})
    log = rankers.Log(tmp_path / "log.jsonl")
    with pytest.raises(BadInput, match=rf"e', line 2: '{name}' must be text\. Got \['click'\]\."):
        rankers.import_ubi(*files, log)
    assert not log.path.exists()  # nor the line before it


@pytest.mark.parametrize("time", ["next week", "2026-13-01", 1e300, 10**400, True, [1]])
def test_ubi_refuses_times_that_no_clock_shows(tmp_path, time):
    files = lines(tmp_path / "q", QUERY), lines(tmp_path / "e", EVENT | {"timestamp": time})
    log = rankers.Log(tmp_path / "log.jsonl")
    said = refused_or_taken(lambda: rankers.import_ubi(*files, log), log)
    assert "e', line 1: 'time' must be seconds or a date" in said


@pytest.mark.parametrize("nonsense", NONSENSE, ids=repr)
def test_a_log_with_nonsense_in_any_field_is_refused_or_read(tmp_path, nonsense):
    for which, record in enumerate((IMPRESSION, MORE, CLICK)):
        for path in places(record):
            records = [IMPRESSION, MORE, CLICK]
            records[which] = replaced(record, path, nonsense)
            log = rankers.Log(lines(tmp_path / "log.jsonl", *records))
            list(log.pages(bad="skip"))
            try:
                list(log.pages())
                rankers.export_parquet(log, tmp_path / "log.parquet")
            except BadInput as refusal:
                assert "log.jsonl'" in str(refusal)


@pytest.mark.parametrize("nonsense", NONSENSE, ids=repr)
def test_a_table_with_nonsense_in_any_column_is_refused_or_imported(tmp_path, nonsense):
    for path in places(ROW):
        log = rankers.Log(tmp_path / "log.jsonl")
        source = lines(tmp_path / "table.jsonl", replaced(ROW, path, nonsense))
        said = refused_or_taken(lambda: rankers.import_table(source, log), log)  # noqa: B023
        assert not said or "table.jsonl', line 1" in said
        log.path.unlink(missing_ok=True)
        refused_or_taken(lambda: rankers.import_table([replaced(ROW, path, nonsense)], log), log)  # noqa: B023
        log.path.unlink(missing_ok=True)


def test_a_refused_row_leaves_the_log_as_it_was(tmp_path):
    log = rankers.Log(tmp_path / "log.jsonl")
    assert rankers.import_table([ROW], log) == 1
    before = log.path.read_bytes()
    with pytest.raises(BadInput, match="The table, row 2, page '3': 'clicked' must be"):
        rankers.import_table([ROW | {"impression": "2"}, ROW | {"impression": "3", "clicked": "perhaps"}], log)
    assert log.path.read_bytes() == before


def test_a_csv_with_a_cell_beyond_all_limits_is_refused_by_its_line(tmp_path):
    source = tmp_path / "table.csv"
    source.write_text("impression,position,document,ranker,clicked\n1,1,a,x,1\n2,1," + "y" * 200_000 + ",x,1\n")
    before = csv.field_size_limit(131_072)  # of the whole process
    try:
        with pytest.raises(BadInput, match=r"table\.csv', line 3: must be comma-separated text"):
            rankers.import_table(source, rankers.Log(tmp_path / "log.jsonl"))
    finally:
        csv.field_size_limit(before)


@pytest.mark.parametrize("nonsense", [*NONSENSE, object()], ids=lambda one: "object" if type(one) is object else repr(one))
def test_a_log_is_written_only_with_lines_that_it_can_read(tmp_path, nonsense):
    log = rankers.Log(tmp_path / "log.jsonl")
    page = rankers.Impression(PAGE)
    for write in (
        *(lambda name=name: log.shown(page, **{name: nonsense}) for name in ("user", "session", "query", "id", "time")),
        *(lambda name=name: log.clicked("a", "x", **{name: nonsense}) for name in ("weight", "time")),
        lambda: log.clicked(nonsense, "x"),
        lambda: log.clicked("a", nonsense),
        lambda: log.continued(nonsense, page),
        lambda: log.continued("a", nonsense),
        lambda: log.shown(nonsense),
    ):
        try:
            write()
        except BadInput:
            continue
    if log.path.exists():
        faults = []
        list(log.pages(bad="skip", faults=faults))
        assert faults[0].lines == 0


def test_many_clicks_on_one_page_are_read_in_linear_time(tmp_path):
    """The time limit only guards against hanging: all of it takes 7 s; the quadratic way took 113 s for 80,000 clicks."""
    code = """
import json, sys
from multiduel import rankers
documents = [f"d{k}" for k in range(30_000)]
page = rankers.multileave([documents, documents[::-1]], names=["old", "new"], method="team-draft", length=30_000, seed=1)
log = rankers.Log(sys.argv[1])
log.shown(page, id="a", time=0.0)
with open(log.path, "a") as file:
    for k in range(300_000):
        click = {"kind": "click", "id": "a", "time": k, "document": documents[k % 30_000], "weight": 1.0 + k // 270_000}
        file.write(json.dumps(click, separators=(",", ":")) + "\\n")
(shown,) = log.pages()
assert shown.clicks == dict.fromkeys(documents, 2.0)
assert rankers.read_judgements(log).clicks.tolist() == [30_000]
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "log.jsonl")], check=True, timeout=300)


# ---- weights above 1


WEIGHING = ("pair-draft", "neutral-team-draft", "team-draft", "probabilistic-drawn", "optimised", "greedy")
HEAVY = {"a1": 3.0, "b1": 1.0, "b2": 1.0}  # one click that outweighs two, but not if it is cut to 1


def heavy_page():
    """A page of team draft: one document of ranker a, two of ranker b."""
    rows = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
    return rankers.Impression(PAGE | {"method": "team-draft", "documents": list(HEAVY), "evidence": rows})


def test_a_click_that_weighs_three_beats_two_that_weigh_one():
    wins = rankers.credit(heavy_page(), HEAVY)
    assert wins[0, 1] > wins[1, 0]
    level = rankers.credit(heavy_page(), dict.fromkeys(HEAVY, 1.0))
    assert level[0, 1] < level[1, 0]


def test_a_log_keeps_weights_above_one(tmp_path):
    log = rankers.Log(tmp_path / "log.jsonl")
    id = log.shown(heavy_page(), user="u")
    for document, weight in HEAVY.items():
        log.clicked(id, document, weight=weight)
    (shown,) = log.pages()
    assert shown.clicks == HEAVY
    assert rankers.read_judgements(log).won["click"].tolist() == [1.0]


@pytest.mark.parametrize("method", WEIGHING)
def test_weights_above_one_count_in_full_with_every_method_that_weighs(method):
    """Clicks of 4 and 2 say what clicks of 1 and 1/2 say; cut to 1 they would say what two equal clicks say."""
    differ = 0
    for seed in range(30):
        page = rankers.multileave([["a", "b", "c"], ["b", "c", "d"]], names=["old", "new"], method=method, length=3, seed=seed)
        first, second = page["documents"][:2]
        heavy = rankers.credit(page, {first: 4.0, second: 2.0})
        assert np.array_equal(heavy, rankers.credit(page, {first: 1.0, second: 0.5}))
        differ += not np.array_equal(heavy, rankers.credit(page, [first, second]))
    assert differ
