"""Numbers, words and names from outside: taken, or refused in one sentence. Nothing else is ever raised."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import multiduel as md
from multiduel import problems, theory
from multiduel.inputs import BadInput, choice, finite, shortened, whole

STRANGE = {
    "2^64": 2**64,
    "400 digits": 10**400,
    "5000 digits": 10**5000,
    "negative": -(2**64),
    "infinite": math.inf,
    "nan": math.nan,
    "nothing": None,
    "a word": "x",
    "complex": 1j,
    "an array": np.array([1, 2]),
    "a half": 2.5,
    "true": True,
    "1e300": np.float64(1e300),
    "a fraction": Fraction(7, 2),
    "a decimal": Decimal("1e400"),
    "a list of 5000 digits": [10**5000],
}
EVEN = [[0.5, 0.5], [0.5, 0.5]]
TAKERS = {
    "simulate horizon": lambda v: md.simulate("uniform", md.synthetic(3), horizon=v, runs=1),
    "simulate runs": lambda v: md.simulate("uniform", md.synthetic(3), horizon=5, runs=v),
    "simulate seed": lambda v: md.simulate("uniform", md.synthetic(3), horizon=5, runs=1, seed=v),
    "simulate first_run": lambda v: md.simulate("uniform", md.synthetic(3), horizon=5, runs=1, first_run=v),
    "simulate threads": lambda v: md.simulate("uniform", md.synthetic(3), horizon=5, runs=1, threads=v),
    "simulate checkpoint": lambda v: md.simulate("uniform", md.synthetic(3), horizon=5, runs=1, checkpoints=[v]),
    "simulate checkpoints": lambda v: md.simulate("uniform", md.synthetic(3), horizon=5, runs=1, checkpoints=v),
    "simulate benchmark": lambda v: md.simulate("uniform", md.synthetic(3), horizon=5, runs=1, benchmark=v),
    "simulate problem": lambda v: md.simulate("uniform", v, horizon=5, runs=1),
    "suggest n_arms": lambda v: md.suggest(n_arms=v),
    "suggest slate_size": lambda v: md.suggest(n_arms=4, slate_size=v),
    "suggest horizon": lambda v: md.suggest(n_arms=4, horizon=v),
    "suggest assume": lambda v: md.suggest(n_arms=4, assume=v),
    "synthetic": problems.synthetic,
    "synthetic link": lambda v: problems.synthetic(3, link=v),
    "random seed": lambda v: problems.random_utilities(3, seed=v),
    "bradley_terry scale": lambda v: problems.bradley_terry(3, scale=v),
    "tournament": problems.random_tournament,
    "cyclic": problems.cyclic,
    "cyclic gap": lambda v: problems.cyclic(4, gap=v),
    "from_matrix": problems.from_matrix,
    "from_matrix entry": lambda v: problems.from_matrix([[0.5, v], [0.5, 0.5]]),
    "from_matrix names": lambda v: problems.from_matrix(EVEN, names=v),
    "from_utilities": problems.from_utilities,
    "from_utilities entry": lambda v: problems.from_utilities([0.5, v], link="natural"),
    "bounds horizon": lambda v: md.synthetic(3).bounds(v),
    "bounds slate_size": lambda v: md.synthetic(3).bounds(10, slate_size=v),
    "bounds alpha": lambda v: md.synthetic(3).bounds(10, alpha=v),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("taker", "value"), list(itertools.product(TAKERS, STRANGE)))
def test_strange_values_are_taken_or_refused_in_a_sentence(taker, value):
    try:
        TAKERS[taker](STRANGE[value])
    except BadInput as refusal:
        assert len(str(refusal)) < 300 and str(refusal).endswith(".")


def test_the_checks_themselves():
    assert whole("n", 3.0, 1, of="x") == 3 and finite("n", Fraction(1, 2), of="x") == 0.5 and choice("n", "a", "abc") == "a"
    for call in (lambda: whole("n", 10**5000, 1, 9, of="x"), lambda: finite("n", 10**400, of="x"), lambda: choice("n", 1, "ab")):
        with pytest.raises(BadInput):
            call()
    assert shortened(10**5000) == "a number of about 5,000 digits" and shortened("a") == "'a'"
    with pytest.raises(BadInput, match="Did you mean 'linear'"):
        choice("link", "linaer", problems.LINKS)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("chance", [0.0, 5e-324, 1e-300, 1e-17, 0.5 - 2**-53, 0.5 - 1e-9])
def test_chances_as_small_and_gaps_as_narrow_as_numbers_go(chance):
    P = np.full((3, 3), 0.5)
    P[1:, 0], P[0, 1:] = chance, 1 - chance
    problem = problems.from_matrix(P)
    bounds = problem.bounds(1000)
    assert all(bound.value > 0 for bound in bounds.values()) and math.isfinite(problem.hardness)
    d = 0.5 - chance
    expected = 2 * d**2 if d < 1e-6 else theory.kl(max(chance, 1e-12), 0.5)
    assert theory.kl(chance, 0.5) == pytest.approx(expected, rel=1e-6)
    assert theory.komiyama_lower_bound(P) == pytest.approx(2 * d / (2 * expected), rel=1e-6)
    assert md.simulate("uniform", problem, horizon=20, runs=1).final[0] >= 0
