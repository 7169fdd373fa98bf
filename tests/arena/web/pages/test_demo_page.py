"""The demonstration's button in a real browser: it follows simulated raters who stop by themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from multiduel.arena import Close, Open, Pause
from multiduel.arena.web.pages import demo
from tests.arena.web.pages.visiting import CHROMIUM, PHONE, a_house

playwright = pytest.importorskip("playwright.sync_api", reason="browser tests need the package playwright")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="browser tests need chromium: apt-get install chromium")
expect = playwright.expect


@pytest.fixture
def house(tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "SETTINGS", replace(demo.SETTINGS, alpha=0.5))  # a verdict after few votes
    with a_house(tmp_path, demo=True) as made:
        yield made


def shows(page, *words):
    """Wait until the demonstration shows these buttons and no others, on the page as it was opened."""
    expect(page.locator(".demo button:visible")).to_have_text(words)
    assert page.evaluate("document.documentElement.dataset.opened") == "once"


def pages_of(house, browse):
    """The board and a rater's page of one visitor."""
    board = browse(**PHONE)
    board.goto(f"{house.url}/demo")
    board.goto(f"{house.url}/own/{house.demo.arena}/board")
    board.get_by_role("button", name="Start simulated raters").tap()
    board.locator(".demo button:visible", has_text="Stop simulated raters").wait_for()
    voting = board.context.new_page()
    voting.goto(f"{house.url}/vote/{house.demo.arena}")
    for page in (board, voting):
        page.evaluate("document.documentElement.dataset.opened = 'once'")
    return board, voting


def test_the_button_goes_when_simulated_raters_reach_a_verdict(house, browse):
    board, voting = pages_of(house, browse)
    expect(board.locator("#verdict-head")).to_have_text("Winner", timeout=120_000)
    for page in (board, voting):
        shows(page)
    board.reload()
    expect(board.locator(".demo button:visible")).to_have_count(0)


def test_the_button_follows_an_arena_that_is_paused_opened_and_closed(house, browse):
    board, voting = pages_of(house, browse)
    for turn, words in ((Pause, ()), (Open, ("Start simulated raters",)), (Close, ())):
        house.service.do(turn(house.demo.arena))
        for page in (board, voting):
            shows(page, *words)
    assert voting.evaluate("document.documentElement.scrollWidth <= innerWidth")
