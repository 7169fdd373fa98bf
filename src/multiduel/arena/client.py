"""A small client of an arena's HTTP API. It needs nothing but Python.

    owner = Client("http://127.0.0.1:8000", key=OWNER_KEY)
    rater = owner.admit("Ada")                   # a client that votes as Ada
    ticket = rater.ask()
    while "ticket" in ticket:                     # or a reason why there is none
        texts = [rater.content(ticket, k) for k in range(ticket["positions"])]
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

from multiduel.arena.domain.errors import Conflict, Forbidden, NotFound, Unavailable
from multiduel.arena.domain.keys import Key
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
    """A connection to the server at ``url``, with a key of the server, of an arena's owner, of a link, or of a rater.

    Threads may share a client; each has a connection of its own.

    Parameters
    ----------
    url
        Of the server, such as http://127.0.0.1:8000.
    key
        What the client may do follows from it.
    arena
        The arena's id, if the key is not of one.
    timeout
        Seconds to wait for one answer.
    patience
        For how many seconds a call is tried again.

    Examples
    --------
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
        own_key = Key.read(key)
        self.arena = arena or (own_key.arena or None if own_key else None)
        self.rater = own_key.name if own_key and own_key.role == "rater" else None
        self._mine = threading.local()

    def __repr__(self) -> str:
        return f"Client({self.url!r}, arena={self.arena!r})"  # never the key

    @property
    def key(self) -> str | None:
        """The key that calls are made with."""
        return self._key

    def with_key(self, key: str) -> Client:
        """Make a client with another key at the same server.

        Parameters
        ----------
        key
            The key.
        """
        return Client(self.url, key, timeout=self.timeout, patience=self.patience)

    # ---- owners -----------------------------------------------------------------------------------------------------

    def create(
        self,
        name: str,
        options: Sequence[Mapping[str, Any]],
        *,
        contexts: Sequence[str] = (),
        raters: str | None = None,
        **settings: Any,
    ) -> Client:
        """Make an arena (with a server's key).

        Parameters
        ----------
        name
            What is compared: raters read it.
        options
            {"name": ..., "kind": "text", "content": ...} each; images and sounds have "base64" instead of "content"; with
            contexts, "contents" has one of these per context.
        contexts
            Questions that the options answer, if there are several.
        raters
            "secret" (if not given): each rater is admitted; "open": ``link`` of the answer is a key that anyone may join with.
        settings
            Settings that differ from their defaults; ``multiduel arena create --help`` lists them.

        Returns
        -------
        A client of the arena's owner.
        """
        body = {"name": name, "options": list(options), "contexts": list(contexts), "settings": settings}
        made = self._post("/arenas", body | ({} if raters is None else {"raters": raters}))
        owner = self.with_key(made["owner_key"])
        owner.link = made.get("link_key")
        return owner

    link: str | None = None  # the key of the shared link of an arena just created

    def info(self) -> Any:
        """Get the arena's settings, options and state."""
        return self._get(self._at())

    def open(self) -> Any:
        """Open the arena for votes."""
        return self._post(self._at("/open"))

    def pause(self) -> Any:
        """Stop giving out tickets until the arena is opened again."""
        return self._post(self._at("/pause"))

    def close(self) -> Any:
        """Close the arena permanently."""
        return self._post(self._at("/close"))

    def add_options(self, options: Sequence[Mapping[str, Any]]) -> Any:
        """Add options to the arena.

        Parameters
        ----------
        options
            As for ``create``.
        """
        return self._post(self._at("/options"), {"options": list(options)})

    def retire(self, option: str) -> Any:
        """Stop showing an option.

        Parameters
        ----------
        option
            Its id.
        """
        return self._post(self._at(f"/options/{_quoted(option)}/retire"), {})

    def admit(self, label: str, *, group: str | None = None, limit: int | None = None, kind: str = "person") -> Client:
        """Add a rater.

        Parameters
        ----------
        label
            Who it is, for the owner.
        group
            The group that the rater belongs to.
        limit
            How many votes the rater may cast.
        kind
            "person", or "judge" for a model or a program.

        Returns
        -------
        Client
            Of the rater: its ``key`` is the rater's secret.
        """
        body = {"label": label, "group": group, "limit": limit, "kind": kind}
        return self.with_key(self._post(self._at("/raters"), body)["key"])

    def new_link(self) -> str:
        """Make a key that anyone may ``join`` with."""
        return str(self._post(self._at("/links"))["key"])

    def revoke_links(self) -> Any:
        """End the keys of all shared links."""
        return self._call("DELETE", self._at("/links"))

    def raters(self) -> Any:
        """List each rater's votes, agreement with the others, and speed."""
        return self._get(self._at("/raters"))["raters"]

    def quarantine(self, rater: str, reason: str = "") -> Any:
        """Exclude a rater's votes.

        Parameters
        ----------
        rater
            The rater's id.
        reason
            For the journal.
        """
        return self._call("POST", self._at(f"/raters/{_quoted(rater)}/quarantine"), {"reason": reason})

    def release(self, rater: str) -> Any:
        """Count an excluded rater's votes again.

        Parameters
        ----------
        rater
            The rater's id.
        """
        return self._post(self._at(f"/raters/{_quoted(rater)}/release"))

    def change_policy(self, policy: str, **parameters: Any) -> Any:
        """Let another policy choose from now on.

        Parameters
        ----------
        policy
            Its name.
        **parameters
            Its parameters.
        """
        return self._call("PUT", self._at("/policy"), {"policy": policy, "parameters": parameters})

    def change_margin(self, margin: float) -> Any:
        """Change the margin of the verdict.

        Parameters
        ----------
        margin
            As for ``md.verdict``.
        """
        return self._call("PUT", self._at("/margin"), {"margin": margin})

    def send_votes(self, written: str, *, format: str = "csv", dry_run: bool = False) -> Any:
        """Import a file of votes.

        Parameters
        ----------
        written
            The file's text.
        format
            "csv" or "jsonl".
        dry_run
            Whether to report and change nothing.

        Returns
        -------
        dict
            A report by line.
        """
        query = urlencode({"format": format, "dry_run": int(dry_run)})
        return self._call("POST", self._at(f"/votes?{query}"), written.encode("utf-8"))

    def sheets(self, number: int, *, group: str | None = None) -> str:
        """Print tickets ahead, as CSV.

        Parameters
        ----------
        number
            How many.
        group
            The group that they are for.
        """
        return str(self._post(self._at("/sheets"), {"number": number, "group": group}))

    def keys(self) -> Any:
        """List the arena's keys (owners', links', raters') that are good now, and the last changes.

        Returns
        -------
        dict
            ``{"keys": ..., "changes": ...}``.
        """
        return self._get(self._at("/keys"))

    def new_key(self, label: str = "") -> Client:
        """Make a further owner's key.

        Parameters
        ----------
        label
            Who holds it.

        Returns
        -------
        Client
            With that key.
        """
        return self.with_key(self._call("POST", self._at("/keys"), {"label": label})["key"])

    def rotate_key(self, name: str) -> str:
        """Replace the secret of an owner's or link's key.

        The old one ends at once; if it was this client's own, the client goes on with the new one. If that answer is lost, so is
        the key: ``new_key``, then ``revoke_key`` is safe.

        Parameters
        ----------
        name
            The key's name.

        Returns
        -------
        str
            The new key.
        """
        return self._rotated(self._at(f"/keys/{_quoted(name)}/rotate"))

    def revoke_key(self, name: str, *, force: bool = False) -> Any:
        """End an owner's or link's key at once.

        Parameters
        ----------
        name
            The key's name.
        force
            Needed for an owner's last key.
        """
        return self._call("DELETE", self._at(f"/keys/{_quoted(name)}?force={int(force)}"))

    def new_rater_key(self, rater: str) -> Client:
        """Replace a rater's key. The old one ends at once.

        Parameters
        ----------
        rater
            The rater's id.

        Returns
        -------
        Client
            With the new key.
        """
        return self.with_key(self._call("POST", self._at(f"/raters/{_quoted(rater)}/key"))["key"])

    def revoke_rater_key(self, rater: str) -> Any:
        """End a rater's key: no more votes by this rater. Those that were cast stay.

        Parameters
        ----------
        rater
            The rater's id.
        """
        return self._call("DELETE", self._at(f"/raters/{_quoted(rater)}/key"))

    def server_keys(self) -> Any:
        """List the server's keys, and the last changes, with a server's key."""
        return self._get("/keys")

    def new_server_key(self, label: str = "") -> Client:
        """Make a further key of the server.

        Parameters
        ----------
        label
            Who holds it.

        Returns
        -------
        Client
            With that key.
        """
        return self.with_key(self._call("POST", "/keys", {"label": label})["key"])

    def rotate_server_key(self, name: str) -> str:
        """Replace the secret of a server's key, as ``rotate_key``.

        Parameters
        ----------
        name
            The key's name.

        Returns
        -------
        str
            The new key.
        """
        return self._rotated(f"/keys/{_quoted(name)}/rotate")

    def revoke_server_key(self, name: str, *, force: bool = False) -> Any:
        """End a key of the server at once.

        Parameters
        ----------
        name
            The key's name.
        force
            Needed for the last key.
        """
        return self._call("DELETE", f"/keys/{_quoted(name)}?force={int(force)}")

    def _rotated(self, path: str) -> str:
        key = str(self._call("POST", path)["key"])
        mine, new = Key.read(self._key), Key.read(key)
        if mine and new and mine[:3] == new[:3]:  # it was this client's own key
            self._key = key
        return key

    def notices(self) -> Any:
        """List the addresses that get notices."""
        return self._get(self._at("/notices"))["notices"]

    def add_notice(self, target: str) -> Any:
        """Add an address for notices: of a winner, a cycle, ``votes`` votes without a result, or a day without votes.

        Parameters
        ----------
        target
            An https URL or a mail address that the server's operator allows.

        Returns
        -------
        dict
            With ``id``, and ``secret``, with which webhooks are signed.
        """
        return self._call("POST", self._at("/notices"), {"target": target})

    def remove_notice(self, id: str) -> Any:
        """Remove an address for notices.

        Parameters
        ----------
        id
            Of the notice.
        """
        return self._call("DELETE", self._at(f"/notices/{_quoted(id)}"))

    def log(self, format: str = "jsonl") -> str:
        """Export the arena's log.

        Parameters
        ----------
        format
            "jsonl" or "csv".
        """
        return str(self._get(self._at(f"/log.{format}")))

    def vote_table(self, format: str = "csv") -> str | bytes:
        """Export the arena's votes as a flat table, a row per vote, with names instead of ids.

        Parameters
        ----------
        format
            "csv" (text) or "parquet" (bytes).
        """
        table: str | bytes = self._get(self._at(f"/votes.{format}"))
        return table

    def verify(self) -> Any:
        """Verify the arena's log: its hashes, and whether its tickets can be computed again."""
        return self._get(self._at("/verify"))

    # ---- raters -----------------------------------------------------------------------------------------------------

    def join(self, label: str = "") -> Client:
        """Become a rater, with the key of a shared link.

        Parameters
        ----------
        label
            Who it is, for the owner.

        Returns
        -------
        Client
            Of the rater.
        """
        return self.with_key(self._post(self._at("/join"), {"label": label})["key"])

    def ask(self, *, group: str | None = None, request: str | None = None) -> Any:
        """Get the rater's next ticket.

        Parameters
        ----------
        group
            The group that the ticket is for.
        request
            An id of your own: the same one again brings the same ticket, also after a restart.

        Returns
        -------
        dict
            A ticket, or ``{"done": ..., "sentence": ...}``.
        """
        return self._post(self._at("/tickets"), {"group": group} | ({} if request is None else {"request": request}))

    def content(self, ticket: Mapping[str, Any] | str, position: int) -> str | bytes:
        """Get what is shown at a position of a ticket.

        Parameters
        ----------
        ticket
            What ``ask`` returned, or its id.
        position
            From 0.

        Returns
        -------
        str or bytes
            Text, or the bytes of an image or a sound.
        """
        shown: str | bytes = self._get(f"/tickets/{_ticket(ticket)}/contents/{int(position)}")
        return shown

    def vote(self, ticket: Mapping[str, Any] | str, ballot: Mapping[str, Any], *, next: bool = False) -> Any:
        """Vote on a ticket.

        Parameters
        ----------
        ticket
            What ``ask`` returned, or its id.
        ballot
            {"rank": [2, [0, 1]]}, {"best": 2}, {"worst": 0} or {"skip": True}, in positions on the ticket.
        next
            Whether to bring the next ticket with the answer.

        Returns
        -------
        dict
            The receipt, with ``event`` and ``hash``; with ``next``, the next ticket.
        """
        return self._call("PUT", f"/tickets/{_ticket(ticket)}/vote{'?next=1' if next else ''}", dict(ballot))

    def undo(self) -> Any:
        """Undo the rater's last vote.

        Returns
        -------
        dict
            A new ticket with the same options.
        """
        return self._post(self._at("/undo"), {})

    def board(self) -> Any:
        """Get the verdict and the standings."""
        return self._get(self._at("/board"))

    def head(self) -> Any:
        """Get the last event of the log, signed, for owners and raters.

        Keep it: ``multiduel arena verify --head FILE`` says later whether the log still contains it. So does the receipt of a
        vote: ``event`` and ``hash`` of the answer.
        """
        return self._get(self._at("/head"))

    def head_key(self) -> Any:
        """Get the public key that heads are signed with.

        Returns
        -------
        dict
            ``{"key": its id, "public_key": 64 hexadecimal digits}``.
        """
        return self._get("/head-key")

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
