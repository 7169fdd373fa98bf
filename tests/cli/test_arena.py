"""``multiduel arena``: what it prints, writes and refuses; and a server that really runs."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner

from multiduel import cli
from multiduel.arena import Client
from multiduel.arena.web.serve import Setup, prepare
from multiduel.inputs import BadInput

OPTIONS = "name,content\nmild,Good morning.\nsharp,Morning!\nbitter,What?\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MULTIDUEL_ARENA_DB", raising=False)
    Path("options.csv").write_text(OPTIONS)
    return tmp_path


def run(*args: str):
    return CliRunner().invoke(cli.app, ["arena", *args])


def good(*args: str) -> str:
    result = run(*args)
    assert result.exit_code == 0, (result.stdout, result.stderr, result.exception)
    return result.stdout


def refused(*args: str) -> str:
    result = run(*args)
    assert result.exit_code == 2 and isinstance(result.exception, SystemExit), (result.stdout, result.stderr, result.exception)
    return result.stderr


def create(*args: str) -> str:
    """The new arena's id."""
    return re.search(r"arena +(\w+)", good("create", "greetings", "--options", "options.csv", "--slate-size", "3", *args))[1]


def test_an_arena_from_a_file_to_a_verdict_in_words(here):
    arena = create("--seed", "1")
    assert "greetings" in good("list") and arena in good("list")
    assert "Votes: 0, excluded: 0. Raters: 0." in good("board")
    good("sheets", "4", "sheets.csv")
    assert "need a .csv file. Got 'greetings'." in refused("sheets", "4", "greetings")
    sheets = Path("sheets.csv").read_bytes().decode()
    assert sheets.count("\r\n") == 5 and "mild" not in sheets and "Good morning." in sheets
    Path("filled.csv").write_bytes(sheets.replace(",,,\r\n", ",A>B=C,,Ada\r\n").encode())
    assert "4 new" in good("votes", "filled.csv", "--dry-run") and "Votes: 0," in good("board")
    assert "Entered." in good("votes", "filled.csv") and "0 new, 4 known already" in good("votes", "filled.csv")
    board = good("board", arena)
    assert "Votes: 4, excluded: 0. Raters: 1." in board and "too early to say" in board
    assert json.loads(good("board", "--json", "-", "greetings"))["answers"] == 4
    assert "Ada" in good("raters")
    good("raters", "--quarantine", "Ada", "--reason", "a test")
    assert "4 votes are excluded" in good("board") and "quarantine" in good("raters")
    good("raters", "--release", "Ada")
    assert "Votes: 4," in good("board")
    assert "Verified." in good("verify")
    assert "'dts' would have shown" in good("replay", "--policy", "dts")
    assert "is paused" in good("pause") and "is open" in good("open") and "is closed" in good("close")
    assert "closed" in refused("open")


def test_sheets_carry_the_instructions_and_come_back(here):
    create("--instructions", "Judge the tone.\n\n- of all")
    good("sheets", "2", "sheets.csv")
    with Path("sheets.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["instructions"] for row in rows] == ["Judge the tone.\n\n'- of all"] * 2, "safe in a spreadsheet"
    Path("filled.csv").write_bytes(Path("sheets.csv").read_bytes().replace(b",,,\r\n", b",B>A=C,,Ada\r\n"))
    assert "2 new" in good("votes", "filled.csv")


def test_logs_go_out_and_in(here):
    arena = create()
    good("sheets", "2", "sheets.csv")
    good("export", "log.jsonl")
    good("export", "log.csv")
    assert Path("log.csv").read_text().startswith("number,at,kind")
    assert "Verified." in good("verify", "log.jsonl")
    assert arena in good("import", "log.jsonl", "--db", "elsewhere.db")
    assert arena in good("import", "log.jsonl", "--db", "elsewhere.db"), "twice is once"
    assert "Verified." in good("verify", "--db", "elsewhere.db")
    Path("forged.jsonl").write_text(Path("log.jsonl").read_text().replace('"mild"', '"wild"'))
    result = run("verify", "forged.jsonl")
    assert result.exit_code == 2 and "NOT verified" in result.stdout and "event 1" in result.stdout
    assert "hash" in refused("import", "forged.jsonl", "--db", "third.db")
    good("problem", "p.csv")
    assert Path("p.csv").read_text().splitlines()[0] == "mild,sharp,bitter"


def test_options_come_and_go(here):
    create("--room", "5")
    Path("more.csv").write_text("name,content\nsalty,Ahoy.\n")
    assert "4 options" in good("add", "more.csv")
    assert "retired" in good("retire", "mild") and "retired" in good("board")
    assert "There is no option 'wild'" in refused("retire", "wild")
    Path("other.csv").write_text("name,context,content\nx,Why?,y\n")
    assert "every context" in refused("add", "other.csv")


def test_keys(here):
    create("--raters", "secret")
    assert good("key").startswith("mdserver..")
    assert good("key", "greetings").startswith("mdowner.")
    admitted = good("raters", "--admit", "Ada", "--admit", "Bo", "--group", "north")
    assert len(re.findall(r"^(Ada|Bo): mdrater\.", admitted, re.M)) == 2
    assert "already" in refused("raters", "--admit", "Ada")
    assert good("link").startswith("mdlink.") and good("link", "--revoke") == "Revoked: 1.\n"
    assert good("change", "--policy", "dts", "--margin", "0.05") == "Policy: dts. Margin: 0.05.\n"
    assert b"mdrater" not in Path("arena.db").read_bytes()


def test_keys_are_listed_rotated_and_revoked(here):
    arena = create("--raters", "open")
    server = good("keys", "new", "--label", "Zoe").strip()
    listed = good("keys", "list")
    assert "Zoe" in listed and server.split(".")[2] in listed and server.split(".")[3] not in listed
    owner = re.search(rf"{arena} +owner +(\w+)", listed)[1]
    assert good("keys", "rotate", owner).startswith(f"mdowner.{arena}.{owner}.")
    assert "the last key of this arena's owner" in refused("keys", "revoke", owner)
    assert "the last key of the server" in refused("keys", "revoke", server.split(".")[2])
    assert good("keys", "revoke", owner, "--force") == f"Revoked: owner {owner}.\n"
    assert "There is no key" in refused("keys", "revoke", owner) and "There is no key" in refused("keys", "rotate", owner)
    good("raters", "--admit", "Ada")
    assert "name the arena too" in refused("keys", "revoke", "Ada")
    assert good("keys", "revoke", "Ada", "greetings") == "Revoked: rater r1.\n"
    assert "has no key" in refused("keys", "revoke", "Ada", arena)
    assert good("keys", "rotate", "r1", arena).startswith(f"mdrater.{arena}.r1.")
    assert "Ada" in good("keys", "list", "greetings") and "Ada" not in good("keys", "list")
    changes = good("keys", "list", "greetings", "--changes")
    assert [word for word in re.findall("made|rotated|revoked", changes)] == [
        "made",
        "revoked",
        "made",
        "revoked",
        "rotated",
        "made",
        "made",
    ]


def test_a_key_is_not_made_in_a_new_database_beside_the_one_that_is_served(here):
    for args in (["key"], ["keys", "new"], ["key", "greetings"]):
        assert "Got no such file: 'arena.db'" in refused(*args)
    assert not Path("arena.db").exists()
    assert good("key", "--create-db").startswith("mdserver..") and Path("arena.db").exists()
    assert "Got no such file" in refused("keys", "list", "--db", "none.db") and not Path("none.db").exists()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["create", "x", "--options", "none.csv"], "'none.csv' must be a file that exists"),
        (["create", "x", "--options", "options.csv", "--question", "bset"], "Did you mean 'best'?"),
        (["create", "x", "--options", "options.csv", "--slate-size", "1"], "'slate_size' of 'arena' must be"),
        (["create", "x", "--options", "options.csv", "--policy", "doubler"], "cannot serve an arena"),
        (["create", "x", "--options", "options.csv", "--raters", "all"], "'raters' must be one of secret, open"),
        (["create", "x", "--options", "options.csv", "--room", "2"], "'room' must be at least"),
        (["board"], "Got no such file: 'arena.db'"),
        (["board", "--db", "mysql://x"], "postgresql://"),
        (["votes", "options.csv", "--db", "none.db"], "no such file"),
        (["serve", "--workers", "2"], "Several workers need PostgreSQL"),
        (["serve", "--host", "0.0.0.0"], "Without '--public'"),
        (["serve", "--public"], "must know its name"),
        (["serve", "--public", "--name", "http://x"], "A host must be a name"),
        (["serve", "--public", "--name", "arena.example"], "A public server needs a key before it starts"),
        (["serve", "--port", "70000"], "'port' of 'arena serve'"),
    ],
)
def test_refusals(here, args, said):
    assert said in refused(*args)
    assert not Path("arena.db").exists() or args[0] in ("create", "serve")


def test_which_arena_is_meant(here):
    create()
    create()
    assert "Which arena? There are:" in refused("board")
    assert "Several arenas have the id or name 'greetings'" in refused("board", "greetings")
    assert "There is no arena" in refused("board", "greeting")


def test_bad_lines_are_told_and_nothing_is_entered(here):
    create()
    Path("votes.csv").write_text("id,rank,rater\n1,mild>sharp,Ada\n2,mild>wild,Ada\n3,mild,Ada\n")
    result = run("votes", "votes.csv")
    assert result.exit_code == 2 and "Line 3 (2)" in result.stderr and "Line 4 (3)" in result.stderr
    assert "Nothing was entered" in result.stderr and "Votes: 0," in good("board")


def test_public_says_what_it_turns_on(here):
    good("key", "--create-db")
    words = " ".join(prepare(Setup("arena.db", "0.0.0.0", 8000, True, ("arena.example",)).checked()))
    for part in ("0.0.0.0", "arena.example only", "50 requests a second", "10 wrong keys", "64,000 bytes", "/metrics", "TLS"):
        assert part in words
    with pytest.raises(BadInput, match="needs a key"):
        prepare(Setup("fresh.db", "0.0.0.0", 8000, True, ("arena.example",)).checked())


def test_a_server_that_really_runs(here):
    """It answers before its kernels are loaded, makes a key once, takes votes, and stops when it is told to."""
    command = [sys.executable, "-m", "multiduel", "arena", "serve", "--port", "0"]
    env = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[2])}
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    try:
        assert server.stdout is not None
        key = server.stdout.readline().split()[-1]
        url = server.stdout.readline().split()[0]
        assert key.startswith("mdserver.") and url.startswith("http://127.0.0.1:")
        client = Client(url, key)
        owner = client.create("x", [{"name": name, "content": name} for name in "abc"], slate_size=3)
        owner.open()
        rater = owner.admit("Ada")
        ticket = rater.ask()
        for _ in range(3):
            ticket = rater.vote(ticket, {"rank": [0, 1, 2]}, next=True)["next"]
        until = time.monotonic() + 120.0
        while True:  # ready in the end
            try:
                with urllib.request.urlopen(f"{url}/health/ready", timeout=10) as answer:
                    assert json.load(answer)["ready"]
                    break
            except urllib.error.HTTPError as error:
                assert error.code == 503 and time.monotonic() < until
                time.sleep(0.1)
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(urllib.request.Request(f"{url}/health/live", headers={"Host": "evil.example"}))
        assert caught.value.code == 421
        with urllib.request.urlopen(f"{url}/health/live") as answer:
            assert not {"server", "date", "etag"} & {name.lower() for name in answer.headers}
    finally:
        server.send_signal(signal.SIGTERM)
        _, said = server.communicate(timeout=60)
    assert server.returncode in (0, -signal.SIGTERM) and "Traceback" not in said
    assert "Votes: 3, excluded: 0. Raters: 1." in good("board") and "Verified." in good("verify")
