"""The click world as the play loop sees it. Beside world.py, so that what is compiled hangs on few files."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.contract import compare
from multiduel.kernels.random import below, place, reseed
from multiduel.rankers.clicks import go_down
from multiduel.rankers.multileaving.contract import Flags, Lists, Positions, judge, lay_out


class ClickWorld(NamedTuple):
    """One user at a time comes with a random query, sees one list made of the slate's rankings, and clicks.

    >>> import multiduel.rankers as rankers
    >>> lineup = rankers.line_up(rankers.generate(queries=3, documents=5, features=2))
    >>> world = rankers.click_problem(lineup).world(np.arange(2), seats=2)
    >>> world.labels.tolist()
    [0, 1]
    """

    drop_from: int  # slates of so many, and larger ones, are told nothing of pairs that the clicks do not tell apart
    method: Any  # how the list is made and the clicks are read, see rankers.multileaving
    labels: Ints  # i8[K]         the ranker of each arm
    offset: Ints  # i8[Q + 1]     as in Lineup, and so are the next three
    grade: Ints  # i8[N]
    order: Positions  # i2[K, N]
    rank: Positions  # i2[K, N]
    returned: Positions  # i2[K, Q]
    click: Floats  # f8[depth, grades]
    stop: Floats  # f8[depth, grades]
    rng: Stream  # scratch from here on
    rows: Ints  # i8[n]
    own: Ints  # i8[n]
    taken: Flags  # u1[longest]
    shown: Ints  # i8[depth]
    clicked: Floats  # f8[depth]
    evidence: Floats  # f8[depth, n + 1]
    page: Floats  # f8[n, n]


@compare.implement(ClickWorld)
def search(world: ClickWorld, key: np.uint64, round: int, rounds: int, slate: Ints, wins: Floats) -> None:
    rng = world.rng
    n = slate.shape[0]
    for a in range(n):
        world.rows[a] = world.labels[slate[a]]
        for b in range(n):
            wins[a, b] = 0.0
    for t in range(round, round + rounds):
        reseed(place(key, t), 0, rng)
        query = below(world.offset.shape[0] - 1, rng)
        lo, hi = world.offset[query], world.offset[query + 1]
        for a in range(n):
            world.own[a] = world.returned[world.rows[a], query]
        lists = Lists(world.order[:, lo:hi], world.rank[:, lo:hi], world.rows[:n], world.own[:n], world.taken)
        length = lay_out(world.method, rng, lists, world.shown, world.evidence)
        go_down(rng, world.click, world.stop, world.grade[lo:hi], world.shown, length, world.clicked)
        page = world.page[:n, :n]
        for a in range(n):
            for b in range(n):
                page[a, b] = 0.0
        judge(world.method, world.evidence, world.clicked, length, n, page)
        for a in range(n):
            for b in range(n):
                if n < world.drop_from or page[a, b] != page[b, a]:
                    wins[a, b] += page[a, b]
