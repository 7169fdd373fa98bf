"""What comes into a log and out of it: refused at the door or counted and said, never silently taken for something else."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from multiduel import rankers
from multiduel.cli.ranker_logs import app
from multiduel.inputs import BadInput
from multiduel.rankers import report

LISTS = [[f"d{k}" for k in order] for order in (range(6), range(5, -1, -1))]


def a_page(seed=1, method="team-draft"):
    return rankers.multileave(LISTS, names=["old", "new"], method=method, length=4, seed=seed)


def test_an_import_that_fails_leaves_nothing_behind_and_can_be_tried_again(tmp_path, monkeypatch):
    log = rankers.Log(tmp_path / "log.jsonl")
    rows = [{"impression": "1", "position": 1, "document": "x", "ranker": "old", "clicked": 1, "rankers": "old|new"}]
    real = os.write

    def full(file, data):
        real(file, bytes(data)[:10])
        raise OSError(28, "No space left on device")

    rankers.import_table(rows, log)
    before = log.path.read_bytes()
    monkeypatch.setattr(os, "write", lambda file, data: full(file, data) if len(data) > 300 else real(file, data))
    with pytest.raises(BadInput, match="cannot be written: No space left"), log.all_or_nothing() as draft:
        draft._append = lambda record: draft.path.write_bytes(b"x" * 500)
        draft._append({})
    assert log.path.read_bytes() == before
    monkeypatch.undo()
    new = rankers.Log(tmp_path / "new.jsonl")
    with pytest.raises(BadInput, match="'clicked' must be"):
        rankers.import_table([*rows, rows[0] | {"impression": "2", "clicked": "perhaps"}], new)
    assert not new.path.exists() and rankers.import_table(rows, new) == 1


@pytest.mark.parametrize("name", ["user", "session"])
def test_an_empty_name_is_nobody_and_refused(tmp_path, name):
    log = rankers.Log(tmp_path / "log.jsonl")
    with pytest.raises(BadInput, match=f"'{name}' must be null where nobody is known"):
        log.shown(a_page(), **{name: ""})
    log.shown(a_page(), query="")
    assert rankers.analyse(log).unknown == 1


def test_weights_that_a_method_cannot_use_are_counted_as_clicks_and_said(tmp_path):
    log = rankers.Log(tmp_path / "log.jsonl")
    page = a_page(method="probabilistic")
    log.clicked(log.shown(page, user="u"), page["documents"][0], weight=2.5)
    found = rankers.analyse(log)
    assert found.clicks == 1 and found.faults.weights == 1
    assert "1 clicks had a weight that the method of their page cannot use" in " ".join(report.words(found))
    (shown,) = log.pages()
    assert shown.clicks == {page["documents"][0]: 1.0} and rankers.credit(page, shown.clicks) is not None


def test_milliseconds_are_not_seconds(tmp_path):
    log = rankers.Log(tmp_path / "log.jsonl")
    with pytest.raises(BadInput, match="milliseconds are above"):
        log.shown(a_page(), time=1754300000000)
    assert not log.path.exists()


def test_a_click_long_before_its_page_is_refused_or_counted(tmp_path):
    log = rankers.Log(tmp_path / "log.jsonl")
    page = a_page()
    id = log.shown(page, time=5000.0)
    log.clicked(id, page["documents"][0], time=4970.0)  # clocks differ
    assert rankers.analyse(log).clicks == 1
    log.clicked(id, page["documents"][1], time=3000.0)
    for read in (lambda: rankers.analyse(log), lambda: list(log.pages())):
        with pytest.raises(BadInput, match=r"must be shown before it is clicked.*2,000 seconds before"):
            read()
    found = rankers.analyse(log, bad="skip")
    assert found.clicks == 1 and found.faults.early == 1 and "1 clicks before their page" in " ".join(report.words(found))


def test_mixed_methods_are_said(tmp_path):
    log = rankers.Log(tmp_path / "log.jsonl")
    for method in ("team-draft", "pair-draft", "pair-draft"):
        log.shown(a_page(method=method))
    found = rankers.analyse(log)
    assert "mixed by 2 methods, which measure differently: team-draft (1 pages), pair-draft (2 pages)" in " ".join(
        report.words(found)
    )
    assert rankers.analyse(log, where={"method": "pair-draft"}).pages == 2


def test_an_exported_log_comes_back_whole(tmp_path):
    pytest.importorskip("pyarrow")
    log = rankers.Log(tmp_path / "log.jsonl")
    rng = np.random.default_rng(0)
    for k in range(30):
        page = rankers.multileave([[1, 2, "3"], ["3", 2, 1]], names=["old", "new"], length=3, seed=k)
        id = log.shown(page, user=f"u{k % 7}", fields={"device": "mobile", "age": 7}, time=1000.0 + k)
        for document in page["documents"][: rng.integers(3)]:
            log.clicked(id, document, time=1000.0 + k, weight=2.0)
        log.clicked(id, page["documents"][0], time=1000.0 + k, metric="purchase")
    with pytest.raises(BadInput, match=r"ends in \.parquet\. Got"):
        rankers.export_parquet(log, tmp_path / "e.csv")
    assert not (tmp_path / "e.csv").exists()
    rankers.export_parquet(log, tmp_path / "e.parquet")
    again = rankers.Log(tmp_path / "again.jsonl")
    assert rankers.import_table(tmp_path / "e.parquet", again) == 30
    for one, two in zip(log.pages(), again.pages(), strict=True):
        assert one[:7] == two[:7] and one[8:] == two[8:]
    (tmp_path / "rubbish.parquet").write_bytes(b"PAR1 rubbish")
    with pytest.raises(BadInput, match="cannot be read as Parquet"):
        rankers.import_table(tmp_path / "rubbish.parquet", rankers.Log(tmp_path / "none.jsonl"))
    result = CliRunner().invoke(app, ["export", str(log.path), "--out", str(tmp_path / "e.csv")])
    assert isinstance(result.exception, BadInput)


def stored(index, source):
    return {"_index": index, "_id": "x", "_source": source}


def test_user_behavior_insights_as_the_plugin_stores_them(tmp_path):
    page = rankers.multileave(LISTS, names=["old", "new"], method="team-draft", length=2, seed=3)
    longer = rankers.more(page, LISTS, length=2)
    attributes = json.dumps({"multileaving": json.dumps(page), "device": "mobile", "nested": {"a": 1}})
    at = 1754300000000
    query = {"application": "shop", "query_id": "q1", "client_id": "c1", "session_id": "s1", "user_query": "pie", "timestamp": at}
    queries = [
        stored("ubi_queries", query | {"query_attributes": attributes, "query_response_hit_ids": page["documents"]}),
        stored("ubi_queries", query | {"timestamp": at + 5000, "query_attributes": {"multileaving": longer}}),  # continued
        stored("ubi_queries", query | {"query_id": "q2"}),
    ]

    def event(action, document, after, **more):
        thing = {"object_id": document, "object_id_field": "sku"}
        return stored(
            "ubi_events",
            {"action_name": action, "client_id": "c1", "timestamp": at + after, "event_attributes": {"object": thing}} | more,
        )

    last = longer["documents"][3]
    events = [
        event("click", page["documents"][0], 9000, query_id="q1"),
        event("add_to_cart", last, 9000, query_id="q1"),
        event("purchase", last, 3_600_000),  # no query: by client and document
        event("purchase", "never shown", 3_600_000),
        event("purchase", last, 30 * 86_400_000),  # too late
        event("hover", last, 9000, query_id="q1"),
    ]
    files = tmp_path / "ubi_queries.json", tmp_path / "ubi_events.json"
    files[0].write_text(json.dumps({"took": 1, "hits": {"hits": queries}}))
    files[1].write_text("\n".join(map(json.dumps, events)))
    log = rankers.Log(tmp_path / "log.jsonl")
    made = rankers.import_ubi(*files, log, actions={"click": 1.0, "add_to_cart": 3.0}, metrics=["purchase"])
    assert made == (1, 3, 1, 1, 2)
    (shown,) = log.pages()
    assert shown.time == at / 1000 and shown.page == longer and shown.fields == {"device": "mobile"}
    assert shown.clicks == {page["documents"][0]: 1.0, last: 3.0} and shown.others == {"purchase": {last: 1.0}}
    said = (
        CliRunner()
        .invoke(
            app,
            [
                "import",
                str(files[0]),
                "--events",
                str(files[1]),
                "--out",
                str(tmp_path / "cli.jsonl"),
                "--key",
                str(log.key),
                "--action",
                "click",
                "--action",
                "add_to_cart=3",
                "--metric",
                "purchase",
            ],
            catch_exceptions=False,
        )
        .stdout
    )
    assert "1 pages, 3 events (1 of them joined by client and document)" in said
    assert (tmp_path / "cli.jsonl").read_bytes() == log.path.read_bytes()


def test_the_opensearch_middleware_finds_its_best_ranker():
    script = Path(__file__).resolve().parents[2] / "examples" / "opensearch_middleware.py"
    done = subprocess.run([sys.executable, script, "--selftest"], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.startswith("'title and text' is best for users like these (95 %)")
