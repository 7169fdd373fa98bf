"""Logs: written by several processes, read back, judged as one page at a time is, damaged in every way; verdicts; replay."""

import json
import multiprocessing
import os
import tracemalloc

import numpy as np
import pytest
from typer.testing import CliRunner

import multiduel as md
from multiduel import rankers
from multiduel.cli.ranker_logs import app
from multiduel.inputs import BadInput
from multiduel.rankers import report
from multiduel.rankers.replay import replay

NAMES = ["good", "fair", "poor"]
RANKINGS = [[f"d{d}" for d in order] for order in ([*range(8)], [1, 0, 3, 2, 5, 4, 7, 6], [*range(7, -1, -1)])]


def clicks_of(page, rng):
    return [document for document in page["documents"] if rng.random() < 0.6 ** (1 + int(document[1:]))]


def write(path, pages=300, users=None, method="team-draft", ties="drop", arms=None, seed=0):
    """A log of users who click the more, the lower a document's number; ranker 0 is best."""
    log, rng = rankers.Log(path), np.random.default_rng(seed)
    for k in range(pages):
        slate = arms or rng.permutation(3)[:2].tolist()
        page = rankers.multileave(RANKINGS, slate, names=NAMES, method=method, ties=ties, length=6, seed=k)
        user = f"u{rng.integers(users)}" if users else f"u{k}"
        id = log.shown(page, user=user, session=f"s{k // 2}", query="q", time=1000.0 + k)
        for document in clicks_of(page, rng):
            log.clicked(id, document, time=1000.5 + k)
    return log


def many(path, who, count):
    log = rankers.Log(path)
    page = rankers.multileave(RANKINGS, names=NAMES, length=6, seed=who)
    for k in range(count):
        id = log.shown(page, user=f"{who}", id=f"{who}-{k}", query="x" * 5000)
        log.clicked(id, page["documents"][0])


def test_several_processes_write_one_log(tmp_path):
    path = tmp_path / "log.jsonl"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=many, args=(path, who, 60)) for who in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    pages = list(rankers.Log(path).pages())
    assert sorted(page.id for page in pages) == sorted(f"{who}-{k}" for who in range(4) for k in range(60))
    assert all(len(page.clicks) == 1 and page.query == "x" * 5000 for page in pages)


def test_a_line_that_was_cut_off_is_named_and_costs_no_other(tmp_path):
    log = write(tmp_path / "log.jsonl", pages=3)
    whole = log.path.read_bytes()
    log.path.write_bytes(whole[:-20])  # as a crash leaves it
    write(log.path, pages=0)
    id = log.shown(rankers.multileave(RANKINGS, names=NAMES, seed=1), user="last")
    with pytest.raises(BadInput, match=r"line \d+: must be a line of a log of impressions: it is no JSON"):
        list(log.pages())
    faults = []
    pages = list(log.pages(bad="skip", faults=faults))
    assert pages[-1].id == id and len(pages) >= 3 and faults[0].lines == 1


@pytest.mark.parametrize("method", rankers.METHODS)
def test_many_pages_are_judged_as_one_is(tmp_path, method):
    log = write(tmp_path / "log.jsonl", pages=250, method=method, ties="half")
    found = rankers.read_judgements(log)
    rows, seats = found.pair_start, found.arm_start
    for at, page in enumerate(log.pages()):
        wins = rankers.credit(page.page, page.clicks)
        n = len(wins)
        np.testing.assert_allclose(found.won["click"][rows[at] : rows[at + 1]], wins[np.triu_indices(n, 1)], atol=1e-7)
        assert [found.rankers.names[arm] for arm in found.arms[seats[at] : seats[at + 1]]] == page.page["rankers"]
        assert found.clicks[at] == len(page.clicks)
    assert found.pages == 250


def test_the_first_judgement_of_a_user_counts_as_in_a_tally_by_rater(tmp_path):
    for ties in ("half", "drop"):
        log = write(tmp_path / f"{ties}.jsonl", pages=400, users=25, ties=ties)
        found = rankers.analyse(log, ties=ties)
        assert found.ties == found.to_json()["ties"] == ties
        number = {name: k for k, name in enumerate(found.names)}
        tally = md.Tally(3, unit="rater")
        for shown in log.pages():
            arms = [number[name] for name in shown.page["rankers"]]
            tally.add(arms, rankers.credit(shown.page, shown.clicks), rater=shown.user)
        np.testing.assert_array_equal(found.above, tally.above)
        np.testing.assert_array_equal(found.level, tally.ties)
        assert found.users == 25 and found.pages == 400 and found.verdict.unit == "rater"
        assert found.judgements.max() <= 25
        every = rankers.analyse(log, unit="impression")
        assert every.verdict.unit == "answer" and every.judgements.max() > 25
        assert rankers.analyse(log, unit="session").users == 200


def test_rankers_that_return_the_same_are_settled_with_a_margin(tmp_path):
    """However the policy was told of ties: without a margin they say nothing, with one that the two are alike."""
    log = rankers.Log(tmp_path / "log.jsonl")
    for user in range(400):
        page = rankers.multileave([list("abcd"), list("abcd")], names=["one", "two"], length=4, seed=user)
        log.clicked(log.shown(page, user=str(user)), "a")
    even = rankers.analyse(log)
    assert even.ties == "drop" and not even.verdict.settled and not even.judgements.any()
    found = rankers.analyse(log, margin=0.05)
    assert found.ties == "half" and found.verdict.settled and found.level[0, 1] == 400


def test_a_verdict_and_when_it_was_certain(tmp_path):
    log = write(tmp_path / "log.jsonl", pages=3000)
    found = rankers.analyse(log)
    assert found.names[found.verdict.winner] == "good" and found.settled.kind == "winner"
    assert 100 <= found.settled.pages < 3000 and found.names[found.settled.leader] == "good"
    assert 1000.0 < found.settled.time < 4000.0
    early = rankers.analyse(write(tmp_path / "early.jsonl", pages=60))
    assert early.settled is None and "Still needed" in report.settled_words(early)
    assert "It has been certain since" in " ".join(report.words(found))
    text = report.page(found, "<b>title")
    assert "&lt;b&gt;title" in text and "<b>title" not in text and text.count("<svg") == 3 and "good" in text
    drop, half = (rankers.analyse(log, ties=ties) for ties in ("drop", "half"))
    assert half.level.sum() > 0 and drop.level.sum() == 0


def test_intervals_by_user_hold_where_those_by_page_do_not(tmp_path):
    """Twelve users with tastes of their own, sixty pages each: half of them always click what one ranker shows, half what the
    other does. In the population nobody is better; by page the verdict is about these users, by user it stays open."""
    wrong_by_page = wrong_by_user = 0
    for trial in range(8):
        log, rng = rankers.Log(tmp_path / f"{trial}.jsonl"), np.random.default_rng(trial)
        for user in range(12):
            likes = rng.integers(2)
            for k in range(60):
                page = rankers.multileave(RANKINGS, (0, 2), names=NAMES, method="team-draft", length=2, seed=1000 * user + k)
                row = page["slate"].index((0, 2)[likes])
                id = log.shown(page, user=str(user), time=0.0)
                for document, evidence in zip(page["documents"], page["evidence"], strict=True):
                    if evidence[row] == 1.0:
                        log.clicked(id, document, time=0.0)
        wrong_by_page += rankers.analyse(log, unit="impression").verdict.kind == "winner"
        wrong_by_user += rankers.analyse(log).verdict.kind == "winner"
    assert wrong_by_page >= 4 and wrong_by_user == 0


def change(log, line, **values):
    lines = log.path.read_text().splitlines()
    lines[line] = json.dumps(json.loads(lines[line]) | values, separators=(",", ":"))
    log.path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("line", "words", "left_out"),
    [
        ("nonsense", "line 2: must be a line of a log of impressions: it is no JSON", {"lines": 1}),
        ('{"kind":"visit","id":"x","time":1}', "'kind' must be impression, more or click", {"lines": 1}),
        ('{"kind":"click","id":"","time":1,"document":"a"}', "'id' must be a text", {"lines": 1}),
        ('{"kind":"click","id":"x","time":"now","document":"a"}', "'time' must be a number", {"lines": 1}),
        ('{"kind":"click","id":"x","time":1,"document":1.5}', "'document' and 'weight'", {"lines": 1}),
        ('{"kind":"click","id":"x","time":1,"document":"a","weight":-1}', "'document' and 'weight'", {"lines": 1}),
        (
            '{"kind":"click","id":"x","time":1,"document":"a","weight":1}',
            "clicks on pages that it does not hold: ..x",
            {"orphans": 1},
        ),
        ('{"kind":"click","id":"first","time":1,"document":"zebra","weight":1}', "did not show 'zebra'", {"not_shown": 1}),
        ('{"kind":"impression","id":"y","time":1,"page":[]}', "'page' must be an impression", {"lines": 1}),
        ('{"kind":"impression","id":"y","time":1,"user":7,"page":{}}', "'user' must be a text or null", {"lines": 1}),
        ("FIRST AGAIN", "a page must be logged once. Page 'first' came before", {"repeated": 1}),
    ],
)
def test_what_is_wrong_with_a_log_is_said_or_counted(tmp_path, line, words, left_out):
    log = rankers.Log(tmp_path / "log.jsonl")
    log.shown(rankers.multileave(RANKINGS, names=NAMES, seed=1), id="first", time=0.0)
    first = log.path.read_text()
    log.path.write_text(first + (first if line == "FIRST AGAIN" else line + "\n"))
    with pytest.raises(BadInput, match=words):
        rankers.analyse(log)
    found = rankers.analyse(log, bad="skip")
    assert found.pages == 1
    assert {name: count for name, count in found.faults._asdict().items() if count} == left_out
    assert "Left out: 1 " in " ".join(report.words(found))


def test_other_bad_input(tmp_path):
    log = rankers.Log(tmp_path / "log.jsonl")
    for call, words in (
        (lambda: rankers.analyse(tmp_path / "none"), "must be a file that exists"),
        (lambda: rankers.analyse(write(tmp_path / "a", pages=2), unit="nobody"), "'unit' must be one of"),
        (lambda: rankers.analyse(write(tmp_path / "b", pages=2), alpha=2.0), "'alpha' must lie"),
        (lambda: rankers.analyse(write(tmp_path / "c", pages=2), timeout=0.0), "'timeout' must be"),
        (lambda: log.clicked("x", 1.5), "A click has a document"),
        (lambda: log.clicked("x", "a", weight=0.0), "A click has a document"),
        (lambda: rankers.Log(tmp_path).shown(rankers.multileave(RANKINGS)), "cannot be written"),
        (lambda: rankers.Log(""), "given by its name"),
    ):
        with pytest.raises(BadInput, match=words):
            call()
    with pytest.raises(BadInput, match="'names' must be different for different arms"):
        rankers.multileave(RANKINGS, names=["a", "b", "a"])
    log.shown(rankers.multileave(RANKINGS[:1], names=NAMES))
    with pytest.raises(BadInput, match=r"at least two rankers\. Got 1"):
        rankers.analyse(log)
    broken = rankers.Log(tmp_path / "d")
    broken.shown(rankers.multileave(RANKINGS, names=NAMES))
    change(broken, 0, page={"documents": [], "slate": []})
    with pytest.raises(BadInput, match=r"line 1: page '.*' is none\. 'impression' must be"):
        rankers.analyse(broken)
    for wrong in ({"rankers": ["a", "a"]}, {"rankers": [["a"], "b"]}, {"evidence": [[0.0]]}, {"slate": [0, True]}):
        log = write(tmp_path / str(wrong), pages=3)
        page = json.loads(log.path.read_text().splitlines()[0])["page"]
        change(log, 0, page={**page, **wrong})
        found = rankers.analyse(log, bad="skip")
        assert found.pages == 2 and found.faults.lines == 1


def test_late_clicks_paging_and_weights(tmp_path):
    log = rankers.Log(tmp_path / "log.jsonl")
    first = rankers.multileave(RANKINGS, (0, 2), names=NAMES, method="team-draft", length=2, seed=4)
    second = rankers.more(first, RANKINGS, length=2)
    assert second["documents"][:2] == first["documents"] and len(second["documents"]) == 4
    assert second == rankers.multileave(RANKINGS, (0, 2), names=NAMES, method="team-draft", length=4, seed=4)
    id = log.shown(first, user="u", time=0.0)
    log.continued(id, second, time=5.0)
    log.clicked(id, second["documents"][3], time=6.0)
    log.clicked(id, first["documents"][0], weight=0.5, time=900.0)
    (page,) = log.pages()
    assert page.page == second and page.clicks == {second["documents"][3]: 1.0, first["documents"][0]: 0.5}
    faults = []
    (page,) = log.pages(timeout=600.0, faults=faults)
    assert page.clicks == {second["documents"][3]: 1.0} and faults[0].late == 1
    assert rankers.analyse(log).pages == 1
    weights = rankers.position_weights(second, [second["documents"][0], second["documents"][3]])
    assert weights == {second["documents"][0]: 1.0, second["documents"][3]: np.log2(5.0)}
    for method in ("optimised", "greedy"):
        with pytest.raises(BadInput, match="cannot continue one"):
            rankers.more(rankers.multileave(RANKINGS, method=method), RANKINGS)
    with pytest.raises(BadInput, match="These begin otherwise"):
        rankers.more(first, RANKINGS[::-1], length=2)


@pytest.mark.parametrize("method", [name for name in rankers.METHODS if name not in ("optimised", "greedy", "balanced")])
def test_a_continued_page_is_the_longer_page(method):
    for seed in range(20):
        page = rankers.multileave(RANKINGS, method=method, length=3, seed=seed)
        whole = rankers.multileave(RANKINGS, method=method, length=8, seed=seed)
        assert rankers.more(rankers.more(page, RANKINGS, length=2), RANKINGS, length=3) == whole


def test_tables_from_elsewhere(tmp_path):
    text = (
        "impression,position,document,ranker,clicked,user\n"
        "1,1,a,x,1,u1\n1,2,b,y,0,u1\n2,2,c,x|y,0,u2\n2,1,d,y,true,u2\n3,1,e,,1,u3\n3,2,f,x,0,u3\n3,3,g,y,0,u3\n"
    )
    source = tmp_path / "clicks.csv"
    source.write_text(text)
    log = rankers.Log(tmp_path / "log.jsonl")
    assert rankers.import_table(source, log) == 3
    one, two, three = log.pages()
    assert one.page["documents"] == ["a", "b"] and one.clicks == {"a": 1.0} and one.user == log.pseudonym("u1")
    assert two.page["documents"] == ["d", "c"] and two.page["evidence"] == [[0, 1, 0], [1, 1, 0]]
    assert not rankers.credit(three.page, three.clicks).any()  # nobody had put it there
    found = rankers.analyse(log, ties="half")
    assert found.names == ("x", "y") and found.above.tolist() == [[0, 1], [1, 0]] and found.level[0, 1] == 1
    rows = [dict(zip(text.splitlines()[0].split(","), line.split(","), strict=True)) for line in text.splitlines()[1:]]
    lines = tmp_path / "clicks.jsonl"
    lines.write_text("\n".join(json.dumps(row) for row in rows))
    frame = type("Frame", (), {"to_dict": lambda self, kind: rows})()
    for k, other in enumerate((lines, frame, rows)):
        again = rankers.Log(tmp_path / f"again{k}.jsonl")
        assert rankers.import_table(other, again) == 3
        assert [page[4:7] for page in again.pages()] == [page[4:7] for page in (one, two, three)]
    for bad, words in (
        ("impression,position,document,ranker\n1,1,a,x\n", "'clicked' is missing"),
        ("impression,position,document,ranker,clicked\n1,one,a,x,1\n", "positions must be whole numbers from 1"),
        ("impression,position,document,ranker,clicked\n1,1,a,x,maybe\n", "'clicked' must be 1 or 0"),
        ("impression,position,document,ranker,clicked\n1,1,a,x,1\n1,2,a,x,1\n", "shows a document once"),
        ("impression,position,document,ranker,clicked\n1,1,a,x,1\n2,1,a,x,1\n1,2,b,x,1\n", "Page '1' comes again"),
        ("impression,position,document,ranker,clicked\n1,1,a,,1\n", "must have a ranker"),
        ("impression,position,document,ranker,clicked,time\n1,1,a,x,1,noon\n", "'time' must be seconds or a date"),
        ("impression,position,document,ranker,clicked,rankers\n1,1,a,x,1,y|z\n", "'x' is missing"),
        ("impression,position,document,ranker,clicked\n", "must hold a row per document"),
        ("impression,position,document,ranker,clicked\n1,1,a,x\n", "line 2: must have 5 cells, as the first line has. Got fewer"),
        ("impression,position,document,ranker,clicked\n1,1,a,x,1,2\n", "line 2: must have 5 cells.*Got more"),
        ("impression,position,document,ranker,clicked\n1,1,a,x,1\n1,1,b,y,0\n", "Position 1 comes again"),
        ("impression,position,document,ranker,clicked,time\n1,1,a,x,1,1754300000000\n", "milliseconds are above"),
    ):
        source.write_text(bad)
        with pytest.raises(BadInput, match=words):
            rankers.import_table(source, rankers.Log(tmp_path / "bad.jsonl"))


def test_pandas_frames(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "impression": [1, 1],
            "position": [1, 2],
            "document": [7, 8],
            "ranker": ["x", "y"],
            "clicked": [True, False],
            "user": ["u", None],
        }
    )
    log = rankers.Log(tmp_path / "log.jsonl")
    assert rankers.import_table(frame, log) == 1
    (page,) = log.pages()
    assert page.clicks == {"7": 1.0} and page.user == log.pseudonym("u")


def test_user_behavior_insights(tmp_path):
    queries, events = tmp_path / "ubi_queries.jsonl", tmp_path / "ubi_events.jsonl"
    page = rankers.multileave(RANKINGS, (0, 1), names=NAMES, length=3, seed=1)
    asked = {"query_id": "q-1", "client_id": "c-1", "user_query": "pie", "timestamp": "2026-01-31T12:00:00Z"}
    plain = {"query_id": "q-2", "client_id": "c-2", "user_query": "cake", "timestamp": "2026-01-31T12:00:00Z"}
    queries.write_text("\n".join(map(json.dumps, [asked | {"query_attributes": {"multileaving": page}}, plain])))
    event = {"action_name": "click", "query_id": "q-1", "timestamp": "2026-01-31T12:00:09Z"}
    click = event | {"event_attributes": {"object": {"object_id": page["documents"][0]}, "position": {"ordinal": 1}}}
    events.write_text("\n".join(map(json.dumps, [click, click | {"action_name": "hover"}, click | {"query_id": "q-2"}])))
    log = rankers.Log(tmp_path / "log.jsonl")
    assert rankers.import_ubi(queries, events, log) == (1, 1, 1, 0, 1)
    (shown,) = log.pages()
    assert (shown.user, shown.query, shown.clicks) == (log.pseudonym("c-1"), "pie", {page["documents"][0]: 1.0})
    assert shown.page == page
    events.write_text(json.dumps(event))
    with pytest.raises(BadInput, match=r"line 1: a click must name 'event_attributes\.object\.object_id'"):
        rankers.import_ubi(queries, events, rankers.Log(tmp_path / "b"))
    queries.write_text(json.dumps(plain))
    with pytest.raises(BadInput, match="Got none among 1"):
        rankers.import_ubi(queries, events, rankers.Log(tmp_path / "c"))


def test_parquet(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    log = write(tmp_path / "log.jsonl", pages=20)
    assert rankers.export_parquet(log, tmp_path / "log.parquet") == 20
    rows = pq.read_table(tmp_path / "log.parquet").to_pylist()
    for row, page in zip(rows, log.pages(), strict=True):
        assert (row["id"], row["user"], row["time"]) == (page.id, page.user, page.time)
        assert row["documents"] == page.page["documents"] and row["clicked"] == list(page.clicks)
        assert row["rankers"] == page.page["rankers"] and row["evidence"] == page.page["evidence"]


def test_a_policy_replayed_sees_what_it_would_have_seen(tmp_path):
    """A log of uniform slates, long enough; the same policy live, and replayed, agree on what they show in the mean."""
    log = write(tmp_path / "log.jsonl", pages=3000, seed=1)
    followed = replay(log, "ind-self-sparring", seed=2)
    assert followed.rounds > 300 and followed.names[followed.policy.recommend()] == "good"
    good = followed.names.index("good")
    assert followed.shown[good] > 0.45 and followed.shown.sum() == pytest.approx(1.0)
    assert followed.rounds == 3000 and followed.alone > 1000 and "Mandel" in " ".join(followed.words())  # it settled on one
    assert replay(log, "ind-self-sparring", seed=2, rounds=50).rounds == 50
    uniform = replay(log, "uniform", seed=3)
    assert uniform.ended and f"all {uniform.used:,} pages of exactly these rankers were used" in " ".join(uniform.words())
    assert uniform.rounds > 2000
    live = []
    rng = np.random.default_rng(9)
    for k in range(600):
        page = rankers.multileave(RANKINGS, rng.permutation(3)[:2].tolist(), method="team-draft", length=6, seed=k)
        live.append(len(clicks_of(page, rng)))
    assert abs(uniform.clicks - np.mean(live)) < 4.5 * np.std(live) * np.sqrt(1 / 600 + 1 / uniform.rounds)
    with pytest.raises(BadInput, match="multi-rucb"):
        replay(log, "multi-rcub")


def test_a_replay_says_that_the_log_has_no_page_of_what_the_policy_asks_for(tmp_path):
    log = rankers.Log(tmp_path / "log.jsonl")
    for k in range(20):
        log.shown(rankers.multileave(RANKINGS, method="team-draft", length=6, seed=k))  # all three on every page
    none = replay(log, "uniform", slate_size=2)
    assert (none.rounds, none.used, len(none.ended)) == (0, 0, 2)
    said = none.words()
    assert "no page of exactly these rankers is in the log" in said[0] and not any("It bets on" in line for line in said)
    assert replay(log, "uniform", slate_size=3).rounds == 20


def test_commands(tmp_path):
    log = write(tmp_path / "log.jsonl", pages=400)
    run = CliRunner().invoke

    def ok(*arguments):
        result = run(app, [str(argument) for argument in arguments], catch_exceptions=False)
        assert result.exit_code == 0
        return result.stdout

    page, picture, numbers = tmp_path / "page.html", tmp_path / "f.svg", tmp_path / "n.json"
    said = ok("analyse", log.path, "--html", page, "--plot", picture, "--json", numbers)
    assert "400 pages for 400 users" in said and "judgements" in said
    assert page.read_text().startswith("<!doctype html>") and picture.read_text().startswith("<svg")
    assert json.loads(numbers.read_text())["pages"] == 400
    assert json.loads(ok("analyse", log.path, "--html", page, "--json", "-")) == json.loads(numbers.read_text())
    assert "Queue-based evaluation" in ok("replay", log.path, "--policy", "multi-rucb")
    assert "400 pages" in ok("export", log.path, "--out", tmp_path / "log.parquet")
    source = tmp_path / "clicks.csv"
    source.write_text("impression,position,document,ranker,clicked\n1,1,a,x,1\n1,2,b,y,0\n")
    assert "1 pages" in ok("import", source, "--out", tmp_path / "new.jsonl")
    result = run(app, ["import", str(source), "--out", str(log.path)])
    assert isinstance(result.exception, BadInput) and "must be a new log" in str(result.exception)
    with open(log.path, "a") as file:
        file.write("rubbish\n")
    assert isinstance(run(app, ["analyse", str(log.path)]).exception, BadInput)
    assert "Left out: 1 lines" in ok("analyse", log.path, "--skip-bad")


def test_memory_grows_with_clicks_and_users_not_with_pages(tmp_path):
    log = write(tmp_path / "log.jsonl", pages=50, users=5)
    lines = [json.loads(line) for line in log.path.read_text().splitlines()]
    shown = [line for line in lines if line["kind"] == "impression"]
    with open(log.path, "w") as file:
        for k in range(20_000):
            file.write(json.dumps(shown[k % 50] | {"id": str(k)}, separators=(",", ":")) + "\n")
    assert os.path.getsize(log.path) > 7e6
    rankers.analyse(write(tmp_path / "warm.jsonl", pages=50, users=5))  # compiled by now
    tracemalloc.start()
    found = rankers.analyse(log)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.pages == 20_000 and found.users == 5
    assert most < 6e6
