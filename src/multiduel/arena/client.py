"""A small client of an arena's HTTP API. It needs nothing but Python.

    owner = Client("http://127.0.0.1:8000", key=OWNER_KEY)
    rater = owner.admit("ARENA", "Ada")          # a client that votes as Ada
    ticket = rater.ask()
    while "ticket" in ticket:                     # or a reason why there is none
        texts = [rater.content(ticket, k) for k in range(ticket["places"])]
        ticket = rater.vote(ticket, {"rank": [2, 0, 1]}, next=True)["next"]

Every call is sent again, under the same request id, until it is answered: a vote counts once however often it is sent. A
connection that breaks, an answer that is lost and a server that is busy or down for a moment are waited out; then ``Unavailable``
is raised.
"""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from multiduel.arena.errors import Conflict, Forbidden, NotFound, Unavailable
from multiduel.inputs import BadInput, shortened

_REFUSALS: dict[int, type[Exception]] = {
    400: BadInput,
    401: Forbidden,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: BadInput,
    422: BadInput,
}
_AGAIN = (429, 502, 503, 504)
MOST_PAUSE = 5.0  # seconds between two tries


class Client:
    """Speaks with the server at ``url`` with a key: of the server, of an arena's owner, of a link, or of a rater.

    ``patience`` is for how many seconds a call is tried again. Threads may share a client; each has a connection of its own.

    >>> Client("http://127.0.0.1:8000", arena="tea")  # connects with the first call
    Client('http://127.0.0.1:8000', arena='tea')
    """

    def __init__(
        self, url: str, key: str | None = None, *, arena: str | None = None, timeout: float = 30.0, patience: float = 60.0
    ) -> None:
        parts = urlsplit(url if "//" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadInput(f"A server is named by a URL such as http://127.0.0.1:8000. Got {shortened(url)}.")
        self.url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self._parts, self._key, self.timeout, self.patience = parts, key, timeout, patience
        self.arena = arena or _arena_of(key)
        self.rater = _rater_of(key)
        self._mine = threading.local()

    def __repr__(self) -> str:
        return f"Client({self.url!r}, arena={self.arena!r})"  # never the key

    @property
    def key(self) -> str | None:
        return self._key

    def with_key(self, key: str) -> Client:
        """Someone else at the same server."""
        return Client(self.url, key, timeout=self.timeout, patience=self.patience)

    # ---- owners -----------------------------------------------------------------------------------------------------

    def create(
        self,
        name: str,
        options: Sequence[Mapping[str, Any]],
        *,
        contexts: Sequence[str] = (),
        raters: str = "secret",
        **settings: Any,
    ) -> Client:
        """A new arena (with a server's key), as its owner. Options are {"name": ..., "kind": "text", "content": ...}; images and
        sounds have "base64" instead of "content"; with contexts, "contents" has one of these per context."""
        body = {"name": name, "options": list(options), "contexts": list(contexts), "raters": raters, "settings": settings}
        made = self._post("/arenas", body)
        owner = self.with_key(made["owner_key"])
        owner.link = made.get("link_key")
        return owner

    link: str | None = None  # the key of the open link of an arena just created

    def info(self) -> Any:
        return self._get(self._at())

    def open(self) -> Any:
        return self._post(self._at("/open"))

    def pause(self) -> Any:
        return self._post(self._at("/pause"))

    def close(self) -> Any:
        return self._post(self._at("/close"))

    def add_options(self, options: Sequence[Mapping[str, Any]]) -> Any:
        return self._post(self._at("/options"), {"options": list(options)})

    def retire(self, option: str) -> Any:
        return self._post(self._at(f"/options/{_quoted(option)}/retire"), {})

    def admit(self, label: str, *, stratum: str | None = None, limit: int | None = None) -> Client:
        """A new rater, as a client of its own: its ``key`` is the rater's secret."""
        return self.with_key(self._post(self._at("/raters"), {"label": label, "stratum": stratum, "limit": limit})["key"])

    def new_link(self) -> str:
        """A key that anyone may join with: see ``join``."""
        return str(self._post(self._at("/links"))["key"])

    def revoke_links(self) -> Any:
        return self._call("DELETE", self._at("/links"))

    def raters(self) -> Any:
        """Each rater's votes, agreement with the others, and speed."""
        return self._get(self._at("/raters"))["raters"]

    def quarantine(self, rater: str, reason: str = "") -> Any:
        return self._call("POST", self._at(f"/raters/{_quoted(rater)}/quarantine"), {"reason": reason})

    def release(self, rater: str) -> Any:
        return self._post(self._at(f"/raters/{_quoted(rater)}/release"))

    def change_policy(self, policy: str, **parameters: Any) -> Any:
        return self._call("PUT", self._at("/policy"), {"policy": policy, "parameters": parameters})

    def change_margin(self, margin: float) -> Any:
        return self._call("PUT", self._at("/margin"), {"margin": margin})

    def send_votes(self, written: str, *, format: str = "csv", dry_run: bool = False) -> Any:
        """A file of votes: its report by line."""
        query = urlencode({"format": format, "dry_run": int(dry_run)})
        return self._call("POST", self._at(f"/votes?{query}"), written.encode("utf-8"))

    def sheets(self, number: int, *, stratum: str | None = None) -> str:
        """Tickets printed ahead, as CSV."""
        return str(self._post(self._at("/sheets"), {"number": number, "stratum": stratum}))

    def log(self, format: str = "jsonl") -> str:
        return str(self._get(self._at(f"/log.{format}")))

    def verify(self) -> Any:
        return self._get(self._at("/verify"))

    # ---- raters -----------------------------------------------------------------------------------------------------

    def join(self, label: str = "") -> Client:
        """With the key of an open link: a new rater, as a client of its own."""
        return self.with_key(self._post(self._at("/join"), {"label": label})["key"])

    def ask(self, *, stratum: str | None = None) -> Any:
        """A ticket, or ``{"done": ..., "sentence": ...}``."""
        return self._post(self._at("/tickets"), {"stratum": stratum})

    def content(self, ticket: Mapping[str, Any] | str, position: int) -> str | bytes:
        """What is shown at this place: text, or the bytes of an image or a sound."""
        shown: str | bytes = self._get(f"/tickets/{_ticket(ticket)}/contents/{int(position)}")
        return shown

    def vote(self, ticket: Mapping[str, Any] | str, ballot: Mapping[str, Any], *, next: bool = False) -> Any:
        """``ballot`` is {"rank": [2, [0, 1]]}, {"best": 2}, {"worst": 0} or {"skip": True}, in places on the ticket."""
        return self._call("PUT", f"/tickets/{_ticket(ticket)}/vote{'?next=1' if next else ''}", dict(ballot))

    def undo(self) -> Any:
        """The last vote taken back; the answer brings a ticket that shows the same."""
        return self._post(self._at("/undo"), {})

    def board(self) -> Any:
        return self._get(self._at("/board"))

    # ---- the wire ---------------------------------------------------------------------------------------------------

    def _at(self, path: str = "") -> str:
        if not self.arena:
            raise BadInput("Which arena? Give the client 'arena', or a key of one.")
        return f"/arenas/{_quoted(self.arena)}{path}"

    def _get(self, path: str) -> Any:
        return self._call("GET", path)

    def _post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """With a request id of its own, if it has a body: sent again, it is carried out once."""
        return self._call("POST", path, None if body is None else {"request": uuid.uuid4().hex, **body})

    def _call(self, method: str, path: str, body: Mapping[str, Any] | bytes | None = None) -> Any:
        data = json.dumps(body).encode("utf-8") if isinstance(body, Mapping) else body
        headers = {"Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        if data is not None:
            headers["Content-Type"] = "application/json" if isinstance(body, Mapping) else "text/plain; charset=utf-8"
        until, pause, why = time.monotonic() + self.patience, 0.05, ""
        while True:
            asked_to_wait = 0.0
            try:
                status, answer, answered = self._once(method, path, data, headers)
            except (OSError, http.client.HTTPException) as error:
                self._hang_up()
                why = str(error) or type(error).__name__
            else:
                if status < 400:
                    return _read(answer, answered)
                why = _sentence(answer, answered) or f"The server answered {status}."
                if status not in _AGAIN:
                    raise _REFUSALS.get(status, Unavailable)(why)
                asked_to_wait = _seconds(answered.get("retry-after"))
            left = until - time.monotonic()
            if left <= 0.0:
                raise Unavailable(f"{self.url} gave no answer within {self.patience:g} s: {why}")
            time.sleep(min(left, max(asked_to_wait, pause * random.uniform(0.5, 1.0))))
            pause = min(2.0 * pause, MOST_PAUSE)

    def _once(self, method: str, path: str, data: bytes | None, headers: Mapping[str, str]) -> tuple[int, bytes, dict[str, str]]:
        connection = getattr(self._mine, "connection", None)
        if connection is None:
            kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
            connection = self._mine.connection = kind(self._parts.hostname or "", self._parts.port, timeout=self.timeout)
        connection.request(method, self._parts.path.rstrip("/") + path, body=data, headers=dict(headers))
        response = connection.getresponse()
        return response.status, response.read(), {name.lower(): value for name, value in response.getheaders()}

    def _hang_up(self) -> None:
        connection = getattr(self._mine, "connection", None)
        if connection is not None:
            connection.close()
            self._mine.connection = None


def _read(answer: bytes, headers: Mapping[str, str]) -> Any:
    type = headers.get("content-type", "")
    if type.startswith("application/json"):
        return json.loads(answer)
    return answer.decode("utf-8") if type.startswith(("text/", "application/x-ndjson")) else answer


def _sentence(answer: bytes, headers: Mapping[str, str]) -> str:
    try:
        return str(_read(answer, headers)["error"])
    except (ValueError, KeyError, TypeError):
        return ""


def _seconds(header: str | None) -> float:
    return min(float(header), 60.0) if header and header.isdecimal() else 0.0


def _quoted(name: str) -> str:
    return quote(str(name), safe="")


def _ticket(ticket: Mapping[str, Any] | str) -> str:
    return _quoted(ticket["ticket"] if isinstance(ticket, Mapping) else ticket)


def _arena_of(key: str | None) -> str | None:
    parts = (key or "").split(".")
    return parts[1] or None if len(parts) == 4 else None


def _rater_of(key: str | None) -> str | None:
    return (key or "").split(".")[2] if key and key.startswith("mdrater.") and key.count(".") == 3 else None
