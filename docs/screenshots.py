"""Screenshots of every page of the arena: three sizes, light and dark, one picture per page.

    python docs/screenshots.py [NAME ...]       into docs/images

Needs chromium, and the packages of '.[dev]'. The votes are simulated, always alike.
"""

from __future__ import annotations

import io
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from multiduel.arena import AdmitRater, Ask, Close, Done, Quarantine, Vote
from multiduel.arena.web.accounts import Accounts, Provider
from multiduel.arena.web.pages import example
from tests.arena.web.pages.visiting import CHROMIUM, House, a_house

IMAGES = Path(__file__).parent / "images"
SIZES = (("desktop", 1280, 860), ("tablet", 820, 860), ("phone", 390, 860))
GAP = 24
SCALE = 0.5
ALONE = ("vote", "board-decided")  # for the README and the guides: the desktop besides


def vote(house: House, arena: str, votes: int, raters: int = 12) -> None:
    """Simulated raters, until the verdict at most."""
    luck, quality = random.Random(3), example.quality()
    people = ("Ada", "Ben", "Chiara", "Dmitri", "Eve", "Femi", "Grace", "Hana", "Ivo", "Jun", "Kofi", "Lea")
    known = [house.service.do(AdmitRater(arena, person)) for person in people[:raters]]
    for k in range(votes):
        ticket = house.service.do(Ask(arena, luck.choice(known), f"{k}"))
        if isinstance(ticket, Done):
            return
        seen = [quality[int(option[1:]) - 1] + luck.gauss(0.0, 1.2) for option in ticket.options]
        house.service.do(Vote(ticket.id, {"rank": sorted(range(len(seen)), key=lambda place: -seen[place])}))


def arenas(house: House) -> dict[str, str]:
    words: dict[str, Any] = {"name": example.NAME, "contexts": example.LETTERS, "slate_size": 3, "board": "always", "room": 8}
    made = {name: house.arena(example.options(), **words, seed=20) for name in ("empty", "few", "many", "decided", "closed")}
    vote(house, made["few"], 3, 2)
    vote(house, made["many"], 90)
    vote(house, made["decided"], 3_000)
    house.service.do(Quarantine(made["many"], "r3", "answers within a second"))
    house.access.new_key("owner", arena=made["many"], label="Grace Hopper")
    house.notifier.add(made["many"], "https://hooks.example/T1/secret", by="operator")
    judge = house.service.do(AdmitRater(made["many"], "a model", kind="judge"))
    for k in range(8):
        ticket = house.service.do(Ask(made["many"], judge, f"judge {k}"))
        house.service.do(Vote(ticket.id, {"rank": list(range(len(ticket.options)))}, rater=judge))
    house.service.do(Close(made["closed"]))
    return made


def pages(house: House, made: dict[str, str]) -> dict[str, Any]:
    """Name -> (key's role and arena, path, what to do there)."""

    def order(page: Page) -> None:
        page.locator("#question[data-ready]").wait_for()
        page.keyboard.press("2")
        page.keyboard.press("3")

    def paste(page: Page) -> None:
        page.locator("#name").fill("Which tagline?")
        page.locator("#pasted").fill(
            "- Compare, then decide.\n- Fewer votes, surer winners.\n- The best of many.\n- Ask people, not scores."
        )
        page.get_by_role("button", name="Preview").click()
        page.locator("#slate_size-why").wait_for()

    def check(page: Page) -> None:
        page.locator("#written").fill(
            "id,shown,rank,rater\n1,formal|cheerful,cheerful>formal,Mia\n2,formal|nothing,formal>nothing,Mia\n"
        )
        page.get_by_role("button", name="Preview").click()
        page.locator("#report").wait_for()

    def sheets(page: Page) -> None:
        page.locator("#number").fill("2")
        page.get_by_role("button", name="Make sheets").click()
        page.locator(".sheet").first.wait_for()

    def link(page: Page) -> None:
        page.get_by_role("button", name="New shared link").first.click()
        page.locator(".qr").wait_for()

    def close(page: Page) -> None:
        page.get_by_role("button", name="Close permanently").click()
        page.get_by_role("link", name="Cancel").wait_for()

    def hook(page: Page) -> None:
        page.locator("#target").fill("https://hooks.example/T2/secret")
        page.get_by_role("button", name="Add notice").click()
        page.locator("#secret").wait_for()

    many = f"/own/{made['many']}"
    return {
        "home": (None, "", "/", None),
        "start": ("link", made["many"], "", None),
        "start-closed": ("link", made["closed"], "", None),
        "nowhere": (None, "", "/nowhere", None),
        "vote": ("rater", made["many"], f"/vote/{made['many']}", order),
        "vote-done": ("rater", made["decided"], f"/vote/{made['decided']}", None),
        "board-0": ("owner", made["empty"], f"/own/{made['empty']}/board", None),
        "board-3": ("owner", made["few"], f"/own/{made['few']}/board", None),
        "board": ("owner", made["many"], f"{many}/board", None),
        "board-part": ("owner", made["many"], f"{many}/board?by=kind%3D2", None),
        "board-decided": ("owner", made["decided"], f"/own/{made['decided']}/board", None),
        "report": ("owner", made["decided"], f"/own/{made['decided']}/report", None),
        "arenas": ("server", "", "/own", None),
        "new": ("server", "", "/own/new", paste),
        "overview": ("owner", made["many"], many, None),
        "link": ("owner", made["many"], many, link),
        "options": ("owner", made["many"], f"{many}/options", None),
        "raters": ("owner", made["many"], f"{many}/raters", None),
        "keys": ("owner", made["many"], f"{many}/keys", None),
        "notices": ("owner", made["many"], f"{many}/notices", hook),
        "close": ("owner", made["many"], many, close),
        "votes": ("owner", made["many"], f"{many}/votes", check),
        "sheets": ("owner", made["many"], f"{many}/sheets", sheets),
        "journal": ("owner", made["many"], f"{many}/journal", None),
    }


def shots(house: House, browser: Browser, role: str | None, arena: str, path: str, act: Any) -> list[list[Image.Image]]:
    context = browser.new_context(reduced_motion="reduce")
    context.set_default_timeout(300_000)
    page = context.new_page()
    if role == "link":
        path = f"/k/{house.access.new_key('link', arena=arena)}"
    elif role is not None:
        key = house.rater(arena)[1] if role == "rater" else f"{house.url}/k/{house.access.new_key(role, arena=arena or None)}"
        page.goto(key)
        page.locator("main button.main").click()
        page.wait_for_url("**/vote/*" if role == "rater" else "**/own**")
    page.goto(house.url + path)
    if act is not None:
        act(page)
    rows = []
    for scheme in ("light", "dark"):
        row = []
        for _, width, height in SIZES:
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            page.set_viewport_size({"width": width, "height": height})
            full = page.screenshot(full_page=True, animations="disabled")
            image = Image.open(io.BytesIO(full)).convert("RGB")
            row.append(image.crop((0, 0, width, min(image.height, 2 * height))))
        rows.append(row)
    context.close()
    return rows


def together(rows: list[list[Image.Image]]) -> Image.Image:
    width = sum(image.width for image in rows[0]) + GAP * (len(rows[0]) + 1)
    heights = [max(image.height for image in row) for row in rows]
    whole = Image.new("RGB", (width, sum(heights) + GAP * (len(rows) + 1)), (128, 128, 128))
    y = GAP
    for row, height in zip(rows, heights, strict=True):
        x = GAP
        for image in row:
            whole.paste(image, (x, y))
            x += image.width + GAP
        y += height + GAP
    return whole.resize((round(whole.width * SCALE), round(whole.height * SCALE)), Image.Resampling.LANCZOS)


def main(wanted: list[str]) -> None:
    IMAGES.mkdir(exist_ok=True)
    accounts = Accounts(Provider("https://login.example", "arena"))
    with (
        tempfile.TemporaryDirectory() as folder,
        a_house(Path(folder), ["https://hooks.example"], accounts) as house,
        sync_playwright() as running,
    ):
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        listed = pages(house, arenas(house))
        for name in wanted or listed:
            role, arena, path, act = listed[name]
            rows = shots(house, browser, role, arena, path, act)
            if name in ALONE:
                rows[0][0].crop((0, 0, 1280, min(rows[0][0].height, 1000))).save(
                    IMAGES / f"{name}-desktop.webp", quality=80, method=6
                )
            together(rows).save(IMAGES / f"{name}.webp", quality=72, method=6)
            print(name, (IMAGES / f"{name}.webp").stat().st_size)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
