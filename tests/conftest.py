"""Shared fixtures."""

from __future__ import annotations

import os
import re
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


# What `make check` leaves out, with the reason; `make test` runs everything. Folders, files, or single tests of them.
SLOW = {
    "tests/arena/pages/test_blind.py": "compares many pages, byte by byte and by time",
    "tests/arena/pages/test_board.py": "draws boards of 100,000 votes",
    "tests/arena/pages/test_browser.py": "drives a browser",
    "tests/arena/test_cli_arena.py": "starts servers",
    "tests/arena/test_connections.py": "waits for slow clients",
    "tests/arena/test_faults.py": "waits for commands that fail or stall",
    "tests/arena/test_fold.py": "plays and reads whole logs, with every policy",
    "tests/arena/test_heads.py": "starts several processes",
    "tests/arena/test_http_security.py": "waits for slow clients",
    "tests/arena/test_isolation.py": "damages arenas one by one",
    "tests/arena/test_openapi.py": "sends requests made from the schema",
    "tests/arena/test_rankers_door.py": "runs an example in a process of its own",
    "tests/arena/test_rollback.py": "puts databases back in time beneath servers",
    "tests/arena/test_stalled.py": "waits for time-outs",
    "tests/arena/test_state_machine.py": "plays random histories",
    "tests/arena/test_taking_back.py": "plays and undoes whole logs",
    "tests/arena/test_torture.py": "kills servers",
    "tests/checks": "compiles every policy, and policies that are wrong",
    "tests/doors": "plants traps behind every route, page and file",
    "tests/engine/test_closing.py": "plays to a verdict",
    "tests/engine/test_first_use.py": "compiles in processes of their own",
    "tests/inference/test_shares_won.py": "counts errors over many simulations",
    "tests/engine/test_limits.py": "compiles every policy",
    "tests/engine/test_mistakes.py": "compiles policies that are wrong",
    "tests/engine/test_observe.py": "compiles every policy",
    "tests/engine/test_outside.py": "compiles plug-in policies",
    "tests/engine/test_paper_figures.py": "plays the paper's algorithms",
    "tests/fuzz": "damages inputs at random",
    "tests/inference/test_promises.py": "counts errors over many simulations",
    "tests/kernels/test_dispatch.py": "compiles in processes of their own",
    "tests/lab": "plays experiments, the paper's and on a cluster",
    "tests/policies": "plays every policy, beside its oracle and for its regret",
    "tests/test_contributing.py": "follows the steps in a copy of the project",
    "tests/test_documents.py": "runs every code block and builds the site",
    "tests/test_installation.py": "installs the package afresh",
    "tests/test_policy_package.py": "installs a package",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow, and group tests for several workers (-n).

    What compiles the same code goes to the same worker: a policy's checks, else a file's tests.
    """
    for item in items:
        if any(re.match(rf"{re.escape(place)}(/|::|\[|$)", item.nodeid) for place in SLOW):
            item.add_marker(pytest.mark.slow)
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
