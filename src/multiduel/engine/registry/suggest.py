"""Which policy to use: the one that lost least where it was measured, in the setting nearest to yours."""

from __future__ import annotations

import functools
import importlib.resources
import json
import math
import re
from typing import Any, NamedTuple

import numpy as np

from multiduel.engine.registry.benchmark_results import Row, shipped, shipped_suite, worst_tenth
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
NOT_FOR_REGRET = ("challengers",)  # made to be certain with few answers, not to lose little
FEWEST_INSTANCES = 4  # with the same number of arms


class Suggestion(NamedTuple):
    """A suggested policy, the reason, and the next best policies with their measured mean regret.

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
    """The shipped results of the benchmark, by what is assumed of the options and by how many there are.

    A row joins the instances with the same number of arms of all families that stand for an assumption. A policy that was too
    slow for one of these families has no row there, and is listed as left out.
    """
    suite = shipped_suite()
    families = {name: family for name, family in suite["families"].items() if family["assumption"]}
    rows, left_out = [], []
    for results in shipped().values():
        played = [row for row in results.rows.values() if row.family in families]
        if results.suite != suite["digest"] or results.policy in NOT_FOR_REGRET:
            continue
        for assumption, n_arms in _settings(families):
            wanted = {
                name for name, family in families.items() if family["assumption"] == assumption and n_arms in family["arms"]
            }
            for slate_size, horizon in sorted({row.key[1:] for row in played if row.family in wanted}):
                here = [row for row in played if row.family in wanted and row.key[1:] == (slate_size, horizon)]
                place = {"assumption": assumption, "n_arms": n_arms, "horizon": horizon, "slate_size": slate_size}
                if {row.family for row in here if row.runs} == wanted:
                    rows.append(place | {"policy": results.policy} | _numbers(here, families, n_arms))
                else:
                    left_out.append(place | {"policy": results.policy, "seconds": max(row.seconds for row in here)})
    return {"rows": rows, "left_out": left_out, "not_for_regret": NOT_FOR_REGRET}


def _settings(families: dict[str, Any]) -> list[tuple[str, int]]:
    """Assumptions and numbers of arms of which there are enough instances."""
    found = [(family["assumption"], arms) for family in families.values() for arms in family["arms"]]
    return sorted({each for each in found if found.count(each) >= FEWEST_INSTANCES})


def _numbers(rows: list[Row], families: dict[str, Any], n_arms: int) -> dict[str, Any]:
    chosen = [np.array([arms == n_arms for arms in families[row.family]["arms"]]) for row in rows]
    regret = [row.regret[which].astype(np.float64) for row, which in zip(rows, chosen, strict=True)]
    means = np.concatenate([each.mean(axis=1) for each in regret])
    return {
        **{"instances": len(means), "runs": sum(each.size for each in regret), "mean": float(means.mean())},
        **{"error": float(means.std(ddof=1) / len(means) ** 0.5)},
        "worst_tenth": worst_tenth(np.concatenate([each.ravel() for each in regret])),
        "wrong": float(np.concatenate([row.wrong[which].mean(axis=1) for row, which in zip(rows, chosen, strict=True)]).mean()),
    }


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
    by the worst tenth of the runs; in ties the mean decides. The measurements are the results of the benchmark
    (``multiduel bench``). A policy that assumes more than you do is never suggested, and neither is one that was not measured;
    ``why`` names those that would fit and were not measured.

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
    measured_at = {
        rounds: len({row["policy"] for row in rows if row["horizon"] == rounds}) for rounds in {row["horizon"] for row in rows}
    }
    most = max(measured_at.values())  # a horizon at which few policies were measured says little
    rounds = _nearest({rounds for rounds, policies in measured_at.items() if 2 * policies >= most}, horizon or 10**6)
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
    share = f"{100 * row['wrong']:.1f} % of the runs ended with a wrong arm" if row["wrong"] else "no run ended with a wrong arm"
    return f"mean regret {row['mean']:,.0f} (±{1.96 * row['error']:,.0f}), worst tenth {row['worst_tenth']:,.0f}, {share}"


def _nearest(known: set[int], wanted: int) -> int:
    """On a logarithmic scale: 20 arms are nearer to 24 than to 8. In a tie, the larger."""
    return min(known, key=lambda value: (abs(math.log(value) - math.log(wanted)), -value))
