"""Text that every part of the arena can hold: no half characters, which UTF-8 cannot write, and no zero characters, which
PostgreSQL cannot store.

>>> check_text({"request": "one"})
>>> check_text({"request": "\\ud800"})
Traceback (most recent call last):
multiduel.inputs.BadInput: Text must be whole characters, without zero characters. Got '\\ud800'.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from multiduel.inputs import BadInput, shortened

PLAIN = (int, float, bool, type(None))  # most of what there is
_BROKEN = re.compile("[\0\ud800-\udfff]")


def is_broken(text: str) -> bool:
    """Is there half a character in it, or a zero character?"""
    return _BROKEN.search(text) is not None


def check_text(value: Any) -> None:
    """Refuse a value, such as a command or JSON, that holds such text anywhere: in names and keys too."""
    todo = [value]
    while todo:  # not by recursion: JSON may be nested deeply
        one = todo.pop()
        if isinstance(one, str):
            if (found := _BROKEN.search(one)) is not None:
                around = shortened(one[max(0, found.start() - 20) : found.start() + 20])
                raise BadInput(f"Text must be whole characters, without zero characters. Got {around}.")
        elif type(one) in PLAIN:
            continue
        elif type(one) is list or type(one) is tuple:
            todo += one
        elif isinstance(one, Mapping):
            todo += one.keys()
            todo += one.values()
        elif dataclasses.is_dataclass(one) and not isinstance(one, type):
            todo += vars(one).values()
        elif isinstance(one, list | tuple | set | frozenset):
            todo += one
