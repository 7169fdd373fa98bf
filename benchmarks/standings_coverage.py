"""How often do the intervals of the standings miss? Experiments with known strengths, each looked at 20 times.

    python benchmarks/standings_coverage.py                # all settings, 1,000 experiments each: about half an hour of one core
    python benchmarks/standings_coverage.py --experiments 50 --write coverage.json

An experiment is missed if any interval of any option misses at any look. With 59 options, 500 experiments are played. The file is
written after every setting, and settings that it holds already are kept; ``benchmarks/standings_page.py`` makes the tables of
docs/standings-numbers.md from it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from standings_trials import LOOKS, Setting, outcome

from multiduel.files import write_whole

HERE = Path(__file__).parent / "standings_coverage.json"
ANSWERS = {5: 1_500, 10: 3_000, 20: 4_000, 59: 6_000}
MOST = {59: 500}  # experiments: these take long
ALPHA = 0.05


@contextlib.contextmanager
def plain_mean() -> Iterator[None]:
    """Strengths relative to the plain mean of all options, as a contrast."""
    import sys

    module = sys.modules["multiduel.inference.standings"]
    weighted = module.centring
    module.centring = lambda group, compared: weighted(group, np.ones(len(compared)))
    try:
        yield
    finally:
        module.centring = weighted


def settings() -> Iterator[tuple[str, Setting]]:
    slates, strengths = ("uniform", "challengers", "due-duel"), ("alike", "spread", "far")
    for m, kind, how in (
        *((4, "challengers", "spread"), (4, "challengers", "alike"), (2, "challengers", "spread"), (2, "challengers", "alike")),
        (4, "uniform", "alike"),
    ):
        yield "first", Setting(10, m, kind, how, ANSWERS[10])
    for K in (5, 20, 59):
        for m in (2, 4, 8):
            for kind in slates:
                for how in strengths:
                    yield "all", Setting(K, m, kind, how, ANSWERS[K])
    for K in (5, 20):
        for kind in ("uniform", "challengers"):
            for how in ("alike", "spread"):
                yield "ties", Setting(K, 2, kind, how, ANSWERS[K], ties=True)
            yield "ties", Setting(K, 4, kind, "alike", ANSWERS[K], ties=True)
    for K, m, kind in ((5, 2, "uniform"), (5, 4, "challengers"), (20, 4, "uniform"), (20, 4, "challengers"), (20, 2, "due-duel")):
        for raters in ("sample", "panel"):
            yield "raters", Setting(K, m, kind, "alike", ANSWERS[K], raters=raters, by="rater")
    for K, m, kind in ((10, 2, "challengers"), (20, 2, "due-duel")):
        yield "contrast: zero at the plain mean", Setting(K, m, kind, "alike", ANSWERS[K])
    for K, m, kind in ((5, 2, "uniform"), (20, 4, "challengers")):
        yield "contrast: raters with tastes, counted by answer", Setting(K, m, kind, "alike", ANSWERS[K], raters="sample")


def measured(part: str, setting: Setting, experiments: int) -> dict[str, object]:
    started = time.process_time()
    with plain_mean() if "plain mean" in part else contextlib.nullcontext():
        found = [outcome(setting, seed, ALPHA) for seed in range(experiments)]
    shares = {name: float(np.nanmean([one[name] for one in found])) for name in found[0]}
    cpu = round(time.process_time() - started, 1)
    return {
        "part": part,
        **setting._asdict(),
        "experiments": experiments,
        **{k: round(v, 4) for k, v in shares.items()},
        "cpu": cpu,
    }


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--experiments", type=int, default=1000)
    reader.add_argument("--write", type=Path, default=HERE)
    given = reader.parse_args()
    kept = json.loads(given.write.read_text())["settings"] if given.write.exists() else []
    done = {(one["part"], *(one[name] for name in Setting._fields)) for one in kept}
    for part, setting in settings():
        if (part, *setting) in done:
            continue
        kept.append(measured(part, setting, min(given.experiments, MOST.get(setting.K, 1000))))
        one = kept[-1]
        print(f"{part}: {setting} missed {100 * one['missed']:.1f} %, {one['cpu']} s", flush=True)
        write_whole(given.write, json.dumps({"alpha": ALPHA, "looks": LOOKS, "settings": kept}, indent=1) + "\n")


if __name__ == "__main__":
    main()
