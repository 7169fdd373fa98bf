"""The checks that every policy of multiduel passes, and one of your own."""

from naive import VARIANTS, Naive

import multiduel as md


def oracle(n_arms, slate_size, words, **params):
    return Naive(n_arms, slate_size, md.checks.NaiveStream(words), **params)


def test_it_is_known_by_its_name():
    from duel_epsilon import SPEC

    assert md.make("epsilon-greedy", n_arms=4).spec is SPEC


def test_it_passes_every_check():
    for params in VARIANTS:
        report = md.checks.check("epsilon-greedy", oracle=oracle, **params)
        assert report.ok, str(report)


def test_it_recommends_the_best_arm_more_often_than_not():
    problem = md.synthetic(6)
    result = md.simulate("epsilon-greedy", problem, horizon=5000, runs=40, seed=1)
    assert (result.recommended == problem.winner).mean() > 0.6  # by chance: one time in six
