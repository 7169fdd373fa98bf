"""Pages of a log judged many at a time: what ``credit`` does for one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.inputs import BadInput
from multiduel.kernels.compiler.dispatch import entry
from multiduel.rankers.log import Shown
from multiduel.rankers.multileaving import METHODS, WHOLE_CLICKS, judge

FIRST, GROWTH, MOST = 100, 0.03, 5000  # pages judged at once: few at first, so that a verdict is seen soon


class Judged(NamedTuple):
    """Pages in the order in which they were shown; places beyond a page's slate are -1."""

    arms: Ints  # i8[B, n]  numbers of rankers
    wins: Floats  # f8[B, n, n]  0 both ways where nothing was said
    users: list[str]
    times: Floats  # f8[B]
    clicks: Ints  # i8[B]  how many
    shown: int  # pages so far, these included


class Rankers:
    """Names to numbers, as they come up in a log."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._number: dict[str, int] = {}

    def number(self, name: str) -> int:
        if name not in self._number:
            self._number[name] = len(self.names)
            self.names.append(name)
        return self._number[name]


def judged(pages: Iterable[Shown], rankers: Rankers, *, unit: str = "user", ties: str | None = None) -> Iterator[Judged]:
    """The outcomes of all pages, in portions. ``ties`` says how to count them; as the pages were made, if not given."""
    portion: list[Shown] = []
    shown, size = 0, FIRST
    for page in pages:
        portion.append(page)
        if len(portion) == size:
            shown += size
            yield _judge(portion, rankers, unit, ties, shown)
            portion, size = [], int(min(MOST, max(FIRST, GROWTH * shown)))
    if portion:
        yield _judge(portion, rankers, unit, ties, shown + len(portion))


def _judge(portion: list[Shown], rankers: Rankers, unit: str, ties: str | None, shown: int) -> Judged:
    B, most = len(portion), max(len(page.content.arms) for page in portion)
    arms, wins = np.full((B, most), -1, np.int64), np.zeros((B, most, most))
    kinds: dict[tuple[str, int], list[int]] = {}
    for at, page in enumerate(portion):
        n = len(page.content.arms)
        kinds.setdefault((page.content.method, n), []).append(at)
        arms[at, :n] = [rankers.number(name) for name in page.page["rankers"]]
    for (method, n), those in kinds.items():
        outcome = _outcomes(method, n, [portion[at] for at in those])
        drop = np.array([(ties or portion[at].page["ties"]) == "drop" for at in those])
        level = outcome == outcome.transpose(0, 2, 1)
        outcome[drop[:, None, None] & level] = 0.0
        wins[np.array(those), :n, :n] = outcome
    users = [_unit(page, unit) for page in portion]
    clicks = np.array([len(page.clicks) for page in portion])
    return Judged(arms, wins, users, np.array([page.time for page in portion]), clicks, shown)


def _outcomes(method: str, n: int, pages: list[Shown]) -> Floats:
    slots = max(1, max(len(page.content.documents) for page in pages))
    rows = max(slots, max(len(page.content.evidence) for page in pages))
    evidence, clicked = np.zeros((len(pages), rows, n + 1)), np.zeros((len(pages), slots))
    lengths, wins = np.zeros(len(pages), np.int64), np.zeros((len(pages), n, n))
    for at, page in enumerate(pages):
        documents = page.content.documents
        lengths[at] = len(documents)
        evidence[at, : len(page.content.evidence)] = page.content.evidence
        slot = {document: k for k, document in enumerate(documents)} if page.clicks else {}
        for document, weight in page.clicks.items():
            if weight != 1.0 and method in WHOLE_CLICKS:
                raise BadInput(f"Page '{page.id}': '{method}' counts clicks and cannot weigh them. Got a weight of {weight!r}.")
            clicked[at, slot[document]] = weight
    chosen = METHODS[method](n, 1, slots)
    args = (chosen, evidence, clicked, lengths, n, wins)
    run = entry(judge_many, chosen, f"{method} (log)")
    run.prepare(*args)
    run.call(*args)
    return wins


def judge_many(method: Any, evidence: Floats, clicked: Floats, lengths: Ints, places: int, wins: Floats) -> None:
    for page in range(lengths.shape[0]):
        judge(method, evidence[page], clicked[page], lengths[page], places, wins[page])


def _unit(page: Shown, unit: str) -> str:
    """Whose page it is; a page of nobody known is a user of its own."""
    if unit == "impression":
        return page.id
    if unit == "session" and page.session is not None:
        return f"session {page.session}"
    return f"user {page.user}" if page.user is not None else f"page {page.id}"
