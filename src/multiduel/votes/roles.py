"""What the columns of a table of votes mean: by the reader's word, or by the names that people commonly give them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from multiduel.inputs import BadInput, did_you_mean, shortened
from multiduel.votes.tables import Table

# The two sides of a battle, the likelier names first: where a table has several, these were the options and the others not.
SIDES = (
    *(("model_a", "model_b"), ("left", "right"), ("model_1", "model_2"), ("generator_1", "generator_2")),
    *(("option_a", "option_b"), ("option_1", "option_2"), ("player_a", "player_b"), ("player_1", "player_2")),
    *(("system_a", "system_b"), ("system_1", "system_2"), ("item_a", "item_b"), ("item_1", "item_2")),
    *(("candidate_a", "candidate_b"), ("team_a", "team_b"), ("player1", "player2"), ("item1", "item2"), ("model1", "model2")),
    *(("first", "second"), ("i", "j"), ("a", "b"), ("x", "y"), ("xs", "ys"), ("model_x", "model_y")),
)
IN_ORDER = ("model_a", "left", "first", "option_1")  # the first of these two was shown first, or on the left
NAMES: dict[str, tuple[str, ...]] = {
    "winner": (
        *("winner", "preference", "preferred", "outcome", "result", "label", "vote", "choice", "verdict", "judgment"),
        *("judgement", "answer", "better", "score"),
    ),
    "loser": ("loser", "rejected"),
    "rater": (
        *("rater", "judge", "judge_hash", "worker", "worker_id", "annotator", "annotator_id", "rater_id", "judge_id"),
        *("user", "user_id", "voter", "voter_id"),
    ),
    "case": (
        *("case", "prompt_id", "question_id", "query_id", "case_id", "prompt", "question", "query", "instruction", "context"),
        *("task", "task_id"),
    ),
    "time": ("time", "tstamp", "timestamp", "created_at", "date", "datetime"),
    "count": ("count", "counts", "frequency", "freq", "multiplicity", "n", "times"),
    "wins": ("wins", "wins_1", "wins_a", "win_a", "wins_i", "wins_x", "won", "a_wins", "wins_left"),
    "losses": ("losses", "wins_2", "wins_b", "win_b", "wins_j", "wins_y", "lost", "b_wins", "wins_right"),
    "ties": ("ties", "draws", "tie", "draw", "ties_12"),
    "ranking": ("ranking", "rank", "order", "ballot", "preferences"),
    "best": ("best",),
    "worst": ("worst",),
    "shown": ("shown", "options", "slate"),
}
ROLES = ("first", "second", *NAMES)


def plain(name: str) -> str:
    """A column's name without case, spaces and signs.

    >>> plain(" Model A"), plain("model-a"), plain("Question ID")
    ('model_a', 'model_a', 'question_id')
    """
    return re.sub(r"[^0-9a-z]+", "_", name.strip().lower()).strip("_")


def find_roles(table: Table, given: Mapping[str, str | None] | None) -> dict[str, str]:
    """The column of each role that the table has: as given, otherwise by common names."""
    chosen = _given(table, {} if given is None else given)
    known: dict[str, str] = {}
    for name in table.names:
        known.setdefault(plain(name), name)
    taken = set(chosen.values())
    roles = {role: column for role, column in chosen.items() if column is not None}
    if "first" not in chosen and "second" not in chosen:
        for first, second in SIDES:
            if first in known and second in known and not {known[first], known[second]} & taken:
                roles |= {"first": known[first], "second": known[second]}
                break
    taken |= set(roles.values())
    for role, names in NAMES.items():
        if role not in chosen:
            column = next((known[name] for name in names if name in known and known[name] not in taken), None)
            if column is not None:
                roles[role] = column
                taken.add(column)
    return roles


def _given(table: Table, given: Mapping[str, str | None]) -> dict[str, str | None]:
    if not isinstance(given, Mapping):
        raise BadInput(f"'columns' must be a table such as {{'winner': 'preferred'}}. Got {shortened(given)}.")
    for role, column in given.items():
        if role not in ROLES:
            raise BadInput(f"'columns' has no '{role}'.{did_you_mean(str(role), ROLES)} It has: {', '.join(ROLES)}.")
        if column is not None and column not in table.names:
            hint = did_you_mean(str(column), table.names)
            raise BadInput(f"{table.where()}: there is no column {shortened(column)}.{hint} There are: {some(table.names)}.")
    return dict(given)


def some(names: Iterable[Any], most: int = 12) -> str:
    """Names in a sentence, some of them if there are many."""
    named = [shortened(name) for name in names]
    return ", ".join(named[:most]) + (f" and {len(named) - most} more" if len(named) > most else "") if named else "none"
