"""Mistakes in the file of a plug-in policy that can be seen without running it: each is refused in a sentence with file and line.

Compiled code would say so in pages, or, without the compiler, play on with wrong numbers and say nothing.
"""

from __future__ import annotations

import ast
import functools
import inspect
import os
import sys

from multiduel import authoring
from multiduel.inputs import BadInput
from multiduel.kernels.contract import MachineSpec, PolicySpec

PLAIN = ("init", "valid", "allocate")  # what is never compiled


def refuse_mistakes(spec: PolicySpec | MachineSpec) -> None:
    """Refuse a policy whose file has one of these mistakes. A file that cannot be read is left to the compiler."""
    module = sys.modules.get(spec.params.__module__)
    try:
        file = inspect.getsourcefile(module) if module is not None else None
        found = _mistake(file, os.stat(file).st_mtime_ns) if file else None
    except (OSError, TypeError, SyntaxError, ValueError):
        return
    if found is not None:
        raise BadInput(found)


@functools.lru_cache(maxsize=64)
def _mistake(file: str, changed: int) -> str | None:
    """The first mistake in the functions of a policy, in a sentence; ``changed`` is when the file was."""
    with open(file, "rb") as source:
        tree = ast.parse(source.read())
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and any(_is_marked(each) for each in node.decorator_list):
            for line, words in _mistakes(node):
                return f"'{file}', line {line}: {words}"
    return None


def _is_marked(decorator: ast.expr) -> bool:
    """Is it ``@implement(Params)``, ``@ask.implement(Params)`` or ``@kernel``?"""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in ("implement", "kernel")


def _mistakes(function: ast.FunctionDef) -> list[tuple[int, str]]:
    own = [node for node in ast.walk(function) if not isinstance(node, ast.FunctionDef) or node is function]
    found = _returns(function, [node for node in own if isinstance(node, ast.Return)])
    for node in own:
        if isinstance(node, ast.Attribute) and node.attr == "random" and getattr(node.value, "id", "") in ("np", "numpy"):
            found.append((node.lineno, "randomness comes from 'rng', not from NumPy: uniform(rng), below(n, rng)."))
        elif isinstance(node, ast.GeneratorExp) and function.name not in PLAIN:
            found.append((node.lineno, "a generator expression cannot be compiled. Write a loop."))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, float):
            into = [each for each in node.targets if isinstance(each, ast.Subscript) and getattr(each.value, "id", "") == "slate"]
            if into:
                found.append((node.lineno, f"a slate holds arms, which are whole numbers. Got {node.value.value}."))
        elif isinstance(node, ast.Call):
            found += _swapped(node)
    return sorted(found)


def _returns(function: ast.FunctionDef, returns: list[ast.Return]) -> list[tuple[int, str]]:
    nothing = [
        each for each in returns if each.value is None or (isinstance(each.value, ast.Constant) and each.value.value is None)
    ]
    if function.name == "recommend" and (nothing or not returns):
        line = nothing[0].lineno if nothing else function.lineno
        return [(line, "'recommend' must return an arm. It returns nothing.")]
    if function.name == "ask":
        two = "'ask' must return two numbers: how many arms, and for how many rounds, such as 'return 2, 1'"
        if not returns:
            return [(function.lineno, f"{two}. It returns nothing.")]
        wrong = [each for each in returns if each.value is None or _is_one_number(each.value)]
        return [(each.lineno, f"{two}.") for each in wrong]
    return []


def _is_one_number(value: ast.expr) -> bool:
    """Is it surely no pair? What a name or a call stands for is not known."""
    if isinstance(value, ast.Tuple):
        return len(value.elts) != 2
    return isinstance(value, ast.Constant | ast.BinOp | ast.Attribute | ast.Subscript)


@functools.cache
def helpers() -> dict[str, list[str]]:
    """The parameters of every helper that takes the stream, which is the last of them."""
    offered = {name: getattr(authoring, name) for name in authoring.__all__}
    functions = {name: each for name, each in offered.items() if inspect.isfunction(each) or hasattr(each, "__wrapped__")}
    parameters = {name: list(inspect.signature(each).parameters) for name, each in functions.items()}
    return {name: names for name, names in parameters.items() if names[-1:] == ["rng"]}


def _swapped(call: ast.Call) -> list[tuple[int, str]]:
    """Is the stream anywhere but last?"""
    name, given = getattr(call.func, "id", ""), [getattr(each, "id", "") for each in call.args]
    order = helpers().get(name)
    if order is None or "rng" not in given[:-1] or call.keywords:
        return []
    return [(call.lineno, f"the arguments of '{name}' are {name}({', '.join(order)}), in this order.")]
