"""Boards of parts of the votes: the same as an arena with these votes alone, and an error that all parts share."""

from __future__ import annotations

import random

import pytest

from multiduel.arena import AdmitRater, Ask, Create, Done, Open, Quarantine, Settings, Undo, Vote
from multiduel.arena.domain.ballots import spoken
from multiduel.arena.domain.options import Option, make_content
from multiduel.arena.service.slices import Slice, alpha_of, groups_of, slices_of
from multiduel.inference import Tally, verdict

CONTEXTS = ("first question", "second question", "third question")


def an_arena(service, votes=150, **settings):
    """Groups prefer opposite options."""
    options = [Option(f"o{k}", tuple(make_content("text", f"{k} to {q}") for q in CONTEXTS)) for k in range(4)]
    arena = service.do(Create("parts", Settings(slate_size=3, seed=5, go_on=True, **settings), options, CONTEXTS)).id
    service.do(Open(arena))
    groups = ("Lyon", "Oslo", None)
    raters = [(service.do(AdmitRater(arena, f"rater {k}", groups[k % 3])), groups[k % 3]) for k in range(9)]
    luck = random.Random(7)
    for k in range(votes):
        rater, group = luck.choice(raters)
        ticket = service.do(Ask(arena, rater, f"{k}"))
        if isinstance(ticket, Done):
            continue
        sign = -1 if group == "Oslo" else 1
        order = sorted(range(len(ticket.options)), key=lambda p: sign * int(ticket.options[p][1:]) + luck.gauss(0.0, 0.4))
        service.do(Vote(ticket.id, {"rank": order}))
        if k % 40 == 7:
            service.do(Undo(arena, rater, f"undo {k}"))
    service.do(Quarantine(arena, raters[3][0], "too quick"))
    return arena


@pytest.mark.parametrize("unit", ["answer", "rater"])
def test_a_part_is_judged_by_its_votes_alone(service, unit):
    arena = an_arena(service, unit=unit)
    parts = service.slices(arena)
    assert [part.label for part in parts if part.kind == "context"] == list(CONTEXTS)
    assert {part.label for part in parts if part.kind == "group"} == {"Lyon", "Oslo"}
    whole, seen = service.board(arena), 0
    for part in parts:
        plain = Tally(4, unit=unit)
        with service.look(arena) as state:
            for ticket in state.tickets.values():
                mine = ticket.context == part.place if part.kind == "context" else ticket.group == part.label
                if ticket.vote is not None and state.counts(ticket) and mine:
                    plain.add(ticket.shown, spoken(ticket.vote.ballot, len(ticket.shown)), ticket.rater)
        board = service.sliced_board(arena, part)
        judged = verdict(plain, alpha=alpha_of(part, 0.05, 3), names=[f"o{k}" for k in range(4)])
        assert (board.answers, board.kind, board.alpha) == (plain.answers, judged.kind, judged.alpha)
        assert (board.above == judged.tally[0]).all() and (board.ties == judged.tally[1]).all()
        assert board.sentence == str(judged) and board.lines[0].showings <= plain.answers
        assert service.sliced_board(arena, part) is board, "kept until the next event"
        seen += board.answers if part.kind == "context" else 0
    assert seen == whole.answers, "each vote is on one question"


def test_groups_that_prefer_opposite_options_have_opposite_winners(service):
    arena = an_arena(service, votes=400)
    by_name = {part.label: service.sliced_board(arena, part) for part in service.slices(arena)}
    assert (by_name["Lyon"].winner, by_name["Oslo"].winner) == ("o1", "o4")
    assert by_name["Lyon"].alpha < 0.05 / 2 and by_name["Lyon"].raters == 2, "one of three is excluded"


def test_the_errors_of_all_parts_together_are_at_most_that_of_the_arena():
    for contexts in (1, 2, 13, 1_000):
        for groups in (1, 2, 50, 5_000):
            parts = [Slice("context", k, "") for k in range(contexts)] + [Slice("group", k, "") for k in range(groups)]
            parts += [Slice("kind", k, "") for k in range(2)]
            total = sum(alpha_of(part, 0.05, contexts) for part in parts)
            assert total <= 0.05 + 1e-12 and all(alpha_of(part, 0.05, contexts) > 0 for part in parts)


def test_a_groups_share_of_the_error_never_grows_and_is_nobody_elses(service):
    """The order of groups is that of their first votes: a ticket that was issued early and voted on late changes nothing."""
    options = [Option(f"o{k}", (make_content("text", f"{k}"),)) for k in range(2)]
    arena = service.do(Create("order", Settings(seed=1), options)).id
    service.do(Open(arena))
    raters = {name: service.do(AdmitRater(arena, name, name)) for name in ("early", "first", "late")}
    tickets = {name: service.do(Ask(arena, rater, "1")) for name, rater in raters.items()}
    for name, expected in (("first", ["first"]), ("late", ["first", "late"]), ("early", ["first", "late", "early"])):
        service.do(Vote(tickets[name].id, {"rank": [0, 1]}))
        with service.look(arena) as state:
            assert groups_of(state) == expected
    service.do(Undo(arena, raters["first"], "u"))
    with service.look(arena) as state:
        assert groups_of(state) == ["first", "late", "early"], "also when the first vote is undone"
        assert [part.kind for part in slices_of(state)] == ["group"] * 3


def test_parts_with_nothing_in_them_say_so(service):
    options = [Option(f"o{k}", tuple(make_content("text", f"{k} {q}") for q in CONTEXTS)) for k in range(2)]
    arena = service.do(Create("empty", Settings(seed=1), options, CONTEXTS)).id
    board = service.sliced_board(arena, service.slices(arena)[0])
    assert board.answers == 0 and board.winner is None


def false_winners(shared: bool, experiments: int = 25, parts: int = 20, votes: int = 60, alpha: float = 0.5) -> int:
    """Experiments in which some part of the votes on two options that are alike is ever said to have a winner."""
    luck, found = random.Random(11), 0
    for _ in range(experiments):
        ever = False
        for k in range(parts):
            error = alpha_of(Slice("context", k, ""), alpha, parts) if shared else alpha
            tally = Tally(2)
            for vote in range(1, votes + 1):
                won = luck.random() < 0.5
                tally.add((0, 1), [[0.0, float(won)], [float(not won), 0.0]])
                ever = ever or (vote % 5 == 0 and verdict(tally, alpha=error).winner is not None)
        found += ever
    return found


def test_looking_at_many_parts_finds_little_by_chance_and_would_without_a_shared_error():
    assert false_winners(shared=True) <= 0.5 * 25, "half of the experiments may err at alpha = 0.5"
    assert false_winners(shared=False) > 0.8 * 25, "what the shared error prevents"


def test_people_and_judges_are_looked_at_apart(service):
    """Judges say the opposite of people; a judge asked twice about a question counts once."""
    options = [Option(f"o{k}", tuple(make_content("text", f"{k} to {q}") for q in CONTEXTS)) for k in range(2)]
    settings = Settings(slate_size=2, seed=5, go_on=True, deciders="all")
    arena = service.do(Create("kinds", settings, options, CONTEXTS)).id
    service.do(Open(arena))
    person = service.do(AdmitRater(arena, "Ada"))
    assert [part.kind for part in service.slices(arena)] == ["context"] * 3, "nobody to tell apart"
    judge, strange = (service.do(AdmitRater(arena, name, kind="judge")) for name in ("M", "N"))
    for k in range(30):
        for rater, best in ((person, "o1"), (judge, "o2"), (strange, "o1")):
            ticket = service.do(Ask(arena, rater, f"{k}"))
            if not isinstance(ticket, Done):
                place = ticket.options.index(best)
                service.do(Vote(ticket.id, {"rank": [place, 1 - place]}, rater=rater))
    service.do(Quarantine(arena, strange, "broken"))
    parts = {part.label: part for part in service.slices(arena) if part.kind == "kind"}
    people, judges = (service.sliced_board(arena, parts[name]) for name in ("people", "judges"))
    assert people.winner == "o1" and people.answers == 30 and people.raters == 1 and people.alpha == 0.05 / 6
    assert judges.answers == 30 and judges.raters == 1 and judges.unit == "case" and judges.set_aside == 30
    assert judges.above.sum() == 3 and judges.winner is None, "three questions, however often it was asked"
    assert "judges 'M' and 'N', on questions like these 3" in judges.whom
    assert sum(service.sliced_board(arena, part).answers for part in service.slices(arena) if part.kind == "context") == 60


@pytest.mark.parametrize(("deciders", "offered"), [("people", ["judges"]), ("judges", ["people"]), ("all", ["people", "judges"])])
def test_those_who_decide_alone_are_the_result_itself(service, deciders, offered):
    options = [Option(f"o{k}", (make_content("text", f"{k}"),)) for k in range(2)]
    arena = service.do(Create("deciders", Settings(seed=1, deciders=deciders), options)).id
    service.do(Open(arena))
    for kind in ("person", "judge"):
        service.do(AdmitRater(arena, kind, kind=kind))
    assert [part.label for part in service.slices(arena)] == offered
    for part in service.slices(arena):
        assert service.sliced_board(arena, part).answers == 0
