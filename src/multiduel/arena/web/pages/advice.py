"""What we would choose for an owner's options, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from multiduel.arena.domain.options import Option
from multiduel.engine.registry.registry import POLICIES
from multiduel.engine.registry.suggest import suggest

SHORT, LONG = 250, 800  # characters of a text that is read quickly, or slowly


@dataclass(frozen=True)
class Advice:
    slate_size: int
    slate_why: str
    policy: str
    policy_why: str
    other: str  # a policy for those who care what is shown on the way
    other_why: str


def advise(options: Sequence[Option]) -> Advice:
    size, why = slate_size(options)
    other = suggest(n_arms=len(options), slate_size=max(2, size))
    return Advice(
        size,
        why,
        "challengers",
        POLICIES["challengers"].use,
        other.policy,
        f"If the options are shown to customers meanwhile, so that showing weak ones costs something: {other.policy} lost least "
        "where it was measured in the setting most like yours.",
    )


def slate_size(options: Sequence[Option]) -> tuple[int, str]:
    n = len(options)
    contents = [content for option in options for content in option.contents]
    kinds = {content.kind for content in contents}
    mean = sum(content.size for content in contents) / max(1, len(contents))
    if n == 2:
        return 2, "There are two options."
    if kinds & {"audio", "url"}:
        return 2, "Two: sounds and pages can be attended to one after the other only, and two are easily remembered."
    if "image" not in kinds and mean > LONG:
        return 2, f"Two: at {mean:,.0f} characters on average, reading takes longer than choosing."
    if "image" not in kinds and mean > SHORT:
        return min(3, n), "Three: the texts are of middling length, and an order of three is three comparisons in one answer."
    size = min(4, n)
    if size < 4:
        return size, "All three: an order of three is three comparisons in one answer."
    return 4, (
        "Four: an order of four is six comparisons in one answer. Where it was measured, a verdict took less than half as many "
        "answers as with pairs (docs/verdicts.md)."
    )


def policies() -> list[tuple[str, str]]:
    """Those that an arena can use, with what they are for."""
    return [(name, spec.use) for name, spec in POLICIES.items() if not spec.blind]
