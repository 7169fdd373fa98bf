"""The policy one talks to: ask which arms to compare, tell what came of it, at any time ask for the best."""

from __future__ import annotations

import hashlib
import math
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from multiduel.arrays import Floats, Stream
from multiduel.engine.registry.plugin_errors import guarded, refuse_arm, refuse_slate, seats_of
from multiduel.engine.registry.registry import (
    MOST_FEATURE,
    POLICIES,
    ROUNDS_DIFFER,
    describe,
    dimension_of,
    feature_table,
    find,
    refuse_closing,
    resolve,
    with_dimension,
)
from multiduel.engine.session.outcomes import Outcome, explain, matrix_of, wins_matrix
from multiduel.engine.session.rounds import (
    MOST_WEIGHT,
    MOST_WINS,
    Duel,
    ask_once,
    ask_seeing,
    observe_pairs,
    observe_slate,
    recommend_once,
    recommend_seeing,
    relive,
    tell_once,
    tell_seeing,
)
from multiduel.engine.session.slates import Showing, Slate
from multiduel.engine.session.snapshots import (
    FINGERPRINT,
    FORMAT,
    MOST_OPEN,
    MOST_OPEN_FEATURES,
    check_answers,
    check_state,
    is_scratch,
    leaves,
    number,
    pack,
    part,
    read_features,
    read_fingerprint,
    read_labels,
    read_open,
    read_rng,
    refuse,
    unpack_all,
)
from multiduel.engine.simulation.seeds import streams
from multiduel.engine.standings import Standings, standings
from multiduel.inference import Tally, Verdict, verdict
from multiduel.inputs import MOST_SEED, BadInput, shortened, whole
from multiduel.kernels.compiler.dispatch import entry
from multiduel.kernels.contract import PolicySpec, fix_features, init
from multiduel.kernels.evidence import Counts, no_answers
from multiduel.kernels.validity import MOST_ARMS, MOST_ROUNDS


class Policy:
    """An algorithm at work, made by ``make`` or ``restore``.

    Threads may share one: each call is finished before the next. ``pickle`` and ``copy.deepcopy`` go through ``snapshot``.

    Examples
    --------
    >>> policy = make("uniform", n_arms=3, seed=0)
    >>> policy.ask().round, policy.round, len(policy.open)
    (1, 1, 1)
    """

    def __init__(
        self,
        spec: PolicySpec,
        params: Any,
        *,
        state: Any,
        labels: Iterable[int],
        rng: Stream,
        fingerprint: str,
        tally: Counts | None = None,
        round: int = 0,
        open: Iterable[tuple[int, tuple[int, ...]]] = (),
        answers: int | None = 0,
        last_features: Floats | None = None,
        open_features: Mapping[int, Floats] | None = None,
    ) -> None:
        self.spec, self.params = spec, params
        self._state, self._rng, self._fingerprint, self._round = state, rng, fingerprint, round
        self._label: list[int] = [int(k) for k in labels]  # of the policy's arms, in the user's numbering
        self.n_arms = len(self._label)
        self._inner = {label: k for k, label in enumerate(self._label)}
        self._open: OrderedDict[int, tuple[int, ...]] = OrderedDict(open)
        self._tally = no_answers(self.n_arms) if tally is None else tally
        self._answers = answers  # that compared anything; None: not known
        self._spare: list[bool] | None = None
        self._lock = threading.RLock()
        self._slate = np.zeros(self.n_arms, np.int64)
        self._duel = Duel(np.zeros(2, np.int64), np.zeros((2, 2)))
        # Where every round brings its own features: a row per arm of the last ask, and per arm of each open slate. Else None.
        self._last_features, self._open_features = last_features, dict(open_features or {})
        self._arms = np.arange(self.n_arms)
        self._most_open = MOST_OPEN
        if last_features is not None:
            numbers = seats_of(spec, params, self.n_arms) * last_features.shape[1]
            self._most_open = max(1, min(MOST_OPEN, MOST_OPEN_FEATURES // numbers))
        self._entries()

    def _entries(self) -> None:
        """Each is compiled, or loaded, when first called, and from then on called without a detour."""

        def lazily(function: Callable[..., Any], attribute: str) -> Callable[..., Any]:
            def first(*args: Any) -> Any:
                label = f"{self.spec.name} ({attribute[1:]})"
                bound = guarded(self.spec, entry(function, self.params, label, care=self.spec.care).bind(*args))
                setattr(self, attribute, bound)
                return bound(*args)

            return first

        self._ask = lazily(ask_once, "_ask")
        self._tell = lazily(tell_once, "_tell")
        self._observe = lazily(observe_pairs if self.spec.slate == "two" else observe_slate, "_observe")
        self._relive = lazily(relive, "_relive")
        self._recommend = lazily(recommend_once, "_recommend")
        self._ask_seeing = lazily(ask_seeing, "_ask_seeing")
        self._tell_seeing = lazily(tell_seeing, "_tell_seeing")
        self._recommend_seeing = lazily(recommend_seeing, "_recommend_seeing")

    def __repr__(self) -> str:
        return f"Policy({self.spec.name!r}, n_arms={self.n_arms}, round={self._round})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self.snapshot(),)

    def ask(self, features: Any = None) -> Slate:
        """Choose the next slate.

        Ask again without telling as often as you like: outcomes may come late, or never. Of slates that are never told the last
        100,000 stay open (fewer if their features are many: 10^7 numbers in all); older ones are forgotten.

        Parameters
        ----------
        features
            For a policy that was made with a ``dimension``, whose features change from round to round: a row of numbers per
            arm, for this round. ``tell`` finds them again, however late it comes.

        Returns
        -------
        Slate
            The round and the arms to compare. One arm means that there is nothing to compare: use it.

        Raises
        ------
        BadInput
            If the features do not fit, or are missing.
        """
        with self._lock:
            last = self._last_features
            if features is None and last is None:
                n = self._ask(self.params, self._state, self._rng, self._round + 1, self._slate)
            else:
                last = self._read_features(features)
                n = self._ask_seeing(self.params, self._state, self._rng, self._round + 1, self._slate, self._arms, last)
                self._last_features = last
            if self.spec.watched:
                most, K = seats_of(self.spec, self.params, self.n_arms), self.n_arms
                refuse_slate(self.spec, self._slate, n, 1, 1, most=most, n_arms=K, round=self._round + 1)
            self._round += 1
            label = self._label
            arms = tuple([label[k] for k in self._slate[:n].tolist()])
            if n > 1:
                self._open[self._round] = arms
                if last is not None:
                    self._open_features[self._round] = last[self._slate[:n]]
                if len(self._open) > self._most_open:
                    self._close(next(iter(self._open)))
            return Slate(self._round, arms)

    def _read_features(self, features: Any) -> Floats:
        """Check a round's features. Returns a row per arm, in the policy's own order of the arms."""
        name, last = self.spec.name, self._last_features
        if last is None and not self.spec.contextual:
            users = ", ".join(other for other, card in POLICIES.items() if card.contextual)
            raise BadInput(f"'{name}' takes no features that change from round to round. These do: {users}.")
        if last is None:
            raise BadInput(
                f"'features' of '{name}' stay as it was made. For features that change from round to round, make it with "
                "'dimension', the length of a row, and without 'features'."
            )
        table = feature_table(self.spec, features, self.n_arms)
        if table is None:
            raise BadInput(f"'{name}' was made with dimension = {last.shape[1]}: give it the 'features' of the round.")
        if table.shape[1] != last.shape[1]:
            raise BadInput(f"'features' of '{name}' must have {last.shape[1]} numbers a row. Got {table.shape[1]}.")
        return table[self._label]

    def _close(self, round: int) -> None:
        del self._open[round]
        self._open_features.pop(round, None)

    def _refuse_if_rounds_differ(self, what: str) -> None:
        if self._last_features is not None:
            raise BadInput(f"'{self.spec.name}' has no {what}. {ROUNDS_DIFFER}")

    @property
    def fingerprint(self) -> str:
        """Identity of the policy, drawn when it is made; pages of another policy are refused. Copies and ``restore`` keep it."""
        return self._fingerprint

    def tell(self, slate: Slate | Showing, outcome: Any) -> None:
        """Learn the outcome of a slate.

        Each slate is told once; a slate of one arm needs no telling, and telling it changes nothing.

        Parameters
        ----------
        slate
            What ``ask`` returned, also after a way through JSON as [round, [arms]]. Instead it may be what was shown for the
            slate: anything with a method ``told(answer)`` that returns a ``Told``, as in ``tell(impression, clicks)``. That must
            be of this policy, by its fingerprint, and of a slate that is open.
        outcome
            ``ranking``, ``best``, ``worst``, ``duels``, ``tie``, or a table: ``wins[a][b]`` of ``slate.arms[a]`` over
            ``slate.arms[b]``, weights of at most 10^9.

        Raises
        ------
        BadInput
            If the slate is not open, or the outcome does not fit it.
        """
        told = getattr(slate, "told", None)
        if told is not None:
            read = told(outcome)
            if read.policy != self._fingerprint:
                raise BadInput(f"This was shown for another policy: its fingerprint is {read.policy}, not {self._fingerprint}.")
            slate, outcome = Slate(read.round, read.arms), read.wins
        elif isinstance(slate, Mapping):
            raise BadInput("'tell' takes an impression that went through JSON as rankers.Impression(it). Got a plain dict.")
        with self._lock:
            try:
                round, arms = slate  # type: ignore[misc]  # what is no slate is refused below
                arms = tuple(arms) if isinstance(arms, list) else arms
                shown = self._open.get(round)
            except (TypeError, ValueError):
                raise BadInput(f"'tell' takes the Slate that 'ask' returned. Got {shortened(slate)}.") from None
            if shown is None or shown != arms:
                if self._was_single(round, arms):
                    return
                raise self._not_open(round, arms)
            wins = wins_matrix(outcome, arms)
            inner = self._inner
            places = np.array([inner[arm] for arm in arms])
            told_round = int(round)  # 1.0 finds round 1
            rows, last = self._open_features.get(told_round), self._last_features
            if rows is None or last is None:
                fits = self._tell(self.params, self._state, self._rng, told_round, places, wins, self._tally)
            else:
                args = (self.params, self._state, self._rng, told_round, places, wins, self._tally, rows, last[places])
                fits = self._tell_seeing(*args)
            if not fits:
                raise explain(wins, arms, MOST_WEIGHT)
            self._close(told_round)
            self._count_answer(wins)

    def _count_answer(self, wins: Floats) -> None:
        if self._answers is not None:
            self._answers += bool(np.count_nonzero(wins))  # quicker than any()

    def _was_single(self, round: Any, arms: Any) -> bool:
        """May this be a slate of one arm that was asked?"""
        past = isinstance(round, int) and 1 <= round <= self._round and round not in self._open
        return past and isinstance(arms, tuple) and len(arms) == 1

    def _not_open(self, round: Any, arms: Any) -> BadInput:
        if not isinstance(round, int) or not 1 <= round <= self._round:
            return BadInput(f"Round {shortened(round)} was never asked. So far there were {self._round}.")
        shown = self._open.get(round)
        what = f"showed {shown}, not {shortened(arms)}" if shown else "is told already, or had a single arm"
        if len(self._open) == self._most_open and round < next(iter(self._open)):
            what += f", or is forgotten: the last {self._most_open:,} slates that are not told stay open"
        return BadInput(f"Round {round} {what}.")

    def forget(self, slate: Slate) -> None:
        """Drop an open slate that will get no answer, to save memory.

        Parameters
        ----------
        slate
            What ``ask`` returned.
        """
        with self._lock:
            if not isinstance(slate, tuple) or len(slate) != 2 or not isinstance(slate[0], int):
                raise BadInput(f"'forget' takes the Slate that 'ask' returned. Got {shortened(slate)}.")
            if slate not in self._open.items():
                raise BadInput(f"Round {shortened(slate[0])} is not open with these arms.")
            self._close(slate[0])

    def observe(self, arms: Sequence[int], outcome: Outcome | Sequence[Sequence[float]] | Floats) -> None:
        """Learn the outcome of a comparison that this policy did not ask for.

        Its choices are then those of a policy that saw these wins too, in whatever order they came.

        Parameters
        ----------
        arms
            The arms that were compared.
        outcome
            As for ``tell``.

        Raises
        ------
        BadInput
            If the policy learns only from what it asked for, or the outcome does not fit the arms.
        """
        with self._lock:
            names = self._known(arms)
            wins = wins_matrix(outcome, names)
            self._observe_wins(names, wins, MOST_WEIGHT, self._tally)
            self._count_answer(wins)

    def _observe_wins(self, arms: tuple[int, ...], wins: Floats, most: float, tally: Counts) -> None:
        if self.spec.blind:
            raise BadInput(f"'{self.spec.name}' cannot use comparisons that it did not ask for: {self.spec.blind}.")
        places = np.array([self._inner[arm] for arm in arms])
        if not self._observe(self.params, self._state, self._rng, most, self._duel, places, wins, tally):
            raise explain(wins, arms, most)

    def _known(self, arms: Any) -> tuple[int, ...]:
        """Two or more different arms."""
        try:
            names = tuple(arms)
            different = set(names)
            good = 1 < len(names) == len(different) and different <= self._inner.keys()
        except TypeError:
            good = False
        if not good:
            raise BadInput(
                f"'arms' of 'observe' must be two or more different arms from 0 to {self.n_arms - 1}. Got {shortened(arms)}."
            )
        return names

    @property
    def open(self) -> tuple[Slate, ...]:
        """Slates that have no answer yet."""
        with self._lock:
            return tuple(Slate(round, arms) for round, arms in self._open.items())

    @property
    def round(self) -> int:
        """Rounds asked so far."""
        return self._round

    def recommend(self, features: Any = None) -> int:
        """Name the arm that the policy takes for the best so far.

        Parameters
        ----------
        features
            For a policy whose features change from round to round: a row of numbers per arm, of the round that it is asked
            about. Nothing is learned from them.

        Returns
        -------
        int
            The arm.

        Raises
        ------
        BadInput
            If the features do not fit, or are missing.
        """
        with self._lock:
            last = self._last_features
            arm: int
            if features is None and last is None:
                arm = self._recommend(self.params, self._state)
            else:
                arm = self._recommend_seeing(self.params, self._state, self._arms, self._read_features(features), last)
            if self.spec.watched:
                refuse_arm(self.spec, arm, self.n_arms)
            return self._label[arm]

    @property
    def tally(self) -> Tally:
        """Count the answers so far, for ``verdict`` and ``md.forecast``.

        Returns
        -------
        Tally
            The counts, in your numbering of the arms.
        """
        self._refuse_if_rounds_differ("tally, and so no verdict and no standings")
        order = [self._inner[arm] for arm in range(self.n_arms)]
        with self._lock:
            above, ties, shares = (table[order] for table in self._tally)
            answers = self._answers
        D, T = above[:, order], ties[:, order]
        judged = (D + D.T + T).max(axis=1)  # a tally that it started from says nothing of slates
        shown = np.ceil(np.maximum(shares[:, 1], judged))
        known = None if answers is None else max(answers, int(shown.max()))
        return Tally.of(D, T, answers=known, showings=shown)

    def verdict(self, *, alpha: float = 0.05, margin: float = 0.0, names: Sequence[str] | None = None) -> Verdict:
        """Judge whether it is certain which arm is best. Ask at any time, as often as you like.

        Whatever the policy chose to show, the verdict errs with a chance of at most ``alpha`` over all times together:
        ``md.verdict`` says what it means and why. It counts answers, so it speaks of the raters who gave them.

        Parameters
        ----------
        alpha
            The largest chance of an error.
        margin
            With 0.05, an option is a winner if no other is preferred to it in more than 55 % of the answers, ties counting half,
            so that equal leaders can be settled. It may be chosen after looking.
        names
            The arms' names, for the sentence.

        Returns
        -------
        Verdict
            Print it: it is a sentence.
        """
        return verdict(self.tally, alpha=alpha, margin=margin, names=names)

    def standings(self, *, alpha: float = 0.05, margin: float = 0.0, names: Sequence[str] | None = None) -> Standings:
        """Order all arms by strength, and say how sure that order is. Ask at any time, as often as you like.

        ``md.standings`` says what is meant, and when it holds. The policy keeps counts: with slates above two, the variances are
        raised as if judges were Plackett-Luce. To have them measured, keep the answers and give ``md.standings`` these.

        Parameters
        ----------
        alpha
            The largest chance that an interval of a strength misses at any time.
        margin
            Of the verdict.
        names
            The arms' names.

        Returns
        -------
        Standings
            Print it: sentences and a table. A notebook shows it.
        """
        seats = max(2, min(self.n_arms, getattr(self.params, "slate_size", 2)))
        return standings(self.tally, alpha=alpha, margin=margin, names=names, slate_size=seats)

    def snapshot(self) -> dict[str, Any]:
        """Save the policy as plain JSON, from which ``restore`` continues bit for bit.

        Returns
        -------
        dict
            Numbers, words, arrays as base64 text, null for scratch.
        """
        if not (isinstance(self._state, tuple) and all(hasattr(leaf, "dtype") for leaf in leaves(self._state))):
            raise BadInput(f"'{self.spec.name}' cannot be saved: its State must be a NamedTuple of arrays.")
        with self._lock:
            saved = {
                "format": FORMAT,
                "policy": self.spec.name,
                "fingerprint": self._fingerprint,
                "params": describe(self.params),
                "n_arms": self.n_arms,
                "round": self._round,
                "labels": list(self._label),
                "rng": [int(word) for word in self._rng],
                "open": [[round, list(arms)] for round, arms in self._open.items()],
                "tally": [pack(array) for array in self._tally],
                "answers": self._answers,
                "state": [
                    None if spare else pack(leaf) for leaf, spare in zip(leaves(self._state), self._scratch(), strict=True)
                ],
            }
            if self._last_features is not None:
                rows = [pack(self._open_features[round]) for round in self._open]
                saved["features"] = {"last": pack(self._last_features), "open": rows}
            return saved

    def _scratch(self) -> list[bool]:
        """Of each array of its State, whether it is scratch. Asked once: it is the same for every State of these Params."""
        if self._spare is None:
            self._spare = is_scratch(self.params, self._state, self.n_arms, self._round)
        return self._spare

    def _start_from(self, wins: Floats, round: int | None) -> None:
        """Begin with wins that were seen before, as after ``round`` rounds."""
        self._observe_wins(tuple(range(self.n_arms)), wins, MOST_WINS, no_answers(0))
        self._tally.above[...] = wins[np.ix_(self._label, self._label)]  # many answers, and a tie is half a win each way
        self._round = round if round is not None else min(math.ceil(wins.sum()), MOST_ROUNDS)


def _fingerprint(*parts: Any) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:FINGERPRINT]


def make(
    name: str | PolicySpec,
    *,
    n_arms: int,
    slate_size: int = 2,
    seed: int | None = None,
    horizon: int | None = None,
    features: Any = None,
    tally: Any = None,
    round: int | None = None,
    **params: Any,
) -> Policy:
    """Make a policy by its name, to ask and tell.

    Parameters
    ----------
    name
        A name that ``multiduel policies`` lists; ``"my_module:SPEC"`` or ``"path/to/file.py:SPEC"`` for a plug-in policy; or a
        ``PolicySpec``.
    n_arms
        How many arms there are.
    slate_size
        How many arms a slate may hold.
    seed
        Of the policy's random numbers; without one, they differ from call to call.
    horizon
        For policies that must know the number of rounds in advance.
    features
        For policies that use them: a row of numbers per arm. Features that change from round to round are given to ``ask``
        instead, and here the ``dimension``, the length of a row.
    tally
        Wins that were seen before, to start from: ``tally[i][j]`` of arm i over arm j, at most 10^15 each. Policies that learn
        only from what they asked for refuse it.
    round
        After how many rounds the tally was seen: by default as many as there were duels. (Bounds that grow with the round would
        be far too sure of themselves in round 1.)
    **params
        Parameters of the policy, which ``multiduel policies NAME`` lists. ``closing=True`` lets challengers take over where the
        policy has nothing left to compare and there is no winner yet (see ``Policy.verdict``).

    Returns
    -------
    Policy
        To ask and tell.

    Raises
    ------
    BadInput
        If there is no such policy, or an argument cannot be used as given.

    Examples
    --------
    >>> make("uniform", n_arms=5, slate_size=3, seed=0)
    Policy('uniform', n_arms=5, round=0)
    """
    spec = find(name, "typed")
    name = spec.name
    whole("n_arms", n_arms, 1, MOST_ARMS, of=name)
    whole("slate_size", slate_size, 2, of=name)
    if seed is not None:
        seed = whole("seed", seed, 0, MOST_SEED, of=name)
    if round is not None:
        whole("round", round, 0, MOST_ROUNDS, of=name)
        if tally is None and round > 0:
            raise BadInput(f"'round' of '{name}' says how many rounds a tally took. Give it 'tally' too.")
    K = int(n_arms)
    table = feature_table(spec, features, K)
    words = params if table is None else with_dimension(spec, params, table.shape[1], "'features'")
    chosen = resolve(spec, n_arms=K, slate_size=int(slate_size), horizon=horizon, words=words)
    policy = fresh(spec, chosen, K, np.random.SeedSequence(seed), table)
    if tally is not None:
        policy._start_from(matrix_of(tally, K, f"'tally' of '{name}'"), None if round is None else int(round))
    return policy


def fresh(
    spec: PolicySpec,
    params: Any,
    n_arms: int,
    seed: np.random.SeedSequence,
    features: Floats | None = None,
    labels: Iterable[int] | None = None,
) -> Policy:
    """Make a policy that has seen nothing yet: stream, State and labels (unless given) follow from the seed."""
    drawn = streams(seed, n_arms)
    state = init(params, n_arms, drawn.policy)
    if features is not None:
        fix_features(params, state, features[drawn.labels])
    fingerprint = secrets.token_hex(FINGERPRINT // 2)  # drawn apart from the seed: two with one seed are not one policy
    chosen = drawn.labels if labels is None else labels
    last = None
    if features is None and spec.contextual and dimension_of(params) > 0:  # every round will bring its own
        refuse_closing(spec, params)
        last = np.zeros((n_arms, dimension_of(params)))
    return Policy(spec, params, state=state, labels=chosen, rng=drawn.policy, fingerprint=fingerprint, last_features=last)


def restore(saved: dict[str, Any]) -> Policy:
    """Restore the policy that ``snapshot`` saved.

    A snapshot is data: it runs no code. That of a plug-in policy is restored where the policy is registered already, by
    ``multiduel.register`` or because ``make`` or ``simulate`` was given its address.

    Parameters
    ----------
    saved
        What ``Policy.snapshot`` returned.

    Returns
    -------
    Policy
        It continues bit for bit.

    Raises
    ------
    BadInput
        If it is not a whole snapshot, or its policy is not registered.

    Examples
    --------
    >>> policy = make("uniform", n_arms=5, seed=0)
    >>> restore(policy.snapshot()).ask() == policy.ask()
    True
    """
    if part(saved, "format", str) != FORMAT:
        raise BadInput(f"A snapshot of format '{FORMAT}' is needed. Got {shortened(saved['format'])}.")
    spec = find(part(saved, "policy", str))
    n_arms = number(part(saved, "n_arms", int), 1, MOST_ARMS, "n_arms")
    round = number(part(saved, "round", int), 0, MOST_ROUNDS, "round")
    labels, rng = read_labels(saved, n_arms), read_rng(saved)
    words = dict(part(saved, "params", dict))
    size = words.pop("slate_size", 2)
    if not all(isinstance(word, str) for word in words):
        raise refuse("a parameter has no name")
    params = resolve(spec, n_arms=n_arms, slate_size=max(2, number(size, 1, MOST_ARMS, "slate_size")), words=words)
    state, tally = init(params, n_arms, rng.copy()), no_answers(n_arms)  # whatever it draws is overwritten
    scratch = is_scratch(params, state, n_arms, 0)
    unpack_all(part(saved, "state", list), list(zip(leaves(state), scratch, strict=True)), "state")
    unpack_all(part(saved, "tally", list), [(array, False) for array in tally], "tally")
    check_answers(tally)
    check_state(spec.name, params, state, n_arms, round)
    open = dict(read_open(saved, n_arms, seats_of(spec, params, n_arms), round))
    last, rows = None, None
    if "features" in saved:
        if not spec.contextual or dimension_of(params) == 0:
            raise refuse(f"'{spec.name}' has no features that change from round to round")
        refuse_closing(spec, params)
        last, rows = read_features(saved, n_arms, dimension_of(params), open, MOST_FEATURE)
    # snapshots of early versions have no fingerprint
    fingerprint = read_fingerprint(saved) if "fingerprint" in saved else _fingerprint(spec.name, describe(params), n_arms, 0)
    answers = number(saved["answers"], 0, MOST_ROUNDS, "answers") if saved.get("answers") is not None else None
    return Policy(
        spec,
        params,
        state=state,
        labels=labels,
        rng=rng,
        fingerprint=fingerprint,
        tally=tally,
        round=round,
        open=open.items(),
        last_features=last,
        open_features=rows,
        answers=answers,
    )


def _unpickle(saved: dict[str, Any]) -> Policy:
    """Restore a pickled policy. A pickle is code already, so that its policy may be looked for in installed packages."""
    find(part(saved, "policy", str), "typed")
    return restore(saved)
