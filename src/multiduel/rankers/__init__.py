"""From search logs and learning-to-rank data to duels: rankers are arms, clicks on a multileaved list say who won.

>>> from multiduel import rankers, simulate
>>> lineup = rankers.line_up(rankers.generate(queries=20, documents=10, features=3))  # or read_letor("MQ2008.txt")
>>> clicks = rankers.click_problem(lineup, clicks="informational", method="team-draft")
>>> matrix = rankers.estimate_matrix(clicks, comparisons=2000)
>>> matrix.problem.names[matrix.problem.winner]
'f1'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# Loaded on first use, so that `multiduel --help` needs no Numba.
_HOMES = {
    "analysis": ("Analysis", "analyse"),
    "assignment": ("page_seed", "pseudonym", "takes_part"),
    "clicks": ("ClickModel", "click_model", "click_table"),
    "corpus": ("Query", "generate", "write_letor"),
    "impression": ("Impression", "credit", "more", "multileave", "position_weights"),
    "judgements": ("Judgements", "read_judgements"),
    "letor": ("read_letor",),
    "trec": ("judged_queries", "read_qrels", "read_run"),
    "log": ("Log",),
    "replay": ("Replay",),
    "exchange": ("export_parquet", "import_table"),
    "ubi": ("Imported", "import_ubi"),
    "lineup": ("Lineup", "Ranker", "feature", "line_up", "run_file"),
    "matrix": ("Estimate", "estimate_matrix"),
    "multileaving": ("METHODS", "TIES"),
    "log_segments": ("Guard", "guardrail", "segments"),
    "shared_policy": ("SharedPolicy",),
    "submatrix": ("take", "total_order"),
    "click_world": ("ClickWorld",),
    "world": ("ClickProblem", "click_problem"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [*sorted(_HOME)]

if TYPE_CHECKING:
    from multiduel.rankers.analysis import Analysis as Analysis
    from multiduel.rankers.analysis import analyse as analyse
    from multiduel.rankers.assignment import page_seed as page_seed
    from multiduel.rankers.assignment import pseudonym as pseudonym
    from multiduel.rankers.assignment import takes_part as takes_part
    from multiduel.rankers.click_world import ClickWorld as ClickWorld
    from multiduel.rankers.clicks import ClickModel as ClickModel
    from multiduel.rankers.clicks import click_model as click_model
    from multiduel.rankers.clicks import click_table as click_table
    from multiduel.rankers.corpus import Query as Query
    from multiduel.rankers.corpus import generate as generate
    from multiduel.rankers.corpus import write_letor as write_letor
    from multiduel.rankers.exchange import export_parquet as export_parquet
    from multiduel.rankers.exchange import import_table as import_table
    from multiduel.rankers.impression import Impression as Impression
    from multiduel.rankers.impression import credit as credit
    from multiduel.rankers.impression import more as more
    from multiduel.rankers.impression import multileave as multileave
    from multiduel.rankers.impression import position_weights as position_weights
    from multiduel.rankers.judgements import Judgements as Judgements
    from multiduel.rankers.judgements import read_judgements as read_judgements
    from multiduel.rankers.letor import read_letor as read_letor
    from multiduel.rankers.lineup import Lineup as Lineup
    from multiduel.rankers.lineup import Ranker as Ranker
    from multiduel.rankers.lineup import feature as feature
    from multiduel.rankers.lineup import line_up as line_up
    from multiduel.rankers.lineup import run_file as run_file
    from multiduel.rankers.log import Log as Log
    from multiduel.rankers.log_segments import Guard as Guard
    from multiduel.rankers.log_segments import guardrail as guardrail
    from multiduel.rankers.log_segments import segments as segments
    from multiduel.rankers.matrix import Estimate as Estimate
    from multiduel.rankers.matrix import estimate_matrix as estimate_matrix
    from multiduel.rankers.multileaving import METHODS as METHODS
    from multiduel.rankers.multileaving import TIES as TIES
    from multiduel.rankers.replay import Replay as Replay
    from multiduel.rankers.shared_policy import SharedPolicy as SharedPolicy
    from multiduel.rankers.submatrix import take as take
    from multiduel.rankers.submatrix import total_order as total_order
    from multiduel.rankers.trec import judged_queries as judged_queries
    from multiduel.rankers.trec import read_qrels as read_qrels
    from multiduel.rankers.trec import read_run as read_run
    from multiduel.rankers.ubi import Imported as Imported
    from multiduel.rankers.ubi import import_ubi as import_ubi
    from multiduel.rankers.world import ClickProblem as ClickProblem
    from multiduel.rankers.world import click_problem as click_problem


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'multiduel.rankers' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"multiduel.rankers.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
