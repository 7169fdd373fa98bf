"""How quick the arena's pages are, and how heavy.

    python benchmarks/pages.py            needs chromium and the packages of '.[dev]'

- from `multiduel arena demo` to the first page, to the page with the first question, and the CPU time until then;
- bytes on the wire of the first visit and of a vote;
- from the click on "Vote" to the next question on the screen: the browser's own clock, after its next frame.

Wall-clock times are those of a machine that may be busy; the CPU time beside them is the steadier number.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import time
import urllib.request

from playwright.sync_api import sync_playwright

from multiduel.arena.web.pages.render import static_files

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
VOTES = 40
PORT = int(os.environ.get("PORT", "8799"))
CLICK = """() => new Promise((done) => {
  const start = performance.now();
  const painted = () => requestAnimationFrame(() => setTimeout(() => done(performance.now() - start), 0));
  document.addEventListener("shown", painted, { once: true });
  document.querySelector("[data-do=vote]").click();
})"""


def first_pages() -> tuple[subprocess.Popen[str], dict[str, float]]:
    start = time.perf_counter()
    command = [sys.executable, "-m", "multiduel", "arena", "demo", "--no-browser", "--port", str(PORT)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    visit = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    found: dict[str, float] = {}
    while "question" not in found:
        if time.perf_counter() - start > 300:
            raise SystemExit("There was no question within five minutes.")
        try:
            page = visit.open(f"http://127.0.0.1:{PORT}/demo", timeout=60).read().decode()
        except OSError:
            time.sleep(0.01)
            continue
        found.setdefault("page", time.perf_counter() - start)
        if "data-ticket" in page:
            found["question"] = time.perf_counter() - start
        time.sleep(0.05)
    return server, found


def votes() -> tuple[int, int, list[float]]:
    """Bytes of the first visit, of a vote, and milliseconds from click to question."""
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        wire = page.context.new_cdp_session(page)
        wire.send("Network.enable")
        received: list[float] = []
        wire.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
        page.goto(f"http://127.0.0.1:{PORT}/demo")
        page.locator("#question[data-ready] form.question").wait_for()
        page.wait_for_load_state("networkidle")
        first = sum(received)
        received.clear()
        taken = []
        for _ in range(VOTES):
            page.keyboard.press("1")
            page.keyboard.press("2")
            taken.append(page.evaluate(CLICK))
        browser.close()
    return round(first), round(sum(received) / VOTES), taken


def main() -> None:
    server, found = first_pages()
    try:
        first, each, taken = votes()
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(30)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken.sort()
    result = {
        "seconds to the first page": round(found["page"], 2),
        "seconds to the first question": round(found["question"], 2),
        "bytes of all static files, compressed": sum(len(compressed) for _, compressed in static_files().values()),
        "bytes of the first visit": first,
        "bytes of a vote with its next question": each,
        "ms from click to the next question, median": round(statistics.median(taken), 1),
        "ms from click to the next question, 95 %": round(taken[int(0.95 * len(taken))], 1),
        "CPU seconds of all this": round(used.ru_utime + used.ru_stime, 1),
        "load of the machine": os.getloadavg()[0],
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
