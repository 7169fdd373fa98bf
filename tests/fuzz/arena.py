"""Kill -9 of the arena's server, again and again, during a stream of votes; every promise is checked afterwards.

    python tests/fuzz/arena.py --kills 25          SQLite; PostgreSQL with 4 workers, where it is installed; sabotaged servers

Ends with 1 if a promise was broken, if a sabotaged server was not found out, or if a run proved nothing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

if __package__ in (None, ""):  # run as a script
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.arena.a_postgres import a_postgres, why_not
from tests.arena.torture.full_disk import a_small_disk, fill
from tests.arena.torture.killing import Outcome, torture

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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=25)
    parser.add_argument("--votes-between", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=("sqlite", "postgres", "disks", "sabotaged"))
    given = parser.parse_args()
    wanted = (given.only,) if given.only else ("sqlite", "postgres", "disks", "sabotaged")
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
            caught = any(found in problem for problem in outcome.problems)
            print(
                f"A server that {sabotage.replace('-', ' ')}: {'found out' if caught else f'NOT FOUND OUT: {outcome}'}",
                flush=True,
            )
            good &= caught
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
