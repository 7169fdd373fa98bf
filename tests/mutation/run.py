"""Change the code a little, in one place at a time, and see whether any test notices. See README.md beside this file.

    python tests/mutation/run.py inference statistics verdicts --work FOLDER         all changes of these groups
    python tests/mutation/run.py engine --sample 20 --seed 1 --work FOLDER           20 changes of each of its files
    python tests/mutation/run.py --report --work FOLDER                              the table, and what survived

A copy of the sources and tests in the work folder is changed, never this folder. First every test is run, to learn
which lines it runs and how long it takes; then each change meets the tests that run its line, the quickest first, until
one fails. Each is tried in a process of its own, forked from one that has imported the libraries and the rooms below, with a
limit to its CPU time and memory: a loop without end is noticed. Every result is written at once: the same command goes on where
it was stopped.
"""

from __future__ import annotations

import argparse
import compileall
import contextlib
import hashlib
import importlib
import json
import os
import pkgutil
import py_compile
import random
import resource
import shutil
import signal
import sys
import threading
import time
import types
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from mutants import Mutant, mutants

ROOT = Path(__file__).resolve().parents[2]


class Group(NamedTuple):
    """Files that the same tests look after."""

    files: tuple[str, ...]  # below src/multiduel
    tests: tuple[str, ...]
    compiled: bool = True  # else NUMBA_DISABLE_JIT: for files with code to compile, of which no line would be seen to run


INFERENCE_TESTS = (  # the simulations of test_promises.py and test_forecast.py take too long for every change
    "tests/inference/test_bounded.py", "tests/inference/test_evidence.py", "tests/inference/test_tally.py",
    "tests/inference/test_verdict.py", "tests/inference/test_words.py", "src/multiduel/inference",
)  # fmt: skip
ENGINE_TESTS = ("tests/engine", "tests/cli/test_simulate.py", "src/multiduel/engine")
PLAY_TESTS = (
    "tests/engine/session/test_outcomes.py",
    "tests/engine/session/test_restore_shapes.py",
    "tests/engine/session/test_snapshots.py",
    "tests/engine/session/test_policy.py",
    "tests/engine/test_limits.py",
    "tests/engine/simulation/test_simulate.py",
    "tests/policies/test_wrappers.py",
    "tests/engine/session/test_observe.py",
    "tests/engine/registry/test_plugins.py",
    "tests/engine/simulation/test_play.py",
    "tests/engine/session/test_talk.py",
    "src/multiduel/engine",
)
GROUPS = {
    "statistics": Group(
        ("engine/simulation/statistics.py",),
        ("tests/engine/simulation/test_statistics.py", "src/multiduel/engine/simulation/statistics.py"),
    ),
    "inference": Group(("inference/[btvw]*.py",), INFERENCE_TESTS),
    "evidence": Group(("inference/evidence.py", "inference/forecast.py"), INFERENCE_TESTS, compiled=False),
    "verdicts": Group(
        ("lab/paper/verdicts.py", "lab/paper/agreement.py"),
        ("tests/lab/paper/test_verdicts.py", "tests/lab/paper/test_claims.py", "tests/lab/paper/test_report.py"),
    ),
    "claims": Group(
        ("lab/paper/claims.py", "lab/paper/joint.py"),
        ("tests/lab/paper/test_comparisons.py", "tests/lab/paper/test_claims.py", "tests/lab/paper/test_report.py"),
    ),
    "time_to_verdict": Group(("lab/time_to_verdict.py",), ("tests/lab/test_time_to_verdict.py", "tests/cli/test_simulate.py")),
    "engine": Group(
        ("engine/registry/*.py", "engine/session/[!r]*.py", "engine/simulation/[!p]*.py", "display/*.py"),
        (*ENGINE_TESTS, "tests/display", "src/multiduel/display"),
    ),
    "play": Group(("engine/simulation/play.py", "engine/session/rounds.py", "policies/wrappers.py"), PLAY_TESTS, compiled=False),
}
BELOW = ("kernels", "problems", "machines", "policies")  # packages that import nothing of what is changed
SLOW = 3.0  # CPU seconds above which a test is left out
PATIENCE = 20.0  # CPU seconds of a test when it is first run, and may have to compile
ENOUGH = 3.0  # seconds of tests that a change has to live through to count as not noticed
MEMORY = 6 << 30
QUICKLY = ("-q", "-p", "no:cacheprovider", "-p", "xdist.plugin", "--assert=plain")  # and no plugin that is found by itself
EQUIVALENT = Path(__file__).with_name("equivalent.txt")


class Lines:
    """A pytest plugin: which lines of the files each test ran, and how long it took."""

    def __init__(self, copy: Path, files: set[str], limit: float) -> None:
        self.limit = limit
        self.names = {str(copy / "src" / "multiduel" / file): file for file in files}
        self.tests: dict[str, tuple[float, list[tuple[str, int]]]] = {}
        self.here: set[tuple[str, int]] = set()
        self.failed: set[str] = set()

    def trace(self, frame: types.FrameType, event: str, _: Any) -> Any:
        file = self.names.get(frame.f_code.co_filename)
        if file is None:
            return None
        seen = self.here

        def line(frame: types.FrameType, event: str, _: Any) -> Any:
            if event == "line":
                seen.add((file, frame.f_lineno))
            return line

        seen.add((file, frame.f_lineno))
        return line

    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> None:
        self.here, self.began = set(), time.process_time()
        sys.settrace(self.trace)
        threading.settrace(self.trace)
        signal.signal(signal.SIGPROF, self.stop)
        signal.setitimer(signal.ITIMER_PROF, self.limit)

    def stop(self, *_: Any) -> None:
        raise TimeoutError("too slow")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "teardown":
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            sys.settrace(None)
            threading.settrace(None)
            self.tests[report.nodeid] = (time.process_time() - self.began, sorted(self.here))
        if report.failed or report.skipped:
            self.failed.add(report.nodeid)


def in_a_child(copy: Path, args: list[str], plugins: list[Any], seconds: float) -> int:
    """Run pytest in a forked process: its exit code; -1 if it used up its time, or died."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 1))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            os.chdir(copy)
            import pytest

            with (
                open(copy / "said.txt", "w") as said,
                contextlib.redirect_stdout(said),
                contextlib.redirect_stderr(said),
            ):
                code = int(pytest.main([*QUICKLY, *args], plugins=plugins))
        finally:
            os._exit(code)
    patience, code = time.monotonic() + 5.0 * seconds + 30.0, -1  # the machine may be busy
    try:
        while time.monotonic() < patience:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                code = os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else -1
                break
            time.sleep(0.01)
    finally:  # with all that it has started
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)
    return code


def learn(copy: Path, group: Group, files: set[str]) -> dict[str, Any]:
    """Every test, as the code is: {"tests": {id: [seconds, lines]}, "out": those left out}."""
    first = watch(copy, list(group.tests), files, PATIENCE if group.compiled else SLOW)
    slow = [id for id, (seconds, _) in first["tests"].items() if seconds > SLOW and group.compiled]  # it may have been compiling
    again = watch(copy, slow, files, SLOW) if slow else {"tests": {}}
    tests = {id: entry for id, entry in (first["tests"] | again["tests"]).items() if entry[0] <= SLOW}
    return {"tests": tests, "out": sorted({*first["tests"], *first["failed"]} - {*tests})}


def watch(copy: Path, tests: list[str], files: set[str], limit: float) -> dict[str, Any]:
    """Which lines these run, none of them for longer than the limit, and which fail."""
    told, plugin = copy / "lines.json", Lines(copy, files, limit)
    told.unlink(missing_ok=True)

    class Writer:
        def pytest_sessionfinish(self, session: Any) -> None:
            good = {id: entry for id, entry in plugin.tests.items() if id not in plugin.failed}
            told.write_text(json.dumps({"tests": good, "failed": sorted(plugin.failed)}))

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
    """Changes that change nothing: file, the place, what came there. The reason is in the file too."""
    lines = (line.split(" || ") for line in EQUIVALENT.read_text().splitlines() if line and not line.startswith("#"))
    return {(file, place, after) for file, place, after, _ in lines}


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("groups", nargs="*", metavar="GROUP", help=f"of {', '.join(GROUPS)}")
    asked.add_argument("--work", type=Path, required=True, help="a folder for the copy and the results")
    asked.add_argument("--only", nargs="*", help="only these files, as inference/tally.py")
    asked.add_argument("--sample", type=int, default=0, help="changes per file; 0: all")
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--again", action="store_true", help="those that survived once more")
    asked.add_argument("--report", action="store_true", help="what is known so far")
    options = asked.parse_args()
    if options.report:
        return report(options.work)
    if unknown := set(options.groups) - set(GROUPS):
        asked.error(f"A group must be one of {', '.join(GROUPS)}. Got {', '.join(sorted(unknown))}.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and so what was started ends too
    for name in options.groups:  # each in a process: with the compiler or without is decided once
        child = os.fork()
        if child == 0:
            survey(name, options)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            sys.exit(f"{name} was not finished.")


def survey(name: str, options: argparse.Namespace) -> None:
    group = GROUPS[name]
    if not group.compiled:
        os.environ["NUMBA_DISABLE_JIT"] = "1"
    copy = options.work.resolve() / name
    files = place(copy, group)
    os.environ |= {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    sys.dont_write_bytecode = True
    sys.path[:] = [entry for entry in sys.path if not Path(entry or ".").resolve().is_relative_to(ROOT / "src")]
    sys.path[:0] = [str(copy / "src"), str(copy)]
    for library in ("numpy", "numba", "scipy.special", "scipy.optimize", "hypothesis", "pytest", "xdist.plugin", "typer.testing",
                    "rich.table", "matplotlib.figure", "pyarrow.parquet"):  # fmt: skip
        __import__(library)
    for room in BELOW:
        package = importlib.import_module(f"multiduel.{room}")
        assert package.__file__ and package.__file__.startswith(str(copy)), package.__file__
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    early = [module for module in sys.modules if module.startswith(("multiduel.engine", "multiduel.inference", "multiduel.lab"))]
    assert not early, early

    lines = copy / f"lines of {name}.json"
    if not lines.exists():
        lines.write_text(json.dumps(learn(copy, group, set(files))))
    known = json.loads(lines.read_text())
    print(f"{name}: {len(known['tests'])} tests; left out, slow or failing here: {len(known['out'])}", flush=True)
    for file, text in files.items():
        if not options.only or file in options.only:
            try_file(copy, name, file, text, Known(known), options)


def place(copy: Path, group: Group) -> dict[str, bytes]:
    """The copy, anew if the sources and tests are not those it was made of; the group's files and their text."""
    sources = sorted([*ROOT.glob("src/**/*.py"), *(test for pattern in group.tests for test in ROOT.glob(pattern))])
    stamp = hashlib.sha256(b"".join(path.read_bytes() for path in sources if path.is_file())).hexdigest()
    if not (copy / "stamp").exists() or (copy / "stamp").read_text() != stamp:
        if copy.exists():
            shutil.rmtree(copy)
        for name in ("src", "tests", "examples", "docs", "benchmarks"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("*.pyc"))
        for file in ROOT.glob("*.*"):
            shutil.copy(file, copy) if file.is_file() else None
        checked = py_compile.PycInvalidationMode.CHECKED_HASH  # a changed file is read, whatever its time
        compileall.compile_dir(copy / "src", quiet=2, invalidation_mode=checked)
        (copy / "stamp").write_text(stamp)
    source = ROOT / "src" / "multiduel"
    paths = [path for pattern in group.files for path in sorted(source.glob(pattern))]
    files = {str(path.relative_to(source)): path.read_bytes() for path in paths}
    for file, text in files.items():  # a survey that was killed left its change there
        (copy / "src" / "multiduel" / file).write_bytes(text)
    return files


def try_file(copy: Path, name: str, file: str, text: bytes, known: Known, options: argparse.Namespace) -> None:
    path, out, every = copy / "src" / "multiduel" / file, options.work / "results.jsonl", mutants(text)
    before, equivalent = results(options.work), judged()
    chosen = random.Random(f"{options.seed} {file}").sample(every, min(options.sample or len(every), len(every)))
    times = os.stat(path)
    for mutant in sorted(chosen, key=lambda mutant: mutant.start):
        key = f"{file} {hashlib.sha256(mutant.applied(text)).hexdigest()[:16]}"
        if key in before and not (options.again and before[key]["came"] == "survived"):
            continue
        tests = known.tests(file, mutant)
        place, after = mutant.place(text), " ".join(mutant.after.split())
        if (file, place, after) in equivalent:
            came = "equivalent"
        elif not tests:
            came = "survived"
        else:
            path.write_bytes(mutant.applied(text))
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # a later date is a reason to fail
            seconds = 3.0 * sum(s for s, _ in tests) + 15.0
            code = in_a_child(copy, ["-x", *(id for _, id in tests)], [], seconds)
            came = "survived" if code == 0 else "noticed"
        entry = {
            "key": key, "group": name, "file": file, "of": len(every), "line": mutant.line, "place": place, "after": after,
            "came": came, "tests": len(tests),
        }  # fmt: skip
        with out.open("a") as stream:
            stream.write(json.dumps(entry) + "\n")
        if came == "survived":
            print(f"{file}:{mutant.line} || {place} || {after} || [{len(tests)} tests]", flush=True)
    path.write_bytes(text)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # Numba's cache looks at it
    print(f"{file}: done", flush=True)


def results(work: Path) -> dict[str, dict[str, Any]]:
    """By change, the last word on it."""
    out = work / "results.jsonl"
    lines = out.read_text().splitlines() if out.exists() else []
    return {entry["key"]: entry for entry in map(json.loads, lines)}


def report(work: Path) -> None:
    """A table for README.md, and what survived and is not known to change nothing."""
    came: dict[str, Counter[str]] = defaultdict(Counter)
    equivalent, total = judged(), {}
    for entry in results(work).values():
        same = (entry["file"], entry["place"], entry["after"]) in equivalent
        came[entry["file"]]["equivalent" if same else entry["came"]] += 1
        total[entry["file"]] = entry["of"]
        if entry["came"] == "survived" and not same:
            print(f"{entry['file']}:{entry['line']} || {entry['place']} || {entry['after']} || [{entry['tests']} tests]")
    print("| file | changes | tried | noticed | change nothing | not noticed |\n| --- | --- | --- | --- | --- | --- |")
    for file, n in came.items():
        print(f"| {file} | {total[file]} | {n.total()} | {n['noticed']} | {n['equivalent']} | {n['survived']} |")


if __name__ == "__main__":
    main()
