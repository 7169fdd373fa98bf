"""What an algorithm is: five functions of its Params and State, and a description.

Arms are 0 .. K-1; rounds count from 1. ``P[i, j]`` and ``W[i, j]`` always mean "i beats j".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.compiler.dispatch import Care, generic, is_ours
from multiduel.kernels.compiler.dispatch import implement as implement

FOREVER = 1 << 62  # more rounds than anyone plays


@generic
def init(params: Any, n_arms: int, rng: Stream) -> Any:
    """Make a fresh State with its arrays allocated. Plain Python, never compiled.

    >>> from multiduel.policies.uniform import Params
    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> init(Params(slate_size=2), 4, rng).W.shape
    (4, 4)
    """


@generic
def ask(params: Any, state: Any, rng: Stream, round: int, limit: int, slate: Ints) -> tuple[int, int]:
    """Write n distinct arms into ``slate`` and commit to them for ``rounds <= limit`` rounds, whatever their outcomes.

    Returns (n, rounds); rounds = 1 is always right. One arm means "nothing to compare: use it". A self-duel is a slate of
    one; where the paper feeds its fair coin back, the policy tosses it here.

    >>> from multiduel.policies.uniform import Params
    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> params, slate = Params(slate_size=2), np.zeros(2, np.int64)
    >>> ask(params, init(params, 4, rng), rng, 1, 100, slate)
    (2, 1)
    """


@generic
def tell(params: Any, state: Any, rng: Stream, round: int, slate: Ints, wins: Floats) -> None:
    """Learn: ``wins[a, b]`` is how often slate[a] beat slate[b] in the rounds committed to at ``round``.

    Tells may come late, out of order or never. Not called when nothing was compared. Round 0 means: never asked, but observed
    by others; it comes only to policies that observe.

    >>> from multiduel.policies.uniform import Params
    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> params, slate, wins = Params(slate_size=2), np.array([3, 1]), np.array([[0.0, 1.0], [0.0, 0.0]])
    >>> state = init(params, 4, rng)
    >>> tell(params, state, rng, 1, slate, wins)
    >>> float(state.W[3, 1])
    1.0
    """


@generic
def recommend(params: Any, state: Any) -> int:
    """Return the arm that the policy recommends now.

    >>> from multiduel.policies.uniform import Params
    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> params = Params(slate_size=2)
    >>> recommend(params, init(params, 4, rng))
    0
    """


@generic
def valid(params: Any, state: Any, n_arms: int, round: int) -> dict[str, Any]:
    """Tell for every field of the State whether its contents are allowed after ``round`` rounds. Plain Python, never compiled.

    A snapshot is input, and compiled code would follow it anywhere: no State for which all is true may lead to an index out of
    range or a loop without end. The entry of a State inside is a dict again. ``kernels/validity.py`` has the words.

    >>> from multiduel.policies.uniform import Params
    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> params = Params(slate_size=2)
    >>> valid(params, init(params, 4, rng), 4, 0)
    {'W': True, 'pool': SCRATCH}
    """


@generic(optional=True)
def seats(params: Any, state: Any, place: int) -> int:
    """Count the seats of slate[place] in the last ask: more than 1 only where a sampler may seat an arm twice.

    >>> from multiduel.policies.uniform import Params
    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> params = Params(slate_size=2)
    >>> seats(params, init(params, 4, rng), 0)
    1
    """
    return 1


@generic(optional=True)
def use_features(params: Any, state: Any, features: Floats) -> None:
    """Take fixed features after ``init``: row i describes arm i. Plain Python.

    >>> from multiduel.policies.uniform import Params
    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> params = Params(slate_size=2)
    >>> use_features(params, init(params, 4, rng), np.eye(4))  # most policies have no use for them
    """


@generic(optional=True)
def see(params: Any, state: Any, arms: Ints, rows: Floats) -> None:
    """Take the features of this round, which may differ in every round: ``rows[a]`` describes ``arms[a]``.

    Called with all arms before an ask, and with the arms of the slate before a tell: with the features that they had when asked,
    however late the tell comes. A policy that implements it has a field ``dimension`` in its Params, the length of a row; with
    0 it is never called, and ``init`` gives each arm a dimension of its own (one-hot rows).

    >>> from multiduel.policies.uniform import Params
    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> params = Params(slate_size=2)
    >>> see(params, init(params, 4, rng), np.arange(4), np.eye(4))  # most policies have no use for them
    """


def fix_features(params: Any, state: Any, features: Floats) -> None:
    """Give a fresh policy features that stay as they are. Plain Python."""
    use_features(params, state, features)
    see(params, state, np.arange(len(features)), features)


@generic(optional=True)
def extend(params: Any, state: Any) -> bool:
    """Take the later horizon of ``params`` after a run, if the run would have been the same with it; return whether it was taken.
    Plain Python."""
    return False


@generic
def compare(world: Any, key: np.uint64, round: int, rounds: int, slate: Ints, wins: Floats) -> None:
    """The other side of the table: write into ``wins`` how often slate[a] beat slate[b] in ``rounds`` rounds from ``round``.

    ``world`` is a NamedTuple of arrays. All randomness is a function of (key, round), so that what happens in a round
    does not depend on how the rounds before it were played.
    """


@generic(optional=True)
def meet(world: Any, key: np.uint64, round: int, gaps: Floats, params: Any, state: Any) -> None:
    """A round begins. A world whose rounds differ writes into ``gaps`` what each arm costs in this round, and shows the arms'
    features to the policy: ``see(params, state, ...)``. Other worlds do nothing.

    Like coins, the features are a function of (key, round).
    """


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A parameter's meaning and limits, for error sentences and ``multiduel policies NAME``.

    >>> Parameter(meaning="width of the bounds", above=0.5).above
    0.5
    """

    meaning: str
    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    below: float | None = None
    choices: dict[str, float] = field(default_factory=dict)  # words at the boundary, numbers in the kernel
    machines: str = ""  # the kind of machine that plugs in here: "bandit" or "identifier"


@dataclass(frozen=True, kw_only=True)
class PolicySpec:
    """Describe a policy, for the registry, the command line, the documents and the checks.

    >>> from multiduel.policies.uniform import SPEC
    >>> SPEC.name, SPEC.slate, SPEC.observes
    ('uniform', 'any', True)
    """

    name: str  # kebab-case id
    title: str  # as in the paper
    params: type[Any]
    cite: str  # key into multiduel.policies.CITATIONS; or a citation in words; or a BibTeX entry
    slate: str  # "two" or "any": how many arms it can compare at once
    assumes: str
    regret: str  # order of its regret bound, or "none proved"
    use: str  # when to use it, in plain words
    anytime: bool = True  # False: needs the horizon as a parameter
    commits: str = "exact"  # committing ahead agrees with stepping "exact"-ly or in "distribution"
    features: bool = False  # takes features of the arms: it implements use_features, or see if they may change
    blocks: bool = False  # commits to slates of two or more arms for many rounds (worlds then draw binomials)
    plain: bool = False  # played as it is, without the compiler: slow, and lists, dicts and new arrays are fine
    trusted: bool = False  # of a policy that is not multiduel's: compiled without checks of indices and slates
    blind: str = ""  # why it cannot learn from comparisons that it did not ask for; "" if it can
    parameters: dict[str, Parameter] = field(default_factory=dict)
    exceptions: dict[str, str] = field(default_factory=dict)  # conformance check -> why it does not hold

    @property
    def care(self) -> Care:
        """How its code is compiled."""
        return Care(self.plain, self.trusted)

    @property
    def watched(self) -> bool:
        """Whether its slates are checked before they are used; those of multiduel's own policies are not."""
        return not (self.trusted or is_ours(self.params.__module__))

    @property
    def contextual(self) -> bool:
        """Whether the features of its arms may change from round to round; it then implements ``see``."""
        return self.params in see.table

    @property
    def observes(self) -> bool:
        """Whether it takes observed comparisons: its choices are a function of all wins so far, in any order."""
        return not self.blind


@dataclass(frozen=True, kw_only=True)
class MachineSpec:
    """Describe a machine that plugs into reductions.

    >>> from multiduel.machines.ucb import SPEC
    >>> SPEC.name, SPEC.kind
    ('ucb', 'bandit')
    """

    name: str
    title: str
    params: type[Any]
    cite: str
    kind: str  # "bandit" or "identifier"
    parameters: dict[str, Parameter] = field(default_factory=dict)
