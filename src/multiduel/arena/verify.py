"""Is the log what was written, and do its slates come out again? Also for a log that was exported, without a journal."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from multiduel.arena.epochs import Epoch, fingerprint, shuffled
from multiduel.arena.errors import BrokenLog
from multiduel.arena.events import Event
from multiduel.arena.journal import Journal, Snapshot
from multiduel.arena.snapshots import digest, load
from multiduel.arena.state import State


@dataclass(frozen=True)
class EpochCheck:
    number: int  # of its event
    policy: str
    why: tuple[str, ...]
    tickets: int  # chosen in it
    checked: bool  # the fingerprint is this engine's, so that its slates were asked for again
    differs: int | None = None  # the first ticket that came out otherwise


@dataclass
class Verification:
    """What was checked. Print it."""

    events: int = 0
    epochs: list[EpochCheck] = field(default_factory=list)
    verdicts: int = 0
    contents: int | None = None  # None: an exported log carries none
    snapshot: str = "none"  # agrees, differs (delete it), unreadable (it is ignored), none
    first: tuple[int, str] | None = None  # the first event that is not in order, and why

    @property
    def good(self) -> bool:
        return self.first is None and self.snapshot != "differs"

    def __str__(self) -> str:
        checked = [epoch for epoch in self.epochs if epoch.checked]
        slates = sum(epoch.tickets for epoch in checked)
        lines = [
            f"{self.events:,} events, hashes in order; {self.verdicts} verdicts found again.",
            f"{slates:,} slates of {len(checked)} of {len(self.epochs)} epochs asked for again; "
            + ("all of them are this engine's." if len(checked) == len(self.epochs) else "the others are of another engine."),
        ]
        if self.contents is not None:
            lines.append(f"{self.contents} contents are what they were. Snapshot: {self.snapshot}.")
        lines.append("Verified." if self.good else f"NOT verified. {self._problem()}")
        return "\n".join(lines)

    def _problem(self) -> str:
        if self.first is None:
            return "The snapshot differs from the fold: delete it."
        return f"The first that is not in order: event {self.first[0]}, {self.first[1]}."


class Verifier:
    def __init__(self, arena: str, get_content: Callable[[str], bytes | None] | None, snapshot: Snapshot | None) -> None:
        self.state, self.report = State(arena), Verification()
        self._get_content, self._snapshot = get_content, snapshot
        self._tickets = 0
        if get_content is not None:
            self.report.contents = 0

    def check(self, events: Iterable[Event]) -> Verification:
        try:
            for event in events:
                self._before(event)
                self.state.apply(event)
                self.report.events += 1
                self._after(event)
        except BrokenLog as broken:
            self._note(broken.number, str(broken).partition(": ")[2].rstrip("."))
        self._end_epoch()
        return self.report

    def _note(self, number: int, what: str) -> None:
        if self.report.first is None or number < self.report.first[0]:
            self.report.first = (number, what)

    def _before(self, event: Event) -> None:
        if event.kind == "epoch":
            self._end_epoch()
        elif event.kind == "verdict":
            state, body = self.state, event.body
            state.weigh_anew()
            verdict = state.judge()
            found = (verdict.kind if verdict.settled else "open", None if verdict.winner is None else f"o{verdict.winner + 1}")
            self.report.verdicts += 1
            if found != (body.get("kind"), body.get("winner")):
                self._note(event.number, f"the verdict says {body.get('kind')} {body.get('winner')}, the votes say {found}")

    def _after(self, event: Event) -> None:
        state = self.state
        if event.kind == "ticket" and "chosen" in event.body:
            self._tickets += 1
            shown = list(state.tickets[event.body["id"]].shown)
            if shown != shuffled(state.seed, event.number, "order", shown):
                self._note(event.number, "its options are in another order than the seed gives")
        elif event.kind in ("created", "option_added"):
            self._check_contents(event)
        if self._snapshot is not None and event.number == self._snapshot.number:
            saved = load(state.arena, self._snapshot)
            self.report.snapshot = "unreadable" if saved is None else "agrees" if digest(saved) == digest(state) else "differs"

    def _check_contents(self, event: Event) -> None:
        if self._get_content is None or self.report.contents is None:
            return
        for option in event.body["options"]:
            for content in option["contents"]:
                data = self._get_content(content["sha256"])
                self.report.contents += 1
                if data is None or hashlib.sha256(data).hexdigest() != content["sha256"]:
                    self._note(event.number, f"a content of option {option['id']} is {'missing' if data is None else 'altered'}")

    def _end_epoch(self) -> None:
        """Live through the epoch that ends here, if this engine can."""
        epoch: Epoch | None = self.state.epoch
        if epoch is None:
            return
        mine = epoch.fingerprint == fingerprint(epoch.policy)
        differs = self.state.ready().differs if mine else None
        self.report.epochs.append(EpochCheck(epoch.number, epoch.policy, epoch.why, self._tickets, mine, differs))
        self._tickets = 0
        if differs is not None:
            self._note(differs, f"its slate, of epoch {epoch.number}, comes out otherwise here")


def verify(journal: Journal, arena: str) -> Verification:
    """Everything that a journal holds of an arena."""

    def get_content(sha256: str) -> bytes | None:
        return journal.get_content(arena, sha256)

    return Verifier(arena, get_content, journal.load_snapshot(arena)).check(journal.stream(arena))


def verify_log(events: Iterable[Event], contents: Mapping[str, bytes] | None = None) -> Verification:
    """A log that was exported, with its contents if they are given (``exports.read_log`` reads both)."""
    return Verifier("", contents.get if contents is not None else None, None).check(events)
