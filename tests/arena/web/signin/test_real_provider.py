"""Sign-in with a real provider, and in a real browser: from the start page to a session, for owners and for raters."""

from __future__ import annotations

import re
import socket
import threading
from contextlib import closing
from urllib.parse import urljoin

import httpx
import pytest

pytest.importorskip("authlib", reason="sign-in needs the extra [oidc]")

from multiduel.arena import Service, connect
from multiduel.arena.web.access import Access
from multiduel.arena.web.accounts import Accounts, Provider
from multiduel.arena.web.app import make_app
from tests.arena.web.pages.visiting import CHROMIUM, texts
from tests.arena.web.signin.providers import SECRET, a_real_provider, why_no_real_one

pytestmark = pytest.mark.skipif(bool(why_no_real_one()), reason=why_no_real_one() or "there is one")


class Town:
    """A server of ours, and a provider that knows it."""

    def __init__(self, folder, listening, url, issuer):
        import uvicorn

        self.url, self.issuer = url, issuer
        self.service = Service(connect(str(folder / "arena.db")))
        self.access = Access(self.service.journal.secrets)
        accounts = Accounts(Provider(issuer, "arena", ("ada@example.com",), ("@example.com",)), SECRET)
        app = make_app(self.service, accounts=accounts)
        words = {"log_level": "warning", "access_log": False, "timeout_graceful_shutdown": 1, "loop": "asyncio", "http": "h11"}
        self._server = uvicorn.Server(uvicorn.Config(app, **words))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listening]}, daemon=True)
        self._thread.start()
        assert app.app.pages.state.app_context.ready.wait(300), "the kernels were not loaded"

    def close(self):
        self._server.should_exit = True
        self._thread.join(20)

    def arena(self):
        from multiduel.arena import Create, Open, Settings

        made = self.service.do(Create("taste", Settings(seed=3, slate_size=3), texts(3), ()))
        self.service.do(Open(made.id))
        return made.id


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    listening = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    with a_real_provider(f"{url}/signin/callback") as issuer:
        made = Town(tmp_path_factory.mktemp("town"), listening, url, issuer)
        yield made
        made.close()


def signed_in(town, login, path="/signin"):
    """A browser without scripts that went the whole way, and the page on which it ended."""
    browser = httpx.Client(follow_redirects=True, timeout=30)
    answer = browser.get(town.url + path)
    for _ in range(5):
        if str(answer.url).startswith(town.url):
            return browser, answer
        action = re.search(r'<form[^>]*action="([^"]+)"', answer.text)[1]
        fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', answer.text))
        if 'name="login"' in answer.text:
            fields |= {"login": login, "password": "whatever"}
        answer = browser.post(urljoin(str(answer.url), action), data=fields)
    raise AssertionError(f"never came back: {answer.url}")


def test_an_admin_signs_in_and_makes_an_arena(town):
    browser, page = signed_in(town, "ada")
    with closing(browser):
        assert page.status_code == 200 and page.url.path == "/own", page.text
        token = re.search(r'name="token" value="([0-9a-f]+)"', browser.get(f"{town.url}/own/new").text)[1]
        fields = {"token": token, "name": "tea or coffee", "pasted": "tea\ncoffee", "action": "create", "request": "r1"}
        made = browser.post(f"{town.url}/own/new", data=fields)
        assert "Ready: tea or coffee" in made.text
    arena = next(row.id for row in town.service.arenas() if row.name == "tea or coffee")
    actor = town.service.events(arena)[0].body["actor"]
    assert actor.startswith("server:sso-")
    assert town.access.holders(arena, [actor]) == {actor: "Ada Lovelace (ada@example.com)"}


def test_an_account_that_nobody_invited_sees_nothing(town):
    arena = town.arena()
    browser, page = signed_in(town, "bob")
    with closing(browser):
        assert page.status_code == 200 and "You own no arena yet" in page.text
        assert browser.get(f"{town.url}/own/{arena}").status_code == 401


def test_an_address_that_the_provider_did_not_verify_is_refused(town):
    browser, page = signed_in(town, "eve")  # she claims Ada's address
    with closing(browser):
        assert page.status_code == 403 and "no verified e-mail address" in page.text
        assert browser.get(f"{town.url}/own").status_code == 401


def test_one_person_with_two_browsers_is_one_rater(town):
    arena = town.arena()
    link = town.access.new_key("link", arena=arena, name="sso-1")
    for _ in range(2):
        browser, page = signed_in(town, "bob", f"/signin/join/{link}")
        with closing(browser):
            assert page.status_code == 200 and page.url.path == f"/vote/{arena}" and "form" in page.text
    with town.service.look(arena) as state:
        assert [rater.label[:15] for rater in state.raters.values()] == ["Bob <b>Bold</b>"]
    assert "<b>Bold" not in page.text


def test_a_code_is_taken_once(town):
    """The browser sends the answer of the provider again, with the cookie that it had."""
    browser = httpx.Client(timeout=30)
    with browser:
        answer = browser.get(f"{town.url}/signin")
        kept = browser.cookies.get("multiduel-signin")
        where = answer.headers["location"]
        for _ in range(9):
            answer = browser.get(where)
            if answer.status_code == 200:  # a form
                action = re.search(r'<form[^>]*action="([^"]+)"', answer.text)[1]
                fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', answer.text))
                fields |= {"login": "ada", "password": "x"} if 'name="login"' in answer.text else {}
                answer = browser.post(urljoin(where, action), data=fields)
            where = urljoin(where, answer.headers["location"])
            if where.startswith(town.url):
                break
        assert browser.get(where).status_code == 303
        again = httpx.get(where, headers={"Cookie": f"multiduel-signin={kept}"})
        assert again.status_code == 403 and "cannot be trusted" in again.text


@pytest.mark.skipif(CHROMIUM is None, reason="browser tests need chromium: apt-get install chromium")
def test_in_a_browser_an_owner_invites_a_colleague_who_signs_in_and_a_rater_votes(town):
    playwright = pytest.importorskip("playwright.sync_api", reason="browser tests need the package playwright")

    def sign_in(page, login):
        page.locator("input[name=login]").fill(login)
        page.locator("input[name=password]").fill("whatever")
        page.locator("button[type=submit]").click()
        page.locator("button[type=submit]").click()  # she lets us know her name and address

    arena = town.arena()
    with playwright.sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        ada, bob = (chromium.new_context().new_page() for _ in range(2))
        ada.goto(town.url)
        ada.get_by_role("link", name="Sign in with your account").click()
        sign_in(ada, "ada")
        ada.wait_for_url(f"{town.url}/own")
        ada.goto(f"{town.url}/own/{arena}/keys")
        ada.get_by_label("Account’s e-mail address").fill("bob@example.com")
        ada.get_by_role("button", name="Invite owner").click()
        ada.locator("#accounts ~ form .name", has_text="bob@example.com").wait_for()
        ada.goto(f"{town.url}/own/{arena}/raters")
        ada.get_by_role("button", name="New sign-in link").click()
        link = ada.locator("input[data-link]").input_value()

        bob.goto(f"{town.url}/own/{arena}")
        bob.get_by_role("link", name="Sign in with your account").click()
        sign_in(bob, "bob")
        bob.wait_for_url(f"{town.url}/own/{arena}")
        bob.get_by_role("button", name="Pause").click()
        bob.get_by_role("button", name="Open").click()
        bob.goto(f"{town.url}/own/{arena}/journal")
        assert "Paused: no new tickets. By Bob <b>Bold</b> (bob@example.com), owner." in bob.locator("table").inner_text()

        bob.goto(link)
        bob.get_by_role("link", name="Sign in and start").click()
        bob.wait_for_url(f"{town.url}/vote/{arena}")  # the provider knows him already
        bob.locator("#question[data-ready] form.question").wait_for()
        bob.locator("[data-do=tie]").click()
        bob.locator("[data-do=vote]").click()
        bob.locator("#toast", has_text="Your vote is counted.").wait_for()
        chromium.close()
    actors = [event.body["actor"] for event in town.service.events(arena) if event.kind == "vote"]
    assert actors == ["rater:r1"]
