"""The database of a running rating: its tables, the guards that keep ratings and events append-only, and transactions.

SQLite in WAL mode with ``synchronous=FULL``: a committed transaction survives a crash.
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
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
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
Index("open_items", ITEMS.c.campaign, ITEMS.c.position, sqlite_where=_OPEN)
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
Index("reserved_places", PLACES.c.shown, sqlite_where=_RESERVED)
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
        trigger = f"CREATE TRIGGER {name}_{change} BEFORE {change} ON {name} BEGIN SELECT RAISE(ABORT, '{refusal}'); END"
        event.listen(table, "after_create", DDL(trigger))
    # SQLite's INSERT OR REPLACE deletes without the trigger on DELETE.
    replace = (
        f"CREATE TRIGGER {name}_REPLACE BEFORE INSERT ON {name} WHEN EXISTS "
        f"(SELECT 1 FROM {name} WHERE sequence = NEW.sequence) BEGIN SELECT RAISE(ABORT, '{refusal}'); END"
    )
    event.listen(table, "after_create", DDL(replace))


for _table in (RATINGS, EVENTS):
    _guard(_table)


class Database:
    """Transactions on one database; safe for threads and for several processes.

    Args:
        url: ``sqlite:///<path>``.

    Raises:
        HearsightError: the URL is wrong.
        DatabaseError: the database cannot be used; so do all methods.
    """

    def __init__(self, url: str) -> None:
        parsed = _parse(url)
        self.where = parsed.render_as_string()
        self.file = SqliteFile.of(parsed)
        self.engine = _engine(parsed)
        with self.writing() as connection:
            METADATA.create_all(connection)

    # SQLite wakes waiting writers late, so the writers of one process queue here instead.
    _lock = Lock()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a transaction that changes nothing and waits for nobody."""
        with self._explained(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a transaction that is durable when the block ends; it waits for all others that write."""
        with (
            self._explained(),
            self._queue(),
            self.engine.connect().execution_options(**{WRITE: True}) as connection,
        ):
            with connection.begin():
                yield connection
            if self.file:
                self.file.require_committed(connection)

    def compact(self) -> None:
        """Rewrite the file without what was erased in free pages and the log."""
        # SQLAlchemy's own connection would begin a transaction.
        with self._explained(), closing(self.engine.raw_connection()) as raw:
            for command in ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
                raw.cursor().execute(command)

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
        """Let the writers of one process wait for each other, and not for ever."""
        if self._lock.acquire(timeout=WAIT_SECONDS):
            try:
                yield
            finally:
                self._lock.release()
        else:
            what = "the ratings' database is busy: nothing was saved"
            raise DatabaseError(what, where=self.where, hint="try again in a minute")


def _parse(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise HearsightError("is no address of a database", where="HEARSIGHT_RATINGS_DB", hint=_FORMS) from None
    if parsed.drivername != "sqlite":
        raise HearsightError(f"'{parsed.drivername}' is not supported", where="HEARSIGHT_RATINGS_DB", hint=_FORMS)
    return parsed


_FORMS = "write sqlite:///<path>"


def _engine(url: URL) -> Engine:
    # One connection for each thread of the server at most; each keeps its prepared statements.
    engine = create_engine(url, pool_size=10, max_overflow=30, connect_args={"timeout": WAIT_SECONDS})

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
