"""The slates worth comparing next, from the votes so far: many at once, to be answered in any order and read back.

A verdict needs evidence of one option against each other one. So every slate shows an option that may be best, the leader, with
the rivals that it has not yet beaten for certain:

    strengths <- Bradley and Terry's, with the spread that the votes leave (``forecast.strengths``)
    for each slate of the batch
      leader <- the strongest that no other has beaten for certain, by strengths with a little luck (0.3 of their spread)
      rivals <- those against which the leader lacks a winner's evidence, the strongest first by strengths with twice their luck
      show the leader and the first m - 1 rivals, in random order
      count the answer to be expected (chances by strengths, ties as often as so far), so that the next slates ask something else

The luck spreads a batch over what may be true (Thompson sampling, as in ``challengers``); the expected answers spread it over
what is not asked yet. They choose slates and nothing else: they are never counted. Where the expected answers would settle
everything before the batch is full, the rest is chosen anew from the votes as they are. Strengths only decide what is shown: the
verdict does not believe in them.

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

from multiduel.files import write_whole
from multiduel.inference import Tally, Verdict, Votes, evidence, standings, verdict
from multiduel.inference.forecast import strengths
from multiduel.inference.votes import UNITS
from multiduel.inputs import MOST_SEED, BadInput, choice, listed, share, shortened, whole
from multiduel.spreadsheets import harmless

MOST_SLATES = 100_000
MOST_TABLE = 10_000_000  # cases times options, of which it is remembered who was shown in which
FORMATS = ("csv", "jsonl")
LEADER_LUCK = 0.3  # 0 and 0.6 took as many answers, within the noise of 12 replays
RIVAL_LUCK = 2.0  # with 1, an option that is unlucky at first may not be shown again for thousands of answers
VAIN = 20  # draws of a leader that has nothing left to show
UNBEATEN_FIRST = 1e6  # more than strengths differ


class NextSlate(NamedTuple):
    """Options to compare, in the order in which to show them, and the case to compare them on."""

    options: tuple[str, ...]
    case: str | None = None


@dataclass(frozen=True)
class NextSlates:
    """The slates to compare next; none if the winner is certain.

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
        """List the slates as rows of a table, each with an empty answer to fill in."""
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

    Write them to a file, fill in the answers, read it with the votes so far, and choose again: an adaptive loop without a server.

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
        What to compare the options on, such as prompts; those of the votes, if not given. Each slate gets the case that its
        options were seen on least.
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
    choice("by", by, UNITS)
    if K < 2:
        raise BadInput(f"'next_slates' needs at least 2 options to compare. Got {K}.")
    found = _verdict(votes, alpha, by)
    rng = np.random.default_rng(seed)
    chosen = [] if found.settled else choose(found, slate_size=min(size, K), number=count, rng=rng)
    shown = [tuple(rng.permutation(arms).tolist()) for arms in chosen]  # or the leader would always be shown first
    named = tuple(dict.fromkeys(votes.cases if cases is None else map(str, listed("cases", cases, of="next_slates"))))
    on = _cases(votes, named, shown, rng)
    slates = tuple(NextSlate(tuple(votes.options[k] for k in arms), case) for arms, case in zip(shown, on, strict=True))
    return NextSlates(slates, found, min(size, K), votes.rater is not None)


def _verdict(votes: Votes, alpha: float, by: str) -> Verdict:
    if by == "answer":
        return verdict(Tally.of(*votes.tables), alpha=alpha, names=votes.options)
    return standings(votes, alpha=alpha, by=by).verdict


def choose(found: Verdict, *, slate_size: int, number: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """The arms of each slate, the leader first."""
    above, ties = found.tally
    K, m = len(above), slate_size
    mode, root = strengths(above + 0.5 * ties)
    chance = 1.0 / (1.0 + np.exp(mode[None, :] - mode[:, None]))
    np.fill_diagonal(chance, 0.0)
    said = above.sum() + 0.5 * ties.sum()
    decided = above.sum() / said if said else 1.0
    expected, level = decided * chance, (1.0 - decided) * (chance + chance.T)
    known = evidence(above, ties)[0]
    beaten = known.max(axis=0, initial=-np.inf) >= found.pairs  # "out" would be too soon: the best is out with chance alpha
    beaten &= not beaten.all()
    slates: list[tuple[int, ...]] = []
    D, T, L, vain = above.copy(), ties.copy(), known.copy(), 0
    while len(slates) < number:
        luck = np.linalg.solve(root.T, rng.standard_normal((K, 2))).T
        lead = mode + LEADER_LUCK * luck[0]
        lead[beaten] = -np.inf
        b = int(lead.argmax())
        rivals = mode + RIVAL_LUCK * luck[1]
        rivals[b] = -np.inf
        unbeaten = found.needed > L[b]
        unbeaten[b] = False
        if not unbeaten.any():  # by the answers expected, this leader is best
            vain += 1
            if vain > VAIN:
                D, T, L, vain = above.copy(), ties.copy(), known.copy(), 0
            continue
        order = np.argsort(-rivals - UNBEATEN_FIRST * unbeaten)  # where few are left, others fill the slate
        arms = [b, *order[: m - 1].tolist()]
        slates.append(tuple(arms))
        square = np.ix_(arms, arms)
        D[square] += expected[square]
        T[square] += level[square]
        L[square] = evidence(D[square], T[square])[0]
    return slates


def _cases(votes: Votes, named: Sequence[str], slates: Sequence[tuple[int, ...]], rng: np.random.Generator) -> list[str | None]:
    """For each slate the case on which its options were seen least, those of this batch included."""
    if not named:
        return [None] * len(slates)
    K, C = len(votes.options), len(named)
    number = {name: k for k, name in enumerate(named)}
    seen = np.zeros((C, K if C * K <= MOST_TABLE else 1))
    if votes.case is not None:
        place = np.array([number.get(name, -1) for name in votes.cases])[votes.case[votes.answer_of_row]]
        for side in (votes.first, votes.second):
            np.add.at(seen, (place[place >= 0], side[place >= 0] % seen.shape[1]), 1.0)
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
