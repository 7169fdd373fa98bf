"""An array of a snapshot that says another shape or kind than the policy's is refused, even if it has as many bytes."""

import copy

import pytest

import multiduel as md


def spoiled(saved):
    """The snapshot with one array's shape or kind told wrongly, one array at a time."""
    for name in ("state", "tally"):
        stored = [(k, packed) for k, packed in enumerate(saved[name]) if packed is not None]
        for k, (kind, shape, _) in stored:
            for wrong_kind, wrong_shape in ((kind, [*shape, 1]), (kind, [-1]), ({"f8": "i8"}.get(kind, "f8"), shape)):
                other = copy.deepcopy(saved)
                if [wrong_kind, wrong_shape] != [kind, shape]:
                    other[name][k][:2] = [wrong_kind, wrong_shape]
                    yield other


@pytest.mark.parametrize("policy", ["multi-rucb", "dts", "doubler-bai", "scb"])
def test_other_shapes_and_kinds_are_refused(policy):
    saved = md.make(policy, n_arms=6, seed=0).snapshot()
    others = list(spoiled(saved))
    assert len(others) > 5
    for other in others:
        with pytest.raises(md.BadInput):
            md.restore(other)
