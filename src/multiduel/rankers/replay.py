"""What another policy would have shown, from the log of one: a queue of pages for every set of rankers.

Estimator  Queue-based evaluation: Mandel, Liu, Brunskill, Popovic. Offline Evaluation of Online Reinforcement Learning
           Algorithms. AAAI 2016. (Li, Chu, Langford, Wang, WSDM 2011, who reject pages instead, need slates logged at random.)

    the pages of the log wait in a queue per set of rankers, in their order
    the policy asks for a slate: the next page of that set answers, and is told
    when a queue is empty, the replay ends

While it lasts, the policy sees what it would have seen, if users do not change over time and a page's clicks hang on nothing
but its rankers and chance: then which page of a set comes next does not matter. Limits, which the result states: it ends where
the log has no more pages of a set, and that happens earlier to policies that like what the log has little of; pages of other
sets, larger ones too, say nothing of this one; and how lists are mixed stays as it was logged.
"""

from __future__ import annotations

import os
from collections import defaultdict, deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from multiduel.engine.session.policy import Policy, make
from multiduel.inference import Verdict
from multiduel.inputs import BadInput, whole
from multiduel.rankers.judgements import read_judgements
from multiduel.rankers.log import CLICK, Log

LIMITS = (
    "The replay holds for users who do not change over time. Pages are mixed as they were logged. The replay ends where the log "
    "has no more pages of exactly the rankers that the policy asks for."
)


@dataclass(frozen=True, eq=False)
class Replay:
    """The result of ``replay``: how much of the log the policy could use, and its verdict.

    >>> import tempfile, pathlib
    >>> from multiduel import rankers
    >>> log = rankers.Log(pathlib.Path(tempfile.mkdtemp()) / "log.jsonl")
    >>> for user in "abc":
    ...     page = rankers.multileave([["x", "y"], ["y", "x"]], names=["old", "new"], seed=1)
    ...     log.clicked(log.shown(page, user=user), "x")
    >>> from multiduel.rankers.replay import replay
    >>> replay(log, "uniform").rounds
    3
    """

    policy: Policy
    names: tuple[str, ...]
    logged: int  # pages in the log
    rounds: int  # pages that the policy would have shown, as far as the log goes
    alone: int  # of them rounds in which it showed one ranker, and nothing was to be learnt
    ended: tuple[str, ...]  # the rankers that it asked for when the log had no more pages of them; empty if it did not end so
    used: int  # pages of exactly these rankers that the log had
    shown: Any  # f8[K]  share of seats per ranker
    clicks: float  # per page that was compared
    logged_clicks: float  # per page of the log

    @property
    def verdict(self) -> Verdict:
        """Verdict of the replayed policy."""
        return self.policy.verdict(names=self.names)

    def words(self) -> list[str]:
        """Describe the replay in lines of text."""
        shares = ", ".join(
            f"{self.names[arm]} {100 * self.shown[arm]:.0f} %" for arm in np.argsort(-self.shown) if self.shown[arm] > 0
        )
        end = "Then it was stopped."
        if self.ended:
            pages = f"all {self.used:,} pages" if self.used else "no page"
            left = f"{pages} of exactly these rankers {'were used' if self.used else 'is in the log'}"
            end = f"{'Then it' if self.rounds else 'It'} asked for {' + '.join(self.ended)}: {left}."
        found = [
            f"It would have shown {shares}.",
            f"Clicks per compared page: {self.clicks:.3f}; in the log {self.logged_clicks:.3f}.",
            f"It bets on '{self.names[self.policy.recommend()]}'. {self.verdict}",
        ]
        return [
            f"{self.policy.spec.name}: {self.rounds:,} rounds could be followed through {self.logged:,} pages. {end}",
            *(found if self.rounds else ()),
            f"Queue-based evaluation (Mandel et al. 2016). {LIMITS}",
        ]


def replay(
    log: Log | str | os.PathLike[str],
    policy: str,
    *,
    slate_size: int = 2,
    seed: int = 0,
    rounds: int | None = None,
    bad: str = "refuse",
    **params: Any,
) -> Replay:
    """Play ``policy`` against the pages of a log, as far as they go: at most as many ``rounds`` as there are pages."""
    if rounds is not None:
        whole("rounds", rounds, 1, of="replay")
    source = log if isinstance(log, Log) else Log(log)
    found = read_judgements(source, bad=bad)
    K, logged, all_clicks = len(found.rankers), found.pages, int(found.clicks.sum())
    if K < 2:
        raise BadInput(f"'{source.path}' must hold pages of at least two rankers. Got {K}.")
    queues: dict[frozenset[int], deque[int]] = defaultdict(deque)  # numbers of pages
    arms_of, starts = found.arms.tolist(), found.arm_start.tolist()
    for page in range(logged):
        queues[frozenset(arms_of[starts[page] : starts[page + 1]])].append(page)
    sizes = {those: len(queue) for those, queue in queues.items()}
    rows, won = found.pair_start, found.won[CLICK]
    player = make(policy, n_arms=K, slate_size=slate_size, seed=seed, **params)
    seats, played, alone, told_clicks, used = np.zeros(K), 0, 0, 0, 0
    ended: tuple[str, ...] = ()
    while played < (logged if rounds is None else rounds):
        slate = player.ask()
        if len(slate.arms) > 1:
            queue = queues.get(frozenset(slate.arms))
            if not queue:
                used = sizes.get(frozenset(slate.arms), 0)
                ended = tuple(found.rankers.names[arm] for arm in slate.arms)
                break
            page = queue.popleft()
            arms = arms_of[starts[page] : starts[page + 1]]
            wins = _wins(won[rows[page] : rows[page + 1]], len(arms), drop=bool(found.drop[page]))
            place = {arm: at for at, arm in enumerate(arms)}
            order = [place[arm] for arm in slate.arms]
            player.tell(slate, wins[np.ix_(order, order)])
            told_clicks += int(found.clicks[page])
        else:
            alone += 1
        seats[list(slate.arms)] += 1.0 / len(slate.arms)
        played += 1
    return Replay(
        policy=player,
        names=tuple(found.rankers.names),
        logged=logged,
        rounds=played,
        alone=alone,
        ended=ended,
        used=used,
        shown=seats / max(1, played),
        clicks=told_clicks / max(1, played - alone),
        logged_clicks=all_clicks / max(1, logged),
    )


def _wins(parts: Any, n: int, *, drop: bool) -> Any:
    """wins[a, b] of a page, from the parts that the first of each pair won."""
    wins = np.zeros((n, n))
    a, b = np.triu_indices(n, 1)
    wins[a, b], wins[b, a] = parts, 1.0 - parts
    return np.where(wins == wins.T, 0.0, wins) if drop else wins
