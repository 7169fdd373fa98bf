"""Doors of files: everything that is read, with a name planted where it could be taken for a policy's."""

from __future__ import annotations

import copy
import csv
import dataclasses
import json
import secrets
import sqlite3
import sys
import types
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from typer.testing import CliRunner

import multiduel as md
from multiduel import problems, rankers
from multiduel.arena import (
    AdmitRater,
    Ask,
    ChangeMargin,
    ChangePolicy,
    Create,
    Open,
    PrintTickets,
    Service,
    Settings,
    Vote,
    connect,
)
from multiduel.arena.domain import events as event_log
from multiduel.arena.domain.events import Event
from multiduel.arena.domain.options import read_options
from multiduel.arena.files.batches import read_votes
from multiduel.arena.files.exports import log_lines, read_log
from multiduel.arena.files.imports import import_log
from multiduel.arena.files.problems import problem_of
from multiduel.arena.files.replay import replay
from multiduel.arena.files.verify import verify, verify_log
from multiduel.arena.journal import ArenaRow, Snapshot
from multiduel.arena.service import snapshots
from multiduel.cli import app
from multiduel.engine.registry import benchmark_results
from multiduel.lab import experiment, parts, provenance, results, runner
from multiduel.lab.bench import suite
from multiduel.rankers.replay import replay as follow
from multiduel.votes.styles import style_covariates
from tests.arena.calling import Caller
from tests.arena.play import options
from tests.doors.traps import KINDS, planted


def tried(function: Callable[..., Any], *args: Any, **words: Any) -> Any:
    """The answer, or the refusal: only what is run counts here, so that other trouble with planted data is no matter."""
    try:
        return function(*args, **words)
    except Exception as trouble:
        return trouble


def command(*words: Any) -> Any:
    """``multiduel`` with these words."""
    return CliRunner().invoke(app, [str(word) for word in words])


# ---- arenas


@contextmanager
def serving(db: Any) -> Iterator[Service]:
    service = Service(connect(db))
    try:
        yield service
    finally:
        service.close()


def an_arena(db: Any) -> str:
    """An arena with an event of every kind that may speak of a policy."""
    with serving(db) as service:
        words = {"slate_size": 3, "seed": 1, "policy": "challengers", "room": 9}
        arena = service.do(Create("an arena", Settings(**words), options(4))).id
        service.do(Open(arena))
        rater = service.do(AdmitRater(arena, "Ada"))
        for k in range(3):
            service.do(Vote(service.do(Ask(arena, rater, f"ask {k}")).id, {"skip": True} if k else {"rank": [[0], [1], [2]]}))
        service.do(ChangePolicy(arena, "multi-rucb"))
        service.do(ChangeMargin(arena, 0.1))
        service.do(Ask(arena, rater, "ask on"))
        return arena


def rechained(events: Iterable[Event]) -> list[Event]:
    """The same events with hashes that fit what they say."""
    chained: list[Event] = []
    for event in events:
        chained.append(event_log.next_event(chained[-1] if chained else None, event.kind, event.at, event.body))
    return chained


def planted_logs(events: list[Event], name: str, kinds: tuple[str, ...] = event_log.KINDS) -> Iterator[list[Event]]:
    """Logs with the name in one place of one event each, in good order."""
    for place, event in enumerate(events):
        for body in planted(event.body, name) if event.kind in kinds else ():
            yield rechained([*events[:place], event._replace(body=body), *events[place + 1 :]])


def policy_logs(events: list[Event], name: str) -> Iterator[list[Event]]:
    """Only those in which a policy or its machine is named so; each is of an arena of its own."""
    known = events[0].body["arena"]

    def everywhere(body: dict[str, Any]) -> dict[str, Any]:
        """The same name wherever the log names its policy: nothing in it contradicts the rest."""
        inner = {key: everywhere(value) if isinstance(value, dict) else value for key, value in body.items()}
        return inner | {"policy": name, "parameters": {}} if "policy" in inner else inner

    new = secrets.token_hex(6)
    yield rechained(
        one._replace(body=json.loads(json.dumps(everywhere(one.body)).replace(known, new))) for one in copy.deepcopy(events)
    )
    for place, event in enumerate(events):
        body = copy.deepcopy(event.body)
        holder = body.get("settings", body)
        if "policy" in holder:
            for change in ({"policy": name}, {"parameters": {"machine": name}}):
                where = {**body, "settings": {**holder, **change}} if "settings" in body else {**body, **change}
                said = [*events[:place], event._replace(body=where), *events[place + 1 :]]
                new = secrets.token_hex(6)
                yield rechained(one._replace(body=json.loads(json.dumps(one.body).replace(known, new))) for one in said)


def a_log(folder: Path) -> tuple[list[Event], dict[str, bytes]]:
    db = folder / "log.db"
    arena = an_arena(db)
    with serving(db) as service:
        return read_log(log_lines(service.journal.stream(arena), lambda sha256: service.journal.get_content(arena, sha256)))


def text_of(events: list[Event], contents: dict[str, bytes]) -> str:
    return "".join(log_lines(events, contents.get))


def exported_logs(folder: Path, name: str) -> None:
    events, contents = a_log(folder)
    for log in planted_logs(events, name):
        tried(verify_log, log, contents)
    for k, log in enumerate(policy_logs(events, name)):
        tried(lambda log=log: str(replay(log, "uniform")))
        with serving(folder / f"in{k}.db") as service:
            tried(import_log, service, log, contents)
        if k > 1 or name not in KINDS:
            continue
        file = folder / "log.jsonl"
        file.write_text(text_of(log, contents))
        command("arena", "verify", file)
        command("arena", "import", file, "--db", folder / f"command{k}.db")


def planted_journals(folder: Path, name: str) -> Iterator[tuple[Path, str]]:
    """Databases whose journal says it, as if an earlier server had taken it."""
    events, contents = a_log(folder)
    for k, log in enumerate(policy_logs(events, name)):
        db, arena = folder / f"journal{k}.db", log[0].body["arena"]
        journal = connect(db)
        with journal.transaction(arena, ArenaRow(arena, "an arena", None, log[0].at)) as transaction:
            for sha256, data in contents.items():
                transaction.put_content(sha256, data)
            transaction.append(log)
        journal.close()
        yield db, arena


def journals(folder: Path, name: str) -> None:
    for k, (db, arena) in enumerate(planted_journals(folder, name)):
        with serving(db) as service:
            look_at(service, arena)
        with serving(db) as service:  # with the snapshot that was saved
            look_at(service, arena)
        if k > 1 or name not in KINDS:  # the rest is slow
            continue
        for words in (
            ["list"],
            ["board"],
            ["raters"],
            ["verify"],
            ["replay", "--policy", "uniform"],
            ["export", folder / "out.csv"],
        ):
            command("arena", *words, "--db", db)
        served(db, arena)


def look_at(service: Service, arena: str) -> None:
    def problem(arena: str) -> None:
        with service.look(arena) as state:
            problem_of(state)

    for read in (service.info, service.board, service.raters, problem, service.digest, service.events):
        tried(read, arena)
    tried(lambda: service.do(Ask(arena, next(iter(service.raters(arena))).rater, "ask again"), 60))
    tried(lambda: service.do(PrintTickets(arena, 1, "print"), 60))
    tried(lambda: str(verify(service.journal, arena)))


def served(db: Path, arena: str) -> None:
    """By a server, when it starts and when its arena is asked for."""
    from multiduel.arena.web.warming import warm_up

    call = Caller(str(db))
    try:
        warm_up(call.app.app.pages.state.app_context)
        for path in ("", "/board", "/raters", "/log.jsonl", "/verify"):
            call("GET", f"/arenas/{arena}{path}", key=call.server_key)
        call("POST", f"/arenas/{arena}/sheets", {"number": 1}, key=call.server_key)
        call("PUT", f"/arenas/{arena}/policy", {"policy": "uniform"}, key=call.server_key)
    finally:
        call.close()


def arena_snapshots(folder: Path, name: str) -> None:
    """Rows of the table of snapshots, which a server begins from."""
    db = folder / "snapshot.db"
    arena = an_arena(db)
    journal = connect(db)
    saved = journal.load_snapshot(arena)
    assert saved is not None and snapshots.load(arena, saved, None) is not None, "this is what is planted in"
    for table in planted(json.loads(zlib.decompress(saved.data)), name):
        row = Snapshot(saved.number, saved.hash, saved.format, zlib.compress(json.dumps(table).encode()))
        tried(snapshots.load, arena, row)
        if table.get("settings", {}).get("policy") == name:
            journal.save_snapshot(arena, row)
            tried(lambda: str(verify(journal, arena)))
    journal.close()


def votes_and_options(folder: Path, name: str) -> None:
    arena = an_arena(folder / "votes.db")
    rows = [
        {
            "id": "1",
            "shown": ["option 1", "option 2"],
            "rank": "option 1 > option 2",
            "rater": "Ada",
            "kind": "text",
            "ticket": "",
        }
    ]
    rows += [{"name": "a", "content": "x", "kind": "text", "context": "why"}, {"name": "b", "content": "y", "policy": "rucb"}]
    for row in rows:
        for one in planted(row, name):
            line = json.dumps(one)
            table = ",".join(one) + "\n" + ",".join(str(value) for value in one.values()) + "\n"
            for format, text in (("jsonl", line), ("csv", table)):
                file = folder / f"file.{format}"
                file.write_text(text)
                tried(lambda text=text, format=format: read_votes(text, format=format))
                tried(read_options, file)
    command("arena", "votes", folder / "file.csv", arena, "--db", folder / "votes.db")
    command("arena", "create", "new", "--options", folder / "file.csv", "--db", folder / "votes.db")


def honest_judge(question: Any) -> int:
    """A judge that a person gave; what else lies in the files must not become one."""
    return 0


def judges_files(folder: Path, name: str) -> None:
    """A judge's address as the name, content or context of options, as a rater's label, and in the file of kept calls."""
    for judge in (name, f"command:{sys.executable} trap_file.py", f"openai:{name}"):
        rows = [{"name": "a", "content": "x", "context": "q"}, {"name": "b", "content": "y", "context": "q"}]
        *_, whole = planted(rows, judge, keys=False)
        for one in (
            whole,
            [row | {"name": f"{judge} {k}"} for k, row in enumerate(rows)],
            [row | {"judge": judge} for row in rows],
        ):
            file, db = folder / "options.jsonl", folder / "judged.db"
            file.write_text("\n".join(json.dumps(row) for row in one))
            tried(md.judge, file, judge=honest_judge, file=db)
            tried(md.judge, file, judge=honest_judge, file=db, instructions=judge)
        with sqlite3.connect(folder / "judged.db.calls") as kept:
            for table, column in (("calls", "judge"), ("judgements", "judge"), ("calls", "answer"), ("asks", "request")):
                kept.execute(f"UPDATE {table} SET {column} = ?", (judge,))
            kept.execute("UPDATE calls SET request = ?", (json.dumps({"judge": judge, "model": judge}),))
        kept.close()
        with serving(folder / "judged.db") as service:
            arena = service.arenas()[0].id
            tried(service.do, AdmitRater(arena, judge, kind="judge"))
            tried(service.do, AdmitRater(arena, "x", kind=judge))
        command("judge", "report", folder / "judged.db", "--html", folder / "page.html")
        tried(md.judge, file, judge=honest_judge, file=db)
        words = ("--shortlist", folder / "judged.db", "--db", folder / "new.db")
        command("arena", "create", "new", "--options", file, *words)


# ---- policies and results


def policy_snapshots(folder: Path, name: str) -> None:
    for policy in (md.make("multi-sparring", n_arms=4, slate_size=3, seed=1), md.make("rucb", n_arms=3, seed=2, closing=True)):
        policy.ask()
        for saved in planted(policy.snapshot(), name):
            tried(md.restore, saved)
            tried(md.restore, json.loads(json.dumps(saved)))


TOML = """
title = "some"
horizon = 50
runs = 2
checkpoints = 5
[problem]
kind = "synthetic"
arms = 4
[[contenders]]
policy = "uniform"
label = "Uniform"
[[contenders]]
policy = "sparring"
id = "with-a-machine"
params = { machine = "ucb" }
"""


def a_folder(folder: Path) -> Path:
    """Finished results."""
    runner.run(experiment.parse(TOML, "some.toml"), folder / "out", threads=1)
    return folder / "out" / "some"


def planted_manifests(manifest: dict[str, Any], name: str, every: bool = True) -> Iterator[dict[str, Any]]:
    """With the name in every place, and with contenders that say that they are plug-ins; fingerprints fit."""
    tables = list(planted(manifest["experiment"], name)) if every else []
    for change in ({}, {"source": name}, {"source": name, "anytime": None}, {"source": name, "anytime": True}):
        table = copy.deepcopy(manifest["experiment"])
        own = table["contenders"][0]
        del own["source"], own["anytime"]
        own.update({"policy": name, "id": "uniform", **change})
        tables.append(table)
    for table in tables:
        yield fitting({**copy.deepcopy(manifest), "experiment": table})
    if every:
        yield from planted(manifest, name)


def fitting(manifest: dict[str, Any]) -> dict[str, Any]:
    """With the fingerprint of what it says."""
    origin, table = manifest["provenance"], manifest["experiment"]
    said: Any = types.SimpleNamespace(to_json=lambda: copy.deepcopy(table))
    parameters = tried(provenance._parameters, said, manifest["problem"])
    if isinstance(parameters, dict):
        origin["parameters"] = parameters
        origin["fingerprint"] = provenance._digest({key: origin.get(key) for key in ("parameters", "seed", "version", "code")})
    return manifest


def results_folders(folder: Path, name: str) -> None:
    place = a_folder(folder)
    file = place / results.MANIFEST
    manifest = json.loads(file.read_text())
    for one in planted_manifests(manifest, name):
        file.write_text(json.dumps(one))
        tried(results.read, place)
    (folder / "some.toml").write_text(TOML)
    for one in planted_manifests(manifest, name, every=False) if name in KINDS else ():
        file.write_text(json.dumps(one))
        read = tried(results.find_folder, place)
        if isinstance(read, results.Folder):  # it may be read; may it be played?
            tried(runner.run, read.experiment, folder / "again", threads=1)
        for words in (("report", place), ("report", place, "--latex"), ("report", place.parent), ("cite", place)):
            command(*words)
        command("run", folder / "some.toml", "--out", folder / "out", "--threads", "1")
    file.write_text(json.dumps(manifest))


def parquet_parts(folder: Path, name: str) -> None:
    place = a_folder(folder)
    part = sorted((place / results.PARTS).iterdir())[0]
    read = parts.read_part(part, 1)
    assert read is not None
    for facts in planted(read[1], name):
        parts.write(part, read[0], facts)
        tried(results.read, place)


def benchmark_files(folder: Path, name: str) -> None:
    """A submission to the benchmark: its policy is data, until somebody types it."""
    file, empty = folder / "some.npz", np.zeros((20, 0), np.float32)
    row = benchmark_results.Row("cyclic", 2, 10_000, empty, empty.astype(bool), 0.0, name)
    named = benchmark_results.PolicyResults(name, suite.digest(), {"cite": name, "code": name}, {row.key: row})
    for one in (named, dataclasses.replace(named, suite=name), dataclasses.replace(named, policy="uniform")):
        benchmark_results.write(one, file)
        assert benchmark_results.read(file).policy == one.policy
        command("bench", "--check", file)
        command("bench", "uniform", "--check", file)


def experiments(folder: Path, name: str) -> None:
    """A person's own file: only the policies in it are typed as policies."""
    import tomllib

    table = tomllib.loads(TOML)
    for one in planted(table, name):
        if all(contender.get("policy") != name for contender in one["contenders"]) if "contenders" in one else True:
            tried(experiment.from_json, {"name": "some", **one}, "some.toml", "typed")
    for line in (f'base = "{name}"', f'problem = "{name}"', f'regret = "{name}"', f'source = "{name}"', f'data = "{name}"'):
        tried(experiment.parse_all, f"{line}\n{TOML}", "some.toml")
    tried(experiment.parse_all, TOML.replace('"ucb"', f'"{name}"').replace('"synthetic"', f'"{name}"'), "some.toml")


def problem_files(folder: Path, name: str) -> None:
    file = folder / "problem.csv"
    for text in (f"{name},b\n0.5,0.6\n0.4,0.5\n", f"a,b\n{name},0.6\n0.4,0.5\n", f"{name}\n"):
        file.write_text(text)
        tried(problems.read_csv, file)
        tried(problems.parse, str(file))
        command("problem", file)
    tried(problems.parse, name)


def ranker_logs(folder: Path, name: str) -> None:
    """Logs of pages and clicks, tables of shown documents, and UBI."""
    page = rankers.multileave([["a", "b", "c"], ["c", "b", "a"]], names=["old", "new"], length=3, seed=1)
    shown = {"kind": "impression", "id": "1", "time": 1.0, "user": "u", "session": "s", "query": "q", "page": page}
    click = {"kind": "click", "id": "1", "time": 2.0, "document": "a", "weight": 1.0}
    row = {
        "impression": "1",
        "position": "1",
        "document": "x",
        "ranker": "old",
        "clicked": "1",
        "rankers": "old|new",
        "user": "u",
    }
    query = {"query_id": "1", "client_id": "u", "timestamp": "2026-01-01", "query_attributes": {"multileaving": page}}
    event = {"action_name": "click", "query_id": "1", "event_attributes": {"object": {"object_id": "a"}}}
    file, other, out = folder / "log.jsonl", folder / "events.jsonl", folder / "new.jsonl"
    for first, second in ((shown, click), (query, event)):
        pairs = [(one, second) for one in planted(first, name)] + [(first, one) for one in planted(second, name)]
        for one, two in pairs:
            file.write_text(f"{json.dumps(one)}\n{json.dumps(two)}\n")
            tried(rankers.analyse, file)
            tried(follow, file, "uniform")
            file.write_text(json.dumps(one))
            other.write_text(json.dumps(two))
            tried(rankers.import_ubi, file, other, rankers.Log(out))
            out.unlink(missing_ok=True)
    for one in planted(row, name):
        tried(rankers.import_table, [one], rankers.Log(out))
        out.unlink(missing_ok=True)


def voted_files(folder: Path, name: str) -> None:
    """Every kind of file that ``md.read_votes`` reads, and contents for its styles: rank, next, standings."""
    battle = {"model_a": "a", "model_b": "b", "winner": "a", "judge": "j", "question_id": "q", "language": "en", "tstamp": "1"}
    slate = {"id": "1", "case": "c", "option_1": "a", "option_2": "b", "rater": "r", "answer": "a>b"}
    rows = [battle, slate, {"ranking": "a>b", "rater": "r"}, {"1st": "a", "2nd": "b"}, {"i": "a", "j": "b", "wins": "3"}]
    contents = {"option": "a", "case": "c", "content": "words"}
    file, other, out = folder / "votes.jsonl", folder / "votes.csv", folder / "out.csv"
    for row in rows:
        for one in planted(row, name):
            file.write_text(json.dumps(one) + "\n")
            with other.open("w", newline="") as table:
                writer = csv.writer(table)
                writer.writerows([one.keys(), one.values()])
            for path in (file, other):
                tried(lambda path=path: md.next_slates(md.read_votes(path)).write(out))
                tried(lambda path=path: md.standings(md.read_votes(path)).html())
    for one in planted(contents, name):
        tried(style_covariates, md.read_votes([slate]), [one])
    for text in (f"{name}>b\n", f"3: a>{name}\n", f",{name},b\n{name},0,1\nb,2,0\n"):
        (folder / "votes.txt").write_text(text)
        tried(lambda: md.next_slates(md.read_votes(folder / "votes.txt")).write(out))
    head = f"# FILE NAME: {name}\n# DATA TYPE: soi\n# ALTERNATIVE NAME 1: {name}\n# ALTERNATIVE NAME 2: b\n1: 1,2\n"
    (folder / "votes.soi").write_text(head)
    tried(md.read_votes, folder / "votes.soi")
    for words in (
        ("rank", file),
        ("next", file),
        ("rank", other),
        ("next", folder / "votes.soi"),
        ("rank", other, "--kind", name),
    ):
        command(*words)
    for words in (("--column", f"winner={name}"), ("--outcome", f"{name}=first"), ("--by", name)):
        command("rank", file, *words)
    command("next", file, "--option", name, "--case", name, "--out", out)
    events, texts = a_log(folder)
    for log in policy_logs(events, name):
        (folder / "arena.jsonl").write_text(text_of(log, texts))
        tried(md.read_votes, folder / "arena.jsonl")
    page = rankers.multileave([["a", "b", "c"], ["c", "b", "a"]], names=["old", "new"], length=3, seed=1)
    for one in planted({"kind": "impression", "id": "1", "time": 1.0, "user": "u", "query": "q", "page": page}, name):
        (folder / "clicks.jsonl").write_text(json.dumps(one) + "\n")
        tried(md.read_votes, folder / "clicks.jsonl")


FILES: dict[str, Callable[[Path, str], None]] = {
    "a log that was exported: verify, import, replay": exported_logs,
    "a journal: every read and command, the server's start": journals,
    "a snapshot of an arena": arena_snapshots,
    "files of votes and of options": votes_and_options,
    "files of judges: options, arenas, kept calls": judges_files,
    "a snapshot of a policy": policy_snapshots,
    "a folder of results: report, cite, resume, play again": results_folders,
    "metadata of Parquet": parquet_parts,
    "results of the benchmark: read, check": benchmark_files,
    "other fields of an experiment": experiments,
    "files of problems": problem_files,
    "logs of rankers, tables, UBI": ranker_logs,
    "votes of every kind: rank, next, standings": voted_files,
}
