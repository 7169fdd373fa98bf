"""The policy one talks to: ask which arms to compare, tell what came of it, at any time ask for the best."""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats
from multiduel.engine.outcomes import Outcome, explain, wins_matrix
from multiduel.engine.play import ask_once, recommend_once, tell_once
from multiduel.engine.registry import describe, feature_table, find, resolve
from multiduel.engine.seeds import streams
from multiduel.inputs import BadInput, whole
from multiduel.kernels.contract import PolicySpec, init, use_features
from multiduel.kernels.dispatch import entry

FORMAT = "multiduel-policy-1"


class Slate(NamedTuple):
    """The arms to compare in a round. One arm means: nothing to compare, use it; no tell is needed."""

    round: int
    arms: tuple[int, ...]


class Standing(NamedTuple):
    """One line of the leaderboard."""

    arm: int
    wins: float
    duels: float
    win_rate: float  # nan before its first duel
    low: float
    high: float
    recommended: bool


class Policy:
    """An algorithm at work. Made by ``make`` or ``restore``."""

    def __init__(
        self, spec: PolicySpec, params: Any, n_arms: int, seed: np.random.SeedSequence, features: Floats | None = None
    ) -> None:
        self.spec, self.params, self.n_arms = spec, params, n_arms
        drawn = streams(seed, n_arms)
        self._set_labels(drawn.labels)
        self._rng = drawn.policy
        self._state = init(params, n_arms, self._rng)
        if features is not None:
            use_features(params, self._state, features[self._label])
        self._round = 0
        self._open: dict[int, tuple[int, ...]] = {}
        self._tally = np.zeros((n_arms, n_arms))
        self._slate = np.zeros(n_arms, np.int64)
        self._entries()

    def _set_labels(self, labels: Any) -> None:
        self._label: list[int] = [int(k) for k in labels]
        self._inner = {label: k for k, label in enumerate(self._label)}

    def _entries(self) -> None:
        """Each is compiled, or loaded, when first called, and from then on called without a detour."""

        def lazily(function: Callable[..., Any], attribute: str) -> Callable[..., Any]:
            def first(*args: Any) -> Any:
                bound = entry(function, self.params, f"{self.spec.name} ({attribute[1:]})").bind(*args)
                setattr(self, attribute, bound)
                return bound(*args)

            return first

        self._ask = lazily(ask_once, "_ask")
        self._tell = lazily(tell_once, "_tell")
        self._recommend = lazily(recommend_once, "_recommend")

    def __repr__(self) -> str:
        return f"Policy({self.spec.name!r}, n_arms={self.n_arms}, round={self._round})"

    def ask(self) -> Slate:
        """The next slate. Ask again without telling as often as you like: answers may come late, or never."""
        n = self._ask(self.params, self._state, self._rng, self._round + 1, self._slate)
        self._round += 1
        label = self._label
        arms = tuple([label[k] for k in self._slate[:n].tolist()])
        if n > 1:
            self._open[self._round] = arms
        return Slate(self._round, arms)

    def tell(self, slate: Slate, outcome: Outcome | Sequence[Sequence[float]] | Floats) -> None:
        """What came of a slate: ranking, best, worst, duels, tie, or wins[a][b] of slate.arms[a] over slate.arms[b].

        Each slate is told once; a slate of one arm needs no telling, and telling it changes nothing.
        """
        try:
            round, arms = slate
            shown = self._open.get(round)
        except (TypeError, ValueError):
            raise BadInput(f"'tell' takes the Slate that 'ask' returned. Got {slate!r}.") from None
        if shown is None or shown != arms:
            if len(arms) == 1 and 1 <= round <= self._round and shown is None:
                return
            raise self._not_open(round, arms)
        wins = wins_matrix(outcome, arms)
        inner = self._inner
        places = np.array([inner[arm] for arm in arms])
        if not self._tell(self.params, self._state, self._rng, round, places, wins, self._tally):
            raise explain(wins, arms)
        del self._open[round]

    def _not_open(self, round: Any, arms: Any) -> BadInput:
        if not isinstance(round, int) or not 1 <= round <= self._round:
            return BadInput(f"Round {round!r} was never asked. So far there were {self._round}.")
        shown = self._open.get(round)
        what = f"showed {shown}, not {arms}" if shown else "is told already, or had a single arm"
        return BadInput(f"Round {round} {what}.")

    def forget(self, slate: Slate) -> None:
        """This slate will never be told: drop it from the open ones. Only memory is saved by it."""
        if self._open.get(slate.round) != slate.arms:
            raise BadInput(f"Round {slate.round} is not open.")
        del self._open[slate.round]

    @property
    def open(self) -> tuple[Slate, ...]:
        """Slates asked and not yet told."""
        return tuple(Slate(round, arms) for round, arms in self._open.items())

    @property
    def round(self) -> int:
        """Rounds asked so far."""
        return self._round

    def recommend(self) -> int:
        """The arm it would bet on now."""
        arm: int = self._recommend(self.params, self._state)
        return self._label[arm]

    def leaderboard(self, confidence: float = 0.95) -> list[Standing]:
        """Arms by the share of their duels won, with an interval for each.

        An arm's interval is for its mean chance of winning against the opponents it actually met. All K intervals hold
        together, at all times, with the given confidence, although who met whom was chosen along the way: they are
        Robbins' normal-mixture confidence sequence for a sum of bounded martingale differences (Howard, Ramdas, McAuliffe,
        Sekhon 2021, eq. 14), shared out over the arms.
        """
        if not 0.0 < confidence < 1.0:
            raise BadInput(f"'confidence' must lie between 0 and 1. Got {confidence}.")
        won, lost = self._tally.sum(axis=1), self._tally.sum(axis=0)
        choice = self.recommend()
        lines = []
        for k, arm in enumerate(self._label):
            duels = float(won[k] + lost[k])
            rate = float(won[k]) / duels if duels else math.nan
            radius = _anytime_radius(duels, (1.0 - confidence) / self.n_arms) if duels else 1.0
            low, high = (max(0.0, rate - radius), min(1.0, rate + radius)) if duels else (0.0, 1.0)
            lines.append(Standing(arm, float(won[k]), duels, rate, low, high, arm == choice))
        return sorted(lines, key=lambda line: (math.isnan(line.win_rate), -line.win_rate, -line.duels, line.arm))

    def snapshot(self) -> dict[str, Any]:
        """All of it as plain JSON: numbers, words, and arrays as base64 text. ``restore`` continues bit for bit."""
        return {
            "format": FORMAT,
            "policy": self.spec.name,
            "params": describe(self.params),
            "n_arms": self.n_arms,
            "round": self._round,
            "labels": list(self._label),
            "rng": [int(word) for word in self._rng],
            "open": [[round, list(arms)] for round, arms in self._open.items()],
            "tally": _pack(self._tally),
            "state": [_pack(array) for array in _leaves(self._state)],
        }


def make(
    name: str,
    *,
    n_arms: int,
    slate_size: int = 2,
    seed: int | None = None,
    horizon: int | None = None,
    features: Any = None,
    **params: Any,
) -> Policy:
    """A policy by its name (``multiduel policies`` lists them) for ``n_arms`` arms, at most ``slate_size`` in a slate.

    ``features`` are for policies that use them: a row of numbers per arm.
    """
    spec = find(name)
    whole("n_arms", n_arms, 1, of=name)
    whole("slate_size", slate_size, 2, of=name)
    if seed is not None:
        whole("seed", seed, 0, of=name)
    chosen = resolve(spec, n_arms=int(n_arms), slate_size=int(slate_size), horizon=horizon, given=params)
    return Policy(spec, chosen, int(n_arms), np.random.SeedSequence(seed), feature_table(spec, features, int(n_arms)))


def restore(saved: dict[str, Any]) -> Policy:
    """The policy that ``snapshot`` saved."""
    try:
        if saved["format"] != FORMAT:
            raise BadInput(f"A snapshot of format '{FORMAT}' is needed. Got {saved['format']!r}.")
        n_arms = int(saved["n_arms"])
        words = dict(saved["params"])
        slate_size = max(2, int(words.pop("slate_size", 2)))
        spec = find(saved["policy"])
        params = resolve(spec, n_arms=n_arms, slate_size=slate_size, given=words)
        policy = Policy(spec, params, n_arms, np.random.SeedSequence(0))
        if sorted(saved["labels"]) != list(range(n_arms)) or len(saved["rng"]) != 4:
            raise ValueError("labels or rng")
        leaves = _leaves(policy._state)
        for array, text in zip(leaves, saved["state"], strict=True):
            _unpack(text, array)
        _unpack(saved["tally"], policy._tally)
        policy._set_labels(saved["labels"])
        policy._rng[:] = saved["rng"]
        policy._round = int(saved["round"])
        policy._open = {int(round): tuple(int(arm) for arm in arms) for round, arms in saved["open"]}
    except BadInput:
        raise
    except (KeyError, TypeError, ValueError, zlib.error) as error:
        raise BadInput(f"This is not a whole snapshot of a policy: {type(error).__name__} {error}.") from error
    return policy


def _anytime_radius(n: float, error: float) -> float:
    """Half-width after n outcomes in [0, 1] (variance proxy 1/4 each); tightest near n = 100."""
    v, rho = 0.25 * n, 25.0 / (2.0 * math.log(1.0 / error) + 1.0)
    return math.sqrt((v + rho) * (2.0 * math.log(2.0 / error) + math.log((v + rho) / rho))) / n


def _leaves(state: Any) -> list[Any]:
    """The arrays of a State, those of the machines inside it included."""
    return [leaf for value in state for leaf in (_leaves(value) if isinstance(value, tuple) else [value])]


def _pack(array: Any) -> list[Any]:
    raw = zlib.compress(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes(), 1)
    return [array.dtype.str[1:], list(array.shape), base64.b64encode(raw).decode("ascii")]


def _unpack(packed: list[Any], array: Any) -> None:
    kind, shape, text = packed
    if kind != array.dtype.str[1:] or tuple(shape) != array.shape:
        raise ValueError(f"an array of {kind}{shape} where {array.dtype.str[1:]}{list(array.shape)} belongs")
    array[...] = np.frombuffer(zlib.decompress(base64.b64decode(text)), f"<{kind}").reshape(array.shape)
