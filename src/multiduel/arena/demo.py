"""The demonstration's server: the example's arena in a folder that is gone afterwards."""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

from multiduel.inputs import BadInput


def serve_demo(listening: socket.socket, take_over: Callable[[], None]) -> None:
    """Serve on a socket until told to stop. ``take_over`` is called when all is loaded, before the first request is taken."""
    with tempfile.TemporaryDirectory(prefix="multiduel-demo-", ignore_cleanup_errors=True) as folder:
        _serve(listening, take_over, Path(folder) / "demo.db")


def _serve(listening: socket.socket, take_over: Callable[[], None], db: Path) -> None:
    try:
        import uvicorn

        from multiduel.arena.http.app import make_app
        from multiduel.arena.pages.demo import Demo
    except ImportError:
        raise BadInput("The demonstration needs more packages: pip install 'multiduel[arena]'.") from None
    from multiduel.arena.journal import connect
    from multiduel.arena.limits import Limits
    from multiduel.arena.service import Service

    service = Service(connect(str(db)))
    app = make_app(service, limits=Limits(requests_per_second=float("inf")), demo=Demo(service))
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=1,  # boards that are being watched
        loop="asyncio",
        http="h11",
        ws="none",
    )
    take_over()
    uvicorn.Server(config).run(sockets=[listening])
