"""A page at once: a small one answers on a socket while the server that will take it over is being loaded."""

from __future__ import annotations

import contextlib
import socket
import threading
from importlib.resources import files

STARTING = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>multiduel is starting</title>
<link rel="stylesheet" href="/style.css"></head>
<body class="narrow"><header class="top"><span class="brand">multiduel</span></header>
<main><h1>In a moment</h1>
<p class="lead" role="status">The server is being loaded. This page goes on by itself.</p>
<div class="loading"></div></main></body>
</html>
"""
PATIENCE = 0.1  # seconds between looks whether to hand over


class Starting:
    """Answers every request on a socket with a page that loads itself again, until it is told to hand over."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        style = files("multiduel").joinpath("arena", "pages", "static", "style.css")  # without importing the arena
        self._style = style.read_bytes()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._answer, name="multiduel-starting", daemon=True)
        self._thread.start()

    def hand_over(self) -> None:
        self._over.set()
        self._thread.join()

    def _answer(self) -> None:
        self._listening.settimeout(PATIENCE)
        while not self._over.is_set():
            with contextlib.suppress(OSError):
                connection, _ = self._listening.accept()
                with connection:
                    connection.settimeout(1.0)
                    asked = connection.recv(4096)
                    if b" /style.css " in asked[:100]:
                        connection.sendall(_response(self._style, "text/css"))
                    else:
                        connection.sendall(_response(STARTING.encode(), "text/html; charset=utf-8", "Refresh: 1\r\n"))


def _response(body: bytes, kind: str, more: str = "") -> bytes:
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
        "Cache-Control: no-store\r\n"
        f"Content-Security-Policy: default-src 'none'; style-src 'self'\r\n{more}\r\n"
    )
    return head.encode() + body
