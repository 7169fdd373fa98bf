"""Where randomness comes from: one seed, and from it, per run, three independent streams."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from multiduel.arrays import Ints, Stream


class Streams(NamedTuple):
    labels: Ints  # labels[k] is the user's number of the policy's arm k, so that no tie-break can leak the answer
    policy: Stream
    world: np.uint64  # key of the world's randomness


def streams(seed: np.random.SeedSequence, n_arms: int) -> Streams:
    """A run's streams: independent words of its seed, the same whenever asked."""
    words = seed.generate_state(5 + n_arms, np.uint64).astype(np.uint64)
    return Streams(words[5:].argsort(), words[:4], words[4])


def run_seeds(seed: int, runs: int, first: int = 0) -> list[np.random.SeedSequence]:
    """One seed per run from the first on; run r has the same for any number of runs, and for every policy."""
    return [np.random.SeedSequence(seed, spawn_key=(run,)) for run in range(first, first + runs)]
