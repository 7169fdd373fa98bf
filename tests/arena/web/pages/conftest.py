"""A real browser, for every test that takes ``browse``."""

from __future__ import annotations

import pytest

from tests.arena.web.pages.visiting import CHROMIUM


@pytest.fixture(scope="module")
def chromium():
    playwright = pytest.importorskip("playwright.sync_api", reason="browser tests need the package playwright")
    with playwright.sync_playwright() as running:
        made = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield made
        made.close()


@pytest.fixture
def browse(chromium):
    """Makes pages; whatever a script complains about fails the test."""
    contexts, complaints = [], []

    def new(**words):
        context = chromium.new_context(**words)
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        return page

    yield new
    for context in contexts:
        context.close()
    assert complaints == []
