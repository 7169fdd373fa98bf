"""Plug-in policies in arenas: loaded where the operator types them, named by arenas from then on, and missed without harm."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from typer.testing import CliRunner

import multiduel as md
from multiduel.arena import Ask, Conflict, Service, Vote, connect
from multiduel.arena.files.exports import log_lines
from multiduel.arena.files.verify import verify
from multiduel.arena.web import serve
from multiduel.arena.web.warming import warm_up
from multiduel.cli import app
from multiduel.engine.registry import plugins, registry
from tests.arena.calling import Caller
from tests.arena.play import an_arena, running, ticket_for
from tests.arena.web.pages.visiting import Visitor
from tests.engine.own_policy import TEXT

NAME = "round-robin"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a plug-in that nobody has loaded yet; it is forgotten after the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(serve.SETUP, raising=False)
    (tmp_path / "own_robin.py").write_text(TEXT.replace("use=", "plain=True,\n    use="))
    path = list(sys.path)
    yield "own_robin.py:SPEC"
    forget()
    sys.path[:] = path


def forget() -> None:
    """As in a new process."""
    registry.POLICIES.pop(NAME, None)
    plugins._loaded.clear()
    for name in [name for name in sys.modules if name.startswith(f"{plugins.PREFIX}own_robin")]:
        del sys.modules[name]


@pytest.fixture
def call(tmp_path: Path) -> Iterator[Caller]:
    caller = Caller(tmp_path)
    yield caller
    caller.close()


@pytest.mark.parametrize("name", ["unittest.__main__:X", "own_robin.py:SPEC", "own_robin.py", "antigravity:SPEC", NAME])
def test_requests_cannot_load_a_policy(own: str, call: Caller, name: str) -> None:
    arena, owner = call.arena()
    rater = call.rater(arena, owner)
    said = f"There is no registered policy '{name}'. A plug-in is loaded only where a person names it: "
    for method, path, body in (
        ("PUT", f"/arenas/{arena}/policy", {"policy": name}),
        ("POST", "/arenas", {"name": "x", "options": [{"name": n, "content": n} for n in "ab"], "settings": {"policy": name}}),
    ):
        answer = call(method, path, body, key=call.server_key)
        assert answer.status_code == 422 and answer.json()["error"].startswith(said)
    assert call.ask(arena, rater)["ticket"], "commands are still carried out"
    assert NAME not in registry.POLICIES and "antigravity" not in sys.modules


def an_arena_of(own: str, db: Path) -> str:
    """An arena with votes whose policy is a plug-in, which is then forgotten."""
    serve.load_plugins([own])
    with running(db) as service:
        arena, (rater, _) = an_arena(service, policy=NAME)
        for k in range(4):
            service.do(Vote(ticket_for(service, arena, rater, f"{k}").id, {"rank": [[0], [1]]}))
    forget()
    return arena


def test_arenas_name_a_plugin_once_the_operator_typed_it(own: str, tmp_path: Path) -> None:
    arena = an_arena_of(own, tmp_path / "arena.db")
    with running(tmp_path / "arena.db") as service:
        assert service.info(arena).settings.policy == NAME
        assert NAME not in registry.POLICIES
        serve.load_plugins([own])
        rater = service.raters(arena)[0].rater
        assert ticket_for(service, arena, rater, "now it can").by == "policy"
        report = verify(service.journal, arena)
        assert report.good and all(epoch.checked for epoch in report.epochs)


def test_workers_load_the_plugins_that_the_server_was_started_with(
    own: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = serve.Setup(str(tmp_path / "arena.db"), plugins=(own,))
    monkeypatch.setenv(serve.SETUP, json.dumps(asdict(setup)))
    gate = serve.application()
    gate.app.pages.state.app_context.service.close()
    assert registry.POLICIES[NAME].title == "RoundRobin"


def test_a_plugin_that_cannot_be_loaded_stops_the_server_before_it_listens(own: str, tmp_path: Path) -> None:
    for name, said in (
        ("nowhere.py:SPEC", "cannot be read: No such file or directory"),
        ("roudn-robin", "There is no plug-in 'roudn-robin'."),
    ):
        done = CliRunner().invoke(app, ["arena", "serve", "--db", str(tmp_path / "none.db"), "--plugin", name])
        assert done.exit_code == 2 and said in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "none.db").exists()


def test_an_arena_whose_policy_is_not_registered_is_read_and_changed(own: str, tmp_path: Path) -> None:
    arena = an_arena_of(own, tmp_path / "arena.db")
    with running(tmp_path / "arena.db") as service:
        rater = service.raters(arena)[0].rater
        before = service.info(arena).events
        with pytest.raises(Conflict, match="This arena cannot choose what to show at the moment"):
            service.do(Ask(arena, rater, "again"))
        assert service.info(arena).events == before and service.board(arena).answers == 4
    call = Caller(tmp_path)
    try:
        app_context = call.app.app.pages.state.app_context
        warm_up(app_context)
        assert app_context.ready.is_set(), "one arena does not keep the server from being ready"
        read = call.good("GET", f"/arenas/{arena}", key=call.server_key)
        assert f"There is no registered policy '{NAME}'" in read["problem"] and "change to a policy" in read["problem"]
        printed = call("POST", f"/arenas/{arena}/sheets", {"number": 1}, key=call.server_key)
        assert printed.status_code == 409 and printed.json()["error"] == read["problem"]
        for path in ("/board", "/raters", "/log.jsonl", "/log.csv", "/verify"):
            assert call("GET", f"/arenas/{arena}{path}", key=call.server_key).status_code == 200
        visitor = Visitor(call)
        visitor.enter(call.access.new_key("owner", arena=arena))
        assert "There is no registered policy" in visitor("GET", f"/own/{arena}").text
        changed = call.good("PUT", f"/arenas/{arena}/policy", {"policy": "uniform"}, key=call.server_key)
        assert changed["problem"] is None
        assert call.good("POST", f"/arenas/{arena}/sheets", {"number": 1}, key=call.server_key)
    finally:
        call.close()


def test_verify_and_import_say_which_policy_is_not_registered(own: str, tmp_path: Path) -> None:
    arena = an_arena_of(own, tmp_path / "arena.db")
    service = Service(connect(tmp_path / "arena.db"))
    file = tmp_path / "log.jsonl"
    file.write_text("".join(log_lines(service.journal.stream(arena), lambda one: service.journal.get_content(arena, one))))
    service.close()

    def said(*words: str) -> str:
        done = CliRunner().invoke(app, ["arena", *words])
        assert done.exit_code == 0, done.stderr
        return done.stdout

    for read in (["verify", str(file)], ["verify", "--db", str(tmp_path / "arena.db")]):
        without = said(*read)
        assert f"Not registered here, so that it could not be asked: '{NAME}'" in without and "Verified." in without
        assert "4 slates of 1 of 1 epochs asked for again" in said(*read, "--plugin", own)
        forget()
    assert f"There is no registered policy '{NAME}'" in said("import", str(file), "--db", "new.db")
    assert "registered" not in said("import", str(file), "--db", "other.db", "--plugin", own)


def test_the_command_line_stores_the_name_and_not_the_address(own: str, tmp_path: Path) -> None:
    (tmp_path / "two.csv").write_text("name,content\na,x\nb,y\n")
    for words in (["create", "taste", "--options", "two.csv", "--policy", own], ["change", "--policy", own]):
        done = CliRunner().invoke(app, ["arena", *words, "--db", "arena.db"])
        assert done.exit_code == 0, done.stderr
        forget()
    with running(tmp_path / "arena.db") as service:
        assert service.info(service.arenas()[0].id).settings.policy == NAME


def test_a_snapshot_of_a_plugin_is_restored_once_it_is_registered(own: str) -> None:
    policy = md.make(own, n_arms=3, seed=1)
    saved = policy.snapshot()
    forget()
    with pytest.raises(md.BadInput, match=f"There is no registered policy '{NAME}'"):
        md.restore(saved)
    md.register(plugins.load(own, type(policy.spec)))
    assert md.restore(saved).ask() == policy.ask()
