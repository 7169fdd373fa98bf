"""What the paper states about its contenders, what we chose where it states nothing, and what else was tried."""

from __future__ import annotations

from typing import NamedTuple

from multiduel.display.tables import Table
from multiduel.engine.registry.registry import describe, find


class Setting(NamedTuple):
    """A choice in an algorithm. Either the paper states it, or we chose."""

    algorithm: str
    choice: str
    paper: str = ""  # the paper's value
    ours: str = ""  # our default where the paper states none
    tried: str = ""  # other interpretations


def _default(policy: str, name: str) -> str:
    """The default of a policy's parameter, as its description has it."""
    value = describe(find(policy).params())[name]
    return f"{value:g}" if isinstance(value, float) else str(value)


def settings() -> list[Setting]:
    """All choices, the paper's own algorithms first."""
    ucb = "as in MultiSBM-Feedback: UCB, alpha = 3"
    return [
        Setting("MultiSBM-Feedback", "alpha of its bandit machine UCB", "max{3, ln K / ln ln T}, 3 here", "", "1, 0, -1"),
        Setting("DoublerBAI", "epochs, best-arm identification", "a = 10, b = 1.1; LUCB with delta = 1 / next epoch's length"),
        Setting("DoublerBAI", "LUCB's radius", "", "that of LUCB's own paper, with t^4", "with t^2; of delta alone"),
        Setting("DoublerBAI", "LUCB's epsilon, memory", "", "0; forgotten at each epoch", "0.05, 0.1; kept; the last arm kept"),
        Setting("MultiRUCB", "m", "8 and 16", "", "2 to K"),
        Setting("MultiRUCB", "alpha, priority of seats", "",
                f"{_default('multi-rucb', 'alpha')}, {_default('multi-rucb', 'priority')}", "alpha = 1.01; priority always"),
        Setting("MultiSBM, Doubler", "bandit machine", "", ucb, "alpha = 1, 0, -1"),
        Setting("IF", "which of the two algorithms", "", "IF2", "IF1"),
        Setting("BTM", "gamma, constant of the radius", "", f"gamma = {_default('btm', 'gamma')}, constant 1",
                "constant 1.44; 3, as in its paper"),
        Setting("SAVAGE", "delta", "", "1 / T"),
        Setting("IF, BTM, SAVAGE", "horizon", "told each point's"),
        Setting("IndSelfSparring", "eta", "", _default("ind-self-sparring", "eta"), "0.1"),
        Setting("MDB", "alpha, beta, cap", "",
                ", ".join(_default("mdb", name) for name in ("alpha", "beta", "cap")), "alpha = 1.01, 0.5; cap narrow"),
        Setting("MultiSparring", "bandit machine, credit", "", "UCB with alpha = 3; the mean over the other seats",
                "by pairs, with coins or without duplicates"),
    ]  # fmt: skip


def table() -> Table:
    """The choices, the paper's values and ours in columns of their own."""
    head = ("algorithm", "choice", "at the paper's value", "at our default", "also tried")
    return Table(head, [tuple(cell or "-" for cell in row) for row in settings()])
