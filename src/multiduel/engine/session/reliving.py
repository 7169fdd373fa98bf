"""Let a policy live through a long past again: many asks and answers in one compiled call."""

from __future__ import annotations

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.engine.session.policy import Policy
from multiduel.engine.session.rounds import ANSWERED, ASKED, COMPARED, DIFFERS, MOST_WEIGHT, STEPS, Past
from multiduel.inputs import BadInput


class Journey:
    """A policy on its way through a past: it asks as often as it did then, and observes what was said. No slate stays open.

    Parameters
    ----------
    policy
        As it was before all that. Not a plug-in's: nobody looks at its slates on the way.
    sizes
        i8[steps]: how many arms came of an ask, -1 if the policy did not choose them; 0 for an answer.
    slates
        i8[asks, most]: the arms that came of each ask. Shorter rows end in -1.
    arms, wins
        i8[answers, n], f8[answers, n, n]: of which arms something was said, and what.

    Examples
    --------
    >>> from multiduel import make
    >>> said = np.array([[2, 1]]), np.array([[[0.0, 1.0], [0.0, 0.0]]])
    >>> journey = Journey(make("uniform", n_arms=3, seed=0), np.array([0, 3]), np.array([[0, 1, 2]]), *said)
    >>> journey.on(), journey.policy.round, journey.policy.tally.above[2, 1]
    (False, 1, np.float64(1.0))
    >>> journey.differs  # uniform shows two arms, not three
    1
    """

    def __init__(self, policy: Policy, sizes: Ints, slates: Ints, arms: Ints, wins: Floats) -> None:
        answers, n = arms.shape
        if policy.spec.watched or policy.spec.blind or policy._last_features is not None:
            raise BadInput(f"'{policy.spec.name}' goes through a past step by step only.")
        rows_fit = len(slates) == np.count_nonzero(sizes) == len(sizes) - answers and wins.shape == (answers, n, n)
        sizes_fit = sizes.max(initial=0) <= slates.shape[1]
        slates_fit = slates.size == 0 or -1 <= slates.min() <= slates.max() < policy.n_arms
        arms_fit = arms.size == 0 or 0 <= arms.min() <= arms.max() < policy.n_arms
        wins_fit = wins.size == 0 or 0.0 <= wins.min() <= wins.max() <= MOST_WEIGHT
        if not (rows_fit and sizes_fit and slates_fit and arms_fit and wins_fit):
            raise BadInput("A past has a row per ask and per answer, of arms that the policy has and weights that it takes.")
        places = np.full(policy.n_arms + 1, -1)  # the last is for what is no arm
        places[policy._label] = np.arange(policy.n_arms)
        self.policy, self._past = policy, Past(sizes, places[slates], places[arms], wins)
        self._duel = policy._duel if policy.spec.slate == "two" else None
        self._course = np.zeros(5, np.int64)

    @property
    def steps(self) -> int:
        """Steps so far."""
        return int(self._course[STEPS])

    @property
    def answers(self) -> int:
        """Answers among them."""
        return int(self._course[ANSWERED])

    @property
    def differs(self) -> int | None:
        """The first step, counted from 0, whose slate came out otherwise; those with one arm are not compared."""
        return int(self._course[DIFFERS]) - 1 if self._course[DIFFERS] else None

    def on(self, until: int | None = None) -> bool:
        """Go on up to a step, or the end, or an ask that gives one arm. Was there such an ask?"""
        policy, past = self.policy, self._past
        until = len(past.sizes) if until is None else min(until, len(past.sizes))
        with policy._lock:
            asked, compared = self._course[[ASKED, COMPARED]].tolist()
            own = policy.params, policy._state, policy._rng, policy._round - asked, policy._slate, self._duel
            alone: bool = policy._relive(*own, past, until, policy._tally, self._course)
            policy._round += int(self._course[ASKED]) - asked
            if policy._answers is not None:
                policy._answers += int(self._course[COMPARED]) - compared
        return alone
