"""Links: formulas, antisymmetry, and refused utilities."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multiduel.inputs import BadInput
from multiduel.problems import LINKS, from_utilities

FORMULAS = {
    "linear": lambda x, y: (x - y + 1) / 2,
    "natural": lambda x, y: x / (x + y),
    "logit": lambda x, y: 1 / (1 + math.exp(y - x)),
}


@pytest.mark.parametrize("link", LINKS)
@given(mu=st.lists(st.floats(0.001, 1), min_size=1, max_size=6))
def test_formulas(link, mu):
    P = from_utilities(mu, link=link).matrix
    for i, x in enumerate(mu):
        for j, y in enumerate(mu):
            assert P[i, j] == pytest.approx(FORMULAS[link](x, y), rel=1e-12)


@pytest.mark.parametrize("link", LINKS)
@given(mu=st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_antisymmetric_and_increasing(link, mu):
    P = from_utilities(mu, link=link).matrix
    assert np.all(P + P.T == 1)
    order = np.argsort(mu)
    assert np.all(np.diff(P[order], axis=0) >= -1e-12)


def test_two_worthless_arms_are_even_under_the_natural_link():
    assert from_utilities([0, 0, 0.5], link="natural").matrix.tolist() == [[0.5, 0.5, 0], [0.5, 0.5, 0], [1, 1, 0.5]]


def test_large_utilities_do_not_overflow():
    assert from_utilities([1e308, 1e308, 0], link="natural").matrix[0].tolist() == [0.5, 0.5, 1]
    assert from_utilities([1e308, -1e308], link="logit").matrix[0].tolist() == [0.5, 1]


@pytest.mark.parametrize(
    ("mu", "link", "message"),
    [
        ([0.1, 1.5], "linear", "The utility of arm 1 of the linear link must be between 0 and 1. Got 1.5."),
        ([-0.1], "natural", "The utility of arm 0 of the natural link must be at least 0. Got -0.1."),
        ([0.0, math.inf], "logit", "The utility of arm 1 must be a finite number. Got inf."),
        ([], "linear", "'utilities' must be a list of at least 1 number. Got shape (0,)."),
        (
            [0.1],
            "lineer",
            "'link' must be one of linear, natural, logit. Got 'lineer'. Did you mean 'linear'?",
        ),
    ],
)
def test_refused(mu, link, message):
    with pytest.raises(BadInput) as caught:
        from_utilities(mu, link=link)
    assert str(caught.value) == message


def test_names_and_label():
    problem = from_utilities([0.1, 0.2], link="logit", names=["x", "y"])
    assert (problem.names, problem.label, problem.link) == (("x", "y"), "utilities, K = 2, logit link", "logit")
