"""Files through the pages: who may send them, how they come back, and forms that are none."""

from __future__ import annotations

import re

import httpx
import pytest

from multiduel.arena import AdmitRater, Ask, Vote
from tests.arena.calling import Caller
from tests.arena.files.test_uploads import JPEG, PNG, SVG, WAV, zipped
from tests.arena.web.pages.visiting import Visitor


@pytest.fixture
def call(tmp_path):
    caller = Caller(tmp_path)
    yield caller
    caller.close()


def sent(visitor, path, fields, files, **words):
    """A form with files, as a browser sends it."""
    request = httpx.Request("POST", "http://x", data=fields, files=[("files", file) for file in files])
    headers = {"Content-Type": request.headers["content-type"], **words}
    return visitor("POST", path, request.read(), headers=headers)


def server_of(call):
    visitor = Visitor(call)
    visitor.enter(call.server_key)
    return visitor, visitor.token(visitor("GET", "/own/new").text)


def test_an_arena_is_made_from_files(call):
    visitor, token = server_of(call)
    files = [("red.png", PNG), ("blue.jpg", JPEG), ("drawing.svg", SVG), ("jingle.wav", WAV)]
    looked = sent(visitor, "/own/new", {"token": token, "name": "logos", "action": "look"}, files)
    assert looked.status_code == 200 and "4 options" in looked.text and "Picture, 58 bytes" in looked.text
    assert call.service.arenas() == []
    made = sent(visitor, "/own/new", {"token": token, "name": "logos", "action": "create"}, files)
    assert "Ready: logos" in made.text
    (row,) = call.service.arenas()
    listed = visitor("GET", f"/own/{row.id}/options").text
    assert listed.count('<img class="thumb"') == 3 and listed.count("<audio") == 1
    for option, (data, kind) in enumerate(
        ((PNG, "image/png"), (JPEG, "image/jpeg"), (SVG, "image/svg+xml"), (WAV, "audio/wav")), 1
    ):
        content = visitor("GET", f"/own/{row.id}/options/o{option}/contents/0")
        assert content.content == data and content.headers["content-type"] == kind
        assert "sandbox" in content.headers["content-security-policy"] and content.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in content.headers["content-security-policy"]
    for wrong in ("o5/contents/0", "o1/contents/1", "o1/contents/999999999999", "../contents/0", "x/contents/0"):
        assert visitor("GET", f"/own/{row.id}/options/{wrong}").status_code == 404


def test_text_that_looks_like_a_page_is_sent_as_text(call):
    visitor, token = server_of(call)
    page = b"<!doctype html><script>alert(1)</script>"
    sent(visitor, "/own/new", {"token": token, "name": "x", "action": "create"}, [("a.html", page), ("b.txt", b"b")])
    (row,) = call.service.arenas()
    content = visitor("GET", f"/own/{row.id}/options/o1/contents/0")
    assert (
        content.headers["content-type"] == "text/plain; charset=utf-8" and "sandbox" in content.headers["content-security-policy"]
    )


def test_contents_are_for_the_owner_only(call):
    arena, owner = call.arena()
    path = f"/own/{arena}/options/o1/contents/0"
    assert call("GET", path).status_code == 401
    rater = call.rater(arena, owner)
    assert call("GET", path, headers={"Cookie": f"multiduel-owner={rater}"}).status_code == 403
    _, key = call.arena()
    assert call("GET", path, headers={"Cookie": f"multiduel-owner={key}"}).status_code == 403


def test_refused_files_change_nothing_and_say_what_they_are(call):
    visitor, token = server_of(call)
    fields = {"token": token, "name": "logos", "action": "create"}
    for files, words in (
        ([("plan.pdf", b"%PDF-1.7 \xff"), ("red.png", PNG)], "‘plan.pdf’ is a PDF document."),
        ([("red.png", PNG)], "An arena has 2 to 200 options. Got 1."),
        ([("x.zip", zipped({"../../a.png": PNG}))], "A file must have a plain name"),
        ([("../../a.png", PNG), ("b.png", PNG)], "A file must have a plain name"),
    ):
        answer = sent(visitor, "/own/new", fields, files)
        assert answer.status_code == 422 and words in answer.text
    both = sent(visitor, "/own/new", fields | {"pasted": "a\nb"}, [("red.png", PNG), ("b.png", JPEG)])
    assert "not both at once" in both.text and call.service.arenas() == []


def test_forms_with_files_need_the_token_and_our_own_origin(call):
    visitor, token = server_of(call)
    files, fields = [("a.png", PNG), ("b.png", JPEG)], {"name": "logos", "action": "create"}
    assert sent(visitor, "/own/new", fields, files).status_code == 403
    assert sent(visitor, "/own/new", fields | {"token": "0" * 32}, files).status_code == 403
    assert sent(visitor, "/own/new", fields | {"token": token}, files, Origin="https://elsewhere.example").status_code == 403
    arena, _ = call.arena(room=5)
    stranger = Visitor(call)
    assert sent(stranger, "/own/new", fields | {"token": token}, files).status_code == 401
    assert sent(stranger, f"/own/{arena}/options", fields | {"token": token}, files).status_code == 401
    assert len(call.service.arenas()) == 1


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data", b"--x\r\n"),
        ("multipart/form-data; boundary=x", b"no boundary here"),
        ("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n--x--\r\n"),
        ("multipart/form-data; boundary=" + "x" * 5_000, b"--x\r\n"),
        ("multipart/form-data; boundary=x", b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n\xff\x00\r\n--x--\r\n'),
        (
            "multipart/form-data; boundary=x; charset=utf-7",
            b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n',
        ),
        (
            "multipart/form-data; boundary=x; charset=nonsense",
            b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n',
        ),
        ("multipart/form-data; boundary=x", b"--x\r\n" + b"A: b\r\n" * 5_000 + b"\r\n1\r\n--x--\r\n"),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n' * 1_500 + b"--x--\r\n",
        ),
    ],
)
def test_broken_forms_are_refused_in_a_sentence(call, kind, body):
    visitor, _ = server_of(call)
    answer = visitor("POST", "/own/new", body, headers={"Content-Type": kind})
    assert answer.status_code in (400, 403, 422) and "text/html" in answer.headers["content-type"]
    assert call.service.arenas() == []


def test_files_beyond_the_limits_of_the_server_are_refused(tmp_path):
    from multiduel.arena.web.limits import Limits

    caller = Caller(tmp_path, limits=Limits(large_body=100_000))
    visitor, token = server_of(caller)
    files = [("a.png", PNG + b"\0" * 200_000), ("b.png", PNG)]
    assert sent(visitor, "/own/new", {"token": token, "name": "x", "action": "create"}, files).status_code == 413
    caller.close()


def test_options_are_added_from_files_and_retired_after_a_question(call):
    arena, key = call.arena(room=6)
    visitor = Visitor(call)
    token = visitor.token(visitor.enter(key).text)
    page = visitor("GET", f"/own/{arena}/options").text
    fields = {"token": token, "request": re.search(r'name="request" value="([0-9a-f]+)"', page)[1]}
    added = sent(visitor, f"/own/{arena}/options", fields, [("red.png", PNG)])
    assert "red" in added.text and len(call.service.info(arena).options) == 4
    asked = visitor("POST", f"/own/{arena}/options/retire", {"token": token, "option": "o4"})
    assert "Retire this option?" in asked.text and "‘red’ is shown no more" in asked.text
    assert not call.service.info(arena).options[3]["retired"]
    visitor("POST", f"/own/{arena}/options/retire", {"token": token, "option": "o4", "sure": "1"})
    assert call.service.info(arena).options[3]["retired"]


def test_every_question_of_an_arena_can_be_looked_at(call):
    options = [{"name": name, "contents": [{"content": f"{name} to {k}"} for k in range(3)]} for name in ("mild", "sharp")]
    arena, key = call.arena(options, contexts=["q one", "q two", "q three"])
    visitor = Visitor(call)
    visitor.enter(key)
    for asked, place in (("", 0), ("?context=2", 1), ("?context=3", 2), ("?context=99", 2), ("?context=0", 0), ("?context=x", 0)):
        page = visitor("GET", f"/own/{arena}/options{asked}").text
        assert f"mild to {place}" in page and "of 3: q two" in page


def test_what_cannot_be_undone_is_asked_first(call):
    arena, key = call.arena(raters="open")
    call.access.new_key("link", arena=arena)
    visitor = Visitor(call)
    token = visitor.token(visitor.enter(key).text)
    for path, fields, words in (
        ("status", {"do": "close"}, "Nobody can vote in ‘taste’ after that"),
        ("links/revoke", {}, "Revoke all links?"),
    ):
        assert words in visitor("POST", f"/own/{arena}/{path}", {"token": token, **fields}).text
    assert call.service.info(arena).status == "open" and call.access.any("link", arena)
    visitor("POST", f"/own/{arena}/links/revoke", {"token": token, "sure": "1"})
    assert not call.access.any("link", arena)
    closed = visitor("POST", f"/own/{arena}/status", {"token": token, "do": "close", "sure": "1"}).text
    assert "Closed permanently" in closed and "shared link" not in closed and "Invite" not in closed
    raters = visitor("GET", f"/own/{arena}/raters").text
    assert "New shared link" not in raters and "Make links" not in raters
    board = visitor("GET", f"/own/{arena}/board").text
    assert "No winner" in board and "No winner yet" not in board and "Open for" not in board


def test_votes_are_excluded_with_a_reason_that_the_report_names_and_counted_again(call):
    arena, key = call.arena(slate_size=3)
    rater = call.service.do(AdmitRater(arena, "<b>Eve</b>"))
    ticket = call.service.do(Ask(arena, rater, "1"))
    call.service.do(Vote(ticket.id, {"rank": [0, 1, 2]}))
    visitor = Visitor(call)
    token = visitor.token(visitor.enter(key).text)
    path, fields = f"/own/{arena}/raters/quarantine", {"token": token, "rater": rater}
    asked = visitor("POST", path, fields | {"do": "quarantine"}).text
    assert (
        "‘&lt;b&gt;Eve&lt;/b&gt;’ do not count" in asked and 'name="reason"' in asked and call.service.board(arena).answers == 1
    )
    assert visitor("POST", path, fields | {"rater": "r9"}).status_code == 404
    page = visitor("POST", path, fields | {"sure": "1", "reason": "a <script> clicked"}).text
    assert "a &lt;script&gt; clicked" in page and call.service.board(arena).answers == 0
    report = visitor("GET", f"/own/{arena}/report").text
    assert "1 vote: rater excluded by the owner: a &lt;script&gt; clicked" in report and "Eve&lt;" not in report
    visitor("POST", path, fields | {"do": "release"})
    assert call.service.board(arena).answers == 1


def test_unknown_pages_are_pages_for_browsers(call):
    browser = {"Accept": "text/html,*/*"}
    for path in ("/nothing", "/own/nothing/at/all", "/vote", "/favicon.ico"):
        answer = call("GET", path, headers=browser)
        assert answer.status_code in (401, 404) and "text/html" in answer.headers["content-type"], path
    assert "Page not found" in call("GET", "/nothing", headers=browser).text
    assert call("GET", "/nothing").json() == {"error": "There is no such thing."}
    assert call("GET", "/arenas/x", headers=browser).headers["content-type"] == "application/json", "the API is as it was"


def test_all_links_are_in_one_table(call):
    arena, key = call.arena()
    visitor = Visitor(call)
    token = visitor.token(visitor.enter(key).text)
    page = visitor("POST", f"/own/{arena}/raters", {"token": token, "request": "r" * 32, "labels": "Ada\n=1+1\nBo"}).text
    table = re.search(r"<textarea id=\"all-links\"[^>]*>(.*?)</textarea>", page, re.DOTALL)[1]
    assert table.count("/k/mdrater.") == 3 and table.startswith("rater,link") and "&#39;=1+1," in table


@pytest.mark.parametrize("wrong", ["Ada\nBo\nAda", "Ada\nKnown", "Ada\nB\to", "Ada\n" + "x" * 201])
def test_a_name_that_is_refused_admits_nobody_and_loses_nothing_typed(call, wrong):
    arena, key = call.arena()
    call.rater(arena, key, "Known")
    visitor = Visitor(call)
    token = visitor.token(visitor.enter(key).text)
    fields = {"token": token, "request": "r" * 32, "labels": wrong, "group": "Lyon", "limit": "7"}
    page = visitor("POST", f"/own/{arena}/raters", fields)
    assert page.status_code == 422 and 'role="alert"' in page.text
    assert f">{wrong}</textarea>" in page.text and 'value="Lyon"' in page.text and 'value="7"' in page.text
    assert [one.label for one in call.service.raters(arena)] == ["Known"], "a link that nobody sees is of no use"
    right = {"token": token, "request": "s" * 32, "labels": "Ada\nBo"}
    for _ in range(2):  # sent again, it is answered again
        assert visitor("POST", f"/own/{arena}/raters", right).text.count('class="qr"') == 2
    assert [one.label for one in call.service.raters(arena)] == ["Known", "Ada", "Bo"]


def test_sheets_are_numbered_and_listed(call):
    arena, key = call.arena()
    visitor = Visitor(call)
    token = visitor.token(visitor.enter(key).text)
    made = visitor("POST", f"/own/{arena}/sheets", {"token": token, "request": "one/two?", "number": "3", "group": "Lyon"})
    listed = visitor("GET", f"/own/{arena}/sheets").text
    assert "Earlier sheets" in listed and "Lyon" in listed
    assert made.status_code in (200, 404)
    visitor("POST", f"/own/{arena}/sheets", {"token": token, "request": "a" * 32, "number": "2"})
    page = visitor("GET", f"/own/{arena}/sheets/{'a' * 32}").text
    assert "Sheet 1 of 2" in page and "Sheet 2 of 2" in page
