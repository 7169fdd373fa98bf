"""Which ranker do users like best? An arena says which rankers to mix for a search; the clicks on the page are the vote.

Starts a server of its own, and made-up users who click on what fits their query. Yours would be a search page that speaks with
the arena through ``multiduel.arena.Client``: ask when someone searches, vote when the page is left.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable

import numpy as np

from multiduel.arena import Client
from multiduel.rankers import credit, multileave

PAGES = {
    "pie": "apple pie with short crust and apple",
    "cake": "plum cake, warm",
    "soup": "soup of lentils and apple",
    "tea": "tea for cake",
    "tart": "pear tart with cream",
    "salad": "salad of pear and walnut",
}
QUERIES = ("apple", "cake", "pear", "tea", "soup")


def hits(query: str, page: str) -> int:
    return PAGES[page].split().count(query) + 2 * (query in page)


RANKERS: dict[str, Callable[[str], list[str]]] = {  # what is an option's content here: the name that the search page calls it by
    "by-words": lambda query: sorted(PAGES, key=lambda page: -hits(query, page)),
    "by-length": lambda query: sorted(PAGES, key=lambda page: len(PAGES[page])),
    "by-alphabet": lambda query: sorted(PAGES),
}


def search(user: Client, query: str, rng: np.random.Generator) -> bool:
    """One search: ask, show, and vote with what the clicks say. False when the arena has nothing left to ask."""
    ticket = user.ask()
    if "done" in ticket:
        return False
    rankings = {place: RANKERS[str(user.content(ticket, place))](query) for place in range(ticket["positions"])}
    page = multileave(rankings, list(rankings), ties="half", length=3, seed=int(rng.integers(2**32)))
    clicks = [name for name in page["documents"] if hits(query, str(name)) and rng.random() < 0.8]
    user.vote(ticket, {"wins": credit(page, clicks).tolist()})  # no click says that all were alike
    return True


def main(most: int = 2_000) -> str:
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "multiduel", "arena", "serve", "--port", "0", "--db", f"{folder}/arena.db"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            key, url = server.stdout.readline().split()[-1], server.stdout.readline().split()[0]
            options = [{"name": name, "content": name} for name in RANKERS]
            owner = Client(url, key).create("rankers", options, slate_size=3, seed=1)
            owner.open()
            engine = owner.admit("the search engine")
            searches = 0
            while searches < most and search(engine, str(rng.choice(QUERIES)), rng):
                searches += 1
            return f"After {searches} searches: {owner.board()['sentence']}"
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    print(main())
