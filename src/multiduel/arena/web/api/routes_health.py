"""For machines that watch: is it alive, is it ready, how busy is it."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse

from multiduel.arena.web.api import models as m
from multiduel.arena.web.api.openapi import file, refusals
from multiduel.arena.web.context import AppContext, app_context_of, as_server

router = APIRouter(tags=["health"])
LOG = logging.getLogger("multiduel.arena")
PATIENCE = 3.0  # seconds to wait for the write that proves that writing works


@router.get("/health/live", response_model=m.LiveOut, responses=refusals())
async def live() -> Any:
    return JSONResponse({"live": True})


@router.get(
    "/health/ready",
    response_model=m.ReadyOut,
    responses=refusals() | {503: {"model": m.ReadyOut, "description": "Not now: the sentence says why."}},
)
async def ready(request: Request) -> Any:
    """Say whether the server is ready: the kernels are loaded, and a write became durable in the last seconds."""
    why = await _why_not(app_context_of(request))
    if not why:
        return JSONResponse({"ready": True, "why": ""})
    return JSONResponse({"ready": False, "why": why}, 503, {"Retry-After": "1"})


async def _why_not(app_context: AppContext) -> str:
    if not app_context.ready.is_set():
        return app_context.why_not_ready
    if why := app_context.service.stuck():
        return why
    try:
        beat = asyncio.wrap_future(app_context.service.heartbeat())
        await asyncio.wait_for(asyncio.shield(beat), PATIENCE)
    except TimeoutError:
        return f"A write has not come to its end for {PATIENCE:g} seconds."
    except Exception as error:
        LOG.error("Not ready: %s", error)
        return "Nothing can be written at the moment. The server's log says why." if app_context.public else str(error)
    return ""


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses=file("text/plain", "Prometheus text.") | refusals(401, 403),
)
async def metrics(request: Request) -> Any:
    """Show the counters of this process in Prometheus' text format. A public server asks for the server's key."""
    app_context = app_context_of(request)
    if app_context.public:
        as_server(request)
    gauges = {
        "multiduel_ready": float(app_context.ready.is_set() and not app_context.service.stuck()),
        "multiduel_damaged_arenas": float(len(app_context.service.damaged())),
        "multiduel_commands_total": float(app_context.service.commands),
        "multiduel_commits_total": float(app_context.service.commits),
        "multiduel_cpu_seconds_total": time.process_time(),
    }
    return PlainTextResponse(app_context.metrics.text(gauges), media_type="text/plain; version=0.0.4; charset=utf-8")
