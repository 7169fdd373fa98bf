"""Tests that compile or make the same things run on the same worker."""

import os

import pytest


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="there is one worker: run pytest with -n 2")
def test_groups_reach_the_workers(request):
    """pytest-xdist adds a group's name to the id of a test. Where it does not, files are split between workers."""
    assert request.node.nodeid.endswith("@tests/test_groups.py")
