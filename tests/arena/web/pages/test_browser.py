"""The pages in a real browser: hands, keys, fingers, no scripts, lost connections, attacks, and what axe-core finds."""

from __future__ import annotations

import base64
import json
import random
import re

import pytest

from multiduel.arena import AdmitRater, Ask, Close, Done, Pause, Undo, Vote
from multiduel.arena.domain.options import Option, make_content
from tests.arena.web.pages.visiting import CHROMIUM, PHONE, a_house, enter

playwright = pytest.importorskip("playwright.sync_api", reason="browser tests need the package playwright")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="browser tests need chromium: apt-get install chromium")
expect = playwright.expect


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    with a_house(tmp_path_factory.mktemp("house")) as made:
        yield made


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


def until(page, holds):
    """Wait until an expression is true. Playwright's own way needs eval, which the pages' policy forbids."""
    for _ in range(400):
        if page.evaluate(holds):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never: {holds}")


def order(page):
    """The slots that hold something, in words."""
    return [" ".join(slot.split()) for slot in page.locator(".slot:not(.empty)").all_inner_texts()]


def test_by_mouse(house, browse):
    arena, page = start(house, browse)
    names = [name_at(page, place) for place in range(3)]
    page.locator("[data-pick='2']").click()
    page.locator("[data-pick='0']").click()
    page.locator("[data-do=vote]").click()
    voted(page, 1)
    assert house.said(arena) == [[[names[2]], [names[0]], [names[1]]]], "the one left over goes last"
    expect(page.locator("#toast")).to_have_text("Your vote is counted.")
    expect(page.locator("#toast")).to_be_visible()
    page.locator("[data-do=tie]").click()
    page.locator("[data-do=vote]").click()
    voted(page, 2)
    assert len(house.said(arena)[1]) == 1
    page.locator("[data-do=skip]").click()
    expect(page.locator("#toast")).to_have_text("Skipped.")
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
    expect(page.locator("#toast")).to_have_text("Your last vote is undone. Here it is again.")
    assert [name_at(page, place) for place in range(3)] == names, "the same question again"
    assert order(page) == ["1st B", "2nd A", "3rd C"], "and the same order"
    page.reload()
    ready(page)
    assert order(page) == ["1st B", "2nd A", "3rd C"], "also after a reload"
    page.locator("[data-chip='2']").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    voted(page, 1)
    assert house.said(arena)[1] == [[names[1]], [names[2]], [names[0]]]
    assert house.service.board(arena).answers == 1
    page.keyboard.press("s")
    expect(page.locator("#toast")).to_have_text("Skipped.")


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


def middle(page, what, by=0.5):
    box = page.locator(what).bounding_box()
    return box["x"] + box["width"] * by, box["y"] + box["height"] / 2


def drag(page, what, target, by=0.5):
    page.mouse.move(*middle(page, what))
    page.mouse.down()
    page.mouse.move(*middle(page, target, by), steps=5)
    page.mouse.up()


def test_cards_and_chips_are_dragged_onto_slots(house, browse):
    arena, page = start(house, browse)
    names = [name_at(page, place) for place in range(3)]
    expect(page.locator(".slot.empty")).to_have_text(["1st", "2nd", "3rd"])
    drag(page, ".option[data-position='1'] .content", "[data-slot='2']")
    assert order(page) == ["3rd B"], "it stays where it was put"
    drag(page, "[data-pick='2'] .letter", "[data-slot='0']")
    assert order(page) == ["1st C", "2nd A", "3rd B"], "the last one goes into the only slot that is left"
    drag(page, "[data-chip='1']", "[data-slot='0']", by=0.1)
    assert order(page) == ["1st B", "2nd C", "3rd A"], "before the first"
    drag(page, "[data-chip='1']", "[data-slot='1']", by=0.9)
    assert order(page) == ["1st C", "2nd B", "3rd A"], "behind the second, which moves up"
    drag(page, "[data-chip='0']", "[data-slot='1']")
    assert order(page) == ["1st C", "2nd B A"], "onto another: a tie"
    drag(page, "[data-chip='0']", ".option[data-position='0'] .content")
    assert order(page) == ["1st C", "2nd B"], "back to the cards: no place"
    drag(page, ".option[data-position='0'] .content", "[data-slot='1']")
    page.locator("[data-do=vote]").click()
    voted(page, 1)
    assert house.said(arena) == [[[names[2]], sorted((names[0], names[1]), key=names.index)]]


class Finger:
    """A finger on a touch screen, through the protocol of the browser: what playwright's tap cannot do."""

    def __init__(self, page):
        self.protocol = page.context.new_cdp_session(page)

    def send(self, kind, x=None, y=None):
        points = [] if x is None else [{"x": x, "y": y}]
        self.protocol.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def drag(self, page, start, end, rest=0):
        self.send("touchStart", *start)
        page.wait_for_timeout(rest)
        for k in range(1, 9):
            self.send("touchMove", *(a + (b - a) * k / 8 for a, b in zip(start, end, strict=True)))
            page.wait_for_timeout(16)
        self.send("touchEnd")


def test_cards_are_dragged_by_a_finger_that_rests_and_scroll_otherwise(house, browse):
    long = [Option(f"o{k}", (make_content("text", f"number {k} " + "many words " * 60),)) for k in range(4)]
    arena, page = start(house, browse, long, words=PHONE, slate_size=4)
    finger, card = Finger(page), (200.0, 300.0)
    finger.drag(page, card, (200.0, 60.0))
    until(page, "scrollY > 100")
    assert order(page) == [], "a finger that moves at once scrolls"
    page.wait_for_timeout(700)  # until it glides no more
    page.evaluate("scrollTo(0, 0)")
    position = page.evaluate("document.elementFromPoint(200, 300).closest('[data-position]').dataset.position")
    finger.drag(page, card, middle(page, "[data-slot='1']"), rest=400)
    assert order(page) == [f"2nd {'ABCD'[int(position)]}"]
    assert page.evaluate("scrollY") == 0, "the page stays while a card is dragged"
    finger.drag(page, middle(page, f"[data-chip='{position}']"), middle(page, "[data-slot='3']"))
    assert order(page) == [f"4th {'ABCD'[int(position)]}"], "a chip is dragged at once"
    page.locator("[data-do=skip]").tap()
    expect(page.locator("#toast")).to_have_text("Skipped.")
    assert len(house.votes(arena)) == 1


def test_four_taps_rank_four_on_a_phone(house, browse):
    arena, page = start(house, browse, 4, words=PHONE, slate_size=4)
    names = [name_at(page, place) for place in range(4)]
    taps = 0
    for place in (3, 1, 0):
        page.locator(f".option[data-position='{place}'] .content").tap()
        taps += 1
    assert order(page) == ["1st D", "2nd B", "3rd A", "4th C"]
    tray = page.locator(".tray").bounding_box()
    assert tray["height"] <= 844 / 4 and tray["x"] >= 0 and tray["x"] + tray["width"] <= 390
    assert page.locator(".top").bounding_box()["height"] < 60, "the header is one line"
    assert page.locator("kbd:visible").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing is wider than the phone"
    buttons = "[...document.querySelectorAll('form.question button')]"
    assert page.evaluate(f"{buttons}.filter(b => b.offsetParent && b.offsetHeight < 40).length") == 0, "fingers find the buttons"
    page.locator("[data-do=vote]").tap()
    voted(page, 1)
    assert taps + 1 == 4 and house.said(arena) == [[[names[3]], [names[1]], [names[0]], [names[2]]]]


@pytest.mark.parametrize("places", [3, 6, 20])
@pytest.mark.parametrize("size", [(390, 844), (320, 568)])
def test_the_tray_takes_a_quarter_of_a_phone_with_any_number_of_options(house, browse, places, size):
    options = [Option(f"o{k}", (make_content("text", f"This is answer number {k}. " * 4),)) for k in range(places)]
    words = PHONE | {"viewport": dict(zip(("width", "height"), size, strict=True))}
    arena, page = start(house, browse, options, words=words, slate_size=places, goal=20, board="always")
    tap_two(page)
    page.locator("[data-do=vote]").tap()
    voted_of(page, 1, 20)
    expect(page.locator("[data-do=undo]")).to_be_visible()  # the most buttons that there are
    tap_two(page)
    if places > 3:
        expect(page.locator(".hint")).to_have_text("Unplaced options are not compared.")
    tray = page.locator(".tray").bounding_box()
    assert tray["height"] <= size[1] / 4 and tray["x"] >= 0 and tray["x"] + tray["width"] <= size[0]
    assert tray["y"] + tray["height"] == size[1], "at the foot of the screen"
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    for place in range(2, places - 1):  # each option can be reached, and the next slot is in sight; the last one fills itself
        box = page.locator(".slot.empty").first.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= size[0]
        page.locator(f".option[data-position='{place}'] .content").tap()
    page.locator("[data-do=vote]").tap()
    voted_of(page, 2, 20)
    assert len(house.votes(arena)[1]["ballot"]["rank"]) == places


def tap_two(page):
    for place in (0, 1):
        page.locator(f".option[data-position='{place}'] .content").tap()


def voted_of(page, votes, goal):
    page.locator(".progress", has_text=re.compile(rf"^{votes} of {goal} votes by you")).wait_for()


def test_chips_that_tie_on_a_phone_do_not_cover_one_another(house, browse):
    _, page = start(house, browse, 4, words=PHONE, slate_size=4)
    page.locator("[data-do=tie]").tap()
    chips = sorted((chip.bounding_box() for chip in page.locator(".chip").all()), key=lambda box: box["x"])
    slot = page.locator(".slot").first.bounding_box()
    assert len(chips) == 4 and chips[0]["x"] >= slot["x"] >= 0
    ends = [box["x"] + box["width"] for box in chips]
    assert all(end <= box["x"] for end, box in zip(ends, chips[1:], strict=False))
    assert ends[-1] <= slot["x"] + slot["width"]
    last = page.locator(".slot").last.bounding_box()
    assert last["x"] + last["width"] <= 390, "all four are in sight"


CODE = """```python
def mean(values):  # a line that is much longer than any phone is wide, so that it has to be wrapped by the page itself
    return sum(values) / len(values), "a text that is long enough to be cut off at the edge of a card or of a sheet"
```"""


def test_code_is_coloured_and_wrapped_on_phones_and_sheets(house, browse):
    options = [Option(f"o{k}", (make_content("markdown", CODE + f"\n\nnumber {k}"),)) for k in range(3)]
    arena, page = start(house, browse, options, words=PHONE)
    fits = "[...document.querySelectorAll('pre')].every(one => one.scrollWidth <= one.clientWidth)"
    assert page.locator(".content pre .h-key").count() >= 3 and page.evaluate(fits)
    owner = browse(**PHONE)
    enter(owner, house.link(arena))
    owner.goto(f"{house.url}/own/{arena}/sheets")
    owner.locator("#number").fill("2")
    owner.get_by_role("button", name="Make sheets").tap()
    expect(owner.locator(".sheet").last).to_contain_text("Sheet 2 of 2")
    uncut = "[...document.querySelectorAll('.sheet .content, .sheet pre')].every(one => one.scrollHeight <= one.clientHeight + 1)"
    owner.emulate_media(media="print")
    assert owner.evaluate(fits) and owner.evaluate(uncut)


def test_sheets_with_the_longest_instructions_fit_their_pages(house, browse):
    arena = house.arena(3, instructions="**Judge** `as` [our page](https://a.example) says. " + "word " * 980)
    owner = browse(viewport=PHONE["viewport"], color_scheme="dark")
    enter(owner, house.link(arena))
    owner.goto(f"{house.url}/own/{arena}/sheets")
    owner.locator("#number").fill("3")
    owner.get_by_role("button", name="Make sheets").click()
    expect(owner.locator(".sheet .instructions strong")).to_have_text(["Judge"] * 3)
    assert owner.evaluate("document.documentElement.scrollWidth <= innerWidth") and serious(owner) == []
    assert len(re.findall(rb"/Type */Page\b", owner.pdf(format="A4"))) == 3


# The least contrast of a number in the heat map with its square, each colour blended with what is below it.
CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (...layers) => {
    canvas.globalAlpha = 1;
    for (const [colour, alpha] of layers) { canvas.globalAlpha = alpha; canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (rgb) => rgb.map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
  const paper = getComputedStyle(document.documentElement).backgroundColor;
  const found = [...document.querySelectorAll("svg.heat rect[class*=s]")].map((rect) => {
    const [square, text] = [getComputedStyle(rect), getComputedStyle(rect.nextElementSibling)];
    const [a, b] = [light(rgb([paper, 1], [square.fill, square.fillOpacity])), light(rgb([text.fill, 1]))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  });
  return [found.length, Math.min(...found)];
}"""


def test_numbers_in_the_heat_map_are_readable_in_light_and_dark(house, browse):
    arena = house.arena(4, slate_size=4, go_on=True)
    rater, _ = house.rater(arena)
    luck = random.Random(1)
    for k in range(20):
        ticket = house.service.do(Ask(arena, rater, f"{k}"))
        order = sorted(range(len(ticket.options)), key=lambda p: int(ticket.options[p][1:]) + luck.gauss(0.0, 0.9))
        house.service.do(Vote(ticket.id, {"rank": order}))
    owner = browse()
    enter(owner, house.link(arena))
    for scheme in ("light", "dark"):
        owner.emulate_media(color_scheme=scheme)
        owner.goto(f"{house.url}/own/{arena}/board")
        squares, least = owner.evaluate(CONTRAST)
        assert squares == 12 and least >= 4.5
    assert owner.locator("svg.heat text.n").count() == 12, "with the number of comparisons"


def test_long_names_beside_the_heat_map_are_not_cut_off(house, browse):
    names = ("W" * 30, "好" * 30, "M" * 15, "plain")
    arena = house.arena([Option(name, (make_content("text", name),)) for name in names], slate_size=4)
    rater, _ = house.rater(arena)
    ticket = house.service.do(Ask(arena, rater, "1"))
    house.service.do(Vote(ticket.id, {"rank": [0, 1, 2, 3]}))
    owner = browse()
    enter(owner, house.link(arena))
    owner.goto(f"{house.url}/own/{arena}/board")
    starts = owner.evaluate("[...document.querySelectorAll('svg.heat text[text-anchor=end]')].map(one => one.getBBox().x)")
    assert len(starts) == 4 and min(starts) >= 0


def picture(k):
    """A PNG of one colour."""
    import struct
    import zlib

    def part(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes((50 * k, 90, 200)) * 300 for _ in range(200))
    head = struct.pack(">IIBBBBB", 300, 200, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")


def test_four_pictures_fit_on_a_phone_and_are_enlarged(house, browse):
    options = [Option(f"logo {k}", (make_content("image", picture(k)),)) for k in range(4)]
    _, page = start(house, browse, options, words=PHONE, slate_size=4)
    page.locator(".content img").last.evaluate("img => img.decode()")
    tray = page.locator(".tray").bounding_box()
    for box in (page.locator(".option").nth(k).bounding_box() for k in range(4)):
        assert box["y"] >= 0 and box["y"] + box["height"] <= tray["y"] + 1, "all four above the tray, without scrolling"
    page.locator("[data-zoom]").nth(2).tap()
    expect(page.locator("#zoomed img")).to_be_visible()
    assert page.locator("#zoomed img").get_attribute("src").endswith("/contents/2")
    assert order(page) == [], "enlarging ranks nothing"
    page.locator("#zoomed").get_by_text("Close").tap()
    expect(page.locator("#zoomed")).to_be_hidden()
    page.locator(".content img").nth(2).tap()
    assert order(page) == ["1st C"]


def sound(seconds):
    import io
    import wave

    made = io.BytesIO()
    with wave.open(made, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8_000)
        file.writeframes(b"\0\0" * int(8_000 * seconds))
    return made.getvalue()


def test_one_sound_at_a_time_and_heard_ones_are_marked(house, browse):
    options = [Option(f"jingle {k}", (make_content("audio", sound(1.0 + k / 10)),)) for k in range(2)]
    _, page = start(house, browse, options, slate_size=2)
    sounds = page.locator("audio")
    sounds.first.evaluate("one => one.play()")
    sounds.last.evaluate("one => one.play()")
    until(page, "[...document.querySelectorAll('audio')].filter(one => !one.paused).length === 1")
    expect(page.locator(".heard").last).to_be_visible()
    expect(page.locator(".heard").first).to_be_hidden()
    sounds.first.evaluate("one => one.play()")
    expect(page.locator(".heard").first).to_be_visible()


def test_heard_marks_come_back_after_undo(house, browse):
    options = [Option(f"jingle {k}", (make_content("audio", sound(0.2 + k / 10)),)) for k in range(3)]
    _, page = start(house, browse, options)

    def expect_heard(*heard):
        for position in range(3):
            expect(page.locator(".heard").nth(position)).to_be_visible(visible=position in heard)

    def play(position):
        page.locator("audio").nth(position).evaluate("one => one.play()")
        expect(page.locator(".heard").nth(position)).to_be_visible()

    def vote_and_undo():
        page.keyboard.press("=")
        page.keyboard.press("Enter")
        voted(page, 1)
        expect_heard()  # another question
        page.keyboard.press("z")
        voted(page, 0)

    play(1)
    vote_and_undo()
    expect_heard(1)
    play(2)
    vote_and_undo()
    expect_heard(1, 2)
    page.reload()
    ready(page)
    expect_heard(1, 2)


def test_join_page_says_what_it_is_about(house, browse):
    arena = house.arena(3, name="Which greeting?", goal=20, instructions="Imagine **you** are *late*. <script>alert(1)</script>")
    page = browse()
    page.goto(house.link(arena, "link"))
    expect(page.locator("h1")).to_have_text("Help choose: Which greeting?")
    expect(page.locator(".instructions strong")).to_have_text("you")
    expect(page.locator("main")).to_contain_text("About 20 questions, 3 minutes; names are hidden")
    assert serious(page) == []
    page.get_by_role("button", name="Start").click()
    ready(page)
    page.keyboard.press("1")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    page.locator(".progress", has_text="1 of 20 votes by you").wait_for()
    page.get_by_text("Forget me").click()
    assert serious(page) == []
    page.get_by_role("link", name="Cancel").click()
    ready(page)
    page.get_by_text("Forget me").click()
    page.get_by_role("button", name="Forget me").click()
    expect(page.locator("main")).to_contain_text("This browser has forgotten you")
    page.goto(f"{house.url}/vote/{arena}")
    expect(page.locator("main")).to_contain_text("Please open the link that you were given")
    house.service.do(Close(arena))
    page.goto(house.link(arena, "link"))
    expect(page.locator("main")).to_contain_text("This comparison is closed: no more votes are taken.")
    assert page.get_by_role("button").count() == 0


def test_a_rater_with_a_limit_is_not_invited_to_vote_without_end(house, browse):
    arena = house.arena(3, name="Which greeting?", goal=20)
    page = browse()
    for limit, said in ((7, "About 7 questions"), (30, "About 20 questions")):
        rater = house.service.do(AdmitRater(arena, f"{limit} votes", limit=limit))
        page.goto(f"{house.url}/k/{house.access.new_key('rater', arena=arena, rater=rater)}")
        expect(page.locator("main")).to_contain_text(said)


def test_a_paused_and_a_closed_arena_promise_no_result(house, browse):
    arena, page = start(house, browse, board="always")
    expect(page.locator("header").get_by_role("link", name="Board")).to_be_visible()
    for turn in (Pause, Close):
        house.service.do(turn(arena))
        page.reload()
        expect(page.get_by_role("link", name="See the board")).to_be_visible()
        assert "See the result" not in page.locator("main").inner_text()
        expect(page.locator("header").get_by_role("link", name="Board")).to_be_hidden()  # there is a button
    page.goto(house.link(arena, "link"))
    assert page.locator("h1").count() == 0 or "Help choose" not in page.locator("h1").inner_text()


@pytest.mark.parametrize("question", ["best", "worst"])
def test_best_and_worst(house, browse, question):
    arena, page = start(house, browse, question=question)
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    voted(page, 1)
    page.locator(".option .content").first.click()
    page.locator("[data-do=vote]").click()
    voted(page, 2)
    page.keyboard.press("z")
    voted(page, 1)
    expect(page.locator("input[type=radio]").first).to_be_checked()
    page.keyboard.press("Enter")
    voted(page, 2)
    assert [vote["ballot"] for vote in house.votes(arena)] == [{question: 1}, {question: 0}, {question: 0}]


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
    assert [page.locator(f"input[name=place-{place}]").input_value() for place in range(3)] == ["2", "1", "2"]
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
    place = f"multiduel unsent {arena} {house.service.raters(arena)[0].rater}"
    kept = page.evaluate(f"localStorage.getItem('{place}')")
    assert json.loads(kept)["body"] == {"ballot": {"rank": [[0], [1], [2]]}}
    page.reload()  # even a page that was closed meanwhile sends it
    expect(page.locator("#banner")).to_contain_text("kept in this browser")
    page.unroute("**/tickets/**")
    voted(page, 1)
    expect(page.locator("#banner")).to_be_hidden()
    assert len(house.votes(arena)) == 1
    assert page.evaluate(f"localStorage.getItem('{place}')") is None


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


def test_a_rater_whose_key_was_revoked_while_ranking_is_told_so(house, browse):
    arena = house.arena(3)
    rater, link = house.rater(arena)
    page = browse()
    enter(page, link)
    ready(page)
    house.access.revoke("rater", arena, rater)
    page.wait_for_timeout(2_100)  # what is known of keys may be two seconds old
    for key in ("1", "2", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("main")).to_contain_text("this browser is not known here, or not any more")
    expect(page.locator("h1")).to_have_text("Open your link")
    assert house.votes(arena) == []


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
    owner.get_by_role("button", name="Preview").click()
    expect(owner.locator("#slate_size-why")).to_contain_text("We suggest 3: ")
    expect(owner.locator("#policy-why")).to_contain_text("We suggest challengers")
    owner.locator("input[name=raters][value=open]").check()
    owner.locator("button[value=create]").click()
    expect(owner.locator(".qr svg")).to_have_count(2)
    link = owner.locator("[data-link]").first.input_value()
    owner.get_by_role("link", name="Owner’s page", exact=True).click()
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
    expect(owner.locator("#verdict-head")).to_have_text("Winner")  # without loading the page again
    expect(owner.locator("#sentence")).to_contain_text("'Good morning.' is best for these raters (95 %)")
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
    page.locator(".content img").evaluate("img => img.decode()")
    assert all(url.startswith(house.url) for url in asked)
    picture = page.locator(".content img").get_attribute("src")
    page.locator("[data-do=tie]").click()
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
    for rest in (
        "",
        "/board",
        "/options",
        "/raters",
        "/keys",
        f"/keys/rater/{rater}",
        "/notices",
        "/votes",
        "/sheets",
        "/journal",
    ):
        owner.goto(f"{house.url}/own/{arena}{rest}")
        found[f"owner{rest}"] = serious(owner)
    owner.emulate_media(color_scheme="dark")
    for rest in ("/board", "/report", "/options", "/raters", "/keys"):
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
    server.get_by_role("button", name="Preview").click()
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
    expect(page.locator("#banner")).to_contain_text("Your vote was not counted. This ticket has another vote already")
    assert page.locator("form.question").get_attribute("data-ticket") != ticket
    house.service.do(Undo(arena, house.service.raters(arena)[0].rater, "elsewhere"))
    for key in ("1", "2", "Enter"):
        page.keyboard.press(key)
    voted(page, 1)


def dropped(page, files):
    """Drop files onto the page, as a hand does."""
    script = """files => {
        const carried = new DataTransfer();
        for (const [name, type, data] of files)
            carried.items.add(new File([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], name, { type }));
        const zone = document.querySelector("[data-dropzone]");
        for (const kind of ["dragenter", "dragover", "drop"])
            zone.dispatchEvent(new DragEvent(kind, { dataTransfer: carried, bubbles: true, cancelable: true }));
    }"""
    page.evaluate(script, [(name, type, base64.b64encode(data).decode()) for name, type, data in files])


def test_pictures_are_dropped_previewed_and_compared(house, browse):
    owner = browse()
    enter(owner, f"{house.url}/k/{house.access.new_key('server')}")
    owner.goto(f"{house.url}/own/new")
    owner.locator("#name").fill("Which logo?")
    dropped(owner, [(f"logo {k}.png", "image/png", picture(k)) for k in range(3)])
    expect(owner.locator(".chosen li")).to_have_count(3)
    until(owner, "[...document.querySelectorAll('.chosen canvas')].every(one => one.width === 96)")
    dropped(owner, [("plan.pdf", "application/pdf", b"%PDF-1.7 \xff")])
    owner.get_by_role("button", name="Preview").click()
    expect(owner.locator(".problem[role=alert]")).to_contain_text("‘plan.pdf’ is a PDF document.")
    expect(owner.locator(".chosen li")).to_have_count(4)
    owner.get_by_text("Remove files").click()
    dropped(owner, [(f"logo {k}.png", "image/png", picture(k)) for k in range(3)])
    owner.get_by_role("button", name="Preview").click()
    expect(owner.locator("main")).to_contain_text("3 options")
    assert serious(owner) == []
    expect(owner.locator("#slate_size-why")).to_contain_text("We suggest 3: ")
    owner.locator("button[value=create]").click()
    expect(owner.locator("h1")).to_have_text("Ready: Which logo?")
    assert owner.locator("[data-link]").count() == 1
    owner.get_by_role("link", name="Owner’s page", exact=True).click()
    owner.get_by_role("link", name="Options").click()
    until(owner, "[...document.querySelectorAll('img.thumb')].filter(one => one.naturalWidth === 300).length === 3")
    assert serious(owner) == []


def test_from_the_board_by_group_to_a_report_in_the_hands_of_a_boss(house, browse):
    arena = house.arena(4, slate_size=4, name="Which greeting?", go_on=True)
    raters = [house.service.do(AdmitRater(arena, f"person {k}", ("Lyon", "Oslo")[k % 2])) for k in range(6)]
    for k in range(60):
        ticket = house.service.do(Ask(arena, raters[k % 6], f"{k}"))
        house.service.do(Vote(ticket.id, {"rank": sorted(range(4), key=lambda p: ticket.options[p])}))
    owner = browse()
    enter(owner, house.link(arena))
    owner.goto(f"{house.url}/own/{arena}/board")
    owner.locator("#by").select_option(label="Lyon")
    owner.get_by_role("button", name="Show").click()
    expect(owner.locator(".problem")).to_contain_text("Only votes of this group: 30 of 60.")
    assert serious(owner) == []
    ticket = house.service.do(Ask(arena, raters[0], "more"))
    house.service.do(Vote(ticket.id, {"rank": sorted(range(4), key=lambda p: ticket.options[p])}))
    expect(owner.locator(".problem")).to_contain_text("31 of 61")  # it follows the votes, still of this group
    owner.get_by_role("link", name="Report").click()
    expect(owner.locator("#answer")).to_have_text("Winner: mild")
    assert serious(owner) == []
    owner.get_by_role("button", name="New report link").click()
    link = owner.locator("[data-link]").input_value()
    boss = browse(**PHONE)
    boss.goto(link)
    expect(boss.locator("#answer")).to_have_text("Winner: mild")
    expect(boss.locator(".content")).to_have_text("This is answer number 0.")
    assert serious(boss) == [] and boss.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert boss.pdf(format="A4").startswith(b"%PDF"), "printed"
    boss.emulate_media(media="print")
    assert boss.locator("header.top").is_hidden() and boss.locator("#caveats").is_visible()
    owner.goto(f"{house.url}/own/{arena}/report")
    owner.get_by_role("button", name="Revoke report links").click()
    owner.get_by_role("button", name="Revoke report links").click()
    expect(owner.locator("main")).to_contain_text("No report link works now")
    boss.emulate_media(media="screen")
    boss.reload()
    expect(boss.locator("main")).to_contain_text("This link does not work, or not any more.")


def test_what_went_wrong_with_files_is_said_once(house, browse):
    page = browse()
    enter(page, f"{house.url}/k/{house.access.new_key('server')}")
    page.goto(f"{house.url}/own/new")
    page.locator("[data-chosen]").set_input_files({"name": "a.png", "mimeType": "image/png", "buffer": picture(1)})
    page.route("**/own/new", lambda route: route.abort())
    for _ in range(2):
        with page.expect_event("requestfailed"):
            page.get_by_role("button", name="Preview").click()
        expect(page.locator(".problem")).to_have_text("No connection. Nothing was sent: please try again.")
        expect(page.get_by_role("button", name="Preview")).to_be_visible()


def test_binary_is_not_poured_into_a_field(house, browse):
    arena = house.arena(3)
    owner = browse()
    enter(owner, house.link(arena))
    owner.goto(f"{house.url}/own/{arena}/votes")
    chosen = owner.locator("input[type=file]")
    chosen.set_input_files({"name": "votes.xlsx", "mimeType": "text/csv", "buffer": b"PK\x03\x04\x00\xff\xfe"})
    expect(owner.locator("[data-said]")).to_contain_text("‘votes.xlsx’ is no text in UTF-8.")
    expect(owner.locator("#written")).to_have_value("")
    chosen.set_input_files({"name": "votes.csv", "mimeType": "text/csv", "buffer": b"id,shown,rank\n1,mild|sharp,mild>sharp\n"})
    expect(owner.locator("#written")).to_have_value("id,shown,rank\n1,mild|sharp,mild>sharp\n")
    expect(owner.locator("[data-said]")).to_be_hidden()


SMALL = """[...document.querySelectorAll('a, button, select, summary, input:not([type=radio], [type=checkbox]), textarea')]
  .filter(one => one.checkVisibility() && !one.closest('.content, .instructions, .unseen, .skip-link') && !one.matches('.unseen'))
  .filter(one => !(one.matches('p > a:not(.button)') && one.parentElement.innerText.length > 40)) // a word in a sentence
  .map(one => [one.tagName, one.innerText, one.getBoundingClientRect()])
  .filter(([, , box]) => box.width < 40 || box.height < 40)
  .map(([tag, words, box]) => [tag, words, box.width, box.height])"""


@pytest.mark.parametrize("width", [390, 820])
def test_no_page_is_wider_than_its_screen_and_fingers_find_what_is_tapped(house, browse, width):
    arena = house.arena(
        [Option(f"option {k} " + "name" * 30, (make_content("markdown", "word " * 100),)) for k in range(4)],
        name="A long name " * 12,
        room=9,
        instructions="https://" + "long" * 60,
    )
    rater_id, _ = house.rater(arena, "Ada " * 30)
    for k in range(30):
        ticket = house.service.do(Ask(arena, rater_id, f"ask {k}"))
        house.service.do(Vote(ticket.id, {"rank": [[place] for place in range(len(ticket.options))]}))
    words = {"viewport": {"width": width, "height": 844}}
    owner, server, rater = browse(**words), browse(**words), browse(**words)
    enter(owner, house.link(arena))
    enter(server, f"{house.url}/k/{house.access.new_key('server')}")
    rater.goto(house.link(arena, "link"))
    pages = [rater]
    too_wide, too_small = [], []

    def check(page):
        wide = page.evaluate("document.documentElement.scrollWidth")
        tables = "[...document.querySelectorAll(':not(details) > .scroll > table')]"
        cut = page.evaluate(f"{tables}.some(table => table.scrollWidth > table.parentElement.clientWidth)")
        if wide > width or cut:
            too_wide.append((page.url, wide, cut))
        if width < 700:
            too_small.extend((page.url, *one) for one in page.evaluate(SMALL))

    check(pages[0])
    enter(rater, rater.url)
    ready(rater)
    check(rater)
    for rest in ("", "/board", "/report", "/options", "/raters", "/keys", "/votes", "/sheets", "/journal"):
        owner.goto(f"{house.url}/own/{arena}{rest}")
        check(owner)
    for path in ("/own", "/own/keys", "/own/new", "/nothing"):
        server.goto(house.url + path)
        check(server)
    server.goto(f"{house.url}/own/new")
    server.locator("#name").fill("x")
    server.locator("#pasted").fill("a\nb\nc")
    server.get_by_role("button", name="Preview").click()
    server.get_by_text("More settings").click()
    check(server)
    assert too_wide == [] and too_small == []
