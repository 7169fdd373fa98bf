"""Numbers that an arena draws from its seed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from multiduel.arena.domain.chooser import draw, shuffled


@given(st.integers(0, 2**64), st.integers(1, 10**9), st.lists(st.integers(0, 999), unique=True, max_size=12))
def test_shuffled_sorts_by_the_number_drawn_for_each(seed: int, number: int, arms: list[int]) -> None:
    assert shuffled(seed, number, "order", arms) == sorted(arms, key=lambda arm: draw(seed, number, f"order/{arm}"))
