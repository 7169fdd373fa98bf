"""A bar that shows how much is played: in a terminal, in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

from multiduel.inputs import BadInput, shortened


@contextmanager
def watching(progress: Any, name: str) -> Iterator[Callable[[float], None] | None]:
    """The function to call with the share played: the caller's, that of a bar in terminal or notebook, or none."""
    if progress is None or progress is False or callable(progress):
        yield progress or None
        return
    if progress is not True:
        raise BadInput(f"'progress' of 'simulate' must be True, False or a function. Got {shortened(progress)}.")
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    console = Console()
    if console.is_jupyter:
        with _in_a_notebook(name) as update:
            yield update
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bars:
        task = bars.add_task(name, total=1.0)
        yield lambda share: bars.update(task, completed=share)
        bars.update(task, completed=1.0)


@contextmanager
def _in_a_notebook(name: str) -> Iterator[Callable[[float], None]]:
    """HTML's own bar, one display that is updated: Rich's needs ipywidgets, and warns without them."""
    from IPython.display import HTML, display

    def bar(share: float) -> Any:
        return HTML(f'<progress max="1" value="{share:.3f}"></progress> {share:.0%} {escape(name)}')

    shown = display(bar(0.0), display_id=True)
    yield lambda share: shown.update(bar(share))
    shown.update(bar(1.0))
