"""Worlds and lists that tests of several policies share."""

import numpy as np

import multiduel as md
from multiduel.engine.registry.registry import find, resolve
from multiduel.kernels.contract import init
from multiduel.kernels.random import stream

RUCB_AND_RMED = ("rucb", "merge-rucb", "rmed1", "rmed2", "rmed2fh", "cw-rmed", "ecw-rmed", "ws-w", "ws-s")


STREAM = np.random.SeedSequence(3).generate_state(4, np.uint64)


def clear_order(K):
    """Arm i beats every later arm with 0.8."""
    return np.where(np.arange(K)[:, None] < np.arange(K), 0.8, 0.2) + np.diag([0.3] * K)


def shuffled(K, seed, width=0.48):
    utility = np.random.default_rng(seed).permutation(np.linspace(0.0, 1.0, K))
    return 0.5 + width * (utility[:, None] - utility[None, :])


def tournament(K, seed, strength=0.4):
    """A random tournament: as a rule without a Condorcet winner."""
    signs = np.triu(np.where(np.random.default_rng(seed).random((K, K)) < 0.5, -1.0, 1.0), 1)
    return 0.5 + strength * (signs - signs.T)


LINEAR = md.synthetic(6).matrix


ALPHA = 1e-4  # fixed seeds: a failure is a fault


def even_order(K):
    utility = np.linspace(0.9, 0.1, K)
    return 0.5 + 0.5 * (utility[:, None] - utility[None, :])


def started(name, K, m, seed=0, **params):
    chosen = resolve(find(name), n_arms=K, slate_size=m, words=params)
    rng = stream(np.random.SeedSequence(seed))
    return chosen, init(chosen, K, rng), rng
