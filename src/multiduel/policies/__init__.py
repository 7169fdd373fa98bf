"""An algorithm or a family, each under its name. ``ALL`` is the explicit list that drives registry, CLI, docs and checks.

>>> import multiduel as md
>>> md.policies.ALL[0].name
'multi-rucb'
"""

from __future__ import annotations

from multiduel.kernels.contract import PolicySpec
from multiduel.policies import (
    beat_the_mean,
    borda,
    ccb,
    challengers,
    doubler,
    doubler_bai,
    ind_self_sparring,
    interleaved_filter,
    kernel_self_sparring,
    mdb,
    merge_rucb,
    multi_rucb,
    multi_sbm,
    multi_sparring,
    rucb,
    savage,
    scb,
    sparring,
    uniform,
    versatile_db,
    winner_stays,
)
from multiduel.policies.citations import CITATIONS
from multiduel.policies.double_thompson import dts, merge_dts
from multiduel.policies.due_duel import due_duel
from multiduel.policies.linear_duels import colstim, linear_self_sparring, max_in_p, max_pair_ucb
from multiduel.policies.rmed import cw_rmed, rmed
from multiduel.policies.tournament import knockout, seebs

ALL: tuple[PolicySpec, ...] = (
    multi_rucb.SPEC,
    due_duel.SPEC,
    multi_sbm.MULTI_SBM_FEEDBACK_SPEC,
    doubler_bai.SPEC,
    multi_sbm.MULTI_SBM_SPEC,
    rucb.SPEC,
    ind_self_sparring.SPEC,
    mdb.SPEC,
    multi_sparring.SPEC,
    kernel_self_sparring.SPEC,
    doubler.SPEC,
    sparring.SPEC,
    rmed.RMED1_SPEC,
    dts.DTS_SPEC,
    dts.DTS_PLUS_SPEC,
    rmed.RMED2_SPEC,
    rmed.RMED2FH_SPEC,
    interleaved_filter.IF1_SPEC,
    interleaved_filter.IF2_SPEC,
    savage.SPEC,
    versatile_db.SPEC,
    merge_rucb.SPEC,
    winner_stays.WSW_SPEC,
    winner_stays.WSS_SPEC,
    beat_the_mean.BTM_SPEC,
    beat_the_mean.PAC_SPEC,
    merge_dts.SPEC,
    scb.SPEC,
    cw_rmed.ECW_RMED_SPEC,
    knockout.SPEC,
    seebs.SPEC,
    borda.SPEC,
    ccb.SPEC,
    cw_rmed.CW_RMED_SPEC,
    colstim.SPEC,
    max_pair_ucb.MAX_PAIR_UCB_SPEC,
    linear_self_sparring.SPEC,
    max_in_p.SPEC,
    max_pair_ucb.RCDB_SPEC,
    challengers.SPEC,
    uniform.SPEC,
)

__all__ = ["ALL", "CITATIONS"]
