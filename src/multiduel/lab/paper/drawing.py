"""The figures, each drawn as soon as its experiments are there: by a process of its own, while others are still played.

A process and not a thread: what plays asks for Python's lock twenty times a second, and Matplotlib holds it for long.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

from multiduel.lab.paper import claims, figures
from multiduel.lab.paper.panels import MULTI, SLATE_SIZES, THEORY, TWO
from multiduel.lab.results import Panel


def _bound_curves(panels: Sequence[Panel]) -> Any:
    return claims.bound_curves({panel.experiment.name: panel for panel in panels})


def _joint(names: Sequence[str]) -> tuple[str, ...]:
    """The panels, and those of the joint interpretation beside them."""
    return (*names, *(f"joint-{name}" for name in names))


# What each is drawn from, and how.
FIGURES: dict[str, tuple[tuple[str, ...], Callable[[list[Panel]], Any]]] = {
    "two-dueling": (_joint(TWO), figures.side_by_side),
    "multi-dueling": (_joint(MULTI), figures.side_by_side),
    "two-dueling-log": (TWO, figures.regret),
    "multi-dueling-log": (MULTI, partial(figures.regret, columns=2, decades=3)),
    "two-dueling-rivals": (TWO, partial(figures.regret, rivals=True)),
    "multi-dueling-rivals": (MULTI, partial(figures.regret, columns=2, decades=3, rivals=True)),
    "two-dueling-runs": (TWO, figures.distribution),
    "multi-dueling-runs": (MULTI, partial(figures.distribution, columns=2)),
    "bounds": (THEORY, lambda panels: figures.bounds(_bound_curves(panels))),
    "slate-sizes": (SLATE_SIZES, figures.slate_sizes),
    "cost": ((*TWO, *MULTI), figures.cost),
    # the same in one column
    "two-dueling-narrow": (_joint(TWO), partial(figures.side_by_side, narrow=True)),
    "multi-dueling-narrow": (_joint(MULTI), partial(figures.side_by_side, narrow=True)),
    "two-dueling-log-narrow": (TWO, partial(figures.regret, narrow=True)),
    "multi-dueling-log-narrow": (MULTI, partial(figures.regret, decades=3, narrow=True)),
    "two-dueling-rivals-narrow": (TWO, partial(figures.regret, rivals=True, narrow=True)),
    "multi-dueling-rivals-narrow": (MULTI, partial(figures.regret, decades=3, rivals=True, narrow=True)),
    "two-dueling-runs-narrow": (TWO, partial(figures.distribution, columns=1)),
    "multi-dueling-runs-narrow": (MULTI, partial(figures.distribution, columns=1)),
    "bounds-narrow": (THEORY, lambda panels: figures.bounds(_bound_curves(panels), columns=1)),
    "slate-sizes-narrow": (SLATE_SIZES, partial(figures.slate_sizes, columns=1)),
}


def draw(name: str, panels: bytes, folder: Path) -> list[Path]:
    """One of the figures from its panels, packed, in the folder: its files, the SVG last."""
    return figures.save(partial(FIGURES[name][1], pickle.loads(panels)), folder, name)


class Drawing:
    """The figures of a folder, drawn while this lasts; apart from this process where there is a core for it.

    ``expected`` are the names of the experiments that are to come; all of them if not given.
    """

    def __init__(self, folder: Path, cores: int, expected: Collection[str] | None = None) -> None:
        self.folder = folder
        self.expected = expected
        self.pool = ThreadPoolExecutor(1, thread_name_prefix="multiduel-figures")
        self.begun: dict[str, Future[list[Path]]] = {}
        self.helper = helper() if cores > 1 else None

    def begin(self, measured: Mapping[str, Panel], *, rest: bool = False) -> None:
        """Those whose experiments are all there and that were not begun before; of the ``rest``, no more are to come.

        Panels are packed here, by whoever has them: packed later, by the thread that draws, they might change under its hands
        (a panel remembers what it was asked for).
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        packed: dict[tuple[str, ...], bytes] = {}
        for name, (needed, _) in FIGURES.items():
            panels = [measured[each] for each in needed if each in measured]
            waited_for = [each for each in needed if self.expected is None or each in self.expected]
            if name not in self.begun and panels and (rest or len(panels) == len(waited_for)):
                if needed not in packed:
                    packed[needed] = pickle.dumps(panels)
                self.begun[name] = self.pool.submit(self._draw, name, packed[needed])

    def _draw(self, name: str, panels: bytes) -> list[Path]:
        """By the helper; and if it fails, here, where its trouble is seen."""
        if self.helper is not None:
            try:
                return ask(self.helper, name, panels, self.folder)
            except (OSError, EOFError, pickle.UnpicklingError):
                self.helper.kill()
                self.helper.wait()
                self.helper = None
        return draw(name, panels, self.folder)

    def pictures(self) -> dict[str, Path]:
        """The SVG files by name, once all are drawn."""
        return {name: drawn.result()[-1] for name, drawn in self.begun.items()}

    def __enter__(self) -> Drawing:
        return self

    def __exit__(self, *trouble: object) -> None:
        helping, unharmed = self.helper, trouble[0] is None
        if helping is not None and not unharmed:
            helping.kill()
        self.pool.shutdown(wait=unharmed, cancel_futures=True)
        if helping is not None:
            with suppress(OSError):
                helping.stdin.close()  # type: ignore[union-attr]
            helping.wait()


def helper() -> subprocess.Popen[bytes] | None:
    """A process that draws what it is asked for, and ends with its input. None where none can be had."""
    pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
    with suppress(OSError):
        return subprocess.Popen([sys.executable, "-m", __name__], stdin=pipe, stdout=pipe, stderr=quiet)
    return None


def ask(process: subprocess.Popen[bytes], name: str, panels: bytes, folder: Path) -> list[Path]:
    assert process.stdin and process.stdout
    pickle.dump((name, panels, folder), process.stdin)
    process.stdin.flush()
    return pickle.load(process.stdout)  # type: ignore[no-any-return]


def serve(questions: IO[bytes], answers: IO[bytes]) -> None:
    with suppress(EOFError):
        while True:
            pickle.dump(draw(*pickle.load(questions)), answers)
            answers.flush()


if __name__ == "__main__":
    answers, sys.stdout = sys.stdout.buffer, sys.stderr  # what is printed is no answer
    serve(sys.stdin.buffer, answers)
