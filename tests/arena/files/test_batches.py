"""Files of votes and sheets: what a line may say, and what is reported of it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multiduel.arena.domain.commands import ImportReport, LineReport, Ticket, VoteLine
from multiduel.arena.domain.options import make_content
from multiduel.arena.files.batches import Batch, Problem, letter, place, read_votes, report
from multiduel.arena.files.sheets import MOST_SHEETS, sheet_lines
from multiduel.inputs import BadInput


def only(written: str, format: str = "csv") -> VoteLine:
    batch = read_votes(written, format=format)
    assert not batch.problems and len(batch.lines) == 1, batch
    return batch.lines[0]


def problem(written: str, format: str = "csv") -> str:
    batch = read_votes(written, format=format)
    assert not batch.lines and len(batch.problems) == 1, batch
    return batch.problems[0].sentence


def test_a_form_and_an_object_say_the_same():
    form = only("id,ticket,rater,rank\n7,t,Ada, b > A=c \n")
    assert form == VoteLine("7", {"rank": [[1], [0, 2]]}, ticket="t", rater="Ada")
    assert only(json.dumps({"id": "7", "ticket": "t", "rater": "Ada", "rank": [1, [0, 2]]}), "jsonl") == form
    assert only(json.dumps({"id": 7, "ticket": "t", "rater": "Ada", "rank": "B>A=C"}), "jsonl") == form


def test_best_worst_skip_and_wins():
    assert only("id,ticket,best\n7,t,C\n").ballot == {"best": 2}
    assert only('{"ticket":"t","best":0}', "jsonl") == VoteLine("t", {"best": 0}, ticket="t"), "place 0 is an answer"
    assert only("id,ticket,worst\n7,t,a\n").ballot == {"worst": 0}
    assert only("id,ticket,skip\n7,t,Yes\n").ballot == {"skip": True}
    assert only('{"id":"7","ticket":"t","wins":[[0,1],[0,0]]}', "jsonl").ballot == {"wins": [[0, 1], [0, 0]]}


def test_votes_of_another_system_name_the_options():
    line = only("id,shown,rater,context,group,rank\n7,mild|sharp|bitter,Ada,Why?,north,bitter>mild\n")
    assert line == VoteLine(
        "7", {"rank": [[2], [0]]}, shown=("mild", "sharp", "bitter"), rater="Ada", context="Why?", group="north"
    )
    assert only("id,rank\n7,mild>sharp=bitter\n") == VoteLine("7", {"rank": [[0], [1, 2]]}, shown=("mild", "sharp", "bitter"))
    assert only("id,shown,best\n7,mild|sharp,sharp\n").ballot == {"best": 1}
    tricky = {"id": "7", "shown": ["a>b", "c=d"], "rank": [["c=d"], ["a>b"]]}
    assert only(json.dumps(tricky), "jsonl") == VoteLine("7", {"rank": [[1], [0]]}, shown=("a>b", "c=d"))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("id,ticket,rank\n,,A>B\n", "A line needs an id"),
        ("id,ticket,rank,best\n7,t,A>B,A\n", "A line has one answer. Got rank and best."),
        ("id,ticket,rank\n7,t,A>>B\n", "A place is a letter, such as A. Got ''."),
        ("id,ticket,rank\n7,t,1>2\n", "A place is a letter, such as A. Got '1'."),
        ("id,ticket,shown,rank\n7,t,mild|sharp,A>B\n", "What a ticket shows is known"),
        ("id,shown,rank\n7,mild|sharp,mild>salty\n", "'salty' was not shown."),
        ("id,best\n7,mild\n", "two options at least"),
        ("id,shown,best\n7,mild|mild,mild\n", "shown once"),
        ("id,ticket,skip\n7,t,perhaps\n", "'skip' is yes, or empty"),
        ("id,ticket,ranking\n7,t,A>B\n", "has no 'ranking'. Did you mean 'rank'?"),
    ],
)
def test_problems_in_sentences(written, said):
    assert said in problem(written)


def test_objects_with_other_things_in_them():
    assert "whole number from 0" in problem('{"id":"7","ticket":"t","rank":[true,1]}', "jsonl")
    assert "options are named" in problem('{"id":"7","rank":[0,1]}', "jsonl")
    assert "'rater' must be text" in problem('{"id":"7","ticket":"t","rank":[0,1],"rater":["x"]}', "jsonl")
    assert "'rank' is a list" in problem('{"id":"7","ticket":"t","rank":{"a":1}}', "jsonl")
    with pytest.raises(BadInput, match="Line 1: this is no JSON"):
        read_votes("{", format="jsonl")


def test_all_problems_are_told_and_nothing_is_entered():
    batch = read_votes("id,ticket,rank\n1,t1,A>B\n2,t2,A>?\n3,t3,\n4,t4,B>A\n5,t5,??\n", format="csv")
    assert [line.id for line in batch.lines] == ["1", "4"] and batch.numbers == [2, 5] and batch.empty == 1
    assert [(p.line, p.id) for p in batch.problems] == [(3, "2"), (6, "5")]
    command = batch.command("arena", dry_run=False)
    assert command.dry_run, "with a problem in the file the rest is only tried"
    answer = ImportReport(
        False, True, (LineReport("1", 1, "new", "counted"), LineReport("4", 2, "refused", problem="There is no ticket."))
    )
    told = report(batch, answer)
    assert not told.accepted and not told.entered
    assert [(line.line, line.result) for line in told.lines] == [(2, "new"), (3, "refused"), (5, "refused"), (6, "refused")]
    assert (told.new, told.already, told.refused, told.empty) == (1, 0, 3, 1)


def test_a_good_file_is_entered():
    batch = read_votes("id,ticket,rank\n1,t1,A>B\n2,t2,B>A\n", format="csv")
    assert not batch.command("arena", dry_run=False).dry_run and batch.command("arena", dry_run=True).dry_run
    answer = ImportReport(True, False, (LineReport("1", 1, "already"), LineReport("2", 2, "new", "counted")))
    told = report(batch, answer)
    assert told.accepted and told.entered and (told.new, told.already) == (1, 1)
    assert not report(batch, ImportReport(True, True, answer.lines)).entered
    assert not report(Batch(problems=[Problem(1, "x", "No.")]), ImportReport(True, False, ())).accepted


def test_sheets_come_back_as_votes():
    words = {"o1": "=HYPERLINK(1)", "o2": 'two\nlines, "quoted"', "o3": "plain"}
    tickets = [
        Ticket("t1", "arena", None, "c1", "north", ("o2", "o1"), "policy", "", None),
        Ticket("t2", "arena", None, None, None, ("o3", "o2", "o1"), "policy", "", None),
    ]
    lines = list(
        sheet_lines(
            tickets,
            lambda ticket, position: make_content("text", words[ticket.options[position]]),
            question="rank",
            contexts={"c1": "Why?"},
        )
    )
    assert lines[0] == "ticket,group,context,A,B,C,rank,skip,rater\r\n"
    assert "'=HYPERLINK" in lines[1] and "o1" not in "".join(lines)
    blank = read_votes("".join(lines), format="csv")
    assert not blank.lines and not blank.problems and blank.empty == 2
    filled = [lines[0], lines[1].replace(",,,\r\n", ",B>A,,Ada\r\n"), lines[2].replace(",,,\r\n", ",,x,Bo\r\n")]
    votes = read_votes("".join(filled), format="csv")
    assert votes.lines == [
        VoteLine("t1", {"rank": [[1], [0]]}, ticket="t1", rater="Ada"),
        VoteLine("t2", {"skip": True}, ticket="t2", rater="Bo"),
    ]


def test_sheets_with_instructions_come_back_as_votes():
    """As many sheets as are made at once, with instructions of many lines."""
    said = "=1+1\n\nJudge the tone.\n- first\n" + "\n" * 150
    tickets = [Ticket(f"t{k}", "arena", None, None, None, ("o1", "o2"), "policy", "", None) for k in range(MOST_SHEETS)]
    content = make_content("text", "x")
    lines = list(sheet_lines(tickets, lambda ticket, position: content, question="rank", contexts={}, instructions=said))
    assert lines[0] == "ticket,group,context,instructions,A,B,rank,skip,rater\r\n" and "'=1+1" in lines[1]
    votes = read_votes("".join(lines).replace(",,,\r\n", ",B>A,,Ada\r\n"), format="csv")
    assert not votes.problems and [line.ticket for line in votes.lines] == [ticket.id for ticket in tickets]
    blank = sheet_lines(tickets[:1], lambda ticket, position: content, question="rank", contexts={}, instructions=" \n")
    assert "instructions" not in next(blank)


def test_images_on_sheets_are_named_by_ticket_and_place_only():
    ticket = Ticket("t1", "arena", None, None, None, ("o1", "o2"), "policy", "", None)
    image = make_content("image", b"\x89PNG\r\n\x1a\n")
    text = "".join(sheet_lines([ticket], lambda ticket, position: image, question="best", contexts={}))
    assert "(image: /tickets/t1/contents/1)" in text and image.sha256 not in text


@given(st.integers(0, 18_000))
def test_letters(position):
    assert place(letter(position)) == position and place(f" {letter(position).lower()} ") == position


@given(st.text(max_size=100) | st.from_regex(r"id,(ticket|shown),rank\n([a|,>=\n\"]{0,30})"), st.sampled_from(["csv", "jsonl"]))
def test_no_file_is_worse_than_refused(written, format):
    try:
        batch = read_votes(written, format=format)
    except BadInput:
        return
    assert len(batch.lines) == len(batch.numbers)
