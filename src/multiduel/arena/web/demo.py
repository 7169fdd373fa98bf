"""The demonstration's server: the example's arena in a folder that is gone afterwards."""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

from multiduel.inputs import BadInput, install


def serve_demo(listening: socket.socket, loaded: Callable[[], None]) -> None:
    """Serve on a socket until told to stop. ``loaded`` is called right before the first request is taken."""
    with tempfile.TemporaryDirectory(prefix="multiduel-demo-", ignore_cleanup_errors=True) as folder:
        _serve(listening, loaded, Path(folder) / "demo.db")


def _serve(listening: socket.socket, loaded: Callable[[], None], db: Path) -> None:
    try:
        import uvicorn

        from multiduel.arena.web.app import make_app
        from multiduel.arena.web.connections import raise_handles
        from multiduel.arena.web.pages.demo import Demo
        from multiduel.arena.web.protocol import server_words
    except ImportError:
        raise BadInput(f"The demonstration needs more packages: {install('arena')}.") from None
    from multiduel.arena.journal import connect
    from multiduel.arena.service.service import Service
    from multiduel.arena.web.limits import Limits

    service = Service(connect(str(db)))
    raise_handles()
    limits = Limits.local()
    app = make_app(service, limits=limits, demo=Demo(service))
    config = uvicorn.Config(app, **server_words(limits), timeout_graceful_shutdown=1)
    loaded()
    uvicorn.Server(config).run(sockets=[listening])
