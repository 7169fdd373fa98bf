"""State is a fold: live, folded anew, or from a snapshot and the tail, it is the same, down to the next slate."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from multiduel.arena import Ask, BrokenLog, Done, Service, Settings, Vote
from multiduel.arena.domain import events as log
from multiduel.arena.domain.chooser import Chooser, Epoch, shuffled
from multiduel.arena.domain.events import Event
from multiduel.arena.domain.past import past_of
from multiduel.arena.files.imports import import_log
from multiduel.arena.files.problems import problem_of, write_problem
from multiduel.arena.files.replay import replay
from multiduel.arena.files.verify import verify, verify_log
from multiduel.arena.journal import Snapshot
from multiduel.arena.service.snapshots import FORMAT, digest, load, save
from multiduel.engine.registry.registry import POLICIES
from multiduel.inference import verdict
from multiduel.inputs import BadInput
from tests.arena.folding import fold
from tests.arena.play import Clock, an_arena, lively, running, ticket_for

STEPS = 250


def a_life(service: Service, clock: Clock, seed: int = 1, steps: int = STEPS, **settings: Any) -> str:
    words = {"room": 9, "expires": 60, "contexts": 2} | settings
    arena, _ = an_arena(service, 5, raters=4, **words)
    lively(service, arena, clock, random.Random(seed), steps)
    return arena


@pytest.mark.parametrize("unit", ["answer", "rater"])
@pytest.mark.parametrize("question", ["rank", "best", "worst"])
def test_live_folded_anew_and_from_a_snapshot_it_is_the_same(tmp_path: Path, clock: Clock, unit: str, question: str) -> None:
    db = tmp_path / "a.db"
    with running(db, clock) as service:
        arena = a_life(service, clock, unit=unit, question=question)
        live = service.digest(arena)
        kinds = {event.kind for event in service.events(arena)}
        assert kinds >= {"undo", "quarantined", "released", "option_added", "option_retired", "policy_changed", "epoch"}, kinds
    with running(db, clock) as service:
        assert service._find(arena).saved == 0
        assert service.digest(arena) == live, "from the snapshot that closing saved"
        assert service._find(arena).saved == service.info(arena).events
        lively(service, arena, clock, random.Random(2), 60)
        live, events = service.digest(arena), service.events(arena)
        with running(db, clock) as other:
            assert other._find(arena).saved == 0
            assert other.digest(arena) == live, "from an older snapshot and the tail"
        service.journal.drop_snapshots()
        with running(db, clock) as other:
            assert other.digest(arena) == live, "without one: only the time differs"
    lines = [log.to_line(event) for event in events]
    assert digest(fold(map(log.from_line, lines), arena)) == live, "from an exported log"


def test_snapshots_at_every_event(service: Service, clock: Clock) -> None:
    arena = a_life(service, clock, steps=60, unit="rater")
    events = service.events(arena)
    last = digest(fold(events, arena))
    for cut in range(1, len(events), 7):
        state = load(arena, save(fold(events[:cut], arena)), past_of(events))
        assert state is not None
        for event in events[cut:]:
            state.apply(event)
        assert digest(state) == last


def test_whatever_is_wrong_with_a_snapshot_it_is_ignored(service: Service, clock: Clock) -> None:
    arena = a_life(service, clock, steps=60)
    good = save(fold(service.events(arena), arena))
    assert load(arena, good, None) is not None
    table = json.loads(zlib.decompress(good.data))
    wrong: list[Snapshot | None] = [
        None,
        good._replace(format="multiduel-arena-0"),
        good._replace(data=good.data[:-9]),
        good._replace(data=b""),
        good._replace(data=zlib.compress(b"[]")),
        good._replace(number=good.number - 1),
        good._replace(hash="0" * 64),
    ]
    for name in table:
        less = {key: value for key, value in table.items() if key != name}
        wrong.append(good._replace(data=zlib.compress(json.dumps(less).encode())))
    for snapshot in wrong:
        assert load(arena, snapshot, None) is None
    assert load("another", good, None) is None
    assert FORMAT in good.format


def test_a_log_that_does_not_fit_together_is_refused(service: Service, clock: Clock) -> None:
    arena = a_life(service, clock, steps=30)
    events = service.events(arena)
    for k, event in enumerate(events):
        with pytest.raises(BrokenLog, match=f"Event {event.number}"):
            fold([*events[:k], event._replace(text=event.text + " "), *events[k + 1 :]])
    with pytest.raises(BrokenLog, match="begins with 'created'"):
        fold([log.next_event(None, "opened", events[0].at, {})])
    vote = {"ticket": f"{arena}-none", "ballot": {"rank": [[0], [1]]}, "late": False, "counted": "counted"}
    forged = log.next_event(events[-1], "vote", events[-1].at, vote)
    with pytest.raises(BrokenLog, match="its ticket is not there"):
        fold([*events, forged])
    with pytest.raises(BrokenLog, match="does not fit the log before it"):  # also where only the fold looks
        fold(events).apply(forged)
    later = {"schema": 99, "name": "x", "settings": {}, "options": [], "contexts": []}
    with pytest.raises(BrokenLog, match="schema 99"):
        fold([log.next_event(None, "created", events[0].at, later)])


# ---- epochs


def rewritten(events: list[Event], number: int, change: Any) -> list[Event]:
    """The log of someone who altered an event and knew how to make all hashes fit again."""
    out: list[Event] = []
    for event in events:
        body = json.loads(event.text)
        if event.number == number:
            change(body)
        out.append(log.next_event(out[-1] if out else None, event.kind, event.at, body))
    return out


def test_verify_finds_every_slate_again(service: Service, clock: Clock) -> None:
    arena = a_life(service, clock)
    report = verify(service.journal, arena)
    assert report.good, str(report)
    assert report.events == service.info(arena).events
    assert sum(epoch.tickets for epoch in report.epochs) > 100
    assert all(epoch.checked for epoch in report.epochs)
    assert {why for epoch in report.epochs for why in epoch.why} >= {"the first", "undo", "option retired", "policy changed"}
    assert report.contents == 2 * len(service.info(arena).options)
    assert "Verified." in str(report)


def test_verify_names_the_first_that_differs(service: Service, clock: Clock) -> None:
    arena = a_life(service, clock, steps=120)
    events = service.events(arena)
    tickets = [event for event in events if event.kind == "ticket" and event.body["by"] == "policy"]
    early, late = tickets[3], tickets[40]

    def other_choice(body: dict[str, Any]) -> None:
        body["chosen"]["options"] = body["chosen"]["options"][::-1]

    report = verify_log(rewritten(rewritten(events, late.number, other_choice), early.number, other_choice))
    assert not report.good and report.first is not None
    assert report.first[0] == early.number, report
    assert f"event {early.number}, its slate" in str(report)

    def other_order(body: dict[str, Any]) -> None:
        body["shown"] = body["shown"][::-1]

    report = verify_log(rewritten(events, early.number, other_order))
    assert report.first == (early.number, "its options are in another order than the seed gives")
    report = verify_log([*events[:20], events[20]._replace(at="2030")])
    assert report.first is not None and report.first[0] == 21
    assert report.events == 20


def test_verify_asks_the_votes_whether_the_verdict_is_right(service: Service) -> None:
    arena = until_settled(service)
    assert verify(service.journal, arena).good
    events = service.events(arena)
    (said,) = [event for event in events if event.kind == "verdict"]
    report = verify_log(rewritten(events, said.number, lambda body: body.update(winner="o2")))
    assert report.first is not None and report.first[0] == said.number
    without = [event for event in events if event.number < said.number - 10]
    wrong = log.next_event(without[-1], "verdict", said.at, said.body)
    report = verify_log([*without, wrong])
    assert report.first is not None and "the votes say" in report.first[1]


def test_verify_looks_at_contents_and_the_snapshot(service: Service, clock: Clock, tmp_path: Path) -> None:
    arena = a_life(service, clock, steps=60)
    events = service.events(arena)
    service.journal.save_snapshot(arena, save(fold(events, arena)))
    assert verify(service.journal, arena).snapshot == "agrees"
    state = fold(events, arena)
    state.set_aside += 1
    service.journal.save_snapshot(arena, save(state))
    report = verify(service.journal, arena)
    assert report.snapshot == "differs" and not report.good
    report = verify_log(events, {})
    assert report.first is not None and "is missing" in report.first[1]


def test_another_engine_begins_an_epoch_and_old_slates_stay(
    service: Service, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena, (rater, _) = an_arena(service)
    old = [ticket_for(service, arena, rater, "1")]
    service.do(Vote(old[0].id, {"rank": [0, 1, 2]}))
    for module in ("domain.chooser", "service.tickets"):
        monkeypatch.setattr(f"multiduel.arena.{module}.fingerprint", lambda policy: "a later engine")
    new = ticket_for(service, arena, rater, "2")
    report = verify(service.journal, arena)
    assert [(epoch.why, epoch.checked) for epoch in report.epochs] == [(("the first",), False), (("another engine",), True)]
    assert report.good
    assert "of 1 of 2 epochs" in str(report)
    assert service.ticket(old[0].id) == old[0]
    assert service.ticket(new.id) == new


def test_an_engine_that_chooses_otherwise_goes_on_in_an_epoch_of_its_own(service: Service, clock: Clock) -> None:
    """A processor that rounds otherwise, say: the log says what was shown, and the fold believes it."""
    arena, (rater, _) = an_arena(service, 5)
    ticket = ticket_for(service, arena, rater, "1")
    events = service.events(arena)
    other = next(k for k in range(1, 6) if f"o{k}" not in ticket.options)

    def other_choice(body: dict[str, Any]) -> None:
        body["chosen"]["options"][0] = f"o{other}"

    state = fold(rewritten(events, events[-1].number, other_choice), arena)
    assert state.needs_epoch() == [f"the slate of event {events[-1].number} came out otherwise here"]
    assert fold(events, arena).needs_epoch() == []


def test_every_epoch_has_luck_of_its_own() -> None:
    """From the arena's seed and the number of its event; the policy's and the challengers' are apart."""

    def luck(seed: int, number: int) -> tuple[Any, Any]:
        epoch = Epoch(number, (), "uniform", {}, (0, 1, 2), "", 0, False, np.zeros((3, 3)))
        saved = Chooser(epoch, Settings(seed=seed)).snapshot()
        return tuple(saved["policy"]["rng"]), tuple(saved["closer"]["rng"])

    assert luck(1, 5) == luck(1, 5)
    assert len({*luck(1, 5), *luck(1, 6), *luck(2, 5)}) == 6
    orders = {tuple(shuffled(1, number, "order", range(3))) for number in range(40)}
    assert len(orders) == 6
    assert shuffled(1, 7, "order", (2, 0, 1)) == shuffled(1, 7, "order", range(3)), "the order of the slate does not show"


@pytest.mark.parametrize("unit", ["answer", "rater"])
def test_the_policy_knows_what_counts_and_nothing_else(service: Service, clock: Clock, unit: str) -> None:
    """By rater, a second judgement of a pair is no news; after an undo, a quarantine or a release it begins with what is left."""
    arena = a_life(service, clock, steps=0, unit=unit, places=9)
    looked = 0
    for k in range(12):
        lively(service, arena, clock, random.Random(k), 25, churn=0.04)
        with service.look(arena) as state:
            if state.needs_epoch():
                continue
            knows = state.ready().policy.tally
            np.testing.assert_allclose(knows.above + 0.5 * knows.ties, state.wins(state.present), atol=1e-9)
            looked += state.tally.answers > len(state.steps)
    assert looked > 3


def test_where_the_policy_has_nothing_left_to_compare_challengers_choose(service: Service) -> None:
    arena = until_settled(service, policy="multi-rucb", slate_size=3)
    by = [event.body["by"] for event in service.events(arena) if event.kind == "ticket"]
    assert by[0] == "policy"
    assert by.count("challengers") > 3
    assert verify(service.journal, arena).good


def test_every_policy_that_can_serves_and_its_slates_are_found_again() -> None:
    root = Path(__file__).resolve().parents[3]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join([str(root), *sys.path])}
    command = [sys.executable, "-m", "tests.arena.every_policy"]
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, timeout=300, check=True)
    said = dict(line.split() for line in done.stdout.splitlines())
    assert said == {name: "serves" if spec.observes else "refused" for name, spec in POLICIES.items()}


def test_a_two_armed_policy_compiled(service: Service, clock: Clock) -> None:
    arena = a_life(service, clock, steps=80, policy="dts")
    assert verify(service.journal, arena).good


def test_who_goes_on_after_the_verdict_is_still_asked(service: Service) -> None:
    arena = until_settled(service, go_on=True)
    ticket = ticket_for(service, arena, "r1", "more")
    assert ticket.by == "uniform"
    service.do(Vote(ticket.id, {"rank": [0, 1, 2]}))
    assert verify(service.journal, arena).good


# ---- verdicts


def until_settled(service: Service, n: int = 4, **settings: Any) -> str:
    """An arena whose first option wins every time, up to the verdict."""
    arena, (rater, _) = an_arena(service, n, **settings)
    question = service.info(arena).settings.question
    for k in range(400):
        if service.board(arena).settled:
            return arena
        if settings.get("unit") == "rater":
            from multiduel.arena import AdmitRater

            rater = service.do(AdmitRater(arena, f"another {k}"))
        ticket = ticket_for(service, arena, rater, f"{k}")
        ranking = sorted(range(len(ticket.options)), key=lambda p: int(ticket.options[p][1:]))
        service.do(Vote(ticket.id, {question: ranking if question == "rank" else ranking[0 if question == "best" else -1]}))
    raise AssertionError("never settled")


@pytest.mark.parametrize(
    ("unit", "question", "words"),
    [
        ("answer", "rank", "for these raters (95 %): against each other option, more than half of"),
        ("rater", "rank", "for people like these raters (95 %): against each other option, more than half of the raters"),
        ("answer", "best", "of the answers that name one of the two best, more than half name it"),
        ("rater", "worst", "of the raters that name one of the two worst, more than half name the other"),
    ],
)
def test_the_verdict_in_words_and_as_an_event(service: Service, unit: str, question: str, words: str) -> None:
    n = 4 if question != "worst" else 2
    arena = until_settled(service, n, unit=unit, question=question)
    board = service.board(arena)
    assert words in board.sentence
    assert board.sentence.startswith("'option 1' is best")
    assert (board.kind, board.winner, board.forecast) == ("winner", "o1", "none: it is settled")
    assert service.do(Ask(arena, "r1", "more")).why == "settled"
    (event,) = [event for event in service.events(arena) if event.kind == "verdict"]
    assert event.body["sentence"] == board.sentence
    assert {pair["other"] for pair in event.body["pairs"]} == {f"o{k}" for k in range(2, n + 1)}
    assert all(pair["evidence"] >= event.body["needed"] and pair["above"] > pair["below"] for pair in event.body["pairs"])
    assert board.lines[0].option == "o1" and board.lines[0].rank_from == 1


def test_a_cycle_is_named(service: Service) -> None:
    arena, (rater, _) = an_arena(service, 3, slate_size=2)
    for k in range(400):
        got = service.do(Ask(arena, rater, f"{k}"))
        if isinstance(got, Done):
            break
        first, second = (int(option[1:]) - 1 for option in got.options)
        service.do(Vote(got.id, {"rank": [0, 1] if (second - first) % 3 == 1 else [1, 0]}))
    assert got.why == "settled"
    board = service.board(arena)
    assert board.kind == "cycle" and len(board.cycle) == 3
    assert board.sentence.startswith("No option beats all others")
    (event,) = [event for event in service.events(arena) if event.kind == "verdict"]
    assert [(pair["option"], pair["other"]) for pair in event.body["pairs"]] == list(
        zip(board.cycle, (*board.cycle[1:], board.cycle[0]), strict=True)
    )


@pytest.mark.parametrize("margin", [0.0, 0.1])
@pytest.mark.parametrize("unit", ["answer", "rater"])
def test_kept_evidence_is_the_evidence_and_the_quick_look_misses_nothing(
    service: Service, clock: Clock, unit: str, margin: float
) -> None:
    arena = a_life(service, clock, seed=5, unit=unit, margin=margin, go_on=True)
    events = service.events(arena)
    state = fold(events[:1])
    looks = 0
    for event in events[1:]:
        before = state.judge().settled
        state.apply(event)
        now = state.judge()
        fresh = verdict(
            state.tally, alpha=0.05, margin=margin, room=9, retired=state.retired, names=[o.name for o in state.options]
        )
        np.testing.assert_allclose(now.evidence, fresh.evidence, atol=1e-9)
        np.testing.assert_allclose(now.against, fresh.against, atol=1e-9)
        assert (now.kind, now.winner, now.still_in) == (fresh.kind, fresh.winner, fresh.still_in)
        if event.kind == "vote" and not before and not state.settled():
            ticket = next(one for one in state.tickets.values() if one.vote and one.vote.event == event.number)
            looks += 1
            assert state.may_settle(ticket.shown) or not now.settled
    assert looks > 30


def test_the_quick_look_sees_what_settles(service: Service) -> None:
    """The test above would pass if it always said yes; and this one if it always said no."""
    for settings in ({}, {"room": 8}, {"margin": 0.1}):
        arena = until_settled(service, **settings)
        events = service.events(arena)
        said = next(k for k, event in enumerate(events) if event.kind == "verdict")
        state, no = fold(events[:5]), 0
        for event in events[5:said]:
            state.judge()
            state.apply(event)
            if event.kind == "vote":
                shown = state.tickets[event.body["ticket"]].shown
                no += not state.may_settle(shown)
        assert state.may_settle(shown)
        assert no > 5


def test_margin_is_offered_and_accepted(service: Service) -> None:
    from multiduel.arena import ChangeMargin

    arena, (rater, _) = an_arena(service, 2, slate_size=2, votes=1500)
    rng = random.Random(3)
    for k in range(400):
        ticket = ticket_for(service, arena, rater, f"{k}")
        service.do(Vote(ticket.id, {"rank": [0, 1] if rng.random() < 0.5 else [1, 0]}))
    board = service.board(arena)
    assert board.forecast_range is None and board.forecast == "too early to say (the range is too wide)"
    assert board.margin_offer is not None and board.margin_offer.margin in (0.05, 0.1)
    assert board.margin_offer.likely <= 1100
    service.do(ChangeMargin(arena, 0.2))
    settled = service.board(arena)
    assert settled.settled and "give or take 20 %" in settled.sentence
    assert [event.kind for event in service.events(arena)][-2:] == ["margin_changed", "verdict"]


def test_the_board_at_no_votes_and_after_retirements(service: Service, clock: Clock) -> None:
    arena, _ = an_arena(service, 3)
    board = service.board(arena)
    assert board.kind == "open" and board.forecast.startswith("too early to say")
    assert [line.rank_from for line in board.lines] == [1, 1, 1] and [line.rank_to for line in board.lines] == [3, 3, 3]
    json.dumps(board.to_json())
    assert service.board(arena) is board, "worked out once"
    arena = a_life(service, clock)
    board = service.board(arena)
    gone = {option["id"] for option in service.info(arena).options if option["retired"]}
    assert gone and {line.option for line in board.lines if line.retired} == gone
    assert not gone & set(board.still_in)
    assert sum(line.showings for line in board.lines) >= 2 * board.answers


def test_agreement_and_speed(service: Service, clock: Clock) -> None:
    arena, raters = an_arena(service, 3, raters=4, go_on=True)
    for k in range(12):
        for n, rater in enumerate(raters):
            ticket = ticket_for(service, arena, rater, f"{k}")
            clock.wait(1 + n)
            ranking = sorted(range(3), key=lambda p: int(ticket.options[p][1:]), reverse=n == 3)
            service.do(Vote(ticket.id, {"rank": ranking}))
    lines = service.raters(arena)
    assert [line.agreement for line in lines] == [1.0, 1.0, 1.0, 0.0], "the last one ranks the other way round"
    assert [line.judgements for line in lines] == [36] * 4
    assert [line.seconds for line in lines] == [1.0, 2.0, 3.0, 4.0]


# ---- another policy, and the lab


def test_replay_of_the_same_policy_is_the_log_and_of_another_says_its_limits(service: Service, clock: Clock) -> None:
    arena, _ = an_arena(service, 5)
    lively(service, arena, clock, random.Random(1), 120, churn=0.0)
    events = service.events(arena)
    same = replay(events, "challengers")
    assert (same.same, same.first, same.overlap) == (same.tickets, None, 1.0)
    assert same.tickets > 20 and same.shown == same.would_show
    other = replay(events, "uniform")
    assert other.tickets == same.tickets and other.same < same.tickets
    assert sum(other.would_show.values()) == 3 * other.tickets
    assert "no picture of how it would have gone on" in str(other)
    with pytest.raises(BadInput, match="cannot serve"):
        replay(events, "doubler")


def test_a_log_opens_in_the_lab(service: Service, tmp_path: Path) -> None:
    import multiduel as md

    arena = until_settled(service, 5, room=9)
    with service.look(arena) as state:
        problem = problem_of(state)
    board = service.board(arena)
    assert problem.n_arms == sum(not line.retired for line in board.lines)
    assert ((problem.low <= problem.matrix) & (problem.matrix <= problem.high)).all()
    write_problem(problem, tmp_path / "p.csv")
    again = md.read_csv(tmp_path / "p.csv")
    assert (again.matrix == problem.matrix).all() and again.names == problem.names
    assert md.simulate("uniform", again, horizon=50, runs=2, seed=1) is not None
    write_problem(problem, tmp_path / "p.json")
    assert json.loads((tmp_path / "p.json").read_text())["low"] == problem.low.tolist()
    with pytest.raises(BadInput, match=r"\.csv or \.json"):
        write_problem(problem, tmp_path / "p.txt")


# ---- logs that move, logs that stay


def test_an_exported_log_comes_home_and_a_forged_one_does_not(service: Service, clock: Clock, tmp_path: Path) -> None:
    arena = a_life(service, clock, steps=80)
    events = service.events(arena)
    contents = {
        one["sha256"]: service.journal.get_content(arena, one["sha256"]) or b""
        for option in service.info(arena).options
        for one in option["contents"]
    }
    with running(tmp_path / "other.db", clock) as other:
        assert import_log(other, events, contents).id == arena
        assert other.digest(arena) == service.digest(arena)
        assert import_log(other, events[:-3], contents).events == len(events), "an older copy of the same changes nothing"
        forged = rewritten(events, events[-1].number, lambda body: body.update(more=1))
        with pytest.raises(Exception, match="already, with another log"):
            import_log(other, forged, contents)
        votes = [event.number for event in events if event.kind == "vote" and "rank" in event.body["ballot"]]
        for changed, words in (
            (rewritten(events, 1, lambda body: body.update(arena="../etc")), "12 hexadecimal digits"),
            (rewritten(events, votes[0], lambda body: body.update(ballot={"rank": [[0], [-1]]})), "cannot be taken|position"),
            (events[1:], "cannot be taken"),
            ([], "must have events"),
        ):
            with pytest.raises(BadInput, match=words):
                import_log(other, changed, contents)
        with pytest.raises(BadInput, match="missing"):
            import_log(other, events, {})


FROZEN = sorted((Path(__file__).parents[2] / "data" / "arena").glob("v*/*.jsonl"))


@pytest.mark.parametrize("path", FROZEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_frozen_logs_are_understood_as_they_were(path: Path) -> None:
    """Logs of every schema that there ever was, with what their state came to. They are never written anew."""
    events = [log.from_line(line) for line in path.read_text("utf-8").splitlines()]
    state = fold(events)
    expected = json.loads(path.with_suffix(".json").read_text("utf-8"))
    assert facts_of(state) == expected
    assert verify_log(events).first is None
    if state.status == "open":
        assert state.needs_epoch() == ["another engine"] or verify_log(events).epochs[-1].checked


def facts_of(state: Any) -> dict[str, Any]:
    """What a log says whichever engine reads it."""
    return {
        "schema": state.schema,
        "events": state.number,
        "hash": state.hash,
        "status": state.status,
        "options": [[option.id, option.name, option.retired] for option in state.options],
        "above": state.tally.above.tolist(),
        "ties": state.tally.ties.tolist(),
        "answers": state.tally.answers,
        "set_aside": state.set_aside,
        "votes": {rater.id: rater.votes for rater in state.raters.values()},
        "verdict": state.judge().kind,
    }


def test_frozen_logs_hold_every_kind_of_event() -> None:
    kinds = {log.from_line(line).kind for path in FROZEN for line in path.read_text("utf-8").splitlines()}
    assert kinds == set(log.KINDS) - {"notified"}  # of later versions
