"""Doors of the server: every operation of the API from its OpenAPI document, every page and form from the pages themselves.

A new route, field or form is among them without a word here.
"""

from __future__ import annotations

import itertools
import json
import re
import types
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote, urlencode

from multiduel.arena.web.sessions import token_of
from tests.arena.calling import Caller
from tests.arena.web.pages.visiting import Visitor
from tests.doors.traps import grafted, planted

STREAMS = "/board/changes"  # never end


class Furnished:
    """An open arena with a rater, a ticket and a link: what the parts of a path may name."""

    def __init__(self, call: Caller) -> None:
        self.arena, self.owner = call.arena(room=50)
        self.rater = call.rater(self.arena, self.owner)
        self.ticket = call.ask(self.arena, self.rater)["ticket"]
        self.link = call.good("POST", f"/arenas/{self.arena}/links", key=self.owner)["key"]
        self.keys = (call.server_key, self.owner, self.rater, self.link)
        parts = {"arena": self.arena, "ticket": self.ticket, "rater": "r1", "option": "o1", "position": "0", "format": "jsonl"}
        self.parts = parts | {"key": self.rater, "asked": "one", "version": "1", "name": "style.css"}

    def paths(self, template: str, name: str) -> Iterator[str]:
        """The path as it should be, and with the name in each of its parts."""
        parts = re.findall(r"{(\w+)}", template)
        for wrong in (None, *parts):
            path = template
            for part in parts:
                path = path.replace(f"{{{part}}}", quote(name, safe="") if part == wrong else self.parts.get(part, "1"))
            yield path


# ---- the API


def operations(call: Caller) -> list[tuple[str, str, dict[str, Any]]]:
    """Method, path and description of all there are."""
    document = call.app.app.api.openapi()
    found = [(method.upper(), path, one) for path, methods in document["paths"].items() for method, one in methods.items()]
    assert len(found) > 25
    return found


def call_operation(call: Caller, method: str, path: str, about: dict[str, Any], name: str, texts: list[str]) -> None:
    """With the name in every field of the body, every part of the path and every parameter, by everyone who has a key."""
    document = call.app.app.api.openapi()
    there = Furnished(call)
    content = about.get("requestBody", {}).get("content", {})
    bodies: list[Any] = [None]
    if "application/json" in content:
        schema = content["application/json"]["schema"]
        least, full = (sample(schema, document, itertools.count(), everything) for everything in (False, True))
        bodies += [*grafted(least, full, name), *planted(full, name, keys=False)]
    elif content:
        bodies += [text.encode() for text in texts]
    queries = [one["name"] for one in about.get("parameters", ()) if one["in"] == "query"]
    for key in there.keys:
        right, *wrong = there.paths(path, name)
        for body in bodies if key != there.owner else bodies[-1:]:  # what owners may, the server's key may
            call(method, right, body, key=key)
        for one in wrong:
            call(method, one, bodies[-1], key=key)
        for query in queries:
            call(method, f"{right}?{query}={quote(name)}", bodies[-1], key=key)


def sample(schema: dict[str, Any], document: dict[str, Any], count: Iterator[int], everything: bool) -> Any:
    """A value of this schema: every field given, or only those that must be."""
    if "$ref" in schema:
        return sample(document["components"]["schemas"][schema["$ref"].rpartition("/")[2]], document, count, everything)
    if "anyOf" in schema:
        some = [one for one in schema["anyOf"] if one.get("type") != "null"]
        return sample(next((one for one in some if one.get("type") == "string"), some[0]), document, count, everything)
    if "enum" in schema or "const" in schema:
        return schema.get("default", schema.get("const", schema.get("enum", [None])[0]))
    if schema.get("type") == "object" or "properties" in schema:
        wanted = [name for name in schema.get("properties", {}) if everything or name in schema.get("required", ())]
        fields = {name: sample(schema["properties"][name], document, count, everything) for name in wanted}
        return fields or ({"machine": "ucb"} if everything else {})
    if schema.get("type") == "array":
        return [sample(schema.get("items", {}), document, count, everything) for _ in range(max(1, schema.get("minItems", 1)))]
    if schema.get("type") in ("integer", "number"):
        return schema.get("default") or schema.get("minimum", 0.25 if schema["type"] == "number" else 2)
    if schema.get("type") == "boolean":
        return False
    return schema.get("default", f"word {next(count)}")


# ---- the pages


class Forms(HTMLParser):
    """The forms of a page: where they go, and their fields with what stands in them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self._area = self._select = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.found.append((about.get("action", ""), {}))
        if not self.found:
            return
        fields = self.found[-1][1]
        if tag in ("input", "button") and about.get("name"):
            fields.setdefault(about["name"], about.get("value", ""))
        elif tag in ("select", "textarea") and about.get("name"):
            fields[about["name"]] = ""
            self._select, self._area = (about["name"], "") if tag == "select" else ("", about["name"])
        elif tag == "option" and self._select and ("selected" in about or not fields[self._select]):
            fields[self._select] = about.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("select", "textarea"):
            self._select = self._area = ""

    def handle_data(self, data: str) -> None:
        if self._area:
            self.found[-1][1][self._area] += data


def pages(call: Caller) -> list[tuple[str, str]]:
    """Method and path of all there are."""
    found = [(method, route.path) for route in call.app.app.pages.routes for method in sorted(route.methods) if method != "HEAD"]
    assert len(found) > 30
    return found


PASTED = {"pasted": "name,content\nmild,Good morning.\nsharp,Morning!\n"}  # what a form needs to lead on
CREATE = {"action": "create", "name": "new"}


def call_page(call: Caller, method: str, path: str, name: str, forms: list[tuple[str, dict[str, str]]]) -> None:
    """With the name in every field of the forms that lead here and of all others, and in every part of the path."""
    there = Furnished(call)
    everywhere = {field: name for _, fields in forms for field in fields if field != "token"}
    right, *wrong = there.paths(path, name)
    for key in (call.server_key, there.owner, there.rater):
        visitor = Visitor(call)
        visitor.enter(key)
        token = token_of(types.SimpleNamespace(scope={"key": key}))
        for one in wrong:
            visitor(method, one, everywhere | {"token": token} if method == "POST" else None, follow=False)
        if method == "GET":
            if not path.endswith(STREAMS):
                visitor("GET", f"{right}?{urlencode(everywhere)}", follow=False)
            continue
        for fields in [fields for action, fields in forms if action == path]:
            filled = fields | {field: text for field, text in (PASTED | CREATE).items() if field in fields}
            for field in fields:
                visitor("POST", right, filled | {"token": token, field: name}, follow=False)
        visitor("POST", right, everywhere | {"token": token}, follow=False)
        as_script = {"X-Token": token, "Accept": "application/json"}
        for body in planted({"ballot": {"rank": ["0", "1"]}, "request": "two"}, name, keys=False):
            if key != there.owner:
                visitor("POST", right, json.dumps(body).encode(), headers=as_script, follow=False)


def forms_of(call: Caller) -> list[tuple[str, dict[str, str]]]:
    """All forms that someone with a key finds on the pages, and on those that they lead to: the route's path, and the fields."""
    found: dict[str, tuple[str, dict[str, str]]] = {}
    there = Furnished(call)
    for key in (call.server_key, there.owner, there.rater):
        visitor = Visitor(call)
        visitor.enter(key)
        for method, path in pages(call):
            if method == "GET" and not path.endswith(STREAMS) and not path.startswith(("/static", "/k/")):
                _note_forms(call, there, visitor("GET", next(there.paths(path, ""))).text, path, found)
    assert len(found) > 10
    for route, fields in list(found.values()):
        there = Furnished(call)
        for key in (call.server_key, there.rater):
            visitor = Visitor(call)
            visitor.enter(key)
            token = token_of(types.SimpleNamespace(scope={"key": key}))
            filled = fields | {field: text for field, text in PASTED.items() if field in fields} | {"token": token}
            _note_forms(call, there, visitor("POST", next(there.paths(route, "")), filled).text, route, found)
    assert any("policy" in fields for route, fields in found.values() if route == "/own/new"), "it comes with the advice"
    return list(found.values())


def _note_forms(call: Caller, there: Furnished, page: str, path: str, found: dict[str, Any]) -> None:
    posts = [one for method, one in pages(call) if method == "POST"]
    for action, fields in Forms(page).found:
        route = next((one for one in posts if next(there.paths(one, "")) == action), path)  # a search leads to itself
        found[f"{route} {sorted(fields)}"] = (route, fields)
