"""What judges say becomes wins[a, b] among the arms shown, and nothing else is accepted."""

import numpy as np
import pytest

import multiduel as md
from multiduel.engine.session.outcomes import explain, wins_matrix

ARMS = (8, 3, 5, 0)


def test_ranking_is_every_pair_in_order():
    wins = wins_matrix(md.ranking([5, 8, 0, 3]), ARMS)
    for a, first in enumerate(ARMS):
        for b, second in enumerate(ARMS):
            order = [5, 8, 0, 3]
            assert wins[a, b] == float(a != b and order.index(first) < order.index(second))


def test_a_partial_ranking_leaves_the_others_unseen():
    wins = wins_matrix(md.ranking([0, 8]), ARMS)
    assert wins[3, 0] == 1.0 and wins.sum() == 1.0


def test_best_and_worst_know_nothing_of_the_others():
    best, worst = wins_matrix(md.best(3), ARMS), wins_matrix(md.worst(3), ARMS)
    assert best[1].tolist() == [1.0, 0.0, 1.0, 1.0] and best.sum() == 3.0
    assert np.array_equal(worst, best.T)


def test_duels_count_and_ties_are_half_each_way():
    duels = wins_matrix(md.duels([(8, 3), (8, 3), (3, 8)]), ARMS)
    assert duels[0, 1] == 2.0 and duels[1, 0] == 1.0 and duels.sum() == 3.0
    tie = wins_matrix(md.tie(8, 3, 5), ARMS)
    assert tie[0, 1] == tie[1, 0] == tie[2, 0] == 0.5 and tie.sum() == 3.0 and not tie.diagonal().any()


@pytest.mark.parametrize(
    ("outcome", "says"),
    [
        (md.ranking([8, 3, 5, 7]), "Arm 7 was not in this slate"),
        (md.ranking([8, 8, 3, 5]), "must name each arm once"),
        (md.ranking([8, 3, 5, 0, 8]), "must name each arm once"),
        (md.best(1), "Arm 1 was not in this slate"),
        (md.duels([(8, 8)]), "cannot beat itself"),
        (md.tie(8, 8), "must name each arm once"),
        (md.best([8]), "was not in this slate"),
        (md.ranking([8, [3]]), "was not in this slate"),
        (md.duels([({}, 8)]), "was not in this slate"),
        ([[0, 10**400]] * 4, "An outcome is made by"),
        ("nonsense", "An outcome is made by"),
        ([[0.0, 1.0]], "must be 4 x 4"),
    ],
)
def test_what_is_refused_and_how(outcome, says):
    with pytest.raises(md.BadInput, match=says):
        wins_matrix(outcome, ARMS)


@pytest.mark.parametrize(
    ("make_it", "says"), [(lambda: md.ranking(3), "'ranking' takes"), (lambda: md.duels([1]), "'duels' takes")]
)
def test_what_is_no_list_of_arms_is_refused_at_once(make_it, says):
    with pytest.raises(md.BadInput, match=says):
        make_it()


def test_bad_entries_are_named():
    wins = np.zeros((4, 4))
    wins[1, 2] = -1.0
    assert "Got -1.0 for arm 3 over arm 5" in str(explain(wins, ARMS, 1e9))
    wins[1, 2] = 2e9
    assert "Wins must be from 0 to 1e+09. Got 2000000000.0 for arm 3 over arm 5" in str(explain(wins, ARMS, 1e9))
    assert "diagonal" in str(explain(np.eye(4), ARMS, 1e9))
    wins[0, 1], wins[1, 2] = 1e9, np.nan
    assert "finite and at least 0. Got nan for arm 3 over arm 5" in str(explain(wins, ARMS, 1e9)), "the most is not too much"
