"""What requests and answers look like: the types of the OpenAPI document. What a value may mean is checked by the service."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, create_model

from multiduel.arena.domain.options import (
    MOST_CONTEXTS,
    MOST_NAME,
    MOST_OPTIONS,
    MOST_QUESTION,
    Option,
    features_of,
    make_content,
)
from multiduel.arena.domain.settings import MOST_NAME as MOST_POLICY_NAME
from multiduel.arena.domain.settings import MOST_SEATS, MOST_VOTES, RATERS, Setting, Settings, declared, setting
from multiduel.arena.files.sheets import MOST_SHEETS
from multiduel.arena.web.joining import JOIN_REQUEST
from multiduel.inputs import BadInput, shortened

MOST_WHOLE = 2**53 - 1  # that every JSON reader keeps whole

Name = Annotated[str, StringConstraints(min_length=1, max_length=MOST_NAME)]
Label = Annotated[str, StringConstraints(max_length=MOST_NAME)]
RequestId = Annotated[str, StringConstraints(pattern=r"^[!-~]{1,200}$")]
JoinRequestId = Annotated[str, StringConstraints(pattern=JOIN_REQUEST.pattern)]
Arena = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$", description="The arena's id.")]
TicketId = Annotated[
    str, Path(pattern=r"^[A-Za-z0-9_-]{1,128}$", description="A ticket's id: a secret between rater and server.")
]
OptionId = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
RaterId = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Flag = Annotated[Literal["0", "1"], Query()]


class Body(BaseModel):
    """Of a request: no conversions, nothing unknown."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class Error(BaseModel):
    error: str = Field(description="One sentence.")


# ---- owners


class ContentIn(Body):
    kind: Literal["text", "markdown", "image", "audio", "url"] = "text"
    content: str | None = Field(None, description="The text or URL.")
    base64: str | None = Field(None, description="The bytes of an image or a sound, in base64.")

    def read(self) -> Any:
        if (self.content is None) == (self.base64 is None):
            raise BadInput("A content has either 'content' or 'base64'.")
        if self.content is not None:
            return make_content(self.kind, self.content)
        try:
            data = base64.b64decode(self.base64 or "", validate=True)
        except ValueError:
            raise BadInput("'base64' of a content must be base64.") from None
        return make_content(self.kind, data)


class OptionIn(Body):
    name: Name
    kind: Literal["text", "markdown", "image", "audio", "url"] = "text"
    content: str | None = None
    base64: str | None = None
    contents: list[ContentIn] | None = Field(None, description="One per context, in their order, where there are contexts.")
    features: list[float] | None = Field(
        None, description="Numbers that describe the option, for policies that use them: of all options, or of none."
    )

    def read(self) -> Option:
        if self.contents is not None and (self.content is not None or self.base64 is not None):
            raise BadInput("An option has either one content, or 'contents', one per context.")
        own = [ContentIn(kind=self.kind, content=self.content, base64=self.base64)] if self.contents is None else self.contents
        features = features_of(self.features or [], f"Option {shortened(self.name)}")
        return Option(self.name.strip(), tuple(one.read() for one in own), features)


def typed(setting: Setting) -> Any:
    """The type of a setting's value, with its limits and description."""
    kinds: dict[str, Any] = {
        "whole": int,
        "number": float,
        "text": Annotated[str, StringConstraints(max_length=int(setting.most) if setting.kind == "text" else None)],
        "choice": Literal[tuple(setting.choices)] if setting.choices else str,
        "truth": bool,
        "policy": Annotated[str, StringConstraints(min_length=1, max_length=MOST_POLICY_NAME)],
        "parameters": dict[str, str | int | float | bool],
    }
    type, limits = kinds[setting.kind], dict[str, Any]()
    if setting.kind == "whole":
        limits = {"ge": setting.least, "le": setting.most}
    elif setting.kind == "number":
        limits = {"gt" if setting.above else "ge": setting.least, "lt": setting.most}
    description = setting.description
    if setting.kind == "whole" and int(float(setting.most)) != setting.most:  # the document's limits are floats: say it in words
        description += f" {setting.limits}."
        del limits["le"]
    if limits:
        type = Annotated[type, Field(**limits)]
    return Annotated[type | None if setting.optional else type, Field(title=setting.label, description=description)]


class _SettingsIn(Body):
    """The settings of an arena. See ``multiduel.arena.Settings``."""

    def read(self) -> Settings:
        return Settings.from_json(self.model_dump())


if TYPE_CHECKING:
    SettingsIn = _SettingsIn
    PolicyName = str
    Parameters = dict[str, str | int | float | bool]
    Margin = float
    Raters = str
else:  # derived: type checkers do not run code
    SettingsIn = create_model(
        "SettingsIn",
        __base__=_SettingsIn,
        __doc__=_SettingsIn.__doc__,
        **{
            one.name: (typed(one), Field(default_factory=dict) if one.kind == "parameters" else one.default) for one in declared()
        },
    )
    PolicyName, Parameters, Margin = (typed(setting(name)) for name in ("policy", "parameters", "margin"))
    Raters = typed(RATERS)


class CreateIn(Body):
    name: Name
    options: list[OptionIn] = Field(min_length=2, max_length=MOST_OPTIONS)
    contexts: list[Annotated[str, StringConstraints(min_length=1, max_length=MOST_QUESTION)]] = Field(
        [], max_length=MOST_CONTEXTS
    )
    settings: SettingsIn = Field(default_factory=lambda: SettingsIn.model_validate({}))
    raters: Raters = RATERS.default
    request: RequestId | None = None


class ContentOut(BaseModel):
    kind: str
    sha256: str
    size: int
    type: str


class OptionOut(BaseModel):
    id: str
    name: str
    retired: bool
    contents: list[ContentOut]


class ContextOut(BaseModel):
    id: str
    text: str


class ArenaOut(BaseModel):
    arena: str
    name: str
    status: Literal["created", "open", "paused", "closed"]
    settings: dict[str, Any] = Field(description="Without the seed, from which the next slate could be computed.")
    options: list[OptionOut]
    contexts: list[ContextOut]
    created: str
    events: int
    problem: str | None = Field(None, description="Why it cannot choose what to show: its policy is not registered here.")


class CreatedOut(BaseModel):
    arena: str
    owner_key: str = Field(description="Shown once.")
    link_key: str | None = Field(None, description="With raters = open: anyone may join with this key. Shown once.")
    info: ArenaOut


class ArenaRowOut(BaseModel):
    arena: str
    name: str
    created: str


class ArenasOut(BaseModel):
    arenas: list[ArenaRowOut]


class OptionsIn(Body):
    options: list[OptionIn] = Field(min_length=1, max_length=MOST_OPTIONS)
    request: RequestId | None = None


class RetireIn(Body):
    request: RequestId | None = None


class RaterIn(Body):
    label: Label = ""
    group: Label | None = None
    limit: int | None = Field(None, ge=1, le=MOST_VOTES)
    request: RequestId | None = None
    kind: Literal["person", "judge"] = Field("person", description="A judge is a model or a program.")


class JoinIn(Body):
    label: Label = ""
    request: JoinRequestId | None = Field(
        None, description="Optional; random and secret. Sent again, it returns a new key of the same rater."
    )


class RaterKeyOut(BaseModel):
    rater: str
    key: str = Field(description="The rater's key. Shown once; the same request again returns a new key, which replaces it.")


class KeyOut(BaseModel):
    key: str


class RevokedOut(BaseModel):
    revoked: int


class ReasonIn(Body):
    reason: Annotated[str, StringConstraints(max_length=1000)] = ""


class PolicyIn(Body):
    policy: PolicyName
    parameters: Parameters = Field(default_factory=dict)


class MarginIn(Body):
    margin: Margin


class LineOut(BaseModel):
    line: int
    id: str
    result: Literal["new", "already", "refused"]
    counted: str
    problem: str


class ReportOut(BaseModel):
    accepted: bool
    entered: bool
    new: int
    already: int
    refused: int
    empty: int
    lines: list[LineOut]


class SheetsIn(Body):
    number: int = Field(ge=1, le=MOST_SHEETS)
    group: Label | None = None
    request: RequestId | None = None


# ---- raters


class AskIn(Body):
    request: RequestId | None = Field(None, description="Sent again, it returns the same ticket.")
    group: Label | None = Field(None, description="Used only where the owner assigned none to this rater.")


class ShownOut(BaseModel):
    kind: Literal["text", "markdown", "image", "audio", "url"]
    url: str = Field(description="Where the content at this position is, for this ticket only.")


class TicketOut(BaseModel):
    """What a rater is shown. Positions are numbered from 0, in an order made for this ticket."""

    ticket: str
    question: Literal["rank", "best", "worst"]
    context: str | None = Field(description="The question that the options answer.")
    group: str | None
    positions: int
    contents: list[ShownOut]
    issued: str
    expires: str | None


class DoneOut(BaseModel):
    done: str = Field(description="A word: created, paused, closed, settled, limit, judged, one_option.")
    sentence: str


Place = Annotated[int, Field(ge=0, lt=MOST_SEATS)]


class RankIn(Body):
    rank: list[Place | list[Place]] = Field(
        max_length=MOST_SEATS, description="Positions, best first; a list is a tie; positions left out are not compared."
    )


class BestIn(Body):
    best: Place


class WorstIn(Body):
    worst: Place


class SkipIn(Body):
    skip: bool = Field(description="true: no answer.")


class WinsIn(Body):
    """For programs that credit clicks, in arenas whose question is rank."""

    wins: list[list[Annotated[float, Field(ge=0.0, le=1e9)]]] = Field(
        max_length=MOST_SEATS, description="wins[a][b]: the weight of 'a was better than b'."
    )


BallotIn = RankIn | BestIn | WorstIn | SkipIn | WinsIn


class ReceiptOut(BaseModel):
    event: int = Field(description="Number of the vote's event in the log.")
    hash: str = Field(description="Hash of that event. Keep both for 'arena verify --receipt', which finds it in the log.")
    counted: Literal["counted", "late", "aside", "skipped", "undone"]
    next: TicketOut | DoneOut | None = None


class UndoIn(Body):
    request: RequestId | None = None


# ---- anyone


class LiveOut(BaseModel):
    live: Literal[True] = True


class ReadyOut(BaseModel):
    ready: bool
    why: str
