"""Fields, segments, metrics and guardrails; and a user who is forgotten."""

import json
import threading

import numpy as np
import pytest
from typer.testing import CliRunner

from multiduel import rankers
from multiduel.cli.ranker_logs import app
from multiduel.inputs import BadInput
from multiduel.rankers.judgements import Codes
from tests.rankers.made_logs import made_judgements

LISTS = [["a", "b", "c", "d"], ["d", "c", "b", "a"]]


def two_segments(rng, mobile=0.9, desktop=0.1, pages=400, purchases=0.5):
    """Ranker 0 is liked on mobile devices, ranker 1 on desktops."""
    codes = rng.integers(2, size=pages).astype(np.int32)
    won = (rng.random(pages) < np.where(codes == 0, mobile, desktop)).astype(float)
    bought = np.where(rng.random(pages) < 0.7, 0.5, (rng.random(pages) < purchases).astype(float))
    fields = {"device": (codes, Codes(["mobile", "desktop"]))}
    arms = np.tile([0, 1], (pages, 1))
    return made_judgements(
        arms, won[:, None], np.arange(pages), names=["old", "new"], fields=fields, metrics={"purchase": bought[:, None]}
    )


def test_segments_differ_and_share_the_error():
    log = two_segments(np.random.default_rng(0))
    cut = rankers.segments(log, "device")
    assert {name: one.names[one.verdict.winner] for name, one in cut.items()} == {"mobile": "old", "desktop": "new"}
    assert all(one.alpha == 0.025 for one in cut.values()) and sum(one.pages for one in cut.values()) == log.pages
    only = rankers.analyse(log, where={"device": "mobile"})
    assert only.names[only.verdict.winner] == "old" and only.alpha == 0.05 and only.pages == cut["mobile"].pages
    for wrong, words in (
        (lambda: rankers.analyse(log, where={"device": "phone"}), "'device' of this log is 'desktop', 'mobile'. Got 'phone'"),
        (lambda: rankers.analyse(log, where={"country": "x"}), "have the fields 'device', 'method'. Got 'country'"),
        (lambda: rankers.analyse(log, metric="dwell"), "'click', 'purchase'. Got 'dwell'"),
    ):
        with pytest.raises(BadInput, match=words):
            wrong()


def test_error_over_all_segments_is_at_most_alpha():
    """Equal rankers, 20 segments: without sharing, far more than one log in ten would name a winner somewhere."""
    rng, shared, alone = np.random.default_rng(1), 0, 0
    for _ in range(60):
        won = rng.integers(2, size=(2000, 1)).astype(float)
        fields = {"country": (rng.integers(20, size=2000).astype(np.int32), Codes([str(k) for k in range(20)]))}
        log = made_judgements(np.tile([0, 1], (2000, 1)), won, np.arange(2000), names=["old", "new"], fields=fields)
        shared += any(one.verdict.settled for one in rankers.segments(log, "country", alpha=0.1).values())
        alone += any(rankers.analyse(log, alpha=0.1, where={"country": str(k)}).verdict.settled for k in range(20))
    assert shared <= 6 + 3 * np.sqrt(60 * 0.1 * 0.9) and alone > shared


def test_guardrails_hold_are_violated_or_open():
    rng = np.random.default_rng(2)
    for chance, pages, state in ((0.5, 4000, "holds"), (0.05, 4000, "violated"), (0.5, 60, "open")):
        log = two_segments(rng, mobile=0.9, desktop=0.9, pages=pages, purchases=chance)
        found = rankers.analyse(log)
        guard = rankers.guardrail(log, found, "purchase", 0.1)
        assert (guard.ranker, guard.state) == ("old", state) and guard.low <= guard.value <= guard.high
        assert "Guardrail purchase, at most 10 % worse" in str(guard)
    with pytest.raises(BadInput, match="is the metric that decides"):
        rankers.guardrail(log, found, "click", 0.1)
    with pytest.raises(BadInput, match=r"below 0\.5"):
        rankers.guardrail(log, found, "purchase", 0.7)


def test_the_interval_of_abandonment_covers():
    """Users who give up more or less, four pages each; pages with the ranker have no click 5 points more often."""
    rng, inside = np.random.default_rng(3), 0
    for _ in range(200):
        users = np.repeat(np.arange(150), 4)
        arms = np.array([[0, 1], [1, 2]])[rng.integers(2, size=600)]
        gives_up = 0.3 + 0.1 * rng.standard_normal(150)[users] + 0.05 * (arms[:, 0] == 0)
        log = made_judgements(arms, rng.integers(2, size=(600, 1)), users, names=list("abc"))
        log.clicks = (rng.random(600) > gives_up).astype(np.int32)
        found = rankers.analyse(log)
        from multiduel.rankers.log_segments import abandonment

        _, low, high = abandonment(log, found, 0)
        inside += low <= 0.05 <= high
    assert inside >= 200 * 0.95 - 3.5 * np.sqrt(200 * 0.95 * 0.05)


def a_log(path, users=30):
    log = rankers.Log(path)
    for k in range(users * 3):
        page = rankers.multileave(LISTS, names=["old", "new"], method="team-draft", length=3, seed=k)
        fields = {"device": "mobile" if k % 2 else "desktop"}
        id = log.shown(page, user=f"u{k % users}", fields=fields, time=1000.0 + k)
        log.clicked(id, page["documents"][0], time=1001.0 + k)
        log.clicked(id, page["documents"][1], time=1001.0 + k, metric="purchase")
    return log


def test_the_command_cuts_guards_and_reads_on(tmp_path):
    log = a_log(tmp_path / "log.jsonl")
    numbers, page = tmp_path / "n.json", tmp_path / "page.html"
    command = ["analyse", str(log.path), "--by", "device", "--guardrail", "purchase=0.02", "--guardrail", "abandonment=0.02"]
    command += ["--state", str(tmp_path / "log.state"), "--json", str(numbers), "--html", str(page)]
    said = [CliRunner().invoke(app, command, catch_exceptions=False).stdout for _ in range(2)]
    assert said[0] == said[1] and "By device, with an error of 5 % over all 2 together:" in said[0]
    found = json.loads(numbers.read_text())
    assert set(found["segments"]) == {"mobile", "desktop"} and len(found["guardrails"]) == 2
    assert "Guardrail abandonment" in page.read_text() and (tmp_path / "log.state").exists()
    for wrong in (["--where", "device"], ["--guardrail", "purchase=much"], ["--by", "country"]):
        assert isinstance(CliRunner().invoke(app, ["analyse", str(log.path), *wrong]).exception, BadInput)


def test_a_user_who_is_forgotten_leaves_nothing(tmp_path):
    log = a_log(tmp_path / "log.jsonl")
    before = rankers.analyse(log)
    assert log.pseudonym("u7") in log.path.read_text()
    with open(log.path, "a") as file:
        file.write("a line that is none\n")
    said = CliRunner().invoke(app, ["forget", str(log.path), "u7"], catch_exceptions=False).stdout
    assert (
        "Removed 3 pages and 6 clicks" in said
        and log.pseudonym("u7") not in log.path.read_text()
        and "a line that is none" in log.path.read_text()
    )
    after = rankers.analyse(log, bad="skip")
    assert (after.pages, after.users, after.clicks) == (before.pages - 3, before.users - 1, before.clicks - 3)
    whole = log.path.read_bytes()
    assert log.forget("nobody") == (0, 0) and log.path.read_bytes() == whole
    with pytest.raises(BadInput, match="the name of a user"):
        log.forget("")


def test_what_is_written_while_a_user_is_forgotten_is_kept(tmp_path):
    log = a_log(tmp_path / "log.jsonl")
    stop, written = threading.Event(), []

    def writer():
        page = rankers.multileave(LISTS, names=["old", "new"])
        while not stop.wait(0.005) and len(written) < 200:
            written.append(rankers.Log(log.path).shown(page, user="new"))

    thread = threading.Thread(target=writer)
    thread.start()
    gone = 0
    for k in range(15):
        for _ in range(20):
            try:
                gone += log.forget(f"u{k}")[0]
                break
            except BadInput as refusal:
                assert "was written to meanwhile" in str(refusal)
        if k == 10:
            stop.set()
            thread.join()
    assert {page.id for page in log.pages()} >= set(written) and gone >= 4 * 3
