"""Suite v1 is frozen: its instances, its seeds, and how they are played."""

import numpy as np
import pytest

import multiduel as md
from multiduel.lab.bench import instances, suite
from multiduel.lab.bench.answers import Winners

FROZEN = "4e44cf4792ba4331"  # a change here is a new suite, v2: results of v1 are not comparable with it
EACH = pytest.mark.parametrize("family", suite.FAMILIES.values(), ids=list(suite.FAMILIES))


def test_suite_hash_is_frozen():
    assert suite.digest() == FROZEN


def test_suite_covers_slates_horizons_and_arms():
    assert {cell.slate_size for cell in suite.cells()} == {2, 4, 8, 16}
    assert {cell.horizon for cell in suite.cells()} == {10**4, 10**6}
    arms = {arms for family in suite.FAMILIES.values() for arms in family.arms}
    assert min(arms) <= 5 and max(arms) == 500


@EACH
def test_family_has_twenty_instances_with_what_its_name_says(family):
    problems = family.problems
    assert len(problems) == instances.INSTANCES == 20
    assert len({problem.matrix.tobytes() for problem in problems}) == 20
    assert all((problem.winner is None) == (family.benchmark == "copeland") for problem in problems)
    assert all(family.random_loss(number) > 0 for number in range(20))
    if family.answers == "coins":  # a processor whose exp differs in the last bit makes the same chances
        for problem in problems:
            upper = problem.matrix[np.triu_indices(problem.n_arms, 1)]
            assert np.array_equal(upper.round(6), upper)
    else:
        assert all(np.array_equal(problem.utilities.round(6), problem.utilities) for problem in problems)


def test_seeds_of_families_do_not_meet():
    seeds = [family.seed + number for family in suite.FAMILIES.values() for number in range(20)]
    assert len(seeds) == len(set(seeds))


def test_published_instances_are_among_them():
    for name, published in (
        ("arithmetic", md.instance("arithmetic")),
        ("cyclic", md.cyclic(4)),
        ("geometric", md.instance("geom")),
    ):
        close = [problem for problem in suite.FAMILIES[name].problems if problem.n_arms == published.n_arms]
        assert any(np.abs(problem.matrix - published.matrix).max() < 1e-6 for problem in close)


def test_disputed_winner_is_not_the_borda_winner_in_most_and_ties_are_exact():
    disputed = suite.FAMILIES["disputed"].problems
    assert sum(problem.winner not in problem.borda_winners for problem in disputed) >= 15
    for problem in suite.FAMILIES["ties"].problems:
        assert (problem.matrix[np.triu_indices(problem.n_arms, 1)] == 0.5).sum() >= (problem.n_arms - 2) // 2


def test_small_margins_are_as_those_of_arxiv(data_dir):
    real = md.read_csv(data_dir / "arxiv_6.csv")
    top = np.sort(real.gaps)[1:]
    for problem in suite.FAMILIES["small-margins"].problems:
        made = np.sort(problem.gaps)[1:]
        assert made.min() >= top.min() - 1e-9 and made.max() <= top.max() + 1e-9


def test_any_change_of_an_instance_or_a_seed_changes_the_hash(monkeypatch):
    import dataclasses

    family = suite.FAMILIES["cyclic"]
    before = family.digest()
    assert dataclasses.replace(family, seed=family.seed + 1).digest() != before
    assert dataclasses.replace(family, options={"x": 1}).digest() != before
    other = (*family.problems[:-1], instances.rounded(md.cyclic(24, gap=0.2000011)))
    monkeypatch.setattr(suite, "_problems", lambda name: other)
    assert family.digest() != before


def test_winner_only_answers_have_the_law_of_plackett_and_luce():
    problem = md.bradley_terry(5, seed=3)
    world = Winners(problem).world(np.arange(5), 3)
    from multiduel.kernels.contract import compare

    slate, wins, total = np.array([4, 0, 2]), np.zeros((3, 3)), np.zeros((3, 3))
    rounds = 40_000
    for start in range(1, rounds, 1000):
        compare(world, np.uint64(7), start, 1000, slate, wins)
        total += wins
    firsts = total.max(axis=1)
    assert firsts.sum() == rounds and all(len(set(np.delete(row, a))) == 1 for a, row in enumerate(total))
    worth = np.exp(problem.utilities[slate])
    chance = worth / worth.sum()
    assert np.all(np.abs(firsts / rounds - chance) < 4.5 * np.sqrt(chance * (1 - chance) / rounds))
