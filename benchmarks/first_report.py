"""From nothing to a report in the hands of a boss: every step in a real browser, with its time and its clicks.

    python benchmarks/first_report.py [FOLDER]      the PDF, and a picture of each step, into FOLDER

A server is started on a new database. An owner pastes four options and hands on a link. One rater joins by it and ranks on a
phone; twelve others, who are simulated, vote through the API until the verdict. The owner hands on the report; a boss opens and
prints it. Times are the machine's: people's own time to read and decide comes on top.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from multiduel.arena.client import Client
from tests.arena.web.pages.visiting import CHROMIUM, PHONE

OPTIONS = ("Good morning, how can we help?", "Hello! What can we do for you?", "Welcome. Please state your request.", "Yes?")
PEOPLE, MOST_VOTES = 12, 600


class Steps:
    """What was done, how long it took, and how many clicks or taps it needed."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.lines, self._since = folder, list[tuple[str, float, int]](), time.monotonic()

    def done(self, what: str, clicks: int, page: Page | None = None) -> None:
        now = time.monotonic()
        self.lines.append((what, now - self._since, clicks))
        print(f"{now - self._since:7.1f} s  {clicks:2d} clicks  {what}", flush=True)
        if page is not None:
            page.screenshot(path=self.folder / f"step-{len(self.lines)}.png")
        self._since = time.monotonic()


def play(folder: Path, running: Any) -> Steps:
    steps = Steps(folder)
    command = [sys.executable, "-m", "multiduel", "arena", "serve", "--db", f"{tempfile.mkdtemp()}/arena.db", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        said = ""
        while not (found := re.search(r"(http://\S+) \(", said)):
            line = server.stdout.readline() if server.stdout else ""
            if not line:
                raise RuntimeError(f"The server did not start: {said}")
            said += line
        url, key = found[1], re.search(r"mdserver\.\S+", said)
        assert key is not None
        steps.done("the server is started, and prints its key", 0)
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        owner, phone, boss = browser.new_page(), browser.new_context(**PHONE).new_page(), browser.new_context(**PHONE).new_page()
        owner.set_default_timeout(300_000)
        report(owner, phone, boss, url, key[0], steps)
        browser.close()
    finally:
        server.terminate()
        server.wait(60)
    return steps


def report(owner: Page, phone: Page, boss: Page, url: str, key: str, steps: Steps) -> None:
    owner.goto(url)
    owner.locator("#key").fill(key)
    owner.get_by_role("button", name="Sign in").click()
    owner.get_by_role("link", name="New arena").first.click()
    owner.locator("#name").fill("How shall we greet customers?")
    owner.locator("#pasted").fill("\n".join(OPTIONS))
    owner.get_by_role("button", name="Preview").click()
    owner.get_by_label("Anyone with one shared link").check()
    owner.get_by_role("button", name="Create").click()
    link = owner.locator("[data-link]").first.input_value()
    steps.done("the owner signs in, pastes four options, and has a link", 5, owner)

    phone.goto(link)
    phone.get_by_role("button", name="Start").tap()
    phone.locator("#question[data-ready] form.question").wait_for(timeout=300_000)
    steps.done("a rater follows the link on a phone, and sees the first question", 1, phone)
    shown = phone.locator(".option").count()
    for place in range(shown - 1):
        phone.locator(f".option[data-position='{place}'] .content").tap()
    phone.locator("[data-do=vote]").tap()
    phone.locator("#toast", has_text="Your vote is counted.").wait_for()
    steps.done(f"the rater ranks {shown}", shown, phone)

    votes = vote(url, link.rpartition("/")[2])
    steps.done(f"{PEOPLE} others vote: {votes} votes to the verdict", 0)
    owner.goto(f"{url}/own")
    owner.get_by_role("link", name="How shall we greet customers?").click()
    owner.get_by_role("link", name="Report").first.click()
    owner.get_by_role("button", name="New report link").click()
    handed = owner.locator("[data-link]").input_value()
    steps.done("the owner hands on the report", 3, owner)
    boss.goto(handed)
    print("        ", boss.locator("#answer").inner_text())
    boss.screenshot(path=steps.folder / "report-on-a-phone.png", full_page=True)
    steps.done("the boss opens it on a phone", 1, boss)
    (steps.folder / "report.pdf").write_bytes(boss.pdf(format="A4"))
    steps.done("the boss prints it as a PDF", 0)


def vote(url: str, link: str) -> int:
    """Others, who see the quality of an option through a noise of their own."""
    luck, votes = random.Random(1), 0
    quality = {option: -rank for rank, option in enumerate(OPTIONS)}
    people = [Client(url, link).join(f"person {k + 1}") for k in range(PEOPLE)]
    tickets = [person.ask() for person in people]
    while votes < MOST_VOTES:
        for k, person in enumerate(people):
            if "done" in tickets[k]:
                return votes
            texts = [str(person.content(tickets[k], place)) for place in range(tickets[k]["positions"])]
            liked = {place: quality[text] + luck.gauss(0.0, 0.8) for place, text in enumerate(texts)}
            tickets[k] = person.vote(tickets[k], {"rank": sorted(liked, key=lambda place: -liked[place])}, next=True)["next"]
            votes += 1
    return votes


def main(words: list[str]) -> None:
    folder = Path(words[0]) if words else Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as running:
        steps = play(folder, running)
    print(f"{sum(line[1] for line in steps.lines):7.1f} s  {sum(line[2] for line in steps.lines):2d} clicks  in all")


if __name__ == "__main__":
    main(sys.argv[1:])
