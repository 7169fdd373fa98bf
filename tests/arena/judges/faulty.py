"""A small server of the OpenAI protocol that misbehaves as told: one behaviour for each request, then good answers."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Faulty:
    """What the server was sent, and what it does next."""

    def __init__(self) -> None:
        self.plan: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.times: list[float] = []
        self.guard = threading.Lock()
        self.url = ""

    def answer(self, body: dict[str, Any]) -> str:
        """Prefers the content with more letters 'z'."""
        text = body["messages"][0]["content"]
        parts = {letter: text.split(f"<{letter} ")[1].split(f"</{letter} ")[0] for letter in "AB"}
        return json.dumps({"best": max("AB", key=lambda letter: parts[letter].count("z"))})


@contextmanager
def faulty_server() -> Iterator[Faulty]:
    """Serve on loopback."""
    state = Faulty()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with state.guard:
                state.bodies.append(body)
                state.keys.append(self.headers.get("Authorization", ""))
                state.times.append(time.monotonic())
                do = state.plan.pop(0) if state.plan else "good"
            if do == "cut":
                self.connection.close()
                return
            if do == "wait":
                time.sleep(1.5)
            status = int(do) if do.isdigit() else 200
            said = {"garbage": "I like them both!", "half": '{"best": ', "other": '{"best": "Q"}'}.get(do, state.answer(body))
            usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
            message = {"role": "assistant", "content": said}
            whole: dict[str, Any] = {
                "id": "x", "object": "chat.completion", "created": 1, "model": "m", "usage": usage,
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            }  # fmt: skip
            if status != 200:
                whole = {"error": {"message": f"refused, {self.headers.get('Authorization')}", "type": "x"}}
            data = b"<html>no JSON</html>" if do == "html" else json.dumps(whole).encode()
            self.send_response(status)
            if status == 429:
                self.send_header("Retry-After", "1")
            self.send_header("Content-Type", "text/html" if do == "html" else "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
