"""A linear programme to which constraints are added one by one: the dual simplex method repairs its solution each time.

Minimise the sum of price x over all variables x >= 0. Row r of the table reads: its variable = table[r, n] + sum over k of
table[r, k] x (variable free[k]). A row whose variable is SLACK is a constraint: it must not be negative.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.kernels.compiler.dispatch import kernel

SLACK = -1
TOLERANCE = 1e-9


class Programme(NamedTuple):
    """Room for n variables and r constraints, and for sorting 2 K of the variables by cost."""

    table: Floats  # f8[r, n + 1]
    price: Floats  # f8[n]
    basic: Ints  # i8[r]
    free: Ints  # i8[n]
    costs: Floats  # f8[2 K]
    order: Ints  # i8[2 K]


def room_for_programme(n_arms: int, n: int, r: int) -> Programme:
    costs, order = np.zeros(2 * n_arms), np.zeros(2 * n_arms, np.int64)
    return Programme(np.zeros((r, n + 1)), np.zeros(n), np.zeros(r, np.int64), np.zeros(n, np.int64), costs, order)


@kernel
def add_variable(programme: Programme, row: int, x: int) -> None:
    """Add x to the row, in terms of the free variables."""
    table = programme.table
    for k in range(programme.free.shape[0]):
        if programme.free[k] == x:
            table[row, k] += 1.0
            return
    for r in range(row):
        if programme.basic[r] == x:
            for k in range(table.shape[1]):
                table[row, k] += table[r, k]
            return


@kernel
def repair(programme: Programme, rows: int) -> int:
    """Pivot until no row is negative, then drop the constraints that do not bind. Returns the number of rows."""
    table, price = programme.table, programme.price
    n = price.shape[0]
    for _ in range(200 * (n + rows)):
        row = 0
        for r in range(rows):
            row = r if table[r, n] < table[row, n] else row
        if table[row, n] >= -TOLERANCE:
            break
        enter = -1
        for k in range(n):
            if table[row, k] > TOLERANCE and (enter < 0 or price[k] * table[row, enter] < price[enter] * table[row, k]):
                enter = k
        if enter < 0:
            break
        pivot(programme, rows, row, enter)
    kept = 0
    for r in range(rows):
        if programme.basic[r] != SLACK:
            programme.basic[kept] = programme.basic[r]
            for k in range(n + 1):
                table[kept, k] = table[r, k]
            kept += 1
    return kept


@kernel
def pivot(programme: Programme, rows: int, row: int, enter: int) -> None:
    """The row's variable and the free variable change places."""
    table, price = programme.table, programme.price
    n = price.shape[0]
    scale = 1.0 / table[row, enter]
    for k in range(n + 1):
        table[row, k] *= -scale
    table[row, enter] = scale
    for r in range(rows):
        factor = table[r, enter]
        if r != row and factor != 0.0:
            table[r, enter] = 0.0
            for k in range(n + 1):
                table[r, k] += factor * table[row, k]
    factor = price[enter]
    price[enter] = 0.0
    for k in range(n):
        price[k] += factor * table[row, k]
    swap = programme.basic[row]
    programme.basic[row] = programme.free[enter]
    programme.free[enter] = swap
