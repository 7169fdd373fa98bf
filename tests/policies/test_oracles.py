"""Every policy plays, round by round, what its naive oracle plays on the same stream."""

import numpy as np
import pytest

from multiduel.policies import ALL
from tests.naive.follow import follow, oracle

SIZES = {2: (2, 9), 3: (2, 3), 6: (2, 4), 12: (3, 8), 48: (8, 16)}  # K, and the m of multi-dueling policies
EXACT = [spec for spec in ALL if "naive-oracle" not in spec.exceptions and oracle(spec.name) is not None]
CASES = [
    pytest.param(spec.name, variant, id=" ".join([spec.name, *(f"{key}={value}" for key, value in variant.items())]))
    for spec in EXACT
    for variant in getattr(oracle(spec.name), "VARIANTS", [{}])
]


def matrix(K, seed, width):
    """Linear utilities in random order; `width` is the chance of the best against the worst, above 1/2."""
    utility = np.random.default_rng(seed).permutation(np.linspace(0.0, 1.0, K))
    return 0.5 + width * (utility[:, None] - utility[None, :])


def plays(name):
    """(K, m, seed, P): all sizes, several m where the policy can use them, clear and close races."""
    spec = next(spec for spec in ALL if spec.name == name)
    any_slate = spec.slate == "any"
    for K, several in SIZES.items():
        if spec.contextual and K > 6:
            continue  # K^2 d numbers a round are slow in plain Python; test_linear_duels.py has larger ones, compiled
        for m in several if any_slate else (2,):
            seed = 100 * K + m
            yield K, m, seed, matrix(K, seed, 0.48 if seed % 3 else 0.2)


@pytest.mark.parametrize(("name", "params"), CASES)
def test_generics_follow_the_oracle(name, params):
    for K, m, seed, P in plays(name):
        follow(name, params, K, m, seed, P, 100 if K == 48 else 150)


@pytest.mark.parametrize("name", ["multi-rucb", "multi-sbm-feedback"])  # the conformance suite does it for every policy
def test_compiled_entries_follow_the_oracle(name):
    for K, m, seed, P in plays(name):
        follow(name, {}, K, m, seed, P, 500 if K == 48 else 1000, compiled=True)


def test_every_case_of_the_multi_rucb_listing_is_followed():
    cycle = np.array([[0.5, 0.95, 0.05], [0.05, 0.5, 0.95], [0.95, 0.05, 0.5]])  # nobody beats all: C runs empty
    seen = set(follow("multi-rucb", {}, 3, 3, 1, cycle, 1000, compiled=True).cases)
    for seed, K, m, width in ((0, 6, 2, 0.48), (1, 6, 3, 0.48), (2, 12, 2, 0.48), (3, 12, 8, 0.3), (4, 5, 2, 0.05)):
        seen |= set(follow("multi-rucb", {}, K, m, seed, matrix(K, seed, width), 3000, compiled=True).cases)
    assert seen == {"none", "one", "few", "many", "many, B in", "many, B out"}


@pytest.mark.parametrize("params", [{}, {"machine": "kl-lucb"}, {"test": "sample"}, {"reset": False}, {"keep_last": True}])
def test_doubler_bai_identifies_while_followed(params):
    identified = 0
    for seed in range(4):
        K = 2 + seed % 2
        identified += follow(
            "doubler-bai", {"radius": "delta", **params}, K, 2, seed, matrix(K, seed, 0.48), 2000, compiled=True
        ).identified
    assert identified >= 4
