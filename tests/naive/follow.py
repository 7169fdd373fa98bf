"""Kernel and oracle side by side: the same stream, the same outcomes, the same slates."""

import importlib
import importlib.util

import numpy as np

from multiduel.engine.registry.registry import find, resolve
from multiduel.engine.session.rounds import ask_once, tell_once
from multiduel.kernels.compiler.dispatch import entry
from multiduel.kernels.contract import ask, init, see, tell
from multiduel.kernels.evidence import no_answers
from tests.naive.stream import NaiveStream


def oracle(name):
    """The module of a policy's oracle, found by the policy's name, or None if it has none."""
    module = f"tests.naive.{name.replace('+', '_plus').replace('-', '_')}"
    return importlib.import_module(module) if importlib.util.find_spec(module) else None


def follow(name, params, K, m, seed, P, rounds, *, compiled=False):
    """Drive a policy and its oracle for `rounds` rounds; fail at the first difference. Returns the oracle.

    `params` are the words and numbers of `make`; P[i, j] is the chance that i beats j. With `compiled` the policy is
    called through ask_once and tell_once as `make` does, else through the generics' table. With a `dimension` among the
    params, every round has features of its own, and P is the feature vector that decides the duels.
    """
    spec = find(name)
    words = np.random.SeedSequence(seed).generate_state(4, np.uint64)
    world = np.random.default_rng(seed)
    if "horizon" in spec.params._fields:
        params = {"horizon": rounds, **params}
    chosen = resolve(spec, n_arms=K, slate_size=m, words=params)
    naive_rng, rng = NaiveStream(words), words.copy()
    state = init(chosen, K, rng)
    naive = oracle(name).Naive(K, min(m, K), naive_rng, **params)
    slate, tally = np.zeros(K, np.int64), no_answers(K)
    asking, telling = entry(ask_once, chosen, f"{name} (ask)"), entry(tell_once, chosen, f"{name} (tell)")
    for t in range(1, rounds + 1):
        if params.get("dimension"):
            rows = world.normal(size=(K, params["dimension"]))
            see(chosen, state, np.arange(K), rows)
            naive.see(rows)
            P_t = 1.0 / (1.0 + np.exp(rows @ P - (rows @ P)[:, None]))
        else:
            P_t = P
        n = asking.call(chosen, state, rng, t, slate) if compiled else ask(chosen, state, rng, t, 1, slate)[0]
        got, expected = slate[:n].tolist(), [int(arm) for arm in naive.ask(t)]
        # Left and right are roles of a pair; a larger slate is a set.
        same = got == expected if spec.slate == "two" else sorted(got) == sorted(expected)
        assert same, f"{name} {params} K={K} m={m} seed={seed}, round {t}: played {got}, the oracle {expected}"
        if n > 1:
            wins = np.zeros((n, n))
            for a in range(n):
                for b in range(a):
                    wins[a, b] = float(world.random() < P_t[got[a], got[b]])
                    wins[b, a] = 1.0 - wins[a, b]
            if compiled:
                telling.call(chosen, state, rng, t, slate[:n].copy(), wins, tally)
            else:
                tell(chosen, state, rng, t, slate[:n].copy(), wins)
            places = [got.index(arm) for arm in expected]
            naive.tell(t, expected, wins[np.ix_(places, places)])
        drawn = [int(word) for word in rng]
        assert drawn == naive_rng.s, f"{name} {params} K={K} m={m} seed={seed}, round {t}: other draws than the oracle's"
    return naive
