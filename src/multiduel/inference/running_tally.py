"""A tally whose memory does not grow with its answers: for arenas, which keep every answer elsewhere.

**By answer**, the verdict needs counts of pairs only. The standings also need sum_c U_c U_c' over the answers c, the spread of
their scores (``strengths``), which depends on the strengths of the moment. Answers that judge one pair give it from their counts.
Of answers that judge several pairs, those about options that are compared often are thinned. While the least often compared
option of an answer was compared fewer than 2 B times, the answer is kept. From 2 B on, one answer in two is kept and stands for
two, from 4 B on one in four stands for four, and so on; earlier answers are thinned alike once twice as many are kept as were
left the last time. An answer's number decides whether it is kept, whatever it says: the sum is estimated without bias, exactly
for options that are compared rarely, from at least B answers for all others (on average). So what is kept does not grow with the
answers.

**By rater and by case**, the first judgement of each pair counts. A judgement takes twelve bytes, for raters who have answered
lately about two hundred.
"""

from __future__ import annotations

import copy
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints
from multiduel.inference.tally import Counts
from multiduel.inputs import BadInput, whole

Pairs = Sequence[tuple[int, int, int]]  # two positions of an answer, and 1 if the first is above, -1 below, 0 level
LEAST_KEPT, KEPT = 200, 50_000  # B is KEPT over the number of arms, and LEAST_KEPT at least
AWAKE = 256  # raters or cases whose judgements are held ready to be changed
ARMS = 1 << 14  # more than there may be: a pair is one number
TABLES = {"above": "f8", "ties": "f8", "showings": "i8", "single_above": "f8", "single_ties": "f8", "met": "i8"}
COLUMNS = {"numbers": "i8", "level": "i1", "sizes": "i8", "first": "i2", "second": "i2", "placed": "i1"}
JUDGED = {"lengths": "i8", "codes": "i4", "judgements": "i8"}


class Kept(NamedTuple):
    """Answers that judge several pairs, in columns."""

    first: Ints  # i4[rows]
    second: Ints  # i4[rows]
    placed: Any  # i1[rows]
    edges: Ints  # i8[answers + 1]
    weight: Floats  # f8[answers]  how many answers each stands for


class Judged(NamedTuple):
    """Judgements by rater or by case, in columns; those of a unit stand together."""

    first: Ints  # i4[rows]
    second: Ints  # i4[rows]
    placed: Any  # i1[rows]
    edges: Ints  # i8[units + 1]


class RunningTally(Counts):
    """The answers so far, as counts, with the sums that standings need.

    >>> tally = RunningTally(3)
    >>> tally.add(7, (2, 0, 1), [(0, 1, 1), (0, 2, 1), (1, 2, 1)])  # 2 above 0 above 1
    >>> tally.above.tolist(), tally.answers
    ([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 0.0]], 1)
    >>> tally.undo(7, (2, 0, 1), [(0, 1, 1), (0, 2, 1), (1, 2, 1)])
    >>> tally.above.sum()
    np.float64(0.0)
    """

    def __init__(self, n_arms: int, *, unit: str = "answer") -> None:
        super().__init__(n_arms, unit)
        self.single_above: Floats = np.zeros((n_arms, n_arms))  # by answers that judge one pair
        self.single_ties: Floats = np.zeros((n_arms, n_arms))
        self.met: Ints = np.zeros((n_arms, 1), np.int64)  # [i, s]: answers that compared i, in which s + 1 others were compared
        self._compared = [0] * n_arms  # answers that compared each arm
        self.judging = 0  # answers that judge a pair at least
        self._empty()
        self._limit = KEPT  # answers that are kept before earlier ones are thinned
        self._awake: OrderedDict[str, dict[int, tuple[int, ...]]] = OrderedDict()  # unit -> pair -> judgements, in order
        self._asleep: dict[str, tuple[Any, Any]] = {}  # unit -> its pairs and judgements

    def _empty(self) -> None:
        self._numbers, self._level, self._ends = array("q"), array("b"), array("q")
        self._first, self._second, self._placed = array("h"), array("h"), array("b")
        self._gone = 0  # kept answers that were undone: their number is -1

    def add(self, number: int, arms: Sequence[int], pairs: Pairs, whom: str | None = None) -> None:
        """Count an answer.

        Parameters
        ----------
        number
            Its own. The same answer, undone and added again, may have the same.
        arms
            The arms that were shown.
        pairs
            What it says, in positions of ``arms``. Not checked: an arena has done so.
        whom
            The rater or case that counts once for each pair, if the unit is one.
        """
        self._count(number, arms, pairs, whom, 1)

    def undo(self, number: int, arms: Sequence[int], pairs: Pairs, whom: str | None = None) -> None:
        """Take an answer back, as if it had never come.

        Parameters
        ----------
        number, arms, pairs, whom
            As they were given to ``add``.
        """
        self._count(number, arms, pairs, whom, -1)

    def _count(self, number: int, arms: Sequence[int], pairs: Pairs, whom: str | None, sign: int) -> None:
        self.answers += sign
        self.judging += sign * bool(pairs)
        showings = self.showings
        for arm in arms:
            showings[arm] += sign
        if self.unit != "answer":
            assert whom is not None
            self._judge(number, arms, pairs, whom, sign)
            return
        if len(pairs) == 1:
            a, b, placing = pairs[0]
            i, j = arms[a], arms[b]
            self._place(i, j, placing, sign)
            if placing == 0:
                self.single_ties[i, j] += sign
                self.single_ties[j, i] += sign
            else:
                self.single_above[(i, j) if placing > 0 else (j, i)] += sign
            for arm in (i, j):
                self.met[arm, 0] += sign
                self._compared[arm] += sign
        elif pairs:
            every = 2 * len(pairs) == len(arms) * (len(arms) - 1)  # it judges every pair that was shown
            here = arms if every else sorted({arms[place] for a, b, _ in pairs for place in (a, b)})
            others = len(here) - 2
            if others >= self.met.shape[1]:
                self.met = np.pad(self.met, ((0, 0), (0, others + 1 - self.met.shape[1])))
            if sign > 0:
                self._keep(number, arms, pairs, here)
            else:
                self._drop(number)
            for arm in here:
                self.met[arm, others] += sign
                self._compared[arm] += sign
            if len(self._numbers) - self._gone > self._limit:
                self._thin()
            above = self.above
            for a, b, placing in pairs:
                if placing == 0:
                    self._place(arms[a], arms[b], 0, sign)
                else:
                    above[(arms[a], arms[b]) if placing > 0 else (arms[b], arms[a])] += sign

    # ---- answers that judge several pairs

    def _often(self) -> int:
        """B: how many answers stand for an option at least."""
        return max(LEAST_KEPT, KEPT // self.n_arms)

    def _keep(self, number: int, arms: Sequence[int], pairs: Pairs, here: Sequence[int]) -> None:
        least = min([self._compared[arm] for arm in here])
        level = max(0, (least // self._often()).bit_length() - 1)
        if level and mixed(number) & ((1 << level) - 1):
            return
        self._first.extend([arms[a] for a, _, _ in pairs])
        self._second.extend([arms[b] for _, b, _ in pairs])
        self._placed.extend([placing for _, _, placing in pairs])
        self._numbers.append(number)
        self._level.append(level)
        self._ends.append(len(self._first))

    def _thin(self) -> None:
        """Keep of all answers as few as of new ones about the same options."""
        columns = self._columns()
        sizes = columns["sizes"]
        compared = np.array(self._compared)
        rarest = np.minimum(compared[columns["first"]], compared[columns["second"]])
        least = np.minimum.reduceat(rarest, np.cumsum(sizes) - sizes)
        levels = np.frexp((least // self._often()).astype(float))[1] - 1  # as bit_length counts
        level = np.maximum(columns["level"], levels).astype(np.int8)
        here = mixed_all(columns["numbers"]) & ((np.uint64(1) << level.astype(np.uint64)) - np.uint64(1)) == 0
        rows = np.repeat(here, sizes)
        kept = {"numbers": columns["numbers"][here], "level": level[here], "sizes": sizes[here]}
        self._fill(kept | {name: columns[name][rows] for name in ("first", "second", "placed")})
        self._limit = max(KEPT, 2 * len(self._numbers))

    def _drop(self, number: int) -> None:
        at = np.flatnonzero(np.frombuffer(self._numbers, np.int64) == number)
        if len(at):
            self._numbers[int(at[0])] = -1
            self._gone += 1
            if self._gone > 1000 and 2 * self._gone > len(self._numbers):
                self._fill(self._columns())

    def _columns(self) -> dict[str, Any]:
        """The kept answers that count, as arrays."""
        numbers, ends = np.array(self._numbers, np.int64), np.array(self._ends, np.int64)
        here, sizes = numbers >= 0, np.diff(ends, prepend=0)
        found: dict[str, Any] = {
            "numbers": numbers[here],
            "level": np.array(self._level, np.int8)[here],
            "sizes": sizes[here],
            "first": np.array(self._first, np.int16),
            "second": np.array(self._second, np.int16),
            "placed": np.array(self._placed, np.int8),
        }
        if self._gone:
            rows = np.repeat(here, sizes)
            found |= {name: found[name][rows] for name in ("first", "second", "placed")}
        return found

    def _fill(self, columns: dict[str, Any]) -> None:
        self._empty()
        ends = np.cumsum(columns["sizes"])
        for name, kind, values in (
            ("_numbers", "q", columns["numbers"]),
            ("_level", "b", columns["level"]),
            ("_ends", "q", ends),
            ("_first", "h", columns["first"]),
            ("_second", "h", columns["second"]),
            ("_placed", "b", columns["placed"]),
        ):
            filled = array(kind)
            filled.frombytes(np.ascontiguousarray(values).tobytes())
            setattr(self, name, filled)

    def kept(self) -> Kept:
        """Return the answers by which the spread is estimated, with how many each stands for."""
        columns = self._columns()
        return Kept(
            columns["first"].astype(np.int32),
            columns["second"].astype(np.int32),
            columns["placed"],
            np.concatenate(([0], np.cumsum(columns["sizes"]))).astype(np.int64),
            np.exp2(columns["level"].astype(float)),
        )

    # ---- by rater and by case

    def has_judged(self, whom: str, i: int, j: int) -> bool:
        """Tell whether a judgement of a pair by a rater, or on a case, counts already.

        Parameters
        ----------
        whom
            The rater or the case.
        i, j
            The pair.
        """
        if whom not in self._awake and whom not in self._asleep:
            return False
        return _code(i, j) in self._waken(whom)

    def _waken(self, whom: str) -> dict[int, tuple[int, ...]]:
        pairs = self._awake.get(whom)
        if pairs is None:
            pairs = self._awake[whom] = {}
            asleep = self._asleep.pop(whom, None)
            if asleep is not None:
                for code, judgement in zip(*(column.tolist() for column in asleep), strict=True):
                    pairs[code] = (*pairs.get(code, ()), judgement)
            while len(self._awake) > AWAKE:
                self._lull(*self._awake.popitem(last=False))
        else:
            self._awake.move_to_end(whom)
        return pairs

    def _lull(self, whom: str, pairs: dict[int, tuple[int, ...]]) -> None:
        if pairs:
            rows = [(code, judgement) for code, mine in sorted(pairs.items()) for judgement in mine]
            self._asleep[whom] = np.array([c for c, _ in rows], np.int32), np.array([j for _, j in rows], np.int64)

    def _judge(self, number: int, arms: Sequence[int], pairs: Pairs, whom: str, sign: int) -> None:
        mine = self._waken(whom)
        for a, b, placing in pairs:
            i, j = arms[a], arms[b]
            if i > j:
                i, j, placing = j, i, -placing
            code, judgement = _code(i, j), 4 * number + placing + 1
            said = mine.get(code, ())
            now = (*said, judgement) if sign > 0 else tuple(one for one in said if one != judgement)
            if now:
                mine[code] = now
            else:
                del mine[code]
            before, after = (None if not some else some[0] % 4 - 1 for some in (said, now))
            if before != after:  # only the first judgement counts, whichever is the first now
                for first, change in ((before, -1), (after, 1)):
                    if first is not None:
                        self._place(i, j, first, change)

    def judged(self) -> Judged:
        """Return all judgements by rater or by case, also those that do not count in the verdict."""
        saved = self._judged_columns()
        codes, judgements = saved["codes"], saved["judgements"]
        return Judged(
            (codes // ARMS).astype(np.int32),
            (codes % ARMS).astype(np.int32),
            (judgements % 4 - 1).astype(np.int8),
            np.concatenate(([0], np.cumsum(saved["lengths"]))).astype(np.int64),
        )

    def _judged_columns(self) -> dict[str, Any]:
        asleep = dict(self._asleep)
        for whom, pairs in self._awake.items():
            rows = [(code, judgement) for code, mine in sorted(pairs.items()) for judgement in mine]
            asleep[whom] = np.array([c for c, _ in rows], np.int32), np.array([j for _, j in rows], np.int64)
        units = sorted(whom for whom, (codes, _) in asleep.items() if len(codes))
        no_rows = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
        return {
            "units": units,
            "lengths": np.array([len(asleep[whom][0]) for whom in units], np.int64),
            "codes": np.concatenate([asleep[whom][0] for whom in units] or no_rows[0]),
            "judgements": np.concatenate([asleep[whom][1] for whom in units] or no_rows[1]),
        }

    # ---- as a whole

    def grow(self, n_arms: int) -> None:
        """Add arms of which nothing is known yet.

        Parameters
        ----------
        n_arms
            How many arms there are then.
        """
        more = whole("n_arms", n_arms, self.n_arms, of="RunningTally.grow") - self.n_arms
        self._grow(more)
        self.single_above, self.single_ties = (np.pad(table, (0, more)) for table in (self.single_above, self.single_ties))
        self.met = np.pad(self.met, ((0, more), (0, 0)))
        self._compared += [0] * more

    def frozen(self) -> RunningTally:
        """Return a copy that stays as it is."""
        made = copy.copy(self)
        for name in TABLES:
            setattr(made, name, getattr(self, name).copy())
        for name in ("_numbers", "_level", "_ends", "_first", "_second", "_placed"):
            setattr(made, name, getattr(self, name)[:])
        made._awake = OrderedDict((whom, dict(pairs)) for whom, pairs in self._awake.items())
        made._asleep, made._compared = dict(self._asleep), self._compared[:]
        return made

    def saved(self) -> dict[str, Any]:
        """Save the tally as arrays and numbers, for ``restored``."""
        plain = {"unit": self.unit, "answers": self.answers, "judging": self.judging, "limit": self._limit}
        return plain | {name: getattr(self, name) for name in TABLES} | self._columns() | self._judged_columns()

    @classmethod
    def restored(cls, table: dict[str, Any]) -> RunningTally:
        """Restore a tally from what ``saved`` returned.

        Parameters
        ----------
        table
            What ``saved`` returned. It is checked: compiled code will look up arms by its numbers.
        """
        K = len(table["above"])
        tally = cls(K, unit=table["unit"])
        tally.answers, tally.judging, tally._limit = (int(table[name]) for name in ("answers", "judging", "limit"))
        for name in TABLES:
            setattr(tally, name, table[name])
        first, second, sizes = table["first"], table["second"], table["sizes"]
        codes, lengths = table["codes"], table["lengths"]
        good = tally._limit >= 0 and all(table[name].shape == (K, K) for name in ("above", "ties", "single_above", "single_ties"))
        good = good and tally.showings.shape == (K,) and tally.met.ndim == 2 and len(tally.met) == K
        good = good and len(table["numbers"]) == len(table["level"]) == len(sizes)
        good = good and len(first) == len(second) == len(table["placed"]) == sizes.sum() and not (sizes < 1).any()
        good = good and len(codes) == len(table["judgements"]) == lengths.sum() and not (lengths < 0).any()
        good = good and len(lengths) == len(table["units"])
        for arms in (first, second, codes // ARMS, codes % ARMS):
            good = good and not (len(arms) and (arms.min() < 0 or arms.max() >= K))
        good = good and not (first == second).any() and not (len(first) and np.abs(table["placed"]).max() > 1)
        good = good and not (len(sizes) and (table["level"].min() < 0 or table["level"].max() > 62))
        if not good:
            raise BadInput("A saved tally must be what 'saved' returned.")
        tally._fill(table)
        tally._compared = tally.met.sum(axis=1).tolist()
        ends = np.cumsum(lengths).tolist()
        for whom, start, end in zip(table["units"], [0, *ends], ends, strict=False):
            tally._asleep[whom] = codes[start:end], table["judgements"][start:end]
        return tally


def _code(i: int, j: int) -> int:
    """A pair as one number, its smaller arm first."""
    return i * ARMS + j if i < j else j * ARMS + i


def mixed(number: int) -> int:
    """64 bits that look random (the finaliser of splitmix64)."""
    mask = (1 << 64) - 1
    z = (number * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


def mixed_all(numbers: Ints) -> Any:
    """``mixed`` of each number.

    >>> [int(one) for one in mixed_all(np.array([3, 10**7]))] == [mixed(3), mixed(10**7)]
    True
    """
    z = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
