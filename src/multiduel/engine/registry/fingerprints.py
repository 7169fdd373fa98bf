"""Which modules decide what a policy chooses."""

from __future__ import annotations

from multiduel.engine.registry.registry import MACHINES, find


def modules_behind(*policies: str) -> list[str]:
    """The modules of these policies and of the machines that may be plugged into them; what they import is behind them."""
    modules: list[str] = []
    for card in map(find, policies):
        kinds = {parameter.machines for parameter in card.parameters.values()}
        modules += [card.params.__module__, *(one.params.__module__ for one in MACHINES.values() if one.kind in kinds)]
    return modules
