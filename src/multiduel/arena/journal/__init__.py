"""Where events are kept: SQLite in a file, or PostgreSQL by its URL. Both append only, and say "done" when it is durable.

>>> import tempfile, os
>>> journal = connect(os.path.join(tempfile.mkdtemp(), "arena.db"))
>>> journal.arenas()
[]
>>> journal.close()
"""

from __future__ import annotations

import os

from multiduel.arena.journal.interface import ArenaRow, Journal, KeyChange, Notice, Secret, Secrets, Snapshot, Transaction
from multiduel.inputs import BadInput, shortened

__all__ = ["ArenaRow", "Journal", "KeyChange", "Notice", "Secret", "Secrets", "Snapshot", "Transaction", "connect"]


def connect(db: str | os.PathLike[str]) -> Journal:
    """Open a journal. Missing tables are made, and older ones migrated.

    Parameters
    ----------
    db
        A file (SQLite), or a ``postgresql://`` URL.

    Examples
    --------
    >>> import tempfile
    >>> journal = connect(os.path.join(tempfile.mkdtemp(), "arena.db"))
    >>> journal.close()
    """
    name = os.fspath(db)
    if not isinstance(name, str) or not name or "\0" in name:
        raise BadInput(f"A journal is a file, or a URL that starts with postgresql://. Got {shortened(name)}.")
    if name.startswith(("postgresql://", "postgres://")):
        from multiduel.arena.journal.postgres import PostgresJournal

        return PostgresJournal(name)
    if "://" in name:
        raise BadInput(f"A journal is a file, or a URL that starts with postgresql://. Got {shortened(name)}.")
    from multiduel.arena.journal.sqlite import SqliteJournal

    return SqliteJournal(name)
