"""Hostile command lines, files and outcomes, in a process of their own; ``make torture`` tries thousands of each."""

import pytest

from tests.fuzz import inputs

TRIES = 100


@pytest.mark.xdist_group("fuzz-inputs")
@pytest.mark.parametrize("kind", list(inputs.KINDS))
def test_hostile_input_is_refused_in_a_sentence_or_taken(kind):
    counts, failures = inputs.watch([kind], TRIES)
    assert not failures, "\n".join(failures)
    assert counts[kind]["tried"] == TRIES and counts[kind]["refused"] and counts[kind]["played"], counts
