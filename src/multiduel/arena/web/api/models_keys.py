"""Keys and heads in requests and answers. A secret is in an answer once, when it is made; a hash of one never."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path
from pydantic import BaseModel, Field, StringConstraints

from multiduel.arena.web.access import MOST_LABEL
from multiduel.arena.web.api.models import Body

KeyName = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$", description="The third part of a key. No secret.")]
Role = Literal["server", "owner", "link", "rater", "report"]


class NewKeyIn(Body):
    label: Annotated[str, StringConstraints(max_length=MOST_LABEL)] = Field("", description="Who holds it.")


class NewKeyOut(BaseModel):
    name: str
    role: Role
    key: str = Field(description="Shown once.")


class KeyRowOut(BaseModel):
    name: str
    role: Role
    label: str = Field(description="Who holds it; of a rater's key, the rater's label.")
    created: str | None = Field(description="When its secret was made; null: before keys had dates.")
    made_by: str | None = Field(description="Role and name of the key that made it, or 'command'.")
    last_used: str | None = Field(description="To a few minutes; null: never.")
    yours: bool = Field(description="The key of this request.")


class KeyChangeOut(BaseModel):
    at: str
    what: Literal["made", "rotated", "revoked"]
    role: Role | Literal["account"] = Field(description="An account is one that was invited as an owner, by its address.")
    name: str
    label: str
    by: str = Field(description="Role and name of a key, or 'command'.")


class KeysOut(BaseModel):
    keys: list[KeyRowOut]
    changes: list[KeyChangeOut] = Field(description="The last 100, the newest first.")


class HeadOut(BaseModel):
    """The last event of a log, signed. Keep it: 'arena verify --head' says later whether the log still contains it."""

    arena: str
    number: int
    hash: str
    at: str = Field(description="When it was signed.")
    key: str = Field(description="The id of the signing key.")
    signature: str = Field(description="Ed25519, hexadecimal.")


class HeadKeyOut(BaseModel):
    key: str = Field(description="Its id.")
    public_key: str = Field(description="Ed25519, 64 hexadecimal digits. Keep it: a head is worth as much as this key's origin.")
