"""What every command shares at the terminal: refusals as sentences, Ctrl-C, progress bars, tables. Heavy imports wait."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from multiduel.display.progress import progress_bar
from multiduel.files import json_ready, refuse_unwritable, write_whole
from multiduel.inputs import BadInput, shortened, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

INTERRUPTED = 130  # exit code after Ctrl-C
_interrupted = threading.Event()


def _interrupt(*_: object) -> None:
    """Ctrl-C. Also written down, and looked for by whoever waits: code being compiled or loaded might swallow it."""
    _interrupted.set()
    raise KeyboardInterrupt


# Help texts of options that several commands share.
POLICY = "A name from 'multiduel policies', or your own policy: path/to/file.py:SPEC or my_module:SPEC."
PROBLEM = (
    "A name from 'multiduel problem --list', or a file (.csv, .tsv, .txt): a line per arm, with its chances of beating each arm; "
    "a first line of names is optional."
)
ARMS = "Number of arms. The default is in 'multiduel problem --list'; a file has its own number."
JsonFile = Annotated[
    str | None, typer.Option("--json", metavar="FILE", help="Write the numbers as JSON; '-' prints them instead.")
]
LINK = "Link from utilities to chances: linear (the default), natural or logit."


def refuse_json(file: str | None) -> None:
    """Refuse a file of ``--json`` that cannot be written, before any work."""
    if file is not None and file != "-":
        refuse_unwritable(file)


def give_json(file: str | None, numbers: Callable[[], Any], *, indent: int | None = None) -> bool:
    """Do what ``--json`` asks for: write the file, or print. Returns whether JSON was printed, and so nothing else should be."""
    if file is None:
        return False
    text = json.dumps(json_ready(numbers()), indent=indent, allow_nan=False)
    if file == "-":
        print(text)
        return True
    write_whole(file, text + "\n")
    print(visible(f"Wrote {file}"), file=sys.stderr)
    return False


class Sentences(TyperGroup):
    """Refused input is one sentence on stderr and exit code 2; Ctrl-C is exit code 130."""

    def invoke(self, ctx: Any) -> Any:
        _interrupted.clear()
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, _interrupt)
        try:
            return super().invoke(ctx)
        except BadInput as error:
            print(visible(str(error)), file=sys.stderr)
            raise typer.Exit(2) from None
        except OSError as error:
            if error.filename is None:  # of no file: the screen's (see ``output``)
                raise
            print(visible(f"{shortened(error.filename)} cannot be used: {error.strerror}."), file=sys.stderr)
            raise typer.Exit(2) from None
        except MemoryError:
            print("Not enough memory: K arms need several tables of K x K numbers. Try fewer.", file=sys.stderr)
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            print("Stopped.", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None


def leave_at_once(code: int) -> None:
    """End the process without waiting for threads: one may be amid an event of a policy that takes minutes for it."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)


@contextmanager
def output() -> Iterator[None]:
    """A screen or file that cannot be written to is a sentence and exit code 2; a pipe that nobody reads ends quietly."""
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names of files need not be UTF-8
    if sys.stdout is None:
        print("Nothing can be printed: the output is closed. To print nowhere, use > /dev/null.", file=sys.stderr)
        sys.exit(2)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name that the screen has no letters for
    problem: OSError | None = None
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        problem = error
    finally:
        try:
            sys.stdout.flush()
        except OSError as error:
            problem = error
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python tries again, and complains, at its end
        if problem is not None:
            if problem.errno != errno.EPIPE:
                print(f"What was to be printed cannot be written: {problem.strerror}.", file=sys.stderr)
            sys.exit(2)


@contextmanager
def progress(label: str) -> Iterator[Callable[[float], None]]:
    """Show a progress bar if someone watches. Whoever plays calls back from the main thread: there Ctrl-C is looked for too."""
    with progress_bar(label) as show:

        def update(share: float) -> None:
            if _interrupted.is_set():
                raise KeyboardInterrupt
            show(share)

        yield update


def console() -> Console:
    """As wide as the screen; wide enough for every table where there is none."""
    from rich.console import Console
    from rich.text import Text

    class Shown(Console):
        def render_str(self, text: str, **words: Any) -> Text:
            return super().render_str(visible(text), **words)

    width = None if sys.stdout.isatty() else 200
    return Shown(highlight=False, markup=False, emoji=False, width=width)  # names and labels are text, whatever is in them


def table(*columns: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    return Table(*columns, box=SIMPLE_HEAD, pad_edge=False)


def facts() -> Table:
    """Two columns without lines: what, and its value."""
    from rich.table import Table

    return Table("", "", box=None, show_header=False, pad_edge=False)


def whole_number(name: str, text: str) -> int:
    """A whole number written 1e6, 10**6, 10^6 or 1_000_000, without loss."""
    power = re.fullmatch(r"\s*(\d{1,6})\s*(?:\*\*|\^)\s*(\d{1,2})\s*", text)
    try:
        value = Decimal(int(power[1]) ** int(power[2])) if power else Decimal(text.replace(",", ""))
        if not value.is_finite() or value.adjusted() > 30 or value != int(value) or value < 1:
            raise ValueError
    except (InvalidOperation, ValueError):
        raise BadInput(f"'{name}' must be a whole number of at least 1, such as 1e6 or 10**6. Got '{text}'.") from None
    return int(value)
