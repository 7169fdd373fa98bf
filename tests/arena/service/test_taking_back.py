"""Votes taken back: until a result is announced with them, and what that does to the promise of a verdict."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from multiduel.arena import (
    AddOptions,
    AdmitRater,
    Ask,
    ChangeMargin,
    Conflict,
    Done,
    ImportVotes,
    Open,
    PrintTickets,
    Quarantine,
    Release,
    Service,
    Settings,
    Undo,
    Vote,
    VoteLine,
)
from multiduel.arena.domain.commands import Create
from multiduel.arena.domain.state import State
from multiduel.arena.files.verify import verify
from multiduel.arena.service.board import standing_verdict
from multiduel.arena.service.decision import Decision
from multiduel.arena.service.handlers import decide
from multiduel.arena.service.snapshots import load, save
from tests.arena.calling import Caller
from tests.arena.folding import fold
from tests.arena.play import an_arena, options, running
from tests.arena.web.pages.visiting import Visitor

ANNOUNCED = "The result was announced with this vote in it, so it cannot be taken back."


@pytest.fixture
def call(tmp_path: Path) -> Iterator[Caller]:
    caller = Caller(tmp_path)
    yield caller
    caller.close()


def vote_for(service: Service, arena: str, rater: str, option: str, request: str) -> bool:
    """Ask, and put this option first. False if there was nothing to ask."""
    ticket = service.do(Ask(arena, rater, request))
    if isinstance(ticket, Done):
        return False
    order = sorted(range(len(ticket.options)), key=lambda position: ticket.options[position] != option)
    service.do(Vote(ticket.id, {"rank": order}, rater=rater))
    return True


def settled(service: Service, **settings: Any) -> tuple[str, list[str]]:
    """An arena of two options where three raters found o1 best."""
    arena, raters = an_arena(service, 2, raters=3, **{"slate_size": 2, **settings})
    for k in range(200):
        if service.board(arena).settled:
            return arena, raters
        vote_for(service, arena, raters[k % 3], "o1", f"{k}")
    raise AssertionError("never settled")


def refused(service: Service, arena: str, rater: str, request: str) -> None:
    events = service.info(arena).events
    with pytest.raises(Conflict, match=ANNOUNCED):
        service.do(Undo(arena, rater, request))
    assert service.info(arena).events == events


def test_undo_cannot_turn_a_verdict_that_was_announced(service: Service) -> None:
    """One of three raters took four votes back after the verdict, and voted 24 times the other way."""
    arena, raters = settled(service)
    for k in range(4):
        refused(service, arena, raters[0], f"undo {k}")
    assert not vote_for(service, arena, raters[0], "o2", "another")
    assert [event.body["winner"] for event in service.events(arena) if event.kind == "verdict"] == ["o1"]
    assert verify(service.journal, arena).good


def test_undo_sent_again_after_the_verdict_is_answered_as_before(service: Service) -> None:
    arena, (rater, _) = an_arena(service, 2, slate_size=2)
    vote_for(service, arena, rater, "o1", "first")
    receipt = service.do(Undo(arena, rater, "oops"))
    service.do(Vote(receipt.next.id, {"rank": [receipt.next.options.index("o1"), receipt.next.options.index("o2")]}))
    for k in range(100):
        if not vote_for(service, arena, rater, "o1", f"{k}"):
            break
    assert service.do(Undo(arena, rater, "oops")) == receipt
    refused(service, arena, rater, "oops again")


def test_undo_reaches_votes_after_the_verdict_and_none_before(service: Service) -> None:
    arena, raters = settled(service, go_on=True)
    for k in range(6):
        vote_for(service, arena, raters[1], "o1", f"more {k}")
    for option in ("o1", "o2"):
        vote_for(service, arena, raters[0], option, f"after {option}")
    assert [event.kind for event in service.events(arena)].count("verdict") == 1, "it stands throughout"
    answers = service.board(arena).answers
    for k in range(2):
        assert service.do(Undo(arena, raters[0], f"undo {k}")).counted == "undone"
    assert service.board(arena).answers == answers - 2
    refused(service, arena, raters[0], "one more")


@pytest.mark.parametrize("opened_by", ["quarantine", "option"])
def test_votes_of_a_verdict_that_is_open_again_stay(service: Service, opened_by: str) -> None:
    """Also if an owner's change opened it again: the result was announced with them."""
    arena, raters = settled(service, go_on=True, room=5)
    if opened_by == "quarantine":
        service.do(Quarantine(arena, raters[2]))
    else:
        service.do(AddOptions(arena, options(1, 3)))
    assert not service.board(arena).settled
    refused(service, arena, raters[0], "undo")
    if opened_by == "quarantine":
        refused(service, arena, raters[2], "undo")
        service.do(Release(arena, raters[2]))
        refused(service, arena, raters[2], "undo")


def test_a_verdict_stands_and_what_later_votes_say_is_beside_it(service: Service) -> None:
    arena, raters = settled(service, go_on=True)
    reached = service.board(arena)
    for k in range(12):
        vote_for(service, arena, raters[1], "o2", f"against {k}")
    clouded = service.board(arena)
    assert (clouded.kind, clouded.winner, clouded.settled) == ("winner", "o1", True)
    assert (
        clouded.sentence.startswith(reached.sentence)
        and "Later answers cloud it: now 'option 1' is placed above" in clouded.sentence
    )
    assert clouded.rater_json()["sentence"] == clouded.result and "cloud" in clouded.result
    for k in range(200):
        vote_for(service, arena, raters[2], "o2", f"much more {k}")
    turned = service.board(arena)
    assert turned.winner == "o1" and "contradict it: 'option 2' reached the same evidence" in turned.sentence
    assert [event.body["winner"] for event in service.events(arena) if event.kind == "verdict"] == ["o1"], "said once"
    assert verify(service.journal, arena).good
    with service.look(arena) as state:
        loaded = load(arena, save(state), state.past)
        assert loaded is not None and standing_verdict(loaded)[1] == standing_verdict(state)[1] != ""


def test_a_verdict_is_judged_anew_when_the_owner_excludes_votes(service: Service) -> None:
    """What counts is another set of votes then, and its verdict is that of these votes alone."""
    arena, raters = settled(service, go_on=True)
    for k in range(12):
        vote_for(service, arena, raters[1], "o2", f"against {k}")
    service.do(Quarantine(arena, raters[1]))
    with service.look(arena) as state:
        alone = state.judge()
        assert (service.board(arena).kind, service.board(arena).settled) == (alone.kind, alone.settled)
    assert "cloud" not in service.board(arena).sentence
    service.do(Quarantine(arena, raters[0]))
    said = [(event.body["kind"], event.body["winner"]) for event in service.events(arena) if event.kind == "verdict"]
    assert said[-1] == ("open", None) and not service.board(arena).settled, "and the log says that it is open again"


def test_votes_are_announced_by_whatever_settles(service: Service) -> None:
    """A margin that the owner accepts, or a file of votes, settles it too."""
    arena, raters = an_arena(service, 2, slate_size=2)
    for k in range(150):
        vote_for(service, arena, raters[0], "o1" if k % 2 else "o2", f"{k}")
    assert not service.board(arena).settled
    service.do(Undo(arena, raters[0], "before"))
    service.do(ChangeMargin(arena, 0.4))
    assert service.board(arena).settled
    refused(service, arena, raters[0], "after")


def test_refusals_do_not_tell_which_votes_count(service: Service) -> None:
    """Votes in quarantine, beyond the limit, skipped, printed and from a file: all before the verdict, all refused alike."""
    arena, (quick, many, bored, paper) = an_arena(service, 2, raters=4, slate_size=2, places=3)
    limited = service.do(AdmitRater(arena, "limited", limit=1))
    vote_for(service, arena, quick, "o2", "q")
    service.do(Quarantine(arena, quick, "too quick"))
    sheets = service.do(PrintTickets(arena, 2, "p"))
    service.do(Vote(sheets[0].id, {"rank": [0, 1]}, rater=paper))
    vote_for(service, arena, limited, "o1", "l")
    assert service.do(Vote(sheets[1].id, {"rank": [0, 1]}, rater=limited)).counted == "aside"
    ticket = service.do(Ask(arena, bored, "b"))
    service.do(Vote(ticket.id, {"skip": True}))
    service.do(ImportVotes(arena, [VoteLine("1", {"rank": [0, 1]}, shown=["o1", "o2"], rater="file")]))
    for k in range(100):
        if not vote_for(service, arena, many, "o1", f"{k}"):
            break
    for rater in (quick, limited, bored, paper, many, "r6"):
        refused(service, arena, rater, "undo")


def test_a_snapshot_remembers_what_was_announced(tmp_path: Path) -> None:
    with running(tmp_path / "a.db") as service:
        arena, raters = settled(service, go_on=True)
        service.do(Quarantine(arena, raters[0]))
        state = fold(service.events(arena), arena)
        assert not state.settled() and state.settled_at > 0
        again = load(arena, save(state), None)
        assert again is not None and again.settled_at == state.settled_at
    with running(tmp_path / "a.db") as service:  # from the snapshot that closing saved
        refused(service, arena, raters[1], "undo")


def test_snapshots_of_earlier_versions_are_ignored_and_the_log_is_folded(tmp_path: Path) -> None:
    with running(tmp_path / "a.db") as service:
        arena, _ = settled(service, go_on=True)
        before = service.digest(arena)
        state = fold(service.events(arena), arena)
    with running(tmp_path / "a.db") as service:
        service.journal.save_snapshot(arena, save(state)._replace(format="multiduel-arena-2", data=b"as it was then"))
        assert service.digest(arena) == before
        assert service._find(arena).saved == 0


def test_pages_offer_no_undo_of_what_was_announced(call: Caller) -> None:
    arena, owner = call.arena([{"name": name, "content": name} for name in ("mild", "sharp")], slate_size=2)
    rater = Visitor(call)
    page = rater.enter(call.rater(arena, owner, "Ada")).text
    assert 'value="undo"' not in page, "there is no vote yet"
    stale = ""
    for _ in range(100):
        ticket = re.search(r'name="ticket" value="([^"]+)"', page)
        if ticket is None:
            break
        stale = page
        first = 0 if page.index("mild") < page.index("sharp") else 1
        fields = {"token": rater.token(page), "ticket": ticket[1], f"place-{first}": "1", f"place-{1 - first}": "2"}
        page = rater("POST", f"/vote/{arena}", {**fields, "action": "vote"}).text
    assert "It is decided" in page and 'value="undo"' not in page
    assert 'value="undo"' in stale
    fields = {"token": rater.token(stale), "request": re.search(r'name="request" value="([^"]+)"', stale)[1], "action": "undo"}
    answer = rater("POST", f"/vote/{arena}", fields)
    assert answer.status_code == 409 and ANNOUNCED in answer.text
    headers = {"X-Token": rater.token(stale), "Accept": "application/json", "Content-Type": "application/json"}
    answer = rater("POST", f"/vote/{arena}/undo", b'{"request": "z"}', headers=headers)
    assert (answer.status_code, answer.json()) == (409, {"error": ANNOUNCED})


# ---- by simulation: all options are alike, answers are fair tosses

ALPHA, VOTES = 0.2, 50


class World:
    """An arena in memory whose raters toss coins, and take votes back as ``habit`` says."""

    def __init__(self, seed: int, K: int, m: int, *, raters: int = 3, **settings: Any) -> None:
        self.luck, self.state, self.asked = random.Random(seed), State("0" * 12), 0
        self.decision = Decision(self.state)
        self.do(Create("alike", Settings(slate_size=m, alpha=ALPHA, seed=seed, policy="uniform", **settings), options(K)))
        self.do(Open("0" * 12))
        self.raters = [self.do(AdmitRater("0" * 12, "")) for _ in range(raters)]

    def do(self, command: Any) -> Any:
        return decide(self.decision, command, datetime(2026, 1, 1, tzinfo=UTC))

    def winners(self) -> list[str]:
        """All that were ever announced."""
        return [e.body["winner"] for e in self.decision.events if e.kind == "verdict" and e.body["winner"] is not None]

    def leader(self) -> str:
        shares = self.state.tally.above.sum(axis=1) - self.state.tally.above.sum(axis=0)
        return f"o{int(shares.argmax()) + 1}"

    def toss(self, ticket: Any, rater: str) -> bool:
        """A fair answer. Was it for the leader?"""
        leader, places = self.leader(), list(range(len(ticket.options)))
        self.luck.shuffle(places)
        self.do(Vote(ticket.id, {"rank": places}, rater=rater))
        return bool(ticket.options[places[0]] == leader)

    def ask(self, rater: str) -> Any:
        self.asked += 1
        return self.do(Ask("0" * 12, rater, f"{self.asked}"))

    def undo(self, rater: str) -> Any:
        self.asked += 1
        try:
            return self.do(Undo("0" * 12, rater, f"undo {self.asked}")).next
        except Conflict:
            return None

    def play(self, habit: str, votes: int = VOTES) -> None:
        for k in range(votes):
            rater = self.raters[k % len(self.raters)]
            ticket = self.ask(rater)
            if isinstance(ticket, Done):
                return
            was_for = self.toss(ticket, rater)
            back = {
                "never": False,
                "slips": self.luck.random() < 0.1,
                "against the leader": not was_for,
                "for the leader": was_for,
            }[habit]
            again = self.undo(rater) if back else None
            if again is not None:
                self.toss(again, rater)


def share_wrong(habit: str, K: int, m: int, runs: int, **settings: Any) -> float:
    """How often any winner was announced, ever, although all are alike."""
    wrong = 0
    for seed in range(runs):
        world = World(seed, K, m, **settings)
        world.play(habit)
        wrong += bool(world.winners())
    return wrong / runs


def within(alpha: float, runs: int) -> float:
    """What a rate of alpha exceeds in one test of a thousand."""
    return float(alpha + 3.1 * (alpha * (1.0 - alpha) / runs) ** 0.5)


@pytest.mark.parametrize(
    ("habit", "K", "m"),
    [("never", 2, 2), ("slips", 2, 2), ("slips", 3, 2), ("slips", 3, 3), ("for the leader", 2, 2)],
)
def test_verdicts_err_at_most_alpha_although_votes_are_taken_back(habit: str, K: int, m: int) -> None:
    """Slips that are corrected, whatever they said, and raters who take back what helps the leader."""
    runs = 40
    assert share_wrong(habit, K, m, runs) <= within(ALPHA, runs)


def test_the_promise_does_not_cover_raters_who_take_back_what_the_board_does_not_like() -> None:
    """As docs/verdicts-numbers.md says: whoever tosses again until the answer is for the leader answers for the leader."""
    assert share_wrong("against the leader", 2, 2, 10) > ALPHA


@pytest.mark.parametrize(("K", "m"), [(2, 2), (3, 2), (3, 3)])
def test_raters_who_turn_after_the_verdict_turn_no_verdict(K: int, m: int) -> None:
    """Honest votes up to the verdict; then one of three raters takes back all that can be, and votes the other way."""
    found = 0
    for seed in range(10):
        world = World(seed, K, m)
        for k in range(150):
            ticket = world.ask(world.raters[k % 3])
            if isinstance(ticket, Done):
                break
            best_first = sorted(range(m), key=lambda place: ticket.options[place] + str(world.luck.random() < 0.1))
            world.do(Vote(ticket.id, {"rank": best_first}))
        before = world.winners()
        found += len(before)
        turned = world.raters[0]
        held = [world.undo(turned) for _ in range(4)]
        for k in range(60):
            ticket = held[k] if k < 4 and held[k] is not None else world.ask(turned)
            if isinstance(ticket, Done):
                break
            worst_first = sorted(range(m), key=lambda place: ticket.options[place], reverse=True)
            world.do(Vote(ticket.id, {"rank": worst_first}))
        assert world.winners() == before
    assert found >= 8


@pytest.mark.parametrize(("K", "m"), [(2, 2), (3, 3)])
def test_verdicts_that_stand_err_at_most_alpha(K: int, m: int) -> None:
    """All options are alike and votes go on after a verdict: whatever is announced, at any time, is wrong, and stays said."""
    runs, wrong = 40, 0
    for seed in range(runs):
        world = World(seed, K, m, go_on=True)
        world.play("never", 80)
        assert len(world.winners()) <= 1, "one verdict, which stands"
        wrong += bool(world.winners())
        if world.winners():
            stands, _ = standing_verdict(world.state)
            assert f"o{stands.winner + 1}" == world.winners()[0]
    assert wrong / runs <= within(ALPHA, runs)


def test_excluding_a_rater_for_what_they_did_keeps_the_error() -> None:
    """One rater of three is excluded at a moment that has nothing to do with the votes. The verdict of the others' votes, judged
    anew, errs at most alpha: they are answers like any."""
    runs, wrong = 60, 0
    for seed in range(runs):
        world = World(seed, 2, 2, go_on=True)
        world.play("never", 10 + seed % 40)
        world.do(Quarantine("0" * 12, world.raters[seed % 3], "a robot"))
        before = len(world.decision.events)
        world.play("never", 40)
        stands, _ = standing_verdict(world.state)
        later = [e.body["winner"] for e in world.decision.events[before:] if e.kind == "verdict"]
        assert len([winner for winner in later if winner is not None]) <= 1
        wrong += stands.winner is not None
    assert wrong / runs <= within(ALPHA, runs)
