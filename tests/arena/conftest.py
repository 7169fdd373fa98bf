"""A service of one's own; and both databases, for every test that takes ``db``."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from multiduel.arena import Service
from tests.arena.a_postgres import Postgres, a_postgres, why_not
from tests.arena.play import Clock, running

_databases = itertools.count(1)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def service(tmp_path: Path, clock: Clock) -> Iterator[Service]:
    with running(tmp_path / "arena.db", clock) as one:
        yield one


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """One server for all tests of a process; each test makes a database of its own in it."""
    if why_not():
        pytest.skip(why_not())
    with a_postgres() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a journal may be made."""
    if request.param == "sqlite":
        return str(tmp_path / "arena.db")
    return new_database(request.getfixturevalue("postgres"))


def new_database(server: Postgres) -> str:
    import psycopg

    name = f"arena{next(_databases)}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.url.replace("/postgres?", f"/{name}?")
