"""People and judges: whose votes decide, what each kind finds, and the case as the unit of evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from multiduel.arena import AdmitRater, Ask, Create, Done, Open, Quarantine, Release, Service, Settings, Undo, Vote
from multiduel.arena.service import snapshots
from multiduel.inputs import BadInput
from tests.arena.play import an_arena, options, running


def vote_for(service: Service, arena: str, rater: str, request: str, best: str) -> bool:
    """Vote for the option with the id, or for the first shown. False if there is nothing to ask."""
    ticket = service.do(Ask(arena, rater, request))
    if isinstance(ticket, Done):
        return False
    place = ticket.options.index(best) if best in ticket.options else 0
    service.do(Vote(ticket.id, {"rank": [place, 1 - place]}, rater=rater))
    return True


def test_judges_do_not_outvote_people(tmp_path: Path) -> None:
    with running(tmp_path / "a.db") as service:
        arena, people = an_arena(service, 2, raters=2, contexts=50, slate_size=2)
        judge = service.do(AdmitRater(arena, "M", kind="judge"))
        for k in range(400):
            if not vote_for(service, arena, judge, f"j{k}", "o1"):
                break
        assert service.board(arena).answers == 0 and not service.board(arena).settled
        for k in range(20):
            vote_for(service, arena, people[k % 2], f"p{k}", "o2")
        board = service.board(arena)
        assert board.winner == "o2" and board.deciders == "people" and "judge" not in board.sentence
        kinds = {line.kind: line for line in board.kinds}
        assert set(kinds) == {"judges", "all"}
        assert kinds["judges"].winner == "o1" and kinds["judges"].answers == 50, "each question once"
        assert "for judge 'M', on questions like these 50" in kinds["judges"].sentence
        assert kinds["judges"].ranks[0].option == "o1" and (kinds["judges"].ranks[0].rank_to) == 1
        assert board.set_aside == 0


@pytest.mark.parametrize("deciders", ["people", "judges", "all"])
def test_deciders_say_whose_votes_count(tmp_path: Path, deciders: str) -> None:
    with running(tmp_path / "a.db") as service:
        arena, people = an_arena(service, 3, raters=1, slate_size=2, deciders=deciders)
        judge = service.do(AdmitRater(arena, "M", kind="judge"))
        for k in range(3):
            assert vote_for(service, arena, people[0], f"p{k}", "o1") and vote_for(service, arena, judge, f"j{k}", "o1")
        assert service.board(arena).answers == (6 if deciders == "all" else 3)
        lines = {one.label: one for one in service.raters(arena)}
        assert lines["M"].kind == "judge" and lines["M"].votes == 3 and lines["M"].aside == 0
        service.do(Quarantine(arena, judge))
        assert service.board(arena).set_aside == (0 if deciders == "people" else 3)
        service.do(Release(arena, judge))
        service.do(Undo(arena, judge, "u"))
        assert service.board(arena).answers == {"people": 3, "judges": 2, "all": 5}[deciders]
        assert service.board(arena).set_aside == 0


def test_a_case_counts_once(tmp_path: Path) -> None:
    with running(tmp_path / "a.db") as service:
        arena, _ = an_arena(service, 3, raters=0, contexts=4, slate_size=2, unit="case", deciders="judges")
        judge = service.do(AdmitRater(arena, "M", kind="judge"))
        seen: set[Any] = set()
        for k in range(100):
            ticket = service.do(Ask(arena, judge, f"{k}"))
            if isinstance(ticket, Done):
                assert ticket.why == "judged"
                break
            unit = (frozenset(ticket.options), ticket.context)
            assert unit not in seen, "asked again"
            seen.add(unit)
            service.do(Vote(ticket.id, {"rank": [[0, 1]]}, rater=judge))
        assert len(seen) == 12 and service.board(arena).answers == 12
        board = service.board(arena)
        assert (board.ties.sum() + board.above.sum()) == 24 and board.exactly == "", "ties decide nothing"


def test_tickets_under_way_are_not_asked_twice(tmp_path: Path) -> None:
    with running(tmp_path / "a.db") as service:
        arena, _ = an_arena(service, 2, raters=0, contexts=5, slate_size=2, unit="case", deciders="judges")
        judge = service.do(AdmitRater(arena, "M", kind="judge"))
        tickets = [service.do(Ask(arena, judge, f"{k}")) for k in range(5)]
        assert {ticket.context for ticket in tickets} == {f"c{k}" for k in range(1, 6)}
        assert service.do(Ask(arena, judge, "more")).why == "judged"


def test_exactly_these_questions(tmp_path: Path) -> None:
    with running(tmp_path / "a.db") as service:
        arena, _ = an_arena(service, 2, raters=0, contexts=3, slate_size=2, unit="case", deciders="judges")
        judge = service.do(AdmitRater(arena, "M", kind="judge"))
        said = []
        for k in range(3):
            vote_for(service, arena, judge, f"{k}", "o2")
            said.append(service.board(arena).exactly)
        assert said[0] == ""
        assert said[1] == (
            "On exactly these 3 questions, 'option 2' was placed above each other option more often than below, whatever the "
            "judgements that are left say."
        )
        assert said[2].endswith("more often than below.") and not service.board(arena).settled


def test_snapshot_keeps_kinds_and_cases(tmp_path: Path) -> None:
    with running(tmp_path / "a.db") as service:
        arena, people = an_arena(service, 4, raters=1, contexts=3, slate_size=3, unit="case", deciders="all")
        judge = service.do(AdmitRater(arena, "M", kind="judge"))
        for k in range(9):
            rater = judge if k % 2 else people[0]
            ticket = service.do(Ask(arena, rater, f"{k}"))
            if not isinstance(ticket, Done):
                service.do(Vote(ticket.id, {"rank": list(range(len(ticket.options)))}, rater=rater))
        with service.look(arena) as state:
            loaded = snapshots.load(arena, snapshots.save(state), state.past)
            assert loaded is not None and snapshots.digest(loaded) == snapshots.digest(state)
            assert loaded.raters[judge].kind == "judge" and loaded.raters[judge].seen == state.raters[judge].seen


def test_shortlist_is_said(tmp_path: Path) -> None:
    with running(tmp_path / "a.db") as service:
        made = service.do(Create("a", Settings(), options(3), shortlist={"by": "M", "of": 59, "first": 2}))
        service.do(Open(made.id))
        board = service.board(made.id)
        assert board.about.startswith("This result is about 3 of 59 options: those that may be among the first 2 in the")
        assert "about" in board.for_raters()
        for wrong in ({"by": "M", "of": 2, "first": 1}, {"by": "M", "of": 59, "first": 0}, {"by": "", "of": 59, "first": 1}):
            with pytest.raises(BadInput):
                service.do(Create("b", Settings(), options(3), shortlist=wrong))


def test_kind_of_a_rater_is_checked(tmp_path: Path) -> None:
    with running(tmp_path / "a.db") as service:
        arena, _ = an_arena(service)
        with pytest.raises(BadInput, match="'kind' must be"):
            service.do(AdmitRater(arena, "x", kind="robot"))
