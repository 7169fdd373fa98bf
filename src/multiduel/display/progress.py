"""Progress bars: one for terminals, one for notebooks, none where nobody watches."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

Update = Callable[..., None]  # update(done) with a share, or update(done, total)


@contextmanager
def progress_bar(label: str, *, unit: str = "", keep: bool = False) -> Iterator[Update]:
    """Show how much is done, on stderr or in a notebook's cell.

    Parameters
    ----------
    label
        What is being done.
    unit
        What is counted, such as "rounds": then the bar says how many of them a second.
    keep
        Leave the finished bar on the screen.

    Yields
    ------
    update
        To be called with the share done, or with how much is done and how much there is, and with another ``label`` if what is
        being done changes. What is printed meanwhile stays above the bar. Without a terminal or a notebook it does nothing.
    """
    if _in_notebook():
        with _notebook_bar(label) as update:
            yield update
        return
    if not sys.stderr.isatty():
        yield lambda done, total=1.0, label="": None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

    last: ProgressColumn = TextColumn("{task.fields[pace]}") if unit else TimeRemainingColumn(elapsed_when_finished=True)
    share = TaskProgressColumn("[progress.percentage]{task.percentage:>3.0f} %")
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), share, last)
    with Progress(*columns, console=Console(stderr=True), transient=not keep) as bars:
        task = bars.add_task(label, total=1.0, pace="")
        start = time.monotonic()

        def update(done: float, total: float = 1.0, label: str = label) -> None:
            said = pace(done, total, time.monotonic() - start, unit) if unit else ""
            bars.update(task, completed=done / total, pace=said, description=label)

        yield update
        bars.update(task, completed=1.0)


def _in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    from rich.console import Console

    return Console().is_jupyter


@contextmanager
def _notebook_bar(label: str) -> Iterator[Update]:
    """Show HTML's own bar, one display that is updated: Rich's needs ipywidgets, and warns without them."""
    from IPython.display import HTML, display

    def bar(share: float, label: str = label) -> Any:
        return HTML(f'<progress max="1" value="{share:.3f}"></progress> {100 * share:.0f} % {escape(label)}')

    shown = display(bar(0.0), display_id=True)
    yield lambda done, total=1.0, label=label: shown.update(bar(done / total, label))
    shown.update(bar(1.0))


def pace(done: float, total: float, seconds: float, unit: str) -> str:
    """Say how many units a second, and how long it takes still.

    >>> pace(3e6, 4e6, 6.0, "rounds")
    '500 thousand rounds/s, 2 s left'
    >>> pace(4e9, 4e9, 80.0, "rounds")
    '50 million rounds/s, 1 min 20 s'
    """
    if done <= 0 or seconds <= 0:
        return ""
    speed = done / seconds
    sizes = ((1e9, " billion"), (1e6, " million"), (1e3, " thousand"), (0.0, ""))
    size, word = next((size or 1.0, word) for size, word in sizes if speed >= size)
    left = (total - done) / speed
    rest = f"{duration(left)} left" if done < total else duration(seconds)
    return f"{speed / size:.3g}{word} {unit}/s, {rest}"


def duration(seconds: float) -> str:
    """Say how long in the largest two units.

    >>> duration(80.0)
    '1 min 20 s'
    """
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
