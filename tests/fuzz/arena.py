"""Kill -9 of the arena's server, again and again, during a stream of votes; every promise is checked afterwards.

    python tests/fuzz/arena.py --kills 25          SQLite; PostgreSQL with 4 workers, where it is installed; sabotaged servers
    python tests/fuzz/arena.py --only faults       every operation on the database fails, in turn
    python tests/fuzz/arena.py --only clock        a clock that jumps
    python tests/fuzz/arena.py --only paused       a server that is stopped while it holds PostgreSQL's lock
    python tests/fuzz/arena.py --only rollback     a database that goes back in time

Ends with 1 if a promise was broken, if a sabotaged server was not found out, or if a run proved nothing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if __package__ in (None, ""):  # run as a script
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.arena.a_postgres import a_postgres, why_not
from tests.arena.torture import faults
from tests.arena.torture.full_disk import a_small_disk, fill
from tests.arena.torture.going_back import go_back
from tests.arena.torture.jumping import jump
from tests.arena.torture.killing import Outcome, torture
from tests.arena.torture.pausing import pause

PARTS = ("sqlite", "postgres", "disks", "sabotaged", "faults", "clock", "paused", "rollback")

SABOTAGED = {  # how -> what must be found out
    "acknowledges-before-it-commits": "acknowledged votes are lost",
    "counts-a-retry-twice": "votes were counted twice",
    "forgets-an-undo": "the live board differs from the replay",
    "answers-an-undo-without-writing-it-down": "acknowledged undos are lost",
}


def say(what: str, outcome: Outcome, start: float) -> bool:
    print(f"{what}, {time.perf_counter() - start:.0f} s: {outcome}", flush=True)
    return not outcome.problems


def full_disks(folder: Path) -> bool:
    """A disk of its own that is full, where one may mount one, and files that may not grow."""
    good = True
    with a_small_disk(folder / "disk") as enlarge:
        if enlarge is None:
            print("A small disk: SKIPPED, mounting one is not allowed here")
        for what, where, larger in (("A small disk", folder / "disk", enlarge), ("Files that may not grow", folder, None)):
            if larger is not None or where == folder:
                problems, happened = fill(where, larger)
                print(f"{what}: {problems or 'nothing lost'}; {happened}", flush=True)
                good &= not problems
    return good


def told(what: str, problems: list[str], happened: object, start: float) -> bool:
    print(f"{what}, {time.perf_counter() - start:.0f} s: {problems or 'nothing wrong'}; {happened}", flush=True)
    return not problems


def found_out(sabotage: str, problems: list[str], found: str) -> bool:
    caught = any(found in problem for problem in problems)
    print(f"A server that {sabotage.replace('-', ' ')}: {'found out' if caught else f'NOT FOUND OUT: {problems}'}", flush=True)
    return caught


def faults_by_plan(folder: Path, votes: int) -> bool:
    """On both databases; then services that break a promise."""
    good = True
    with databases(folder / "faults.db") as dbs:
        for name, db in dbs.items():
            start = time.perf_counter()
            outcome = faults.run_faults(db, votes=votes)
            print(f"Faults by plan, {name}, {time.perf_counter() - start:.0f} s: {outcome}", flush=True)
            good &= not outcome.problems
    for sabotage, (how, found) in faults.SABOTAGED.items():
        with how():
            outcome = faults.run_faults(str(folder / f"faults-{sabotage}.db"), votes=4)
        good &= found_out(sabotage, outcome.problems, found)
    return good


@contextmanager
def databases(file: Path) -> Iterator[dict[str, str]]:
    if why_not():
        print(f"PostgreSQL: SKIPPED, {why_not()}")
        yield {"SQLite": str(file)}
        return
    with a_postgres() as postgres:
        yield {"SQLite": str(file), "PostgreSQL": postgres.url}


def jumping_clocks(folder: Path) -> bool:
    start = time.perf_counter()
    good = told("A clock that jumps", *jump(folder), start)
    sabotage = "dates-no-event-before-the-last"
    return found_out(sabotage, jump(folder, votes=20, sabotage=sabotage)[0], "the dates are not") and good


def paused_servers(pauses: int) -> bool:
    if why_not():
        print(f"PostgreSQL: SKIPPED, {why_not()}")
        return True
    start = time.perf_counter()
    with a_postgres() as postgres:
        good = told("A lock holder that pauses", *pause(postgres.url, pauses=pauses), start)
    with a_postgres() as postgres:
        sabotage = "acknowledges-before-it-commits"
        problems, _ = pause(postgres.url, pauses=1, votes=20, patience=30.0, sabotage=sabotage)
    return found_out(sabotage, problems, "acknowledged votes are lost") and good


def databases_that_go_back(folder: Path) -> bool:
    good = True
    for kind in ("sqlite",) if why_not() else ("sqlite", "postgres"):
        (folder / kind).mkdir()
        start = time.perf_counter()
        good &= told(f"A database that goes back in time, {kind}", *go_back(kind, folder / kind), start)
    sabotage = "ignores-that-the-database-went-back"
    (folder / sabotage).mkdir()
    problems, _ = go_back("sqlite", folder / sabotage, votes=50, sabotage=sabotage)
    return found_out(sabotage, problems, "raters were not told what happened") and good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=25)
    parser.add_argument("--votes-between", type=int, default=150)
    parser.add_argument("--pauses", type=int, default=5)
    parser.add_argument("--votes-in-a-session", type=int, default=8, help="of faults by plan; each operation of a session fails")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=PARTS)
    given = parser.parse_args()
    wanted = (given.only,) if given.only else PARTS
    words = {"kills": given.kills, "votes_between": given.votes_between, "seed": given.seed}
    good = True
    with tempfile.TemporaryDirectory() as folder:
        if "sqlite" in wanted:
            start = time.perf_counter()
            good &= say("SQLite", torture(f"{folder}/arena.db", **words), start)
        if "postgres" in wanted:
            if why_not():
                print(f"PostgreSQL: SKIPPED, {why_not()}")
            else:
                start = time.perf_counter()
                with a_postgres() as postgres:
                    good &= say("PostgreSQL, 4 workers", torture(postgres.url, workers=4, postgres=postgres, **words), start)
        if "disks" in wanted:
            good &= full_disks(Path(folder))
        for sabotage, found in SABOTAGED.items() if "sabotaged" in wanted else ():
            outcome = torture(f"{folder}/{sabotage}.db", kills=3, votes_between=100, sabotage=sabotage, seed=given.seed)
            good &= found_out(sabotage, outcome.problems, found)
        if "faults" in wanted:
            good &= faults_by_plan(Path(folder), given.votes_in_a_session)
        if "clock" in wanted:
            good &= jumping_clocks(Path(folder))
        if "paused" in wanted:
            good &= paused_servers(given.pauses)
        if "rollback" in wanted:
            good &= databases_that_go_back(Path(folder))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
