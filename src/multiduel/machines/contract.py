"""The functions of a machine, the plug-in of a reduction: the operations of the paper.

A *bandit* (singleton bandit machine, SBM) is advanced for ever; an *identifier* (best-arm-identification machine, BAIM) also
stops and returns an arm. Both hold ``rows`` independent copies of themselves in one State, because MultiSBM runs one per
left arm; a reduction that needs a single machine uses row 0.

Feedback comes as ``won`` and ``lost`` weights of the arm's duels: (1, 0) or (0, 1) for one duel, (1/2, 1/2) for a tie.
"""

from __future__ import annotations

from typing import Any

from multiduel.arrays import Ints, Stream
from multiduel.kernels.compiler.dispatch import generic
from multiduel.kernels.compiler.dispatch import implement as implement


@generic
def allocate(params: Any, rows: int, n_arms: int) -> Any:
    """Make a State for ``rows`` machines over ``n_arms`` arms, all as after Reset. Plain Python, never compiled.

    >>> from multiduel.authoring import allocate
    >>> from multiduel.machines.ucb import Params
    >>> len(allocate(Params(), 1, 3)) > 0
    True
    """


@generic
def reset(params: Any, state: Any, row: int, delta: float, rng: Stream) -> None:
    """Forget everything (Reset). Bandits ignore ``delta``.

    >>> import numpy as np
    >>> from multiduel.authoring import allocate, reset
    >>> from multiduel.machines.ucb import Params
    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> params, state = Params(), allocate(Params(), 1, 3)
    >>> reset(params, state, 0, 0.05, rng)
    """


@generic
def advance(params: Any, state: Any, row: int, round: int, rng: Stream) -> int:
    """Return the arm to play next (Advance). ``round`` is the reduction's own clock.

    >>> import numpy as np
    >>> from multiduel.authoring import advance, allocate
    >>> from multiduel.machines.ucb import Params
    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> params, state = Params(), allocate(Params(), 1, 3)
    >>> advance(params, state, 0, 1, rng) in range(3)
    True
    """


@generic(optional=True)
def advance_all(params: Any, state: Any, held: Ints, round: int, rng: Stream, arms: Ints) -> None:
    """Advance the rows that are not held, in order: write the arm of each into ``arms[row]``. Leave the others as they are."""
    for row in range(held.shape[0]):
        if held[row] == 0:
            arms[row] = advance(params, state, row, round, rng)


@generic
def feedback(params: Any, state: Any, row: int, arm: int, won: float, lost: float, rng: Stream) -> None:
    """Take an outcome for an arm that the machine advanced (Feedback).

    >>> import numpy as np
    >>> from multiduel.authoring import advance, allocate, feedback
    >>> from multiduel.machines.ucb import Params
    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> params, state = Params(), allocate(Params(), 1, 3)
    >>> feedback(params, state, 0, advance(params, state, 0, 1, rng), 1.0, 0.0, rng)
    """


@generic(optional=True)
def additional_feedback(params: Any, state: Any, row: int, arm: int, won: float, lost: float, rng: Stream) -> None:
    """Take an outcome for an arm that this machine did not advance (GetAdditionalFeedback). Its clock does not move.

    >>> import numpy as np
    >>> from multiduel.authoring import additional_feedback, allocate, answer
    >>> from multiduel.machines.ucb import Params
    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> params, state = Params(), allocate(Params(), 1, 3)
    >>> additional_feedback(params, state, 0, 2, 1.0, 0.0, rng)
    >>> answer(params, state, 0)
    2
    """
    feedback(params, state, row, arm, won, lost, rng)


@generic(optional=True)
def hold(params: Any, state: Any, row: int, arm: int, limit: int) -> int:
    """Stay with ``arm``, which Advance has just returned, and return for how many rounds: from 1 to ``limit``.

    No outcome of ``arm`` may change the choice in these rounds. They count as advanced.

    >>> import numpy as np
    >>> from multiduel.authoring import advance, allocate, hold
    >>> from multiduel.machines.ucb import Params
    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> params, state = Params(), allocate(Params(), 1, 3)
    >>> hold(params, state, 0, advance(params, state, 0, 1, rng), 1)
    1
    """
    return 1


@generic(optional=True)
def stopped(params: Any, state: Any, row: int) -> bool:
    """Tell whether the machine has stopped (StopTest). A bandit never stops.

    >>> import numpy as np
    >>> from multiduel.authoring import allocate, stopped
    >>> from multiduel.machines.ucb import Params
    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> params, state = Params(), allocate(Params(), 1, 3)
    >>> stopped(params, state, 0)
    False
    """
    return False


@generic
def answer(params: Any, state: Any, row: int) -> int:
    """Return the identified arm or, before that and for bandits, the arm that the machine would name now (Return).

    >>> import numpy as np
    >>> from multiduel.authoring import allocate, answer, feedback
    >>> from multiduel.machines.ucb import Params
    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> params, state = Params(), allocate(Params(), 1, 3)
    >>> feedback(params, state, 0, 1, 1.0, 0.0, rng)
    >>> answer(params, state, 0)
    1
    """


@generic(optional=True)
def renew(params: Any, state: Any, row: int, delta: float, rng: Stream) -> None:
    """Set a new confidence and keep the counts (DoublerBAI with ``reset = false``).

    >>> import numpy as np
    >>> from multiduel.authoring import allocate, renew
    >>> from multiduel.machines.lucb import LUCB
    >>> params, state = LUCB(), allocate(LUCB(), 1, 3)
    >>> renew(params, state, 0, 0.01, np.arange(1, 5, dtype=np.uint64))
    """
