"""For machines that watch: is it alive, is it ready, how busy is it."""

from __future__ import annotations

import time
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse

from multiduel.arena.http import models as m
from multiduel.arena.http.doors import as_server, doors_of
from multiduel.arena.http.errors import file, refusals

router = APIRouter(tags=["health"])


@router.get("/health/live", response_model=m.LiveOut, responses=refusals())
async def live() -> Any:
    return JSONResponse({"live": True})


@router.get(
    "/health/ready",
    response_model=m.ReadyOut,
    responses=refusals() | {503: {"model": m.ReadyOut, "description": "Not yet: the kernels are being loaded."}},
)
async def ready(request: Request) -> Any:
    """Ready when the kernels are loaded. Before, everything works, but the first ask may take seconds."""
    doors = doors_of(request)
    if doors.ready.is_set():
        return JSONResponse({"ready": True, "why": ""})
    return JSONResponse({"ready": False, "why": doors.why_not_ready}, 503, {"Retry-After": "1"})


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses=file("text/plain", "Prometheus text.") | refusals(401, 403),
)
async def metrics(request: Request) -> Any:
    """Counts of this process, in Prometheus' text format. On a public server it needs the server's key."""
    doors = doors_of(request)
    if doors.public:
        as_server(request)
    gauges = {
        "multiduel_ready": float(doors.ready.is_set()),
        "multiduel_commands_total": float(doors.service.commands),
        "multiduel_commits_total": float(doors.service.commits),
        "multiduel_cpu_seconds_total": time.process_time(),
    }
    return PlainTextResponse(doors.metrics.text(gauges), media_type="text/plain; version=0.0.4; charset=utf-8")
