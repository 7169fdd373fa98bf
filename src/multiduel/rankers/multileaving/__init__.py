"""One list from several rankings, and duels from the clicks on it. One method, one file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from multiduel.inputs import choice
from multiduel.rankers.multileaving.balanced import balanced
from multiduel.rankers.multileaving.contract import judge, lay_out
from multiduel.rankers.multileaving.greedy import greedy
from multiduel.rankers.multileaving.neutral_team_draft import neutral_team_draft
from multiduel.rankers.multileaving.optimised import optimised
from multiduel.rankers.multileaving.pair_draft import pair_draft
from multiduel.rankers.multileaving.pairwise import pairwise
from multiduel.rankers.multileaving.probabilistic import probabilistic, probabilistic_drawn
from multiduel.rankers.multileaving.team_draft import team_draft

# Each makes the method with its scratch for (places of the largest slate, documents of the longest query, slots).
METHODS: dict[str, Callable[[int, int, int], Any]] = {
    "pair-draft": pair_draft,
    "neutral-team-draft": neutral_team_draft,
    "team-draft": team_draft,
    "probabilistic": probabilistic,
    "probabilistic-drawn": probabilistic_drawn,
    "optimised": optimised,
    "pairwise": pairwise,
    "greedy": greedy,
    "balanced": balanced,
}
ALIASES = {  # names that papers and other libraries use
    "tdi": "team-draft",
    "tdm": "team-draft",
    "team-draft-multileaving": "team-draft",
    "pm": "probabilistic",
    "pi": "probabilistic",
    "probabilistic-multileaving": "probabilistic",
    "ppm": "pairwise",
    "pairwise-preference": "pairwise",
    "om": "optimised",
    "oi": "optimised",
    "optimized": "optimised",
    "gom": "greedy",
    "bi": "balanced",
    "balanced-interleaving": "balanced",
}
TWO_ONLY = ("balanced",)
WHOLE_CLICKS = ("probabilistic", "pairwise", "balanced")  # methods that count clicks, and cannot weigh them
WHOLE_PAGES = ("optimised", "greedy")  # methods that choose among whole pages, and cannot continue one
METHOD = "pair-draft"  # unless another is asked for: of the fair ones the most sensitive, see docs/rankers.md
COUNTED = ("half", "drop")  # what a pair is told that the clicks do not tell apart: half a win each way, or nothing
TIES = ("auto", *COUNTED)  # half with two rankers, drop with more: docs/rankers.md has what each policy regrets
MANY = 3  # rankers on a page from which on "auto" drops ties

__all__ = [
    "ALIASES",
    "COUNTED",
    "MANY",
    "METHOD",
    "METHODS",
    "TIES",
    "TWO_ONLY",
    "WHOLE_CLICKS",
    "WHOLE_PAGES",
    "check_method",
    "judge",
    "lay_out",
]


def check_method(name: str) -> str:
    """The method's own name; aliases, in any case, are known too."""
    alias = ALIASES.get(name.lower().replace("_", "-")) if isinstance(name, str) else None
    return alias or choice("method", name, METHODS)
