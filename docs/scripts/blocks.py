"""Code blocks of the documentation, and how each is run: ``python docs/scripts/blocks.py PAGE...`` runs and counts them.

A page's blocks are run from top to bottom, in one folder of their own and one Python namespace. What a block is, its fence says:

    python          is run; with a file's name as title it is written there, for the blocks below
    pycon           is compared, as a doctest
    sh              is run line by line
    toml json csv   must be what they say, and an experiment a valid one; with a title they are written there
    text bibtex     are no code; nor is what a fence says nothing of, but commands of ours in it must exist
    title="not run: reason"    is not run, and the reason stands on the page; its options must exist all the same
"""

from __future__ import annotations

import contextlib
import csv
import doctest
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import tomllib
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^( *)(```+)([a-z]*)((?: +[a-z]+=\"[^\"]*\")*) *\n(.*?)^\1\2 *$", re.M | re.S)
NO_CODE = ("text", "bibtex", "")
KINDS = ("python", "pycon", "sh", "toml", "json", "csv", *NO_CODE)
SHELL = re.compile(r"[|<>;&$`*]|^\w+=")  # what only a shell understands
STAY = ("serve", "demo")  # commands of the arena that do not end by themselves
PATIENCE = 300  # seconds, of a shell's block


class Block(NamedTuple):
    page: str
    line: int
    kind: str
    title: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}, line {self.line}"

    @property
    def is_run(self) -> bool:
        return self.kind not in NO_CODE and not self.title.startswith("not run: ")


def pages() -> list[Path]:
    """Every page that people read, of those that are written and not made."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> list[Block]:
    text, name = page.read_text(encoding="utf-8"), page.relative_to(ROOT).as_posix()
    found = []
    for match in FENCE.finditer(text):
        title = re.search(r'title="([^"]*)"', match[4])
        body = re.sub(rf"^{match[1]}", "", match[5], flags=re.M)
        named = title or re.match(r"# ([\w-]+\.toml)\n", body)
        found.append(Block(name, text.count("\n", 0, match.start()) + 1, match[3], named[1] if named else "", body))
    return found


class PageRun:
    """The blocks of one page, one after the other. ``before`` is Python that the page takes for granted."""

    def __init__(self, folder: Path, before: str = "") -> None:
        self.folder, self.names, self.done = folder, {"__name__": "page"}, Counter[str]()
        (folder / "examples").symlink_to(ROOT / "examples")
        with contextlib.chdir(folder):
            exec(compile(before, "before the page", "exec"), self.names)

    def run(self, block: Block) -> str:
        """What it prints. Anything wrong is an error."""
        if block.kind not in KINDS:
            raise AssertionError(f"{block.place}: say what it is: {', '.join(KINDS)}. Got '{block.kind}'.")
        if not block.is_run:
            if block.kind in ("sh", ""):
                for line in re.findall(r"^multiduel .*", block.text, re.M):
                    check_options(shlex.split(line, comments=True))
            self.done["no code" if block.kind in NO_CODE else "not run"] += 1
            return ""
        self.done[block.kind] += 1
        with contextlib.chdir(self.folder):
            return str(getattr(self, f"_{block.kind}")(block) or "")

    def _python(self, block: Block) -> str:
        code = compile("\n" * block.line + block.text, block.page, "exec")
        if block.title.endswith(".py"):
            Path(block.title).write_text(block.text)
            return ""
        with contextlib.redirect_stdout(io.StringIO()) as said:
            exec(code, self.names)
        return said.getvalue()

    def _pycon(self, block: Block) -> None:
        test = doctest.DocTestParser().get_doctest(block.text, self.names, block.place, block.page, block.line)
        if doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(test).failed:
            raise AssertionError(f"{block.place}: the example gives something else.")

    def _toml(self, block: Block) -> None:
        self._written(block)
        if {"contenders", "base"} & set(tomllib.loads(block.text)):
            from multiduel.lab.experiment import parse_all

            parse_all(block.text, block.title or "page.toml")

    def _json(self, block: Block) -> None:
        json.loads(block.text)
        self._written(block)

    def _csv(self, block: Block) -> None:
        assert len({len(row) for row in csv.reader(io.StringIO(block.text))}) == 1, block.place
        self._written(block)

    def _written(self, block: Block) -> None:
        if block.title:
            Path(block.title).write_text(block.text)

    def _sh(self, block: Block) -> str:
        lines = commands(block.text)
        if any(SHELL.search(word) for words in lines for word in words) or any(words[0] not in KNOWN for words in lines):
            return self._by_shell(block)
        return "".join(KNOWN[words[0]](self, words) for words in lines)

    def _by_shell(self, block: Block) -> str:
        tools = Path(tempfile.mkdtemp(dir=self.folder, prefix=".tools-"))
        for name, line in {"multiduel": f'exec "{sys.executable}" -m multiduel "$@"', "pip": ":", "make": ":"}.items():
            (tools / name).write_text(f"#!/bin/sh\n{line}\n")
            (tools / name).chmod(0o755)
        path = os.pathsep.join([str(tools), str(Path(sys.executable).parent), os.environ["PATH"]])
        env = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(
            ["bash", "-e", "-c", block.text], capture_output=True, text=True, cwd=self.folder, env=env, timeout=PATIENCE
        )
        if done.returncode:
            raise AssertionError(f"{block.place}: exit code {done.returncode}. {done.stderr[-2000:]}")
        return done.stdout

    def _multiduel(self, words: list[str]) -> str:
        from typer.testing import CliRunner

        from multiduel.cli import app

        if words[1] == "arena" and words[2] in STAY:
            return self._started(words)
        result = CliRunner().invoke(app, words[1:], env={"COLUMNS": "160"})
        if result.exit_code:
            raise AssertionError(
                f"{shlex.join(words)}: exit code {result.exit_code}. {result.output[-2000:]} {result.exception!r}"
            )
        return result.output

    def _started(self, words: list[str]) -> str:
        """A server stays until it is stopped: so it is, when its page was there. Any free port will do."""
        env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "BROWSER": "true"}
        command = [sys.executable, "-m", *words, "--port", "0"]
        running = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert running.stdout
        said = ""
        try:
            while not (address := re.search(r"http://[^\s,]+", said)):
                line = running.stdout.readline()
                assert line, f"{shlex.join(words)} ended: {said}"
                said += line
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            with browser.open(address[0], timeout=60) as answer:
                assert answer.status == 200 and b"<html" in answer.read().lower()
        finally:
            running.send_signal(signal.SIGINT)
            running.wait(60)
        return said

    def _pip(self, words: list[str]) -> str:
        """Installing is not for a test: but what is asked for must exist."""
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        for word in words[2:]:
            for extra in re.findall(r"[\w-]+", (re.search(r"(?:multiduel|\.)\[(.*)\]", word) or ["", ""])[1]):
                assert extra in extras, f"{shlex.join(words)}: there is no extra '{extra}'."
        return ""

    def _make(self, words: list[str]) -> str:
        for target in words[1:]:
            assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.M), f"The Makefile has no '{target}'."
        return ""

    def _script(self, words: list[str]) -> str:
        """A script of ours is run by tests of its own; one that the page made is run here."""
        if words[1] == "-m" or (ROOT / words[1]).is_file():
            return ""
        return subprocess.run(
            [sys.executable, *words[1:]],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        ).stdout


KNOWN: dict[str, Any] = {
    "multiduel": PageRun._multiduel,
    "pip": PageRun._pip,
    "make": PageRun._make,
    ".": lambda *_: "",  # an environment is activated
    "python": PageRun._script,
    "python3": PageRun._script,
    ".venv/bin/python": PageRun._script,
}


def commands(text: str) -> list[list[str]]:
    """The commands of a shell's block, as words, without comments."""
    lines = re.sub(r"\\\n", " ", text).splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def check_options(words: list[str]) -> None:
    """Of a command of ours that is not run: is it one, and has it these options?"""
    if words[0] != "multiduel":
        return
    import typer

    from multiduel.cli import app

    command: Any = typer.main.get_command(app)
    rest = words[1:]
    while rest and rest[0] in getattr(command, "commands", {}):
        command = command.commands[rest.pop(0)]
    if getattr(command, "default", None) is not None and rest and not rest[0].startswith("--"):
        command = command.commands[command.default]  # 'judge OPTIONS' is 'judge run OPTIONS'
    known = {flag for parameter in command.params for flag in (*parameter.opts, *parameter.secondary_opts)} | {"--help"}
    for word in rest:
        assert not word.startswith("--") or word.partition("=")[0] in known, f"{shlex.join(words)}: there is no {word}."


def run_page(page: Path, folder: Path, before: str = "") -> Counter[str]:
    """Run all blocks of a page, and count them. At the end ``stop()`` is called, if ``before`` defines it."""
    modules, running = set(sys.modules), PageRun(folder, before)
    sys.path.insert(0, str(folder))  # what a page wrote can be imported below
    try:
        for block in blocks(page):
            try:
                running.run(block)
            except AssertionError:
                raise
            except Exception as error:
                raise AssertionError(f"{block.place}: {type(error).__name__}: {error}") from error
    finally:
        running.names.get("stop", lambda: None)()
        sys.path.remove(str(folder))
        for name in set(sys.modules) - modules:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
                del sys.modules[name]
    return running.done


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    from tests.page_preludes import BEFORE

    total: Counter[str] = Counter()
    for page in [Path(name).resolve() for name in sys.argv[1:]] or pages():
        with tempfile.TemporaryDirectory() as folder:
            start = os.times()
            counted = run_page(page, Path(folder), BEFORE.get(page.relative_to(ROOT).as_posix(), ""))
            seconds = sum(os.times()[:4]) - sum(start[:4])
            print(f"{page.relative_to(ROOT)}: {dict(counted)}, {seconds:.1f} CPU seconds", flush=True)
            total.update(counted)
    print(f"In all: {dict(total)}, {sum(total.values())} blocks")
