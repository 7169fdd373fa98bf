"""The board and the list of raters, as types of the OpenAPI document."""

from __future__ import annotations

import dataclasses
import functools
import operator
from types import GenericAlias, UnionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, Field, create_model

from multiduel.arena.service.board import FOR_RATERS, Board, Line, MarginOffer
from multiduel.arena.service.kinds import KindLine, KindRank
from multiduel.arena.service.raters import RaterLine
from multiduel.arrays import Floats


@functools.cache  # a type that two others contain is one type in the document
def model_of(of: type, name: str, doc: str = "", only: tuple[str, ...] | None = None) -> type[BaseModel]:
    """The type of a dataclass written as JSON, or of those fields that are in ``only``.

    Parameters
    ----------
    of
        A dataclass. A text in ``Annotated`` is the description of a field.
    name, doc
        Of the type in the OpenAPI document.

    Returns
    -------
    A model with the same fields, in their order, all of them required.
    """
    hints = get_type_hints(of, include_extras=True)
    names = [one.name for one in dataclasses.fields(of) if only is None or one.name in only]
    fields: dict[str, Any] = {one: (_as_json(hints[one]), Field(description=_description(hints[one]))) for one in names}
    return create_model(name, __doc__=doc or of.__doc__, **fields)


def _description(hint: Any) -> str | None:
    return next((str(one) for one in hint.__metadata__), None) if get_origin(hint) is Annotated else None


def _as_json(hint: Any) -> Any:
    """The type that a value has once it is written: tuples are lists, tables of counts are lists of lists."""
    kind, parts = get_origin(hint), get_args(hint)
    if kind is Annotated:
        return _as_json(parts[0])
    if hint == Floats:
        return list[list[int]]
    if kind is UnionType:
        return functools.reduce(operator.or_, (_as_json(part) for part in parts))
    if kind is tuple:
        item: Any = _as_json(parts[0])
        if parts[-1] is ...:
            return GenericAlias(list, item)
        # of numbers, with null for one that cannot be said
        return Annotated[GenericAlias(list, item | None), Field(min_length=len(parts), max_length=len(parts))]
    return model_of(hint, NAMES[hint]) if hint in NAMES else hint


NAMES: dict[type, str] = {Line: "BoardLineOut", MarginOffer: "MarginOfferOut", KindLine: "KindLineOut", KindRank: "KindRankOut"}
BoardOut = model_of(Board, "BoardOut", "As owners see it.")
RaterBoardOut = model_of(Board, "RaterBoardOut", "As raters see it.", FOR_RATERS)
RaterOut = model_of(RaterLine, "RaterOut")


class RatersOut(BaseModel):
    raters: list[RaterOut]  # type: ignore[valid-type]


class VerifiedOut(BaseModel):
    good: bool
    sentence: str
