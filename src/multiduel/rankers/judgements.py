"""All pages of a log judged, as columns: which ranker did better than which, for whom, when.

A page of n rankers has n (n - 1) / 2 pairs, in the order (0, 1), (0, 2), ..., (1, 2), ...; for each pair and metric the part that
the first won is kept, 1/2 being a tie: a page without a click of that metric is ties. A million pages of four rankers: 100 MB.

Lines as ``Log`` writes them are read by a typed decoder. A line that it does not take goes the way of ``Log.pages``, which takes
it or says what is wrong with it.
"""

from __future__ import annotations

import gc
import itertools
import math
import numbers
import os
import re
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np
from msgspec import Meta, Struct

from multiduel.arrays import Floats, Ints
from multiduel.inputs import BadInput, choice, shortened
from multiduel.kernels.compiler.dispatch import entry
from multiduel.rankers.impression import FORMAT, MOST_EVIDENCE, MOST_RANKERS, MOST_ROUND, Document, read_content
from multiduel.rankers.log import BAD, CLICK, EARLY, MOST_TIME, Faults, Log
from multiduel.rankers.multileaving import COUNTED, METHODS, TWO_ONLY, WHOLE_CLICKS, judge

CHUNK, MOST_ROWS = 1024, 200_000  # pages, and rows of evidence, judged at once
IMPRESSION_LINE, CLICK_LINE = b'{"kind":"impression"', b'{"kind":"click"'
NOBODY = -1

Name = Annotated[str, Meta(min_length=1)]
Time = Annotated[float, Meta(gt=-MOST_TIME, lt=MOST_TIME)]
Evidence = Annotated[float, Meta(gt=-MOST_EVIDENCE, lt=MOST_EVIDENCE)]


class Page(Struct, gc=False):
    format: str
    method: str
    ties: str
    seed: Annotated[int, Meta(ge=0)]
    slate: list[int]
    rankers: list[str]
    documents: list[str | int]
    evidence: list[list[Evidence]]
    round: Annotated[int, Meta(ge=0, le=MOST_ROUND)] | None
    policy: str | None


class ShownLine(Struct, gc=False):
    kind: str
    id: Name
    time: Time
    page: Page
    user: Name | None = None
    session: Name | None = None
    query: str | None = None
    fields: dict[Name, str | int | float | bool] | None = None


class ClickLine(Struct, gc=False):
    kind: str
    id: Name
    time: Time
    document: str | int
    weight: Annotated[float, Meta(gt=0)] = 1.0
    metric: Name = CLICK


read_shown, read_click = msgspec.json.Decoder(ShownLine).decode, msgspec.json.Decoder(ClickLine).decode


class Codes:
    """Texts to numbers, as they come up."""

    def __init__(self, names: list[str] | None = None) -> None:
        self.names: list[str] = list(names or ())
        self._number = {name: k for k, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)

    def number(self, name: str) -> int:
        number = self._number.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
        return number


@dataclass(eq=False)
class Judgements:
    """The pages of a log in their order, with the outcome of every pair of rankers on them.

    >>> import tempfile, pathlib
    >>> from multiduel import rankers
    >>> log = rankers.Log(pathlib.Path(tempfile.mkdtemp()) / "log.jsonl")
    >>> page = rankers.multileave([["x", "y"], ["y", "x"]], names=["old", "new"], method="team-draft", seed=1)
    >>> log.clicked(log.shown(page, user="ada"), page["documents"][0])
    >>> found = read_judgements(log)
    >>> found.pages, found.rankers.names, found.won["click"].tolist() in ([1.0], [0.0])
    (1, ['old', 'new'], True)
    """

    rankers: Codes = field(default_factory=Codes)
    users: Codes = field(default_factory=Codes)
    sessions: Codes = field(default_factory=Codes)
    methods: Codes = field(default_factory=Codes)
    fields: dict[str, tuple[Ints, Codes]] = field(default_factory=dict)  # i4[N] a number of its texts; -1: not given
    hashes: Any = field(default_factory=lambda: np.zeros(0, np.int64))  # i8[N]  of the pages' ids, in this process
    ids: bytes = b""  # the pages' ids, a line each; only for a log that will be read on
    time: Floats = field(default_factory=lambda: np.zeros(0))  # f8[N]
    user: Ints = field(default_factory=lambda: np.zeros(0, np.int32))  # i4[N]
    session: Ints = field(default_factory=lambda: np.zeros(0, np.int32))  # i4[N]
    method: Ints = field(default_factory=lambda: np.zeros(0, np.int32))  # i4[N]
    drop: Any = field(default_factory=lambda: np.zeros(0, np.bool_))  # bool[N]  the page's own way with ties
    clicks: Ints = field(default_factory=lambda: np.zeros(0, np.int32))  # i4[N]  documents clicked
    offset: Any = field(default_factory=lambda: np.zeros(0, np.int64))  # i8[N]  where the page's line begins
    arm_start: Any = field(default_factory=lambda: np.zeros(1, np.int64))  # i8[N + 1]
    arms: Ints = field(default_factory=lambda: np.zeros(0, np.int32))  # i4[seats]
    won: dict[str, Any] = field(default_factory=dict)  # by metric, f4[pairs]
    faults: Faults = field(default_factory=Faults)
    kept: Any = None  # f8[clicks, 4]: page, slot, weight, metric; only for a log that will be read on

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return len(self.time)

    @property
    def sizes(self) -> Ints:
        """Rankers on each page."""
        return np.diff(self.arm_start)

    @property
    def pair_start(self) -> Any:
        """Where each page's pairs begin: i8[N + 1]."""
        sizes = self.sizes
        return np.concatenate(([0], np.cumsum(sizes * (sizes - 1) // 2)))

    def units(self, unit: str) -> tuple[Ints, int, int]:
        """Number what counts once.

        Parameters
        ----------
        unit
            "user", "session" or "impression".

        Returns
        -------
        tuple
            The unit of each page, how many units there are, and how many pages are of nobody known.
        """
        if unit == "impression":
            return np.arange(self.pages), self.pages, 0
        codes = self.user.astype(np.int64)
        if unit == "session":
            codes = np.where(self.session != NOBODY, self.session.astype(np.int64) + len(self.users), codes)
        nobody = codes == NOBODY
        codes[nobody] = len(self.users) + len(self.sessions) + np.arange(int(nobody.sum()))
        known, compact = np.unique(codes, return_inverse=True)
        return compact, len(known), int(nobody.sum())

    def chosen(self, where: dict[str, str]) -> Any:
        """Choose the pages whose fields have these values.

        Parameters
        ----------
        where
            Values by field.

        Returns
        -------
        array
            bool[N].
        """
        mask = np.ones(self.pages, np.bool_)
        for name, value in where.items():
            codes, values = self.field(name)
            number = values._number.get(value)
            if number is None:
                known = ", ".join(f"'{one}'" for one in sorted(values.names)[:12])
                raise BadInput(f"'{name}' of this log is {known}. Got '{value}'.")
            mask &= codes == number
        return mask

    def field(self, name: str) -> tuple[Ints, Codes]:
        """Look up a field of the pages.

        Parameters
        ----------
        name
            A free field, or "method".

        Returns
        -------
        tuple
            A number for each page, -1 where it is not given, and the texts that they stand for.
        """
        if name == "method":
            return self.method, self.methods
        if name not in self.fields:
            known = ", ".join(f"'{one}'" for one in sorted(["method", *self.fields])[:20])
            raise BadInput(f"Pages of this log have the fields {known}. Got '{name}'.")
        return self.fields[name]


def read_judgements(
    log: Log, *, bad: str = "refuse", timeout: float = math.inf, state: str | os.PathLike[str] | None = None
) -> Judgements:
    """Read a log and judge its pages.

    Parameters
    ----------
    log
        The log.
    bad, timeout
        As for ``Log.pages``.
    state
        A file that keeps what was read: of a log that grew only the new lines are read. It holds names of users, as the log does.
        One that does not fit the log (which was rewritten, say) is made anew.

    Returns
    -------
    Judgements
        All pages, in the order in which they were shown.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from multiduel import rankers
    >>> log = rankers.Log(pathlib.Path(tempfile.mkdtemp()) / "log.jsonl")
    >>> _ = log.shown(rankers.multileave([["x", "y"], ["y", "x"]], names=["old", "new"]), fields={"device": "mobile"})
    >>> rankers.read_judgements(log).chosen({"device": "mobile"}).tolist()
    [True]
    """
    skip = choice("bad", bad, BAD) == "skip"
    if not isinstance(timeout, numbers.Real) or isinstance(timeout, bool) or not timeout > 0.0:
        raise BadInput(f"'timeout' must be a number of seconds above 0. Got {shortened(timeout)}.")
    with _no_garbage_collection():
        if state is None:
            return _Reader(log, skip, float(timeout)).read(Judgements(), 0)
        return _with_state(log, skip, float(timeout), state)


def _with_state(log: Log, skip: bool, timeout: float, state: str | os.PathLike[str]) -> Judgements:
    from multiduel.rankers.log_state import load_state, save_state

    about = {"skip": skip, "timeout": timeout}
    known = load_state(state, log, about)
    if known is not None:
        reader = _Reader(log, skip, timeout, keep=True)
        try:
            found = reader.read(*known)
        except _Stale:
            known = None
    if known is None:
        reader = _Reader(log, skip, timeout, keep=True)
        found = reader.read(Judgements(), 0)
    if not found.faults.orphans and not found.faults.repeated:  # those may find their page in what is to come
        save_state(state, log, about, found, reader.end)
    return found


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Lists of a chunk come and go by the million without cycles: searching them for garbage took a third of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class _Stale(Exception):
    """What was read before cannot be continued."""


class Clicks(NamedTuple):
    """Clicks sorted by page; those of a page in their order."""

    page: Any  # i8  hash of the page's id
    document: Any  # i4
    weight: Floats
    time: Floats
    metric: Any  # i2


class _Reader:
    """Reads a file, clicks first."""

    def __init__(self, log: Log, skip: bool, timeout: float, keep: bool = False) -> None:
        self.log, self.skip, self.timeout, self.keep = log, skip, timeout, keep
        self.kept: array[float] = array("d")
        self.count = dict.fromkeys(Faults._fields, 0)
        self.documents: list[Document] = []
        self.metrics = Codes([CLICK])
        self.longer: dict[str, tuple[Page, int]] = {}

    def read(self, found: Judgements, start: int) -> Judgements:
        """Read on from ``start``, after the pages that were found before."""
        self.end = self.log.size()
        for metric in found.won:
            self.metrics.number(metric)
        before, old = found.faults, found.pages
        self.clicks = self._clicks(start, self.end)
        self.claimed = np.zeros(len(self.clicks.page), np.bool_)
        self.found, self.parts = found, _Parts(found, self.keep)
        self._pages(start, self.end)
        self.parts.join(found, self.metrics.names)
        if self.keep:
            new = np.frombuffer(self.kept, np.float64).reshape(-1, 4) if len(self.kept) else np.zeros((0, 4))
            found.kept = new if found.kept is None else np.concatenate([found.kept, new])
        if old:
            self._judge_again(old)
            self.count = {name: number + self.count[name] for name, number in before._asdict().items()}
        self._refuse_repeated()
        orphans = int((~self.claimed).sum())
        if orphans and not self.skip:
            raise BadInput(f"'{self.log.path}' has clicks on pages that it does not hold: {self._orphans()}.")
        self.count["orphans"] = orphans
        found.faults = Faults(**self.count)
        return found

    def _clicks(self, start: int, end: int) -> Clicks:
        page, document, weight, time, metric = array("q"), array("i"), array("d"), array("d"), array("h")
        known: dict[Document, int] = {}
        for number, offset, line in self.log.lines(start, end):
            if line.startswith(IMPRESSION_LINE):
                continue
            record: Any
            try:
                record = read_click(line)
                if record.kind != CLICK:
                    raise ValueError
            except (ValueError, msgspec.MsgspecError):
                record = self._odd_line(number, offset, line)
                if record is None:
                    continue
            page.append(hash(record.id))
            document.append(known.setdefault(record.document, len(known)))
            weight.append(record.weight)
            time.append(record.time)
            metric.append(self.metrics.number(record.metric))
        self.documents = list(known)
        columns = [np.frombuffer(column, column.typecode) if len(column) else np.zeros(0, column.typecode) for column in
                   (page, document, weight, time, metric)]  # fmt: skip
        order = np.argsort(columns[0], kind="stable").astype(np.int32)
        return Clicks(*(column[order] for column in columns))

    def _odd_line(self, number: int, offset: int, line: bytes) -> ClickLine | None:
        """A line that the decoder of clicks does not take: a click all the same, or None."""
        record = self.log.record(number, line, self.skip)
        if record is None:
            self.count["lines"] += 1
        elif record["kind"] == "more":
            page = self._typed(number, record["id"], record["page"])
            if page is not None:
                self.longer[record["id"]] = page, offset
        elif record["kind"] == "click":
            weight, metric = float(record.get("weight", 1.0)), record.get("metric", CLICK)
            return ClickLine("click", record["id"], record["time"], record["document"], weight, metric)
        return None

    def _typed(self, number: int, id: str, page: Any) -> Page | None:
        """A page that the slow way reads, or None if it is none."""
        try:
            content = read_content(page)
        except BadInput as error:
            if not self.skip:
                raise BadInput(f"'{self.log.path}', line {number}: page '{id}' is none. {error}") from None
            self.count["lines"] += 1
            return None
        rest = page["seed"], content.arms, list(page["rankers"]), content.documents, content.evidence.tolist()
        return Page(FORMAT, content.method, page["ties"], *rest, page["round"], page["policy"])

    def _pages(self, start: int, end: int) -> None:
        chunk: list[tuple[int, int, ShownLine]] = []
        rows = 0
        for number, offset, line in self.log.lines(start, end):
            if line.startswith(CLICK_LINE):
                continue
            shown: ShownLine | None
            try:
                shown = read_shown(line)
                if shown.kind != "impression" or not _is_page(shown.page):
                    raise ValueError
            except (ValueError, msgspec.MsgspecError):
                shown = self._odd_page(number, line)
                if shown is None:
                    continue
            if self.longer and shown.id in self.longer:
                shown.page, offset = self.longer[shown.id]
            chunk.append((number, offset, shown))
            rows += len(shown.page.evidence)
            if len(chunk) == CHUNK or rows > MOST_ROWS:
                self._judge(chunk)
                chunk, rows = [], 0
        if chunk:
            self._judge(chunk)

    def _odd_page(self, number: int, line: bytes) -> ShownLine | None:
        record = self.log.record(number, line, skip=True)
        if record is None and line.startswith(IMPRESSION_LINE):  # others were seen with the clicks
            self.log.record(number, line, self.skip)
            self.count["lines"] += 1
        if record is None or record["kind"] != "impression":
            return None
        page = self._typed(number, record["id"], record["page"])
        if page is None:
            return None
        get = record.get
        return ShownLine(
            "impression", record["id"], record["time"], page, get("user"), get("session"), get("query"), get("fields")
        )

    def _judge(self, chunk: list[tuple[int, int, ShownLine]]) -> None:
        pages = [shown.page for _, _, shown in chunk]
        starts = np.concatenate(([0], np.cumsum([len(page.evidence) for page in pages])))
        clicked, weighed, counts = self._clicked(chunk, starts)
        groups: dict[tuple[str, int], list[int]] = {}
        for at, page in enumerate(pages):
            groups.setdefault((page.method, len(page.slate)), []).append(at)
        wins: dict[int, list[Any]] = {metric: [None] * len(pages) for metric in clicked}
        for (method, n), those in groups.items():
            if n < 2:
                for metric in clicked:
                    for at in those:
                        wins[metric][at] = ()
                continue
            rows = [row for at in those for row in pages[at].evidence]
            evidence = np.fromiter(itertools.chain.from_iterable(rows), np.float64, len(rows) * (n + 1)).reshape(-1, n + 1)
            lengths = np.array([len(pages[at].documents) for at in those])
            own = np.concatenate(([0], np.cumsum([len(pages[at].evidence) for at in those])))
            a, b = np.triu_indices(n, 1)
            empty = None
            for metric, weights in clicked.items():
                if metric and not weighed[metric]:  # nobody clicked so in this chunk
                    continue
                mine = np.concatenate([weights[starts[at] : starts[at + 1]] for at in those]) if len(groups) > 1 else weights
                table = outcomes(method, n, evidence, mine, own, lengths)[:, a, b].astype(np.float32)
                for at, row in zip(those, table, strict=True):
                    wins[metric][at] = row
            for metric in clicked:
                if metric and not weighed[metric]:
                    empty = np.full(len(a), 0.5, np.float32) if empty is None else empty
                    for at in those:
                        wins[metric][at] = empty
        self.parts.add(self.found, chunk, counts, {metric: np.concatenate(rows) for metric, rows in wins.items()})

    def _clicked(self, chunk: list[tuple[int, int, ShownLine]], starts: Any) -> tuple[dict[int, Floats], dict[int, int], Any]:
        """Weights of clicks by metric and row of evidence, how many there are, and how many documents each page had clicked."""
        weights = {metric: np.zeros(starts[-1]) for metric in range(len(self.metrics))}
        total, counts = dict.fromkeys(weights, 0), np.zeros(len(chunk), np.int32)
        hashes = np.array([hash(shown.id) for _, _, shown in chunk], np.int64)
        self.parts.hashes.append(hashes)
        low, high = (np.searchsorted(self.clicks.page, hashes, side) for side in ("left", "right"))
        names, begin = self.documents, np.cumsum(high - low) - (high - low)
        here = np.repeat(low - begin, high - low) + np.arange(int((high - low).sum()))  # the clicks of these pages, page by page
        self.claimed[here] = True
        of_document, of_time, of_weight, of_metric = (
            column[here].tolist() for column in (self.clicks.document, self.clicks.time, self.clicks.weight, self.clicks.metric)
        )
        starts, begins, ends = starts.tolist(), begin.tolist(), (begin + (high - low)).tolist()
        for at in np.flatnonzero(high > low).tolist():
            number, _, shown = chunk[at]
            first, last = begins[at], ends[at]
            page, base = shown.page, starts[at]
            slot = {document: k for k, document in enumerate(page.documents)} if last - first > 4 else None
            whole = page.method in WHOLE_CLICKS
            seen = set()
            for c in range(first, last):
                document, after = names[of_document[c]], of_time[c] - shown.time
                try:
                    k = slot[document] if slot is not None else page.documents.index(document)
                except (KeyError, ValueError):
                    k = -1
                if k < 0 or isinstance(document, bool):
                    self._fault("not_shown", f"only documents that were shown can be clicked. Page '{shown.id}' (line {number}) "
                                             f"did not show {document!r}")  # fmt: skip
                elif after > self.timeout:
                    self.count["late"] += 1
                elif after < -EARLY:
                    words = f"a page must be shown before it is clicked. Page '{shown.id}' (line {number}) has a click"
                    self._fault("early", f"{words} {-after:,.0f} seconds before it")
                else:
                    weight, metric = of_weight[c], of_metric[c]
                    if whole and weight != 1.0:
                        self.count["weights"] += 1
                        weight = 1.0
                    weights[metric][base + k] = weight
                    total[metric] += 1
                    if self.keep:
                        self.kept.extend((self.parts.pages + at, k, weight, metric))
                    if metric == 0:
                        seen.add(k)
            counts[at] = len(seen)
        return weights, total, counts

    def _judge_again(self, old: int) -> None:
        """Pages that were read before, and now have more clicks or were continued."""
        found = self.found
        wanted = np.unique(np.concatenate([self.clicks.page[~self.claimed], [hash(id) for id in self.longer]]).astype(np.int64))
        pages = np.flatnonzero(np.isin(found.hashes[:old], wanted))
        if not len(pages):
            return
        lines = found.ids.split(b"\n")
        names = {page: line_id(lines[page]) for page in pages.tolist()}
        del lines
        mine = np.isin(found.kept[:, 0], pages)
        before, found.kept = found.kept[mine], found.kept[~mine]
        scratch, chunk = Judgements(rankers=found.rankers), []
        documents, columns = dict(zip(self.documents, range(len(self.documents)), strict=True)), []
        for page in pages.tolist():
            id = names[page]
            shown = ShownLine("impression", id, float(found.time[page]), self._page_again(id, int(found.offset[page])))
            if id in self.longer:
                shown.page, found.offset[page] = self.longer[id]
            arms = [found.rankers.number(name) for name in shown.page.rankers]
            if arms != found.arms[found.arm_start[page] : found.arm_start[page + 1]].tolist():
                raise _Stale
            chunk.append((0, page, shown))
            for _, slot, weight, metric in before[before[:, 0] == page].tolist():
                name = shown.page.documents[int(slot)]
                columns.append((hash(id), documents.setdefault(name, len(documents)), weight, shown.time, int(metric)))
        new = [column[~self.claimed] for column in self.clicks]
        self.documents = list(documents)
        old_columns = list(zip(*columns, strict=True)) if columns else [()] * 5
        joined = [np.concatenate([np.array(one, two.dtype), two]) for one, two in zip(old_columns, new, strict=True)]
        order = np.argsort(joined[0], kind="stable")
        self.clicks, self.kept = Clicks(*(column[order] for column in joined)), array("d")
        self.claimed = np.zeros(len(order), np.bool_)
        self.parts = _Parts(scratch, False)
        self._judge(chunk)
        self.parts.join(scratch, self.metrics.names)
        again = np.frombuffer(self.kept, np.float64).reshape(-1, 4).copy() if len(self.kept) else np.zeros((0, 4))
        again[:, 0] = pages[again[:, 0].astype(np.int64)]
        found.kept = np.concatenate([found.kept, again])
        found.clicks[pages] = scratch.clicks
        rows = found.pair_start
        for metric, column in scratch.won.items():
            start = scratch.pair_start
            for at_page, page in enumerate(pages.tolist()):
                found.won[metric][rows[page] : rows[page + 1]] = column[start[at_page] : start[at_page + 1]]

    def _page_again(self, id: str, offset: int) -> Page:
        """The page whose line begins there."""
        number, _, line = next(self.log.lines(offset, offset + 1))
        record = self.log.record(number, line, skip=True)
        if record is None or record["kind"] == "click" or record["id"] != id:
            raise _Stale
        page = self._typed(number, id, record["page"])
        if page is None:
            raise _Stale
        return page

    def _fault(self, kind: str, words: str) -> None:
        if not self.skip:
            raise BadInput(f"'{self.log.path}': {words}.")
        self.count[kind] += 1

    def _refuse_repeated(self) -> None:
        """Pages whose id came before are taken out."""
        found = self.found
        _, first = np.unique(found.hashes, return_index=True)
        if len(first) == found.pages:
            return
        keep = np.zeros(found.pages, np.bool_)
        keep[first] = True
        again = int(np.flatnonzero(~keep)[0])
        if not self.skip:
            offset = int(found.offset[again])
            line = self.log.line_number(offset)
            id = (self.log.record(*next((n, text) for n, _, text in self.log.lines(offset, offset + 1)), skip=True) or {}).get(
                "id"
            )
            raise BadInput(f"'{self.log.path}', line {line}: a page must be logged once. Page '{id}' came before.")
        self.count["repeated"] += int((~keep).sum())
        take(found, keep)

    def _orphans(self) -> str:
        wanted = {int(one) for one in self.clicks.page[~self.claimed]}
        found = set()
        for number, _, line in self.log.lines(0, self.log.size()):
            if not line.startswith(IMPRESSION_LINE):
                record = self.log.record(number, line, skip=True)
                if record and record["kind"] == "click" and hash(record["id"]) in wanted:
                    found.add(record["id"])
        return shortened(sorted(found))


def _is_page(page: Page) -> bool:
    """What ``read_content`` asks of a page, beyond the types."""
    n, documents, rows = len(page.slate), page.documents, page.evidence
    return (
        page.format == FORMAT
        and page.method in METHODS
        and page.ties in COUNTED
        and 0 < n <= MOST_RANKERS
        and (n <= 2 or page.method not in TWO_ONLY)
        and n == len(page.rankers) == len(set(page.rankers)) == len(set(page.slate))
        and len(set(documents)) == len(documents) <= len(rows)
        and (not rows or {len(row) for row in rows} == {n + 1})
        and (len(rows) == len(documents) or all(row[-1] > 0.0 for row in rows[len(documents) :]))
    )


class _Parts:
    """Columns as they grow, after those that are there."""

    def __init__(self, found: Judgements, keep: bool) -> None:
        self.keep, self.ids, self.hashes = keep, list[bytes](), list[Any]()
        self.columns: dict[str, list[Any]] = {
            name: [] for name in ("time", "user", "session", "method", "drop", "clicks", "offset")
        }
        self.sizes: list[Any] = []
        self.arms: list[Any] = []
        self.won: list[dict[int, Any]] = []
        self.fields: list[tuple[int, int, dict[str, Any]]] = []  # page, fields: few texts, kept once
        self.pages = found.pages
        for name, (codes, texts) in found.fields.items():
            found.fields[name] = array("i", codes.astype(np.int32).tobytes()), texts  # type: ignore[assignment]
        self.slates: dict[tuple[str, ...], list[int]] = {}  # numbers of rankers that come together

    def add(self, found: Judgements, chunk: list[tuple[int, int, ShownLine]], counts: Any, won: dict[int, Any]) -> None:
        lines = [shown for _, _, shown in chunk]
        user, session, method, ranker = found.users.number, found.sessions.number, found.methods.number, found.rankers.number
        if self.keep:
            self.ids.append(b"".join([one_line(line.id) for line in lines]))
        values = {
            "time": np.array([line.time for line in lines]),
            "user": np.array([NOBODY if line.user is None else user(line.user) for line in lines], np.int32),
            "session": np.array([NOBODY if line.session is None else session(line.session) for line in lines], np.int32),
            "method": np.array([method(line.page.method) for line in lines], np.int32),
            "drop": np.array([line.page.ties == "drop" for line in lines]),
            "clicks": counts,
            "offset": np.array([offset for _, offset, _ in chunk]),
        }
        for name, column in values.items():
            self.columns[name].append(column)
        self.sizes.append(np.array([len(line.page.slate) for line in lines]))
        arms: list[int] = []
        for line in lines:
            names = tuple(line.page.rankers)
            numbers = self.slates.get(names)
            if numbers is None:
                numbers = self.slates[names] = [ranker(name) for name in names]
            arms += numbers
        self.arms.append(np.array(arms, np.int32))
        self.won.append(won)
        for at, line in enumerate(lines, self.pages):
            if line.fields:
                for name, value in line.fields.items():
                    codes, texts = found.fields.setdefault(name, (array("i"), Codes()))  # type: ignore[arg-type]
                    codes.extend([NOBODY] * (at - len(codes)))  # type: ignore[attr-defined]
                    codes.append(texts.number(field_text(value)))  # type: ignore[attr-defined]
        self.pages += len(lines)

    def join(self, found: Judgements, metrics: list[str]) -> None:
        pairs = int(found.pair_start[-1])
        for metric, name in enumerate(metrics):
            before = found.won.get(name, np.full(pairs, 0.5, np.float32))
            parts = [part[metric] for part in self.won]
            found.won[name] = np.concatenate([before, *parts]) if pairs else np.concatenate(parts) if parts else before
        for name, columns in self.columns.items():
            if columns:
                setattr(found, name, np.concatenate([getattr(found, name), *columns]))
                columns.clear()
        found.hashes = np.concatenate([found.hashes, *self.hashes])
        if self.keep:
            found.ids = b"".join([found.ids, *self.ids])
        if self.sizes:
            found.arm_start = np.concatenate((found.arm_start, found.arm_start[-1] + np.cumsum(np.concatenate(self.sizes))))
            found.arms = np.concatenate([found.arms, *self.arms])
        for name, (codes, texts) in found.fields.items():
            codes.extend([NOBODY] * (self.pages - len(codes)))  # type: ignore[attr-defined]
            found.fields[name] = np.frombuffer(codes, np.int32), texts


def one_line(id: str) -> bytes:
    """An id as a line of its own."""
    plain = "\n" not in id and "\\" not in id
    return (id if plain else id.replace("\\", "\\\\").replace("\n", "\\n")).encode() + b"\n"


def line_id(line: bytes) -> str:
    """The id of such a line."""
    id = line.decode().rstrip("\n")
    return id if "\\" not in id else re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], id)


def field_text(value: Any) -> str:
    """The value of a free field as text: true and false as JSON spells them."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def take(found: Judgements, keep: Any) -> None:
    """Keep some pages only."""
    pairs = np.repeat(keep, np.diff(found.pair_start))
    seats = np.repeat(keep, found.sizes)
    sizes = found.sizes[keep]
    found.won = {metric: column[pairs] for metric, column in found.won.items()}
    found.arms, found.arm_start = found.arms[seats], np.concatenate(([0], np.cumsum(sizes)))
    for name in ("time", "user", "session", "method", "drop", "clicks", "offset", "hashes"):
        setattr(found, name, getattr(found, name)[keep])
    found.fields = {name: (codes[keep], texts) for name, (codes, texts) in found.fields.items()}


def outcomes(method: str, n: int, evidence: Floats, clicked: Floats, starts: Any, lengths: Any) -> Floats:
    """wins[page, a, b] of pages with n rankers each; rows ``starts[p]`` to ``starts[p + 1]`` of the evidence are page p's."""
    wins = np.zeros((len(lengths), n, n))
    chosen = METHODS[method](n, 1, max(1, int(lengths.max())))
    args = (chosen, evidence, clicked, starts, lengths, n, wins)
    run = entry(judge_many, chosen, f"{method} (log)")
    run.prepare(*args)
    run.call(*args)
    return wins


def judge_many(method: Any, evidence: Floats, clicked: Floats, starts: Ints, lengths: Ints, places: int, wins: Floats) -> None:
    for page in range(lengths.shape[0]):
        rows = slice(starts[page], starts[page + 1])
        judge(method, evidence[rows], clicked[rows], lengths[page], places, wins[page])
