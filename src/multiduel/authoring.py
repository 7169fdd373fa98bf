"""All that the author of a policy imports, in one place. A skeleton is in CONTRIBUTING.md, the contract in docs/kernels.md.

    from multiduel.authoring import Parameter, PolicySpec, implement, uniform, validity

=============  ==================================================================================================
description    ``PolicySpec``, ``Parameter``, ``MachineSpec``
to implement   ``@implement(Params)`` on functions named ``init``, ``ask``, ``tell``, ``recommend``, ``valid``; if need be
               ``seats``, ``use_features``; ``see`` for features that change from round to round
helpers        ``kernel`` marks a function of your own that ``ask`` and ``tell`` call
draws          ``uniform``, ``below``, ``normal``, ``gamma``, ``beta``, ``binomial`` from the stream ``rng``
choices        ``argmax``, ``argmin``, ``largest`` (ties at random), ``draw_distinct``, ``random_order``, ``seat``,
               ``share_won``, ``most_winning``
bounds         ``kl``, ``kl_upper``, ``kl_lower``; ``quiet_rounds``, ``quiet_through`` for commitments
snapshots      ``validity``: checks for ``valid``
types          ``Floats``, ``Ints``, ``Stream``; ``FOREVER``, a number of rounds that no run reaches
machines       ``allocate``, ``reset``, ``advance``, ``feedback``, ``answer`` and what is optional, for plug-ins of reductions
=============  ==================================================================================================

>>> from multiduel import authoring
>>> sorted(name for name in authoring.__all__ if name.startswith("arg"))
['argmax', 'argmin']
"""

from __future__ import annotations

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels import validity
from multiduel.kernels.choice import argmax, argmin, draw_distinct, largest, most_winning, random_order, seat, share_won
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.confidence import kl, kl_lower, kl_upper
from multiduel.kernels.contract import (
    FOREVER,
    MachineSpec,
    Parameter,
    PolicySpec,
    ask,
    implement,
    init,
    recommend,
    seats,
    see,
    tell,
    use_features,
    valid,
)
from multiduel.kernels.quiet import quiet_rounds, quiet_through
from multiduel.kernels.random import below, beta, binomial, gamma, normal, uniform
from multiduel.machines.contract import (
    additional_feedback,
    advance,
    allocate,
    answer,
    feedback,
    hold,
    renew,
    reset,
    stopped,
)

__all__ = [
    "FOREVER", "Floats", "Ints", "MachineSpec", "Parameter", "PolicySpec", "Stream", "additional_feedback", "advance",
    "allocate", "answer", "argmax", "argmin", "ask", "below", "beta", "binomial", "draw_distinct", "feedback", "gamma",
    "hold", "implement", "init", "kernel", "kl", "kl_lower", "kl_upper", "largest", "most_winning", "normal", "quiet_rounds",
    "quiet_through", "random_order", "recommend", "renew", "reset", "seat", "seats", "see", "share_won", "stopped", "tell",
    "uniform", "use_features", "valid", "validity",
]  # fmt: skip
