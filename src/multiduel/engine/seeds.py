"""Where randomness comes from: one seed, and from it, per run, three independent streams."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from multiduel.kernels.arrays import Ints, Stream
from multiduel.kernels.random import stream


class Streams(NamedTuple):
    labels: Ints  # labels[k] is the user's number of the policy's arm k, so that no tie-break can leak the answer
    policy: Stream
    world: np.uint64  # key of the world's randomness


def streams(seed: np.random.SeedSequence, n_arms: int) -> Streams:
    """A run's streams: the same whenever asked (NumPy's own ``spawn`` would give others the second time)."""
    labels, policy, world = (np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, k)) for k in range(3))
    return Streams(np.random.default_rng(labels).permutation(n_arms), stream(policy), world.generate_state(1, np.uint64)[0])


def run_seeds(seed: int, runs: int) -> list[np.random.SeedSequence]:
    """One seed per run; run r has the same for any number of runs, and for every policy."""
    return np.random.SeedSequence(seed).spawn(runs)
