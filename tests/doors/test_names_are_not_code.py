"""A name in data never runs code. Traps are planted behind every door: each route, each page and form, each file format.

Doors that a person opens by typing a name run what they name: so we know that the traps work.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import multiduel as md
from multiduel import rankers
from multiduel.arena.domain import settings
from multiduel.lab import experiment
from tests.arena.calling import Caller
from tests.doors import files, web
from tests.doors.traps import KINDS, NAMES, Traps

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of a trap that cannot be loaded


@pytest.fixture
def traps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Traps]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    path, set_up = list(sys.path), Traps(tmp_path)
    assert not set_up.sprung()
    yield set_up
    set_up.sprung()
    sys.path[:] = path


@pytest.fixture
def call(tmp_path: Path) -> Iterator[Caller]:
    caller = Caller(tmp_path)
    yield caller
    caller.close()


@pytest.fixture
def asked_for(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of policies that arenas looked up: a door that asks for none of ours was not reached."""
    asked: list[str] = []
    honest = settings.find

    def find(name: str) -> Any:
        asked.append(name)
        return honest(name)

    monkeypatch.setattr(settings, "find", find)
    return asked


@pytest.mark.parametrize("door", files.FILES)
def test_names_in_files_run_nothing(traps: Traps, tmp_path: Path, door: str) -> None:
    opened = []
    for k, name in enumerate(NAMES):
        folder = tmp_path / str(k)
        folder.mkdir()
        files.FILES[door](folder, name)
        opened += [name] if traps.sprung() else []
    assert not opened


def test_names_in_requests_run_nothing(traps: Traps, tmp_path: Path, call: Caller, asked_for: list[str]) -> None:
    opened, reached = [], set()
    events, contents = files.a_log(tmp_path)
    for name in KINDS:
        texts = [files.text_of(log, contents) for log in files.policy_logs(events, name)]
        texts += [f"id,shown,rank\n{name},{name},{name}\n", f'{{"id": "{name}", "policy": "{name}"}}', name]
        for method, path, about in web.operations(call):
            web.call_operation(call, method, path, about, name, texts)
            opened += [f"{method} {path} {name}"] if traps.sprung() else []
            reached |= {f"{method} {path}"} if name in asked_for else set()
            asked_for.clear()
    assert not opened
    assert reached >= {"POST /arenas", "PUT /arenas/{arena}/policy", "POST /import"}, "these take a policy's name"


def test_names_in_pages_run_nothing(traps: Traps, call: Caller, asked_for: list[str]) -> None:
    reached, forms = set(), web.forms_of(call)
    opened = ["forms, sent as they are"] if traps.sprung() else []
    for name in KINDS:
        for method, path in web.pages(call):
            web.call_page(call, method, path, name, forms)
            opened += [f"{method} {path} {name}"] if traps.sprung() else []
            reached |= {f"{method} {path}"} if name in asked_for else set()
            asked_for.clear()
    assert not opened
    assert reached >= {"POST /own/new", "POST /own/{arena}/policy"}, "these take a policy's name"


def typed_in_the_command_line(*words: str) -> Callable[[str], Any]:
    return lambda name: files.command(*(name if word == "NAME" else word for word in words))


def create(name: str) -> Any:
    Path("two.csv").write_text("name,content\na,x\nb,y\n")
    return files.command("arena", "create", "new", "--options", "two.csv", "--db", "typed.db", "--policy", name)


TYPED: dict[str, Callable[[str], Any]] = {
    "multiduel simulate": typed_in_the_command_line("simulate", "NAME", "--arms", "3", "--horizon", "5", "--runs", "1"),
    "multiduel policies": typed_in_the_command_line("policies", "NAME"),
    "multiduel cite": typed_in_the_command_line("cite", "NAME"),
    "multiduel rankers replay": typed_in_the_command_line("rankers", "replay", "pages.jsonl", "--policy", "NAME"),
    "multiduel arena create --policy": create,
    "multiduel arena change --policy": typed_in_the_command_line("arena", "change", "--policy", "NAME", "--db", "typed.db"),
    "multiduel arena replay --policy": typed_in_the_command_line("arena", "replay", "--policy", "NAME", "--db", "typed.db"),
    "multiduel arena serve --plugin": typed_in_the_command_line("arena", "serve", "--plugin", "NAME"),
    "multiduel arena verify --plugin": typed_in_the_command_line("arena", "verify", "--plugin", "NAME", "--db", "typed.db"),
    "multiduel arena import --plugin": typed_in_the_command_line("arena", "import", "log.jsonl", "--plugin", "NAME"),
    "multiduel arena sheets --plugin": typed_in_the_command_line(
        "arena", "sheets", "1", "x.csv", "--plugin", "NAME", "--db", "typed.db"
    ),
    "md.make": lambda name: md.make(name, n_arms=3),
    "md.simulate": lambda name: md.simulate(name, md.synthetic(3), horizon=5, runs=1),
    "md.simulate, a list": lambda name: md.simulate(["uniform", (name, {})], md.synthetic(3), horizon=5, runs=1),
    "md.checks.check": lambda name: md.checks.check(name),
    "rankers.replay": lambda name: files.follow("pages.jsonl", name),
    "an experiment's file": lambda name: experiment.parse(files.TOML.replace('"uniform"', f'"{name}"'), "some.toml"),
    "a contender in Python": lambda name: experiment.Contender(policy=name),
}


def options_of_two() -> str:
    Path("two.csv").write_text("name,content\na,x\nb,y\n")
    return "two.csv"


TYPED_JUDGES: dict[str, Callable[[str], Any]] = {
    "multiduel judge --judge": lambda name: files.command("judge", options_of_two(), "--judge", name),
    "multiduel arena judge --judge": lambda name: files.command("arena", "judge", "--judge", name, "--db", "typed.db"),
    "md.judge": lambda name: md.judge({"a": "x", "b": "y"}, judge=name),
}


@pytest.mark.parametrize("door", TYPED_JUDGES)
def test_judges_that_a_person_types_are_run(traps: Traps, door: str) -> None:
    files.an_arena("typed.db")
    for name in ("trap_file.py:SPEC", "trap_module:SPEC", f"command:{sys.executable} trap_file.py"):
        files.tried(TYPED_JUDGES[door], name)
        assert traps.sprung(), name


@pytest.mark.parametrize("door", TYPED)
def test_names_that_a_person_types_run_what_they_name(traps: Traps, tmp_path: Path, door: str) -> None:
    events, contents = files.a_log(tmp_path)
    (tmp_path / "log.jsonl").write_text(files.text_of(events, contents))
    files.an_arena("typed.db")
    pages = rankers.Log("pages.jsonl")
    pages.shown(rankers.multileave([["a", "b"], ["b", "a"]], names=["old", "new"], length=2, seed=1), user="u")
    for name in NAMES:
        files.tried(TYPED[door], name)
        assert traps.sprung(), name
