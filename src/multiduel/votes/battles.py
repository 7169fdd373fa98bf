"""Battles: a row names two options and which of them won, or the winner and the loser."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.inference.votes import Votes
from multiduel.inputs import BadInput, choice, shortened
from multiduel.votes.assembling import Reading, columns_said, counted, not_zero, option_numbers, reading, units
from multiduel.votes.roles import IN_ORDER, plain, some
from multiduel.votes.tables import Column, Table, number_of

OUTCOMES = {"first": 1.0, "second": -1.0, "tie": 0.0, "none": np.nan}
FIRST = ("first", "model_a", "a", "left", "1", "x", "model_1", "option_1", "player_1", "output_1", "generator_1", "win", "won")
SECOND = (
    "second",
    "model_b",
    "b",
    "right",
    "2",
    "y",
    "model_2",
    "option_2",
    "player_2",
    "output_2",
    "generator_2",
    "loss",
    "lost",
)
TIES = ("tie", "ties", "draw", "equal", "same", "both", "even", "level", "tie_bothbad", "bothbad", "both_bad", "neither", "1_5")
SCORES = ("score", "outcome", "result")  # columns in which 1 is a win of the first, 0 a loss, 0.5 a draw
ONE_HOT = (("winner_model_a", "winner_model_b", "winner_tie"), ("win_a", "win_b", "tie"), ("winner_a", "winner_b", "winner_tie"))


def read_battles(
    table: Table, roles: Mapping[str, str], outcomes: Mapping[str, str] | str | None, ordered: bool | None
) -> Reading:
    """Votes of a table with two options and a winner in each row."""
    kept = {role: roles[role] for role in ("first", "second", "winner", "rater", "case", "time", "count") if role in roles}
    columns = table.read(dict.fromkeys(kept.values()))
    first, second = columns[roles["first"]], columns[roles["second"]]
    options, (one, two) = option_numbers(table, (first, second), (roles["first"], roles["second"]))
    _refuse_same(table, options, one, two)
    result, how = _outcome(table, roles, columns[roles["winner"]], options, one, two, outcomes)
    return _votes(table, kept, columns, options, (one, two, result), ordered, how)


def one_hot(table: Table) -> tuple[str, str, str] | None:
    """The columns that say with 1 who won, if the table has them."""
    known = {plain(name): name for name in table.names}
    for names in ONE_HOT:
        if all(name in known for name in names):
            a, b, tie = (known[name] for name in names)
            return a, b, tie
    return None


def read_one_hot(table: Table, roles: Mapping[str, str], marks: tuple[str, str, str], ordered: bool | None) -> Reading:
    """Votes of a table in which 1 stands in one of three columns: the first won, the second won, a tie."""
    kept = {role: roles[role] for role in ("first", "second", "rater", "case", "time", "count") if role in roles}
    kept = {role: column for role, column in kept.items() if column not in marks}
    columns = table.read(dict.fromkeys([*kept.values(), *marks]))
    options, (one, two) = option_numbers(
        table, [columns[kept[side]] for side in ("first", "second")], [kept["first"], kept["second"]]
    )
    _refuse_same(table, options, one, two)
    flags = np.zeros((3, len(one)))
    for k, name in enumerate(marks):
        truth = {"1": 1.0, "true": 1.0, "0": 0.0, "false": 0.0, "": 0.0}
        flags[k] = np.array([truth.get(value.lower(), np.nan) for value in columns[name].values])[columns[name].codes]
    total = flags.sum(axis=0)
    bad = ~((total == 1.0) | (total == 0.0))
    if bad.any():
        row = int(bad.argmax())
        got = some(columns[name].text(row) for name in marks)
        raise BadInput(f"{table.where(row)}: one of {some(marks)} must be 1, the others 0. Got {got}.")
    result = np.where(total == 0.0, np.nan, flags[0] - flags[1])
    return _votes(table, kept, columns, options, (one, two, result), ordered, f"winner in {some(marks)}")


def read_pairs(table: Table, roles: Mapping[str, str]) -> Reading:
    """Votes of a table with a winner and a loser in each row."""
    kept = {role: roles[role] for role in ("winner", "loser", "rater", "case", "time", "count") if role in roles}
    columns = table.read(dict.fromkeys(kept.values()))
    options, (one, two) = option_numbers(
        table, (columns[roles["winner"]], columns[roles["loser"]]), (roles["winner"], roles["loser"])
    )
    _refuse_same(table, options, one, two)
    rows = np.flatnonzero(np.ones(len(one), bool) & not_zero(table, columns, kept))
    more = units(table, columns, kept, rows)
    votes = Votes.of(options, first=one[rows], second=two[rows], outcome=np.ones(len(rows), np.int8), **more)
    return reading(votes, "pairs", columns_said(kept))


def _refuse_same(table: Table, options: list[str], one: Ints, two: Ints) -> None:
    same = one == two
    if same.any():
        row = int(same.argmax())
        raise BadInput(f"{table.where(row)}: must compare two different options. Got {shortened(options[one[row]])} twice.")


def _votes(
    table: Table,
    kept: Mapping[str, str],
    columns: Mapping[str, Column],
    options: list[str],
    pairs: tuple[Ints, Ints, Floats],
    ordered: bool | None,
    how: str,
) -> Reading:
    one, two, result = pairs
    said = ~np.isnan(result)
    said &= not_zero(table, columns, kept)
    whole = bool(said.all())
    more = units(table, columns, kept, None if whole else np.flatnonzero(said))
    in_order = plain(kept["first"]) in IN_ORDER if ordered is None else ordered
    if not whole:
        one, two, result = one[said], two[said], result[said]
    votes = Votes.of(options, first=one, second=two, outcome=result.astype(np.int8), ordered=in_order, **more)
    left = "" if whole else f"{counted(int((~said).sum()), 'row')} without an answer left out"
    return reading(votes, "battles", f"{columns_said(kept)} ({how})", [left])


def _outcome(
    table: Table,
    roles: Mapping[str, str],
    winner: Column,
    options: list[str],
    one: Ints,
    two: Ints,
    outcomes: Mapping[str, str] | str | None,
) -> tuple[Floats, str]:
    """1, -1, 0, and NaN where there is no answer; and how the winner was named."""
    names = np.full(len(winner.values), -9, np.int64)
    number = {option: k for k, option in enumerate(options)}
    for k, value in enumerate(winner.values):
        names[k] = number.get(value, -9)
    won = names[winner.codes] if len(winner.values) else names
    by_name = np.where(won == one, 1.0, np.where(won == two, -1.0, np.inf))
    ties = np.array([0.0 if plain(value) in TIES else np.nan if value == "" else np.inf for value in winner.values])
    by_name = np.where(np.isinf(by_name), ties[winner.codes] if len(ties) else ties, by_name)
    if isinstance(outcomes, Mapping):
        table_of = {value: OUTCOMES[choice("outcomes", meaning, OUTCOMES)] for value, meaning in outcomes.items()}
        sides = np.array([np.nan if value == "" else table_of.get(value, np.inf) for value in winner.values])
        found, how, expected = sides, "as given", some(table_of)
    elif outcomes is not None and choice("outcomes", outcomes, ("names",)):
        found, how, expected = None, "by name", "the name of one of the two options, or tie"
    else:
        found, how, expected = *_side_words(table, roles, winner.values, ties), "the name of one of the two options, or tie"
    if found is None:
        result = by_name
    else:
        by_side = found[winner.codes] if len(found) else found
        result = by_side
        if how != "as given":
            named, sided = not np.isinf(by_name).any(), not np.isinf(by_side).any()
            differ = (by_name != by_side) & ~(np.isnan(by_name) & np.isnan(by_side))
            if named and sided and differ.any() and (by_name != 0.0)[differ].any():
                row = int(differ.argmax())
                raise BadInput(
                    f"{table.where(row)}: the winner {shortened(winner.text(row))} is the name of an option and "
                    "of a side. Say which: outcomes='names' (--winner-is names), or outcomes={'A': 'first', 'B': 'second'}."
                )
            if named or not sided:
                result = np.where(np.isinf(by_name), by_side, by_name)
                how = "by name" if named else how
    bad = np.isinf(result)
    if bad.any():
        row = int(bad.argmax())
        pair = f"{shortened(options[one[row]])} against {shortened(options[two[row]])}"
        raise BadInput(
            f"{table.where(row)}: '{roles['winner']}' must be {expected}. Got {shortened(winner.text(row))} for {pair}."
        )
    return result, how


def _side_words(table: Table, roles: Mapping[str, str], values: list[str], ties: Floats) -> tuple[Floats, str]:
    """What each value of the winner's column says as the name of a side: 1, -1, 0; infinite where it says nothing."""
    firsts = {*FIRST, plain(roles["first"])}
    seconds = {*SECOND, plain(roles["second"])}
    found = ties.copy()
    for k, value in enumerate(values):
        word = plain(value)
        if value and word in firsts and word not in seconds:
            found[k] = 1.0
        elif value and word in seconds:
            found[k] = -1.0
    numbers = np.array([number_of(value) for value in values])
    given = {number for number in numbers.tolist() if not np.isnan(number)}
    if not given or not np.isfinite(numbers[[k for k, value in enumerate(values) if value and plain(value) not in TIES]]).all():
        return found, "by side"
    filled = ~np.isnan(numbers)
    if given <= {-1.0, 0.0, 1.0} and -1.0 in given:
        found[filled] = numbers[filled]
        return found, "1: first, -1: second, 0: tie"
    if given <= {0.0, 0.5, 1.0} and given & {0.0, 0.5}:
        if plain(roles["winner"]) not in SCORES:
            raise BadInput(
                f"{table.where()}: '{roles['winner']}' holds {some(sorted(given))}, which may mean the first option, the "
                "second, or a score. Say which: outcomes={'0': 'first', '1': 'second'} (--outcome 0=first --outcome 1=second)."
            )
        found[filled] = 2.0 * numbers[filled] - 1.0
        return found, "the first's score: 1, 0.5 or 0"
    if given <= {0.0, 1.0, 2.0}:
        found[filled] = np.array([0.0, 1.0, -1.0])[numbers[filled].astype(int)]
        return found, "1: first, 2: second"
    if all(1.0 <= number <= 2.0 for number in given):
        found[filled] = np.sign(1.5 - numbers[filled])
        return found, "1: first, 2: second, what lies between: the nearer one"
    return found, "by side"
