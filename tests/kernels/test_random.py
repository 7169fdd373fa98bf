"""The streams: distributions, and the same numbers compiled, interpreted and in the oracles' plain integers."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from multiduel.kernels import random
from multiduel.kernels.compiler.dispatch import compiled
from tests.naive.stream import NaiveStream

FAINT = 1e-4  # a p-value below this is a failure; seeds are fixed


def words(seed):
    return np.random.SeedSequence(seed).generate_state(4, np.uint64)


@pytest.fixture(scope="module")
def fast():
    """Compiled loops that fill an array, so that samples are large."""

    def uniforms(rng, out):
        for i in range(out.shape[0]):
            out[i] = random.uniform(rng)

    def belows(rng, n, out):
        for i in range(out.shape[0]):
            out[i] = random.below(n, rng)

    def normals(rng, out):
        for i in range(out.shape[0]):
            out[i] = random.normal(rng)

    def gammas(rng, a, out):
        for i in range(out.shape[0]):
            out[i] = random.gamma(a, rng)

    def betas(rng, a, b, out):
        for i in range(out.shape[0]):
            out[i] = random.beta(a, b, rng)

    def binomials(rng, n, p, out):
        for i in range(out.shape[0]):
            out[i] = random.binomial(n, p, rng)

    def chances(key, rounds, pairs, out):
        for i in range(rounds):
            start = random.place(key, i + 1)
            for j in range(pairs):
                out[i, j] = random.chance(start, j)

    def reseeded(key, rounds, pairs, rng, out):
        for i in range(rounds):
            start = random.place(key, i + 1)
            for j in range(pairs):
                random.reseed(start, j, rng)
                out[i, j] = random.uniform(rng)

    return {f.__name__: compiled(f) for f in (uniforms, belows, normals, gammas, betas, binomials, chances, reseeded)}


def test_uniform_is_uniform(fast):
    u = np.empty(200_000)
    fast["uniforms"](words(0), u)
    assert u.min() >= 0.0 and u.max() < 1.0
    assert stats.kstest(u, "uniform").pvalue > FAINT
    assert abs(u.mean() - 0.5) < 5 * math.sqrt(1 / 12 / u.size)
    assert abs(np.corrcoef(u[:-1], u[1:])[0, 1]) < 5 / math.sqrt(u.size)
    low_bits = (u * 2**53).astype(np.int64) & 255
    assert stats.chisquare(np.bincount(low_bits, minlength=256)).pvalue > FAINT


@pytest.mark.parametrize("n", [1, 2, 3, 10, 48])
def test_below_is_uniform(fast, n):
    k = np.empty(50_000, np.int64)
    fast["belows"](words(n), n, k)
    counts = np.bincount(k, minlength=n)
    assert counts.size == n
    assert n == 1 or stats.chisquare(counts).pvalue > FAINT


def test_normal(fast):
    x = np.empty(50_000)
    fast["normals"](words(5), x)
    assert stats.kstest(x, "norm").pvalue > FAINT


@pytest.mark.parametrize("a", [1.0, 1.5, 7.0, 250.0, 1e6])
def test_gamma(fast, a):
    x = np.empty(30_000)
    fast["gammas"](words(6), a, x)
    assert stats.kstest(x, stats.gamma(a).cdf).pvalue > FAINT


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (1.0, 5.0), (3.5, 1.0), (40.0, 2.0), (900.0, 1100.0)])
def test_beta(fast, a, b):
    x = np.empty(30_000)
    fast["betas"](words(7), a, b, x)
    assert stats.kstest(x, stats.beta(a, b).cdf).pvalue > FAINT


GAPS = [(1, 0.5), (2, 0.3), (10, 0.1), (10, 0.9), (23, 0.5), (1000, 0.01), (10**9, 5e-9)]
BTRS = [(24, 0.5), (25, 0.48), (40, 0.6), (100, 0.3), (100, 0.85), (1000, 0.5), (5000, 0.003), (10**6, 0.99997)]


@pytest.mark.parametrize(("n", "p"), GAPS + BTRS)
def test_binomial(fast, n, p):
    k = np.empty(40_000, np.int64)
    fast["binomials"](words(8), n, p, k)
    assert k.min() >= 0 and k.max() <= n
    law = stats.binom(n, p)
    low, high = int(law.ppf(2e-3)), int(law.ppf(1 - 2e-3))  # the tails beyond are one bin each
    edges = np.unique(np.linspace(low, high, min(high - low + 1, 60)).astype(np.int64))
    probability = np.diff(np.concatenate([[0.0], law.cdf(edges), [1.0]]))
    observed = np.bincount(np.searchsorted(edges, k), minlength=edges.size + 1)
    possible = probability > 1e-12
    assert observed[~possible].sum() == 0
    expected = probability[possible] / probability[possible].sum() * k.size
    assert stats.chisquare(observed[possible], expected).pvalue > FAINT


@pytest.mark.parametrize(("n", "p"), [(10**9, 0.5), (10**12, 0.3), (10**12, 0.8), (10**12, 1e-9)])
def test_binomial_of_huge_n_is_nearly_normal(fast, n, p):
    k = np.empty(20_000, np.int64)
    fast["binomials"](words(9), n, p, k)
    assert k.min() >= 0 and k.max() <= n
    z = (k - float(n) * p) / math.sqrt(float(n) * p * (1 - p))
    z = z + (np.random.default_rng(0).random(z.size) - 0.5) / math.sqrt(float(n) * p * (1 - p))  # continuity
    if n * p * (1 - p) > 1e6:
        assert stats.kstest(z, "norm").pvalue > FAINT
    assert abs(z.mean()) < 5 / math.sqrt(z.size)
    assert abs(z.var() - 1) < 5 * math.sqrt(2 / z.size)


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_binomial_of_a_sure_thing_draws_nothing(p):
    rng = words(1)
    assert random.binomial(1000, p, rng) == 1000 * p
    assert (rng == words(1)).all()
    assert random.binomial(0, 0.3, rng) == 0


def draws(uniform, below, normal, gamma, beta, binomial):
    """A bit of everything from one stream."""
    out = []
    for i in range(40):
        out += [uniform(), below(i + 1), normal(), gamma(1.0 + 0.7 * i), beta(1.0 + i, 2.5)]
        out += [binomial(i, 0.4), binomial(1000 * i, 0.77), binomial(10**12, 0.2), binomial(1, 0.5)]
    return [float(value) for value in out]


NAMES = ("uniform", "below", "normal", "gamma", "beta", "binomial")


def of_stream(functions, rng):
    return draws(*(lambda *args, f=f: f(*args, rng) for f in functions))


def test_compiled_equals_interpreted_equals_naive():
    plain, fast, naive = words(11), words(11), NaiveStream(words(11))
    expected = draws(*(getattr(naive, name) for name in NAMES))
    assert of_stream([getattr(random, name) for name in NAMES], plain) == expected
    assert of_stream([compiled(getattr(random, name)) for name in NAMES], fast) == expected
    assert plain.tolist() == fast.tolist() == naive.s


def test_jit_off_gives_the_same_numbers():
    code = (
        "import tests.kernels.test_random as here; "
        "print(here.of_stream([getattr(here.random, name) for name in here.NAMES], here.words(11))); "
        "print([here.random.chance(here.random.place(here.words(0)[0], t), j)"
        " for t in (1, 2, 10**12) for j in range(3)])"
    )
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    path = os.pathsep.join([here, os.path.join(here, "src"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path}
    printed = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=environment,
        cwd=here,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    naive = NaiveStream(words(11))
    assert printed[0] == repr(draws(*(getattr(naive, name) for name in NAMES)))
    place, chance = compiled(random.place), compiled(random.chance)
    assert printed[1] == repr([chance(np.uint64(place(words(0)[0], t)), j) for t in (1, 2, 10**12) for j in range(3)])


@pytest.mark.parametrize("kind", ["chances", "reseeded"])
def test_the_worlds_randomness_is_uniform_and_unrelated(fast, kind):
    rounds, pairs = 20_000, 8
    u = np.empty((rounds, pairs))
    scratch = () if kind == "chances" else (np.zeros(4, np.uint64),)
    fast[kind](words(12)[0], rounds, pairs, *scratch, u)
    assert stats.kstest(u.ravel(), "uniform").pvalue > FAINT
    for j in range(pairs):
        assert stats.kstest(u[:, j], "uniform").pvalue > FAINT
    bound = 5 / math.sqrt(rounds)
    neighbours = [np.corrcoef(u[:-lag, j], u[lag:, j])[0, 1] for lag in (1, 2) for j in range(pairs)]
    assert np.abs(neighbours).max() < bound
    across = np.corrcoef(u.T) - np.eye(pairs)
    assert np.abs(across).max() < bound
    diagonal = [np.corrcoef(u[:-1, j + 1], u[1:, j])[0, 1] for j in range(pairs - 1)]
    assert np.abs(diagonal).max() < bound
    assert np.unique(u).size == u.size  # 160,000 of 2^53: a repeat would be a pattern


def test_chance_and_reseed_of_one_place_differ_and_keys_differ():
    chance, place = random.chance, random.place
    one, other = (np.array([[chance(place(key, t), j) for j in range(3)] for t in range(1, 2000)]) for key in words(13)[:2])
    assert abs(np.corrcoef(one.ravel(), other.ravel())[0, 1]) < 5 / math.sqrt(one.size)
    rng = np.zeros(4, np.uint64)
    again = []
    for t in range(1, 2000):
        random.reseed(place(words(13)[0], t), 0, rng)
        again.append(random.uniform(rng))
    assert abs(np.corrcoef(one[:, 0], again)[0, 1]) < 5 / math.sqrt(len(again))


def test_stream_comes_from_its_seed_alone():
    first, again, other = (random.stream(np.random.SeedSequence(seed)) for seed in (3, 3, 4))
    assert first.dtype == np.uint64 and first.shape == (4,)
    assert (first == again).all() and (first != other).all()
