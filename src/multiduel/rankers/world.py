"""The click world: rankers are the arms, a user's clicks on one multileaved list are the duels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.inputs import BadInput, choice
from multiduel.problems import Problem
from multiduel.rankers.click_world import ClickWorld
from multiduel.rankers.clicks import ClickModel, click_model
from multiduel.rankers.lineup import Lineup
from multiduel.rankers.multileaving import MANY, METHOD, METHODS, TIES, TWO_ONLY, check_method


@dataclass(frozen=True, eq=False)
class ClickProblem:
    """Simulated users with queries, for ``simulate`` to play against instead of a matrix. Regret is counted by ``reference``.

    >>> from multiduel.rankers import generate, line_up
    >>> lineup = line_up(generate(queries=3, documents=5, features=2))
    >>> click_problem(lineup).n_arms
    2
    """

    lineup: Lineup
    clicks: ClickModel
    method: str
    reference: Problem | None = None  # e.g. of ``estimate_matrix``; without it there is no regret to count
    ties: str = TIES[0]  # "half" a win each way; "drop": told nothing of the two; "auto": half with two rankers, drop with more

    def __post_init__(self) -> None:
        check_method(self.method)
        choice("ties", self.ties, TIES)
        worst = int(self.lineup.grade.max())
        if worst >= self.clicks.click.shape[1]:
            raise BadInput(
                f"The click model '{self.clicks.name}' must know grades 0 to {worst}. It has {self.clicks.click.shape[1]} grades."
            )
        if self.reference is not None and self.reference.n_arms != self.lineup.n_arms:
            raise BadInput(f"'reference' must have one arm per ranker, {self.lineup.n_arms}. Got {self.reference.n_arms}.")

    @property
    def n_arms(self) -> int:
        """Number of rankers."""
        return self.lineup.n_arms

    def world(self, labels: Ints, seats: int) -> ClickWorld:
        """Make a world with scratch of its own, in which arm k is the ranker labels[k].

        Parameters
        ----------
        labels
            The ranker of each arm.
        seats
            How many arms a slate may hold.
        """
        if seats > 2 and self.method in TWO_ONLY:
            raise BadInput(f"'{self.method}' compares two rankers at a time. Got a slate of {seats}.")
        lineup, depth = self.lineup, self.clicks.depth
        return ClickWorld(
            {"auto": MANY, "half": seats + 1, "drop": 2}[self.ties],
            METHODS[self.method](seats, lineup.longest, depth),
            np.ascontiguousarray(labels, np.int64),
            *(lineup.offset, lineup.grade, lineup.order, lineup.rank, lineup.returned, self.clicks.click, self.clicks.stop),
            rng=np.zeros(4, np.uint64),
            rows=np.zeros(seats, np.int64),
            own=np.zeros(seats, np.int64),
            taken=np.zeros(lineup.longest, np.uint8),
            shown=np.zeros(depth, np.int64),
            clicked=np.zeros(depth),
            evidence=np.zeros((depth + seats, seats + 1)),
            page=np.zeros((seats, seats)),
        )

    def benchmark_gaps(self, kind: str) -> Floats:
        """Compute what playing each ranker costs, by the reference matrix.

        Parameters
        ----------
        kind
            As for ``Problem.benchmark_gaps``.
        """
        if self.reference is None:
            raise BadInput("Regret against the click world is counted by a matrix. Give one as 'reference'.")
        return self.reference.benchmark_gaps(kind)

    def to_json(self) -> dict[str, Any]:
        """Describe the problem for result files."""
        return {
            "label": f"click world, K = {self.n_arms}, {self.clicks.name} clicks, {self.method}",
            "n_arms": self.n_arms,
            "names": list(self.lineup.names),
            "queries": len(self.lineup.queries),
            "documents": len(self.lineup.grade),
            "clicks": self.clicks.name,
            "method": self.method,
            "ties": self.ties,
            "lineup_sha256": self.lineup.digest,
            "reference": None if self.reference is None else self.reference.to_json(),
        }


def click_problem(
    lineup: Lineup,
    *,
    clicks: str | ClickModel = "informational",
    method: str = METHOD,
    ties: str = TIES[0],
    depth: int = 10,
    reference: Problem | None = None,
) -> ClickProblem:
    """Make the click world of a line-up, for ``simulate`` and ``estimate_matrix``.

    Parameters
    ----------
    lineup
        Rankers and queries.
    clicks
        A name (see ``click_model``) or a model.
    method, ties
        As for ``multileave``.
    depth
        How many documents a page has.
    reference
        The problem by which regret is counted.

    Examples
    --------
    >>> from multiduel.rankers import generate, line_up
    >>> lineup = line_up(generate(queries=3, documents=5, features=2))
    >>> click_problem(lineup, clicks="navigational").clicks.name
    'navigational'
    """
    if isinstance(clicks, str):
        clicks = click_model(clicks, grades=int(lineup.grade.max()) + 1, depth=depth)
    return ClickProblem(lineup, clicks, check_method(method), reference, ties)
