"""The database of a running rating: its tables, the guards that keep ratings and events append-only, and transactions.

SQLite in WAL mode with ``synchronous=FULL``, or PostgreSQL with psycopg; a committed transaction survives a crash of either.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from threading import Lock
from typing import Any

from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    Column,
    Connection,
    Engine,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    UniqueConstraint,
    create_engine,
    event,
    false,
    text,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from components.core.errors import HearsightError
from components.ratings.faults import DatabaseError, explain
from components.ratings.sqlite_file import LOG, SqliteFile

METADATA = MetaData()
CAMPAIGNS = Table(
    "campaigns",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("dataset", String, nullable=False, unique=True),
    Column("digest", String, nullable=False),  # of the manifest of the items
    Column("opened", String, nullable=False),
)
ITEMS = Table(
    "items",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("campaign", ForeignKey("campaigns.id"), nullable=False),
    Column("key", String, nullable=False),
    Column("raters", Integer, nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("answered", Integer, nullable=False, server_default="0"),  # valid ratings: counted from ``ratings``, kept for speed
    Column("retired", Boolean, nullable=False, server_default=false()),
    UniqueConstraint("campaign", "key"),
)
_OPEN = (ITEMS.c.answered < ITEMS.c.raters) & ~ITEMS.c.retired
Index("open_items", ITEMS.c.campaign, ITEMS.c.position, sqlite_where=_OPEN, postgresql_where=_OPEN)
RATERS = Table(
    "raters",
    METADATA,
    Column("id", String, primary_key=True),  # random, never a name
    Column("campaign", ForeignKey("campaigns.id"), nullable=False, index=True),
    Column("created", String, nullable=False),
)
PLACES = Table(
    "places",
    METADATA,
    Column("rater", ForeignKey("raters.id"), nullable=False),
    Column("item", ForeignKey("items.id"), nullable=False, index=True),
    Column("state", String, nullable=False),
    Column("shown", Float, nullable=False),  # when the item was last shown (s since 1970)
    Column("sequence", Integer),  # of the valid rating
    PrimaryKeyConstraint("rater", "item"),
)
"""What became of each item that a rater has seen. SHOWN: reserved for the rater for a while."""
_RESERVED = PLACES.c.state == "SHOWN"
Index("reserved_places", PLACES.c.shown, sqlite_where=_RESERVED, postgresql_where=_RESERVED)
RATINGS = Table(
    "ratings",
    METADATA,
    Column("sequence", Integer, primary_key=True),
    Column("campaign", ForeignKey("campaigns.id"), nullable=False, index=True),
    Column("item", ForeignKey("items.id"), nullable=False),
    Column("rater", ForeignKey("raters.id"), nullable=False),
    Column("verdict", String, nullable=False),
    Column("time", String, nullable=False),
    Column("seconds", Float, nullable=False),
    sqlite_autoincrement=True,
)
EVENTS = Table(
    "events",
    METADATA,
    Column("sequence", Integer, primary_key=True),
    Column("campaign", ForeignKey("campaigns.id"), nullable=False),
    Column("kind", String, nullable=False),
    Column("rater", String, nullable=False),
    Column("item", Integer),
    Column("time", String, nullable=False),
    Column("detail", String, nullable=False),
    sqlite_autoincrement=True,
)
"""The audit trail."""
WAIT_SECONDS = 30
"""How long a writer waits for another process."""
WRITE = "write"


def _guard(table: Table) -> None:
    """Refuse every change of the table's rows by triggers."""
    name, refusal = table.name, f"{table.name} are append-only"
    for change in ("UPDATE", "DELETE"):
        sqlite = f"CREATE TRIGGER {name}_{change} BEFORE {change} ON {name} BEGIN SELECT RAISE(ABORT, '{refusal}'); END"
        event.listen(table, "after_create", DDL(sqlite).execute_if(dialect="sqlite"))
    # SQLite's INSERT OR REPLACE deletes without the trigger on DELETE.
    replace = (
        f"CREATE TRIGGER {name}_REPLACE BEFORE INSERT ON {name} WHEN EXISTS "
        f"(SELECT 1 FROM {name} WHERE sequence = NEW.sequence) BEGIN SELECT RAISE(ABORT, '{refusal}'); END"
    )
    event.listen(table, "after_create", DDL(replace).execute_if(dialect="sqlite"))
    body = f"BEGIN RAISE EXCEPTION '{refusal}'; END"
    function = (
        f"CREATE OR REPLACE FUNCTION keep_{name}() RETURNS trigger LANGUAGE plpgsql AS '{body.replace(chr(39), chr(39) * 2)}'"
    )
    trigger = f"CREATE TRIGGER keep_{name} BEFORE UPDATE OR DELETE OR TRUNCATE ON {name} EXECUTE FUNCTION keep_{name}()"
    for statement in (function, trigger):
        event.listen(table, "after_create", DDL(statement).execute_if(dialect="postgresql"))


for _table in (RATINGS, EVENTS):
    _guard(_table)


class Database:
    """Transactions on one database; safe for threads and for several processes.

    Args:
        url: SQLAlchemy URL, ``sqlite:///<path>`` or ``postgresql+psycopg://<user>@<host>/<database>``.

    Raises:
        HearsightError: the URL is wrong, or a package is missing.
        DatabaseError: the database cannot be used; so do all methods.
    """

    def __init__(self, url: str) -> None:
        parsed = _parse(url)
        self.sqlite = parsed.get_backend_name() == "sqlite"
        self.where = parsed.render_as_string(hide_password=True)
        self.file = SqliteFile.of(parsed)
        try:
            self.engine = _engine(parsed, self.sqlite)
            with self.writing(alone=True) as connection:
                METADATA.create_all(connection)
        except ModuleNotFoundError as error:
            hint = "pip install --editable '.[postgres]'"
            raise HearsightError(f"needs the package {error.name}", where=self.where, hint=hint) from None

    # SQLite wakes waiting writers late, so the writers of one process queue here instead.
    _lock = Lock()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a transaction that changes nothing and waits for nobody."""
        with self._explained(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self, alone: bool = False) -> Iterator[Connection]:
        """Give a transaction that is durable when the block ends.

        Args:
            alone: whether it waits for all others that are alone, e.g. since it makes what must exist once. In SQLite all are.
        """
        with (
            self._explained(),
            self._queue(),
            self.engine.connect().execution_options(**{WRITE: True}) as connection,
        ):
            with connection.begin():
                if alone and not self.sqlite:
                    connection.execute(_ALONE)
                yield connection
            if self.file:
                self.file.require_committed(connection)

    def compact(self) -> None:
        """Rewrite the tables without what was erased: free pages and the log of SQLite, old versions of rows of PostgreSQL."""
        if self.sqlite:
            # SQLAlchemy's own connection would begin a transaction.
            with self._explained(), closing(self.engine.raw_connection()) as raw:
                for command in ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
                    raw.cursor().execute(command)
            return
        with self._explained(), self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            for table in (ITEMS, PLACES):
                connection.execute(text(f"VACUUM (FULL) {table.name}"))

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise the database's errors as DatabaseError, and refuse a file that is not the one that was opened."""
        if self.file:
            self.file.require()
        try:
            yield
        except (DBAPIError, NoConnectionError, sqlite3.Error) as error:
            fault = explain(error, self.where)
            if fault is None:
                raise
            raise fault from error

    @contextmanager
    def _queue(self) -> Iterator[None]:
        """Let the writers of one process to SQLite wait for each other, and not for ever."""
        if not self.sqlite:
            yield
        elif self._lock.acquire(timeout=WAIT_SECONDS):
            try:
                yield
            finally:
                self._lock.release()
        else:
            what = "the ratings' database is busy: nothing was saved"
            raise DatabaseError(what, where=self.where, hint="try again in a minute")


_ALONE = text("SELECT pg_advisory_xact_lock(5019)")


def _parse(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise HearsightError("is no address of a database", where="HEARSIGHT_RATINGS_DB", hint=_FORMS) from None
    if parsed.drivername in ("postgres", "postgresql"):
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername not in ("sqlite", "postgresql+psycopg"):
        raise HearsightError(f"'{parsed.drivername}' is not supported", where="HEARSIGHT_RATINGS_DB", hint=_FORMS)
    return parsed


_FORMS = "write sqlite:///<path> or postgresql+psycopg://<user>@<host>/<database>"


def _engine(url: URL, sqlite: bool) -> Engine:
    try:
        if not sqlite:
            return create_engine(url, pool_size=10, max_overflow=30, pool_pre_ping=True)
        # One connection for each thread of the server at most; each keeps its prepared statements.
        engine = create_engine(url, pool_size=10, max_overflow=30, connect_args={"timeout": WAIT_SECONDS})
    except NoSuchModuleError as error:
        raise HearsightError(str(error), where="HEARSIGHT_RATINGS_DB", hint=_FORMS) from None

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # the module sqlite3 begins no transaction by itself
        record.info[LOG] = connection.execute("PRAGMA journal_mode=WAL").fetchone() == ("wal",)
        for pragma in ("synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get(WRITE) else "BEGIN")

    return engine
