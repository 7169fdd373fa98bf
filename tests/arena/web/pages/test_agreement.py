"""Overview, board, report and the pages of raters say the same of an arena, whatever its state, and nothing that is not so."""

from __future__ import annotations

import html
import random
import re

import pytest

from multiduel.arena import AdmitRater, Ask, Close, Done, Quarantine, RetireOption, Vote
from tests.arena.calling import Caller
from tests.arena.web.pages.visiting import Visitor

KINDS = {"winner": "Winner", "cycle": "No overall winner (cycle)", "narrowed": "No winner yet", "open": "No winner yet"}


@pytest.fixture
def call(tmp_path):
    caller = Caller(tmp_path)
    yield caller
    caller.close()


def best_first(numbers, luck):
    return sorted(range(len(numbers)), key=lambda p: numbers[p] + luck.gauss(0.0, 0.4))


def at_random(numbers, luck):
    return luck.sample(range(len(numbers)), len(numbers))


def in_a_circle(numbers, luck):
    """Of two: each beats the next, and the last the first."""
    return [0, 1] if (numbers[1] - numbers[0]) % 3 == 1 else [1, 0]


def vote(call, arena, votes, order):
    luck, raters = random.Random(5), []
    for k in range(6):
        raters.append(call.service.do(AdmitRater(arena, f"person {k}", ("Lyon", "Oslo")[k % 2])))
    for k in range(votes):
        ticket = call.service.do(Ask(arena, raters[k % 6], f"{k}"))
        if isinstance(ticket, Done):
            break
        call.service.do(Vote(ticket.id, {"rank": order([int(option[1:]) for option in ticket.options], luck)}))
    return raters


STATES = {  # votes, how they are given, settings, and whether it is closed
    "empty": (0, at_random, {}, False),
    "empty, closed": (0, at_random, {}, True),
    "few": (7, at_random, {}, False),
    "few, closed": (7, at_random, {}, True),
    "stall": (60, at_random, {"votes": 60}, False),
    "stall, closed": (60, at_random, {"votes": 60}, True),
    "decided": (900, best_first, {}, False),
    "decided, closed": (900, best_first, {}, True),
    "decided, goes on": (200, best_first, {"go_on": True}, False),
    "margin": (900, best_first, {"margin": 0.1}, False),
    "cycle": (3_000, in_a_circle, {"slate_size": 2}, False),
    "cycle, closed": (3_000, in_a_circle, {"slate_size": 2}, True),
}


def words_of(page):
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", page).split()))


def rows_of(page):
    """The standings: (rank, name, status) of each line."""
    table = re.search(r'aria-label="Standings, a table">(.*?)</table>', page, re.DOTALL)[1]
    rows = re.findall(r"<tr class=.*?</tr>", table, re.DOTALL)
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL) for row in rows]
    name = re.compile(r'<span class="small-only">.*', re.DOTALL)
    return [(words_of(row[0]), words_of(name.sub("", row[1])), words_of(row[-1])) for row in cells]


def figures_of(page):
    return dict(re.findall(r"<dt>(.*?)</dt><dd[^>]*>(.*?)</dd>", page, re.DOTALL))


def check_board(page, board):
    """One page's sentence, label, figures and table are those of one board."""
    rows, figures, said = rows_of(page), figures_of(page), words_of(page)
    label = KINDS[board.kind].removesuffix(" yet" if board.status == "closed" else "")
    assert words_of(re.search(r'id="verdict-head">(.*?)</h1>', page, re.DOTALL)[1]) == label
    status = [row[2] for row in rows]
    names = {line.option: line.name for line in board.lines}
    assert [row[1] for row in rows] == [line.name for line in board.lines]
    if board.winner is None:
        assert "best" not in status
        assert [name for _, name, tag in rows if tag == "still possible"] == [
            line.name for line in board.lines if line.option in board.still_in
        ]
    else:
        assert (rows[0][1], status[0]) == (names[board.winner], "best") and not any(status[1:]), "the winner is the first"
        assert not board.answers or board.lines[0].rank_from == 1
    if board.answers:
        assert board.sentence in said
    assert int(figures["Votes that count"].replace(",", "")) == board.answers
    possible = figures.get("Still possible", "").split(" ")[0]
    assert possible == ("" if board.winner or board.kind == "cycle" else str(len(board.still_in)))
    needed = figures.get("More votes needed")
    if board.status == "closed" or board.kind == "cycle":
        assert needed in ((None, "none") if board.winner else (None,)), "no forecast where no vote will come or help"
    elif board.winner:
        assert needed == "none"
    sure = f"{100 * (1 - board.alpha):.4g} %"
    assert figures["Confidence" if board.settled else "Confidence needed"] == sure
    assert not board.settled or f"({sure})" in board.sentence
    if board.status == "closed":
        assert "yet" not in said.split("Standings")[0].split() and "updates by itself" not in page


@pytest.mark.parametrize("state", STATES)
def test_all_pages_of_an_arena_agree(call, state):
    votes, order, settings, closed = STATES[state]
    arena, key = call.arena(raters="open", **{"slate_size": 3, "board": "always"} | settings)
    raters = vote(call, arena, votes, order)
    if closed:
        call.service.do(Close(arena))
    board = call.service.board(arena)
    wanted = {"decided": "winner", "margin": "winner", "cycle": "cycle"}.get(state.split(",")[0])
    assert board.kind == wanted if wanted else board.kind in ("open", "narrowed")

    visitor = Visitor(call)
    visitor.enter(key)
    shown = visitor("GET", f"/own/{arena}/board").text
    check_board(shown, board)
    report, overview = visitor("GET", f"/own/{arena}/report").text, visitor("GET", f"/own/{arena}").text
    assert rows_of(report) == rows_of(shown)
    if board.answers:
        assert board.sentence in words_of(report) and board.sentence in words_of(overview)
    answer = words_of(re.search(r'id="answer">(.*?)</h2>', report, re.DOTALL)[1])
    none = KINDS[board.kind].removesuffix(" yet" if closed else "")
    assert answer == (f"Winner: {board.lines[0].name}" if board.winner else none)
    assert ("The chance that this result is wrong" in report) == board.settled
    assert f"{len(raters) if board.answers else 0} raters gave {board.answers:,} votes that count" in words_of(report)
    assert ("More votes needed" in overview) == (bool(board.answers) and not board.settled and not closed)
    for page in (overview, visitor("GET", f"/own/{arena}/raters").text):
        assert ("New shared link" in page) == (not closed), "nobody is invited to a closed arena"
    if closed:
        for rest in ("votes", "sheets"):
            page = visitor("GET", f"/own/{arena}/{rest}").text
            assert "This arena is closed" in page and "textarea" not in page and "Make sheets" not in page
        assert "so far" not in words_of(report) and "Pause" not in overview and "Closed permanently" in overview

    guest = Visitor(call)
    joining = words_of(guest("GET", f"/k/{call.access.new_key('link', arena=arena)}").text)
    over = "is closed" if closed else "has a result" if board.settled and not settings.get("go_on") else ""
    assert ("Help choose" in joining) == (not over)
    assert ("There is a result: raters get no more questions." in overview) == (over == "has a result")
    assert (over in joining and "Start" not in joining.split()) if over else "Start" in joining.split()
    if not closed:  # a rater's board says the same, without what is for owners
        guest.enter(call.rater(arena, key))
        seen = guest("GET", f"/vote/{arena}/board")
        assert seen.status_code == 200 and rows_of(seen.text) == rows_of(shown)
        assert not board.answers or board.result in words_of(seen.text)


@pytest.mark.parametrize("state", ["few", "stall, closed", "decided", "decided, closed", "cycle", "cycle, closed"])
def test_every_part_of_the_votes_agrees_with_itself_and_with_its_warning(call, state):
    votes, order, settings, closed = STATES[state]
    arena, key = call.arena(**{"slate_size": 3} | settings)
    vote(call, arena, votes, order)
    if closed:
        call.service.do(Close(arena))
    visitor = Visitor(call)
    visitor.enter(key)
    parts = call.service.slices(arena)
    assert [one.label for one in parts] == ["Lyon", "Oslo"]
    whole, counted = call.service.board(arena), 0
    for part in parts:
        board = call.service.sliced_board(arena, part)
        page = visitor("GET", f"/own/{arena}/board?by={part.kind}%3D{part.place + 1}").text
        check_board(page, board)
        assert "More votes needed" not in figures_of(page) or board.winner, "there is no forecast for a part"
        warning = words_of(re.search(r'role="note">(.*?)</p>', page, re.DOTALL)[1])
        assert f"Only votes of this group: {board.answers:,} of {whole.answers:,}." in warning
        assert f"a result here must be {100 * (1 - board.alpha):.4g} % sure" in warning and board.alpha < whole.alpha
        counted += board.answers
    assert counted == whole.answers


def test_retired_options_and_excluded_votes_are_the_same_everywhere(call):
    arena, key = call.arena(slate_size=3, room=6)
    raters = vote(call, arena, 12, at_random)
    call.service.do(Quarantine(arena, raters[0], "clicks without looking"))
    call.service.do(RetireOption(arena, "o2"))
    board = call.service.board(arena)
    visitor = Visitor(call)
    visitor.enter(key)
    shown, report = (visitor("GET", f"/own/{arena}/{name}").text for name in ("board", "report"))
    check_board(shown, board)
    assert rows_of(report) == rows_of(shown) and rows_of(shown)[-1][2] == "retired"
    assert figures_of(shown)["Excluded votes"].startswith(f"{board.set_aside} ") and board.set_aside == 2
    assert "2 votes are excluded, those of 1 excluded rater among them." in words_of(shown)
    assert "2 votes: rater excluded by the owner: clicks without looking" in words_of(report)
