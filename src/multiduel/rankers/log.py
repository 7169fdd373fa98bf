"""A log of pages and their clicks: one line of JSON each, only ever appended to, by as many processes as there are.

    {"kind": "impression", "id": "5f0c...", "time": 1754300000.5, "user": "u17", "session": "s3", "query": "pie", "page": {...}}
    {"kind": "more", "id": "5f0c...", "time": ..., "page": {...}}                 the page was continued: it replaces the first
    {"kind": "click", "id": "5f0c...", "time": ..., "document": "doc-17", "weight": 1.0, "metric": "purchase"}

An impression may have free fields, {"fields": {"device": "mobile"}}; a click without a metric is a "click".

Users and sessions are pseudonyms, made with a key beside the log (``user_keys.py``), unless the log is opened with
``pseudonyms=False``. Queries and fields are written as given.

Each line is one write, under a lock where the system has them: lines of several processes never mix. A line that a crash
cut off stays alone on its line, and readers name it. Whoever was shown a page and clicked nothing has no line of clicks:
that is an answer too.
"""

from __future__ import annotations

import json
import math
import numbers
import os
import secrets
import tempfile
import time as clock
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from multiduel.files import file_name, readable_name, whole_file, write_whole
from multiduel.inputs import BadInput, choice, finite, shortened
from multiduel.rankers.impression import Content, Document, Impression, is_weight, read_content, read_document
from multiduel.rankers.multileaving import WHOLE_CLICKS
from multiduel.rankers.user_keys import hidden, new_key, read_key, save_key

with suppress(ImportError):  # elsewhere appending in one write must do
    import fcntl

BAD = ("refuse", "skip")
MOST_TIME = 1e11  # seconds since 1970: the year 5138; what is above is milliseconds
EARLY = 60.0  # seconds by which the clocks of two servers may differ: a click may seem to come so long before its page
CLICK = "click"  # the metric of a click that names none
MOST_FIELDS = 50
HIDDEN = ("user", "session")  # what is written as a pseudonym
SECONDS = "'time' must be a number of seconds since 1970, below 10^11 (milliseconds are above)"


class Shown(NamedTuple):
    """A page of the log, with the clicks on it."""

    id: str
    time: float
    user: str | None
    session: str | None
    query: str | None
    page: dict[str, Any]  # what ``multileave`` returned
    clicks: dict[Document, float]  # weights
    content: Content  # of the page, checked
    fields: dict[str, str | float]  # free fields
    others: dict[str, dict[Document, float]]  # weights by document, of metrics other than clicks


class Faults(NamedTuple):
    """What a reader found and did not use, by kind."""

    lines: int = 0  # no line of a log
    repeated: int = 0  # impressions whose id came before
    orphans: int = 0  # clicks on pages that are not in the log
    not_shown: int = 0  # clicks on documents that the page did not show
    late: int = 0  # clicks after the time-out
    early: int = 0  # clicks before their page
    weights: int = 0  # clicks with a weight that the page's method cannot use: counted, each as one click


class Log:
    """A log in a file, to write to and to read from.

    Parameters
    ----------
    path
        The file.
    pseudonyms
        Whether users and sessions are written as pseudonyms. False writes their names as given.
    key
        The file with the key of the pseudonyms: by default the log's name with ".key" after it. It is made with the first line.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from multiduel import rankers
    >>> log = rankers.Log(pathlib.Path(tempfile.mkdtemp()) / "log.jsonl")
    >>> page = rankers.multileave([["x", "y"], ["y", "x"]], names=["old", "new"])
    >>> log.clicked(log.shown(page, user="ada"), "x")
    >>> [(shown.user == log.pseudonym("ada"), shown.clicks) for shown in log.pages()]
    [(True, {'x': 1.0})]
    """

    def __init__(
        self, path: str | os.PathLike[str], *, pseudonyms: bool = True, key: str | os.PathLike[str] | None = None
    ) -> None:
        self.path = Path(readable_name(path))
        if not isinstance(pseudonyms, bool):
            raise BadInput(f"'pseudonyms' of a log must be True or False. Got {shortened(pseudonyms)}.")
        self.pseudonyms = pseudonyms
        self.key = Path(file_name(key)) if key is not None else self.path.with_name(f"{self.path.name}.key")
        self._secret: str | None = None
        self._draft = False

    def pseudonym(self, user: str) -> str:
        """Return the user's name or pseudonym in this log.

        Parameters
        ----------
        user
            The name.

        Returns
        -------
        str
            The pseudonym; the name itself, if the log has no key.
        """
        if not isinstance(user, str) or not user:
            raise BadInput(f"'user' must be the name of a user. Got {shortened(user)}.")
        key = self._secret or read_key(self.key)
        return hidden("user", user, key) if key else user

    def _key_to_write(self) -> tuple[str | None, bool]:
        """The key, and whether it is new and not yet saved. One log must not hold the same user by two names."""
        if self._draft or (self._secret and self.path.exists()):
            return self._secret, False
        try:
            empty = self.path.stat().st_size == 0  # asked before the key, which is saved before a line
        except FileNotFoundError:
            empty = True
        except OSError as error:
            raise BadInput(f"'{self.path}' cannot be written: {error.strerror}.") from None
        if self.path.exists() and not self.path.is_file():
            raise BadInput(f"'{self.path}' cannot be written: it is no file.")
        self._secret = read_key(self.key)
        if not self.pseudonyms:
            if self._secret and not empty:
                raise BadInput(
                    f"'{self.path}' has the key '{self.key}': its users are pseudonyms. Open it without pseudonyms=False."
                )
            self._secret = None
            return None, False
        if self._secret is None and not empty:
            raise BadInput(
                f"'{self.path}' has no key '{self.key}': its users are names as given, or the key was lost. Open it with "
                "pseudonyms=False, or run 'multiduel rankers pseudonyms' on it first."
            )
        return (self._secret, False) if self._secret else (new_key(), True)

    def shown(
        self,
        page: Impression,
        *,
        user: str | None = None,
        session: str | None = None,
        query: str | None = None,
        fields: Mapping[str, str | float] | None = None,
        id: str | None = None,
        time: float | None = None,
    ) -> str:
        """Record that a page was shown.

        Parameters
        ----------
        page
            The page.
        user, session, query
            Names that stay the same, if known. None for a user whom nobody knows: "" would make one person of them all. User and
            session are written as pseudonyms, the query as given.
        fields
            Free fields to choose pages by later, such as {"device": "mobile"}: text, numbers or true and false.
        id
            The page's id; a new one by default.
        time
            In seconds; now by default.

        Returns
        -------
        str
            The id, which the clicks need.
        """
        number = id or secrets.token_hex(8)
        who = {"user": user, "session": session, "query": query}
        more = (
            {"fields": dict(fields)} if isinstance(fields, Mapping) and fields else {} if fields is None else {"fields": fields}
        )
        self._append({"kind": "impression", "id": number, "time": _now(time), **who, **more, "page": _page(page)})
        return number

    def continued(self, id: str, page: Impression, *, time: float | None = None) -> None:
        """Record that a page was continued (``more``).

        Parameters
        ----------
        id
            That of the page.
        page
            All that was shown.
        time
            In seconds; now by default.
        """
        self._append({"kind": "more", "id": id, "time": _now(time), "page": _page(page)})

    def clicked(
        self, id: str, document: Document, *, weight: float = 1.0, time: float | None = None, metric: str = CLICK
    ) -> None:
        """Record a click, or another event on a document. A document clicked twice counts once, with the last weight.

        Parameters
        ----------
        id
            That of the page.
        document
            The document clicked.
        weight
            Above 0. Methods that count clicks instead of adding them up take every click as one.
        time
            In seconds; now by default.
        metric
            What happened: a click, unless another name is given, such as "purchase". Metrics are judged one by one.
        """
        known = read_document(document)
        if known is None or not is_weight(weight):
            raise BadInput(f"A click has a document and a weight above 0. Got {shortened(document)} and {shortened(weight)}.")
        what = {} if metric == CLICK else {"metric": metric}
        self._append({"kind": "click", "id": id, "time": _now(time), "document": known, "weight": float(weight), **what})

    @contextmanager
    def all_or_nothing(self) -> Iterator[Log]:
        """Write several lines or none: all are appended at the end, and none if anything fails before."""
        key, new = self._key_to_write()
        with tempfile.TemporaryDirectory() as folder:
            draft = Log(Path(folder) / "draft.jsonl", pseudonyms=self.pseudonyms, key=self.key)
            draft._draft, draft._secret = True, key
            yield draft
            if not draft.path.exists():
                return
            if key and new and save_key(self.key, key) != key:
                raise BadInput(f"'{self.path}' was begun by another process meanwhile. Nothing was written: try again.")
            self._secret = key
            if self.path.exists():
                self._write(draft.path.read_bytes())
            else:  # a new log appears whole, even if this process is killed now
                write_whole(self.path, draft.path.read_bytes())

    def _append(self, record: dict[str, Any]) -> None:
        """A line, if ``pages`` will be able to read it."""
        problem = _fault(record)
        if problem:
            raise BadInput(f"A line of a log of impressions was refused: {problem}. Got {shortened(record)}.")
        try:
            for kind in HIDDEN:
                (record.get(kind) or "").encode()
            key, new = self._key_to_write()
            line = _line(record, key)
            if key and new:
                self._secret = save_key(self.key, key)
                line = _line(record, self._secret)
        except BadInput:  # of the key
            raise
        except (TypeError, ValueError):  # a page with values of other kinds, or half a character
            raise BadInput(f"A line of a log must be text that JSON and UTF-8 can hold. Got {shortened(record)}.") from None
        self._write(line)

    def _write(self, lines: bytes) -> None:
        new = not self.path.exists()
        try:
            with _locked(self.path) as file:
                size = os.lseek(file, 0, os.SEEK_END)
                try:
                    if size:
                        os.lseek(file, size - 1, os.SEEK_SET)
                        lines = lines if os.read(file, 1) == b"\n" else b"\n" + lines  # somebody was cut off
                    rest = memoryview(lines)
                    while rest:
                        rest = rest[os.write(file, rest) :]
                except BaseException:  # a full disk, Ctrl-C: as it was before
                    os.ftruncate(file, size)
                    if new and size == 0:
                        self.path.unlink(missing_ok=True)
                    raise
        except OSError as error:
            raise BadInput(f"'{self.path}' cannot be written: {error.strerror}.") from None

    def forget(self, user: str) -> tuple[int, int]:
        """Remove a user's pages, clicks and name from the log. The log is rewritten whole, or stays as it is.

        Lines that are none of a log are kept, since nobody knows whose they are. Reports made before do not change by this.

        Parameters
        ----------
        user
            The name, or the pseudonym that stands in the log.

        Returns
        -------
        tuple of int
            How many pages and how many other lines were taken out.
        """
        names = {user, self.pseudonym(user)}
        size = self.size()
        pages: set[str] = set()
        for number, _, line in self.lines(0, size):
            if b'"impression"' in line:
                record = self.record(number, line, skip=True)
                if record is not None and record["kind"] == "impression" and record.get("user") in names:
                    pages.add(record["id"])
        if not pages:
            return 0, 0
        taken = [0, 0]

        def without(record: dict[str, Any] | None, line: bytes) -> bytes:
            if record is None or record["id"] not in pages:
                return line
            taken[record["kind"] != "impression"] += 1
            return b""

        self._rewrite(size, without)
        return taken[0], taken[1]

    def pseudonymise(self) -> int:
        """Replace the names in a log by pseudonyms. The log is rewritten whole, or stays as it is.

        Returns
        -------
        int
            How many pages had names.
        """
        size = self.size()
        secret = read_key(self.key) or save_key(self.key, new_key())
        changed = 0

        def with_pseudonyms(record: dict[str, Any] | None, line: bytes) -> bytes:
            nonlocal changed
            if record is None or record["kind"] != "impression":
                return line
            given = {kind: record[kind] for kind in HIDDEN if record.get(kind)}
            if all(hidden(kind, name, secret) == name for kind, name in given.items()):
                return line
            changed += 1
            return _line(record, secret)

        self._rewrite(size, with_pseudonyms)
        self._secret = secret if self.pseudonyms else None
        return changed

    def _rewrite(self, size: int, change: Callable[[dict[str, Any] | None, bytes], bytes]) -> None:
        """Write every line anew as ``change`` makes it; nobody can append meanwhile."""
        with _locked(self.path) as file, whole_file(self.path) as draft:
            if os.lseek(file, 0, os.SEEK_END) != size:
                raise BadInput(f"'{self.path}' was written to meanwhile. Nothing was changed: try again.")
            with open(draft, "wb") as kept:
                for number, _, line in self.lines(0, size):
                    kept.write(change(self.record(number, line, skip=True), line))
                kept.flush()
                os.fsync(kept.fileno())

    def size(self) -> int:
        """Return the size of the file in bytes, without a last line that is still being written."""
        try:
            with open(self.path, "rb") as file:
                if "fcntl" in globals():
                    fcntl.flock(file, fcntl.LOCK_SH)
                return os.fstat(file.fileno()).st_size
        except FileNotFoundError:
            raise BadInput(f"'{self.path}' must be a file that exists. Got no such file.") from None
        except OSError as error:
            raise BadInput(f"'{self.path}' cannot be read: {error.strerror}.") from None

    def lines(self, start: int, end: int) -> Iterator[tuple[int, int, bytes]]:
        """Read the lines between two positions of the file, except empty ones, each with its number (from 1) and its position.

        Parameters
        ----------
        start, end
            In bytes. Numbers are counted from ``start``.
        """
        try:
            with open(self.path, "rb") as file:
                file.seek(start)
                at = start
                for number, line in enumerate(file, 1):
                    if at >= end:
                        return
                    if line != b"\n" and (len(line) > 80 or line.strip()):
                        yield number, at, line
                    at += len(line)
        except OSError as error:
            raise BadInput(f"'{self.path}' cannot be read: {error.strerror}.") from None

    def blocks(self, start: int, end: int, size: int) -> Iterator[tuple[int, int, list[bytes]]]:
        """Read the lines between two positions of the file in blocks, each with the number and the position of its first line.

        Parameters
        ----------
        start, end
            In bytes. Numbers are counted from ``start``.
        size
            Bytes to read at once; a longer line is read whole.
        """
        try:
            with open(self.path, "rb") as file:
                file.seek(start)
                number, at, rest = 1, start, b""
                while at + len(rest) < end:
                    more = file.read(min(size, end - at - len(rest)))
                    if not more:  # it was cut meanwhile
                        break
                    *lines, rest = (rest + more).split(b"\n")
                    if lines:
                        yield number, at, lines
                        number, at = number + len(lines), at + sum(map(len, lines)) + len(lines)
                if rest:
                    yield number, at, [rest]
        except OSError as error:
            raise BadInput(f"'{self.path}' cannot be read: {error.strerror}.") from None

    def line_number(self, offset: int) -> int:
        """Count the lines up to the one that begins at a byte.

        Parameters
        ----------
        offset
            Where it begins.

        Returns
        -------
        int
            Its number, from 1.
        """
        return next(number for number, at, _ in self.lines(0, offset + 1) if at == offset)

    def pages(self, *, bad: str = "refuse", timeout: float = math.inf, faults: list[Faults] | None = None) -> Iterator[Shown]:
        """Read every page with its clicks, in the order in which they were shown.

        The file is read twice, clicks first: memory grows with the clicks, not with the pages.

        Parameters
        ----------
        bad
            "refuse" names the first line that cannot be used; "skip" goes on.
        timeout
            Clicks more than so many seconds after their page are left out.
        faults
            Gets what was left out.

        Returns
        -------
        iterator of Shown
            One by one.
        """
        skip = choice("bad", bad, BAD) == "skip"
        if not isinstance(timeout, numbers.Real) or not timeout > 0.0:
            raise BadInput(f"'timeout' must be a number of seconds above 0. Got {shortened(timeout)}.")
        count = dict.fromkeys(Faults._fields, 0)
        size = self.size()
        clicks: dict[str, list[Any]] = {}  # document, weight, time, metric, and so on: a long log has many
        known: dict[Document, Document] = {}  # each name once
        longer: dict[str, dict[str, Any]] = {}
        for number, _, line in self.lines(0, size):
            if line.startswith(b'{"kind":"impression"'):
                continue
            record = self.record(number, line, skip)
            if record is None:
                count["lines"] += 1
            elif record["kind"] == "click":
                document, weight = record["document"], float(record.get("weight", 1.0))
                click = (
                    known.setdefault(document, document),
                    1.0 if weight == 1.0 else weight,
                    record["time"],
                    record.get("metric", CLICK),
                )
                clicks.setdefault(record["id"], []).extend(click)
            elif record["kind"] == "more":
                longer[record["id"]] = record["page"]
        seen: set[str] = set()
        for number, _, line in self.lines(0, size):
            if not line.startswith(b'{"kind":"impression"') and b'"impression"' not in line:
                continue
            record = self.record(number, line, skip)
            if record is None:
                count["lines"] += line.startswith(b'{"kind":"impression"')  # others were counted
                continue
            if record["kind"] != "impression":
                continue
            if record["id"] in seen:
                if not skip:
                    raise BadInput(
                        f"'{self.path}', line {number}: a page must be logged once. Page '{record['id']}' came before."
                    )
                count["repeated"] += 1
                continue
            seen.add(record["id"])
            shown = self._shown(number, record, longer, clicks.pop(record["id"], []), timeout, skip, count)
            if shown is not None:
                yield shown
        if clicks and not skip:
            raise BadInput(f"'{self.path}' has clicks on pages that it does not hold: {shortened(sorted(clicks))}.")
        count["orphans"] = sum(len(of_page) // 4 for of_page in clicks.values())
        if faults is not None:
            faults.append(Faults(**count))

    def _shown(
        self,
        number: int,
        record: dict[str, Any],
        longer: dict[str, dict[str, Any]],
        clicks: list[Any],
        timeout: float,
        skip: bool,
        count: dict[str, int],
    ) -> Shown | None:
        page = longer.get(record["id"], record["page"])
        try:
            content = read_content(page)
        except BadInput as error:
            if not skip:
                raise BadInput(f"'{self.path}', line {number}: page '{record['id']}' is none. {error}") from None
            count["lines"] += 1
            return None
        documents = set(content.documents)
        kept: dict[str, dict[Document, float]] = {CLICK: {}}
        for document, weight, when, metric in zip(*(clicks[k::4] for k in range(4)), strict=True):
            if document not in documents:
                if not skip:
                    raise BadInput(
                        f"'{self.path}': only documents that were shown can be clicked. Page '{record['id']}' (line {number}) "
                        f"did not show {document!r}."
                    )
                count["not_shown"] += 1
            elif when - record["time"] > timeout:
                count["late"] += 1
            elif when - record["time"] < -EARLY:
                if not skip:
                    raise BadInput(
                        f"'{self.path}': a page must be shown before it is clicked. Page '{record['id']}' (line {number}) has a "
                        f"click {record['time'] - when:,.0f} seconds before it."
                    )
                count["early"] += 1
            else:
                count["weights"] += weight != 1.0 and content.method in WHOLE_CLICKS
                kept.setdefault(metric, {})[document] = 1.0 if content.method in WHOLE_CLICKS else weight
        get = record.get
        who = get("user"), get("session"), get("query")
        return Shown(record["id"], record["time"], *who, page, kept.pop(CLICK), content, get("fields") or {}, kept)

    def record(self, number: int, line: bytes, skip: bool) -> dict[str, Any] | None:
        """Read a line. Returns None for a line that does not belong to a log, if bad lines are skipped.

        Parameters
        ----------
        number, line
            As ``lines`` gives them.
        skip
            Whether lines that are none are skipped, or refused in a sentence.
        """
        problem = ""
        try:
            record = json.loads(line)
            problem = _fault(record)
            if b"\\ud" in line.lower():  # half a character, escaped
                json.dumps(record, ensure_ascii=False).encode()
        except (UnicodeEncodeError, UnicodeDecodeError):
            problem = "it is not UTF-8 text"
        except (ValueError, RecursionError):
            problem = "it is no JSON"
        if not problem:
            return record
        if skip:
            return None
        text = shortened(line.decode(errors="replace"))
        raise BadInput(f"'{self.path}', line {number}: must be a line of a log of impressions: {problem}. Got {text}.")


def _line(record: dict[str, Any], key: str | None) -> bytes:
    """A record as a line, with pseudonyms if there is a key."""
    if key is not None:
        record = record | {kind: hidden(kind, record[kind], key) for kind in HIDDEN if record.get(kind)}
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _fault(record: Any) -> str:
    """What is wrong with a line, in words; nothing if it is right."""
    if not isinstance(record, Mapping) or record.get("kind") not in ("impression", "more", "click"):
        return "'kind' must be impression, more or click"
    if not isinstance(record.get("id"), str) or not record["id"]:
        return "'id' must be a text"
    when = record.get("time")
    if not isinstance(when, int | float) or isinstance(when, bool) or not abs(when) < MOST_TIME:
        return SECONDS
    if record["kind"] == "click":
        if not isinstance(record.get("metric", CLICK), str) or not record.get("metric", CLICK):
            return "'metric' must be a text"
        good = is_weight(record.get("weight", 1.0)) and read_document(record.get("document")) is not None
        return "" if good else "'document' and 'weight' must be those of a click"
    for name in ("user", "session", "query"):
        if not isinstance(record.get(name), str | None):
            return f"'{name}' must be a text or null"
        if record.get(name) == "" and name != "query":
            return f"'{name}' must be null where nobody is known: an empty text would be one {name} for all of them"
    fields = record.get("fields")
    if fields is not None and not (
        isinstance(fields, Mapping) and len(fields) <= MOST_FIELDS and all(map(_is_field, fields.items()))
    ):
        return f"'fields' must be at most {MOST_FIELDS} names with text, numbers, true or false"
    page = record.get("page")
    lists = (page.get("documents"), page.get("slate")) if isinstance(page, Mapping) else (None,)
    good = all(isinstance(one, list | tuple) for one in lists)
    return "" if good else "'page' must be an impression"


def _is_field(item: tuple[Any, Any]) -> bool:
    name, value = item
    plain = isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value))
    return isinstance(name, str) and bool(name) and plain


def _page(page: Mapping[str, Any]) -> dict[str, Any]:
    return dict(page if isinstance(page, Impression) else Impression(page))


def _now(time: float | None) -> float:
    return round(clock.time(), 3) if time is None else finite("time", time, of="a line of a log")


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    while True:
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            if "fcntl" in globals():
                fcntl.flock(file, fcntl.LOCK_EX)
                if not _is_still(file, path):  # it was rewritten while we waited: what we hold is the old one
                    continue
            yield file
            return
        finally:
            os.close(file)


def _is_still(file: int, path: Path) -> bool:
    try:
        there, here = os.stat(path), os.fstat(file)
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)
