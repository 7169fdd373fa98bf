"""The report: what it says, that it agrees with the board, who may read it, and what a reader of its link cannot do."""

from __future__ import annotations

import base64
import html
import re

import pytest
from typer.testing import CliRunner

from multiduel.arena import AdmitRater, Ask, Close, Done, Quarantine, Vote
from multiduel.cli import app
from tests.arena.calling import Caller
from tests.arena.files.test_uploads import PNG, SVG
from tests.arena.web.pages.visiting import Visitor


@pytest.fixture
def call(tmp_path):
    caller = Caller(tmp_path)
    yield caller
    caller.close()


def voted(call, arena, votes=400):
    """Everybody holds the first option for the best."""
    raters = [call.service.do(AdmitRater(arena, f"Ada Secret {k}", ("Lyon", "Oslo")[k % 2])) for k in range(4)]
    for k in range(votes):
        ticket = call.service.do(Ask(arena, raters[k % 4], f"{k}"))
        if isinstance(ticket, Done):
            break
        call.service.do(Vote(ticket.id, {"rank": sorted(range(len(ticket.options)), key=lambda p: ticket.options[p])}))
    return raters


def words_of(page):
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", page).split()))


def test_the_report_says_what_the_board_says_and_names_no_rater(call):
    arena, key = call.arena(slate_size=3, go_on=True, instructions="Choose the **kindest**.")
    raters = voted(call, arena, 80)
    call.service.do(Quarantine(arena, raters[3], "answers within a second"))
    visitor = Visitor(call)
    visitor.enter(key)
    page = visitor("GET", f"/own/{arena}/report")
    said, board = words_of(page.text), call.service.board(arena)
    assert page.status_code == 200 and board.sentence in said
    assert "Winner: mild" in said and "Good morning." in said, "the winner, and its content"
    assert "Ada Secret" not in said and "r1" not in said.split()
    assert f"3 raters gave {board.answers} votes that count" in said
    assert f"{board.set_aside} vote" in said and "rater excluded by the owner: answers within a second" in said
    assert "Choose the kindest ." in said and "What to keep in mind" in said and "at most 5 %" in said
    groups = re.findall(r'<td class="name" dir="auto">(Lyon|Oslo)</td><td class="n">(\d)</td><td class="n">(\d+)</td>', page.text)
    assert {name: int(n) for name, n, _ in groups} == {"Lyon": 2, "Oslo": 1}
    assert sum(int(votes) for *_, votes in groups) == board.answers
    table = re.search(r'aria-label="Standings, a table">(.*?)</table>', page.text, re.DOTALL)[1]
    shown = re.search(r'aria-label="Standings, a table">(.*?)</table>', visitor("GET", f"/own/{arena}/board").text, re.DOTALL)[1]
    assert table == shown, "one table, in both places"


def test_a_report_without_a_winner_claims_none(call):
    arena, key = call.arena(slate_size=3)
    visitor = Visitor(call)
    visitor.enter(key)
    said = words_of(visitor("GET", f"/own/{arena}/report").text)
    assert "No votes yet." in said and "Winner:" not in said and "There is no winner so far." in said
    assert "chance that this result is wrong" not in said
    call.service.do(Close(arena))
    said = words_of(visitor("GET", f"/own/{arena}/report").text)
    assert "No votes." in said and "yet" not in said.split("Standings")[0]


def test_a_report_link_reads_the_report_and_nothing_else(call):
    options = [{"name": "drawn", "kind": "image", "base64": "x"}, {"name": "other", "content": "Hidden words."}]
    options[0]["base64"] = base64.b64encode(SVG).decode()
    arena, key = call.arena(options, raters="open")
    voted(call, arena)
    owner = Visitor(call)
    token = owner.token(owner.enter(key).text)
    made = owner("POST", f"/own/{arena}/report", {"token": token}).text
    link = re.search(r"http://127.0.0.1:8000/k/(mdreport[^\"]+)", made)[1]
    reader = Visitor(call)
    page = reader("GET", f"/k/{link}")
    assert page.status_code == 200 and "Winner: drawn" in page.text and reader.cookies == {}
    assert "<form" not in page.text and f"/own/{arena}" not in page.text, "nothing to press"
    assert page.headers["x-robots-tag"] == "noindex" and page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["cache-control"] == "no-store" and "default-src 'none'" in page.headers["content-security-policy"]
    picture = reader("GET", f"/report/{link}/o1/contents/0")
    assert picture.content == SVG and "sandbox" in picture.headers["content-security-policy"]
    for wrong in ("o2/contents/0", "o1/contents/1", "o9/contents/0"):
        assert reader("GET", f"/report/{link}/{wrong}").status_code == 404, "only the winner's contents"
    bearer = {"Authorization": f"Bearer {link}"}
    for method, path in (
        ("GET", f"/arenas/{arena}"),
        ("GET", f"/arenas/{arena}/board"),
        ("GET", f"/arenas/{arena}/log.jsonl"),
        ("GET", f"/arenas/{arena}/head"),
        ("GET", f"/arenas/{arena}/keys"),
        ("POST", f"/arenas/{arena}/pause"),
        ("GET", "/arenas"),
    ):
        assert call(method, path, headers=bearer).status_code == 403, path
    assert call("POST", f"/arenas/{arena}/join", {"label": "x"}, headers=bearer).status_code == 403
    assert call("POST", f"/arenas/{arena}/tickets", {}, headers=bearer).status_code == 403
    for cookie in ("multiduel-owner", "multiduel-server"):
        assert call("GET", f"/own/{arena}", headers={"Cookie": f"{cookie}={link}"}).status_code == 403
    assert call("GET", f"/vote/{arena}", headers={"Cookie": f"multiduel-rater={link}"}).status_code == 403


def test_report_links_are_listed_and_revoked(call):
    arena, key = call.arena()
    other, _ = call.arena()
    link = call.access.new_key("report", arena=arena)
    visitor = Visitor(call)
    token = visitor.token(visitor.enter(key).text)
    assert "Report link" in visitor("GET", f"/own/{arena}/keys").text
    listed = call.good("GET", f"/arenas/{arena}/keys", key=key)
    assert [one["role"] for one in listed["keys"]].count("report") == 1 and "report" in {one["role"] for one in listed["changes"]}
    assert visitor("GET", f"/report/{link}").status_code == 200
    forged = link.replace(arena, other)
    for wrong in (
        link[:-1] + ("a" if link[-1] != "a" else "b"),
        forged,
        key,
        call.access.new_key("link", arena=arena),
        "nonsense",
    ):
        assert visitor("GET", f"/report/{wrong}").status_code == 403
    asked = visitor("POST", f"/own/{arena}/report/revoke", {"token": token})
    assert "Revoke report links?" in asked.text and visitor("GET", f"/report/{link}").status_code == 200
    visitor("POST", f"/own/{arena}/report/revoke", {"token": token, "sure": "1"})
    refused = visitor("GET", f"/report/{link}")
    assert refused.status_code == 403 and "taste" not in refused.text
    assert call("GET", f"/own/{arena}/report").status_code == 401
    assert call("POST", f"/own/{arena}/report", data={"token": token}).status_code == 401


def test_the_command_writes_a_file_that_loads_nothing(call, tmp_path, monkeypatch):
    options = [{"name": "drawn", "kind": "image", "base64": base64.b64encode(PNG).decode()}, {"name": "<b>other", "content": "x"}]
    arena, _ = call.arena(options)
    voted(call, arena)
    call.service.do(Close(arena))
    monkeypatch.chdir(tmp_path)
    ran = CliRunner().invoke(app, ["arena", "report", "--html", "report.html", arena], catch_exceptions=False)
    assert ran.exit_code == 0 and "Wrote report.html." in ran.output
    written = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Winner: drawn" in written and "data:image/png;base64," in written and "&lt;b&gt;other" in written
    assert not re.search(r'(?:src|href)="(?!data:)', written) and "<script" not in written and "@import" not in written


def test_the_board_is_filtered_for_owners_only(call):
    contents = [{"name": name, "contents": [{"content": f"{name} {k}"} for k in range(2)]} for name in ("mild", "sharp")]
    arena, key = call.arena(contents, contexts=["q one", "q two"], board="always")
    voted(call, arena, 20)
    visitor = Visitor(call)
    visitor.enter(key)
    page = visitor("GET", f"/own/{arena}/board").text
    assert '<optgroup label="By question">' in page and '<optgroup label="By group">' in page
    part = visitor("GET", f"/own/{arena}/board?by=context%3D2").text
    answers = call.service.board(arena).answers
    assert "Only votes on this question" in part and f"of {answers}." in words_of(part) and "share one error of 5 %" in part
    assert "99.17 % sure" in part and "q two" in part
    live = visitor("GET", f"/own/{arena}/board?by=context%3D2&fragment=1").text
    assert "Only votes on this question" in live and "<html" not in live
    for wrong in ("context%3D3", "group%3D9", "x", "context%3D-1"):
        assert visitor("GET", f"/own/{arena}/board?by={wrong}").status_code == 404
    rater = Visitor(call)
    rater.enter(call.rater(arena, key))
    seen = rater("GET", f"/vote/{arena}/board?by=group%3D1").text
    assert "Only votes" not in seen and "Lyon" not in seen and "By group" not in seen, "raters see the whole, and no groups"


def test_the_report_keeps_judges_apart_from_excluded_votes(call):
    arena, key = call.arena(slate_size=3, go_on=True)
    raters = voted(call, arena, 20)
    judge = call.service.do(AdmitRater(arena, "a model", kind="judge"))
    ticket = call.service.do(Ask(arena, judge, "judge"))
    call.service.do(Vote(ticket.id, {"rank": list(range(len(ticket.options)))}))
    call.service.do(Quarantine(arena, raters[3], "answers within a second"))
    visitor, board = Visitor(call), call.service.board(arena)
    visitor.enter(key)
    page = visitor("GET", f"/own/{arena}/report").text
    excluded = re.search(r'id="excluded">.*?</section>', page, re.DOTALL)[0]
    listed = [int(number) for number in re.findall(r"<li>(\d+) vote", excluded)]
    assert sum(listed) == board.set_aside == 5 and len(listed) == 1, "as many as the sentence says"
    assert "1 vote of judges is apart from the result." in words_of(page)


@pytest.mark.parametrize("settings", [{}, {"unit": "case"}, {"deciders": "judges"}, {"deciders": "all"}])
def test_the_reports_caveats_are_those_of_its_settings(call, settings):
    options = [{"name": name, "contents": [{"content": f"{name} {k}"} for k in (1, 2)]} for name in ("mild", "sharp", "bitter")]
    arena, key = call.arena(options, contexts=["q one", "q two"], slate_size=3, **settings)
    visitor = Visitor(call)
    visitor.enter(key)
    said = words_of(visitor("GET", f"/own/{arena}/report").text)
    assert "order of the standings" not in said, "there is none yet"
    voted(call, arena, 8)
    said = words_of(visitor("GET", f"/own/{arena}/report").text)
    assert ("holds for questions like these" in said) == (settings.get("unit") == "case")
    assert ("says nothing of what people prefer" in said) == (settings.get("deciders") == "judges")
    assert ("people and of judges count alike" in said) == (settings.get("deciders") == "all")
    assert "people like these raters" not in said
    if settings.get("deciders") != "judges":
        assert "The order of the standings is a tendency" in said
        assert all(note in said for note in call.service.board(arena).notes)


def test_votes_that_are_all_excluded_are_not_called_missing(call):
    arena, key = call.arena(slate_size=3)
    for rater in voted(call, arena, 8):
        call.service.do(Quarantine(arena, rater, "bots"))
    visitor = Visitor(call)
    visitor.enter(key)
    for path in ("", "/board", "/report"):
        said = words_of(visitor("GET", f"/own/{arena}{path}").text)
        assert "No vote counts: 8 are excluded." in said and "No votes yet" not in said
