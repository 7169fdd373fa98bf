"""Can a rater tell the options apart from anything but their contents? Everything that is received is looked at, and the look is
tested on servers that leak."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict

import numpy as np
import pytest

from tests.arena.calling import Caller

OPTIONS = [{"name": f"model-{letter}", "content": f"An answer by {letter}."} for letter in "PQRST"]
TICKETS = 120


class Seen:
    """What a rater received: per ticket what came with it, per place what came with its content; and the content, to score by."""

    def __init__(self) -> None:
        self.tickets: list[tuple[list[str], list[str]]] = []  # what was said of the ticket; the contents in their order
        self.places: list[tuple[list[str], int, str]] = []  # what was said of the place, the place, the content


def atoms(value, path="") -> list[str]:
    """Every value of a piece of JSON with where it stands, and how long it is."""
    if isinstance(value, dict):
        return [atom for name, one in value.items() for atom in (f"{path}.{name}", *atoms(one, f"{path}.{name}"))]
    if isinstance(value, list):
        return [f"{path} has {len(value)}", *(atom for k, one in enumerate(value) for atom in atoms(one, f"{path}[{k}]"))]
    return [f"{path}={value}", f"{path} is {len(str(value))} long"]


def look(call) -> Seen:
    """Vote as a rater does, and write down everything."""
    arena, owner = call.arena(OPTIONS, slate_size=3, seed=5)
    rater = call.rater(arena, owner)
    seen = Seen()
    ticket = call.ask(arena, rater)
    for _ in range(TICKETS):
        contents = []
        for place, one in enumerate(ticket["contents"]):
            answer = call("GET", one["url"])
            content = answer.text
            said = [f"{name}: {value}" for name, value in answer.headers.items() if name != "content-length"]
            said += [f"header {k} is {name}" for k, name in enumerate(answer.headers)]
            said += [f"status {answer.status_code}", *atoms({k: v.replace(ticket["ticket"], "") for k, v in one.items()})]
            seen.places.append((said, place, content))
            contents.append(content)
        luck = np.random.default_rng(len(seen.tickets)).permutation(ticket["positions"]).tolist()
        receipt = call.good("PUT", f"/tickets/{ticket['ticket']}/vote?next=1", {"rank": luck}, key=rater)
        whole = {name: value for name, value in ticket.items() if name != "contents"}
        kept = {"ticket": whole, "receipt": {"counted": receipt["counted"], "event": receipt["event"]}}
        seen.tickets.append((atoms(kept), contents))
        ticket = receipt["next"]
    return seen


def leaks(seen: Seen) -> list[str]:
    """What tells options apart: anything that came several times with one content and never with another; an order that is not
    luck."""
    found = []
    shown = Counter(content for _, _, content in seen.places)
    where: dict[str, Counter[str]] = defaultdict(Counter)
    for said, _, content in seen.places:
        for atom in set(said):
            where[atom][content] += 1
    for atom, contents in where.items():
        times = sum(contents.values())
        if times >= 5 and any(_too_often(contents[one], times, shown[one], len(seen.places)) for one in shown):
            found.append(f"{atom} comes with {dict(contents)}")
    there = Counter(content for _, contents in seen.tickets for content in contents)
    with_ticket: dict[str, Counter[str]] = defaultdict(Counter)
    count: Counter[str] = Counter()
    for said, contents in seen.tickets:
        for atom in set(said):
            count[atom] += 1
            with_ticket[atom].update(contents)
    for atom, contents in with_ticket.items():
        if 5 <= count[atom] <= len(seen.tickets) - 5:
            found += [
                f"{atom} comes with tickets that show {one!r}"
                for one in there
                if _too_often(contents[one], count[atom], there[one], len(seen.tickets))
            ]
    n_places = max(place for _, place, _ in seen.places) + 1
    for content, n in shown.items():
        at = Counter(place for _, place, one in seen.places if one == content)
        square = sum((at[place] - n / n_places) ** 2 / (n / n_places) for place in range(n_places))
        if square > 18.0:  # of 2 degrees of freedom: 1 in 8,000
            found.append(f"{content!r} stands at {dict(at)}")
    return found


def _too_often(both: int, first: int, second: int, all: int) -> bool:
    """Do two things come together, or apart, more often than luck allows (by far: many things are compared)?"""
    expected = first * second / all
    spread = (first * second * (all - first) * (all - second) / all**3) ** 0.5
    return spread > 0.0 and abs(both - expected) > 4.5 * spread


@pytest.fixture(scope="module")
def call(tmp_path_factory):
    caller = Caller(tmp_path_factory.mktemp("blind"))
    yield caller
    caller.close()


@pytest.fixture(scope="module")
def seen(call):
    return look(call)


def test_nothing_but_contents_tells_options_apart(seen):
    assert len(seen.tickets) == TICKETS and len({content for _, _, content in seen.places}) == len(OPTIONS)
    assert leaks(seen) == []


def test_no_name_id_or_hash_is_received(call):
    arena, owner = call.arena(OPTIONS, slate_size=3)
    rater = call.rater(arena, owner)
    answers = [call("POST", f"/arenas/{arena}/tickets", {}, key=rater)]
    ticket = answers[0].json()
    answers += [call("GET", one["url"]) for one in ticket["contents"]]
    answers.append(call("GET", f"/tickets/{ticket['ticket']}", key=rater))
    answers.append(call("PUT", f"/tickets/{ticket['ticket']}/vote?next=1", {"rank": [0, 1, 2]}, key=rater))
    answers.append(call("POST", f"/arenas/{arena}/undo", {}, key=rater))
    answers.append(call("PUT", f"/tickets/{ticket['ticket']}/vote", {"rank": [1, 0]}, key=rater))
    answers.append(call("GET", f"/arenas/{arena}/board", key=rater))
    for answer in answers:
        received = f"{answer.headers}{answer.text}"
        assert "model-" not in received
        assert not re.search(r"\"o\d+\"", received)
        for option in OPTIONS:
            digest = hashlib.sha256(option["content"].encode()).digest()
            assert digest.hex()[:12] not in received and hashlib.md5(option["content"].encode()).hexdigest()[:12] not in received


@pytest.mark.parametrize(
    "leak",
    [
        lambda atom, content: f"etag: {hash(content)}" if atom.startswith("cache-control") else atom,
        lambda atom, content: f"{atom}; filename={content[-3:]}" if atom.startswith("content-disposition") else atom,
        lambda atom, content: f"header 0 is {'x' if 'P' in content else 'y'}" if atom.startswith("header 0") else atom,
        lambda atom, content: f".by={'challengers' if 'Q.' in content else 'policy'}" if "counted=" in atom else atom,
    ],
    ids=["a tag made of the content", "a file name", "an order of headers", "who chose"],
)
def test_the_look_finds_leaks(seen, leak):
    leaky = Seen()
    leaky.places = [([leak(atom, content) for atom in said], place, content) for said, place, content in seen.places]
    leaky.tickets = [([leak(atom, " ".join(contents)) for atom in said], contents) for said, contents in seen.tickets]
    assert leaks(leaky)


def test_the_look_finds_an_order_that_is_no_luck(seen):
    """As if options were shown in the order of their ids, often enough."""
    leaky = Seen()
    leaky.tickets = seen.tickets
    for k, (_, contents) in enumerate(seen.tickets):
        order = sorted(contents) if k % 2 else contents
        leaky.places += [([], place, content) for place, content in enumerate(order)]
    assert any("stands at" in leak for leak in leaks(leaky))
