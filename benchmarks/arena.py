"""The arena measured: durable votes per second, long logs, and a thousand simulated raters.

    python benchmarks/arena.py measure [speed workers held long raters]   into benchmarks/arena.json
    python benchmarks/arena.py large VOTES [FOLDER]          the same, of a very long log: imported, started, verified;
                                                             what is done in FOLDER already is not done again
    python benchmarks/arena.py page                          "Speed" (docs/arena-numbers.md), "Capacity" (docs/operate.md)

``speed`` and ``workers`` have PostgreSQL too where Debian's package is installed. MULTIDUEL_BEFORE is the folder of an earlier
checkout, which ``workers`` then measures in the same run. MULTIDUEL_DATA is the folder with llmfao_bt_59.csv, that
``raters`` needs. ``held`` gives each worker a part of a core: it needs root and version 1 of cgroups, and is left out elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before NumPy is loaded

import numpy as np
from arena_wire import CGROUPS, Server, Wire

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
STORE = HERE / "arena.json"
PAGE = HERE.parent / "docs" / "arena-numbers.md"
OPERATE = HERE.parent / "docs" / "operate.md"
THINNED = HERE / "standings_thinned.json"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
RATERS, VOTES = 32, 4000


def keep(name, part):
    store = json.loads(STORE.read_text()) if STORE.exists() else {}
    STORE.write_text(json.dumps(store | {name: part}, indent=1) + "\n")


def loop_seconds():
    """How fast this machine is: CPU seconds to add ten million numbers in Python, the best of three."""

    def once():
        start, total = time.process_time(), 0
        for k in range(10_000_000):
            total += k
        return time.process_time() - start

    return min(once() for _ in range(3))


def some_options(K):
    return [{"name": f"option {k}", "kind": "text", "content": f"{k}"} for k in range(K)]


# ---- durable votes per second


@contextlib.contextmanager
def databases(folder):
    """Name -> a function that gives a new database."""
    from tests.arena.a_postgres import a_postgres, why_not

    counter = iter(range(100))
    found = {"SQLite": lambda: f"{folder}/speed{next(counter)}.db"}
    if why_not():
        print(f"PostgreSQL: left out, {why_not()}")
        yield found
        return
    with a_postgres() as server:
        import psycopg

        def new():
            name = f"speed{next(counter)}"
            with psycopg.connect(server.url, autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name}")
            return server.url.replace("/postgres?", f"/{name}?")

        yield found | {"PostgreSQL": new}


def speed():
    """32 raters without a pause; transactions shared, and one per vote, in turns, so that the machine's other work hits both."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, databases(folder) as found:
        for name, new in found.items():
            for turn in range(2):
                for together in (None, 1) if turn == 0 else (1, None):
                    row = {"database": name, "together": together or "any", **asyncio.run(load(new(), together))}
                    print(row, flush=True)
                    rows.append(row)
    return rows


async def load(db, together):
    server = Server(db, together=together)
    try:
        owner = server.owner(some_options(20), slate_size=4, go_on=True, seed=1)
        keys = [str(owner.admit(f"rater {k}").key) for k in range(RATERS)]
        wires = [await Wire(server.port).open() for _ in keys]
        await stream(wires, keys, [owner.arena] * RATERS, 400)  # warm
        before, cpu, own, start = server.counters(), server.cpu(), time.process_time(), time.perf_counter()
        waits = await stream(wires, keys, [owner.arena] * RATERS, VOTES)
        seconds, own = time.perf_counter() - start, time.process_time() - own
        cpu, after = server.cpu() - cpu, server.counters()
        commits = after["multiduel_commits_total"] - before["multiduel_commits_total"]
        commands = after["multiduel_commands_total"] - before["multiduel_commands_total"]
        return {
            "votes": len(waits),
            "votes_per_second": len(waits) / seconds,
            "p50_ms": 1e3 * float(np.quantile(waits, 0.5)),
            "p99_ms": 1e3 * float(np.quantile(waits, 0.99)),
            "server_cpu_ms_per_vote": 1e3 * cpu / len(waits),
            "client_cpu_ms_per_vote": 1e3 * own / len(waits),
            "requests_per_commit": commands / commits,
            "load_average": os.getloadavg()[0],
        }
    finally:
        server.stop()


def workers():
    """One arena and eight, on SQLite and on PostgreSQL with one worker and four; boards that are open and idle beside them."""
    codes = {"this": None} | ({"before": os.environ["MULTIDUEL_BEFORE"]} if "MULTIDUEL_BEFORE" in os.environ else {})
    rows = []
    with tempfile.TemporaryDirectory() as folder, databases(folder) as found:
        for name, processes, arenas, boards in SETTINGS:
            if name not in found:
                continue
            turns = {code: [] for code in codes}
            # Each code is first in turns: the machine's speed drifts. Several times: connections fall unevenly on workers.
            for code in (*codes, *reversed(codes)) * TURNS:
                turns[code].append(asyncio.run(shared_load(found[name](), processes, arenas, boards, codes[code])))
            for code, runs in turns.items():
                row = {
                    "code": code,
                    "database": name,
                    "workers": processes,
                    "arenas": arenas,
                    "boards": boards,
                    "runs": len(runs),
                }
                row |= {what: statistics.mean(run[what] for run in runs) for what in runs[0]}
                print(row, flush=True)
                rows.append(row)
            keep("workers", rows)
    return rows


TURNS = 3  # pairs of runs of each setting
SETTINGS = (
    ("SQLite", 1, 1, 0),
    ("SQLite", 1, 8, 0),
    ("SQLite", 1, 1, 200),
    ("PostgreSQL", 1, 1, 0),
    ("PostgreSQL", 4, 1, 0),
    ("PostgreSQL", 1, 8, 0),
    ("PostgreSQL", 4, 8, 0),
)


def held():
    """Do workers scale? With each held to a part of a core, so that the cores of this machine are not what ends it."""
    if not os.access(CGROUPS / "cpu.cfs_quota_us", os.W_OK):
        print("held: left out, it needs root and the cpu controller of cgroups, version 1")
        return None
    rows, kinds = [], [(processes, arenas) for arenas in (1, 8) for processes in (1, 2, 4)]
    with tempfile.TemporaryDirectory() as folder, databases(folder) as found:
        if "PostgreSQL" not in found:
            return None
        for processes, arenas in (*kinds, *reversed(kinds)):
            run = asyncio.run(shared_load(found["PostgreSQL"](), processes, arenas, 0, None, raters=HELD_RATERS, part=PART))
            rows.append({"workers": processes, "arenas": arenas, "part": PART, "raters": HELD_RATERS, **run})
            print(rows[-1], flush=True)
    return rows


PART, HELD_RATERS = 0.2, 128


async def shared_load(db, processes, arenas, boards, code, *, raters=RATERS, part=None):
    server = Server(db, workers=processes, code=code)
    try:
        owners = [server.owner(some_options(20), slate_size=4, go_on=True, seed=k + 1) for k in range(arenas)]
        wires, admitted = [await Wire(server.port).open() for _ in range(raters)], []
        for k, wire in enumerate(wires):  # not by the client of this version: the server may be another
            owner = owners[k % arenas]
            made = await wire.call("POST", f"/arenas/{owner.arena}/raters", str(owner.key), {"label": f"rater {k}"})
            admitted.append((owner, json.loads(made)["key"]))
        watching = [await Wire(server.port).open() for _ in range(boards)]
        for wire in watching:
            await wire.watch(f"/own/{owners[0].arena}/board/changes", f"multiduel-owner={owners[0].key}")
        keys, where = [key for _, key in admitted], [owner.arena for owner, _ in admitted]
        await stream(wires, keys, where, 400)  # warm
        if part is not None:
            server.hold(part)
        cpu, own, start = server.cpu(), time.process_time(), time.perf_counter()
        waits = await stream(wires, keys, where, VOTES // 2)
        seconds, own, cpu = time.perf_counter() - start, time.process_time() - own, server.cpu() - cpu
        return {
            "votes": len(waits),
            "votes_per_second": len(waits) / seconds,
            "p50_ms": 1e3 * float(np.quantile(waits, 0.5)),
            "p99_ms": 1e3 * float(np.quantile(waits, 0.99)),
            "server_cpu_ms_per_vote": 1e3 * cpu / len(waits),
            "client_cpu_ms_per_vote": 1e3 * own / len(waits),
            "load_average": os.getloadavg()[0],
        }
    finally:
        server.stop()


async def stream(wires, keys, arenas, votes):
    """Seconds that each vote waited for its acknowledgement, which brings the next ticket."""
    left, waits = iter(range(votes)), []

    async def rate(k):
        rng = random.Random(k)
        wire, key, arena = wires[k], keys[k], arenas[k]
        ticket = json.loads(await wire.call("POST", f"/arenas/{arena}/tickets", key, {}))
        for _ in left:
            n = ticket.get("positions") or ticket["places"]  # as the version before called them
            order = rng.sample(range(n), n)
            start = time.perf_counter()
            came = await wire.call("PUT", f"/tickets/{ticket['ticket']}/vote?next=1", key, {"rank": [[p] for p in order]})
            waits.append(time.perf_counter() - start)
            ticket = json.loads(came)["next"]

    await asyncio.gather(*(rate(k) for k in range(len(wires))))
    return waits


# ---- a long log


def long():
    """100,000 votes of 500 raters on 200 options; then asks, and starts with and without a snapshot."""
    from multiduel.arena import AdmitRater, Ask, Create, Open, Service, Settings, Vote, connect
    from multiduel.arena.domain.options import Option, make_content

    K, votes, raters = 200, 100_000, 500
    rng = random.Random(1)
    strength = [1.5 - 3.0 * k / K for k in range(K)]
    with tempfile.TemporaryDirectory() as folder:
        db = f"{folder}/long.db"
        service = Service(connect(db))
        options = [Option(f"option {k}", (make_content("text", f"{k}"),)) for k in range(K)]
        arena = service.do(Create("long", Settings(slate_size=4, go_on=True, seed=1), options)).id
        service.do(Open(arena))
        ids = [service.do(AdmitRater(arena, f"rater {k}")) for k in range(raters)]
        tickets = [service.submit(Ask(arena, rater, "first")) for rater in ids]
        tickets = [ticket.result() for ticket in tickets]
        start, begun = time.process_time(), time.perf_counter()
        for _ in range(votes // raters):
            answers = [service.submit(Vote(ticket.id, ballot(rng, strength, ticket.options), next=True)) for ticket in tickets]
            tickets = [answer.result().next for answer in answers]
        build = (time.process_time() - start, time.perf_counter() - begun)
        asks, whole = [], []
        for k in range(300):
            ticket = tickets[k % raters]
            service.do(Vote(ticket.id, ballot(rng, strength, ticket.options)))
            start = time.process_time()
            tickets[k % raters] = service.do(Ask(arena, ids[k % raters], f"ask {k}"))
            asks.append(time.process_time() - start)
            start = time.process_time()
            receipt = service.do(Vote(tickets[k % raters].id, ballot(rng, strength, tickets[k % raters].options), next=True))
            whole.append(time.process_time() - start)
            tickets[k % raters] = receipt.next
        events = service.info(arena).events
        service.close()
        with_snapshot = started(db, arena)
        used = json.loads(subprocess.check_output([sys.executable, __file__, "uses", db, arena]))
        without = started(db, arena, drop=True)
        row = {
            "K": K,
            "votes": votes + 600,
            "events": events,
            "megabytes": os.path.getsize(db) / 1e6,
            "build_cpu_ms_per_vote": 1e3 * build[0] / votes,
            "build_seconds": build[1],
            "ask_cpu_ms": 1e3 * statistics.median(asks),
            "ask_cpu_ms_99": 1e3 * float(np.quantile(asks, 0.99)),
            "vote_and_next_cpu_ms": 1e3 * statistics.median(whole),
            "start_with_snapshot": with_snapshot,
            "start_without": without,
            **used,
        }
    print(row, flush=True)
    return row


def uses(db, arena):
    """In a process of its own: memory of a folded log, and CPU seconds of what reads all of it."""
    from multiduel.arena import AdmitRater, Ask, Service, Vote, connect
    from multiduel.arena.files.exports import log_table, whole_events
    from multiduel.arena.files.verify import verify
    from multiduel.arena.files.vote_table import rows_of, vote_table

    service = Service(connect(db))
    service.warm()
    before = resident()
    votes = service.board(arena).answers
    found = {"memory_bytes_per_vote": (resident() - before) / votes}
    rater = service.do(AdmitRater(arena, "one who looks"))
    ticket = service.do(Ask(arena, rater, "look"))
    service.do(Vote(ticket.id, {"rank": [[place] for place in range(len(ticket.options))]}))
    for name, work in (
        ("board_cpu_seconds", lambda: service.board(arena)),
        ("raters_cpu_seconds", lambda: service.raters(arena)),
        ("votes_csv_cpu_seconds", lambda: sum(map(len, vote_table(rows_of(service, arena))))),
        ("log_csv_cpu_seconds", lambda: sum(map(len, log_table(whole_events(service.journal, arena))))),
        ("verify_cpu_seconds", lambda: verify(service.journal, arena)),
    ):
        start = time.process_time()
        work()
        found[name] = time.process_time() - start
    service.close()
    return found


# ---- a very long log


def large(votes, folder=None):
    """Import votes, start from the snapshot, look at the board after a vote, verify: each in a process of its own."""
    if folder is not None:
        return large_steps(Path(folder), votes)
    with tempfile.TemporaryDirectory() as made:
        return large_steps(Path(made), votes)


def large_steps(folder, votes):
    done, db = folder / f"large-{votes}.json", str(folder / "large.db")
    row = json.loads(done.read_text()) if done.exists() else {}
    for name, needs in (("large-import", None), ("large-start", "arena"), ("large-verify", "arena")):
        if name not in row:
            row[name] = step(name, db, str(votes) if needs is None else row["large-import"]["arena"])
            done.write_text(json.dumps(row))
            print(row[name], flush=True)
    return {key: value for name in STEPS for key, value in row[name].items()}


def step(*words):
    return json.loads(subprocess.check_output([sys.executable, __file__, *words]).splitlines()[-1])


def large_import(db, votes):
    """Import in portions. What came so far is noted beside the database, so that a run that was stopped goes on."""
    from multiduel.arena import Create, ImportVotes, Open, Service, Settings, VoteLine, connect
    from multiduel.arena.domain.options import Option, make_content

    K, raters, portion, noted = 200, 5_000, 50_000, Path(f"{db}.json")
    service = Service(connect(db))
    if noted.exists():
        row = json.loads(noted.read_text())
    else:
        options = [Option(f"option {k}", (make_content("text", f"{k}"),)) for k in range(K)]
        arena = service.do(Create("large", Settings(slate_size=4, go_on=True, seed=1), options)).id
        service.do(Open(arena))
        row = {"arena": arena, "K": K, "votes": 0, "raters": raters, "import_cpu_seconds": 0.0, "import_peak_bytes": 0}

    def some_lines(first, last):
        """Rankings of four by a noisy taste for later options, as a file of votes would give them."""
        rng = np.random.default_rng(first)
        shown = rng.random((last - first, K)).argpartition(4, axis=1)[:, :4]
        orders = (shown / 66 - rng.normal(0, 1.5, shown.shape)).argsort(axis=1)
        people = rng.integers(raters, size=last - first)
        for k, some, order, who in zip(range(first, last), shown.tolist(), orders.tolist(), people.tolist(), strict=True):
            names = [f"option {one}" for one in some]
            yield VoteLine(f"v{k}", {"rank": [[place] for place in order]}, shown=names, rater=f"rater {who}")

    for first in range(row["votes"], int(votes), portion):
        last = min(first + portion, int(votes))
        lines = list(some_lines(first, last))
        start = time.process_time()
        assert service.do(ImportVotes(row["arena"], lines)).accepted  # lines that came before count once
        row["import_cpu_seconds"] += time.process_time() - start
        row |= {"votes": last, "import_peak_bytes": max(row["import_peak_bytes"], peak()), "load_average": os.getloadavg()[0]}
        noted.write_text(json.dumps(row))
    service.close()
    return row | {"disk_bytes": os.path.getsize(db)}


def large_start(db, arena):
    from multiduel.arena import AdmitRater, Ask, Service, Vote, connect

    service = Service(connect(db))
    service.warm()
    before, start = resident(), time.process_time()
    service.info(arena)
    started, held = time.process_time() - start, resident() - before
    rater, boards = service.do(AdmitRater(arena, f"one more {time.time()}")), []
    service.board(arena)
    for k in range(5):
        ticket = service.do(Ask(arena, rater, f"ask {k} {time.time()}"))
        service.do(Vote(ticket.id, {"rank": [[place] for place in range(len(ticket.options))]}))
        start = time.process_time()
        service.board(arena)
        boards.append(time.process_time() - start)
    row = {"start_cpu_seconds": started, "state_bytes": held, "board_cpu_seconds": statistics.median(boards)}
    service.close()
    return row


def large_verify(db, arena):
    from multiduel.arena import connect
    from multiduel.arena.files.verify import verify

    journal, start = connect(db), time.process_time()
    report = verify(journal, arena)
    row = {"verify_cpu_seconds": time.process_time() - start, "verify_peak_bytes": peak(), "good": report.good}
    journal.close()
    return row


def peak():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def ballot(rng, strength, shown):
    places = sorted(range(len(shown)), key=lambda p: -(strength[int(shown[p][1:]) - 1] + gumbel(rng)))
    return {"rank": [[p] for p in places]}


def gumbel(rng):
    return -float(np.log(-np.log(rng.uniform(1e-300, 1.0))))


def started(db, arena, *, drop=False):
    """CPU and wall seconds until the arena answers with a ticket, in a process that has its kernels loaded."""
    from multiduel.arena import AdmitRater, Ask, Service, connect

    journal = connect(db)
    if drop:
        journal.drop_snapshots()
    start, wall = time.process_time(), time.perf_counter()
    service = Service(journal)
    service.info(arena)
    answered = time.process_time() - start, time.perf_counter() - wall
    service.do(Ask(arena, service.do(AdmitRater(arena, f"late {drop}")), "first"))
    asked = time.process_time() - start, time.perf_counter() - wall
    service.close()
    return {
        "cpu_seconds": answered[0],
        "seconds": answered[1],
        "cpu_seconds_to_a_ticket": asked[0],
        "seconds_to_a_ticket": asked[1],
    }


# ---- a thousand raters


def raters(runs=12):
    """Votes until the verdict, by raters who see nothing but what the API shows them, and how far forecasts were off."""
    import multiduel as md

    problem = md.read_csv(Path(os.environ["MULTIDUEL_DATA"]) / "llmfao_bt_59.csv")
    u = np.log(problem.matrix[:, 0] / problem.matrix[0, :])
    rows = []
    for run in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            rows.append(asyncio.run(a_thousand(f"{folder}/raters.db", u, run)))
        print({name: value for name, value in rows[-1].items() if name != "looks"}, flush=True)
        keep("raters", rows)
    return rows


async def a_thousand(db, u, run):
    server = Server(db)
    try:
        owner = server.owner(some_options(len(u)), slate_size=4, seed=run + 1)
        wires = [await Wire(server.port).open() for _ in range(RATERS)]
        admit = f"/arenas/{owner.arena}/raters"
        keys = []
        for first in range(0, 1000, RATERS):
            calls = [
                wire.call("POST", admit, str(owner.key), {"label": f"rater {first + k}"})
                for k, wire in enumerate(wires)
                if first + k < 1000
            ]
            keys += [json.loads(answer)["key"] for answer in await asyncio.gather(*calls)]
        rng, idle, done, votes, looks = random.Random(run), list(range(1000)), asyncio.Event(), 0, []

        async def rate(wire):
            """Whoever is idle comes, sees one ticket, ranks it, and leaves."""
            nonlocal votes
            while not done.is_set():
                rater = idle.pop(rng.randrange(len(idle)))
                ticket = json.loads(await wire.call("POST", f"/arenas/{owner.arena}/tickets", keys[rater], {}))
                if "done" in ticket:
                    assert ticket["done"] == "settled", ticket
                    done.set()
                    return
                shown = [int(await wire.call("GET", content["url"], keys[rater])) for content in ticket["contents"]]
                order = sorted(range(len(shown)), key=lambda p: -(u[shown[p]] + gumbel(rng)))
                await wire.call("PUT", f"/tickets/{ticket['ticket']}/vote", keys[rater], {"rank": [[p] for p in order]})
                votes += 1
                idle.append(rater)

        async def look():
            at = 400
            while not done.is_set():
                await asyncio.sleep(0.05)
                if votes >= at:
                    board = await asyncio.to_thread(owner.board)
                    at = votes * 1.25
                    if board["forecast_range"] and not board["settled"]:
                        low, likely, high = board["forecast_range"]
                        looks.append({"at": board["answers"], "low": low, "likely": likely, "high": high})

        await asyncio.gather(look(), *(rate(wire) for wire in wires))
        board = owner.board()
        log = [json.loads(line) for line in owner.log().splitlines()]
        verdict = next(event for event in log if event.get("kind") == "verdict")  # the first
        report = owner.verify()
        named = int(next(line["name"] for line in board["lines"] if line["option"] == board["winner"]).split()[1])
        return {
            "run": run,
            "votes_to_the_verdict": verdict["body"]["answers"],
            "votes_in_all": board["answers"],
            "right": named == int(np.argmax(u)),
            "raters_who_voted": sum(line["votes"] > 0 for line in owner.raters()),
            "verified": report["good"],
            "looks": looks,
        }
    finally:
        server.stop()


# ---- the page


def page():
    store = json.loads(STORE.read_text())
    parts = [
        section(store[name])
        for name, section in (("speed", speed_words), ("long", long_words), ("raters", raters_words))
        if name in store
    ]
    put(PAGE, "\n".join(parts))
    put(OPERATE, capacity_words(store))


def put(page, written):
    text = page.read_text()
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    page.write_text(f"{before}{BEGIN}\n{written}{END}{after}")


def capacity_words(store):
    """What the measurements come to for other sizes, in proportion where votes cost, and not where they do not."""
    row, rows = store["long"], store["large"]
    cpu = min(one["server_cpu_ms_per_vote"] for one in store["speed"] if one["together"] == "any")
    largest = max(rows, key=lambda one: one["votes"])
    imported = 1e6 * largest["import_cpu_seconds"] / largest["votes"]
    disk = 1e6 * row["megabytes"] / row["votes"]
    fold, verify = row["start_without"]["cpu_seconds_to_a_ticket"] / row["votes"], row["verify_cpu_seconds"] / row["votes"]
    lines = [
        "| votes in one arena | disk | memory | start, with a snapshot | board after a vote | verify | start, without one |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    small = {"votes": row["votes"], "state_bytes": row["memory_bytes_per_vote"] * row["votes"]}
    small |= {"start_cpu_seconds": row["start_with_snapshot"]["cpu_seconds"], "board_cpu_seconds": row["board_cpu_seconds"]}
    for votes in sorted({10**5, 10**6, 10**7, 10**9, *(one["votes"] for one in rows)}):
        known = next((one for one in rows if one["votes"] == votes), small if votes == 10**5 else None)
        cells = [f"{votes:,}", amount(disk * votes)]
        if known is None:
            cells += ["not measured"] * 3
        else:
            cells += [
                amount(known["state_bytes"]),
                duration(known["start_cpu_seconds"]),
                f"{1e3 * known['board_cpu_seconds']:.0f} ms",
            ]
        lines.append(f"| {' | '.join([*cells, duration(verify * votes), duration(fold * votes)])} |")
    done = " and ".join(f"{one['votes']:,}" for one in rows)
    busy = [f"{one['votes']:,}" for one in rows if one.get("load_average", math.inf) > 1.5]  # unknown: busy
    return "\n".join(
        [
            paragraph(
                "An arena's memory grows with its options, raters and open tickets, and not with its votes.",
                f"{disk:,.0f} bytes of disk hold a vote and its ticket. A vote with its next ticket takes",
                f"{cpu:.2f} ms of the server's CPU, which is",
                f"{1e3 / cpu:,.0f} votes a second and core at most;",
                f"a vote from a file {imported:.0f} µs, {1e6 / imported:,.0f} a second.",
            ),
            *lines,
            "",
            paragraph(
                f"CPU times. Memory, start and board were measured with {row['votes']:,} votes given on tickets",
                f"and with {done} imported votes, {row['K']} options each;",
                f"disk, verifying and folding are in proportion to {row['votes']:,} votes on tickets.",
                *(
                    f"Verifying {one['votes']:,} imported votes took {duration(one['verify_cpu_seconds'])} and"
                    f" {amount(one['verify_peak_bytes'])} of memory in all."
                    for one in rows[-1:]
                ),
                "A billion votes are on paper only.",
                f"The machine has two cores, and adds ten million numbers in a Python loop in {store['loop_seconds']:.1f} s.",
                f"Other work ran beside the import of {' and '.join(busy)} votes, which made CPU times longer." if busy else "",
                *thinned_words(),
            ),
            *worker_words(store.get("workers", [])),
            *held_words(store.get("held", []), store.get("workers", [])),
            paragraph(
                "What sets the ceiling of one arena: its commands are decided one after the other. More workers share only the",
                "reading of requests and the sending of answers. Several arenas share nothing but the database: with PostgreSQL",
                "give the server as many workers as there are busy arenas, but no more than cores that the database leaves free.",
                "SQLite has one writer and so one worker.",
                "Beyond one database, give each group of arenas a server and a database of its own: nothing is",
                "shared between them.",
                "Where the unit is the rater or the case, twelve bytes a judged pair stay in memory besides.",
                "What reads all votes takes time in proportion to them and no memory: boards of parts, reports,",
                "exports, verifying, and importing a log. The raters' page adds up sums of 5,000 events each, which are",
                "stored as votes come; the first look at a log that was imported makes them.",
            ),
        ]
    )


def thinned_words():
    """How intervals fare with the thinned answers that are kept, by benchmarks/standings_thinned.py."""
    if not THINNED.exists():
        return []
    told = json.loads(THINNED.read_text())
    rows = told["settings"]
    experiments, most = rows[0]["experiments"], max(1.0 / row["kept"] for row in rows)
    missed, whole = (max(row[name] for row in rows) for name in ("missed", "missed_whole"))
    slates, strengths = (" or ".join(sorted({str(row[name]) for row in rows})) for name in ("slates", "strengths"))
    return [
        "The standings are computed from a sample of the answers.",
        f"With {told['kept']} of them or more for an option (here one in {most:.1f} in all),",
        f"an interval missed at any of {told['looks']} looks in at most {100 * missed:.1f} % of {experiments}",
        f"simulated arenas, with all answers in {100 * whole:.1f} %; the promise is {100 * told['alpha']:.0f} %",
        f"(K = {rows[0]['K']}, m = {rows[0]['m']}, {rows[0]['T']:,} rankings, slates chosen by {slates}, strengths {strengths}).",
    ]


def worker_words(rows):
    rows = [row for row in rows if row["code"] == "this"]
    if not rows:
        return []
    head = ["database", "workers", "arenas", "idle boards", "votes/s", "p50", "p99", "server, CPU/vote", "client, CPU/vote"]
    lines = [
        paragraph(
            f"{RATERS} raters without a pause, spread over one arena or eight (K = 20, m = 4); server,",
            "database and raters share two",
            f"cores (load average {min(row['load_average'] for row in rows):.0f} to",
            f"{max(row['load_average'] for row in rows):.0f}), so plan with CPU times.",
            f"Each row is the mean of {rows[0]['runs']} runs.",
        ),
        f"| {' | '.join(head)} |",
        "|---" + "|--:" * (len(head) - 1) + "|",
    ]
    same = ("database", "workers", "arenas", "boards")
    for row in rows:
        cells = [str(row[name]) for name in same]
        cells += [f"{row['votes_per_second']:,.0f}", f"{row['p50_ms']:.0f} ms", f"{row['p99_ms']:.0f} ms"]
        cells += [f"{row['server_cpu_ms_per_vote']:.2f} ms", f"{row['client_cpu_ms_per_vote']:.2f} ms"]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def held_words(rows, free):
    """What workers bring, by the rows of ``held``, and by those of ``workers``."""
    if not rows:
        return []
    rates = {
        (row["arenas"], row["workers"]): row["votes_per_second"]
        for row in free
        if (row["code"], row["database"], row["boards"]) == ("this", "PostgreSQL", 0)
    }
    told = [
        f"{rates[arenas, 4] / rates[arenas, 1]:.2f} ({words})"
        for arenas, words in ((1, "one arena"), (8, "eight arenas"))
        if {(arenas, 1), (arenas, 4)} <= rates.keys()
    ]
    shared = f"On cores that database and raters use too, four workers give {' and '.join(told)} times the votes of one."
    numbers = sorted({row["workers"] for row in rows})
    lines = [
        paragraph(
            shared if told else "",
            f"The next table holds each worker to {100 * rows[0]['part']:.0f} % of a core, so that two cores are enough for all:",
            f"votes a second of {rows[0]['raters']} raters on PostgreSQL, means of two runs.",
        ),
        f"| arenas | {' | '.join(f'{n} worker' + 's' * (n > 1) for n in numbers)} |",
        "|---" + "|--:" * len(numbers) + "|",
    ]
    for arenas in sorted({row["arenas"] for row in rows}):
        means = [
            statistics.mean(row["votes_per_second"] for row in rows if (row["arenas"], row["workers"]) == (arenas, n))
            for n in numbers
        ]
        lines.append(f"| {arenas} | {' | '.join(f'{mean:,.0f}' for mean in means)} |")
    return [*lines, ""]


def amount(bytes):
    for size, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if bytes >= size:
            return f"{bytes / size:,.1f} {unit}"
    return f"{bytes:,.0f} bytes"


def duration(seconds):
    if seconds < 1.0:
        return f"{seconds:.2f} s"
    return f"{seconds:,.1f} s" if seconds < 100 else f"{seconds / 60:,.0f} min" if seconds < 6000 else f"{seconds / 3600:,.0f} h"


def speed_words(rows):
    rows = [row for row in rows if row["together"] == "any"]  # as the server writes them: waiting votes share a transaction
    cpu = [row["server_cpu_ms_per_vote"] for row in rows]
    lines = [
        paragraph(
            f"A durable vote with its next ticket takes {min(cpu):.2f} to {max(cpu):.2f} ms of the server's CPU.",
            f"Measured with {RATERS} raters who vote without a pause on 20 options, 4 at a time; server, database",
            "and raters share two cores.",
        ),
        "| database | votes/s | p50 | p99 | server's CPU a vote |",
        "|---|--:|--:|--:|--:|",
    ]
    for name in dict.fromkeys(row["database"] for row in rows):
        best = max((row for row in rows if row["database"] == name), key=lambda row: row["votes_per_second"])
        times = f"{best['p50_ms']:.0f} ms | {best['p99_ms']:.0f} ms | {best['server_cpu_ms_per_vote']:.2f} ms"
        lines.append(f"| {name} | {best['votes_per_second']:,.0f} | {times} |")
    busy = max(row["load_average"] for row in rows)
    note = ["Each row is the better of two runs; PostgreSQL's own CPU is not counted."]
    if busy > 4:
        note.append(f"Other work kept the machine busy (load average up to {busy:.0f}), so plan with CPU times.")
    return "\n".join([*lines, "", paragraph(*note)])


def long_words(row):
    starts = [row[name]["cpu_seconds_to_a_ticket"] for name in ("start_with_snapshot", "start_without")]
    times = {
        "ticket; vote with its next ticket": f"{row['ask_cpu_ms']:.1f} ms; {row['vote_and_next_cpu_ms']:.1f} ms",
        "start after loading the program, with a snapshot; without one": "; ".join(duration(one) for one in starts),
        "page of raters": f"{row['raters_cpu_seconds']:.1f} s",
        "votes as CSV; log as CSV": f"{row['votes_csv_cpu_seconds']:.1f} s; {row['log_csv_cpu_seconds']:.1f} s",
        "verifying the log": f"{row['verify_cpu_seconds']:.0f} s",
    }
    size = f"{row['K']} options and {row['votes']:,} votes ({row['megabytes']:.0f} MB)"
    return "\n".join([f"| with {size} | CPU |", "|---|--:|", *(f"| {what} | {took} |" for what, took in times.items()), ""])


def raters_words(rows):
    ends = sorted(row["votes_to_the_verdict"] for row in rows)
    looks = [(look, row["votes_to_the_verdict"] - look["at"]) for row in rows for look in row["looks"]]
    looks = [(look, took) for look, took in looks if took > 0]
    ratios = sorted(took / look["likely"] for look, took in looks)
    within = sum(look["low"] <= took <= look["high"] for look, took in looks)
    words = [
        "**Votes to a verdict.** 1,000 simulated raters compared the 59 models of llmfao, 4 at a time. The verdict took",
        f"{ends[0]:,} to {ends[-1]:,} votes in {len(rows)} runs, median {statistics.median(ends):,.0f};",
        f"[without a server](verdicts-numbers.md#answers-to-a-verdict) the median is {without_a_server():,.0f}.",
        f"{sum(row['right'] for row in rows)} of {len(rows)} verdicts named the right model.",
    ]
    if ratios:
        words += [
            f"For {within} of {len(ratios)} [forecasts](verdicts-numbers.md#forecasts), several in a run, the votes still needed",
            f"were in the 80 % range; they were {statistics.median(ratios):.2f} times the likely number (median;",
            f"{ratios[0]:.2f} to {ratios[-1]:.2f}).",
        ]
    return paragraph(*words)


def paragraph(*words):
    return textwrap.fill(" ".join(filter(None, words)), 130, break_long_words=False) + "\n"


def without_a_server():
    rows = json.loads((HERE / "verdicts.json").read_text())["answers"]
    return next(row["answers_50"] for row in rows if (row["K"], row["policy"], row["m"]) == (59, "challengers", 4))


STEPS = {"large-import": large_import, "large-start": large_start, "large-verify": large_verify}
PARTS = {"speed": speed, "workers": workers, "held": held, "long": long, "raters": raters}


def main():
    if sys.argv[1:2] == ["page"]:
        page()
    elif sys.argv[1:2] == ["large"]:
        rows = json.loads(STORE.read_text()).get("large", [])
        made = large(int(float(sys.argv[2])), *sys.argv[3:4])
        keep("large", sorted([*(row for row in rows if row["votes"] != made["votes"]), made], key=lambda row: row["votes"]))
    elif sys.argv[1:2] and sys.argv[1] in STEPS:
        print(json.dumps(STEPS[sys.argv[1]](*sys.argv[2:])))
    elif sys.argv[1:2] == ["uses"]:
        print(json.dumps(uses(*sys.argv[2:])))
    elif sys.argv[1:2] == ["measure"]:
        keep("loop_seconds", loop_seconds())
        for name in sys.argv[2:] or PARTS:
            if (rows := PARTS[name]()) is not None:
                keep(name, rows)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
