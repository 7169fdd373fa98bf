"""The page of a judge's arena: warnings first, then the verdict, the standings, and what the judge is worth."""

from __future__ import annotations

import math

from multiduel.arena.judges.budgets import Price
from multiduel.arena.judges.shortlists import judge_standings
from multiduel.arena.judges.worth import JudgeWorth, Worth
from multiduel.arena.service.board import Board
from multiduel.arena.service.service import Service
from multiduel.display.documents import Block, Callout, Fold, Heading, Text, page
from multiduel.display.standings_tables import rank, share, signed, span
from multiduel.display.tables import Table

MOST_SHOWN = 300  # characters of an answer that could not be read
CAVEATS = (
    "The verdict is about this judge: what it prefers need not be what people prefer. Agreement with people can only be stated "
    "for what people judged too.",
    "It speaks of questions like these only as far as these questions are a sample of those that matter.",
    "Effects of style are observed: longer answers may also be better ones. The order is drawn at random, so an effect of "
    "position is caused by the order.",
    "A model that judges may follow instructions hidden in what it judges. Contents are marked as data in the prompt, which "
    "makes this harder and not impossible.",
)


def judge_page(service: Service, arena: str, worth: Worth, price: Price | None = None) -> str:
    """Write the page as one HTML file.

    Parameters
    ----------
    service, arena
        The arena.
    worth
        What its judges are worth.
    price
        For the cost in money.

    Returns
    -------
    str
        HTML that loads nothing from elsewhere.
    """
    board = service.board(arena)
    blocks: list[Block] = [Heading(board.name, 1)]
    blocks += [Callout(text, False) for text in worth.warnings]
    blocks.append(Callout(board.sentence, board.settled))
    blocks += [
        Text(text)
        for text in (board.exactly, board.about, "" if board.settled else f"More votes needed: {board.forecast}.")
        if text
    ]
    blocks += [Text(f"What {line.kind} find: {line.sentence}") for line in board.kinds]
    blocks += [Heading("Standings"), _standings(service, arena, board)]
    for one in worth.judges:
        blocks += _judge(one, price, several=len(worth.judges) > 1)
    if worth.jury is not None:
        blocks.append(Text(str(worth.jury)))
    blocks += [Heading("What may not be concluded"), *(Text(text) for text in CAVEATS)]
    return page(blocks, board.name)


def _standings(service: Service, arena: str, board: Board) -> Table:
    rows = []
    for line in judge_standings(service, arena).lines:
        ends = span(math.nan if line.too_early else line.low, line.high)
        cells = [rank(line.rank_from, line.rank_to), signed(line.strength), ends, share(line.won)]
        rows.append([line.name, *cells, f"{line.comparisons:,.0f}"])
    sure = f"{100 * (1 - board.alpha):.4g} %"
    return Table(("option", "rank", "strength", f"interval ({sure})", "won", "comparisons"), rows, (2, 3, 4, 5))


def _judge(one: JudgeWorth, price: Price | None, *, several: bool) -> list[Block]:
    rows = [list(row) for row in one.rows(price, several=several)]
    blocks: list[Block] = [Heading(f"What judge '{one.judge}' is worth"), Table(("what", "found"), rows)]
    if one.skip_texts:
        texts = [Text(f"`{text[:MOST_SHOWN] or '(nothing)'}`") for text in one.skip_texts]
        blocks.append(Fold("Answers that were skipped", texts))
    return blocks
