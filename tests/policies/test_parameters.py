"""Parameters outside their limits are refused, and named."""

import pytest

import multiduel as md
from multiduel import make
from multiduel.inputs import BadInput


@pytest.mark.parametrize(
    ("name", "bad"),
    [("rucb", {"alpha": 0.5}), ("ws-s", {"beta": 1.0}), ("merge-rucb", {"batch_size": 1}), ("rmed1", {"f_factor": -1})],
)
def test_parameters_outside_their_limits_are_refused(name, bad):
    with pytest.raises(BadInput, match=next(iter(bad))):
        make(name, n_arms=4, **bad)


HORIZON = ("if1", "if2", "savage", "btm")


@pytest.mark.parametrize("name", HORIZON)
def test_the_horizon_is_required(name):
    with pytest.raises(BadInput, match="must know how many rounds"):
        md.make(name, n_arms=4)


@pytest.mark.parametrize(
    ("name", "params", "sentence"),
    [
        ("if2", {"horizon": 10, "constant": 0}, "'constant' of 'if2' must be above 0. Got 0."),
        ("btm", {"horizon": 10, "gamma": 0.5}, "'gamma' of 'btm' must be at least 1. Got 0.5."),
        ("savage", {"horizon": 10, "variant": "borda"}, "must be one of condorcet, copeland"),
        ("savage", {"horizon": 10, "delta": 1.0}, "must be below 1"),
        ("scb", {"rule": "kl"}, "must be one of anytime, fixed"),
        ("ccb", {"alpha": 0.5}, "'alpha' of 'ccb' must be above 0.5. Got 0.5."),
        ("beat-the-mean-pac", {"epsilon": 0.0}, "must be above 0"),
        ("sparring", {"machine": "lucb"}, "must be one of ucb, kl-ucb, thompson"),
    ],
)
def test_bad_parameters_are_named(name, params, sentence):
    with pytest.raises(BadInput) as error:
        md.make(name, n_arms=4, **params)
    assert sentence in str(error.value)
