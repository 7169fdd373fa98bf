"""The pages in a real browser: hands, keys, fingers, no scripts, lost connections, attacks, and what axe-core finds."""

from __future__ import annotations

import json
import random
import re

import pytest

from multiduel.arena import AdmitRater, Ask, Done, Undo, Vote
from multiduel.arena.domain.options import Option, make_content
from tests.arena.web.pages.visiting import CHROMIUM, a_house

playwright = pytest.importorskip("playwright.sync_api", reason="browser tests need the package playwright")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="browser tests need chromium: apt-get install chromium")
expect = playwright.expect
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    with a_house(tmp_path_factory.mktemp("house")) as made:
        yield made


@pytest.fixture(scope="module")
def chromium():
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


def enter(page, link):
    page.goto(link)
    page.locator("main button.main").click()


def start(house, browse, options=3, *, words=None, **settings):
    """(arena, page) of a rater who sees the first question."""
    arena = house.arena(options, **settings)
    _, link = house.rater(arena)
    page = browse(**words or {})
    enter(page, link)
    ready(page, scripts=(words or {}).get("java_script_enabled", True))
    return arena, page


def ready(page, scripts=True):
    page.locator("#question[data-ready] form.question" if scripts else "form.question").wait_for()


def name_at(page, place):
    """The name of the option at this place, known from its text."""
    text = page.locator(f".option[data-position='{place}'] .content").inner_text()
    return ("mild", "sharp", "bitter", "sweet", "salty")[int(re.search(r"number (\d)", text)[1])]


def voted(page, votes):
    page.locator(".progress", has_text=re.compile(rf"^{votes} votes? by you")).wait_for()


def test_by_mouse(house, browse):
    arena, page = start(house, browse)
    names = [name_at(page, place) for place in range(3)]
    page.locator("[data-pick='2']").click()
    page.locator("[data-pick='0']").click()
    page.locator("[data-do=vote]").click()
    voted(page, 1)
    assert house.said(arena) == [[[names[2]], [names[0]], [names[1]]]], "the one left over goes last"
    page.locator("[data-do=level]").click()
    page.locator("[data-do=vote]").click()
    voted(page, 2)
    assert len(house.said(arena)[1]) == 1
    page.locator("[data-do=skip]").click()
    expect(page.locator("#said")).to_have_text("Skipped.")
    assert house.votes(arena)[2]["ballot"] == {"skip": True}


def test_by_keyboard_with_undo(house, browse):
    arena, page = start(house, browse)
    names = [name_at(page, place) for place in range(3)]
    page.keyboard.press("Enter")
    expect(page.locator(".hint")).to_have_text("Place two at least.")
    for key in ("2", "1", "Enter"):
        page.keyboard.press(key)
    voted(page, 1)
    assert house.said(arena) == [[[names[1]], [names[0]], [names[2]]]]
    page.keyboard.press("z")
    voted(page, 0)
    assert [name_at(page, place) for place in range(3)] == names, "the same question again"
    for key in ("3", "2", "Enter"):
        page.keyboard.press(key)
    voted(page, 1)
    assert house.said(arena)[1] == [[names[2]], [names[1]], [names[0]]]
    assert house.service.board(arena).answers == 1
    page.keyboard.press("s")
    expect(page.locator("#said")).to_have_text("Skipped.")


def test_ranking_with_arrows_and_ties(house, browse):
    arena, page = start(house, browse)
    names = [name_at(page, place) for place in range(3)]
    for key in ("1", "2"):
        page.keyboard.press(key)
    page.locator("[data-chip='2']").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("[data-chip='2']")).to_be_focused()
    expect(page.locator("#said")).to_have_text("1st C, 2nd A, 3rd B")
    page.locator("[data-chip='1']").focus()
    page.keyboard.press("=")
    expect(page.locator("#said")).to_have_text("1st C, 2nd A and B")
    page.keyboard.press("Enter")
    voted(page, 1)
    first, second = house.said(arena)[0]
    assert first == [names[2]] and set(second) == {names[0], names[1]}


def drag(page, chip, target, by=0.5):
    start, end = page.locator(chip).bounding_box(), page.locator(target).bounding_box()
    page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] * by, end["y"] + end["height"] / 2, steps=5)
    page.mouse.up()


def test_ranking_by_drag(house, browse):
    arena, page = start(house, browse)
    names = [name_at(page, place) for place in range(3)]
    drag(page, "[data-chip='1']", "[data-gap='0']")
    expect(page.locator("#said")).to_have_text("1st B")
    drag(page, "[data-chip='2']", "[data-gap='0']")
    expect(page.locator("#said")).to_have_text("1st C, 2nd B, 3rd A")
    drag(page, "[data-chip='0']", "[data-group='1']", by=0.1)
    expect(page.locator("#said")).to_have_text("1st C, 2nd B and A")
    page.locator("[data-do=vote]").click()
    voted(page, 1)
    assert house.said(arena) == [[[names[2]], sorted((names[0], names[1]), key=names.index)]]


def test_by_touch_on_a_phone(house, browse):
    arena, page = start(house, browse, 4, words=PHONE, slate_size=4)
    names = [name_at(page, place) for place in range(4)]
    for place in (3, 1, 0):
        page.locator(f"[data-pick='{place}']").tap()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing is wider than the phone"
    buttons = "[...document.querySelectorAll('form.question button')]"
    assert page.evaluate(f"{buttons}.filter(b => b.offsetParent && b.offsetHeight < 40).length") == 0, "fingers find the buttons"
    page.locator("[data-do=vote]").tap()
    voted(page, 1)
    assert house.said(arena) == [[[names[3]], [names[1]], [names[0]], [names[2]]]]


@pytest.mark.parametrize("question", ["best", "worst"])
def test_best_and_worst(house, browse, question):
    arena, page = start(house, browse, question=question)
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    voted(page, 1)
    page.locator(".option .pick").first.click()
    page.locator("[data-do=vote]").click()
    voted(page, 2)
    assert [vote["ballot"] for vote in house.votes(arena)] == [{question: 1}, {question: 0}]


def test_without_scripts(house, browse):
    arena, page = start(house, browse, words={"java_script_enabled": False})
    names = [name_at(page, place) for place in range(3)]
    page.locator("button[value=vote]").click()
    expect(page.locator(".problem")).to_contain_text("Please number two at least")
    for place, number in ((0, "2"), (1, "1"), (2, "2")):
        page.locator(f"input[name=place-{place}]").fill(number)
    page.locator("button[value=vote]").click()
    voted(page, 1)
    assert house.said(arena) == [[[names[1]], [names[0], names[2]]]]
    page.locator("button[value=undo]").click()
    voted(page, 0)
    page.locator("button[value=skip]").click()
    voted(page, 0)
    assert house.votes(arena)[1]["ballot"] == {"skip": True}
    owner = browse(java_script_enabled=False)
    enter(owner, house.link(arena))
    owner.goto(f"{house.url}/own/{arena}/board")
    expect(owner.locator("noscript meta[http-equiv=refresh], meta[http-equiv=refresh]").first).to_have_attribute("content", "20")


def test_a_lost_connection_keeps_the_vote(house, browse):
    arena, page = start(house, browse)
    page.route("**/tickets/**", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    for key in ("1", "2", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("#banner")).to_contain_text("kept in this browser")
    assert house.votes(arena) == []
    kept = page.evaluate(f"localStorage.getItem('multiduel unsent {arena}')")
    assert json.loads(kept)["body"] == {"ballot": {"rank": [[0], [1], [2]]}}
    page.reload()  # even a page that was closed meanwhile sends it
    expect(page.locator("#banner")).to_contain_text("kept in this browser")
    page.unroute("**/tickets/**")
    voted(page, 1)
    expect(page.locator("#banner")).to_be_hidden()
    assert len(house.votes(arena)) == 1
    assert page.evaluate(f"localStorage.getItem('multiduel unsent {arena}')") is None


def test_an_answer_lost_on_the_way_counts_once(house, browse):
    arena, page = start(house, browse)
    lost = []

    def lose(route):
        if route.request.method == "POST" and len(lost) < 2:
            lost.append(route.fetch().status)  # it reached the server; its answer does not come back
            route.abort()
        else:
            route.continue_()

    page.route("**/tickets/**", lose)
    for key in ("3", "1", "Enter"):
        page.keyboard.press(key)
    voted(page, 1)
    assert lost == [200, 200] and len(house.votes(arena)) == 1 and house.service.board(arena).answers == 1


def test_two_raters_at_once(house, browse):
    arena = house.arena(4)
    pages = []
    for _ in range(2):
        page = browse()
        enter(page, house.rater(arena)[1])
        ready(page)
        pages.append(page)
    for votes in (1, 2):
        for page in pages:
            page.keyboard.press("1")
            page.keyboard.press("2")
        for page in pages:
            page.keyboard.press("Enter")
        for page in pages:
            voted(page, votes)
    assert len(house.votes(arena)) == 4 and {line.votes for line in house.service.raters(arena)} == {2}


def test_from_a_pasted_list_to_the_verdict(house, browse):
    owner = browse()
    enter(owner, f"{house.url}/k/{house.access.new_key('server')}")
    owner.get_by_text("New arena").click()
    owner.locator("#name").fill("Which greeting?")
    owner.locator("#pasted").fill("- Good morning.\n- Hello!\n- What?\n")
    owner.get_by_text("Look at them").click()
    expect(owner.locator("#slate_size-why")).to_contain_text("We suggest 3.")
    expect(owner.locator("#policy-why")).to_contain_text("We suggest challengers")
    owner.locator("input[name=raters][value=open]").check()
    owner.locator("button[value=create]").click()
    expect(owner.locator(".qr svg")).to_have_count(2)
    link = owner.locator("[data-link]").first.input_value()
    owner.get_by_text("To the owner").click()
    arena = owner.url.rsplit("/", 1)[1]

    rater = browse()
    rater.goto(link)
    rater.locator("#label").fill("Ada")
    rater.get_by_role("button", name="Start").click()
    ready(rater)
    rater.keyboard.press("1")
    rater.keyboard.press("2")
    rater.keyboard.press("Enter")
    voted(rater, 1)
    rater.goto(f"{house.url}/vote/{arena}/board")
    expect(rater.locator("main")).to_contain_text("not shown to raters now")

    owner.goto(f"{house.url}/own/{arena}/board")
    expect(owner.locator(".figures")).to_contain_text("too early to say")
    others = [house.service.do(AdmitRater(arena, f"other {k}")) for k in range(20)]
    luck = random.Random(4)
    for k in range(400):  # all the others hold the first for the best
        ticket = house.service.do(Ask(arena, luck.choice(others), f"{k}"))
        if isinstance(ticket, Done):
            break
        order = sorted(range(len(ticket.options)), key=lambda p: int(ticket.options[p][1:]) + luck.gauss(0.0, 0.3))
        house.service.do(Vote(ticket.id, {"rank": order}))
    expect(owner.locator("#verdict-head")).to_have_text("Decided")  # without loading the page again
    expect(owner.locator("#sentence")).to_contain_text(
        "'Good morning.' is best for the raters who answered here, in this mix (95 %)"
    )
    rater.goto(f"{house.url}/vote/{arena}")
    expect(rater.locator("h1")).to_have_text("It is decided")
    rater.get_by_text("See the result").click()
    expect(rater.locator("#sentence")).to_contain_text("is best")


def attack_options():
    svg = (
        b'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40" onload="alert(1)"><script>alert(2)</script>'
        b'<rect width="40" height="40"/></svg>'
    )
    script = "<script>alert(3)</script><img src=x onerror=alert(4)> <a href='javascript:alert(5)'>a</a> [b](javascript:alert(6))"
    return [
        Option("markdown", (make_content("markdown", script),)),
        Option("text", (make_content("text", "</div></form>" + script),)),
        Option("svg", (make_content("image", svg),)),
        Option("huge", (make_content("text", "W" * 150_000),)),
        Option("right to left", (make_content("text", "\u202eשלום עולם مرحبا \u202e" * 20),)),
        Option("emoji", (make_content("markdown", "👩‍👩‍👧‍👦 " * 200 + "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤" * 50),)),
    ]


def test_contents_that_attack_do_no_harm(house, browse):
    arena, page = start(house, browse, attack_options(), slate_size=6, words={"viewport": {"width": 800, "height": 600}})
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    ready(page)
    assert page.locator(".option").count() == 6 and page.locator(".content script, .content iframe").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("img").evaluate("img => img.decode()")
    assert all(url.startswith(house.url) for url in asked)
    picture = page.locator(".content img").get_attribute("src")
    page.locator("[data-do=level]").click()
    page.locator("[data-do=vote]").click()
    voted(page, 1)
    page.goto(house.url + picture)  # the SVG by itself: no script runs in it, or `browse` has seen a dialog
    assert "sandbox" in page.request.get(house.url + picture).headers["content-security-policy"]
    owner = browse()
    enter(owner, house.link(arena))
    for rest in ("/options", "/journal", "/board"):
        owner.goto(f"{house.url}/own/{arena}{rest}")
        assert owner.evaluate("document.documentElement.scrollWidth <= innerWidth")


def serious(page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs the package axe-playwright-python")
    found = axe.Axe().run(page).response["violations"]
    return [(one["id"], one["nodes"][0]["html"][:200]) for one in found if one["impact"] in ("serious", "critical")]


def test_axe_finds_nothing_serious_and_finds_what_is_broken(house, browse):
    arena, page = start(house, browse, 4, slate_size=4, words={"color_scheme": "dark"})
    page.keyboard.press("1")
    page.keyboard.press("2")
    found = {"voting, dark": serious(page)}
    page.emulate_media(color_scheme="light")
    found["voting"] = serious(page)
    rater = house.service.raters(arena)[0].rater
    ticket = house.service.do(Ask(arena, rater, "again"))
    house.service.do(Vote(ticket.id, {"rank": [0, 1, 2, 3]}))
    owner = browse()
    owner.goto(house.link(arena))
    found["the way in"] = serious(owner)
    enter(owner, owner.url)
    for rest in ("", "/board", "/options", "/raters", "/keys", f"/keys/rater/{rater}", "/votes", "/sheets", "/journal"):
        owner.goto(f"{house.url}/own/{arena}{rest}")
        found[f"owner{rest}"] = serious(owner)
    owner.emulate_media(color_scheme="dark")
    for rest in ("/board", "/raters", "/keys"):
        owner.goto(f"{house.url}/own/{arena}{rest}")
        found[f"owner{rest}, dark"] = serious(owner)
    server = browse()
    enter(server, f"{house.url}/k/{house.access.new_key('server')}")
    server.goto(f"{house.url}/own/keys")
    found["the server's keys"] = serious(server)
    server.get_by_text("Manage").first.click()
    found["a key of the server"] = serious(server)
    server.goto(f"{house.url}/own/new")
    server.locator("#name").fill("x")
    server.locator("#pasted").fill("a\nb\nc")
    server.get_by_text("Look at them").click()
    server.locator("#slate_size-why").wait_for()
    found["a new arena"] = serious(server)
    assert {where: what for where, what in found.items() if what} == {}
    server.evaluate("document.querySelector('label[for=name]').remove(); document.documentElement.removeAttribute('lang')")
    assert {"html-has-lang"} <= {name for name, _ in serious(server)}, "broken on purpose"


def test_an_undo_elsewhere_and_a_stale_page(house, browse):
    """The page's ticket got its vote in another tab: the page says so and goes on."""
    arena, page = start(house, browse)
    ticket = page.locator("form.question").get_attribute("data-ticket")
    house.service.do(Vote(ticket, {"rank": [2, 1, 0]}))
    for key in ("1", "2", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("#banner")).to_contain_text("another vote already")
    assert page.locator("form.question").get_attribute("data-ticket") != ticket
    house.service.do(Undo(arena, house.service.raters(arena)[0].rater, "elsewhere"))
    for key in ("1", "2", "Enter"):
        page.keyboard.press(key)
    voted(page, 1)
