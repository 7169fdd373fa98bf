"""Change the code a little, in one place at a time, and see whether any test notices. See README.md beside this file.

    python tests/mutation/run.py --sample 40               40 changes per file, and which of them no test noticed
    python tests/mutation/run.py --files engine/seeds.py   all changes of a file
    python tests/mutation/run.py --again survivors.json    what survived last time

A copy of the sources and tests is changed, never this folder. Nothing is compiled (NUMBA_DISABLE_JIT=1): the same code gives
the same numbers without, and a change is tried in a second. First every test is run once, to learn which lines it runs and
how long it takes; then each change meets the tests that run its line, the quickest first, until one fails. Each is tried in a
process of its own, forked from one that has imported the libraries, with a limit to its CPU time: a loop without end is noticed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
import types
from collections import defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from mutants import Mutant, mutants

ROOT = Path(__file__).resolve().parents[2]
FILES = (
    "inference/*.py", "lab/statistics.py", "engine/*.py", "lab/paper/verdicts.py", "lab/paper/agreement.py",
    "lab/paper/joint.py", "lab/settling.py", "lab/results.py", "lab/parts.py",
)  # fmt: skip
TESTS = (  # quick ones first; those that play long games are left out by SLOW anyway
    "tests/inference", "tests/lab/test_statistics.py", "tests/lab/paper/test_claims.py", "tests/engine/test_leaderboard.py",
    "tests/engine/test_outcomes.py", "tests/engine/test_restore_shapes.py", "tests/engine/test_snapshots.py",
    "tests/engine/test_policy.py", "tests/engine/test_observe.py", "tests/engine/test_suggest.py", "tests/engine/test_closing.py",
    "tests/engine/test_simulate.py", "tests/engine/test_face.py", "tests/engine/test_limits.py", "tests/engine/test_outside.py",
    "tests/engine/test_mistakes.py", "tests/lab/test_results.py", "tests/lab/test_growing.py", "tests/cli/test_simulate.py",
    "src/multiduel/engine", "src/multiduel/inference", "src/multiduel/lab/statistics.py",
)  # fmt: skip
SLOW = 4.0  # CPU seconds, watched, above which a test is left out: the loops are not compiled here
ENOUGH = 8.0  # seconds of tests that a change has to live through to count as not noticed
EQUIVALENT = Path(__file__).with_name("equivalent.txt")


class Lines:
    """A pytest plugin: which lines of our files each test ran, and how long it took."""

    def __init__(self, source: str) -> None:
        self.source, self.tests, self.at_import = source, {}, set()
        self.here: set[tuple[str, int]] = self.at_import
        self.failed: set[str] = set()

    def trace(self, frame: types.FrameType, event: str, _: Any) -> Any:
        file = frame.f_code.co_filename
        if not file.startswith(self.source):
            return None
        seen, short = self.here, file[len(self.source) :]

        def line(frame: types.FrameType, event: str, _: Any) -> Any:
            if event == "line":
                seen.add((short, frame.f_lineno))
            return line

        seen.add((short, frame.f_lineno))
        return line

    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> None:
        self.here, self.began = set(), time.process_time()
        sys.settrace(self.trace)
        threading.settrace(self.trace)
        signal.signal(signal.SIGPROF, self.stop)
        signal.setitimer(signal.ITIMER_PROF, 1.5 * SLOW)

    def stop(self, *_: Any) -> None:
        raise TimeoutError("too slow without the compiler")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "teardown":
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            sys.settrace(None)
            threading.settrace(None)
            used = time.process_time() - self.began
            self.tests[report.nodeid] = (used, sorted(self.here))
            self.here = self.at_import
        if report.failed or report.skipped:
            self.failed.add(report.nodeid)


def in_a_child(copy: Path, args: list[str], plugins: list[Any], seconds: float) -> int:
    """Run pytest in a forked process: its exit code; -1 if it used up its time, or died."""
    child = os.fork()
    if child == 0:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 1))
        os.chdir(copy)
        code = 99
        try:
            import pytest

            with (
                open(copy / "said.txt", "w") as nowhere,
                contextlib.redirect_stdout(nowhere),
                contextlib.redirect_stderr(nowhere),
            ):
                code = int(pytest.main(["-q", "-p", "no:cacheprovider", *args], plugins=plugins))
        finally:
            os._exit(code)
    patience = time.monotonic() + 20.0 * seconds + 60.0
    while time.monotonic() < patience:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else -1
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


def learn(copy: Path, tests: list[str]) -> dict[str, Any]:
    """Every test once, as the code is: {"tests": {id: [seconds, lines]}, "imported": lines run by importing}."""
    told = copy / "lines.json"
    plugin = Lines(f"{copy}/src/multiduel/")

    class Writer:
        def pytest_sessionfinish(self, session: Any) -> None:
            kept = {id: entry for id, entry in plugin.tests.items() if id not in plugin.failed and entry[0] <= SLOW}
            out = sorted(set(plugin.tests) - set(kept))
            told.write_text(json.dumps({"tests": kept, "imported": sorted(plugin.at_import), "out": out}))

    in_a_child(copy, tests, [plugin, Writer()], 3000.0)
    if not told.exists():
        sys.exit(f"The tests do not run at all:\n{(copy / 'said.txt').read_text()[-3000:]}")
    return json.loads(told.read_text())


class Known:
    """Which tests run a line, and how many seconds each takes."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.of_line: dict[tuple[str, int], set[tuple[float, str]]] = defaultdict(set)
        self.of_file: dict[str, set[tuple[float, str]]] = defaultdict(set)
        for id, (seconds, ran) in told["tests"].items():
            for file, line in ran:
                self.of_line[file, line].add((seconds, id))
                self.of_file[file].add((seconds, id))

    def tests(self, file: str, mutant: Mutant) -> list[tuple[float, str]]:
        """The quickest that run the changed line, so many as are enough; of a line run by importing only, the file's."""
        lines = range(mutant.line, mutant.line + mutant.before.count("\n") + 1)
        hits = set().union(*(self.of_line[file, line] for line in lines)) or self.of_file[file]
        chosen, total = [], 0.0
        for seconds, id in sorted(hits):
            total += seconds
            if total > ENOUGH and chosen:
                break
            chosen.append((seconds, id))
        return chosen


def judged() -> set[tuple[str, str, str]]:
    """Changes that change nothing: file, what was there, what came in its place. The reason is in the file too."""
    lines = (line.split(" | ") for line in EQUIVALENT.read_text().splitlines() if line and not line.startswith("#"))
    return {(file, before, after) for file, before, after, *_ in lines}


def one_line(text: str) -> str:
    return " ".join(text.split())


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--files", nargs="*", default=FILES, help="below src/multiduel")
    asked.add_argument("--tests", nargs="*", default=TESTS, help="what may notice")
    asked.add_argument("--sample", type=int, default=0, help="changes per file; 0: all")
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--minutes", type=float, default=1e9, help="of CPU; what is left then is not tried")
    asked.add_argument("--again", type=Path, help="only what survived, of an earlier --out")
    asked.add_argument("--lines", type=Path, help="keep what the tests run in this file, and use it if it is there")
    asked.add_argument("--out", type=Path, default=Path("survivors.json"))
    options = asked.parse_args()
    os.environ |= {"NUMBA_DISABLE_JIT": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    for library in ("numpy", "numba", "scipy.special", "scipy.optimize", "hypothesis", "pytest", "typer.testing", "rich.table",
                    "matplotlib.figure", "pyarrow.parquet"):  # fmt: skip
        __import__(library)

    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        copy = Path(folder)
        for name in ("src", "tests", "examples", "docs", "benchmarks"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        for file in ROOT.glob("*.*"):
            shutil.copy(file, copy) if file.is_file() else None
        os.environ["PYTHONPATH"] = str(copy / "src")
        sys.path[:0] = [str(copy / "src"), str(copy)]
        sys.path[:] = [entry for entry in sys.path if not Path(entry or ".").resolve().is_relative_to(ROOT / "src")]
        if options.lines and options.lines.exists():
            known = json.loads(options.lines.read_text())
        else:
            known = learn(copy, list(options.tests))
            if options.lines:
                options.lines.write_text(json.dumps(known))
        print(f"{len(known['tests'])} tests; left out, slow or failing without the compiler: {len(known['out'])}", flush=True)
        _try_all(copy, Known(known), options)


def _try_all(copy: Path, known: Known, options: argparse.Namespace) -> None:
    source, equivalent = copy / "src" / "multiduel", judged()
    again = {tuple(entry[:3]) for entry in json.loads(options.again.read_text())} if options.again else None
    files = [path for pattern in options.files for path in sorted(source.glob(pattern))]
    survivors, totals = [], [0, 0, 0, 0]
    for path in files:
        file, text = str(path.relative_to(source)), path.read_bytes()
        every = mutants(text)
        chosen = list(every)
        if again is not None:
            chosen = [m for m in every if (file, m.before, m.after) in again]
        elif options.sample and len(every) > options.sample:
            chosen = sorted(random.Random(f"{options.seed} {file}").sample(every, options.sample), key=lambda m: m.start)
        tried = killed = same = 0
        for mutant in chosen:
            if sum(resource.getrusage(who)[0] for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) > 60 * options.minutes:
                print("The time is over.")
                break
            tried += 1
            if (file, one_line(mutant.before), one_line(mutant.after)) in equivalent:
                same += 1
                continue
            tests = known.tests(file, mutant)
            path.write_bytes(mutant.applied(text))
            code = in_a_child(copy, ["-x", *(id for _, id in tests)], [], 3.0 * sum(s for s, _ in tests) + 15.0) if tests else 0
            if code == 0:
                survivors.append((file, mutant.before, mutant.after, mutant.line, len(tests)))
                print(
                    f"  {file}:{mutant.line}: {one_line(mutant.before)} -> {one_line(mutant.after)}   [{len(tests)} tests]",
                    flush=True,
                )
            else:
                killed += 1
        path.write_bytes(text)
        print(f"{file}: {len(every)} changes, {tried} tried, {killed} noticed, {same} change nothing", flush=True)
        totals = [a + b for a, b in zip(totals, (len(every), tried, killed, same), strict=True)]
    options.out.write_text(json.dumps(survivors, indent=0))
    print("all: {} changes, {} tried, {} noticed, {} change nothing; {} left".format(*totals, len(survivors)))


if __name__ == "__main__":
    main()
