"""``multiduel arena demo``: a worked example in the browser."""

from __future__ import annotations

import socket
import sys
import threading
import webbrowser
from typing import Annotated

import typer

from multiduel.inputs import BadInput

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def demo(
    port: Annotated[int, typer.Option(help="Port to listen on; 0 chooses a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
) -> None:
    """Show a worked example with simulated raters. Vote, and watch the board; nothing is kept."""
    try:
        listening = socket.create_server(("127.0.0.1", port), backlog=128)
    except (OSError, OverflowError) as error:
        raise BadInput(f"'--port' must be one that is free on this machine, 0 to 65535. Got {port}: {error}.") from None
    address = f"http://127.0.0.1:{listening.getsockname()[1]}/demo"
    print(f"{address} (Ctrl-C stops it; nothing is kept)")
    sys.stdout.flush()
    from multiduel.arena.web.demo import serve_demo

    def show() -> None:
        if browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    serve_demo(listening, show)  # whoever connects before it is loaded waits: the socket listens already
