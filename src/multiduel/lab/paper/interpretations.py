"""What the paper leaves open, and how it can be interpreted: which contenders an interpretation puts in whose place.

A claim names algorithms by the ids of the panels' contenders. An interpretation changes some of them to other settings, or to
another algorithm; all others stay at our defaults. Its runs come from the experiments that vary a panel's contenders, on the
panel's problem, horizon and slates.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from multiduel.lab.paper.panels import VARIED_IN
from multiduel.lab.results import Line, Panel

Panels = Mapping[str, Panel]
Choice = tuple[str, Mapping[str, Any]]  # a policy with its parameters


@dataclass(frozen=True)
class Interpretation:
    """Of each contender that it changes, by its id in the panels: what takes its place."""

    words: str
    changes: Mapping[str, Choice]
    joint: bool = False  # it changes several choices at once


def _alpha(alpha: float) -> dict[str, Choice]:
    """One choice for the three reductions that the UCB machine plays in."""
    return {policy: (policy, {"alpha": alpha}) for policy in ("multi-sbm-feedback", "multi-sbm", "doubler")}


def _one(policy: str, **params: Any) -> dict[str, Choice]:
    return {policy: (policy, params)}


BTM_AS_IN_ITS_PAPER = "BTM's constant of 3 (as in its paper)"
RADIUS = "narrower intervals in DoublerBAI (LUCB's radius of delta alone)"
TWO_INTERPRETATIONS = (
    Interpretation("less exploration (UCB's alpha = 1)", _alpha(1.0)),
    Interpretation("less exploration (UCB's alpha = 0)", _alpha(0.0)),
    Interpretation("less exploration (UCB's alpha = -1)", _alpha(-1.0)),
    Interpretation("t^2 for t^4 in LUCB's confidence radius", _one("doubler-bai", radius="t2")),
    Interpretation(RADIUS, _one("doubler-bai", radius="delta")),
    Interpretation("LUCB's epsilon = 0.05", _one("doubler-bai", epsilon=0.05)),
    Interpretation("LUCB's epsilon = 0.1", _one("doubler-bai", epsilon=0.1)),
    Interpretation("the last arm found kept until there is another", _one("doubler-bai", keep_last=True)),
    Interpretation("LUCB's memory kept between epochs", _one("doubler-bai", reset=False)),
    Interpretation(
        "LUCB's memory kept between epochs and its radius of delta alone", _one("doubler-bai", reset=False, radius="delta")
    ),
    Interpretation("BTM's constant 1.44", _one("btm", constant=1.44)),
    Interpretation(BTM_AS_IN_ITS_PAPER, _one("btm", constant=3.0)),
    Interpretation("IF1 for IF", {"if2": ("if1", {})}),
)
MULTI_INTERPRETATIONS = (
    Interpretation("MultiRUCB's alpha = 1.01", _one("multi-rucb", alpha=1.01)),
    Interpretation("MultiRUCB's priority = always", _one("multi-rucb", priority="always")),
    Interpretation("IndSelfSparring's learning rate eta = 0.1", _one("ind-self-sparring", eta=0.1)),
    Interpretation("MDB's alpha = 1.01", _one("mdb", alpha=1.01)),
    Interpretation("MDB's alpha = 0.5", _one("mdb", alpha=0.5)),
    Interpretation("MDB's cap = narrow", _one("mdb", cap="narrow")),
    Interpretation("alpha = 1.01 in MultiRUCB and MDB", _one("multi-rucb", alpha=1.01) | _one("mdb", alpha=1.01)),
    Interpretation("MultiSparring's credit by pairs", _one("multi-sparring", credit="pairs")),
    Interpretation("MultiSparring's credit by pairs without duplicates",
                   _one("multi-sparring", credit="pairs", duplicates="skip")),
    Interpretation("MultiSparring's credit by pairs with coins", _one("multi-sparring", credit="pairs", duplicates="coin")),
)  # fmt: skip
# What agrees with most of what is published, by the search of joint.py; played in all panels.
TWO_JOINT = Interpretation(
    f"{RADIUS} and {BTM_AS_IN_ITS_PAPER}, together", _one("doubler-bai", radius="delta") | _one("btm", constant=3.0), joint=True
)
MULTI_JOINT = Interpretation(
    "other settings of MultiRUCB's rivals (IndSelfSparring's eta = 0.1, MDB's alpha = 1.01, MultiSparring's credit by pairs with "
    "coins)",
    _one("ind-self-sparring", eta=0.1) | _one("mdb", alpha=1.01) | _one("multi-sparring", credit="pairs", duplicates="coin"),
    joint=True,
)


def find(panels: Panels, name: str, role: str, interpretation: Interpretation | None = None) -> Line | None:
    """Return the contender that plays a role in a panel, perhaps interpreted; None if it was not played."""
    if interpretation is None or role not in interpretation.changes:
        return panels[name].line(role)
    policy, params = interpretation.changes[role]
    for experiment in (name, f"joint-{name}", *VARIED_IN.get(name, ())):
        for line in panels[experiment].lines if experiment in panels else ():
            if line.contender.policy == policy and line.contender.params == dict(params):
                return line
    return None


def played(panels: Panels, name: str, roles: Collection[str], interpretation: Interpretation) -> bool:
    """Was all that the interpretation changes among these roles played in this panel?"""
    return all(find(panels, name, role, interpretation) is not None for role in roles if role in interpretation.changes)


def same_as_default(panels: Panels, names: Collection[str], roles: Collection[str], interpretation: Interpretation) -> bool:
    """Does it play like our default, bit by bit, wherever it was played?"""
    pairs = [
        (find(panels, name, role, interpretation), panels[name].line(role))
        for name in names if name in panels for role in roles if role in interpretation.changes
    ]  # fmt: skip
    both = [(one, other) for one, other in pairs if one is not None]
    return bool(both) and all(_equal(one, other) for one, other in both)


def _equal(one: Line, other: Line) -> bool:
    """The same regret of every kind, and the same arms recommended, in all common runs."""
    runs = min(one.result.runs, other.result.runs)
    a, b = one.result, other.result
    kinds = all(np.array_equal(a.regrets[kind][:runs, -1], b.regrets[kind][:runs, -1]) for kind in a.regrets)
    return (
        kinds and np.array_equal(a.recommended[:runs], b.recommended[:runs]) and np.array_equal(a.events[:runs], b.events[:runs])
    )
