"""Plug-ins of the paper's reductions. Any bandit fits MultiSBM and its kin; any identifier fits DoublerBAI."""

from __future__ import annotations

from multiduel.kernels.contract import MachineSpec
from multiduel.machines import kl_ucb, lucb, thompson, ucb

ALL: tuple[MachineSpec, ...] = (ucb.SPEC, kl_ucb.SPEC, thompson.SPEC, lucb.LUCB_SPEC, lucb.KL_LUCB_SPEC)
