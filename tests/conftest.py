"""Shared fixtures."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from multiduel.engine.registry.registry import POLICIES

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
    "tests/arena/domain/test_fold.py": "plays and reads whole logs, with every policy",
    "tests/arena/files/test_signed_heads.py": "starts several processes",
    "tests/arena/journal/test_rollback.py": "puts databases back in time beneath servers",
    "tests/arena/journal/test_stalled.py": "waits for time-outs",
    "tests/arena/service/test_faults.py": "waits for commands that fail or stall",
    "tests/arena/service/test_isolation.py": "damages arenas one by one",
    "tests/arena/service/test_state_machine.py": "plays random histories",
    "tests/arena/service/test_taking_back.py": "plays and undoes whole logs",
    "tests/arena/test_rankers_door.py": "runs an example in a process of its own",
    "tests/arena/torture/test_torture.py": "kills servers",
    "tests/arena/web/api/test_openapi.py": "sends requests made from the schema",
    "tests/arena/web/pages/test_blind.py": "compares many pages, byte by byte and by time",
    "tests/arena/web/pages/test_board.py": "draws boards of 100,000 votes",
    "tests/arena/web/pages/test_browser.py": "drives a browser",
    "tests/arena/web/pages/test_owner_browser.py": "drives a browser",
    "tests/arena/web/signin": "starts a provider of accounts, and drives a browser",
    "tests/arena/web/test_connections.py": "waits for slow clients",
    "tests/arena/web/test_deploy.py": "starts servers, databases and proxies",
    "tests/arena/web/test_gate.py": "waits for slow clients",
    "tests/checks": "compiles every policy, and policies that are wrong",
    "tests/cli/test_arena.py": "starts servers",
    "tests/doors": "plants traps behind every route, page and file",
    "tests/engine/registry/test_mistakes.py": "compiles policies that are wrong",
    "tests/engine/registry/test_plugins.py": "compiles plug-in policies",
    "tests/engine/session/test_observe.py": "compiles every policy",
    "tests/engine/simulation/test_paper_figures.py": "plays the paper's algorithms",
    "tests/engine/test_first_use.py": "compiles in processes of their own",
    "tests/engine/test_limits.py": "compiles every policy",
    "tests/fuzz": "damages inputs at random",
    "tests/inference/test_forecast.py::test_the_range_holds_about_four_of_five": "counts errors over many simulations",
    "tests/inference/test_other_packages.py": "compiles in other packages",
    "tests/inference/test_promises.py": "counts errors over many simulations",
    "tests/inference/test_shares_won.py": "counts errors over many simulations",
    "tests/inference/test_standings_coverage.py": "counts errors over many simulations",
    "tests/kernels/test_dispatch.py": "compiles in processes of their own",
    "tests/kernels/test_thompson.py::test_winners_have_the_law_of_plain_draws": "draws until laws can be compared",
    "tests/lab": "plays experiments, the paper's and on a cluster",
    "tests/policies": "plays every policy, beside its oracle and for its regret",
    "tests/rankers/test_impression.py::test_commands": "runs commands in processes of their own",
    "tests/rankers/test_impression.py::test_the_toy_search_server_finds_its_best_ranker": "plays users",
    "tests/rankers/test_log.py::test_intervals_by_user_hold_where_those_by_page_do_not": "counts errors over many simulations",
    "tests/rankers/test_log.py::test_memory_grows_with_clicks_and_users_not_with_pages": "reads large logs",
    "tests/rankers/test_log.py::test_several_processes_write_one_log": "starts several processes",
    "tests/rankers/test_log_nonsense.py::test_many_clicks_on_one_page_are_read_in_linear_time": "reads large pages",
    "tests/rankers/test_matrix.py": "compiles click models, and plays users",
    "tests/rankers/test_multileaving.py::test_equals_the_plain_oracle": "plays every method beside its oracle",
    "tests/rankers/test_story.py": "plays users until one ranker is certain",
    "tests/rankers/test_shared_policy.py": "starts workers and databases",
    "tests/test_contributing.py": "follows the steps in a copy of the project",
    "tests/test_documents.py": "runs every code block and builds the site",
    "tests/test_installation.py": "installs the package afresh",
    "tests/test_package.py::test_examples_run": "runs the examples in processes of their own",
    "tests/test_policy_package.py": "installs a package",
}


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist, which reads the groups in the same hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow, and group tests for several workers (-n).

    What compiles the same code goes to the same worker: a policy's checks, else a file's tests.
    """
    for item in items:
        if any(re.match(rf"{re.escape(place)}(/|::|\[|$)", item.nodeid) for place in SLOW):
            item.add_marker(pytest.mark.slow)
        policy = getattr(item, "callspec", None) and item.callspec.params.get("policy")
        item.add_marker(pytest.mark.xdist_group(policy or item.location[0]))


@pytest.fixture(autouse=True)
def no_plugin_stays() -> Iterator[None]:
    """A test's plug-in policies, and the modules of folders that it searched, are forgotten after it: any order passes."""
    policies, modules, path = set(POLICIES), set(sys.modules), list(sys.path)
    yield
    for name in set(POLICIES) - policies:
        del POLICIES[name]
    searched, sys.path[:] = set(sys.path) - set(path), path
    for name in set(sys.modules) - modules:
        if searched and os.path.dirname(getattr(sys.modules[name], "__file__", None) or "") in searched:
            del sys.modules[name]


@pytest.fixture
def no_thread_stays() -> Iterator[None]:
    """Threads of ours end, soon if not at once: who stops does not wait for a loop longer than a moment."""
    yield
    patience = time.monotonic() + 20.0
    while ours := [thread.name for thread in threading.enumerate() if thread.name.startswith("multiduel")]:
        assert time.monotonic() < patience, f"still there: {ours}"
        time.sleep(0.05)
