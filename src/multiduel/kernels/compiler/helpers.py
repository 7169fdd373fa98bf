"""Kernels that authors of policies call. In plain Python their arguments are checked, because nothing else would notice.

``argmax(rng, values)``, with the stream in the wrong position, is ordinary arithmetic on arrays: it raises nothing.
Numba types compiled code, and refuses it without a check at run time.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.compiler.dispatch import F, register

FLOAT, INT, UINT = np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.uint64)

# For the type of a parameter: what it must be, in words, and the test.
KINDS: dict[Any, tuple[str, Callable[[Any], bool]]] = {
    Stream: ("the policy's stream", lambda x: isinstance(x, np.ndarray) and x.dtype == UINT and x.shape == (4,)),
    Floats: ("an array of floats", lambda x: isinstance(x, np.ndarray) and x.dtype == FLOAT),
    Ints: ("an array of integers", lambda x: isinstance(x, np.ndarray) and x.dtype == INT),
    int: ("a whole number", lambda x: isinstance(x, int | np.integer)),
    float: ("a number", lambda x: isinstance(x, float | int | np.floating | np.integer)),
}


def helper(function: F) -> F:
    """Mark a kernel that authors call: as ``kernel``, and called from Python its arguments are checked.

    >>> @helper
    ... def twice(x: float) -> float:
    ...     return 2.0 * x
    >>> twice(np.zeros(2))
    Traceback (most recent call last):
    TypeError: The arguments of 'twice' are twice(x). 'x' must be a number. Got an array of 2 float64.
    """
    return register(checked(function), function)


def checked(function: F) -> F:
    """Check the arguments of a plain function by their annotations.

    Parameters
    ----------
    function
        All of its parameters have a type of ``KINDS``.
    """
    kinds = typing.get_type_hints(function)
    names = list(inspect.signature(function).parameters)
    tests = tuple(KINDS[kinds[name]][1] for name in names)

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        for test, value in zip(tests, args, strict=False):
            if not test(value):
                raise _refusal(function, names, kinds, args)
        return function(*args)

    return call  # type: ignore[return-value]


def _refusal(function: Callable[..., Any], names: list[str], kinds: dict[str, Any], args: tuple[Any, ...]) -> TypeError:
    for name, value in zip(names, args, strict=False):
        words, test = KINDS[kinds[name]]
        if not test(value):
            call = f"{function.__name__}({', '.join(names)})"
            return TypeError(f"The arguments of '{function.__name__}' are {call}. '{name}' must be {words}. Got {_said(value)}.")
    raise AssertionError("an argument that fits was refused")


def _said(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {' x '.join(map(str, value.shape)) or 'no dimension:'} {value.dtype}"
    return f"{value!r:.40}" if isinstance(value, str | int | float | np.number | None) else f"a {type(value).__name__}"
