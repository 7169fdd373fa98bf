"""Raters who share a browser: a vote that was kept without a connection stays its rater's."""

from __future__ import annotations

import pytest

from tests.arena.web.pages.test_browser import ready, voted
from tests.arena.web.pages.visiting import CHROMIUM, a_house, enter

playwright = pytest.importorskip("playwright.sync_api", reason="browser tests need the package playwright")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="browser tests need chromium: apt-get install chromium")
expect = playwright.expect


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    with a_house(tmp_path_factory.mktemp("shared")) as made:
        yield made


def cut(page):
    """No vote and no undo of this browser arrives from now on."""
    page.context.route("**/vote/**", lambda route: route.abort() if route.request.method == "POST" else route.continue_())


def mend(page):
    page.context.unroute("**/vote/**")


def vote(page, *keys):
    for key in (*keys, "Enter"):
        page.keyboard.press(key)


def open_for(page, link):
    enter(page, link)
    ready(page)


def kept(page):
    return page.evaluate("JSON.stringify(localStorage)")


def by_rater(house, arena):
    """Each vote of the log: whose it is, and its order."""
    with house.service.look(arena) as state:
        return [(state.tickets[vote["ticket"]].rater, vote["ballot"]["rank"]) for vote in house.votes(arena)]


def test_a_kept_vote_is_sent_by_its_own_rater_only(house, browse):
    arena, page = house.arena(3), browse()
    (ada, adas), (bo, bos) = house.rater(arena, "Ada"), house.rater(arena, "Bo")
    open_for(page, adas)
    cut(page)
    vote(page, "3", "1")
    expect(page.locator("#banner")).to_contain_text("kept in this browser")
    page.goto(house.url)
    mend(page)
    open_for(page, bos)
    page.wait_for_timeout(500)
    expect(page.locator("#banner")).to_be_hidden()
    assert house.votes(arena) == [], "Bo's page sends no vote of Ada"
    cut(page)
    vote(page, "2", "1")
    expect(page.locator("#banner")).to_contain_text("kept in this browser")
    assert not any(link.rsplit(".", 1)[1] in kept(page) for link in (adas, bos)), "no key is stored"
    mend(page)
    voted(page, 1)
    assert by_rater(house, arena) == [(bo, [[1], [0], [2]])], "Bo's vote did not take the place of Ada's"
    open_for(page, adas)
    voted(page, 1)
    assert by_rater(house, arena)[1:] == [(ada, [[2], [0], [1]])]
    assert kept(page) == "{}"


def test_a_kept_undo_undoes_no_vote_of_another_rater(house, browse):
    arena, page = house.arena(3), browse()
    (_, adas), (bo, bos) = house.rater(arena, "Ada"), house.rater(arena, "Bo")
    for link in (bos, adas):
        open_for(page, link)
        vote(page, "1", "2")
        voted(page, 1)
    cut(page)
    page.keyboard.press("z")
    expect(page.locator("#banner")).to_contain_text("kept in this browser")
    page.goto(house.url)
    mend(page)
    open_for(page, bos)
    page.wait_for_timeout(500)
    voted(page, 1)
    open_for(page, adas)
    voted(page, 0)
    assert [(line.rater == bo, line.votes) for line in house.service.raters(arena)] == [(False, 0), (True, 1)]


def test_a_page_that_was_left_open_sends_nothing_as_the_next_rater(house, browse):
    arena, left = house.arena(3), browse()
    (ada, adas), (_, bos) = house.rater(arena, "Ada"), house.rater(arena, "Bo")
    open_for(left, adas)
    cut(left)
    vote(left, "3", "1")
    expect(left.locator("#banner")).to_contain_text("kept in this browser")
    page = left.context.new_page()
    open_for(page, bos)
    bos_ticket = page.locator("form.question").get_attribute("data-ticket")
    mend(left)
    left.locator(f"form.question[data-ticket='{bos_ticket}']").wait_for()  # it is Bo's page now
    ready(left)
    expect(left.locator("#banner")).to_be_hidden()
    assert house.votes(arena) == [] and ada in kept(left), "Ada's vote is kept"
    open_for(page, adas)
    voted(page, 1)
    assert by_rater(house, arena) == [(ada, [[2], [0], [1]])]
