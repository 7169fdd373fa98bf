"""The tables, version by version. A database is brought to the present version when it is opened; a newer one is refused.

Events and contents are append-only: by their keys, and by triggers that refuse every change, whoever asks for it.
"""

from __future__ import annotations

from collections.abc import Collection

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

# When a server last proved that it can write: a row per process, or of several that share it.
TABLES_4 = ("""CREATE TABLE heartbeats (process TEXT PRIMARY KEY, at TEXT NOT NULL){compact}""",)

POSTGRES_2 = (  # as SQLite has it from the start: a process that missed events cannot leave a gap
    """CREATE FUNCTION refuse_disorder() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN
         IF NEW.number <> (SELECT COALESCE(MAX(number), 0) + 1 FROM events WHERE arena = NEW.arena) THEN
           RAISE EXCEPTION 'events are appended one after the other';
         END IF;
         RETURN NEW;
       END $$""",
    "CREATE TRIGGER events_in_order BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION refuse_disorder()",
)

# Version 3: whose a key is, when it was made and last used, who changed keys, and the key that signs heads of logs.
TABLES_3 = (
    *(f"ALTER TABLE secrets ADD COLUMN {column} TEXT NOT NULL DEFAULT ''" for column in ("label", "created", "made_by", "used")),
    """CREATE TABLE key_changes (
        number {counted} PRIMARY KEY, arena TEXT NOT NULL, role TEXT NOT NULL, subject TEXT NOT NULL, what TEXT NOT NULL,
        label TEXT NOT NULL, at TEXT NOT NULL, made_by TEXT NOT NULL)""",
    """CREATE INDEX key_changes_of_arena ON key_changes (arena, number)""",
    """CREATE INDEX key_changes_of_key ON key_changes (arena, role, subject, number)""",
    """CREATE INDEX key_changes_what ON key_changes (what)""",
    """CREATE TABLE signing_key (id {integer} PRIMARY KEY CHECK (id = 1), private TEXT NOT NULL, created TEXT NOT NULL)""",
)
SQLITE_3 = tuple(
    f"CREATE TRIGGER key_changes_no_{word} BEFORE {word} ON key_changes "
    "BEGIN SELECT RAISE(ABORT, 'key_changes are append-only'); END"
    for word in ("update", "delete")
)
POSTGRES_3 = (
    "CREATE TRIGGER key_changes_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON key_changes "
    "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()",
)

# Where owners want to be told of results. URLs of webhooks are secrets, so they are not in the log. ``claimed`` is until when a
# process delivers to it, so that of several processes one does.
TABLES_5 = (
    """CREATE TABLE notices (
        arena TEXT NOT NULL REFERENCES arenas (id), id TEXT NOT NULL, kind TEXT NOT NULL, target TEXT NOT NULL,
        secret TEXT NOT NULL, created TEXT NOT NULL, made_by TEXT NOT NULL, claimed TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (arena, id))""",
)

# What events can be found by (``domain/past.py``), as 64 bits of a hash. It follows from the events and can be made anew.
TABLES_6 = (
    """CREATE TABLE event_keys (key {integer} NOT NULL, number {integer} NOT NULL, PRIMARY KEY (key, number)){compact}""",
)
KEYS_SINCE = 6  # events that are there when a database comes to this version get their keys then

# version -> tables, and what only one dialect has
MIGRATIONS: dict[int, tuple[tuple[str, ...], dict[str, tuple[str, ...]]]] = {
    1: (TABLES_1, {"sqlite": SQLITE_1, "postgres": POSTGRES_1}),
    2: ((), {"sqlite": (), "postgres": POSTGRES_2}),
    3: (TABLES_3, {"sqlite": SQLITE_3, "postgres": POSTGRES_3}),
    4: (TABLES_4, {"sqlite": (), "postgres": ()}),
    5: (TABLES_5, {"sqlite": (), "postgres": ()}),
    6: (TABLES_6, {"sqlite": (), "postgres": ()}),
}
VERSION = max(MIGRATIONS)

WORDS = {
    "sqlite": {"integer": "INTEGER", "bytes": "BLOB", "compact": " WITHOUT ROWID", "counted": "INTEGER"},
    "postgres": {"integer": "BIGINT", "bytes": "BYTEA", "compact": "", "counted": "BIGINT GENERATED ALWAYS AS IDENTITY"},
}


def statements(dialect: str, done: Collection[int]) -> list[tuple[int, list[str]]]:
    """(version, its statements) to be carried out, in one transaction, on a database that has the versions ``done``."""
    if max(done, default=0) > VERSION:
        raise BadInput(f"This database has tables of version {max(done)}, made by a later multiduel. This one knows {VERSION}.")
    return [
        (version, [*(table.format(**WORDS[dialect]) for table in tables), *own[dialect]])
        for version, (tables, own) in sorted(MIGRATIONS.items())
        if version not in done
    ]
