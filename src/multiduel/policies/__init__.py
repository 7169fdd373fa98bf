"""One algorithm, one file. ``ALL`` is the explicit list that drives registry, CLI, docs and checks."""

from __future__ import annotations

from multiduel.kernels.contract import PolicySpec
from multiduel.policies import doubler_bai, multi_rucb, multi_sbm, multi_sbm_feedback, uniform
from multiduel.policies.citations import CITATIONS

ALL: tuple[PolicySpec, ...] = (
    multi_rucb.SPEC,
    multi_sbm_feedback.SPEC,
    doubler_bai.SPEC,
    multi_sbm.SPEC,
    uniform.SPEC,
)

__all__ = ["ALL", "CITATIONS"]
