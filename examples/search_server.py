"""A toy search engine that finds out which of its rankers people like best, from their clicks.

    python examples/search_server.py              # then open http://127.0.0.1:8000
    python examples/search_server.py --selftest   # starts it, lets made-up users search and click, checks the winner

Every search asks the policy for a slate of rankers, mixes their rankings into one page (``multileave``), and sends the
page's token along, signed. When the page is left, its clicks come back with the token; ``credit`` turns them into an
outcome that the policy is told. Nothing else is kept between the two but the policy's list of open slates.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import html
import json
import re
import secrets
import threading
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

import multiduel as md
from multiduel.rankers import credit, multileave

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


class Experiment:
    """The policy, behind a lock; pages go out as signed tokens and come back with clicks."""

    def __init__(self, seed: int | None = None) -> None:
        self.policy = md.make("multi-rucb", n_arms=len(RANKERS), slate_size=3, seed=seed)
        self.open: dict[int, md.Slate] = {}
        self.secret = secrets.token_bytes(32)
        self.lock = threading.Lock()

    def search(self, query: str) -> tuple[list[str], str]:
        """The documents to show, and the token to send along."""
        with self.lock:
            slate = self.policy.ask()
            if len(slate.arms) > 1:
                self.open[slate.round] = slate
        impression = multileave({arm: rank(RANKERS[arm], query) for arm in slate.arms}, slate.arms, length=6)
        body = json.dumps({"round": slate.round, "impression": impression})
        return impression["documents"], f"{self.sign(body)}.{body}"

    def clicked(self, token: str, clicks: list[str]) -> None:
        """Learn from a page. A token works once, and only as it was sent out."""
        signature, _, body = token.partition(".")
        if not hmac.compare_digest(signature.encode(), self.sign(body).encode()):
            raise md.BadInput("This page was not made here.")
        page = json.loads(body)
        outcome = credit(page["impression"], clicks)
        with self.lock:
            slate = self.open.pop(page["round"], None)
            if slate is not None:
                self.policy.tell(slate, outcome)

    def sign(self, body: str) -> str:
        return hmac.new(self.secret, body.encode(), hashlib.sha256).hexdigest()

    def standings(self) -> list[str]:
        with self.lock:
            lines = self.policy.leaderboard()
        return [
            f"{RANKERS[line.arm].__name__}: {line.win_rate:.2f} in {line.answers} answers"
            + (" (best so far)" if line.recommended else "")
            for line in lines
        ]


# ---- the web page ---------------------------------------------------------------------------------------------------

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Toy search</title>
<style>body{{font:16px/1.5 system-ui;max-width:40rem;margin:2rem auto;padding:0 1rem}}li{{margin:.5rem 0}}
li.on a{{font-weight:bold}}small{{color:#555}}</style>
<h1>Toy search</h1>
<form><label>Search recipes <input name="q" value="{query}" autofocus></label> <button>Search</button></form>
<ol>{results}</ol><h2>Rankers</h2><ul>{standings}</ul>
<script>
const token = {token}, clicks = new Set();
document.querySelectorAll("li[data-id]").forEach(li => li.onclick = event => {{
  event.preventDefault(); clicks.add(li.dataset.id); li.classList.add("on");
}});
addEventListener("pagehide", () => {{
  if (token) navigator.sendBeacon("/clicks", JSON.stringify({{token, clicks: [...clicks]}}));
}});
</script></html>"""


class Handler(BaseHTTPRequestHandler):
    experiment: Experiment

    def do_GET(self) -> None:
        url = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(url.query).get("q", [""])[0][:200]
        if url.path == "/search":  # for programs
            documents, token = self.experiment.search(query)
            self.answer(200, "application/json", json.dumps({"documents": documents, "token": token}))
        elif url.path == "/":
            documents, token = self.experiment.search(query) if query else ([], "")
            results = "".join(
                f'<li data-id="{name}"><a href="#">{html.escape(TEXTS[name][0])}</a><br>'
                f"<small>{html.escape(TEXTS[name][1])}</small></li>"
                for name in documents
            )
            standings = "".join(f"<li>{html.escape(line)}</li>" for line in self.experiment.standings())
            safe = json.dumps(token).replace("<", "\\u003c")
            page = PAGE.format(query=html.escape(query, quote=True), results=results, standings=standings, token=safe)
            self.answer(200, "text/html; charset=utf-8", page)
        else:
            self.answer(404, "text/plain", "Not found.")

    def do_POST(self) -> None:
        try:
            sent = json.loads(self.rfile.read(min(int(self.headers.get("Content-Length", 0)), 100_000)))
            self.experiment.clicked(str(sent["token"]), [str(name) for name in sent["clicks"]])
        except (KeyError, TypeError, ValueError) as error:  # BadInput is a ValueError
            self.answer(400, "text/plain; charset=utf-8", str(error))
            return
        self.answer(204, "text/plain", "")

    def answer(self, status: int, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def serve(port: int, seed: int | None = None) -> ThreadingHTTPServer:
    handler = type("Bound", (Handler,), {"experiment": Experiment(seed)})
    return ThreadingHTTPServer(("127.0.0.1", port), handler)


# ---- made-up users --------------------------------------------------------------------------------------------------


def selftest(users: int = 300) -> None:
    server = serve(0, seed=1)
    home = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    rng = np.random.default_rng(0)

    def post(token: str, clicks: list[str]) -> int:
        request = urllib.request.Request(f"{home}/clicks", json.dumps({"token": token, "clicks": clicks}).encode())
        try:
            with urllib.request.urlopen(request) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            return error.code

    try:
        page = {}
        for _ in range(users):
            query = str(rng.choice(["apple pie", "cake", "pear", "tea", "plum cake", "soup"]))
            with urllib.request.urlopen(f"{home}/search?q={urllib.parse.quote(query)}") as response:
                page = json.load(response)
            wanted = [name for name in page["documents"] if set(words(query)) & set(words(TEXTS[name][0]))]
            clicks = [name for name in wanted if rng.random() < 0.7]
            assert post(page["token"], clicks) == 204
        assert post("0" + page["token"], []) == 400, "a forged token must be refused"
        assert post(page["token"], ["no-such-page"]) == 400, "a click on what was not shown must be refused"
        with urllib.request.urlopen(f"{home}/?q=%22%3Cscript%3E") as response:
            assert "<script>&" not in (text := response.read().decode()) and "&quot;&lt;script&gt;" in text
        experiment: Experiment = server.RequestHandlerClass.experiment  # type: ignore[attr-defined]
        print("\n".join(experiment.standings()))
        assert RANKERS[experiment.policy.recommend()] is by_title_and_text
        print(f"{users} users, and the policy bets on {by_title_and_text.__name__}: as it should.")
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--selftest", action="store_true")
    options = parser.parse_args()
    if options.selftest:
        selftest()
    else:
        server = serve(options.port)
        print(f"http://127.0.0.1:{server.server_address[1]}  (Ctrl-C stops it)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass
        finally:
            server.server_close()
