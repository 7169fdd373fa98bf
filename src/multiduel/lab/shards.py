"""Shards: an experiment played by several commands at once, each its share of the blocks, into one folder."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from multiduel.inputs import BadInput, shortened
from multiduel.lab.parts import Block

MOST_SHARDS = 100_000


@dataclass(frozen=True)
class Shard:
    """One of ``count`` commands that share an experiment, numbered from 1."""

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def share(self, blocks: Iterable[Block]) -> list[Block]:
        """The blocks that this shard plays; those of a contender are dealt in turn, so that every shard gets some of each.

        >>> blocks = [Block(name, first, 5) for first in (0, 5) for name in ("slow", "quick")]
        >>> [(block.contender, block.first_run) for block in Shard(1, 2).share(blocks)]
        [('quick', 0), ('slow', 0)]
        """
        dealt = sorted(blocks, key=lambda block: (block.contender, block.first_run))
        return dealt[self.number - 1 :: self.count]


def parse_shard(text: str) -> Shard:
    """Read ``NUMBER/COUNT``.

    >>> parse_shard("3/16")
    Shard(number=3, count=16)
    """
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    if found is None:
        raise BadInput(f"'--shard' must be NUMBER/COUNT, such as 3/16. Got {shortened(text)}.")
    number, count = map(int, found.groups())
    if not 1 <= count <= MOST_SHARDS:
        raise BadInput(f"The count of '--shard' must be from 1 to {MOST_SHARDS:,}. Got {count:,}.")
    if not 1 <= number <= count:
        raise BadInput(f"The number of '--shard' must be from 1 to {count:,}. Got {number:,}.")
    return Shard(number, count)
