"""The tables, version by version. A database is brought to the present version when it is opened; a newer one is refused.

Events and contents are append-only: by their keys, and by triggers that refuse every change, whoever asks for it.
"""

from __future__ import annotations

from multiduel.inputs import BadInput

TABLES_1 = (
    """CREATE TABLE arenas (id TEXT PRIMARY KEY, name TEXT NOT NULL, request TEXT UNIQUE, created TEXT NOT NULL)""",
    """CREATE TABLE events (
        arena TEXT NOT NULL REFERENCES arenas (id), number {integer} NOT NULL, kind TEXT NOT NULL, at TEXT NOT NULL,
        body TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (arena, number)){compact}""",
    """CREATE TABLE contents (
        arena TEXT NOT NULL REFERENCES arenas (id), sha256 TEXT NOT NULL, data {bytes} NOT NULL, PRIMARY KEY (arena, sha256))""",
    """CREATE TABLE secrets (
        arena TEXT NOT NULL, role TEXT NOT NULL, subject TEXT NOT NULL, hash TEXT NOT NULL,
        PRIMARY KEY (arena, role, subject))""",
    """CREATE TABLE snapshots (
        arena TEXT PRIMARY KEY, number {integer} NOT NULL, hash TEXT NOT NULL, format TEXT NOT NULL, data {bytes} NOT NULL,
        sha256 TEXT NOT NULL)""",
)

SQLITE_1 = (
    *(
        f"CREATE TRIGGER {table}_no_{word} BEFORE {word} ON {table} BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END"
        for table in ("events", "contents")
        for word in ("update", "delete")
    ),
    # INSERT OR REPLACE would delete without the trigger above
    """CREATE TRIGGER events_in_order BEFORE INSERT ON events
       WHEN NEW.number <> (SELECT COALESCE(MAX(number), 0) + 1 FROM events WHERE arena = NEW.arena)
       BEGIN SELECT RAISE(ABORT, 'events are appended one after the other'); END""",
    """CREATE TRIGGER contents_stay BEFORE INSERT ON contents
       WHEN EXISTS (SELECT 1 FROM contents WHERE arena = NEW.arena AND sha256 = NEW.sha256)
       BEGIN SELECT RAISE(ABORT, 'contents are append-only'); END""",
)

POSTGRES_1 = (
    """CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN RAISE EXCEPTION '% are append-only', TG_TABLE_NAME; END $$""",
    *(
        f"CREATE TRIGGER {table}_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        for table in ("events", "contents")
    ),
)

MIGRATIONS = {1: (TABLES_1, {"sqlite": SQLITE_1, "postgres": POSTGRES_1})}  # version -> tables, and what only one dialect has
VERSION = max(MIGRATIONS)

WORDS = {
    "sqlite": {"integer": "INTEGER", "bytes": "BLOB", "compact": " WITHOUT ROWID"},
    "postgres": {"integer": "BIGINT", "bytes": "BYTEA", "compact": ""},
}


def statements(dialect: str, present: int) -> list[tuple[int, str]]:
    """(version, statement) to be carried out, in one transaction, on a database of version ``present`` (0: an empty one)."""
    if present > VERSION:
        raise BadInput(f"This database has tables of version {present}, made by a later multiduel. This one knows {VERSION}.")
    return [
        (version, statement.format(**WORDS[dialect]) if statement in tables else statement)
        for version, (tables, own) in sorted(MIGRATIONS.items())
        if version > present
        for statement in (*tables, *own[dialect])
    ]
