"""All pages of a log judged, as columns: which ranker did better than which, for whom, when.

A page of n rankers has n (n - 1) / 2 pairs, in the order (0, 1), (0, 2), ..., (1, 2), ...; for each pair and metric the part that
the first won is kept, 1/2 being a tie: a page without a click of that metric is ties. A million pages of four rankers: 100 MB.

Lines as ``Log`` writes them are read by a typed decoder, a block of the file at once, and checked as columns. A block with a line
that it does not take is read line by line, and such a line goes the way of ``Log.pages``, which takes it or says what is wrong
with it.
"""

from __future__ import annotations

import gc
import itertools
import math
import numbers
import os
import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np
from msgspec import Meta, Struct

from multiduel.arrays import Floats, Ints
from multiduel.inputs import BadInput, choice, shortened
from multiduel.kernels.compiler.dispatch import entry
from multiduel.rankers.evidence_parser import read_evidence
from multiduel.rankers.impression import FORMAT, MOST_RANKERS, MOST_ROUND, Document, read_content
from multiduel.rankers.log import BAD, CLICK, EARLY, MOST_TIME, Faults, Log
from multiduel.rankers.multileaving import COUNTED, METHODS, TWO_ONLY, WHOLE_CLICKS, judge

BLOCK = 250_000  # bytes of the file that are read and judged at once: what is made of them fits into a cache
MOST_OUTCOMES = 2_000_000  # numbers in a table of outcomes
IMPRESSION_LINE, CLICK_LINE = b'{"kind":"impression"', b'{"kind":"click"'
NOBODY = -1
COLUMNS = ("time", "user", "session", "method", "drop", "clicks", "offset")
KEPT = np.dtype([("page", np.int32), ("slot", np.int32), ("weight", np.float64), ("metric", np.int16)])  # a click

Name = Annotated[str, Meta(min_length=1)]
Time = Annotated[float, Meta(gt=-MOST_TIME, lt=MOST_TIME)]


class Page(Struct, gc=False):
    format: str
    method: str
    ties: str
    seed: Annotated[int, Meta(ge=0)]
    slate: list[int]
    rankers: list[str]
    documents: list[str | int]
    evidence: msgspec.Raw
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


class WrittenShown(ShownLine, gc=False, forbid_unknown_fields=True):  # as many records as lines, then: none spans two
    pass


class WrittenClick(ClickLine, gc=False, forbid_unknown_fields=True):
    pass


read_shown, read_click = msgspec.json.Decoder(ShownLine).decode, msgspec.json.Decoder(ClickLine).decode
read_all_shown = msgspec.json.Decoder(WrittenShown).decode_lines
read_all_clicks = msgspec.json.Decoder(WrittenClick).decode_lines


class Codes:
    """Texts to numbers, as they come up."""

    def __init__(self, names: list[str] | None = None) -> None:
        self._number = {name: k for k, name in enumerate(names or ())}

    def __len__(self) -> int:
        return len(self._number)

    @property
    def names(self) -> list[str]:
        return list(self._number)

    def number(self, name: str) -> int:
        return self._number.setdefault(name, len(self._number))

    def get(self, name: str) -> int | None:
        """The number of a text, if it came up."""
        return self._number.get(name)

    def numbers(self, names: Iterable[str | None]) -> Ints:
        """The numbers of many texts; NOBODY for None."""
        number = self._number
        found = [NOBODY if name is None else number.setdefault(name, len(number)) for name in names]
        return np.array(found, np.int32)


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
    kept: Any = field(default_factory=lambda: np.zeros(0, KEPT))  # clicks; only for a log that will be read on

    @property
    def pages(self) -> int:
        """Number of pages."""
        return len(self.time)

    @property
    def sizes(self) -> Ints:
        """Number of rankers on each page."""
        return np.diff(self.arm_start)

    @property
    def pair_start(self) -> Any:
        """Where each page's pairs begin: i8[N + 1]."""
        sizes = self.sizes
        return np.concatenate(([0], np.cumsum(sizes * (sizes - 1) // 2)))

    def units(self, unit: str) -> tuple[Ints, int, int]:
        """Number the units of evidence: users, sessions or pages.

        Parameters
        ----------
        unit
            "user", "session" or "impression".

        Returns
        -------
        tuple
            The unit of each page, how many units there are, and how many pages name no user.
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
            number = values.get(value)
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
            found = _Reader(log, skip, float(timeout)).read(Judgements(), 0)
        else:
            found = _with_state(log, skip, float(timeout), state)
    nothing = Judgements()
    found.hashes, found.ids, found.kept = nothing.hashes, nothing.ids, nothing.kept  # for reading on, which is done
    return found


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
        self.kept = Growing(KEPT)
        self.kinds: dict[tuple[Any, ...], Kind] = {}
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
        others = ~self.claimed
        self.clicks = Clicks(*(column[others] for column in self.clicks))  # the rest is judged: it frees memory for what follows
        self.claimed = np.zeros(len(self.clicks.page), np.bool_)
        self.parts.join(found, self.metrics.names)
        if self.keep:
            found.kept = _appended(found.kept, self.kept.take())
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
        columns = [Growing(kind) for kind in (np.int64, np.int32, np.float64, np.float64, np.int16)]
        page, document, weight, time, metric = columns
        known: dict[Document, int] = {}
        for number, offset, lines in self.log.blocks(start, end, BLOCK):
            records = self._click_records(number, offset, lines)
            page.add([hash(record.id) for record in records])
            document.add([known.setdefault(record.document, len(known)) for record in records])
            weight.add([record.weight for record in records])
            time.add([record.time for record in records])
            metric.add(self.metrics.numbers([record.metric for record in records]))
        self.documents = list(known)
        order = np.argsort(page.array(), kind="stable").astype(np.int32)
        return Clicks(*(column.take()[order] for column in columns))

    def _click_records(self, number: int, offset: int, lines: list[bytes]) -> list[ClickLine]:
        """The clicks of a block, in their order."""
        clicks = [line for line in lines if not line.startswith(IMPRESSION_LINE)]
        records: list[ClickLine] = _all_records(read_all_clicks, clicks, "click")
        if len(records) == len(clicks):
            return records
        begins, each = _begins(lines, offset), []
        for at, line in enumerate(lines):
            if not line.startswith(IMPRESSION_LINE) and line.strip():
                record = _record(read_click, line, "click") or self._odd_line(number + at, int(begins[at]), line)
                if record is not None:
                    each.append(record)
        return each

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
        evidence = msgspec.Raw(msgspec.json.encode(content.evidence.tolist()))
        rest = page["seed"], content.arms, list(page["rankers"]), content.documents, evidence
        return Page(FORMAT, content.method, page["ties"], *rest, page["round"], page["policy"])

    def _pages(self, start: int, end: int) -> None:
        for number, offset, lines in self.log.blocks(start, end, BLOCK):
            places = [at for at, line in enumerate(lines) if not line.startswith(CLICK_LINE)]
            shown: list[ShownLine] = _all_records(read_all_shown, [lines[at] for at in places], "impression")
            if len(shown) != len(places):
                found = [(at, self._one_page(number + at, lines[at])) for at in places if lines[at].strip()]
                places, shown = [at for at, one in found if one], [one for _, one in found if one]
            self._portion(number, _begins(lines, offset), lines, places, shown)

    def _portion(self, number: int, begins: Any, lines: list[bytes], places: list[int], shown: list[ShownLine]) -> None:
        """Judge the pages of a block, if they are pages; those that are not go the slow way."""
        offsets = begins[places]
        for at, one in enumerate(shown) if self.longer else ():
            if one.id in self.longer:
                one.page, offsets[at] = self.longer[one.id]
        portion = self._checked([number + at for at in places], offsets, shown)
        if portion is None:
            pages = [at for at, one in enumerate(shown) if self._checked([0], offsets[at : at + 1], [one]) is not None]
            bad = sorted({*range(len(shown))} - {*pages})
            odd = {at: self._odd_page(number + places[at], lines[places[at]]) for at in bad}
            known = [(at, odd.get(at, one)) for at, one in enumerate(shown)]
            kept = [(at, one) for at, one in known if one is not None]
            numbers = [number + places[at] for at, _ in kept]
            portion = self._checked(numbers, offsets[[at for at, _ in kept]], [one for _, one in kept])
        if portion is None:
            raise RuntimeError("a page that was checked is none")
        if portion.shown:
            self._judge(portion)

    def _one_page(self, number: int, line: bytes) -> ShownLine | None:
        return _record(read_shown, line, "impression") or self._odd_page(number, line)

    def _checked(self, numbers: list[int], offsets: Any, shown: list[ShownLine]) -> Portion | None:
        """The pages by kind, with their evidence; None unless all of them are what ``read_content`` takes."""
        pages = [one.page for one in shown]
        known, kinds = self.kinds, []
        for page in pages:
            key = (page.method, page.ties, page.format, *page.slate, *page.rankers)
            kind = known.get(key)
            if kind is None:
                if not _is_kind(page):
                    return None
                kind = known[key] = Kind(page.method, page.ties == "drop", tuple(page.rankers))
            kinds.append(kind)
        documents = [page.documents for page in pages]
        slots = np.fromiter(map(len, documents), np.int64, len(documents))
        if list(map(len, map(set, documents))) != slots.tolist():
            return None
        groups, found = dict[tuple[str, int], list[int]](), []
        for at, kind in enumerate(kinds):
            groups.setdefault((kind.method, len(kind.rankers)), []).append(at)
        for (method, n), those in groups.items():
            read = read_evidence([bytes(pages[at].evidence) for at in those], n + 1)
            if read is None:
                return None
            group = Group(method, n, np.array(those), slots[those], *read)
            more = np.flatnonzero(group.heights != group.lengths)
            if len(more) and not all(group.has_whole_rounds(int(at)) for at in more):
                return None
            found.append(group)
        return Portion(numbers, offsets, shown, kinds, found)

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

    def _judge(self, portion: Portion) -> None:
        heights = np.zeros(len(portion.shown), np.int64)
        for group in portion.groups:
            heights[group.pages] = group.heights
        starts = np.concatenate(([0], np.cumsum(heights)))
        weights, counts = self._clicked(portion, starts)
        sizes = np.array([len(kind.rankers) for kind in portion.kinds], np.int64)
        pairs = sizes * (sizes - 1) // 2
        begins = np.cumsum(pairs) - pairs
        won = {metric: np.full(int(pairs.sum()), 0.5, np.float32) for metric in weights}
        for group in portion.groups:
            if group.n < 2:
                continue
            a, b = np.triu_indices(group.n, 1)
            for part in group.parts(max(1, MOST_OUTCOMES // group.n**2)):
                own = np.concatenate(([0], np.cumsum(part.heights)))
                here = np.repeat(starts[part.pages] - own[:-1], part.heights) + np.arange(own[-1])  # their rows among all
                to = begins[part.pages][:, None] + np.arange(len(a))
                for metric, of in weights.items():
                    table = outcomes(part.method, part.n, part.evidence, of[here], own, part.lengths)
                    won[metric][to] = table[:, a, b]
        self.parts.add(self.found, portion, counts, won)

    def _clicked(self, portion: Portion, starts: Any) -> tuple[dict[int, Floats], Ints]:
        """Weights of clicks by row of evidence, for metrics that were clicked; and how many documents each page had clicked."""
        shown, clicks = portion.shown, self.clicks
        hashes = np.array([hash(one.id) for one in shown], np.int64)
        self.parts.hashes.add(hashes)
        low, high = (np.searchsorted(clicks.page, hashes, side) for side in ("left", "right"))
        numbers = high - low
        here = np.repeat(low - np.cumsum(numbers) + numbers, numbers) + np.arange(int(numbers.sum()))  # page by page
        self.claimed[here] = True
        page = np.repeat(np.arange(len(shown)), numbers)
        names, wanted = self.documents, iter(clicks.document[here].tolist())
        slots: list[int] = []
        for at in np.flatnonzero(numbers).tolist():
            documents = shown[at].page.documents
            several = int(numbers[at])
            slot = {document: k for k, document in enumerate(documents)} if several > 4 else None
            for number in itertools.islice(wanted, several):
                document = names[number]
                try:
                    slots.append(documents.index(document) if slot is None else slot[document])
                except (KeyError, ValueError):
                    slots.append(NOBODY)
        slot_of, weight, metric = np.array(slots, np.int64), clicks.weight[here], clicks.metric[here]
        after = clicks.time[here] - np.array([one.time for one in shown])[page]
        is_shown, late, early = slot_of >= 0, after > self.timeout, after < -EARLY
        counted = is_shown & ~late & ~early
        if not counted.all():
            self._click_faults(portion, page, clicks.document[here], after, is_shown, late)
            page, slot_of, weight, metric = (column[counted] for column in (page, slot_of, weight, metric))
        whole = np.array([kind.method in WHOLE_CLICKS for kind in portion.kinds], np.bool_)[page] & (weight != 1.0)
        if whole.any():
            self.count["weights"] += int(whole.sum())
            weight = np.where(whole, 1.0, weight)
        if self.keep:
            clicked = np.empty(len(page), KEPT)
            for name, column in zip(KEPT.names or (), (page + self.parts.pages, slot_of, weight, metric), strict=True):
                clicked[name] = column
            self.kept.add(clicked)
        weights = {0: np.zeros(starts[-1])} | {int(one): np.zeros(starts[-1]) for one in np.unique(metric)}
        for one, column in weights.items():
            mine = metric == one
            column[(starts[page] + slot_of)[mine]] = weight[mine]  # of a document clicked twice the last weight
        first = np.concatenate(([0], np.cumsum(weights[0] > 0.0)))
        return weights, (first[starts[1:]] - first[starts[:-1]]).astype(np.int32)

    def _click_faults(self, portion: Portion, page: Ints, document: Ints, after: Floats, is_shown: Any, late: Any) -> None:
        """Refuse or count the clicks that cannot be used."""
        for c in np.flatnonzero(~is_shown | late | (after < -EARLY)).tolist():
            at = int(page[c])
            which = f"Page '{portion.shown[at].id}' (line {portion.numbers[at]})"
            if not is_shown[c]:
                named = self.documents[int(document[c])]
                self._fault("not_shown", f"only documents that were shown can be clicked. {which} did not show {named!r}")
            elif late[c]:
                self.count["late"] += 1
            else:
                self._fault("early", f"a page must be shown before it is clicked. {which} has a click {-after[c]:,.0f} seconds "
                                     "before it")  # fmt: skip

    def _judge_again(self, old: int) -> None:
        """Pages that were read before, and now have more clicks or were continued."""
        found = self.found
        longer = np.array([hash(id) for id in self.longer], np.int64)  # an empty list would be of floats, which are too coarse
        wanted = np.unique(np.concatenate([self.clicks.page[~self.claimed], longer]))
        pages = np.flatnonzero(np.isin(found.hashes[:old], wanted))
        if not len(pages):
            return
        ends = np.flatnonzero(np.frombuffer(found.ids, np.uint8) == ord("\n"))  # a list of a million ids would be large
        begins = np.where(pages > 0, ends[pages - 1] + 1, 0)
        spans = zip(pages.tolist(), begins.tolist(), ends[pages].tolist(), strict=True)
        names = {page: line_id(found.ids[begin:end]) for page, begin, end in spans}
        del ends
        mine = np.isin(found.kept["page"], pages)
        before, found.kept = found.kept[mine], found.kept[~mine]
        scratch, again = Judgements(rankers=found.rankers), list[ShownLine]()
        documents, columns = dict(zip(self.documents, range(len(self.documents)), strict=True)), []
        for page in pages.tolist():
            id = names[page]
            shown = ShownLine("impression", id, float(found.time[page]), self._page_again(id, int(found.offset[page])))
            if id in self.longer:
                shown.page, found.offset[page] = self.longer[id]
            arms = [found.rankers.number(name) for name in shown.page.rankers]
            if arms != found.arms[found.arm_start[page] : found.arm_start[page + 1]].tolist():
                raise _Stale
            again.append(shown)
            for _, slot, weight, metric in before[before["page"] == page].tolist():
                if slot >= len(shown.page.documents):
                    raise _Stale
                name = shown.page.documents[slot]
                columns.append((hash(id), documents.setdefault(name, len(documents)), weight, shown.time, metric))
        new = [column[~self.claimed] for column in self.clicks]
        self.documents = list(documents)
        old_columns = list(zip(*columns, strict=True)) if columns else [()] * 5
        joined = [np.concatenate([np.array(one, two.dtype), two]) for one, two in zip(old_columns, new, strict=True)]
        order = np.argsort(joined[0], kind="stable")
        self.clicks, self.kept = Clicks(*(column[order] for column in joined)), Growing(KEPT)
        self.claimed = np.zeros(len(order), np.bool_)
        self.parts = _Parts(scratch, False)
        portion = self._checked([0] * len(again), pages, again)
        if portion is None:
            raise _Stale
        self._judge(portion)
        self.parts.join(scratch, self.metrics.names)
        kept = self.kept.take().copy()
        kept["page"] = pages[kept["page"]]
        found.kept = np.concatenate([found.kept, kept])
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


def _is_kind(page: Page) -> bool:
    """What ``read_content`` asks of a page's method and rankers, beyond the types."""
    n = len(page.slate)
    return (
        page.format == FORMAT
        and page.method in METHODS
        and page.ties in COUNTED
        and 0 < n <= MOST_RANKERS
        and (n <= 2 or page.method not in TWO_ONLY)
        and n == len(page.rankers) == len(set(page.rankers)) == len(set(page.slate))
    )


class Kind:
    """What many pages have in common."""

    __slots__ = ("drop", "method", "numbers", "rankers")

    def __init__(self, method: str, drop: bool, rankers: tuple[str, ...]) -> None:
        self.method, self.drop, self.rankers = method, drop, rankers
        self.numbers: list[int] | None = None  # of the rankers, once such a page counts


class Group(NamedTuple):
    """Pages of one method and number of rankers."""

    method: str
    n: int
    pages: Any  # i8  their places in the portion
    lengths: Any  # i8  documents of each
    evidence: Floats  # f8[rows, n + 1]
    heights: Ints  # i8  rows of each

    def has_whole_rounds(self, at: int) -> bool:
        """Whether rows beyond the page's documents belong to a round that was begun."""
        end = int(self.heights[: at + 1].sum())
        begin = end - int(self.heights[at]) + int(self.lengths[at])
        return begin <= end and bool((self.evidence[begin:end, -1] > 0.0).all())

    def parts(self, size: int) -> Iterator[Group]:
        """The same pages, at most so many at once."""
        if len(self.pages) <= size:
            yield self
            return
        ends = np.concatenate(([0], np.cumsum(self.heights)))
        for first in range(0, len(self.pages), size):
            some = slice(first, first + size)
            rows = slice(ends[first], ends[min(first + size, len(self.pages))])
            columns = self.pages[some], self.lengths[some], self.evidence[rows], self.heights[some]
            yield Group(self.method, self.n, *columns)


class Portion(NamedTuple):
    """Pages that are judged at once."""

    numbers: list[int]  # of their lines
    offsets: Any  # i8  where the lines begin
    shown: list[ShownLine]
    kinds: list[Kind]
    groups: list[Group]


def _all_records(read: Callable[[bytes], list[Any]], lines: list[bytes], kind: str) -> list[Any]:
    """What the lines say, if all of them are as ``Log`` writes them; otherwise nothing."""
    try:
        records = read(b"\n".join(lines))
    except (ValueError, msgspec.MsgspecError):
        return []
    return records if len(records) == len(lines) and all([record.kind == kind for record in records]) else []


def _record(read: Callable[[bytes], Any], line: bytes, kind: str) -> Any:
    """What a line says; None if it is not of this kind."""
    try:
        record = read(line)
    except (ValueError, msgspec.MsgspecError):
        return None
    return record if record.kind == kind else None


def _begins(lines: list[bytes], offset: int) -> Any:
    """Where each line of a block begins in the file: i8."""
    lengths = np.fromiter(map(len, lines), np.int64, len(lines)) + 1
    return offset + np.cumsum(lengths) - lengths


class Growing:
    """A column that grows in one piece of memory: a million small arrays would leave holes in it."""

    def __init__(self, kind: Any) -> None:
        self._kind, self._numbers = np.dtype(kind), array("B")

    def add(self, values: Any) -> None:
        self._numbers.frombytes(np.ascontiguousarray(values, self._kind).view(np.uint8).data if len(values) else b"")

    def array(self) -> Any:
        """What there is, as it lies there; afterwards nothing can be added."""
        return np.frombuffer(self._numbers, self._kind) if len(self._numbers) else np.zeros(0, self._kind)

    def take(self) -> Any:
        """The same, and leave nothing here."""
        whole, self._numbers = self.array(), array("B")
        return whole


def _appended(before: Any, more: Any) -> Any:
    return more if not len(before) else np.concatenate([before, more])


class _Parts:
    """Columns as they grow, after those that are there."""

    def __init__(self, found: Judgements, keep: bool) -> None:
        self.keep, self.ids, self.hashes = keep, bytearray(), Growing(np.int64)
        self.columns = {name: Growing(getattr(found, name).dtype) for name in COLUMNS}
        self.sizes, self.arms = Growing(np.int64), Growing(np.int32)
        self.won: dict[int, Growing] = {}  # by metric
        self.pairs = int(found.pair_start[-1])
        self.new_pairs = 0
        self.pages = found.pages
        for name, (codes, texts) in found.fields.items():
            found.fields[name] = array("i", codes.astype(np.int32).tobytes()), texts  # type: ignore[assignment]

    def add(self, found: Judgements, portion: Portion, counts: Any, won: dict[int, Any]) -> None:
        lines, kinds = portion.shown, portion.kinds
        for kind in dict.fromkeys(kinds):
            if kind.numbers is None:
                kind.numbers = [found.rankers.number(name) for name in kind.rankers]
        if self.keep:
            self.ids += b"".join([one_line(line.id) for line in lines])
        method = {kind: found.methods.number(kind.method) for kind in dict.fromkeys(kinds)}
        values = {
            "time": np.array([line.time for line in lines]),
            "user": found.users.numbers([line.user for line in lines]),
            "session": found.sessions.numbers([line.session for line in lines]),
            "method": np.array([method[kind] for kind in kinds], np.int32),
            "drop": np.array([kind.drop for kind in kinds]),
            "clicks": counts,
            "offset": portion.offsets,
        }
        for name, column in values.items():
            self.columns[name].add(column)
        self.sizes.add([len(kind.rankers) for kind in kinds])
        self.arms.add([number for kind in kinds for number in kind.numbers or ()])
        new = len(won[0])
        for metric, column in won.items():
            self._won(metric).add(column)
        self.new_pairs += new
        for metric in self.won.keys() - won.keys():
            self.won[metric].add(np.full(new, 0.5, np.float32))
        for at, line in enumerate(lines, self.pages):
            if line.fields:
                for name, value in line.fields.items():
                    codes, texts = found.fields.setdefault(name, (array("i"), Codes()))  # type: ignore[arg-type]
                    codes.extend([NOBODY] * (at - len(codes)))  # type: ignore[attr-defined]
                    codes.append(texts.number(field_text(value)))  # type: ignore[attr-defined]
        self.pages += len(lines)

    def _won(self, metric: int) -> Growing:
        """The outcomes by a metric; pages before its first click are ties."""
        if metric not in self.won:
            self.won[metric] = Growing(np.float32)
            self.won[metric].add(np.full(self.new_pairs, 0.5, np.float32))
        return self.won[metric]

    def join(self, found: Judgements, metrics: list[str]) -> None:
        """Put the new columns after those that were there."""
        for metric, name in enumerate(metrics):
            before = found.won.get(name, np.full(self.pairs, 0.5, np.float32))
            found.won[name] = _appended(before, self._won(metric).take())
        for name, column in self.columns.items():
            setattr(found, name, _appended(getattr(found, name), column.take()))
        found.hashes = _appended(found.hashes, self.hashes.take())
        found.ids, self.ids = found.ids + self.ids if found.ids else bytes(self.ids), bytearray()
        sizes = np.cumsum(np.concatenate((found.arm_start[-1:], self.sizes.take())))
        found.arm_start = sizes if len(found.arm_start) == 1 else np.concatenate((found.arm_start, sizes[1:]))
        found.arms = _appended(found.arms, self.arms.take())
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
    for name in (*COLUMNS, "hashes"):
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
