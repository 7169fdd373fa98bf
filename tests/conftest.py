"""Shared fixtures."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("multiduel", deadline=None)  # a busy machine is not a failure
settings.load_profile("multiduel")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real preference data, that of MULTIDUEL_DATA."""
    folder = Path(os.environ.get("MULTIDUEL_DATA") or "nowhere")
    if not (folder / "SUMMARY.csv").is_file():
        pytest.skip("the data folder is absent: set MULTIDUEL_DATA to the folder that holds SUMMARY.csv")
    return folder


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With several workers (-n), what compiles the same code goes to the same one: a policy's checks, else a file's tests."""
    for item in items:
        policy = getattr(item, "callspec", None) and item.callspec.params.get("policy")
        item.add_marker(pytest.mark.xdist_group(policy or item.location[0]))


@pytest.fixture
def no_thread_stays() -> Iterator[None]:
    """Threads of ours end, soon if not at once: who stops does not wait for a loop longer than a moment."""
    yield
    patience = time.monotonic() + 20.0
    while ours := [thread.name for thread in threading.enumerate() if thread.name.startswith("multiduel")]:
        assert time.monotonic() < patience, f"still there: {ours}"
        time.sleep(0.05)
