"""Features of options: declared with them, journaled, used by policies that take them, and found again by every replay."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from multiduel.arena import Ask, Create, Open, Service, Settings, Undo, Vote
from multiduel.arena.domain.commands import AddOptions, AdmitRater, ChangePolicy
from multiduel.arena.domain.options import Option
from multiduel.arena.files.verify import verify
from multiduel.arena.service.snapshots import digest, load, save
from multiduel.inputs import BadInput
from tests.arena import play
from tests.arena.calling import Caller
from tests.arena.folding import fold
from tests.arena.play import Clock, lively, running
from tests.arena.play import options as bare

ROWS = [(0.0, 0.0), (0.1, 0.0), (3.0, 1.0), (3.1, 1.0), (9.0, 2.0)]


def described(rows: list[tuple[float, ...]], first: int = 1) -> list[Option]:
    return [Option(one.name, one.contents, row) for one, row in zip(bare(len(rows), first), rows, strict=True)]


def an_arena(service: Service, listed: list[Option], policy: str = "kernel-self-sparring", **settings: object) -> tuple[str, str]:
    words = {"seed": 7, "slate_size": 3, "policy": policy, "room": 8} | settings
    arena = service.do(Create("described", Settings(**words), listed, [])).id  # type: ignore[arg-type]
    service.do(Open(arena))
    return arena, service.do(AdmitRater(arena, "rater"))


def slates(service: Service, arena: str, rater: str, votes: int) -> list[list[str]]:
    """Always the option with the smallest number wins."""
    seen = []
    for k in range(votes):
        ticket = service.do(Ask(arena, rater, f"r{k}"))
        seen.append(list(ticket.options))
        order = sorted(range(len(ticket.options)), key=lambda place: ticket.options[place])
        service.do(Vote(ticket.id, {"rank": [[place] for place in order]}))
    return seen


def test_a_policy_that_takes_features_chooses_by_them(tmp_path: Path) -> None:
    with running(tmp_path / "a.db") as service:
        by_features, plain = (an_arena(service, listed) for listed in (described(ROWS), bare(5)))
        assert slates(service, *by_features, 12) != slates(service, *plain, 12)
        with service.look(by_features[0]) as state:
            policy = state.ready().policy
            arms = [policy._label.index(option) for option in range(5)]
            mean = policy._state.mean[arms]
            assert abs(mean[2] - mean[3]) < 0.1 * abs(mean[0] - mean[4]), "options with about the same features are alike"


def test_every_slate_is_found_again_after_undone_and_excluded_votes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(play, "options", lambda n, first=1, contexts=1: described([(first + k, 1.0) for k in range(n)], first))
    with running(tmp_path / "a.db", clock) as service:
        arena, rater = an_arena(service, described(ROWS))
        lively(service, arena, clock, random.Random(4), 120)
        ticket = service.do(Ask(arena, rater, "again"))
        service.do(Vote(ticket.id, {"rank": [[place] for place in range(len(ticket.options))]}))
        service.do(Undo(arena, rater, "undo"))
        report = verify(service.journal, arena)
        assert report.first is None and sum(epoch.tickets for epoch in report.epochs if epoch.checked) > 20
        with service.look(arena) as state:
            folded, loaded = fold(service.journal.stream(arena), arena), load(arena, save(state), state.past)
            assert loaded is not None and digest(folded) == digest(state) == digest(loaded)
            assert [option.features for option in state.options][:5] == [list(row) for row in ROWS]


def test_policies_without_features_ignore_them(tmp_path: Path) -> None:
    with running(tmp_path / "a.db") as service:
        described_ones, plain = (an_arena(service, listed, "challengers") for listed in (described(ROWS), bare(5)))
        assert slates(service, *described_ones, 8) == slates(service, *plain, 8)


def test_options_that_are_described_otherwise_are_refused(tmp_path: Path) -> None:
    with running(tmp_path / "a.db") as service:
        mixed = [*described(ROWS[:3]), *bare(2, first=8)]
        with pytest.raises(BadInput, match=r"Option 'option 8' must have 2 features, as the others. Got 0."):
            an_arena(service, mixed)
        arena, _ = an_arena(service, described(ROWS))
        for added in (bare(1, first=9), described([(1.0, 2.0, 3.0)], first=9)):
            with pytest.raises(BadInput, match=r"Option 'option 9' must have 2 features, as the others. Got \d."):
                service.do(AddOptions(arena, added))
        empty, _ = an_arena(service, bare(3))
        with pytest.raises(BadInput, match=r"must have no features, as the others. Got 2."):
            service.do(AddOptions(empty, described(ROWS[:1], first=9)))
        with pytest.raises(BadInput, match=r"cannot serve an arena.*its estimate depends on the order of the answers"):
            service.do(ChangePolicy(arena, "max-pair-ucb", {}))


def test_a_log_with_rows_of_different_length_uses_none(tmp_path: Path) -> None:
    """No command makes one; whoever writes one by hand gets a policy without features, and no crash."""
    with running(tmp_path / "a.db") as service:
        arena, rater = an_arena(service, described(ROWS))
        slates(service, arena, rater, 3)
        events = list(service.journal.stream(arena))
        events[0].body["options"][0]["features"] = [1.0]
        assert fold(events, arena).epoch.features is None


def test_features_come_by_the_api(tmp_path: Path) -> None:
    call = Caller(tmp_path)
    try:
        listed = [{"name": f"n{k}", "content": f"c{k}", "features": [float(k), 1.0]} for k in range(3)]
        arena, owner = call.arena(listed, policy="kernel-self-sparring")
        call.ask(arena, call.rater(arena, owner))
        with call.service.look(arena) as state:
            assert state.epoch.features == [[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]
        for features in ([], [1e9, 0.0]):
            body = {"name": "taste", "options": [*listed[:2], listed[2] | {"features": features}]}
            assert call("POST", "/arenas", body, key=call.server_key).status_code in (400, 422)
    finally:
        call.close()
