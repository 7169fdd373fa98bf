"""``md.judge``: from options and a judge to a verdict, in an arena of their own."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from multiduel.arena.domain import commands as c
from multiduel.arena.domain.events import canonical
from multiduel.arena.domain.options import Option, check_options, make_content, read_options
from multiduel.arena.domain.settings import Settings
from multiduel.arena.domain.texts import check_text
from multiduel.arena.journal import connect
from multiduel.arena.judges.budgets import Budget, Price
from multiduel.arena.judges.calls import Calls
from multiduel.arena.judges.kinds import Judge, judge_of
from multiduel.arena.judges.loop import WHY, Progress, Run
from multiduel.arena.judges.seats import LocalSeat
from multiduel.arena.judges.worth import Worth, worth_of
from multiduel.arena.service.board import Board
from multiduel.arena.service.service import Service
from multiduel.files import file_name
from multiduel.inputs import BadInput, listed, names_of, shortened, text, truth, whole

MOST_AT_ONCE = 64
MOST_LABEL = 200


@dataclass(frozen=True, eq=False, repr=False)
class Judged:
    """The verdict of judges, and how far they can be trusted. Print it to read both in sentences.

    >>> found = judge({"tea": "2", "coffee": "1"}, judge=lambda question: question.contents.index("2"))
    >>> found.board.exactly
    "On exactly this question, 'tea' was placed above each other option more often than below."
    """

    board: Board
    worth: Worth
    stop: str  # a word of ``loop.WHY``: settled, exact, judged, budget, interrupted, ...
    votes: int  # of this run
    spent: str  # of this run
    arena: str
    file: str | None

    @property
    def winner(self) -> str | None:
        """The name of the winner, or None."""
        return next((line.name for line in self.board.lines if line.option == self.board.winner), None)

    def __str__(self) -> str:
        said = [*self.worth.warnings, self.board.sentence, self.board.exactly, WHY.get(self.stop, "")]
        return "\n".join(line for line in (*said, f"Votes: {self.board.answers:,}. This run: {self.spent}.") if line)

    def __repr__(self) -> str:
        return f"<Judged: {self.board.sentence}>"


def judge(
    options: Mapping[str, Any] | str | os.PathLike[str],
    *,
    judge: Any,
    cases: Sequence[str] | None = None,
    file: str | os.PathLike[str] | None = None,
    slate_size: int = 2,
    unit: str = "case",
    alpha: float = 0.05,
    margin: float = 0.0,
    swap: bool = False,
    instructions: str = "",
    budget: str | int | None = None,
    price: str | None = None,
    concurrency: int = 8,
    seed: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Judged:
    """Let a judge compare options, adaptively, until it is certain which one is best for this judge.

    Parameters
    ----------
    options
        {name: text}; with ``cases``, {name: [a text per case]}; or the path of a .csv or .jsonl file as arenas take it.
    judge
        A function of a ``Question``, sync or async, that returns the position of the better one, a ranking as a list, "tie", or
        None to skip; or an address: "openai:MODEL", "command:PROGRAM", "file.py:function", "module:function". A list of these is
        a jury, whose vote is what most of its members say.
    cases
        The questions that the options answer.
    file
        Where the arena and, beside it in FILE.calls, every call is kept. Run again with the same file, it goes on and pays
        nothing twice. If not given, nothing is kept.
    slate_size
        How many are compared at once.
    unit
        "case": the first judgement of a pair on a case counts, and the verdict is about cases like these. "answer": every
        judgement counts, which is wrong for a judge that says the same when asked again.
    alpha, margin
        As for ``verdict``.
    swap
        Whether to ask in both orders; a judge that contradicts itself has said "tie".
    instructions
        For the judge.
    budget
        Of this run: "500 calls", "200000 tokens", or money such as "5 USD" with a price.
    price
        Money per million tokens, in and out: "0.15/0.60".
    concurrency
        How many calls may be under way at the same time.
    seed
        Of the slates and of the order in which contents are shown.
    progress
        Called after each vote.

    Returns
    -------
    Judged
        Print it.

    Raises
    ------
    BadInput
        If the options or an argument cannot be used.

    Examples
    --------
    >>> import multiduel as md
    >>> cases = [f"Question {k}" for k in range(40)]
    >>> answers = {"short": ["yes"] * 40, "long": ["yes, because"] * 40}
    >>> def longer(question):
    ...     return 0 if len(question.contents[0]) > len(question.contents[1]) else 1
    >>> found = md.judge(answers, cases=cases, judge=longer, concurrency=1, seed=1)
    >>> found.winner, found.board.answers < 12
    ('long', True)
    """
    entries, contexts = _options(options, cases)
    judges = [judge_of(one) for one in judge] if isinstance(judge, list | tuple) else [judge_of(judge)]
    if not judges:
        raise BadInput("A jury must have at least one judge. Got none.")
    names_of([one.name for one in judges], len(judges), of="judge")
    if len({one.name for one in judges}) < len(judges):
        raise BadInput(f"The judges of a jury must have different names. Got {shortened([one.name for one in judges])}.")
    whole("concurrency", concurrency, 1, MOST_AT_ONCE, of="judge")
    settings = Settings(
        slate_size=slate_size, unit=unit, alpha=alpha, margin=margin, deciders="judges", seed=seed, board="always"
    )
    spending = Budget(budget, None if price is None else Price.read(price))
    about = {
        "settings": settings.to_json(),
        "options": [[one.name, [content.sha256 for content in one.contents]] for one in entries],
        "contexts": list(contexts),
        "judges": [[one.name, one.identity] for one in judges],
        "swap": truth("swap", swap),
        "instructions": text("instructions", instructions),
    }
    check_text(about)
    request = f"judge {hashlib.sha256(canonical(about).encode('utf-8')).hexdigest()}"
    try:
        with opened(file) as (service, calls):
            arena = service.do(c.Create(_title(judges), settings, entries, contexts, request)).id
            service.do(c.Open(arena))
            run = Run(LocalSeat(service, arena, label_of(judges)), judges, calls, spending, swap, instructions, concurrency)
            if progress is not None:
                run.progress = progress
            run.go()
            worth = worth_of(service, arena, calls)
            kept = None if file is None else file_name(file)
            return Judged(service.board(arena), worth, run.stop, run.votes, str(spending), arena, kept)
    finally:
        for one in judges:
            one.close()


@contextmanager
def opened(file: str | os.PathLike[str] | None) -> Iterator[tuple[Service, Calls]]:
    """The service on a file, or on one that is deleted afterwards, with its calls."""
    with tempfile.TemporaryDirectory(prefix="multiduel-") as folder:
        db = file_name(file) if file is not None else str(Path(folder, "judge.db"))
        if "://" in db:
            raise BadInput(f"'file' must be the name of a file on this machine. Got {shortened(db)}.")
        calls = Calls(f"{db}.calls")
        try:
            service = Service(connect(db))
            try:
                yield service, calls
            finally:
                service.close()
        finally:
            calls.close()


def _options(given: Any, cases: Sequence[str] | None) -> tuple[tuple[Option, ...], tuple[str, ...]]:
    if isinstance(given, str | os.PathLike):
        if cases is not None:
            raise BadInput("The cases of a file are its contexts. Leave 'cases' out.")
        return read_options(given)
    if not isinstance(given, Mapping):
        raise BadInput(f"'options' must be names with contents, or the path of a file. Got {shortened(given)}.")
    if isinstance(cases, str):
        raise BadInput(f"'cases' must be a list of questions. Got the text {shortened(cases)}.")
    contexts = () if cases is None else tuple(text("cases", one).strip() for one in listed("cases", cases, of="judge"))
    made = []
    for name, contents in given.items():
        where = f"The content of {shortened(name)}"
        values = [contents] if isinstance(contents, str) else listed("options", contents, of="judge")
        made.append(Option(str(name), tuple(make_content("text", value, where) for value in values)))
    check_options(made, contexts)
    return tuple(made), contexts


def label_of(judges: Sequence[Judge]) -> str:
    """The name under which judges vote: of several, as a jury."""
    names = " + ".join(one.name for one in judges)
    return names if len(names) <= MOST_LABEL else f"{names[: MOST_LABEL - 1]}…"


def _title(judges: Sequence[Judge]) -> str:
    return f"Judged by {label_of(judges)}"[:MOST_LABEL]
