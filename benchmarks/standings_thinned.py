"""Do the intervals of the standings hold where an arena keeps a thinned sample of its answers? Experiments with known strengths.

    python benchmarks/standings_thinned.py [EXPERIMENTS]        into benchmarks/standings_thinned.json, after every setting

As few answers are kept as ever are, ``LEAST_KEPT`` an option, which arenas of 250 options and more come to. The same answers
are counted thinned and whole, and looked at ``LOOKS`` times; an experiment is missed if any interval of any option misses at any
look.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from standings_trials import Setting, experiment, known_after

from multiduel.files import write_whole
from multiduel.inference import RunningTally, running_tally
from multiduel.inference.standings import Known, ahead_by_strength, estimate, read_running

HERE = Path(__file__).parent / "standings_thinned.json"
LOOKS, FIRST_LOOK = 60, 100
ALPHA = 0.05
SETTINGS = (
    Setting(10, 4, "challengers", "alike", 8_000),
    Setting(10, 4, "due-duel", "alike", 8_000),
    Setting(10, 4, "challengers", "spread", 8_000),
)


@contextlib.contextmanager
def fewest_kept() -> Iterator[None]:
    """Keep ``LEAST_KEPT`` answers an option, however few options there are."""
    before, running_tally.KEPT = running_tally.KEPT, 0
    try:
        yield
    finally:
        running_tally.KEPT = before


def outcome(setting: Setting, seed: int) -> dict[str, float]:
    """Whether an interval, or an order, was wrong at any look, from thinned answers and from all; at the end, how wide and how
    many were kept."""
    votes, theta = experiment(setting, seed)
    first, second, won, starts, _ = votes
    tally, done = RunningTally(setting.K), 0
    found: dict[str, Any] = dict.fromkeys(("missed", "wrong", "missed_whole", "wrong_whole"), False)
    for look in np.unique(np.geomspace(FIRST_LOOK, len(starts) - 1, LOOKS).round().astype(int)).tolist():
        for n in range(done, look):
            add(tally, n + 1, first[starts[n] : starts[n + 1]], second[starts[n] : starts[n + 1]], won[starts[n] : starts[n + 1]])
        done = look
        thin = judge(found, "", read_running(tally, None, "answer"), theta)
        whole = judge(found, "_whole", known_after(setting, votes, look), theta)
    kept = tally.kept().weight
    return found | {"width": float(np.nanmean(thin / whole)), "kept": len(kept) / tally.answers, "most": float(kept.max())}


def add(tally: RunningTally, number: int, first: Any, second: Any, won: Any) -> None:
    n = round((1 + (1 + 8 * len(first)) ** 0.5) / 2)
    shown, places = (int(first[0]), *second[: n - 1].tolist()), [(a, b) for a in range(n) for b in range(a + 1, n)]
    tally.add(number, shown, [(a, b, round(2 * y - 1)) for (a, b), y in zip(places, won.tolist(), strict=True)])


def judge(found: dict[str, Any], which: str, known: Known, theta: Any) -> Any:
    """Note what was wrong. Returns how wide the intervals are."""
    K = len(theta)
    made = estimate(known, ALPHA / K)
    stated = ~np.isnan(made.wide)
    found[f"missed{which}"] |= bool((np.abs(made.theta - made.centre @ theta)[stated] > made.wide[stated]).any())
    ahead = ahead_by_strength(made, ALPHA / (K * (K - 1)))
    found[f"wrong{which}"] |= bool((ahead & (theta[:, None] <= theta[None, :])).any())
    return made.wide


def main() -> None:
    experiments, rows = int(sys.argv[1]) if sys.argv[1:] else 200, []
    for setting in SETTINGS:
        started = time.process_time()
        with fewest_kept():
            found = [outcome(setting, seed) for seed in range(experiments)]
        means = {name: round(float(np.mean([one[name] for one in found])), 4) for name in found[0]}
        spread = {"width_least": min(one["width"] for one in found), "width_most": max(one["width"] for one in found)}
        spread = {name: round(value, 4) for name, value in spread.items()}
        rows.append({**setting._asdict(), "experiments": experiments, **means, **spread})
        print(rows[-1], round(time.process_time() - started, 1), flush=True)
        told = {"alpha": ALPHA, "looks": LOOKS, "kept": running_tally.LEAST_KEPT, "settings": rows}
        write_whole(HERE, json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
