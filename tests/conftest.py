"""Shared fixtures."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("multiduel", deadline=None)  # a busy machine is not a failure
settings.load_profile("multiduel")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real preference data: MULTIDUEL_DATA, or shared/data beside the repository."""
    beside = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"
    folder = Path(os.environ.get("MULTIDUEL_DATA", beside))
    if not (folder / "SUMMARY.csv").is_file():
        pytest.skip("the data folder is absent: set MULTIDUEL_DATA to the folder that holds SUMMARY.csv")
    return folder
