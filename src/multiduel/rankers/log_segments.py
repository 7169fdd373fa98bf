"""A log cut by a field of its pages, and guardrails: metrics that must not get worse while another decides.

**Segments.** A report per value of a field, such as device. The error is shared out: with S segments each has alpha / S, so that
all verdicts of all segments together err with a chance of alpha at most.

**Guardrails.** The verdict is on the one metric that was named beforehand. A guardrail says of another metric whether the leader
is worse than it may be:

    metric       of the judgements that tell it from each other ranker it wins at least 1/2 less the limit, by intervals that hold
                 at all times, for all pairs together (ties are left out: they would hide a metric that is rare)
    abandonment  pages with the ranker have no click more often than pages without it by at most the limit, by an interval that is
                 clustered by user (approximate, for many users, and for one look; it compares pages at different times, if slates
                 were chosen along the way)
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from multiduel.inference.words import percent
from multiduel.inputs import BadInput, shortened
from multiduel.rankers.analysis import Analysis, analyse
from multiduel.rankers.judgements import Judgements

ABANDONMENT = "abandonment"
MOST_SEGMENTS = 100


def segments(found: Judgements, field: str, *, alpha: float = 0.05, **options: Any) -> dict[str, Analysis]:
    """Analyse each value of a field by itself, with the error shared out.

    Parameters
    ----------
    found
        What ``read_judgements`` read.
    field
        A field of the pages, or "method".
    alpha
        The chance of an error in any of them.
    **options
        As for ``analyse``.

    Returns
    -------
    dict of Analysis
        By value, most pages first. Pages without the field are left out.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from multiduel import rankers
    >>> log = rankers.Log(pathlib.Path(tempfile.mkdtemp()) / "log.jsonl")
    >>> page = rankers.multileave([["x", "y"], ["y", "x"]], names=["old", "new"], seed=1)
    >>> for user in "abc":
    ...     id = log.shown(page, user=user, fields={"device": "mobile" if user == "a" else "desktop"})
    ...     log.clicked(id, "x", metric="purchase")
    >>> found = rankers.read_judgements(log)
    >>> {value: part.pages for value, part in segments(found, "device").items()}
    {'desktop': 2, 'mobile': 1}
    """
    codes, values = found.field(field)
    pages = np.bincount(codes[codes >= 0], minlength=len(values))
    order = [int(k) for k in np.argsort(-pages, kind="stable") if pages[k]]
    if not 0 < len(order) <= MOST_SEGMENTS:
        raise BadInput(
            f"A log can be cut into at most {MOST_SEGMENTS} segments, and at least 1. '{field}' has {len(order):,} values."
        )
    where = options.pop("where", None) or {}
    each = alpha / len(order)
    return {values.names[k]: analyse(found, where={**where, field: values.names[k]}, alpha=each, **options) for k in order}


class Guard(NamedTuple):
    """Whether a ranker keeps a guardrail, with the interval of the metric.

    >>> print(Guard("abandonment", 0.02, "new", "holds", 0.001, -0.004, 0.006, ""))
    Guardrail abandonment, at most 2 % worse: holds for 'new'; pages with it have no click +0.1 points more often (-0.4 to +0.6).
    """

    metric: str
    limit: float
    ranker: str
    state: str  # "holds", "violated", or "open"
    value: float  # the worst: a share against another ranker, or a difference of shares of pages without a click
    low: float
    high: float
    against: str  # the other ranker; empty for abandonment

    def __str__(self) -> str:
        known = {"holds": "holds", "violated": "is violated", "open": "is not yet certain"}[self.state]
        if self.metric == ABANDONMENT:
            span = f"{100 * self.low:+.1f} to {100 * self.high:+.1f}"
            what = f"pages with it have no click {100 * self.value:+.1f} points more often ({span})"
        else:
            span = f"{percent(round(self.low, 3))} to {percent(round(self.high, 3))}"
            share = percent(round(self.value, 3))
            what = f"at worst, against '{self.against}', it wins {share} of what tells the two apart ({span})"
        return f"Guardrail {self.metric}, at most {percent(self.limit)} worse: {known} for '{self.ranker}'; {what}."


def guardrail(found: Judgements, analysis: Analysis, metric: str, limit: float) -> Guard:
    """Say whether the leader of an analysis keeps a guardrail.

    Parameters
    ----------
    found
        What the analysis was made of.
    analysis
        On the metric that decides.
    metric
        Another metric of the log, or "abandonment".
    limit
        How much worse the leader may be, from 0 to 0.5.

    Returns
    -------
    Guard
        With the interval that it rests on.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from multiduel import rankers
    >>> log = rankers.Log(pathlib.Path(tempfile.mkdtemp()) / "log.jsonl")
    >>> page = rankers.multileave([["x", "y"], ["y", "x"]], names=["old", "new"], seed=1)
    >>> for user in "abc":
    ...     id = log.shown(page, user=user, fields={"device": "mobile" if user == "a" else "desktop"})
    ...     log.clicked(id, "x", metric="purchase")
    >>> found = rankers.read_judgements(log)
    >>> guardrail(found, rankers.analyse(found), "purchase", 0.02).state
    'open'
    """
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0.0 <= limit < 0.5:
        raise BadInput(f"The limit of a guardrail must be at least 0 and below 0.5. Got {shortened(limit)}.")
    if metric == analysis.metric:
        raise BadInput(f"'{metric}' is the metric that decides. A guardrail is on another one.")
    b = analysis.leader
    name = analysis.names[b]
    if metric == ABANDONMENT:
        value, low, high = abandonment(found, analysis, b)
        state = "holds" if high <= limit else "violated" if low > limit else "open"
        return Guard(metric, limit, name, state, value, low, high, "")
    options: dict[str, Any] = {"unit": analysis.unit, "where": analysis.where, "alpha": analysis.alpha, "ties": "drop"}
    other = analyse(found, metric=metric, **options)
    low_ends, high_ends = other.stood.now.intervals
    rivals = [j for j in range(len(analysis.names)) if j != b]
    worst = min(rivals, key=lambda j: (low_ends[b, j], other.matrix[b, j]))
    states = [high_ends[b, j] < 0.5 - limit for j in rivals]
    state = "violated" if any(states) else "holds" if low_ends[b, worst] >= 0.5 - limit else "open"
    ends = float(low_ends[b, worst]), float(high_ends[b, worst])
    return Guard(metric, limit, name, state, float(other.matrix[b, worst]), *ends, analysis.names[worst])


def abandonment(found: Judgements, analysis: Analysis, ranker: int) -> tuple[float, float, float]:
    """How much more often pages with a ranker have no click than pages without it: the difference and its interval."""
    mask = found.chosen(analysis.where)
    seats = np.repeat(np.arange(found.pages), found.sizes)
    shown = np.zeros(found.pages, np.bool_)
    shown[seats[found.arms == ranker]] = True
    units = found.units(analysis.unit)[0]
    left, shown, units = (found.clicks == 0)[mask], shown[mask], units[mask]
    with_it, without = int(shown.sum()), int((~shown).sum())
    if not with_it or not without:
        return math.nan, -1.0, 1.0
    rate, other = float(left[shown].mean()), float(left[~shown].mean())
    parts = np.where(shown, (left - rate) / with_it, -(left - other) / without)
    error = math.sqrt(float((np.bincount(units, parts) ** 2).sum()))
    wide = NormalDist().inv_cdf(1.0 - analysis.alpha / 2.0) * error
    return rate - other, rate - other - wide, rate - other + wide
