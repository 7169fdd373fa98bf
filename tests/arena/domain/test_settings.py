"""Settings are declared once: every face shows what the declaration says, and one edit adds a setting to all of them."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from multiduel.arena import Create, Service, Settings, connect
from multiduel.arena.domain import event_bodies
from multiduel.arena.domain.ballots import QUESTIONS
from multiduel.arena.domain.settings import RATERS, declared, setting
from multiduel.cli import app
from multiduel.cli.arena_settings import setting_options
from multiduel.inference.tally import UNITS
from multiduel.inputs import MOST_SEED, BadInput
from tests.arena.calling import THREE, Caller
from tests.arena.web.pages.visiting import Visitor, texts

ROOT = Path(__file__).resolve().parents[3]
FOUR_FACES = """
import json, pathlib, sys
sys.path[:0] = [sys.argv[1], sys.argv[2] + "/docs/scripts", sys.argv[2]]
import multiduel, settings_table
from typer.testing import CliRunner
from multiduel.arena.domain.settings import Settings, declared
from multiduel.cli import app
from multiduel.cli.arena_settings import setting_options
from tests.arena.calling import Caller

call = Caller(pathlib.Path.cwd())
call.app.app.pages.state.app_context.ready.set()
from tests.arena.web.pages.visiting import Visitor
visitor = Visitor(call)
visitor.enter(call.server_key)
fields = {"name": "greetings", "pasted": "Good morning.\\nHello!\\n"}
fields["token"] = visitor.token(visitor("GET", "/own/new").text)
form = visitor("POST", "/own/new", fields).text
visitor("POST", "/own/new", fields | {"action": "create", "patience": "7"})
(arena,) = call.service.arenas()
(created,) = call.service.events(arena.id)
old = {name: value for name, value in created.body["settings"].items() if name != "patience"}
print(json.dumps({
    "file": multiduel.__file__,
    "document": call("GET", "/openapi.json").json()["components"]["schemas"]["SettingsIn"]["properties"]["patience"],
    "help": " ".join(CliRunner().invoke(app, ["arena", "create", "--help"]).output.split()),
    "form": form,
    "table": settings_table.settings_table(),
    "recorded": created.body["settings"]["patience"],
    "in an old log": Settings.from_json(old, recorded=True).patience,
}))
"""
ONE_EDIT = """    patience: int = _declare("whole", 3, "Minutes of patience", "How long raters wait.", least=1, most=9)
    recorded: InitVar"""


@pytest.fixture
def call(tmp_path: Path) -> Iterator[Caller]:
    caller = Caller(tmp_path)
    yield caller
    caller.close()


def test_one_edit_adds_a_setting_to_all_four_faces(tmp_path: Path) -> None:
    copy = tmp_path / "src"
    shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    declaration = copy / "multiduel/arena/domain/settings.py"
    before = declaration.read_text(encoding="utf-8")
    declaration.write_text(before.replace("    recorded: InitVar", ONE_EDIT, 1), encoding="utf-8")

    words = [sys.executable, "-c", FOUR_FACES, str(copy), str(ROOT)]
    env = {**os.environ, "PYTHONPATH": str(copy)}
    ran = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=240)
    assert ran.returncode == 0, ran.stderr
    faces = json.loads(ran.stdout.splitlines()[-1])

    assert faces["file"].startswith(str(copy))
    document = faces["document"]
    assert (document["type"], document["minimum"], document["maximum"], document["default"]) == ("integer", 1, 9, 3)
    assert document["description"] == "Minutes of patience. How long raters wait."
    assert re.search(r"--patience \S+ Minutes of patience. How long raters wait. 1 to 9. \[default: 3\]", faces["help"])
    assert '<label for="patience">Minutes of patience</label>' in faces["form"] and "How long raters wait." in faces["form"]
    assert 'name="patience" value="3" type="number" min="1" max="9" step="1"' in faces["form"]
    assert "| `patience` | Minutes of patience. How long raters wait. | 1 to 9 | 3 |" in faces["table"]
    assert faces["recorded"] == 7 and faces["in an old log"] == 3


def test_page_of_the_documentation_lists_every_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "scripts"))
    import settings_table

    lines = settings_table.settings_page().splitlines()
    for one in (*declared(), RATERS):
        (line,) = [line for line in lines if line.startswith(f"| `{one.name}` | {one.label}")]
        assert all(f"`{value}`" in line for value in one.choices)


def test_defaults_are_the_same_in_document_command_and_form(call: Caller) -> None:
    schemas = call("GET", "/openapi.json").json()["components"]["schemas"]
    document = schemas["SettingsIn"]["properties"] | {"raters": schemas["CreateIn"]["properties"]["raters"]}
    options = {option.name: option for option in setting_options()}
    form = looked_at(call)[1]
    for one in (*declared(), RATERS):
        default = None if one.kind == "parameters" else one.default  # no parameters
        assert document[one.name].get("default") == default == options[one.name].default
        assert options[one.name].help.startswith(one.description)
        if one.choices:
            assert f'name="{one.name}" value="{one.default}" checked' in form
        elif one.kind == "text":
            assert f'name="{one.name}" maxlength="{one.most}"' in form
        elif one.name not in ("slate_size", "policy"):  # the first has our advice, the second is a list
            assert f'name="{one.name}" value="{one.write(one.default)}"' in form or one.kind == "truth"
    assert set(document) == {one.name for one in declared()} | {"raters"}


@pytest.mark.parametrize("one", declared(), ids=lambda one: one.name)
def test_form_reads_what_it_wrote(one: Any) -> None:
    assert one.read(one.write(one.default)) == one.default
    other = {
        "whole": one.least + 1,
        "number": 0.07,
        "truth": True,
        "text": "Look at the *tone*.",
        "policy": "dts",
        "parameters": {"alpha": 0.6, "x": "y"},
    }
    value = other.get(one.kind) or list(one.choices)[-1]
    assert one.read(one.write(value)) == pytest.approx(value) if one.kind == "number" else one.read(one.write(value)) == value


def test_form_refuses_with_the_label() -> None:
    with pytest.raises(BadInput, match=r"‘Most votes per rater’ must be a whole number, or empty. Got many"):
        setting("limit").read("many")
    with pytest.raises(BadInput, match=r"‘Chance of a wrong result’ must be a number, such as 5. Got low"):
        setting("alpha").read("low")
    with pytest.raises(BadInput, match=r"A parameter must look like NAME=VALUE. Got 'alpha'"):
        setting("parameters").read("alpha")


def test_command_sets_every_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("options.csv").write_text("name,content\nmild,Good morning.\nsharp,Morning!\n")
    given = {"places": 3, "expires": 60, "go_on": True, "seed": MOST_SEED, "policy": "multi-rucb", "parameters": {"alpha": 0.6}}
    words = ["--places", "3", "--expires", "60", "--go-on", "--seed", str(MOST_SEED), "--policy", "multi-rucb"]
    made = CliRunner().invoke(
        app, ["arena", "create", "x", "--options", "options.csv", *words, "--parameters", "alpha=0.6"], catch_exceptions=False
    )
    assert made.exit_code == 0, made.output
    assert "link's key" not in made.output and "Nobody can vote yet" in made.output
    assert recorded(Service(connect("arena.db"))) == Settings(**given)


def test_page_sets_every_setting_and_leads_to_raters(call: Caller) -> None:
    visitor, _ = looked_at(call)
    made = create(visitor, places="3", expires="60", go_on="true", alpha="1", margin="2.5", board="never", seed=str(MOST_SEED))
    given = {"places": 3, "expires": 60, "go_on": True, "alpha": 0.01, "margin": 0.025, "board": "never", "seed": MOST_SEED}
    assert recorded(call.service) == Settings(slate_size=2, **given)
    assert "Nobody can vote yet" in made and ">Add people</a>" in made and ">Make shared link</button>" in made
    assert "Raters: give this link" not in made


def test_page_keeps_what_was_typed_when_it_refuses(call: Caller) -> None:
    visitor, _ = looked_at(call)
    refused = create(visitor, votes="many", limit="12", raters="open")
    assert "‘Votes you are willing to collect’ must be a whole number, or empty. Got many." in refused
    assert 'name="limit" value="12"' in refused and 'value="open" checked' in refused and "<details open>" in refused
    assert call.service.arenas() == []
    assert "Raters: give this link to everyone who may vote" in create(visitor, raters="open")


def test_seeds_of_the_api_are_those_of_the_declaration(call: Caller) -> None:
    def made(seed: int) -> Any:
        return call("POST", "/arenas", {"name": "x", "options": THREE, "settings": {"seed": seed}}, key=call.server_key)

    assert made(MOST_SEED).status_code == 201
    assert made(MOST_SEED + 1).status_code == 422 and "'seed' of 'arena' must be at most" in made(MOST_SEED + 1).json()["error"]


def test_logs_have_the_settings_of_the_first_version() -> None:
    body = Settings(seed=1).to_json()
    assert set(event_bodies.FIRST_SETTINGS) <= set(body)
    needed = {name for name, field in event_bodies.SETTINGS.items() if field.needed}
    assert needed == set(event_bodies.FIRST_SETTINGS)


def test_choices_are_those_that_ballots_and_tallies_know() -> None:
    assert tuple(setting("question").choices) == QUESTIONS and tuple(setting("unit").choices) == UNITS


def test_whole_numbers_are_recorded_as_such(tmp_path: Path) -> None:
    service = Service(connect(str(tmp_path / "arena.db")))
    service.do(Create("x", Settings(slate_size=3.0), texts(3)))  # type: ignore[arg-type]
    assert json.dumps(recorded(service).slate_size) == "3"


def looked_at(call: Caller) -> tuple[Visitor, str]:
    """A visitor with the server's key, and the form after a look at two options."""
    visitor = Visitor(call)
    visitor.enter(call.server_key)
    fields = {"name": "x", "pasted": "Good morning.\nMorning!\n", "token": visitor.token(visitor("GET", "/own/new").text)}
    return visitor, visitor("POST", "/own/new", fields).text


def create(visitor: Visitor, **fields: str) -> str:
    token = visitor.token(visitor("GET", "/own/new").text)
    pasted = {"name": "x", "pasted": "Good morning.\nMorning!\n", "token": token, "action": "create"}
    return visitor("POST", "/own/new", pasted | fields).text


def recorded(service: Service) -> Settings:
    """The settings of the only arena, with a seed only if one was given."""
    (arena,) = service.arenas()
    settings = service.info(arena.id).settings
    return settings if settings.seed == MOST_SEED else dataclasses.replace(settings, seed=None, recorded=True)
