"""The application: routes behind the gate, a service behind the routes. ``multiduel.arena.web.serve`` serves it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from fastapi import Depends, FastAPI
from fastapi.security import HTTPBearer

from multiduel import __version__
from multiduel.arena.service.service import Service
from multiduel.arena.web.access import LOOK_EVERY, Access
from multiduel.arena.web.accounts import Accounts
from multiduel.arena.web.api import routes_files, routes_health, routes_keys, routes_notices, routes_owner, routes_rater
from multiduel.arena.web.api.vote_shortcut import VoteShortcut
from multiduel.arena.web.context import AppContext
from multiduel.arena.web.errors import add_handlers
from multiduel.arena.web.gate import Gate
from multiduel.arena.web.limits import Hosts, Limits
from multiduel.arena.web.notifier import Notifier
from multiduel.arena.web.pages.demo import Demo
from multiduel.arena.web.pages.site import with_pages
from multiduel.arena.web.warming import warm_up

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
    notifier: Notifier | None = None,
    accounts: Accounts | None = None,
) -> Gate:
    """An ASGI application. ``close`` closes the service at the end; ``demo`` adds its pages; ``notifier`` tells owners;
    ``accounts`` lets people sign in with accounts of a provider."""
    hours = {} if accounts is None else {"account_hours": accounts.provider.hours}
    access = Access(service.journal.secrets, **hours)
    app_context = AppContext(service, access, limits or Limits(), public=public, notifier=notifier, accounts=accounts)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        loading = threading.Thread(target=warm_up, args=(app_context,), name="arena-warming", daemon=True)
        loading.start()
        stop = threading.Event()
        looking = threading.Thread(target=app_context.access.keep_up, args=(stop,), name="arena-keys", daemon=True)
        looking.start()
        if notifier is not None:
            threading.Thread(target=notifier.run, args=(stop,), name="arena-notices", daemon=True).start()
        yield
        app_context.close()
        stop.set()
        await asyncio.to_thread(looking.join, LOOK_EVERY)
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
    app.state.app_context = app_context
    add_handlers(app)
    for router in (routes_rater.router, routes_health.router):  # the busiest first: routes are looked through in their order
        app.include_router(router)
    key = Depends(HTTPBearer(auto_error=False, description="A key: server's, owner's, link's or rater's."))  # for the document
    for router in (routes_owner.router, routes_notices.router, routes_keys.router, routes_files.router):
        app.include_router(router, dependencies=[key])
    site = with_pages(VoteShortcut(app, app_context), app_context, demo=demo)
    return Gate(site, app_context=app_context, hosts=Hosts(hosts))
