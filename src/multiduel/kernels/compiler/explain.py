"""What the compiler says about a user's code, in one sentence with its file and line. The whole text is shown on request."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable
from pathlib import Path

from multiduel.inputs import BadInput, did_you_mean

FULL = "MULTIDUEL_COMPILER_TEXT"  # environment variable: 1 shows all that the compiler said

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")  # Numba colours what it says
ALLOCATES = (
    "this makes a new array, list, dict or text, and compiled code makes none. Let 'init' make it, as a field of State, and "
    "write into it; write a loop in place of an array expression"
)
# What the compiler says, and what it means; the first that fits is taken.
MEANINGS: tuple[tuple[str, str], ...] = (
    (r"TypeError: ('\w+' is not implemented for [\w.]+)\.", r"\1"),
    (r"name '(\w+)' is not defined", r"name '\1' is not defined"),
    (
        r"Untyped global name '(\w+)':.*?'function'",
        r"'\1' is plain Python, which compiled code cannot call. Put @kernel above it",
    ),
    (
        r"Unsupported array index type (\w+)",
        r"an index must be a whole number, and one of these is a \1. Write int(...) around it",
    ),
    (
        r"Unknown attribute '(\w+)' of type Module\(<module 'numpy\.random'",
        "randomness comes from 'rng': uniform(rng), below(n, rng)",
    ),
    (r"Unknown attribute '(\w+)' of type (\w+)\(", r"\2 has no '\1'"),
    (r"Unknown attribute '(\w+)' of type (\S+)", r"compiled code knows no '\1' of \2"),
    (r"failed to unpack", "'ask' must return two numbers: how many arms, and for how many rounds"),
    (
        r"Cannot unify (?:Literal\[)?(\w+).*? and (?:Literal\[)?(\w+).*? for '",
        r"a value must have one type here. It is \1 and \2",
    ),
    (r"NRT required but not enabled|Only accept returning of array", ALLOCATES),
    (r"found for signature:\s*>>> (.+)", r"compiled code cannot do \1"),
)


def explained(error: Exception, files: Iterable[Path]) -> Exception:
    """A sentence in place of an error of the compiler, if it is about one of these files; else the error itself."""
    text, own = ESCAPES.sub("", str(error)), list(files)
    if not own:
        return error
    meaning = _meaning(text)
    file, line = _place(text, own, meaning)
    where = f"'{file}', line {line}" if line else f"'{file}'"
    hint = _similar_name(meaning, file)
    sentence = f"{where}: {meaning}.{hint} (All that the compiler said: set {FULL}=1.)"
    if os.environ.get(FULL, "") not in ("", "0"):
        sentence = f"{where}: {meaning}.{hint}\n\n{text}"
    return BadInput(sentence)


def _meaning(text: str) -> str:
    for pattern, words in MEANINGS:
        found = re.search(pattern, text, re.DOTALL if ".*?" in pattern else 0)
        if found:
            return found.expand(words)
    lines = [line.strip() for line in text.splitlines() if line.strip() and "nopython" not in line]
    return (lines[0] if lines else "it cannot be compiled").rstrip(".")


def _place(text: str, own: list[Path], meaning: str) -> tuple[Path, int | None]:
    """The innermost place in one of these files; where the compiler names none, the first with the name that it is about."""
    for path, line in re.findall(r"\bat (\S[^\n]*?\.py) \((\d+)\)", text):
        if Path(path).resolve() in own:
            return Path(path), int(line)
    wanted = re.search(r"'(\w+)'", meaning)
    for file in own if wanted else ():
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.Name) and node.id == wanted[1]:  # type: ignore[index]
                return file, node.lineno
    return own[0], None


def _similar_name(meaning: str, file: Path) -> str:
    wanted = re.search(r"name '(\w+)' is not defined", meaning)
    if not wanted:
        return ""
    tree = ast.parse(file.read_bytes())
    names = {
        node.arg if isinstance(node, ast.arg) else node.id for node in ast.walk(tree) if isinstance(node, ast.arg | ast.Name)
    }
    return did_you_mean(wanted[1], names - {wanted[1]})
