"""What comes through the front door and is too large, too many, of the wrong kind, or from several threads at once."""

import copy
import pickle
import threading

import numpy as np
import pytest

import multiduel as md
from multiduel.engine.session import policy as engine_policy
from multiduel.policies import ALL


@pytest.mark.parametrize("name", [spec.name for spec in ALL])
def test_the_heaviest_weights_do_no_harm(name):
    """As often as one likes: slates stay slates. Beyond the limit they are refused, and change nothing."""
    policy = md.make(name, n_arms=4, slate_size=3, seed=0, horizon=1000)
    heavy = [1e9, 1e9, 1e9, 1e-9, 1e-300, 0.3]
    for t in range(120):
        slate = policy.ask()
        assert len(set(slate.arms)) == len(slate.arms)
        n = len(slate.arms)
        if n > 1:
            with pytest.raises(md.BadInput, match="Wins must be from 0 to 1e"):
                policy.tell(slate, np.triu(np.full((n, n), 1.7e308), 1))
            policy.tell(slate, np.triu(np.full((n, n), heavy[t % 6]), 1) + np.tril(np.full((n, n), heavy[t * 7 % 5]), -1))
    assert policy.recommend() in range(4)
    assert md.restore(policy.snapshot()).snapshot() == policy.snapshot()


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda: md.make(None, n_arms=3), "A policy is named by a word"),
        (lambda: md.make(["rucb"], n_arms=3), "A policy is named by a word"),
        (lambda: md.make("rucb", n_arms=10**9), "at most 10,000"),
        (lambda: md.make("rucb", n_arms=10**400), "at most 10,000"),
        (lambda: md.make("rucb", n_arms=3, alpha=10**400), "in size"),
        (lambda: md.make("rucb", n_arms=3, alpha=float("inf")), "in size"),
        (lambda: md.make("rucb", n_arms=3, alpha=float("nan")), "must be a number. Got nan"),
        (lambda: md.make("dts", n_arms=3, alpha=1e-300), "in size"),
        (lambda: md.make("if2", n_arms=3, horizon=2.5), "must be a whole number. Got 2.5"),
        (lambda: md.make("if2", n_arms=3, horizon=2**64), "at most"),
        (lambda: md.make("if2", n_arms=3, horizon=float("inf")), "at most"),
        (lambda: md.make("multi-rucb", n_arms=3, priority=["coin"]), "must be one of"),
        (lambda: md.make("multi-sbm", n_arms=3, machine=["ucb"]), "must be one of"),
        (lambda: md.make("rucb", n_arms=3).forget(None), "'forget' takes the Slate"),
        (lambda: md.make("rucb", n_arms=3).forget((1, (0, 1))), "Round 1 is not open"),
        (lambda: md.make("rucb", n_arms=3).tell(("a", (1,)), md.best(1)), "was never asked"),
        (lambda: md.make("rucb", n_arms=3).tell((1, 5), md.best(1)), "was never asked"),
        (lambda: md.make("rucb", n_arms=3).tell(([], (0, 1)), md.best(1)), "takes the Slate"),
        (lambda: md.restore(None), "it is no dict"),
        (lambda: md.restore({}), "'format' is missing"),
    ],
)
def test_refused_with_a_sentence(act, says):
    with pytest.raises(md.BadInput, match=says):
        act()


def test_slates_never_told_are_forgotten_oldest_first(monkeypatch):
    monkeypatch.setattr(engine_policy, "MOST_OPEN", 50)
    policy = md.make("uniform", n_arms=4, seed=0)
    slates = [policy.ask() for _ in range(80)]
    assert policy.open == tuple(slates[30:])
    with pytest.raises(md.BadInput, match="or is forgotten: the last 50 slates that are not told stay open"):
        policy.tell(slates[29], md.best(slates[29].arms[0]))
    policy.tell(slates[30], md.best(slates[30].arms[0]))


def test_pickle_and_deepcopy_go_on_alike():
    policy = md.make("ind-self-sparring", n_arms=5, slate_size=3, seed=1)
    for _ in range(30):
        slate = policy.ask()
        if len(slate.arms) > 1:
            policy.tell(slate, md.ranking(sorted(slate.arms)))
    twins = [copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))]
    later = [policy.ask() for _ in range(20)]
    for twin in twins:
        assert [twin.ask() for _ in range(20)] == later


def test_threads_share_a_policy():
    """Every ask is a round of its own and every tell counts, from the first call on, which compiles."""
    policy = md.make("multi-rucb", n_arms=6, slate_size=3, seed=0)
    rounds, errors = [], []
    start = threading.Barrier(8)

    def talk():
        try:
            start.wait()
            for _ in range(300):
                slate = policy.ask()
                rounds.append(slate.round)
                assert len(set(slate.arms)) == len(slate.arms)
                if len(slate.arms) > 1:
                    policy.tell(slate, md.ranking(sorted(slate.arms)))
                policy.observe((0, 1), md.best(0))
                policy.recommend()
                policy.snapshot()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=talk) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors and sorted(rounds) == list(range(1, 2401))
    assert policy.open == () and md.restore(policy.snapshot()).round == 2400
