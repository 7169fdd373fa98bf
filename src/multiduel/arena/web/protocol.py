"""HTTP on one connection: uvicorn's protocol, with time limits, a place among the others, and no doubtful heads."""

from __future__ import annotations

import http
import json
import math
import re
import socket
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from multiduel.arena.web.connections import Connections, Phase, queue_length
from multiduel.arena.web.gate import HEADERS
from multiduel.arena.web.limits import Limits, network_of
from multiduel.arena.web.request_bodies import BUSY

MOST_HEAD = 32_768  # bytes
MOST_HEADERS = 100
_END = re.compile(rb"\n\r?\n")
_VERSION = re.compile(rb" HTTP/1\.[01]\r$")
_AGAIN = 0.1  # seconds between looks, at the server's end, whether an answer that had not begun is a stream


class Head(h11.Connection):
    """Refuses heads that another program in the way might understand otherwise: where a request ends must not be in doubt.
    Remembers the head of the last answer, and sends it in one piece with the body if its length is known: a write costs more
    than the bytes."""

    refusal: tuple[int, str] = (400, "This is no request that can be read.")
    answer: h11.Response | None = None
    _kept = b""

    def send(self, event: Any) -> Any:
        data = super().send(event)
        if isinstance(event, h11.Response):
            self.answer = event
            if any(name == b"content-length" for name, _ in event.headers):
                self._kept, data = data, b""
        elif self._kept and data is not None:
            data, self._kept = self._kept + data, b""
        return data

    def is_streaming(self) -> bool:
        """Whether a stream of events is being sent: unlike other answers, it never ends by itself."""
        return (
            self.our_state is h11.SEND_BODY
            and self.answer is not None
            and any(name == b"content-type" and kind.startswith(b"text/event-stream") for name, kind in self.answer.headers)
        )

    def next_event(self) -> Any:
        if self.their_state is h11.IDLE:
            data, _ = self.trailing_data
            end = _END.search(data)
            if (len(data) if end is None else end.start()) > MOST_HEAD:
                self._refuse(431, f"The head of a request may have at most {MOST_HEAD:,} bytes here.")
            if end is not None:
                self._check(data[: end.end()])
        return super().next_event()

    def _check(self, head: bytes) -> None:
        *lines, _, _ = head.split(b"\n")
        if head.count(b"\n") != head.count(b"\r\n"):
            self._refuse(400, "Lines of a request's head must end with CR LF.")
        if b"HTTP/" in lines[0] and not _VERSION.search(lines[0]):
            self._refuse(505, "This server speaks HTTP/1.1.")
        if len(lines) > MOST_HEADERS + 1:
            self._refuse(431, f"A request may have at most {MOST_HEADERS} headers here.")
        if any(line.startswith((b" ", b"\t")) for line in lines[1:]):
            self._refuse(400, "A header must be one line.")
        lengths = [line for line in lines[1:] if line[:15].lower() == b"content-length:"]
        coded = any(line[:18].lower() == b"transfer-encoding:" for line in lines[1:])
        if len(lengths) + coded > 1 or any(b"," in line for line in lengths):
            self._refuse(400, "A request must have one Content-Length or one Transfer-Encoding, not several.")
        if coded and b"HTTP/1.0" in lines[0]:
            self._refuse(400, "HTTP/1.0 has no Transfer-Encoding.")

    def _refuse(self, status: int, sentence: str) -> None:
        self.refusal = status, sentence
        raise h11.RemoteProtocolError(sentence, error_status_hint=status)


class ArenaProtocol(H11Protocol):
    """One connection. The register of all of them comes from the gate, by the application's state."""

    def __init__(self, config: uvicorn.Config, server_state: Any, app_state: dict[str, Any], _loop: Any = None) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.conn: Head = Head(h11.SERVER, MOST_HEAD)
        self._register: Connections = app_state["connections"]
        self.network, self.trusted = "unknown", False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        accepted = transport.get_extra_info("socket")
        if accepted is not None and accepted.family in (socket.AF_INET, socket.AF_INET6):
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # asyncio does it only where 'proto' was given
        if self.client is not None:
            self.network = network_of(self.client[0])
            self.trusted = self.client[0] in getattr(self.app, "trusted_hosts", ())  # uvicorn's ProxyHeadersMiddleware
        if not self._register.admit(self):
            self._refuse(503, BUSY)

    def connection_lost(self, exc: Exception | None) -> None:
        self._register.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._note()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._note()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._register.stall(self, True)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._register.stall(self, False)

    def send_400_response(self, msg: str) -> None:
        """What uvicorn calls when it cannot read a request."""
        self._refuse(*self.conn.refusal)

    def _unsupported_upgrade_warning(self) -> None:
        """Answer as if nothing was asked for, without a line in the log."""

    def shutdown(self) -> None:
        """End a stream of events; let any other answer be finished. uvicorn calls this at the server's end."""
        if self.transport.is_closing():
            return
        super().shutdown()
        if self.conn.is_streaming():
            self._disconnect_application()
            self.transport.write(self.conn.send(h11.EndOfMessage()) or b"")
            self.transport.close()
        elif self.cycle is not None and not self.cycle.response_started:
            self.loop.call_later(_AGAIN, self.shutdown)  # it may become a stream

    def expire(self, phase: str) -> None:
        """End the connection: its time is over."""
        if phase == "head" and self.conn.trailing_data[0]:
            self._refuse(408, "The rest of the request did not come.")
        elif phase in ("head", "idle"):
            self.transport.close()
        else:
            self.transport.abort()

    def evict(self) -> None:
        """Close the connection at once: its place is needed."""
        self.transport.abort()

    def _disconnect_application(self) -> None:
        """Tell the application that the caller is gone; whatever it says from now on is too late."""
        self.cycle.disconnected = True
        self.cycle.message_event.set()

    def _note(self) -> None:
        self._register.enter(self, self._phase_now())

    def _phase_now(self) -> Phase:
        if self.transport.is_closing():
            return "leaving"
        if self.cycle is not None and not self.cycle.response_complete:
            return "body" if self.cycle.more_body else "busy"
        if self.conn.their_state is h11.SEND_BODY:
            return "rest"
        return "head" if self.cycle is None or self.conn.trailing_data[0] else "idle"

    def _refuse(self, status: int, sentence: str) -> None:
        """Answer without the application, and close."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._disconnect_application()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE) and not self.transport.is_closing():
            body = json.dumps({"error": sentence}).encode()
            own = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), (b"connection", b"close")]
            reason = http.HTTPStatus(status).phrase.encode()
            answer = h11.Response(status_code=status, headers=[*own, *HEADERS], reason=reason)
            for event in (answer, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
        self._note()


def server_words(limits: Limits) -> dict[str, Any]:
    """Return the options of uvicorn that every server of arenas has."""
    return {
        "http": ArenaProtocol,
        "loop": "auto",  # uvloop where it is installed
        "ws": "none",
        "log_level": "warning",
        "access_log": False,  # its lines would hold ids of tickets, which are secrets
        "server_header": False,
        "date_header": False,
        "backlog": queue_length(),
        "timeout_keep_alive": math.ceil(limits.idle_seconds),
    }
