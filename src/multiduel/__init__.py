"""multiduel: find the best of several options from comparisons instead of scores.

>>> import multiduel as md
>>> policy = md.make("multi-rucb", n_arms=12, slate_size=4, seed=7)
>>> slate = policy.ask()
>>> policy.tell(slate, md.ranking(slate.arms))  # best first
>>> 0 <= policy.recommend() < 12
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

# Loaded on first use, so that `import multiduel` and `multiduel --help` need neither Numba nor SciPy.
_HOMES = {
    "multiduel.engine.session.policy": ("Policy", "make", "restore"),
    "multiduel.engine.session.slates": ("Slate",),
    "multiduel.engine.session.outcomes": ("Outcome", "best", "duels", "ranking", "tie", "worst"),
    "multiduel.engine.registry.registry": ("register",),
    "multiduel.engine.registry.catalogue": ("catalogue",),
    "multiduel.engine.simulation.result": ("Result", "Results"),
    "multiduel.engine.simulation.simulate": ("simulate",),
    "multiduel.engine.registry.suggest": ("Suggestion", "suggest"),
    "multiduel.engine.registry.estimates": ("estimate",),
    "multiduel.engine.simulation.rankings": ("Rankings",),
    "multiduel.arena.judges.judging": ("Judged", "judge"),
    "multiduel.engine.standings": ("Standings", "standings"),
    "multiduel.inference": ("Forecast", "Tally", "Verdict", "Votes", "forecast", "verdict"),
    "multiduel.inputs": ("BadInput",),
    "multiduel.problems": (
        *("EstimatedProblem", "Problem", "bradley_terry", "cyclic", "from_matrix", "from_utilities"),
        *("random_tournament", "instance", "random_utilities", "read_csv", "synthetic"),
    ),
    "multiduel.votes.next_slates": ("NextSlates", "next_slates"),
    "multiduel.votes.reader": ("read_votes",),
    "multiduel.engine.simulation.contexts": ("ContextProblem", "context_arms", "contexts", "random_contexts"),
    "multiduel.lab.sweeps": ("read_results",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = ("authoring", "checks", "policies", "rankers", "theory")

__all__ = [  # written out, because type checkers do not run code
    "BadInput", "ContextProblem", "EstimatedProblem", "Forecast", "Judged", "NextSlates", "Outcome", "Policy", "Problem",
    "Rankings", "Result", "Results", "Slate", "Standings", "Suggestion", "Tally", "Verdict", "Votes", "__version__",
    "authoring", "best", "bradley_terry", "catalogue", "checks", "context_arms", "contexts", "cyclic", "duels", "estimate",
    "forecast", "from_matrix", "from_utilities", "instance", "judge", "make", "next_slates", "policies", "random_contexts",
    "random_tournament", "random_utilities", "rankers", "ranking", "read_csv", "read_results", "read_votes", "register",
    "restore", "simulate", "standings", "suggest", "synthetic", "theory", "tie", "verdict", "worst",
]  # fmt: skip

if TYPE_CHECKING:
    from multiduel import authoring as authoring
    from multiduel import checks as checks
    from multiduel import policies as policies
    from multiduel import rankers as rankers
    from multiduel import theory as theory
    from multiduel.arena.judges.judging import Judged, judge
    from multiduel.engine.registry.catalogue import catalogue
    from multiduel.engine.registry.estimates import estimate
    from multiduel.engine.registry.registry import register
    from multiduel.engine.registry.suggest import Suggestion, suggest
    from multiduel.engine.session.outcomes import Outcome, best, duels, ranking, tie, worst
    from multiduel.engine.session.policy import Policy, make, restore
    from multiduel.engine.session.slates import Slate
    from multiduel.engine.simulation.contexts import ContextProblem, context_arms, contexts, random_contexts
    from multiduel.engine.simulation.rankings import Rankings
    from multiduel.engine.simulation.result import Result, Results
    from multiduel.engine.simulation.simulate import simulate
    from multiduel.engine.standings import Standings, standings
    from multiduel.inference import Forecast, Tally, Verdict, Votes, forecast, verdict
    from multiduel.inputs import BadInput
    from multiduel.lab.sweeps import read_results
    from multiduel.problems import (
        EstimatedProblem,
        Problem,
        bradley_terry,
        cyclic,
        from_matrix,
        from_utilities,
        instance,
        random_tournament,
        random_utilities,
        read_csv,
        synthetic,
    )
    from multiduel.votes.next_slates import NextSlates, next_slates
    from multiduel.votes.reader import read_votes


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(f"multiduel.{name}")
    else:
        raise AttributeError(f"module 'multiduel' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
