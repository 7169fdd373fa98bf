"""Docstrings of public names: a first sentence that says what it does, and what each argument is."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import pytest

import multiduel as md
from multiduel import arena, checks, inference, problems

# First words of a noun phrase or a clause: a function's first line is an imperative sentence.
NOT_IMPERATIVE = re.compile(
    r"(A|All|An|Any|As|At|By|Each|Every|For|From|How|If|In|Is|It|Its|No|None|Of|On|One|Or|So|Some|Such|Tells|That|The|Their|There|"
    r"These|They|This|Those|To|What|When|Where|Whether|Which|Who|Why|With|Without)\b"
)


def public() -> Iterator[tuple[str, Any, bool]]:
    """Public names and their public methods; whether each is a function (and not a property or a class)."""
    named = [(name, getattr(md, name)) for name in md.__all__]
    named += [(f"theory.{name}", getattr(md.theory, name)) for name in md.theory.__all__]
    named += [(f"rankers.{name}", getattr(md.rankers, name)) for name in md.rankers.__all__]
    for package in (md.authoring, arena, checks, inference, problems):
        named += [(f"{package.__name__.partition('.')[2]}.{name}", getattr(package, name)) for name in package.__all__]
    seen: set[int] = set()  # a name may be found in two packages
    for name, value in named:
        if id(value) in seen:
            continue
        seen.add(id(value))
        if inspect.isclass(value) and value.__module__.startswith("multiduel."):
            yield name, value, False
            for method, member in vars(value).items():
                function = getattr(member, "__func__", member)
                if method.startswith("_") or not (
                    inspect.isfunction(function) or isinstance(member, (property, cached_property))
                ):
                    continue
                yield f"{name}.{method}", function, inspect.isfunction(function)
        elif inspect.isfunction(value):
            yield name, value, True


PUBLIC = {name: (value, is_function) for name, value, is_function in public()}


@pytest.mark.parametrize("name", PUBLIC)
def test_first_line_is_a_sentence(name):
    value, is_function = PUBLIC[name]
    first = inspect.cleandoc(value.__doc__ or "").partition("\n")[0]
    assert first.endswith("."), f"{name}: {first!r}"
    assert first[0].isupper() and not (is_function and NOT_IMPERATIVE.match(first)), f"{name}: {first!r}"


@pytest.mark.parametrize("name", [name for name, (_, is_function) in PUBLIC.items() if is_function])
def test_parameters_are_described(name):
    value, _ = PUBLIC[name]
    parameters = [each for each in inspect.signature(value).parameters.values() if each.name not in ("self", "cls")]
    section = inspect.cleandoc(value.__doc__ or "").partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    described = {word.strip("* ") for line in re.findall(r"^(\S.*)$", section, re.M) for word in line.split(",")}
    assert described == {each.name for each in parameters}


def test_most_of_the_package_is_looked_at():
    assert len(PUBLIC) > 200
