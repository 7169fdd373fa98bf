"""The journal in PostgreSQL: several processes at once, each locking an arena's row while it appends."""

from __future__ import annotations

from typing import Any

from multiduel.arena.journal.migrations import statements
from multiduel.arena.journal.sql import SqlJournal
from multiduel.inputs import BadInput

PATIENCE = "30s"  # to wait for another process's transaction
STALLED = "300s"  # a process that does nothing in its transaction for so long is cut off, so that others can go on
MIGRATING = 7_291_001  # number of the lock that one process at a time holds while it makes tables


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError:
        raise BadInput("A journal in PostgreSQL needs psycopg: pip install 'multiduel[postgres]'.") from None
    return psycopg


class PostgresJournal(SqlJournal):
    def __init__(self, url: str) -> None:
        super().__init__()
        self._psycopg = _psycopg()
        self.errors = (self._psycopg.Error,)
        self.url = url
        self._migrate()

    def _open(self) -> Any:
        connection = self._psycopg.connect(self.url, connect_timeout=10, prepare_threshold=2)
        connection.execute("SET synchronous_commit = on")  # whatever the server's default: "done" means durable
        connection.execute(f"SET lock_timeout = '{PATIENCE}'")
        connection.execute(f"SET idle_in_transaction_session_timeout = '{STALLED}'")
        connection.commit()
        return connection

    def _migrate(self) -> None:
        with self._whole() as connection:
            connection.execute(f"SELECT pg_advisory_xact_lock({MIGRATING})")
            connection.execute("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT PRIMARY KEY)")
            (present,) = connection.execute("SELECT COALESCE(MAX(version), 0) FROM schema_version").fetchone()
            todo = statements("postgres", present)
            for _, statement in todo:
                connection.execute(statement)
            for version in sorted({version for version, _ in todo}):
                connection.execute("INSERT INTO schema_version (version) VALUES (%s)", (version,))

    def _begin(self, connection: Any) -> None:
        """psycopg begins with the first statement."""

    def _lock(self, connection: Any, arena: str) -> bool:
        return bool(self.run(connection, "SELECT 1 FROM arenas WHERE id = ? FOR UPDATE", (arena,)))

    def _statement(self, statement: str) -> str:
        return statement.replace("?", "%s")
