"""Keys of the server, of owners, links and raters: list, make, rotate, revoke. And signed heads of logs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from multiduel.arena.domain.errors import Forbidden, NotFound
from multiduel.arena.domain.keys import Key
from multiduel.arena.files.signed_heads import key_id
from multiduel.arena.journal import Secret
from multiduel.arena.web.access import Access, Grant
from multiduel.arena.web.api import models as m
from multiduel.arena.web.api import models_keys as k
from multiduel.arena.web.api.openapi import refusals
from multiduel.arena.web.context import AppContext, app_context_of, as_json, as_owner, as_server, caller_of, grant_of
from multiduel.arena.web.key_rules import change_rows, known_rater, revoke_key
from multiduel.arena.web.whole_text import WholeText

router = APIRouter(tags=["keys"], route_class=WholeText)
USUAL = refusals(401, 403, 404, 409, 422)


def _rows(app_context: AppContext, arena: str, grant: Grant) -> list[dict[str, Any]]:
    """List the keys of an arena (``""``: of the server) that are good now, as an owner sees them."""
    labels: dict[str, str] = {}
    if arena:
        with app_context.service.look(arena) as state:
            labels = {rater.id: rater.label for rater in state.raters.values()}
    roles = ("owner", "link", "report", "rater") if arena else ("server",)
    return [_row(secret, labels, grant, arena) for secret in app_context.access.keys(arena, roles)]


def _row(secret: Secret, labels: dict[str, str], grant: Grant, arena: str) -> dict[str, Any]:
    yours = (grant.role, grant.arena or "", grant.key) == (secret.role, arena, secret.subject)
    return {
        "name": secret.subject,
        "role": secret.role,
        "label": labels.get(secret.subject, "") if secret.role == "rater" else secret.label,
        "created": secret.created or None,
        "made_by": secret.made_by or None,
        "last_used": secret.used or None,
        "yours": yours,
    }


def _role_of(access: Access, arena: str, name: str) -> str:
    """Find the role of an arena's key of this name. A rater's is found by the rater."""
    roles = ("owner", "link", "report") if arena else ("server",)
    found = [role for role in roles if access.keys_named(arena, role, name)]
    if not found:
        raise NotFound("There is no key of this name.")
    return found[0]


def _made(role: str, key: str, status: int = 201) -> JSONResponse:
    parts = Key.read(key)
    assert parts is not None  # it was just made
    return JSONResponse({"name": parts.name, "role": role, "key": key}, status)


async def _list(request: Request, arena: str) -> Any:
    app_context, grant = app_context_of(request), grant_of(request)

    def listed() -> Response:
        return as_json({"keys": _rows(app_context, arena, grant), "changes": change_rows(app_context.access.changes(arena))})

    return await app_context.quick(arena, listed)


async def _rotate(request: Request, arena: str, name: str) -> Any:
    app_context = app_context_of(request)
    role = await app_context.quick(arena, _role_of, app_context.access, arena, name)
    return _made(role, await app_context.quick(arena, app_context.access.rotate, role, arena, name, by=caller_of(request)))


async def _revoke(request: Request, arena: str, name: str, force: str) -> Any:
    app_context, grant = app_context_of(request), grant_of(request)
    role = await app_context.quick(arena, _role_of, app_context.access, arena, name)
    await app_context.quick(
        arena, revoke_key, app_context.access, grant, role, arena, name, by=caller_of(request), force=force == "1"
    )
    return JSONResponse({"revoked": 1})


@router.get("/arenas/{arena}/keys", response_model=k.KeysOut, responses=refusals(401, 403, 404, 422))
async def arena_keys(request: Request, arena: m.Arena) -> Any:
    """List the keys of this arena's owners, links and raters. Secrets are not stored and cannot be shown."""
    as_owner(request, arena)
    return await _list(request, arena)


@router.post("/arenas/{arena}/keys", response_model=k.NewKeyOut, status_code=201, responses=USUAL)
async def new_arena_key(request: Request, arena: m.Arena, body: k.NewKeyIn) -> Any:
    """Make another owner's key. Each call makes one: after a lost answer, revoke the key that was never used."""
    as_owner(request, arena)
    app_context = app_context_of(request)
    await app_context.constants(arena)  # refused here if there is no such arena
    by = caller_of(request)
    return _made(
        "owner", await app_context.quick(arena, app_context.access.new_key, "owner", arena=arena, label=body.label, by=by)
    )


@router.post("/arenas/{arena}/keys/{name}/rotate", response_model=k.NewKeyOut, status_code=201, responses=USUAL)
async def rotate_arena_key(request: Request, arena: m.Arena, name: k.KeyName) -> Any:
    """Replace the secret of an owner's or a shared link's key, and keep its name. The old secret ends at once."""
    as_owner(request, arena)
    return await _rotate(request, arena, name)


@router.delete("/arenas/{arena}/keys/{name}", response_model=m.RevokedOut, responses=USUAL)
async def revoke_arena_key(request: Request, arena: m.Arena, name: k.KeyName, force: m.Flag = "0") -> Any:
    """Revoke an owner's key or a shared link's. An owner revokes the last owner's key only with `force=1`."""
    as_owner(request, arena)
    return await _revoke(request, arena, name, force)


@router.post("/arenas/{arena}/raters/{rater}/key", response_model=k.NewKeyOut, status_code=201, responses=USUAL)
async def new_rater_key(request: Request, arena: m.Arena, rater: m.RaterId) -> Any:
    """Make a new key for a rater, for example after a lost phone. The old key ends at once; votes stay."""
    as_owner(request, arena)
    app_context = app_context_of(request)
    await app_context.quick(arena, known_rater, app_context, arena, rater)
    by = caller_of(request)
    return _made("rater", await app_context.quick(arena, app_context.access.new_key, "rater", arena=arena, rater=rater, by=by))


@router.delete("/arenas/{arena}/raters/{rater}/key", response_model=m.RevokedOut, responses=USUAL)
async def revoke_rater_key(request: Request, arena: m.Arena, rater: m.RaterId) -> Any:
    """Revoke a rater's key: the rater can vote no more. Earlier votes stay and count."""
    as_owner(request, arena)
    app_context = app_context_of(request)
    await app_context.quick(arena, known_rater, app_context, arena, rater)
    by = caller_of(request)
    await app_context.quick(arena, revoke_key, app_context.access, grant_of(request), "rater", arena, rater, by=by, force=True)
    return JSONResponse({"revoked": 1})


@router.get("/keys", response_model=k.KeysOut, responses=refusals(401, 403))
async def server_keys(request: Request) -> Any:
    """List the server's keys (server's key)."""
    as_server(request)
    return await _list(request, "")


@router.post("/keys", response_model=k.NewKeyOut, status_code=201, responses=refusals(401, 403, 422))
async def new_server_key(request: Request, body: k.NewKeyIn) -> Any:
    """Make another key of the server (server's key)."""
    as_server(request)
    app_context = app_context_of(request)
    return _made("server", await app_context.read(app_context.access.new_key, "server", label=body.label, by=caller_of(request)))


@router.post("/keys/{name}/rotate", response_model=k.NewKeyOut, status_code=201, responses=USUAL)
async def rotate_server_key(request: Request, name: k.KeyName) -> Any:
    """Replace a key's secret and keep its name (server's key). The old secret ends at once."""
    as_server(request)
    return await _rotate(request, "", name)


@router.delete("/keys/{name}", response_model=m.RevokedOut, responses=USUAL)
async def revoke_server_key(request: Request, name: k.KeyName, force: m.Flag = "0") -> Any:
    """Revoke a key of the server (server's key), the last one only with `force=1`."""
    as_server(request)
    return await _revoke(request, "", name, force)


# ---- heads


@router.get("/arenas/{arena}/head", response_model=k.HeadOut, responses=refusals(401, 403, 404, 422))
async def head(request: Request, arena: m.Arena) -> Any:
    """Sign the number and hash of the last event, for owners and raters. They may pass it on."""
    app_context, grant = app_context_of(request), grant_of(request)
    if not grant.owns(arena) and not (grant.role == "rater" and grant.arena == arena):
        raise Forbidden("This needs the key of this arena's owner or of a rater.")

    def signed() -> dict[str, Any]:
        info = app_context.service.info(arena)
        return app_context.signer.sign(arena, info.events, info.hash).to_json()

    return JSONResponse(await app_context.quick(arena, signed))


@router.get("/head-key", response_model=k.HeadKeyOut, responses=refusals())
async def head_key(request: Request) -> Any:
    """Show the public key with which this server signs heads."""
    app_context = app_context_of(request)
    public = await app_context.read(app_context.signer.public)
    return JSONResponse({"key": key_id(public), "public_key": public})
