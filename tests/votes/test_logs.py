"""Votes of logs: an arena's as the arena counts them, rankers' as ``rankers.analyse`` counts them."""

import random

import numpy as np
import pytest

import multiduel as md
from multiduel import rankers, votes
from multiduel.arena import Ask, Vote
from multiduel.arena.files.exports import log_lines
from multiduel.inference import Tally
from tests.arena.play import Clock, an_arena, lively, running


def exported(service, arena, path):
    path.write_text("".join(log_lines(service.journal.stream(arena), lambda sha: service.journal.get_content(arena, sha))))
    return path


@pytest.mark.parametrize(("unit", "question", "contexts"), [("answer", "rank", 0), ("answer", "best", 2), ("rater", "worst", 0)])
def test_an_arena_log_counts_what_the_arena_counts(unit, question, contexts, tmp_path):
    """After votes, late votes, undoing, quarantine, release, options that come and go, and imports."""
    clock = Clock()
    with running(tmp_path / "a.db", clock) as service:
        arena, _ = an_arena(service, 5, contexts=contexts, policy="uniform", room=40, unit=unit, question=question)
        lively(service, arena, clock, random.Random(3), 220)
        read = votes.read(exported(service, arena, tmp_path / "log.jsonl"))
        with service.look(arena) as state:
            here = np.ix_(state.present, state.present)
            assert read.kind == "arena log" and len(read.votes.options) == len(state.present) < len(state.options)
            assert f"{len(state.retired)} retired option" in read.note and ("excluded" in read.note) == (state.set_aside > 0)
            if unit == "answer":
                assert np.array_equal(read.votes.above, state.tally.above[here])
                assert np.array_equal(read.votes.ties, state.tally.ties[here])
            else:
                tally = Tally(len(state.present), unit="rater")
                add_all(tally, read.votes)
                assert np.array_equal(tally.above, state.tally.above[here])
            assert read.votes.answers > 20 and read.votes.ordered and (read.votes.case is not None) == (contexts > 0)


def add_all(tally, read):
    """Every answer of the votes, counted by rater."""
    for k in range(read.answers):
        rows = range(read.starts[k], read.starts[k + 1])
        arms = sorted({int(arm) for row in rows for arm in (read.first[row], read.second[row])})
        wins = np.zeros((len(arms), len(arms)))
        for row in rows:
            a, b = arms.index(read.first[row]), arms.index(read.second[row])
            wins[a, b], wins[b, a] = {1: (1.0, 0.0), 0: (0.5, 0.5), -1: (0.0, 1.0)}[int(read.outcome[row])]
        tally.add(arms, wins, read.raters[read.rater[k]])


def test_a_forged_arena_log_is_refused(tmp_path):
    with running(tmp_path / "a.db") as service:
        arena, (rater, _) = an_arena(service, policy="uniform")
        service.do(Vote(service.do(Ask(arena, rater, "one")).id, {"rank": [[0], [1], [2]]}))
        file = exported(service, arena, tmp_path / "log.jsonl")
    whole = file.read_text()
    file.write_text(whole.replace("[[0],[1],[2]]", "[[2],[1],[0]]"))
    with pytest.raises(md.BadInput, match=r"must be a log as an arena writes it. Event \d+"):
        md.read_votes(file)
    file.write_text(whole + "what?\n")
    with pytest.raises(md.BadInput, match="Line 12: this is no event of an arena's log"):
        md.read_votes(file)


@pytest.mark.parametrize("method", ["team-draft", "probabilistic"])
def test_a_ranker_log_counts_what_analyse_counts(method, tmp_path):
    log = rankers.Log(tmp_path / "log.jsonl")
    luck = np.random.default_rng(1)
    for k in range(40):
        lists = [[f"d{d}" for d in luck.permutation(6)] for _ in range(3)]
        page = rankers.multileave(lists, names=["old", "new", "newer"], length=4, method=method, seed=k)
        shown = log.shown(page, user=f"u{k % 7}", query=f"q{k % 5}")
        for document in luck.choice(page["documents"], 2, replace=False):
            log.clicked(shown, str(document))
    read = votes.read(log.path)
    found = rankers.analyse(log, unit="impression", ties="half")
    order = [found.names.index(name) for name in read.votes.options]
    assert np.allclose(read.votes.above, found.above[np.ix_(order, order)])
    assert np.allclose(read.votes.ties, found.level[np.ix_(order, order)])
    assert read.kind == "ranker log" and len(read.votes.raters) == 7 and read.votes.cases == tuple(f"q{k}" for k in range(5))
