"""A toy search engine that finds out which of its rankers people like best, from their clicks.

    python examples/search_server.py --log clicks.jsonl   # then open http://127.0.0.1:8000
    python examples/search_server.py --selftest           # starts it, lets made-up users search and click, checks the winner
    multiduel rankers analyse clicks.jsonl --html page.html

Every search asks the policy for a slate of rankers, mixes their rankings into one page (``multileave``), and sends the page's
token along, signed. "More" continues the page. When it is left, its clicks come back with the token, and the policy is told; a
page that is never heard of again is told after a while, without clicks: that nobody clicked is an answer too. All of it goes
to a log, by user and session, from which /report says who wins.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import hmac
import html
import json
import re
import secrets
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np

import multiduel as md
from multiduel.rankers import Impression, Log, analyse, more, multileave, position_weights
from multiduel.rankers import report as pages

# ---- the collection and its rankers ---------------------------------------------------------------------------------

TEXTS = {
    "apple-pie": ("Apple pie", "apple pie with cinnamon, butter crust and sour apple"),
    "apple-cake": ("Apple cake", "cake with apple pieces, a quick cake for tea"),
    "apple-juice": ("Apple juice", "how to press juice from apple and pear"),
    "pear-tart": ("Pear tart", "tart of pear with almond cream and butter crust"),
    "plum-cake": ("Plum cake", "cake with plum halves, yeast dough, cinnamon sugar"),
    "rhubarb-pie": ("Rhubarb pie", "pie of rhubarb with a lattice crust"),
    "bread": ("Country bread", "bread from wheat and rye, long fermentation, dark crust"),
    "soup": ("Pumpkin soup", "soup of pumpkin with apple and ginger"),
    "crumble": ("Crumble", "apple and plum under butter crumble, apple first, more apple"),
    "tea": ("Tea", "how long tea should draw; tea with cake"),
    "cider": ("Cider", "cider from old apple varieties; apple, yeast, patience"),
    "salad": ("Winter salad", "salad of pear, walnut and bitter leaves"),
}


def words(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower())


def by_title_and_text(query: list[str], name: str) -> float:
    title, text = TEXTS[name]
    return sum(5.0 * words(title).count(word) + words(text).count(word) for word in query)


def by_counts(query: list[str], name: str) -> float:
    return sum(words(TEXTS[name][1]).count(word) for word in query)


def by_length(query: list[str], name: str) -> float:
    return -len(TEXTS[name][1])


def by_alphabet(query: list[str], name: str) -> float:
    return -(ord(name[0]) + ord(name[1]) / 256)


RANKERS = (by_length, by_alphabet, by_title_and_text, by_counts)


def rank(ranker: Any, query: str) -> list[str]:
    asked = words(query)
    return sorted(TEXTS, key=lambda name: -ranker(asked, name))


# ---- the experiment -------------------------------------------------------------------------------------------------

LENGTH, TIMEOUT = 4, 1800.0  # documents on a page; seconds after which nobody will click any more


class Experiment:
    """The policy and the log, behind a lock; pages go out as signed tokens and come back with clicks."""

    def __init__(self, log: Path, seed: int | None = None) -> None:
        choice = md.suggest(n_arms=len(RANKERS), slate_size=3)  # what lost least where it was measured
        self.policy = md.make(choice.policy, n_arms=len(RANKERS), slate_size=3, seed=seed)
        self.log = Log(log)
        self.open: dict[str, tuple[Impression, float]] = {}  # pages not yet told, oldest first
        self.secret = secrets.token_bytes(32)
        self.lock = threading.Lock()

    def search(self, query: str, user: str, session: str) -> tuple[list[str], str]:
        """The documents to show, and the token to send along."""
        now = time.time()
        with self.lock:
            self.sweep(now)
            slate = self.policy.ask()
            names = [ranker.__name__ for ranker in RANKERS]
            page = multileave(self.rankings(slate.arms, query), slate, policy=self.policy, names=names, length=LENGTH)
            id = self.log.shown(page, user=user, session=session, query=query, time=now)
            self.open[id] = page, now
        return page["documents"], self.token(id, query, page)

    def rankings(self, arms: Any, query: str) -> dict[int, list[str]]:
        return {arm: rank(RANKERS[arm], query) for arm in arms}

    def further(self, token: str) -> tuple[list[str], str]:
        """The page continued: all its documents, and a token in place of the first."""
        id, query, page = self.read(token)
        longer = more(page, self.rankings(page["slate"], query), length=LENGTH)
        with self.lock:
            if id in self.open:
                self.open[id] = longer, self.open[id][1]
                self.log.continued(id, longer)
        return longer["documents"], self.token(id, query, longer)

    def clicked(self, token: str, clicks: list[str]) -> None:
        """Learn from a page. A token works once, and only as it was sent out."""
        id, _, page = self.read(token)
        weights = position_weights(page, clicks)  # who clicks far below has looked for it
        with self.lock:
            if id not in self.open:
                return  # told already, or too late
            self.policy.tell(page, weights)
            del self.open[id]
            for document, weight in weights.items():
                self.log.clicked(id, document, weight=weight)

    def sweep(self, now: float) -> None:
        """Pages that nobody came back from: they were shown, and not clicked."""
        for id, (page, shown) in list(self.open.items()):
            if now - shown < TIMEOUT:
                break
            self.policy.tell(page, [])
            del self.open[id]

    def token(self, id: str, query: str, page: Impression) -> str:
        body = json.dumps({"id": id, "query": query, "page": page})
        return f"{self.sign(body)}.{body}"

    def read(self, token: str) -> tuple[str, str, Impression]:
        signature, _, body = token.partition(".")
        if not hmac.compare_digest(signature.encode(), self.sign(body).encode()):
            raise md.BadInput("This page was not made here.")
        sent = json.loads(body)
        return sent["id"], sent["query"], Impression(sent["page"])

    def sign(self, body: str) -> str:
        return hmac.new(self.secret, body.encode(), hashlib.sha256).hexdigest()

    def standings(self) -> list[str]:
        with self.lock:
            found, best = self.policy.standings(), self.policy.recommend()
        return [
            f"{RANKERS[line.option].__name__}: {'-' if line.comparisons == 0 else format(line.won, '.2f')} of "
            f"{line.comparisons:.0f} comparisons won" + (" (best so far)" if line.option == best else "")
            for line in found.lines
        ]

    def report(self) -> str:
        return pages.page(analyse(self.log, timeout=TIMEOUT))


# ---- the web page ---------------------------------------------------------------------------------------------------

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Toy search</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body{{font:16px/1.5 system-ui;max-width:40rem;margin:2rem auto;padding:0 1rem}}li{{margin:.5rem 0}}
li.on a{{font-weight:bold}}small{{color:#555}}</style>
<h1>Toy search</h1>
<form><label>Search recipes <input name="q" value="{query}" autofocus></label> <button>Search</button></form>
<ol>{results}</ol><p><button id="more" type="button">More</button></p>
<h2>Rankers</h2><ul>{standings}</ul><p><a href="/report">Who wins?</a></p>
<script>
let token = {token};
const clicks = new Set(), texts = {texts}, list = document.querySelector("ol");
const watch = li => li.onclick = event => {{ event.preventDefault(); clicks.add(li.dataset.id); li.classList.add("on"); }};
document.querySelectorAll("li[data-id]").forEach(watch);
document.querySelector("#more").onclick = async () => {{
  const page = await (await fetch("/more", {{method: "POST", body: JSON.stringify({{token}})}})).json();
  page.documents.slice(list.children.length).forEach(id => {{
    const li = document.createElement("li"), a = document.createElement("a");
    li.dataset.id = id; a.href = "#"; a.textContent = texts[id]; li.append(a); list.append(li); watch(li);
  }});
  token = page.token;
}};
addEventListener("pagehide", () => {{
  if (token) navigator.sendBeacon("/clicks", JSON.stringify({{token, clicks: [...clicks]}}));
}});
</script></html>"""


class Handler(BaseHTTPRequestHandler):
    experiment: Experiment

    def do_GET(self) -> None:
        url = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(url.query).get("q", [""])[0][:200]
        user, session = self.who("user"), self.who("session")
        if url.path == "/search":  # for programs
            documents, token = self.experiment.search(query, user, session)
            self.answer(200, "application/json", json.dumps({"documents": documents, "token": token}))
        elif url.path == "/report":
            try:
                self.answer(200, "text/html; charset=utf-8", self.experiment.report())
            except md.BadInput as error:  # nothing was searched yet
                self.answer(200, "text/plain; charset=utf-8", str(error))
        elif url.path == "/":
            documents, token = self.experiment.search(query, user, session) if query else ([], "")
            results = "".join(
                f'<li data-id="{name}"><a href="#">{html.escape(TEXTS[name][0])}</a><br>'
                f"<small>{html.escape(TEXTS[name][1])}</small></li>"
                for name in documents
            )
            standings = "".join(f"<li>{html.escape(line)}</li>" for line in self.experiment.standings())
            safe, texts = (
                json.dumps(value).replace("<", "\\u003c") for value in (token, {name: text[0] for name, text in TEXTS.items()})
            )
            asked = html.escape(query, quote=True)
            page = PAGE.format(query=asked, results=results, standings=standings, token=safe, texts=texts)
            cookies = (f"user={user}; Max-Age=31536000; SameSite=Lax; HttpOnly", f"session={session}; SameSite=Lax; HttpOnly")
            self.answer(200, "text/html; charset=utf-8", page, cookies)
        else:
            self.answer(404, "text/plain", "Not found.")

    def do_POST(self) -> None:
        try:
            sent = json.loads(self.rfile.read(min(int(self.headers.get("Content-Length", 0)), 100_000)))
            if self.path == "/more":
                documents, token = self.experiment.further(str(sent["token"]))
                self.answer(200, "application/json", json.dumps({"documents": documents, "token": token}))
                return
            self.experiment.clicked(str(sent["token"]), [str(name) for name in sent["clicks"]])
        except (KeyError, TypeError, ValueError) as error:  # BadInput is a ValueError
            self.answer(400, "text/plain; charset=utf-8", str(error))
            return
        self.answer(204, "text/plain", "")

    def who(self, name: str) -> str:
        """The browser, or its session, by a cookie; a new one if it has none."""
        with contextlib.suppress(CookieError, KeyError):
            known = SimpleCookie(self.headers.get("Cookie", ""))[name].value
            if re.fullmatch("[0-9a-z]{1,32}", known):
                return known
        return secrets.token_hex(8)

    def answer(self, status: int, kind: str, text: str, cookies: tuple[str, ...] = ()) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for cookie in cookies:
            self.send_header("Set-Cookie", cookie)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def serve(port: int, log: Path, seed: int | None = None) -> ThreadingHTTPServer:
    handler = type("Bound", (Handler,), {"experiment": Experiment(log, seed)})
    return ThreadingHTTPServer(("127.0.0.1", port), handler)


# ---- made-up users --------------------------------------------------------------------------------------------------


def selftest(log: Path, users: int = 300) -> None:
    server = serve(0, log, seed=1)
    experiment: Experiment = server.RequestHandlerClass.experiment  # type: ignore[attr-defined]
    home = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    rng = np.random.default_rng(0)

    def post(path: str, **content: Any) -> tuple[int, Any]:
        request = urllib.request.Request(home + path, json.dumps(content).encode())
        try:
            with urllib.request.urlopen(request) as response:
                text = response.read()
                return int(response.status), json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            return error.code, None

    try:
        page = {}
        left = 0
        for user in range(users):
            query = str(rng.choice(["apple pie", "cake", "pear", "tea", "plum cake", "soup"]))
            request = urllib.request.Request(f"{home}/search?q={urllib.parse.quote(query)}", headers={"Cookie": f"user=u{user}"})
            with urllib.request.urlopen(request) as response:
                page = json.load(response)
            if rng.random() < 0.3:
                status, longer = post("/more", token=page["token"])
                assert status == 200 and longer["documents"][:LENGTH] == page["documents"]
                page = longer
            if rng.random() < 0.1:
                left += 1
                continue  # never heard of again
            wanted = [name for name in page["documents"] if set(words(query)) & set(words(TEXTS[name][0]))]
            clicks = [name for name in wanted if rng.random() < 0.7]
            assert post("/clicks", token=page["token"], clicks=clicks)[0] == 204
        assert post("/clicks", token="0" + page["token"], clicks=[])[0] == 400, "a forged token must be refused"
        assert post("/clicks", token=page["token"], clicks=["no-such-page"])[0] == 400, "what was not shown cannot be clicked"
        with urllib.request.urlopen(f"{home}/?q=%22%3Cscript%3E") as response:
            assert "<script>&" not in (text := response.read().decode()) and "&quot;&lt;script&gt;" in text
        assert len(experiment.open) == left + 1
        experiment.sweep(time.time() + TIMEOUT)
        assert not experiment.open and not experiment.policy.open, "a page that is never clicked is a fact, not a leak"
        with urllib.request.urlopen(f"{home}/report") as response:
            assert f"{users + 1} pages" in response.read().decode()
        print("\n".join(experiment.standings()))
        print("\n".join(pages.words(analyse(experiment.log))))
        assert RANKERS[experiment.policy.recommend()] is by_title_and_text
        print(f"{users} users, and the policy bets on {by_title_and_text.__name__}: as it should.")
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--log", type=Path, default=Path("clicks.jsonl"))
    parser.add_argument("--selftest", action="store_true")
    options = parser.parse_args()
    if options.selftest:
        with tempfile.TemporaryDirectory() as folder:
            selftest(Path(folder) / "clicks.jsonl")
    else:
        server = serve(options.port, options.log)
        print(f"http://127.0.0.1:{server.server_address[1]}  (Ctrl-C stops it)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass
        finally:
            server.server_close()
