"""Who clicks where: users that go down a list, click by grade and position, and may stop after a click.

Papers     Guo, Liu, Wang. Efficient Multiple-Click Models in Web Search. WSDM 2009 (dependent clicks).
           Hofmann, Whiteson, de Rijke. Balancing Exploration and Exploitation in Listwise and Pairwise Online
           Learning to Rank for Information Retrieval. 2013 (the three users). Craswell et al. WSDM 2008
           (position-based).

    from the top down:
      click the document in slot k with chance click[k, grade]
      after a click, stop with chance stop[k, grade]
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.files import read_text
from multiduel.inputs import BadInput, did_you_mean, shortened, whole
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.random import uniform

DEPTH = 10  # slots that a user looks at
MOST_DEPTH = 32767  # a query has no more documents

# Chances of a click and of a stop after it, by grade 0 .. 4. Fewer or more grades are spread over the same range.
USERS: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "perfect": ((0.0, 0.2, 0.4, 0.8, 1.0), (0.0, 0.0, 0.0, 0.0, 0.0)),
    "navigational": ((0.05, 0.3, 0.5, 0.7, 0.95), (0.2, 0.3, 0.5, 0.7, 0.9)),
    "informational": ((0.4, 0.6, 0.7, 0.8, 0.9), (0.1, 0.2, 0.3, 0.4, 0.5)),
}
NAMES = (*USERS, "position-based", "random")


@dataclass(frozen=True, eq=False)
class ClickModel:
    """Chances of a click and of a stop, by slot and grade. Made by ``click_model`` or ``click_table``.

    >>> click_model("perfect", grades=3).depth
    10
    """

    name: str
    click: Floats  # f8[depth, grades]
    stop: Floats  # f8[depth, grades]

    @property
    def depth(self) -> int:
        """Number of slots that the user looks at."""
        return len(self.click)


def click_model(name: str, *, grades: int, depth: int = DEPTH) -> ClickModel:
    """Make a simulated user by name, for grades 0 .. grades - 1.

    perfect, navigational, informational: the cascade users of the literature, with their five grades spread over the
    data's: of three grades the middle one is their grade 2. position-based: looks at slot k with chance 1/k and there
    clicks like the informational user, never stopping. random: clicks every second document, whatever it is.

    Parameters
    ----------
    name
        One of these, or the path of a JSON file, see ``click_table``.
    grades
        How many grades the data have.
    depth
        How many slots the user looks at.

    Examples
    --------
    >>> click_model("perfect", grades=3).click[0].tolist()
    [0.0, 0.4, 1.0]
    """
    grades, depth = whole("grades", grades, 1, of="click_model"), whole("depth", depth, 1, MOST_DEPTH, of="click_model")
    if name in USERS:
        at = np.linspace(0.0, 4.0, max(2, grades))
        click, stop = (np.interp(at, np.arange(5), row)[:grades] for row in USERS[name])
        return ClickModel(name, np.tile(click, (depth, 1)), np.tile(stop, (depth, 1)))
    if name == "position-based":
        attract = click_model("informational", grades=grades, depth=depth).click
        return ClickModel(name, attract / np.arange(1.0, depth + 1.0)[:, None], np.zeros((depth, grades)))
    if name == "random":
        return ClickModel(name, np.full((depth, grades), 0.5), np.zeros((depth, grades)))
    if str(name).endswith(".json"):
        return _read(name, grades, depth)
    raise BadInput(f"'clicks' must be one of {', '.join(NAMES)}, or a JSON file. Got {name!r}.{did_you_mean(str(name), NAMES)}")


def click_table(click: Any, stop: Any = 0.0, *, grades: int, depth: int = DEPTH, name: str = "table") -> ClickModel:
    """Make a simulated user from any table: one number, a row by grade, or rows by slot.

    Parameters
    ----------
    click, stop
        Chances to click, and to stop after a click. The last row holds for all slots below.
    grades
        How many grades the data have.
    depth
        How many slots the user looks at.
    name
        The user's name.

    Examples
    --------
    >>> click_table([0.1, 0.9], grades=2, depth=2).click.tolist()
    [[0.1, 0.9], [0.1, 0.9]]
    """
    tables = [_table(what, values, grades, depth) for what, values in (("click", click), ("stop", stop))]
    return ClickModel(name, tables[0], tables[1])


def _table(what: str, values: Any, grades: int, depth: int) -> Floats:
    try:
        table = np.asarray(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise BadInput(f"'{what}' must be a table of numbers. Got {shortened(values)}.") from None
    if table.ndim > 2 or table.size == 0 or (table.ndim > 0 and table.shape[-1] != grades):
        raise BadInput(f"'{what}' must have {grades} numbers a row, one per grade. Got shape {table.shape}.")
    if not ((table >= 0.0) & (table <= 1.0)).all():
        raise BadInput(f"'{what}' must hold probabilities, between 0 and 1. Got {table[~((table >= 0) & (table <= 1))][0]}.")
    rows = np.broadcast_to(table, (1, grades)) if table.ndim < 2 else table[:depth]
    return np.ascontiguousarray(np.vstack([rows, np.tile(rows[-1], (depth - len(rows), 1))]))


def _read(path: str, grades: int, depth: int) -> ClickModel:
    try:
        content = json.loads(read_text(path))
    except BadInput:
        raise
    except (ValueError, RecursionError) as error:
        raise BadInput(f"'{path}' must be a JSON file. {error}.") from None
    if not isinstance(content, dict) or "click" not in content or not set(content) <= {"click", "stop"}:
        raise BadInput(f"'{path}' must hold an object with 'click' and perhaps 'stop'.")
    try:
        return click_table(content["click"], content.get("stop", 0.0), grades=grades, depth=depth, name=Path(path).stem)
    except BadInput as error:
        raise BadInput(f"'{path}': {error}") from None


@kernel
def go_down(rng: Stream, click: Floats, stop: Floats, grade: Ints, shown: Ints, length: int, clicked: Floats) -> None:
    """Write 1 into ``clicked`` where the user clicked. ``grade`` is by document of the query."""
    for k in range(length):
        clicked[k] = 0.0
    for k in range(length):
        g = grade[shown[k]]
        if uniform(rng) < click[k, g]:
            clicked[k] = 1.0
            if uniform(rng) < stop[k, g]:
                return
