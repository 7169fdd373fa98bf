"""The owner's pages in a real browser: parts of the votes, notices, who did what, and nothing wider than its screen."""

from __future__ import annotations

import json
import re

import pytest

from multiduel.arena import AdmitRater, Ask, Done, Vote
from multiduel.arena.domain.options import Option, make_content
from tests.arena.web.pages.visiting import CHROMIUM, PHONE, a_house, enter
from tests.arena.web.test_notices import Receiver

playwright = pytest.importorskip("playwright.sync_api", reason="browser tests need the package playwright")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="browser tests need chromium: apt-get install chromium")
expect = playwright.expect
QUESTIONS = ("By phone?", "By letter?")


@pytest.fixture(scope="module")
def receiver():
    there = Receiver()
    yield there
    there.server.shutdown()
    there.server.server_close()


@pytest.fixture(scope="module")
def house(tmp_path_factory, receiver):
    with a_house(tmp_path_factory.mktemp("owners"), [receiver.origin]) as made:
        yield made


@pytest.fixture(scope="module")
def arena(house):
    """Two questions, two groups of people who disagree, and a judge."""
    options = [Option(f"o{k}", tuple(make_content("text", f"{k} {q}") for q in QUESTIONS)) for k in range(2)]
    id = house.arena(options, name="greetings", contexts=QUESTIONS, slate_size=2, go_on=True)
    words = (("Ada", "Lyon", "person", "o1"), ("Bo", "Oslo", "person", "o2"), ("M", None, "judge", "o2"))
    raters = [(house.service.do(AdmitRater(id, label, group, kind=kind)), best) for label, group, kind, best in words]
    for k in range(40):
        for rater, best in raters:
            ticket = house.service.do(Ask(id, rater, f"{k}"))
            if not isinstance(ticket, Done):  # the judge is asked each question once
                first = ticket.options.index(best)
                house.service.do(Vote(ticket.id, {"rank": [first, 1 - first]}, rater=rater))
    return id


def show(page, label):
    page.get_by_label("Votes", exact=True).select_option(label=label)
    page.get_by_role("button", name="Show").click()


def test_the_board_is_filtered_by_question_group_and_kind(house, browse, arena):
    page = browse(viewport={"width": 820, "height": 1100})
    enter(page, house.link(arena))
    page.goto(f"{house.url}/own/{arena}/board")
    expect(page.locator("#sentence")).to_contain_text("No winner yet")
    assert page.locator("#by option").all_inner_texts() == ["Votes of people (the result)", *QUESTIONS, "Lyon", "Oslo", "judges"]
    warning = page.locator(".verdict [role=note]")
    for label, answers, winner in (("Lyon", "40 of 80", "o0"), ("Oslo", "40 of 80", "o1")):
        show(page, label)
        expect(warning).to_contain_text(f"of this group: {answers}")
        expect(warning).to_contain_text(
            "With many parts, one of them shows something by chance, so all parts share one error of 5 %"
        )
        expect(page.locator("#sentence")).to_contain_text(winner)
    show(page, QUESTIONS[1])
    expect(warning).to_contain_text("on this question")
    show(page, "judges")
    expect(warning).to_contain_text("Only votes of judges")
    expect(page.locator("#sentence")).to_contain_text("for judge 'M'")
    assert page.locator("[aria-label='Chart of votes over time'] svg").count() == 1, "also of votes that do not decide"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("link", name="Whole result").click()
    expect(warning).to_have_count(0)


def test_an_owner_adds_a_notice_and_is_told_of_the_winner(house, browse, receiver):
    arena = house.arena(2, name="mild or sharp", slate_size=2, alpha=0.5)
    page = browse(**PHONE)
    enter(page, house.link(arena))
    page.goto(f"{house.url}/own/{arena}/notices")
    page.get_by_label("Webhook").fill("https://evil.example/x")
    page.get_by_role("button", name="Add notice").tap()
    expect(page.get_by_role("alert")).to_contain_text("has not allowed")
    page.get_by_label("Webhook").fill(f"{receiver.origin}/hook")
    page.get_by_role("button", name="Add notice").tap()
    secret = page.get_by_label("Secret", exact=True).input_value()
    assert len(secret) > 30 and page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    rater, _ = house.rater(arena)
    for k in range(60):
        ticket = house.service.do(Ask(arena, rater, f"{k}"))
        if isinstance(ticket, Done):
            break
        house.service.do(Vote(ticket.id, {"rank": sorted(range(2), key=lambda p: ticket.options[p])}, rater=rater))
    house.notifier.check()
    assert json.loads(receiver.got[-1][2])["what"] == "winner"
    page.get_by_role("link", name="Sent notices").tap()
    expect(page.locator("td.said")).to_contain_text("A webhook was sent: winner")


def test_the_journal_names_who_did_it(house, browse):
    arena = house.arena(2)
    link = f"{house.url}/k/{house.access.new_key('owner', arena=arena, label='Grace Hopper')}"
    page = browse()
    enter(page, link)
    page.get_by_role("button", name="Pause").click()
    page.goto(f"{house.url}/own/{arena}/journal")
    expect(page.locator("td.said").first).to_have_text("Paused: no new tickets. By Grace Hopper, owner.")
    name = re.search(r"mdowner\.[^.]+\.([^.]+)\.", link)[1]
    house.access.revoke("owner", arena, name)
    enter(page, house.link(arena))
    page.goto(f"{house.url}/own/{arena}/journal?text=grace")
    expect(page.locator("td.said").first).to_contain_text("By Grace Hopper, owner."), "also when the key is revoked"


def test_no_page_of_an_owner_is_wider_than_its_screen(house, browse, arena):
    server = f"{house.url}/k/{house.access.new_key('server')}"
    rooms = ("", "/board", "/report", "/options", "/raters", "/keys", "/notices", "/votes", "/sheets", "/journal")
    for width in (390, 820, 1400):
        page = browse(viewport={"width": width, "height": 900})
        enter(page, server)
        for path in ("/own", "/own/new", "/own/keys", "/own/nothing", "/nowhere", *(f"/own/{arena}{room}" for room in rooms)):
            page.goto(house.url + path)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (width, path)
