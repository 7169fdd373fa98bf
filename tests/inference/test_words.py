"""A verdict is read as a sentence: each kind of it, word for word."""

import numpy as np
import pytest

from multiduel.inference import verdict
from multiduel.inference.words import listed, sentence

HERE, LIKE = "for these raters", "for people like these raters"
CLEAR = [[0, 30, 30], [2, 0, 20], [1, 12, 0]]
STEPS = "'option 1' above 'option 2', 'option 2' above 'option 0' and 'option 0' above 'option 1'."


def beaten(K, *losers):
    """A table in which option 0 beats these, and nothing else is known."""
    above = np.zeros((K, K))
    above[0, list(losers)] = 60.0
    return above


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("rank", "more than half of the {} that tell the two apart place it above."),
        ("best", "of the {} that name one of the two best, more than half name it."),
        ("worst", "of the {} that name one of the two worst, more than half name the other."),
    ],
)
@pytest.mark.parametrize(("unit", "whom", "who"), [("answer", HERE, "answers"), ("rater", LIKE, "raters")])
def test_a_winner(question, says, unit, whom, who):
    result = verdict(CLEAR, names=["mild", "sharp", "bitter"], unit=unit)
    assert sentence(result, question) == f"'mild' is best {whom} (95 %): against each other option, {says.format(who)}"


def test_a_winner_with_a_margin():
    result = verdict([[0, 400, 90], [400, 0, 90], [10, 10, 0]], margin=0.1, alpha=0.01, unit="rater")
    assert str(result) == (
        f"'option 0' is best, give or take 10 %, {LIKE} (99 %): no other option is preferred to it in more than 60 % of the "
        "raters on the two, ties counting half."
    )


def test_a_cycle():
    sure, less = (verdict([[0, wins, 30], [30, 0, 90], [90, 30, 0]]) for wins in (90, 62))
    assert str(sure) == f"No option beats all others {HERE} (95 %); each step of this cycle is certain too: {STEPS}"
    assert str(less) == f"No option beats all others {HERE} (95 %); most place {STEPS}"


def test_open_nearly_settled_and_still_in():
    assert str(verdict(np.zeros((4, 4)))) == (
        f"No winner yet {HERE}: any of the 4 options may still be the one that beats all others."
    )
    assert sentence(verdict(np.zeros((4, 4))), final=True).startswith(f"No winner {HERE}: "), "no votes will come"
    assert str(verdict(np.zeros((4, 4)), margin=0.1)) == str(verdict(np.zeros((4, 4))))
    above = beaten(3, 1)
    above[1, 2] = 60.0
    assert str(verdict(above)) == (
        f"No winner yet {HERE}: if one option beats all others, it is 'option 0' (95 %); that there is one is not certain."
    )
    two = verdict(beaten(3, 1))
    says = (
        f"No winner yet {HERE}: 'option 0' and 'option 2' are still possible. "
        "If one option beats all others, it is one of these 2 (95 %)."
    )
    assert str(two) == says and repr(two) == f"<Verdict narrowed: {says}>"


def test_lists_in_words():
    assert [listed(list("abc")[:n]) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]


def test_long_lists_are_cut():
    twelve, fourteen = (str(verdict(beaten(K, *losers))) for K, losers in ((14, (1, 2)), (15, (1,))))
    assert (
        "'option 12' and 'option 13' are still possible. If one option beats all others, it is one of these 12 (95 %)." in twelve
    )
    assert (
        "'option 11', 'option 12' and 2 more are still possible. If one option beats all others, it is one of these 14 (95 %)."
        in fourteen
    )
