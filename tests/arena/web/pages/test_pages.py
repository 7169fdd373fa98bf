"""Pages as they are sent: what they may load, who may ask for them, forms that others send, and what contents become."""

from __future__ import annotations

import csv
import io
import re
import threading
import time
from dataclasses import replace

import pytest

from multiduel.arena.domain.options import make_content
from multiduel.arena.web.pages.charts import heat_map, interval, over_time, times_binned
from multiduel.arena.web.pages.contents import safe_markdown, shown
from multiduel.arena.web.pages.invitation import effort
from multiduel.arena.web.pages.pasting import read_pasted
from multiduel.arena.web.pages.render import static_files
from multiduel.inputs import BadInput
from tests.arena.calling import THREE, Caller
from tests.arena.web.pages.visiting import Visitor

ATTACKS = (
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "[click](javascript:alert(1))",
    "[click](data:text/html;base64,PHNjcmlwdD4=)",
    "![](https://elsewhere.example/seen.png)",
    '<a href="#" onclick="alert(1)">a</a>',
    "<style>body{display:none}</style>",
    "</div></li></ol></form><form action=https://elsewhere.example><input name=q>",
    "```\n</pre><script>alert(1)</script>\n```",
    "| a |\n|---|\n| <svg onload=alert(1)> |",
    '<iframe src="https://elsewhere.example"></iframe>',
    '<p id="said" class="banner" style="position:fixed">x</p>',
)


@pytest.fixture
def call(tmp_path):
    caller = Caller(tmp_path)
    yield caller
    caller.close()


@pytest.fixture
def rater(call):
    """(visitor, arena): one who has come in."""
    arena, owner = call.arena(slate_size=3)
    visitor = Visitor(call)
    visitor.enter(call.rater(arena, owner, "Ada"))
    return visitor, arena


@pytest.fixture
def owner(call):
    arena, key = call.arena(slate_size=2, room=5)
    visitor = Visitor(call)
    visitor.enter(key)
    return visitor, arena


def test_all_that_is_static_stays_below_100_kb_compressed():
    assert sum(len(compressed) for _, compressed in static_files().values()) < 100_000
    assert {"style.css", "vote.js", "board.js", "icon.svg"} <= set(static_files())


def test_every_page_has_the_policy_and_nothing_inline(call, owner):
    visitor, arena = owner
    server = Visitor(call)
    server.enter(call.server_key)
    pages = [
        visitor("GET", f"/own/{arena}{rest}") for rest in ("", "/board", "/options", "/raters", "/votes", "/sheets", "/journal")
    ]
    pages += [server("GET", path) for path in ("/", "/own", "/own/new", "/k/wrong")]
    for answer in pages:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
        assert answer.headers["content-type"].startswith("text/html")
        assert not re.search(r"\sstyle=|\son[a-z]+=|<style|<script(?![^>]*\ssrc=)", answer.text), answer.request.url
        assert not re.search(r'(?:src|href)="(?:https?:)?//', answer.text), "nothing from elsewhere"


@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks_become_words(attack):
    for kind in ("markdown", "text"):
        html = str(shown(make_content(kind, attack), "").html)
        tags = re.findall(r"<\s*/?\s*([a-zA-Z0-9]+)([^>]*)", html)
        assert not {name for name, _ in tags} & {"script", "img", "svg", "iframe", "style", "form", "input", "object"}, html
        values = r'href="(?:https?:|mailto:)[^"]*"|target="_blank"|rel="[a-z ]+"|tabindex="0"|role="group"|aria-label="\w+"'
        allowed = rf'(?: (?:{values}|class="wide"|class="h-[a-z]+"))*\s*/?'
        assert all(re.fullmatch(allowed, rest) for _, rest in tags), html


def test_markdown_keeps_what_it_is_for():
    html = safe_markdown("# Title\n\n**b** `c` [d](https://e.example)\n\n1. one\n\n| x |\n|---|\n| y |\n")
    for piece in ("<h3>Title</h3>", "<strong>b</strong>", "<code>c</code>", 'href="https://e.example"', "<ol>", "<td>y</td>"):
        assert piece in html
    assert "noopener" in html


def test_forms_of_others_are_refused(rater):
    visitor, arena = rater
    page = visitor("GET", f"/vote/{arena}").text
    fields = {"action": "skip", "ticket": re.search(r'name="ticket" value="([^"]+)"', page)[1]}
    good = visitor.token(page)
    for token, headers in (
        (None, {}),
        ("0" * 32, {}),
        (good, {"Origin": "https://elsewhere.example"}),
        (good, {"Origin": "null"}),
        (good, {"Sec-Fetch-Site": "cross-site"}),
    ):
        sent = fields | ({"token": token} if token else {})
        answer = visitor("POST", f"/vote/{arena}", sent, headers=headers)
        assert answer.status_code == 403, (token, headers)
    with_script = visitor("POST", f"/vote/{arena}/tickets/{fields['ticket']}", b'{"ballot": {"skip": true}}')
    assert with_script.status_code == 403
    assert len([e for e in visitor.call.service.events(arena) if e.kind == "vote"]) == 0
    answer = visitor("POST", f"/vote/{arena}", fields | {"token": good}, headers={"Origin": "http://127.0.0.1:8000"})
    assert answer.status_code == 200
    assert len([e for e in visitor.call.service.events(arena) if e.kind == "vote"]) == 1


def test_a_cookie_is_not_good_for_the_api_and_one_arena_is_not_another(call, owner):
    visitor, arena = owner
    other, _ = call.arena()
    cookie = {"Cookie": f"multiduel-owner={visitor.cookies['multiduel-owner'][0]}"}
    assert visitor.cookies["multiduel-owner"][1] == f"/own/{arena}"
    assert call("GET", f"/arenas/{arena}", headers=cookie).status_code == 401
    assert call("POST", f"/arenas/{arena}/pause", headers=cookie).status_code == 401
    assert call("GET", f"/own/{other}", headers=cookie).status_code == 403
    assert call("GET", f"/own/{other}").status_code == 401
    wrong = call("GET", f"/own/{arena}", headers={"Cookie": "multiduel-owner=nonsense"})
    assert wrong.status_code == 401 and "text/html" in wrong.headers["content-type"]


def test_raters_see_the_board_when_they_may(call):
    for setting, status in (("verdict", 403), ("never", 403), ("always", 200)):
        arena, owner = call.arena(slate_size=3, board=setting)
        visitor = Visitor(call)
        visitor.enter(call.rater(arena, owner))
        assert visitor("GET", f"/vote/{arena}/board").status_code == status
        assert visitor("GET", f"/vote/{arena}/board/changes").status_code == status if status == 403 else True
        assert visitor("GET", f"/own/{arena}/board").status_code == 401


def test_a_rater_who_has_judged_all_is_told_so(call):
    arena, owner = call.arena(THREE[:2], unit="rater")
    visitor = Visitor(call)
    page = visitor.enter(call.rater(arena, owner)).text
    ticket = re.search(r'name="ticket" value="([^"]+)"', page)[1]
    fields = {"token": visitor.token(page), "ticket": ticket, "action": "vote", "place-0": "1", "place-1": "2"}
    assert "You have judged everything" in visitor("POST", f"/vote/{arena}", fields).text


def test_no_vote_waits_for_a_forecast(rater, monkeypatch):
    visitor, arena = rater
    asked, go_on = threading.Event(), threading.Event()
    board = visitor.call.service.board

    def slow(arena):
        asked.set()
        assert go_on.wait(60)
        return replace(board(arena), forecast="81 to 710 more answers", forecast_range=(81.0, 200.0, 710.0))

    forecasts = visitor.call.app.app.pages.state.forecasts
    while forecasts._working:  # of an earlier page
        threading.Event().wait(0.01)
    monkeypatch.setattr(visitor.call.service, "board", slow)
    forecasts._known.clear()
    assert "by all raters" not in visitor("GET", f"/vote/{arena}").text and asked.wait(60)
    go_on.set()
    end = time.monotonic() + 60
    while "81 to 710 more by all raters may decide it" not in visitor("GET", f"/vote/{arena}").text:
        assert time.monotonic() < end


def test_a_link_followed_twice_is_one_rater(call):
    arena, _ = call.arena(raters="open")
    key = call.access.new_key("link", arena=arena)
    visitor = Visitor(call)
    assert "Help choose: taste" in visitor("GET", f"/k/{key}").text
    assert len(call.service.raters(arena)) == 0, "looking at a link changes nothing"
    visitor.enter(key, label="Ada")
    assert "Which is better?" in visitor("GET", f"/k/{key}").text
    assert len(call.service.raters(arena)) == 1
    wrong = visitor.enter(key[:-1] + ("a" if key[-1] != "a" else "b"))
    assert wrong.status_code == 403 and "not known" in wrong.text


def test_a_link_that_is_not_good_shows_nothing_of_its_arena(call):
    arena, _ = call.arena(raters="open", instructions="Secret plans.")
    key = call.access.new_key("link", arena=arena)
    visitor = Visitor(call)
    assert "Secret plans." in visitor("GET", f"/k/{key}").text
    wrong = visitor("GET", f"/vote/{arena}/start/{key[:-4]}AAAA")
    assert wrong.status_code == 403 and "Secret" not in wrong.text and "taste" not in wrong.text
    call.access.revoke("link", arena)
    assert visitor("GET", f"/k/{key}").status_code == 403


def test_instructions_are_cleaned_and_limited(call):
    page = Visitor(call)(
        "GET", f"/k/{call.access.new_key('link', arena=call.arena(instructions=ATTACKS[0] + ATTACKS[2])[0])}"
    ).text
    assert "<script>alert" not in page and 'href="javascript' not in page
    body = {"name": "x", "options": THREE, "settings": {"instructions": "x" * 5_001}}
    assert call("POST", "/arenas", body, key=call.server_key).status_code == 422


def test_the_join_page_knows_the_time_of_votes_and_says_when_there_is_a_result(call):
    assert effort(None, 0.2) == "About 1 second a question, as many as you like"
    arena, owner = call.arena(THREE[:2], goal=30)
    key = call.rater(arena, owner)
    for _ in range(25):
        asked = call.ask(arena, key)
        if "ticket" not in asked:
            break
        shown = [call("GET", f"/tickets/{asked['ticket']}/contents/{place}").text for place in range(2)]
        call.good(
            "PUT", f"/tickets/{asked['ticket']}/vote", {"rank": [shown.index("Good morning."), shown.index("Morning!")]}, key=key
        )
    page = Visitor(call)("GET", f"/k/{key}").text
    assert "This comparison has a result: no more votes are needed." in page and "About" not in page
    done = Visitor(call).enter(key).text
    assert "There is a result" in done and "too early" not in done and "how many more" not in done, "one statement"


def test_the_journal_says_verified_or_the_first_event_that_is_not(call, owner):
    visitor, arena = owner
    page = visitor("GET", f"/own/{arena}/journal")
    assert "Verified" in page.text and "Opened for votes." in page.text
    assert "Nothing found." in visitor("GET", f"/own/{arena}/journal?text=nowhere").text
    found = visitor("GET", f"/own/{arena}/journal?kind=created&text=taste").text
    assert "was created with 3 options" in found and "Opened:" not in found
    report = call.app.app.pages.state.verified[arena][1]
    report.first = (2, "its hash does not fit")
    assert "The first wrong event: 2, its hash does not fit." in visitor("GET", f"/own/{arena}/journal").text


def test_votes_from_a_file_are_checked_and_then_entered(owner):
    visitor, arena = owner
    token = visitor.token(visitor("GET", f"/own/{arena}/votes").text)
    good = "id,shown,rank,rater\n1,mild|sharp,mild>sharp,Bo\n"
    wrong = good + "2,mild|nothing,mild>nothing,Bo\n"
    answer = visitor("POST", f"/own/{arena}/votes", {"token": token, "written": wrong, "action": "enter"})
    assert "Not entered" in answer.text and "nothing" in answer.text
    for action, words in (("check", "this was a preview"), ("enter", "Entered"), ("enter", "1 known already")):
        assert words in visitor("POST", f"/own/{arena}/votes", {"token": token, "written": good, "action": action}).text
    assert visitor.call.service.board(arena).answers == 1


def test_sheets_hold_no_names(owner):
    visitor, arena = owner
    page = visitor("GET", f"/own/{arena}/sheets").text
    asked = re.search(r'name="request" value="([0-9a-f]+)"', page)[1]
    answer = visitor("POST", f"/own/{arena}/sheets", {"token": visitor.token(page), "request": asked, "number": "3"})
    sheets = re.findall(r'<article class="sheet">.*?</article>', answer.text, re.DOTALL)
    assert len(sheets) == 3 and not any(name in sheet for sheet in sheets for name in ("mild", "sharp", "bitter"))
    assert visitor("GET", f"/own/{arena}/sheets/{asked}/sheets.csv").text.count("\n") == 4
    assert "instructions" not in answer.text, "there are none"


def test_sheets_carry_the_instructions_cleaned(call):
    arena, key = call.arena(slate_size=2, instructions="Judge the **tone**." + "\n\n".join(("", *ATTACKS)))
    visitor = Visitor(call)
    visitor.enter(key)
    token = visitor.token(visitor("GET", f"/own/{arena}/sheets").text)
    page = visitor("POST", f"/own/{arena}/sheets", {"token": token, "request": "a" * 32, "number": "3"}).text
    sheets = re.findall(r'<article class="sheet">.*?</article>', page, re.DOTALL)
    assert [sheet.count("Judge the <strong>tone</strong>.") for sheet in sheets] == [1, 1, 1]
    assert not re.search(
        r"<(script|style|iframe|svg onload|form action|img)|<[^>]+ (onerror|onclick|onload|style)=", "".join(sheets)
    )
    assert 'href="javascript' not in page and 'href="data:' not in page
    written = visitor("GET", f"/own/{arena}/sheets/{'a' * 32}/sheets.csv").text
    assert [row["instructions"][:19] for row in csv.DictReader(io.StringIO(written))] == ["Judge the **tone**."] * 3


def test_pasted_lists():
    options, contexts = read_pasted("name,content,context\na,x,q1\na,y,q2\nb,z,q1\nb,w,q2\n")
    assert [option.name for option in options] == ["a", "b"] and contexts == ("q1", "q2")
    assert [option.name for option in read_pasted("1. one\n2) two\n\n* three")[0]] == ["one", "two", "three"]
    long = "x" * 300
    assert len({option.name for option in read_pasted(f"{long}1\n{long}2")[0]}) == 2
    for bad in ("", "only one", "same\nsame"):
        with pytest.raises(BadInput):
            read_pasted(bad)


@pytest.mark.parametrize("votes", [0, 3, 100_000])
def test_charts_at_any_number_of_votes(votes):
    import numpy as np

    above = np.full((30, 30), votes / 870.0)
    drawn = heat_map([f"<b>{k}</b>" for k in range(30)], above, np.zeros((30, 30)))
    assert drawn.count("<rect") == 870 and "<b>" not in drawn and "nan" not in drawn
    nan, limits = float("nan"), (-1.0, 1.0)
    assert "nan" not in interval(0.5, 0.0, 1.0, limits) and interval(nan, nan, nan, limits) == ""
    early = interval(0.5, nan, nan, limits)
    assert "nan" not in early and 'class="early"' in early and 'class="range"' not in early
    binned = times_binned([(k, 1) for k in range(votes)])
    assert (binned[-1][1] if binned else 0) == votes and len(over_time(binned)) < 5_000
