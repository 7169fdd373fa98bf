"""Which policy to use: the one that lost least where it was measured, in the setting nearest to yours."""

from __future__ import annotations

import functools
import importlib.resources
import json
import math
import re
from typing import Any, NamedTuple

from multiduel.engine.registry.registry import POLICIES
from multiduel.inputs import BadInput, choice, whole
from multiduel.kernels.contract import FOREVER, PolicySpec
from multiduel.kernels.validity import MOST_ARMS

ASSUMPTIONS = ("utilities", "condorcet", "copeland")
WORDS = {
    "utilities": "options with hidden qualities",
    "condorcet": "an option that beats every other, and otherwise no order",
    "copeland": "no option that beats every other",
}
# What a policy description must not ask for: more than is assumed.
MORE = {"utilities": (), "condorcet": ("utilit", "linear", "order", "transitiv")}
MORE["copeland"] = (*MORE["condorcet"], "^a Condorcet winner")


class Suggestion(NamedTuple):
    """A policy's name, why, and the next best with their measured mean regret.

    >>> import multiduel as md
    >>> suggestion = md.suggest(n_arms=20, slate_size=4)
    >>> suggestion.policy, len(suggestion.others) > 0
    ('due-duel', True)
    """

    policy: str
    why: str
    others: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        return f"{self.policy}: {self.why}"


@functools.cache
def measured() -> dict[str, Any]:
    """The measurements that ``benchmarks/suggestions.py`` made."""
    data: dict[str, Any] = json.loads(importlib.resources.files(__package__).joinpath("measured.json").read_text())
    return data


@functools.cache
def measured_contexts() -> list[dict[str, Any]]:
    """The measurements with features that change, which ``benchmarks/contexts.py`` made."""
    text = importlib.resources.files(__package__).joinpath("measured_contexts.json").read_text()
    rows: list[dict[str, Any]] = json.loads(text)["rows"]
    return rows


def suggest(
    *,
    n_arms: int,
    slate_size: int = 2,
    horizon: int | None = None,
    assume: str = "condorcet",
    dimension: int | None = None,
) -> Suggestion:
    """Suggest a policy, from measured results.

    The suggestion is the policy of least rank in the measured setting nearest to yours: its rank by mean regret plus its rank
    by the worst tenth of the runs; in ties the mean decides. A policy that assumes more than you do is never suggested, and
    neither is one that was not measured; ``why`` names those that would fit and were not measured.

    Parameters
    ----------
    n_arms
        How many options there are.
    slate_size
        How many of them are shown at once, at most.
    horizon
        The number of rounds, if it is known; policies that must know it are considered only then.
    assume
        What you believe of the options: "utilities" (each has a hidden quality), "condorcet" (one beats every other) or
        "copeland" (perhaps none does).
    dimension
        If your options are described by features that change from round to round: how many numbers describe one. Then utilities
        linear in them are assumed, and ``assume`` is left out.

    Returns
    -------
    Suggestion
        The policy's name, why, and the next best. Print it: it is a sentence.

    Raises
    ------
    BadInput
        If an argument is out of its range.

    Examples
    --------
    >>> import multiduel as md
    >>> print(md.suggest(n_arms=20, slate_size=4).policy)
    due-duel
    """
    n_arms = whole("n_arms", n_arms, 1, MOST_ARMS, of="suggest")
    slate_size = whole("slate_size", slate_size, 2, MOST_ARMS, of="suggest")
    if horizon is not None:
        horizon = whole("horizon", horizon, 1, FOREVER, of="suggest")
    choice("assume", assume, ASSUMPTIONS)
    if dimension is not None:
        if assume != "condorcet":
            raise BadInput(f"'assume' must be left out with 'dimension': linear utilities are assumed. Got {assume!r}.")
        return _with_features(n_arms, slate_size, whole("dimension", dimension, 1, of="suggest"))

    rows = [row for row in measured()["rows"] if row["assumption"] == assume]
    arms = _nearest({row["n_arms"] for row in rows}, n_arms)
    rows = [row for row in rows if row["n_arms"] == arms]
    rounds = _nearest({row["horizon"] for row in rows}, horizon or 10**6)
    seats = _nearest({row["slate_size"] for row in rows}, slate_size)
    here = [
        row
        for row in rows
        if row["horizon"] == rounds
        and row["slate_size"] in (2, seats)
        and row["policy"] in POLICIES
        and _fits(POLICIES[row["policy"]], assume, horizon)
    ]
    by_mean, by_worst = (sorted(row[key] for row in here) for key in ("mean", "worst_tenth"))
    here.sort(key=lambda row: (by_mean.index(row["mean"]) + by_worst.index(row["worst_tenth"]), row["mean"]))
    best, *rest = here
    others: dict[str, Any] = {}
    for row in rest:
        if row["policy"] != best["policy"]:
            others.setdefault(row["policy"], row)  # a policy measured twice counts where it ranks first
    after = next(iter(others.values()), None)
    next_best = f" Next is {after['policy']}: {_measure(after)}." if after else ""
    why = (
        f"measured where it is most like yours ({WORDS[assume]}; {arms} arms, {best['slate_size']} at once, {rounds:,} rounds; "
        f"{best['instances']} instances, {best['runs']} runs): {_measure(best)}.{next_best} {_not_measured(assume, horizon)}"
        f"{POLICIES[best['policy']].use}"
    )
    return Suggestion(best["policy"], why, tuple((name, row["mean"]) for name, row in others.items())[:5])


def _with_features(n_arms: int, slate_size: int, dimension: int) -> Suggestion:
    """The policy of least mean regret in the nearest measured setting with features that change."""
    rows = [row for row in measured_contexts() if row["policy"] in POLICIES and POLICIES[row["policy"]].contextual]
    for name, wanted in (("n_arms", n_arms), ("dimension", dimension)):
        nearest = _nearest({row[name] for row in rows}, wanted)
        rows = [row for row in rows if row[name] == nearest]
    seats = _nearest({row["slate_size"] for row in rows}, slate_size)
    here = sorted((row for row in rows if row["slate_size"] in (2, seats)), key=lambda row: row["mean"])
    best = here[0]
    others: dict[str, float] = {}
    for row in here[1:]:
        if row["policy"] != best["policy"]:
            others.setdefault(row["policy"], row["mean"])
    following = next(iter(others.items()))
    why = (
        f"measured where it is most like yours (utilities linear in {best['dimension']} features that change from round to "
        f"round; {best['n_arms']} arms, {best['slate_size']} at once, {best['horizon']:,} rounds; one instance, "
        f"{best['runs']} runs): mean regret {best['mean']:,.0f} (±{1.96 * best['error']:,.0f}). Next is {following[0]}: "
        f"{following[1]:,.0f}. "
        f"{POLICIES[best['policy']].use}"
    )
    return Suggestion(best["policy"], why, tuple(others.items())[:5])


def _fits(spec: PolicySpec, assume: str, horizon: int | None) -> bool:
    """Tell whether a policy assumes no more than is known."""
    return not re.search("|".join(MORE[assume]) or "(?!)", spec.assumes) and (horizon is not None or spec.anytime)


def _not_measured(assume: str, horizon: int | None) -> str:
    """Name the policies that fit and that were not measured, in a sentence; "" if there are none."""
    known = {row["policy"] for row in measured()["rows"] + measured()["left_out"]} | set(measured()["not_for_regret"])
    names = [name for name, spec in POLICIES.items() if name not in known and not spec.features and _fits(spec, assume, horizon)]
    return f"Not measured: {', '.join(names)}. " if names else ""


def _measure(row: dict[str, Any]) -> str:
    share = f"{row['wrong']:.1%} of the runs ended with a wrong arm" if row["wrong"] else "no run ended with a wrong arm"
    return f"mean regret {row['mean']:,.0f} (±{1.96 * row['error']:,.0f}), worst tenth {row['worst_tenth']:,.0f}, {share}"


def _nearest(known: set[int], wanted: int) -> int:
    """On a logarithmic scale: 20 arms are nearer to 24 than to 8. In a tie, the larger."""
    return min(known, key=lambda value: (abs(math.log(value) - math.log(wanted)), -value))
