"""The application: routes behind the gate, a service behind the routes. ``multiduel.arena.serve`` serves it."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from fastapi import Depends, FastAPI
from fastapi.security import HTTPBearer

from multiduel import __version__
from multiduel.arena.access import Access
from multiduel.arena.http import routes_files, routes_health, routes_owner, routes_rater
from multiduel.arena.http.doors import Doors
from multiduel.arena.http.errors import add_handlers
from multiduel.arena.http.gate import Gate
from multiduel.arena.http.warming import warm_up
from multiduel.arena.limits import Hosts, Limits
from multiduel.arena.pages.demo import Demo
from multiduel.arena.pages.site import with_pages
from multiduel.arena.service import Service

DESCRIPTION = """Options are compared by raters until it is certain which is best. Keys go into the header
`Authorization: Bearer KEY`. Every request may be sent again: those that change something are carried out once per `request`,
or per ticket."""


def make_app(
    service: Service,
    *,
    hosts: Iterable[str] = (),
    limits: Limits | None = None,
    public: bool = False,
    close: bool = True,
    demo: Demo | None = None,
) -> Gate:
    """An ASGI application. ``close`` closes the service at the end; ``demo`` adds its pages."""
    doors = Doors(service, Access(service.journal.secrets), limits or Limits(), public=public)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        loading = threading.Thread(target=warm_up, args=(doors,), name="multiduel-warming", daemon=True)
        loading.start()
        yield
        if close:
            service.close()

    app = FastAPI(
        title="multiduel arena",
        version=__version__,
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,  # its page would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.doors = doors
    add_handlers(app)
    for router in (routes_rater.router, routes_health.router):  # the busiest first: routes are looked through in their order
        app.include_router(router)
    key = Depends(HTTPBearer(auto_error=False, description="A key: server's, owner's, link's or rater's."))  # for the document
    for router in (routes_owner.router, routes_files.router):
        app.include_router(router, dependencies=[key])
    site = with_pages(app, doors, demo=demo)
    return Gate(site, access=doors.access, hosts=Hosts(hosts), limits=doors.limits, metrics=doors.metrics)
