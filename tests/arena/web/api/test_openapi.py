"""Every operation of the OpenAPI document, with data made from it: no failure inside, and only answers that it announces."""

from __future__ import annotations

import collections
import dataclasses
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.arena.calling import Caller

schemathesis = pytest.importorskip("schemathesis")
EXAMPLES = 9  # for each operation


def checks() -> list[Any]:
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks as known

    return [
        not_a_server_error,
        known.status_code_conformance,
        known.content_type_conformance,
        known.response_headers_conformance,
        known.response_schema_conformance,
    ]


def operations_of(caller: Caller) -> list[Any]:
    schema = schemathesis.openapi.from_asgi("/openapi.json", caller.app, headers={"Host": "127.0.0.1"})
    return [found.ok() for found in schema.get_all_operations()]


def test_answers_are_those_that_the_openapi_document_announces(tmp_path: Path) -> None:
    caller = Caller(tmp_path)
    try:
        problems, answers, operations = [], collections.Counter(), operations_of(caller)
        for operation in operations:
            problems += attempts(caller, operation, answers)
        assert not problems, "\n\n".join(problems[:5])
        assert len(operations) > 25
        good = sum(n for status, n in answers.items() if status < 300)
        enough = good > 2 * len(operations) and answers[422] > len(operations) / 2
        assert enough, f"refused for few reasons, which proves little: {answers}"
    finally:
        caller.close()


def test_a_failure_inside_and_an_answer_not_announced_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    caller = Caller(tmp_path)
    try:
        (raters,) = (one for one in operations_of(caller) if (one.method.upper(), one.path) == ("GET", "/arenas/{arena}/raters"))

        def broken(arena: str) -> Any:
            raise RuntimeError("broken")

        def without_labels(arena: str) -> Any:
            return [dataclasses.replace(line, label=None) for line in honest(arena)]

        honest = caller.service.raters
        for sabotage in (broken, without_labels):
            monkeypatch.setattr(caller.service, "raters", sabotage)
            assert attempts(caller, raters, collections.Counter()), sabotage
    finally:
        caller.close()


def attempts(caller: Caller, operation: Any, answers: Any) -> list[str]:
    """Calls on an arena of their own: mostly of things that are there, by those who may."""
    arena, owner = caller.arena(room=50)
    rater = caller.rater(arena, owner)
    ticket = caller.ask(arena, rater)["ticket"]
    link = caller.good("POST", f"/arenas/{arena}/links", key=owner)["key"]
    there = {"arena": arena, "ticket": ticket, "rater": "r1", "option": "o1", "position": 0}
    right = {"/arenas": caller.server_key, "/arenas/{arena}/join": link}.get(operation.path)
    if right is None:
        right = rater if operation.path.endswith(("/tickets", "/vote", "/undo")) else owner
    keys = [right] * 6 + [owner, rater, None]
    problems: list[str] = []
    turn = 0

    @given(case=operation.as_strategy())
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    def attempt(case: Any) -> None:
        nonlocal turn
        turn += 1
        for name in case.path_parameters or {}:
            if name in there and turn % 3:
                case.path_parameters[name] = there[name]
        key = keys[turn % len(keys)]
        headers = {"Host": "127.0.0.1"} | ({"Authorization": f"Bearer {key}"} if key else {})
        case.headers = {}
        try:
            answer = case.call(base_url="http://127.0.0.1:8000", headers=headers)
            answers[answer.status_code] += 1
            case.validate_response(answer, checks=checks())
        except BaseException as error:  # what failed inside, or a group of what the checks found
            problems.append(f"{operation.method} {operation.path}: {str(error)[:1500]}")

    attempt()
    return problems
