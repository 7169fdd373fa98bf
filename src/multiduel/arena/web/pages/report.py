"""The report: one page for somebody who was not there. The answer, the winner, the standings, who voted, what was excluded, and
what may not be concluded. It names options, and no rater."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from multiduel.arena.domain.options import Content
from multiduel.arena.domain.state import State
from multiduel.arena.service.board import Board
from multiduel.arena.service.service import Service
from multiduel.arena.web.content_headers import served_as
from multiduel.arena.web.pages.contents import Shown, safe_markdown, shown
from multiduel.arena.web.pages.render import fragment, plural, static_files
from multiduel.arena.web.pages.routes_board import Filter, board_words

MOST_SHOWN = 6  # contents of the winner
NO_GROUP = "no group"
Address = Callable[[str, int, Content], str]  # of a content: option, place, and the content itself


@dataclass(frozen=True)
class Group:
    """Who voted, by group."""

    name: str
    raters: int
    votes: int


@dataclass(frozen=True)
class Voters:
    """Who voted, and what was excluded, without names."""

    raters: int
    votes: int
    first: str
    last: str
    groups: tuple[Group, ...]
    from_files: int
    without_rater: int
    excluded: tuple[tuple[str, int], ...]  # why, and how many votes
    apart: int  # votes of the kind of raters that does not decide: judges beside people, or people beside judges
    skipped: int
    undone: int
    late: int


def voters(state: State) -> Voters:
    """Counted over all votes of the log."""
    votes, people, excluded = Counter[str](), dict[str, set[str]](), Counter[str]()
    other = Counter[str]()
    times: list[str] = []
    for ticket in state.tickets.values():
        vote = ticket.vote
        if vote is None:
            continue
        rater = state.raters.get(ticket.rater or "")
        if vote.undone or not vote.says:
            other["undone" if vote.undone else "skipped"] += 1
        elif not state.decides(rater):
            other["apart"] += not (rater and rater.quarantined) and not vote.aside
        elif not state.counts(ticket):
            limit = "beyond the most votes that their rater may give"
            reason = f"rater excluded by the owner: {rater.reason or 'no reason given'}" if rater and rater.quarantined else limit
            excluded[reason] += 1
        else:
            group = ticket.group or NO_GROUP
            votes[group] += 1
            people.setdefault(group, set()).add(ticket.rater or "")
            times.append(min(vote.at, state.at))
            other["late"] += vote.late
            other["files"] += ticket.by == "import" or ticket.printed
            other["nobody"] += ticket.rater is None
    everybody = set[str]().union(*people.values()) - {""}
    groups = tuple(Group(name, len(people[name] - {""}), number) for name, number in votes.most_common())
    return Voters(
        len(everybody),
        sum(votes.values()),
        min(times, default=""),
        max(times, default=""),
        groups,
        other["files"],
        other["nobody"],
        tuple(excluded.most_common()),
        other["apart"],
        other["skipped"],
        other["undone"],
        other["late"],
    )


def caveats(state: State, board: Board, voted: Voters) -> list[str]:
    """What may not be concluded, in sentences."""
    said = []
    if board.winner is None and board.kind != "cycle":
        none = "There is no winner." if board.status == "closed" else "There is no winner so far."
        said.append(none + " The order of the standings is a tendency, not a result." * (board.answers > 0))
    if board.kind == "cycle":
        said.append("No option beats all others. More votes will not change that; another question may.")
    if board.unit == "answer":
        said.append(
            "Every vote counts, so that a rater who voted often counts more. The result holds for these raters, and says nothing "
            "of other people."
        )
    elif board.unit == "case":
        said.append(
            "On each question, only the first judgement of two options counts. The result holds for questions like these, not "
            "for all questions."
        )
    else:
        said.append(
            "Each rater's first judgement of two options counts. The result holds for people like these raters, not for everyone."
        )
    if state.settings.deciders != "people":
        judges = "Only votes of judges count. The result says nothing of what people prefer."
        said.append(judges if state.settings.deciders == "judges" else "Votes of people and of judges count alike.")
    if board.settled:
        said.append(
            f"The chance that this result is wrong is at most {100 * board.alpha:.4g} %, however often anyone looked while votes "
            "came in."
        )
    if board.margin > 0:
        said.append(f"Options closer than {100 * board.margin:.4g} percentage points were not told apart, as the owner chose.")
    if any(request.startswith("admit:join ") for request in state.requests):
        said.append("Some raters joined by a shared link: one person may have joined more than once.")
    if voted.without_rater:
        said.append(
            f"{plural(voted.without_rater, 'vote does', 'votes do')} not say who gave it, such as one from a sheet of paper."
        )
    if len(state.contexts) > 1:
        said.append(
            f"Votes on the {len(state.contexts)} questions count together. The answer may differ from question to question."
        )
    if state.retired:
        said.append(f"{plural(len(state.retired), 'option was', 'options were')} retired on the way and cannot win.")
    said.append("The best of these options need not be good: only these were compared.")
    return said


def report_words(service: Service, arena: str, address: Address) -> dict[str, Any]:
    """All that the template needs."""
    board = service.board(arena)
    then = service.reading(arena)
    voted = voters(then)
    with service.look(arena) as state:
        created, at, number, hash = then.created, then.at, then.number, then.hash
        contexts = list(state.contexts)
        winner = next((option for option in state.options if option.id == board.winner), None)
        said = [] if winner is None else list(winner.contents[:MOST_SHOWN])
        words = {"instructions": safe_markdown(state.settings.instructions)}
        warned = caveats(state, board, voted)
    contents = [_content(service, arena, board.winner or "", k, one, address) for k, one in enumerate(said)]
    return (
        board_words(board, ())
        | words
        | {
            "part": "standings",
            "filter": Filter([], None),
            "whole": board,
            "owner": False,
            "arena": arena,
            "voted": voted,
            "apart_kind": "people" if board.deciders == "judges" else "judges",
            "caveats": warned,
            "winner_name": None if winner is None else winner.name,
            "contents": [(contexts[k] if contexts else None, one) for k, one in enumerate(contents)],
            "more_contents": 0 if winner is None else max(0, len(winner.contents) - MOST_SHOWN),
            "created": created,
            "at": at,
            "number": number,
            "hash": hash,
        }
    )


def _content(service: Service, arena: str, option: str, place: int, said: Mapping[str, Any], address: Address) -> Shown:
    content = Content(said["kind"], service.journal.get_content(arena, said["sha256"]) or b"", said["type"])
    return shown(content, address(option, place, content))


def report_file(service: Service, arena: str) -> str:
    """The report as one HTML file that loads nothing from elsewhere."""

    def inside(option: str, place: int, content: Content) -> str:
        return f"data:{served_as(content)};base64,{base64.b64encode(content.data).decode()}"

    words = report_words(service, arena, inside)
    style = static_files()["style.css"][0].decode("utf-8")
    return fragment("report_file.html", words | {"style": Markup(style)})
