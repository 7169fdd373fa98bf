"""Does anything that a rater receives, but the contents themselves, say which option is which? We try to tell them apart."""

from __future__ import annotations

import json
import random
import re
import time
from collections import defaultdict

import pytest

from multiduel.arena.web.api import routes_rater
from tests.arena.calling import Caller
from tests.arena.web.pages.visiting import Visitor

OPTIONS = [
    {"name": f"name-of-{word}", "content": f"Content {word}.", "kind": "markdown"} for word in ("aaaa", "bbbb", "cccc", "dddd")
]
WORDS = [option["content"] for option in OPTIONS]
ROUNDS = 40


@pytest.fixture
def call(tmp_path):
    caller = Caller(tmp_path)
    yield caller
    caller.close()


def masked(text: str, ticket: str) -> str:
    """Without what is random, or the content itself."""
    text = text.replace(ticket, "TICKET")
    for words in WORDS:
        text = text.replace(words, "CONTENT")
    text = re.sub(r'(name=\\?"request\\?" value=\\?")[0-9a-f]+', r"\1REQUEST", text)
    return re.sub(r"\d+ votes? by you", "VOTES", text)


def everything(call: Caller) -> dict[str, dict[str, list[str]]]:
    """What a rater receives, round by round: by place and option, the answers that speak of it."""
    arena, owner = call.arena(OPTIONS, slate_size=3)
    visitor = Visitor(call)
    page = visitor.enter(call.rater(arena, owner, "Ada"))
    token, html, seen = visitor.token(page.text), page.text, defaultdict(lambda: defaultdict(list))
    ids = [content["sha256"] for option in call.service.info(arena).options for content in option["contents"]]
    luck = random.Random(1)
    for _ in range(ROUNDS):
        ticket = re.search(r'data-ticket=\\?"([^"\\]+)', html)[1]
        shown = [next(w for w in WORDS if w in piece) for piece in re.split(r"data-position=", html)[1:]]
        api = call("GET", f"/tickets/{ticket}", headers={"Authorization": f"Bearer {visitor.cookies['multiduel-rater'][0]}"})
        told = json.dumps({k: v for k, v in api.json().items() if k not in ("issued", "expires")})
        pieces = re.split(r"data-position=", html)[1:]
        for place, words in enumerate(shown):
            content = call("GET", f"/tickets/{ticket}/contents/{place}")
            heads = sorted((k, v) for k, v in content.headers.items())
            around = masked(pieces[place].split("</li>")[0], ticket)
            seen[str(place)][words].append(f"{around} {content.status_code} {heads} {masked(told, ticket)}")
        everywhere = html + told + str(page.headers)
        assert not any(option["name"] in everywhere for option in OPTIONS) and not any(one in everywhere for one in ids)
        assert not re.search(r'["\'/ ]o[1-4]["\'/ ]', everywhere), "an option's id"
        order = luck.sample(range(3), 3)
        body = json.dumps({"ballot": {"rank": order}}).encode()
        page = visitor("POST", f"/vote/{arena}/tickets/{ticket}", body, headers={"X-Token": token, "Accept": "application/json"})
        html = page.json()["html"]
    return seen


def told_apart(seen: dict[str, dict[str, list[str]]]) -> list[str]:
    """Places where some option always comes with something that another never comes with."""
    found = []
    for place, by_option in seen.items():
        kinds = [set(answers) for answers in by_option.values()]
        if len(by_option) > 1 and any(one != kinds[0] for one in kinds):
            found.append(place)
    return found


def test_nothing_but_the_contents_tells_options_apart(call):
    seen = everything(call)
    assert all(len(by_option) == 4 for by_option in seen.values()), "every option was seen at every place"
    assert told_apart(seen) == []


@pytest.mark.parametrize("leak", ["etag", "file name", "length"])
def test_the_test_finds_a_leak(call, monkeypatch, leak):
    served = routes_rater.Response

    def leaking(data, **words):
        headers = dict(words.pop("headers", {}))
        if leak == "etag":
            headers["ETag"] = str(hash(data))
        elif leak == "file name":
            headers["Content-Disposition"] = f"inline; filename={WORDS.index(data.decode())}.txt"
        else:
            data = data + b" " * WORDS.index(data.decode())
        return served(data, headers=headers, **words)

    monkeypatch.setattr(routes_rater, "Response", leaking)
    assert told_apart(everything(call)) != []


def slowness(call: Caller, rounds: int = 60) -> float:
    """How often a shuffle of the options' names explains their times as well (a permutation test of the spread of medians)."""
    arena, owner = call.arena(OPTIONS, slate_size=4)
    ticket = call.ask(arena, call.rater(arena, owner))["ticket"]
    texts = [call("GET", f"/tickets/{ticket}/contents/{place}").text for place in range(4)]
    luck, taken = random.Random(2), []
    for _ in range(rounds):
        for place in luck.sample(range(4), 4):
            start = time.perf_counter()
            call("GET", f"/tickets/{ticket}/contents/{place}")
            taken.append((WORDS.index(texts[place]), time.perf_counter() - start))

    def spread(names: list[int]) -> float:
        times = defaultdict(list)
        for name, (_, seconds) in zip(names, taken, strict=True):
            times[name].append(seconds)
        medians = [sorted(one)[len(one) // 2] for one in times.values()]
        return max(medians) - min(medians)

    names = [name for name, _ in taken]
    real = spread(names)
    return (1 + sum(spread(luck.sample(names, len(names))) >= real for _ in range(999))) / 1000


def test_times_do_not_tell_options_apart_and_a_delay_would(call, monkeypatch):
    assert any(slowness(call) > 0.002 for _ in range(3)), "times told the options apart three times in a row"
    served = routes_rater.Response

    def slow(data, **words):
        time.sleep(0.004 if b"cccc" in data else 0.0)
        return served(data, **words)

    monkeypatch.setattr(routes_rater, "Response", slow)
    assert slowness(call) <= 0.002
