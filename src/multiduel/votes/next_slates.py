"""The slates worth comparing next, from the votes so far: many at once, to be answered in any order and read back.

One by one, ``challengers`` chooses well: whoever has least against it meets the rivals that may yet beat it. Many at once, the answers
of the slates before are not there yet, and without them the same leader would be asked about again and again. So each batch is
played ahead in a drawn world: strengths are drawn from what the votes leave possible (Bradley-Terry, as in ``forecast``), the policy
asks, the drawn world answers, the policy learns that and asks on. Where the drawn world reaches a verdict before the batch is full,
another world is drawn and played from the votes as they are. The drawn answers choose slates and nothing else: they are never counted.

docs/votes.md says how many answers batches of 1, 20 and 100 took (``benchmarks/batches.py``).
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats
from multiduel.engine.session.outcomes import ranking
from multiduel.engine.session.policy import make
from multiduel.files import write_whole
from multiduel.inference import Tally, Verdict, Votes, standings, verdict
from multiduel.inference.forecast import strengths
from multiduel.inputs import MOST_SEED, BadInput, share, shortened, whole
from multiduel.spreadsheets import harmless

MOST_SLATES = 100_000
MOST_TABLE = 10_000_000  # cases times options, of which it is remembered who was shown in which
FORMATS = ("csv", "jsonl")


class NextSlate(NamedTuple):
    """Options to compare, in the order in which to show them, and the case to compare them on."""

    options: tuple[str, ...]
    case: str | None = None


@dataclass(frozen=True)
class NextSlates:
    """The slates to compare next; none if it is settled who is best.

    >>> from multiduel import next_slates, read_votes
    >>> few = next_slates(read_votes(["tea > milk > water"]), number=2, seed=0)
    >>> len(few.slates), few.text("csv").splitlines()[0]
    (2, 'id,option_1,option_2,answer')
    """

    slates: tuple[NextSlate, ...]
    verdict: Verdict  # of the votes so far
    slate_size: int
    asks_rater: bool  # whether the votes so far say who answered

    def rows(self) -> list[dict[str, Any]]:
        """Each slate as the row of a table, with an empty answer to fill in."""
        cases = any(slate.case is not None for slate in self.slates)
        rows = []
        for number, slate in enumerate(self.slates, 1):
            row: dict[str, Any] = {"id": number}
            if cases:
                row["case"] = slate.case
            for k in range(self.slate_size):
                row[f"option_{k + 1}"] = slate.options[k] if k < len(slate.options) else ""
            if self.asks_rater:
                row["rater"] = ""
            rows.append(row | {"answer": ""})
        return rows

    def text(self, format: str = "csv") -> str:
        """Write the slates as text that ``read_votes`` reads back once answers are filled in.

        Parameters
        ----------
        format
            "csv", whose cells no spreadsheet takes for formulas, or "jsonl".
        """
        if format not in FORMATS:
            raise BadInput(f"Slates are written as csv or jsonl. Got {shortened(format)}.")
        rows = self.rows()
        if format == "jsonl":
            return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        if rows:
            writer.writerow(rows[0])
        writer.writerows([harmless(cell) for cell in row.values()] for row in rows)
        return buffer.getvalue()

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the slates to a .csv or .jsonl file, whole or not at all.

        Parameters
        ----------
        path
            The file.
        """
        write_whole(path, self.text(format_of(path)))


def format_of(path: str | os.PathLike[str]) -> str:
    """The format that a file's name asks for."""
    ending = os.path.splitext(os.fspath(path))[1].lower().removeprefix(".")
    if ending not in FORMATS:
        raise BadInput(f"Slates are written to a .csv or .jsonl file. Got '{path}'.")
    return ending


def next_slates(
    votes: Votes,
    *,
    slate_size: int = 2,
    number: int = 20,
    alpha: float = 0.05,
    by: str = "answer",
    cases: Sequence[str] | None = None,
    seed: int = 0,
) -> NextSlates:
    """Choose the slates that are worth comparing next, to find the best option with few answers.

    Write them to a file, fill in the answers, read it with the votes so far, and choose again: the adaptive loop without a server.

    Parameters
    ----------
    votes
        The votes so far; of no answers yet, if need be.
    slate_size
        How many options a slate shows.
    number
        How many slates.
    alpha, by
        Those of the verdict that the slates work towards: see ``standings``.
    cases
        What to compare the options on, such as prompts; those of the votes, if not given. Each slate gets the case that its options
        were seen on least.
    seed
        The same votes and seed give the same slates.

    Returns
    -------
    NextSlates
        The slates, none if there is a verdict already.

    Raises
    ------
    BadInput
        If an argument is out of its range, or the votes do not say what ``by`` needs.

    Examples
    --------
    >>> from multiduel import read_votes
    >>> found = next_slates(read_votes(["tea > milk > water", "milk > tea"]), slate_size=3, number=2)
    >>> sorted(found.slates[0].options)
    ['milk', 'tea', 'water']
    """
    if not isinstance(votes, Votes):
        raise BadInput(f"'next_slates' needs Votes ('read_votes' makes them). Got {shortened(votes)}.")
    K = len(votes.options)
    size = whole("slate_size", slate_size, 2, of="next_slates")
    count = whole("number", number, 1, MOST_SLATES, of="next_slates")
    whole("seed", seed, 0, MOST_SEED, of="next_slates")
    share("alpha", alpha, of="next_slates")
    if K < 2:
        raise BadInput(f"'next_slates' needs at least 2 options to compare. Got {K}.")
    found = _verdict(votes, alpha, by)
    rng = np.random.default_rng(seed)
    chosen = [] if found.settled else choose(*found.tally, slate_size=min(size, K), number=count, alpha=alpha, rng=rng)
    shown = [tuple(rng.permutation(arms).tolist()) for arms in chosen]  # the policy names the leader first
    named = tuple(dict.fromkeys(votes.cases if cases is None else map(str, cases)))
    on = _cases(votes, named, shown, rng)
    slates = tuple(NextSlate(tuple(votes.options[k] for k in arms), case) for arms, case in zip(shown, on, strict=True))
    return NextSlates(slates, found, min(size, K), votes.rater is not None)


def _verdict(votes: Votes, alpha: float, by: str) -> Verdict:
    if by == "answer":
        return verdict(Tally.of(*votes.tables), alpha=alpha, names=votes.options)
    return standings(votes, alpha=alpha, by=by).verdict


def choose(
    above: Floats, ties: Floats, *, slate_size: int, number: int, alpha: float, rng: np.random.Generator
) -> list[tuple[int, ...]]:
    """The arms of each slate, as ``challengers`` chooses them while drawn worlds answer."""
    W = above + 0.5 * ties
    K = len(W)
    mode, root = strengths(W)
    slates: list[tuple[int, ...]] = []
    while len(slates) < number:
        policy = make(
            "challengers", n_arms=K, slate_size=slate_size, alpha=alpha, seed=int(rng.integers(2**63)), tally=W if W.any() else None
        )
        drawn = mode + np.linalg.solve(root.T, rng.standard_normal(K))
        before = len(slates)
        while len(slates) < number:
            arms = policy.ask().arms
            if len(arms) < 2:  # this world has its verdict
                break
            slates.append(arms)
            luck = drawn[list(arms)] + rng.gumbel(size=len(arms))  # Plackett-Luce: a ranking by strength and Gumbel luck
            policy.observe(arms, ranking([arms[k] for k in np.argsort(-luck)]))
        if len(slates) == before:  # the policy counts a tie as half a win and is content; the verdict does not count it
            slates += _hardest(above, ties, slate_size, number - before, rng)
    return slates


def _hardest(above: Floats, ties: Floats, slate_size: int, number: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """The leader with the rivals that have been least beaten, where the policy has nothing to ask."""
    won = (above + 0.5 * ties).sum(axis=1) / np.maximum(1.0, (above + above.T + ties).sum(axis=1))
    leader = int(won.argmax())
    lead = above[leader] - above[:, leader] + rng.random(len(above))
    lead[leader] = np.inf
    rivals = np.argsort(lead)[: max(1, slate_size - 1)].tolist()
    return [(leader, *rivals)] * number


def _cases(votes: Votes, named: Sequence[str], slates: Sequence[tuple[int, ...]], rng: np.random.Generator) -> list[str | None]:
    """For each slate the case on which its options were seen least, those of this batch included."""
    if not named:
        return [None] * len(slates)
    K, C = len(votes.options), len(named)
    number = {name: k for k, name in enumerate(named)}
    seen = np.zeros((C, K if C * K <= MOST_TABLE else 1))
    if votes.case is not None:
        place = np.array([number.get(name, -1) for name in votes.cases])[votes.case[votes.answer_of_row]]
        for arms in (votes.first, votes.second):
            np.add.at(seen, (place[place >= 0], arms[place >= 0] % seen.shape[1]), 1.0)
    chosen: list[str | None] = []
    for arms in slates:
        columns = [arm % seen.shape[1] for arm in arms]
        rarely = seen[:, columns].sum(axis=1)
        least = np.flatnonzero(rarely == rarely.min())
        total = seen[least].sum(axis=1)
        case = int(rng.choice(least[total == total.min()]))
        seen[case, columns] += len(arms) - 1.0
        chosen.append(named[case])
    return chosen
