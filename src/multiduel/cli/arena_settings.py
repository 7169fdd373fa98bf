"""The options of ``multiduel arena create`` that stand for settings, made from their declaration when the command is called.

The declaration loads the policies, which takes half a second: ``multiduel --help`` does not wait for it.
"""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from multiduel.cli.terminal import POLICY

if TYPE_CHECKING:
    from multiduel.arena.domain.settings import Setting

TYPES: dict[str, Any] = {"whole": int, "number": float, "truth": bool, "parameters": list[str]}  # of all others: str


class WithSettings(TyperCommand):
    """A command with an option for each setting of an arena. Their values are in ``ctx.obj``, a table by name."""

    @functools.cached_property
    def _all(self) -> list[Any]:  # one list: Click changes it
        return [*self._own, *setting_options()]

    @property
    def params(self) -> Any:
        return self._all

    @params.setter
    def params(self, own: Any) -> None:
        self._own = own

    def invoke(self, ctx: Any) -> Any:
        ctx.obj = {option.name: ctx.params.pop(option.name) for option in setting_options()}
        return super().invoke(ctx)


@functools.cache
def setting_options() -> tuple[Any, ...]:
    """The options, with help and defaults."""
    from multiduel.arena.domain.settings import RATERS, declared

    def function() -> None: ...

    words = [_parameter(one) for one in (*declared(), RATERS)]
    function.__signature__ = inspect.Signature(words)  # type: ignore[attr-defined]  # where Typer reads parameters
    function.__annotations__ = {one.name: one.annotation for one in words}
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command()(function)
    return tuple(typer.main.get_command(alone).params)


def _parameter(setting: Setting) -> inspect.Parameter:
    type = TYPES.get(setting.kind, str)
    optional = setting.optional or setting.kind == "parameters"
    metavar = setting.limits if setting.kind == "parameters" else None
    option = typer.Option(help=f"{setting.description} {_more_help(setting)}".strip(), metavar=metavar)
    return inspect.Parameter(
        setting.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None if optional else setting.default,
        annotation=Annotated[type | None if optional else type, option],
    )


def _more_help(setting: Setting) -> str:
    """What a terminal's user needs to know besides the description."""
    if setting.kind in ("whole", "number", "text"):
        return f"{setting.limits[0].upper()}{setting.limits[1:]}."
    return {"policy": POLICY, "parameters": "May be repeated."}.get(setting.kind, "")
