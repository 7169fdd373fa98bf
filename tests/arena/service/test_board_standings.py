"""The standings on the board: those of the votes that count, after undo, quarantine and snapshots; never against the sentence."""

from __future__ import annotations

import json

import numpy as np
import pytest

from multiduel.arena import Service
from multiduel.arena.domain.ballots import spoken
from multiduel.arena.domain.state import State
from multiduel.arena.service.snapshots import digest, load, save
from multiduel.inference import Votes, standings
from tests.arena.domain.test_fold import a_life
from tests.arena.play import Clock


def votes_of(state: State) -> Votes:
    """Read from tickets and ballots, one by one, without the tally."""
    counted = [ticket for ticket in state.tickets.values() if state.counts(ticket)]
    raters = sorted({ticket.rater or "" for ticket in counted})
    rows: list[tuple[int, int, int]] = []
    starts, who = [0], []
    for ticket in counted:
        assert ticket.vote is not None
        wins = spoken(ticket.vote.ballot, len(ticket.shown))
        for a, i in enumerate(ticket.shown):
            for b in range(a + 1, len(ticket.shown)):
                if wins[a, b] + wins[b, a] > 0.0:
                    rows.append((i, ticket.shown[b], int(np.sign(wins[a, b] - wins[b, a]))))
        starts.append(len(rows))
        who.append(raters.index(ticket.rater or ""))
    first, second, outcome = (np.array([row[k] for row in rows], int) for k in range(3))
    names = [option.id for option in state.options]
    return Votes.of(names, first=first, second=second, outcome=outcome, starts=starts, rater=who, raters=raters)


@pytest.mark.parametrize("unit", ["answer", "rater"])
@pytest.mark.parametrize("seed", range(1, 7))
def test_the_board_is_that_of_the_votes_that_count(service: Service, clock: Clock, seed: int, unit: str) -> None:
    arena = a_life(service, clock, seed=seed, unit=unit)
    board = service.board(arena)
    with service.look(arena) as state:
        judged = state.judge()
        found = standings(votes_of(state), by=unit, alpha=judged.alpha, room=state.settings.room, verdict=judged)
        again = load(arena, save(state), state.past)
        assert again is not None and digest(again) == digest(state)
    place = {option: k for k, option in enumerate(board.options)}
    assert [place[line.option] for line in board.lines] == list(found.order)
    for line in board.lines:
        k = place[line.option]
        if line.retired:
            assert (line.rank_from, line.rank_to) == (0, 0)
            continue
        assert (line.rank_from, line.rank_to) == (found.rank_from[k], found.rank_to[k])
        assert np.allclose(line.strength, (found.strength[k], found.low[k], found.high[k]), equal_nan=True)
        assert np.allclose(line.won, (found.won[k], found.won_low[k], found.won_high[k]), equal_nan=True)
        if board.winner is not None and board.margin == 0.0:
            assert (line.rank_from == 1) == (line.option == board.winner)
        if line.option in board.out and board.kind != "cycle":
            assert line.rank_from >= 2 and not line.still_in
    json.dumps(board.to_json())
