"""A problem: who beats whom, with what probability, and what follows from it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multiduel import theory
from multiduel.arrays import Floats
from multiduel.inputs import BadInput, choice, listed, shortened, text

TOLERANCE = 1e-9  # how far a given matrix may be from P + P^T = 1 before it is refused
MOST_ARMS = 100_000  # tables of K x K numbers fill the memory long before
BENCHMARKS = ("condorcet", "copeland", "borda", "utility")


def preference_matrix(
    values: ArrayLike,
    *,
    names: Iterable[str] | None = None,
    where: Callable[[int, int], str] | None = None,
) -> Floats:
    """Check a preference matrix and return a read-only copy P with P + P^T = 1 and a diagonal of 1/2, exactly.

    Parameters
    ----------
    values
        ``values[i][j]`` is the chance that arm i beats arm j.
    names
        Of the arms, for error sentences.
    where
        Words the position of entry (i, j) in an error sentence; readers of files give line and column.

    Examples
    --------
    >>> preference_matrix([[0.5, 0.7], [0.3, 0.5]]).tolist()
    [[0.5, 0.7], [0.3, 0.5]]
    >>> preference_matrix([[0.5, 0.7], [0.4, 0.5]])
    Traceback (most recent call last):
    multiduel.inputs.BadInput: Entry (row 0, column 1) and its mirror entry must sum to 1. Got 0.7 and 0.4 the other way.
    """
    try:
        P = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise BadInput(f"A preference matrix must be a square table of numbers. {error}.") from None
    if P.ndim != 2 or P.shape[0] != P.shape[1] or P.shape[0] == 0:
        raise BadInput(f"A preference matrix must be square, with at least 1 arm. Got shape {P.shape}.")
    if where is None:
        arms = tuple(names) if names is not None else None
        where = _place(arms if arms is not None and len(arms) == len(P) else None)

    def refuse(bad: NDArray[np.bool_], limit: str, also: str = "") -> None:
        if bad.any():
            i, j = np.argwhere(bad)[0].tolist()
            mirror = f" and {P[j, i]!s} the other way" if also else ""
            raise BadInput(f"{where(i, j)} {limit}. Got {P[i, j]!s}{mirror}.")

    refuse(~np.isfinite(P), "must be a finite number")
    refuse((P < 0) | (P > 1), "must be a probability, between 0 and 1")
    refuse(np.diag(np.abs(P.diagonal() - 0.5) > TOLERANCE), "must be 1/2: an arm against itself")
    refuse(np.abs(P + P.T - 1) > TOLERANCE, "and its mirror entry must sum to 1", also="mirror")

    upper = np.triu((P + (1 - P.T)) / 2, k=1)
    exact = np.where(P + P.T == 1, P, upper + np.tril(1 - upper.T, k=-1))  # what already sums to 1 is kept bit for bit
    np.fill_diagonal(exact, 0.5)
    return _frozen(exact)


def _place(names: tuple[str, ...] | None) -> Callable[[int, int], str]:
    if names is None:
        return lambda i, j: f"Entry (row {i}, column {j})"
    return lambda i, j: f"Entry (row {i} '{names[i]}', column {j} '{names[j]}')"


def _frozen(values: Floats) -> Floats:
    values.setflags(write=False)
    return values


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """K arms and P[i, j] = Pr(i beats j).

    Immutable; what follows from P is computed once, when first asked for.

    Examples
    --------
    >>> problem = from_matrix([[0.5, 0.7], [0.3, 0.5]])
    >>> problem.n_arms, problem.winner
    (2, 0)
    """

    matrix: Floats  # f8[K, K], read-only
    names: tuple[str, ...] = ()
    label: str = ""
    utilities: Floats | None = None  # f8[K], read-only; only when P comes from utilities and a link
    link: str | None = None

    def __post_init__(self) -> None:
        names = tuple(listed("names", self.names, of="Problem"))
        text("label", self.label)
        if self.link is not None:
            text("link", self.link)
        P = preference_matrix(self.matrix, names=names)
        K = len(P)
        put = object.__setattr__
        put(self, "matrix", P)
        put(self, "names", _checked_names(names, K) if names else tuple(f"arm {i}" for i in range(K)))
        put(self, "label", self.label or f"matrix, K = {K}")
        if self.utilities is not None:
            try:
                mu = np.array(self.utilities, dtype=np.float64)
            except (TypeError, ValueError, OverflowError):
                raise BadInput(f"'utilities' must be {K} finite numbers, one per arm. Got {shortened(self.utilities)}.") from None
            if mu.shape != (K,) or not np.isfinite(mu).all():
                raise BadInput(f"'utilities' must be {K} finite numbers, one per arm. Got {mu.tolist()}.")
            put(self, "utilities", _frozen(mu))

    def __reduce__(self) -> tuple[Any, ...]:
        return Problem, (self.matrix, self.names, self.label, self.utilities, self.link)  # read-only on arrival too

    def __repr__(self) -> str:
        return f"Problem({self.label!r}, n_arms={self.n_arms})"

    @property
    def n_arms(self) -> int:
        """Number of arms K."""
        return len(self.matrix)

    @cached_property
    def winner(self) -> int | None:
        """The Condorcet winner, or None."""
        return theory.condorcet_winner(self.matrix)

    @cached_property
    def copeland_winners(self) -> tuple[int, ...]:
        """The arms that beat the most others."""
        return theory.copeland_winners(self.matrix)

    @cached_property
    def borda_winners(self) -> tuple[int, ...]:
        """The arms with the best chance against a random other arm."""
        return theory.borda_winners(self.matrix)

    @cached_property
    def gaps(self) -> Floats:
        """D_i = P[*, i] - 1/2. Refused when there is no Condorcet winner."""
        if self.winner is None:
            most = ", ".join(f"'{self.names[i]}'" for i in self.copeland_winners)
            raise BadInput(
                f"Gaps need a Condorcet winner, an arm that beats every other. '{self.label}' has none; "
                f"the Copeland winners are {most}."
            )
        return _frozen(theory.gaps(self.matrix, self.winner))

    @cached_property
    def gamma(self) -> float | None:
        """Smallest gamma of Property 1: finite, infinite, or None without a Condorcet winner."""
        return theory.gamma(self.matrix)

    @cached_property
    def hardness(self) -> float:
        """H = sum over i != * of 1/D_i^2. Refused when there is no Condorcet winner."""
        D = self.gaps
        return float(np.sum(D[D > 0] ** -2.0))

    @cached_property
    def total_order(self) -> bool:
        """No tie and no cycle."""
        return theory.is_total_order(self.matrix)

    @cached_property
    def strongly_transitive(self) -> bool:
        """Strong stochastic transitivity."""
        return theory.is_strongly_transitive(self.matrix)

    @cached_property
    def weakly_transitive(self) -> bool:
        """Weak stochastic transitivity."""
        return theory.is_weakly_transitive(self.matrix)

    def benchmark_gaps(self, kind: str) -> Floats:
        """Compute what playing each arm costs, by benchmark.

            condorcet  D_i = P[*, i] - 1/2
            copeland   (largest score - score_i) / (K - 1), score_i the number of arms i beats
            borda      largest B - B_i, B_i the mean of P[i, j] over the K - 1 others
            utility    largest mu - mu_i; twice D_i under the linear link

        Parameters
        ----------
        kind
            The benchmark, one of these four.

        Returns
        -------
        array
            A cost per arm; 0 for the best.

        Raises
        ------
        BadInput
            If the problem has no such benchmark: no Condorcet winner, no utilities.
        """
        choice("benchmark", kind, BENCHMARKS)
        if kind == "condorcet":
            return self.gaps
        if kind == "copeland":
            scores = theory.copeland_scores(self.matrix)
            return _frozen((scores.max() - scores) / max(1, self.n_arms - 1))
        if kind == "borda":
            B = theory.borda_scores(self.matrix)
            return _frozen(B.max() - B)
        if self.utilities is None:
            raise BadInput(f"'utility' gaps need a problem made from utilities. '{self.label}' has none.")
        return _frozen(self.utilities.max() - self.utilities)

    def bounds(self, horizon: int, *, slate_size: int = 2, alpha: float = 1.01) -> dict[str, theory.Bound]:
        """Compute the regret bounds of AAMAS 2020, by algorithm.

        Parameters
        ----------
        horizon
            The number of rounds T.
        slate_size, alpha
            MultiRUCB's.

        Returns
        -------
        dict
            A ``theory.Bound`` by the algorithm's name.
        """
        return {
            "doubler-bai": theory.theorem1(self.matrix, horizon),
            "multi-sbm-feedback": theory.theorem2(self.matrix, horizon),
            "multi-rucb": theory.theorem3(self.matrix, horizon, slate_size, alpha=alpha),
        }

    def to_json(self) -> dict[str, Any]:
        """Describe the problem for result files; the digest tells two matrices under one label apart."""
        gamma = self.gamma
        return {
            "label": self.label,
            "n_arms": self.n_arms,
            "names": list(self.names),
            "link": self.link,
            "utilities": None if self.utilities is None else self.utilities.tolist(),
            "winner": self.winner,
            "copeland_winners": list(self.copeland_winners),
            "gamma": "infinite" if gamma is not None and math.isinf(gamma) else gamma,
            "hardness": None if self.winner is None else self.hardness,
            "matrix_sha256": hashlib.sha256(self.matrix.astype("<f8").tobytes()).hexdigest(),
        }


def _checked_names(names: tuple[str, ...], n_arms: int) -> tuple[str, ...]:
    if len(names) != n_arms:
        raise BadInput(f"'names' must have one name per arm, {n_arms} in all. Got {len(names)}.")
    clean = tuple(str(name).strip() for name in names)
    seen: set[str] = set()
    for i, name in enumerate(clean):
        if not name:
            raise BadInput(f"The name of arm {i} must not be blank. Got {names[i]!r}.")
        if name in seen:
            raise BadInput(f"'names' must be different from each other. Got '{name}' twice.")
        seen.add(name)
    return clean


def from_matrix(values: ArrayLike, *, names: Iterable[str] | None = None, label: str | None = None) -> Problem:
    """Make a problem from a table of P[i, j] = Pr(i beats j).

    Parameters
    ----------
    values
        Rows of numbers, an array or a DataFrame, with P[i, j] + P[j, i] = 1 and a diagonal of 1/2.
    names
        The arms' names; by default a DataFrame's columns.
    label
        The problem's name in tables and figures.

    Returns
    -------
    Problem
        To simulate on, and to ask for its winner, gaps and bounds.

    Raises
    ------
    BadInput
        If it is no such table; the sentence names the entry.

    Examples
    --------
    >>> from_matrix([[0.5, 0.7], [0.3, 0.5]], names=["tea", "coffee"]).names
    ('tea', 'coffee')
    """
    if names is None and hasattr(values, "columns"):
        named = [str(name) for name in values.columns]
        rows = [str(name) for name in getattr(values, "index", ())]  # of pandas; polars has none
        if rows and rows != named and rows != [str(k) for k in range(len(rows))]:
            raise BadInput(f"The rows of a DataFrame must be named as its columns, in their order. Got {shortened(rows)}.")
        names = named if named != [str(k) for k in range(len(named))] else None  # numbers are what arms have anyway
    try:
        labels = () if names is None else tuple(names)
    except TypeError:
        raise BadInput(f"'names' must have one name per arm. Got {shortened(names)}.") from None
    if names is not None and not labels:
        raise BadInput("'names' must have one name per arm. Got none.")
    return Problem(np.asarray(preference_matrix(values, names=labels)), labels, "" if label is None else text("label", label))
