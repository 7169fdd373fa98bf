"""What elimination tournaments share: verdicts of pairs, and picks with ties."""

import math

import numpy as np

from multiduel.kernels.elimination import duels_to_verdict, pick, verdict
from tests.naive.stream import NaiveStream


def test_verdict_is_the_confidence_interval():
    for n in (1.0, 7.0, 40.0, 200.0):
        for won in np.linspace(0.0, n, 41):
            for level in (0.1, 1.0, 4.0):
                phat, c = won / n, math.sqrt(level / n)
                expected = 1 if phat - c > 0.5 + 1e-12 else -1 if phat + c < 0.5 - 1e-12 else 0
                close = abs(abs(phat - 0.5) - c) < 1e-9
                assert close or verdict(2.0 * won - n, n, level) == expected


def test_no_verdict_falls_before_the_duels_it_takes():
    for n, net, level in ((0.0, 0.0, 3.0), (10.0, 2.0, 3.0), (100.0, -30.0, 3.0), (5000.0, 11.0, 20.0)):
        rounds = duels_to_verdict(net, n, level)
        assert rounds >= 1
        for k in range(1, rounds):
            assert verdict(net + k, n + k, level) == 0
            assert verdict(net - k, n + k, level) == 0


def test_pick_breaks_ties_at_random_and_draws_only_then():
    values, arms = np.array([3.0, 1.0, 3.0, 9.0, 1.0]), np.array([0, 1, 2, 4, 0])
    words = np.random.SeedSequence(1).generate_state(4, np.uint64)
    seen = [pick(values, arms, 4, 1.0, words) for _ in range(200)]
    assert set(seen) == {0, 2}
    before = words.copy()
    assert pick(values, arms, 2, 1.0, words) == 0
    assert (words == before).all()
    assert {pick(values, arms, 4, -1.0, words) for _ in range(100)} == {1, 4}
    assert NaiveStream(words).argmax([0.0, 1.0]) == 1
