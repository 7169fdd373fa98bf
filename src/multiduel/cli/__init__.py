"""The command ``multiduel``. Thin: what it prints comes from the library, and heavy imports wait until needed."""

from __future__ import annotations

import os
from typing import Annotated

# Before NumPy is loaded. Matrices here are small: on a busy machine, several threads of its BLAS mostly wait for one another,
# and a board of 200 options took ten times the CPU.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import typer

from multiduel import __version__
from multiduel.cli import (
    arena,
    arena_demo,
    arena_files,
    arena_keys,
    bench,
    judges,
    lab,
    policies,
    problem,
    ranker_logs,
    simulate,
    votes,
)
from multiduel.cli.terminal import INTERRUPTED, Sentences, leave_at_once, output

app = typer.Typer(cls=Sentences, no_args_is_help=True, add_completion=False, rich_markup_mode=None)
for commands in (policies, problem, simulate, lab, bench, votes):
    app.add_typer(commands.app)  # without a name: its commands are ours
app.add_typer(ranker_logs.app, name="rankers")
app.add_typer(judges.app, name="judge")
arena.app.add_typer(arena_demo.app)
arena.app.add_typer(arena_files.app)
arena.app.add_typer(arena_keys.app)
arena.app.add_typer(judges.arena_app)
arena.app.add_typer(arena_keys.keys_app, name="keys")
app.add_typer(arena.app, name="arena")


def main() -> None:
    with output():
        try:
            app(prog_name="multiduel")
        except SystemExit as end:
            if end.code == INTERRUPTED:
                leave_at_once(INTERRUPTED)
            raise


def _version(wanted: bool) -> None:
    if wanted:
        print(f"multiduel {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")] = False,
) -> None:
    """Find the best of several options from comparisons instead of scores."""
