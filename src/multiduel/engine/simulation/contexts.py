"""Problems whose rounds differ: options are described by features, and the best of a round is another each time."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.engine.simulation.rankings import ANSWERS as ANSWERS
from multiduel.engine.simulation.rankings import Rankings, answered_by
from multiduel.engine.simulation.worlds import CONTEXT, Contexts
from multiduel.inputs import MOST_SEED, BadInput, choice, finite, shortened, text, whole
from multiduel.kernels.random import chance, place
from multiduel.kernels.validity import MOST_ARMS
from multiduel.problems import Problem, parse

MOST_NUMBERS = 100_000_000  # in a table of features
MOST_DIMENSION = 1000
MOST_ROUNDS = 1 << 62  # whose answers are false
LINKS = ("logit", "linear")
LAWS = ("normal", "uniform")
BENCHMARKS = ("condorcet", "utility")
NAME = "contexts"  # what a command and an experiment's file call a random problem of this kind


@dataclass(frozen=True, eq=False, kw_only=True)
class ContextProblem:
    """A problem whose rounds differ, for ``simulate``: made by ``contexts``, ``context_arms`` or ``random_contexts``.

    In every round each arm is described by a row of features and has a utility; the arm of the largest utility in the round is
    the best of the round, against which regret is measured.

    Examples
    --------
    >>> problem = random_contexts(10, dimension=3)
    >>> problem.n_arms, problem.dimension
    (10, 3)
    """

    rows: Floats
    utilities: Floats
    n_arms: int
    grouped: bool
    link: str
    answers: str
    label: str
    lies: int = 0
    benchmark: str = "condorcet"

    @property
    def dimension(self) -> int:
        """Count the features of an arm."""
        return int(self.rows.shape[1])

    def benchmark_gaps(self, kind: str) -> Floats:
        """Return zeros, because the cost of an arm changes from round to round. Take "condorcet" and "utility" only.

        Parameters
        ----------
        kind
            "condorcet": the chance that the best arm of the round beats it, minus 1/2. "utility": the difference in utility.
        """
        if not (isinstance(kind, str) and kind in BENCHMARKS):
            raise BadInput(
                f"'benchmark' must be condorcet or utility where the arms of each round are others. Got {shortened(kind)}."
            )
        return np.zeros(self.n_arms)

    def measured_by(self, benchmark: str) -> ContextProblem:
        """Choose what regret is measured against.

        Parameters
        ----------
        benchmark
            As for ``benchmark_gaps``.
        """
        self.benchmark_gaps(benchmark)
        return dataclasses.replace(self, benchmark=benchmark)

    def corrupted(self, rounds: int) -> ContextProblem:
        """Reverse the answers of the first rounds: the winner of a pair is told as its loser.

        Parameters
        ----------
        rounds
            How many.
        """
        lies = whole("rounds", rounds, 0, MOST_ROUNDS, of="corrupted")
        return dataclasses.replace(self, lies=lies, label=f"{self.label}, {lies:,} false answers")

    def items_of(self, key: np.uint64, round: int) -> Ints:
        """Find which row of the table describes each arm in a round, to replay a run of ``simulate`` by hand.

        Parameters
        ----------
        key
            Of the run's world (``engine.simulation.seeds``).
        round
            From 1.
        """
        start, K = place(key, round), self.n_arms
        if self.grouped:
            return int(chance(start, CONTEXT) * (len(self.utilities) // K)) * K + np.arange(K)
        return np.array([int(chance(start, k) * len(self.utilities)) for k in range(K)])

    def world(self, labels: Ints, seats: int) -> Contexts:
        """Make the world that shows features and answers slates, for ``simulate``.

        Parameters
        ----------
        labels
            Our number of each arm of the policy.
        seats
            How many arms a slate may hold.
        """
        K = self.n_arms
        settings = self.grouped, self.link == "linear", self.answers == "rankings", self.benchmark == "condorcet", self.lies
        scratch = np.zeros((K, self.dimension)), np.zeros(K), np.zeros(seats)
        return Contexts(self.rows, self.utilities, *settings, np.array(labels, np.int64), np.arange(K), *scratch)

    def to_json(self) -> dict[str, Any]:
        """Describe the problem for result files. Its numbers and settings are there as a hash."""
        settings = repr((self.n_arms, self.grouped, self.link, self.answers, self.lies)).encode()
        numbers = self.rows.astype("<f8").tobytes() + self.utilities.astype("<f8").tobytes()
        return {
            "label": self.label,
            "n_arms": self.n_arms,
            "dimension": self.dimension,
            "link": self.link,
            "answers": self.answers,
            "false_answers": self.lies,
            "problem_sha256": hashlib.sha256(settings + numbers).hexdigest(),
        }


def _numbers(name: str, values: Any, ndim: int) -> Floats:
    try:
        table = np.array(values, np.float64, order="C")
    except (TypeError, ValueError, OverflowError):
        raise BadInput(f"'{name}' must be numbers. Got {shortened(values)}.") from None
    if table.ndim != ndim or 0 in table.shape:
        raise BadInput(f"'{name}' must have {ndim} dimensions, none of them empty. Got shape {table.shape}.")
    if table.size > MOST_NUMBERS:
        raise BadInput(f"'{name}' must hold at most {MOST_NUMBERS:,} numbers. Got {table.size:,}.")
    if not (np.abs(table) <= 1e6).all():
        raise BadInput(f"'{name}' must be numbers from -1,000,000 to 1,000,000.")
    return table


def _problem(
    rows: Floats, utilities: Any, theta: Any, n_arms: int, grouped: bool, link: str, answers: str, label: str
) -> ContextProblem:
    """Refuse what does not fit, and make the problem. ``rows`` is f8[.., d]; utilities have its shape but for d."""
    choice("link", link, LINKS)
    choice("answers", answers, ANSWERS)
    if answers == "rankings" and link != "logit":
        raise BadInput("'answers' can be rankings with the logit link only. Got the linear link.")
    if (theta is None) == (utilities is None):
        raise BadInput("Give either 'theta' (utilities are a row times theta) or 'utilities' (any), and not both.")
    if theta is not None:
        weights = _numbers("theta", theta, 1)
        if len(weights) != rows.shape[-1]:
            raise BadInput(f"'theta' must have {rows.shape[-1]} numbers, as many as a row. Got {len(weights)}.")
        values = rows @ weights
    else:
        values = _numbers("utilities", utilities, rows.ndim - 1)
        if values.shape != rows.shape[:-1]:
            raise BadInput(f"'utilities' must have shape {rows.shape[:-1]}, a number for each row. Got {values.shape}.")
    if rows.shape[-1] > MOST_DIMENSION:
        raise BadInput(f"A row must have at most {MOST_DIMENSION:,} features. Got {rows.shape[-1]:,}.")
    flat = np.ascontiguousarray(rows.reshape(-1, rows.shape[-1]))
    return ContextProblem(
        rows=flat,
        utilities=np.ascontiguousarray(values.reshape(-1)),
        n_arms=n_arms,
        grouped=grouped,
        link=link,
        answers=answers,
        label=text("label", label),
    )


def contexts(
    items: Any,
    *,
    n_arms: int,
    theta: Any = None,
    utilities: Any = None,
    link: str = "logit",
    answers: str = "coins",
    label: str | None = None,
) -> ContextProblem:
    """Make a problem that draws the arms of every round from a table of items, at random with replacement.

    Parameters
    ----------
    items
        A table, a row of features per item: any array, such as the ``data`` of a scikit-learn data set.
    n_arms
        How many items a round offers.
    theta, utilities
        What an item is worth: its row times ``theta``; or any number per item, which need not be linear in the features.
    link
        How utilities decide a duel: "logit", P = 1 / (1 + exp(u_j - u_i)); or "linear", P = 1/2 + (u_i - u_j) / 2, cut to
        [0, 1].
    answers
        "coins", one per pair; or "rankings" of the whole slate.
    label
        A name for tables and figures.

    Returns
    -------
    ContextProblem
        For ``simulate``.

    Examples
    --------
    >>> contexts([[0.0, 1.0], [1.0, 0.0], [0.5, 0.2]], n_arms=2, theta=[1.0, 2.0]).utilities.tolist()
    [2.0, 1.0, 0.9]
    """
    rows = _numbers("items", items, 2)
    K = whole("n_arms", n_arms, 1, MOST_ARMS, of="contexts")
    name = f"contexts of {len(rows):,} items, K = {K}, d = {rows.shape[1]}" if label is None else label
    return _problem(rows, utilities, theta, K, False, link, answers, name)


def context_arms(
    contexts: Any,
    arms: Any = None,
    *,
    n_arms: int | None = None,
    theta: Any = None,
    utilities: Any = None,
    link: str = "logit",
    answers: str = "coins",
    label: str | None = None,
) -> ContextProblem:
    """Make a problem that draws a context every round and judges the same arms in it, such as models that answer questions.

    The features of an arm in a context are all products of a number of the context and a number of the arm (their outer product).
    Without ``arms``, each arm has features of its own: those of the context in its own block, and 0 in the others'.

    Parameters
    ----------
    contexts
        A table, a row per context.
    arms
        A table, a row per arm.
    n_arms
        How many arms there are, if ``arms`` is not given.
    theta, utilities
        The features times ``theta``; or a table of any numbers, a row per context and a column per arm.
    link, answers, label
        As for ``contexts``.

    Returns
    -------
    ContextProblem
        For ``simulate``.

    Examples
    --------
    >>> problem = context_arms([[1.0, 0.2], [1.0, 0.9]], n_arms=3, utilities=[[0.1, 0.9, 0.5], [0.7, 0.2, 0.5]])
    >>> problem.n_arms, problem.dimension
    (3, 6)
    """
    situations = _numbers("contexts", contexts, 2)
    if (arms is None) == (n_arms is None):
        raise BadInput("Give either 'arms', a row of features per arm, or 'n_arms', and not both.")
    own = np.eye(whole("n_arms", n_arms, 1, MOST_ARMS, of="context_arms")) if arms is None else _numbers("arms", arms, 2)
    size = len(situations) * len(own) * situations.shape[1] * own.shape[1]
    if size > MOST_NUMBERS:
        raise BadInput(f"Contexts and arms must make a table of at most {MOST_NUMBERS:,} numbers. They make {size:,}.")
    rows = np.einsum("ni,kj->nkji", situations, own).reshape(len(situations), len(own), -1)
    name = f"{len(situations):,} contexts, K = {len(own)}, d = {rows.shape[2]}" if label is None else label
    return _problem(rows, utilities, theta, len(own), True, link, answers, name)


def random_contexts(
    n_arms: int = 10,
    *,
    dimension: int = 10,
    items: int = 10_000,
    scale: float = 3.0,
    law: str = "normal",
    seed: int = 0,
    link: str = "logit",
    answers: str = "coins",
) -> ContextProblem:
    """Make a random problem with linear utilities: theta has a random direction and length ``scale``.

    Parameters
    ----------
    n_arms
        How many items a round offers.
    dimension
        d, the features of an item.
    items
        How many items the table holds.
    scale
        |theta|: how much the features matter. With 3, utilities have a standard deviation of 3 / sqrt(d).
    law
        Of the rows: "normal", Normal(0, I / d); or "uniform", each number between -pi and pi, as in public code.
    seed
        Of the table and theta.
    link, answers
        As for ``contexts``.

    Returns
    -------
    ContextProblem
        For ``simulate``.

    Examples
    --------
    >>> random_contexts(5, dimension=4, items=100).rows.shape
    (100, 4)
    """
    d = whole("dimension", dimension, 1, MOST_DIMENSION, of="random_contexts")
    N = whole("items", items, 1, MOST_NUMBERS // d, of="random_contexts")
    if not 0.0 <= finite("scale", scale, of="random_contexts") <= 1000.0:
        raise BadInput(f"'scale' of 'random_contexts' must be from 0 to 1000. Got {scale}.")
    rng = np.random.default_rng(whole("seed", seed, 0, MOST_SEED, of="random_contexts"))
    uniform = choice("law", law, LAWS) == "uniform"
    rows = rng.uniform(-math.pi, math.pi, size=(N, d)) if uniform else rng.normal(size=(N, d)) / math.sqrt(d)
    theta = rng.normal(size=d)
    theta *= scale / np.sqrt(theta @ theta)
    K = whole("n_arms", n_arms, 1, MOST_ARMS, of="random_contexts")
    label = f"random contexts, K = {K}, d = {d}" + (", rankings" if choice("answers", answers, ANSWERS) == "rankings" else "")
    return _problem(rows, None, theta, K, False, link, answers, label)


def parse_problem(
    spec: str,
    *,
    n_arms: int | None = None,
    dimension: int | None = None,
    link: str | None = None,
    seed: int = 0,
    answers: str = "coins",
) -> Problem | Rankings | ContextProblem:
    """A problem from the text of a command line: ``contexts``, or what ``problems.parse`` takes, with its answers."""
    if spec == NAME:
        sizes = {"n_arms": n_arms, "dimension": dimension, "link": link}
        given: dict[str, Any] = {name: value for name, value in sizes.items() if value is not None}
        return random_contexts(**given, seed=seed, answers=answers)
    if dimension is not None:
        raise BadInput(f"'dimension' must not be given for '{spec}': it is for '{NAME}'. Got {dimension}.")
    return answered_by(parse(spec, n_arms=n_arms, link=link, seed=seed), answers)
