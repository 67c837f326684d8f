"""What happens to a database while it is used: nothing is acknowledged that is not saved, and every fault is one line."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from components.core.errors import HearsightError
from components.ratings import database
from components.ratings.assignment import RevokedError
from components.ratings.faults import DatabaseError, DatabaseFullError
from components.ratings.store import RatingStore
from tests.support.ratings.audit import event_kinds
from tests.support.ratings.postgres import postgres

ITEMS = {f"{number:016x}": 2 for number in range(5)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ratings.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[RatingStore]:
    store = opened(path)
    yield store
    store.close()


def opened(path: Path | str) -> RatingStore:
    store = RatingStore(f"sqlite:///{path}" if isinstance(path, Path) else path)
    store.open_campaign("english", "digest", ITEMS)
    return store


def next_of(store: RatingStore) -> tuple[str, str]:
    """A new rater and the item that was given to them."""
    (rater,) = store.invite("english")
    key = store.next_item(rater)
    assert key is not None
    return rater, key


def replaced(path: Path) -> None:
    other = path.with_name("other.sqlite")
    closing(opened(other)).__exit__()
    other.replace(path)


@pytest.mark.parametrize(
    "harm", [Path.unlink, replaced, lambda path: path.rename(path.with_name("moved")), lambda path: shutil.rmtree(path.parent)]
)
def test_no_rating_is_acknowledged_whose_file_was_replaced_or_removed(store, path, harm):
    rater, key = next_of(store)
    harm(path)
    for ask in (
        lambda: store.save(rater, key, "GOOD"),
        lambda: store.undo(rater),
        lambda: store.next_item(rater),
        store.campaigns,
    ):
        with pytest.raises(DatabaseError, match="was replaced or removed"):
            ask()
    assert not path.exists() or harm is replaced, "no empty file is made in its place"


def test_a_file_that_is_replaced_during_a_transaction_is_noticed_before_it_is_acknowledged(store, path):
    rater, key = next_of(store)
    real = store.clock
    store.clock = lambda: (path.exists() and path.rename(path.with_name("moved")), real())[1]
    with pytest.raises(DatabaseError, match="was replaced or removed"):
        store.save(rater, key, "GOOD")


def test_a_file_that_is_put_back_is_used_again(store, path):
    rater, key = next_of(store)
    path.rename(path.with_name("moved"))
    with pytest.raises(DatabaseError):
        store.save(rater, key, "GOOD")
    path.with_name("moved").rename(path)
    store.save(rater, key, "GOOD")
    assert [each["verdict"] for each in store.final_ratings("english")] == ["GOOD"]


def test_a_log_that_was_removed_is_noticed_too(store, path):
    rater, key = next_of(store)
    path.with_name("ratings.sqlite-wal").unlink()
    with pytest.raises(DatabaseError, match="log of the ratings' database was removed"):
        store.save(rater, key, "GOOD")


def test_a_database_behind_a_link_is_used_and_a_link_that_is_made_meanwhile_is_noticed(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    link = tmp_path / "link.sqlite"
    link.symlink_to(kept / "ratings.sqlite")
    store = opened(link)
    rater, key = next_of(store)
    store.save(rater, key, "GOOD")
    assert {file.stat().st_mode & 0o777 for file in kept.iterdir()} == {0o600} and [*tmp_path.glob("link*")] == [link]
    (kept / "ratings.sqlite").rename(kept / "moved.sqlite")  # SQLite looks for the log where the link leads
    (kept / "ratings.sqlite").symlink_to("moved.sqlite")
    with pytest.raises(DatabaseError, match="was replaced or removed"):
        store.save(rater, key, "BAD")
    (kept / "moved.sqlite").replace(kept / "ratings.sqlite")
    store.save(rater, key, "BAD")
    store.close()
    loop = tmp_path / "loop.sqlite"
    loop.symlink_to(loop)
    with pytest.raises(DatabaseError, match="cannot be used"):
        opened(loop)


def test_an_older_copy_that_is_written_into_the_open_file_refuses_the_raters_that_it_lacks_in_one_line(store, path, tmp_path):
    rater, key = next_of(store)
    store.save(rater, key, "GOOD")
    older = tmp_path / "older.sqlite"
    closing(opened(older)).__exit__()
    with closing(sqlite3.connect(older)) as source, closing(sqlite3.connect(path)) as target:
        source.backup(target)
    for ask in (lambda: store.save(rater, key, "BAD"), lambda: store.next_item(rater), lambda: store.undo(rater)):
        with pytest.raises(HearsightError, match="there is no such rater"):
            ask()
    store.save(*next_of(store), "GOOD")


def test_a_full_database_saves_nothing_and_goes_on_when_there_is_space(store):
    rater, key = next_of(store)
    with store.database.reading() as connection:
        pages = connection.execute(text("PRAGMA page_count")).scalar_one()
        connection.execute(text(f"PRAGMA max_page_count={pages}"))
    with pytest.raises(DatabaseFullError, match="no space is left"):
        store.invite("english", 2000)
    with store.database.reading() as connection:
        connection.execute(text("PRAGMA max_page_count=100000"))
    store.save(rater, key, "GOOD")
    assert len(store.raters("english")) == 1 and len(store.final_ratings("english")) == 1


@pytest.mark.parametrize("intact", [0, 100, 4096])
def test_a_damaged_file_is_one_line_that_names_the_backup(path, intact):
    store = opened(path)
    next_of(store)
    store.close()
    path.write_bytes(path.read_bytes()[:intact] + os.urandom(path.stat().st_size - intact))
    with pytest.raises(DatabaseError, match=r"cannot be used.*backup"):
        found = opened(path)
        found.invite("english")
        found.final_ratings("english")


def test_a_read_only_or_locked_database_is_one_line_and_the_lock_is_not_waited_for_without_end(path, monkeypatch):
    monkeypatch.setattr(database, "WAIT_SECONDS", 0.2)
    store = opened(path)
    rater, key = next_of(store)
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseError, match=r"locked.*another process holds it"):
            store.save(rater, key, "GOOD")
        assert store.progress(rater).answered == 0, "readers go on"
    with store.database.reading() as connection:
        connection.execute(text("PRAGMA query_only=ON"))
    with pytest.raises(DatabaseError, match=r"readonly.*writable"):
        store.save(rater, key, "GOOD")
    with store.database._lock, pytest.raises(DatabaseError, match="busy"):
        store.save(rater, key, "GOOD")
    store.close()


@pytest.mark.long
def test_a_postgresql_server_that_is_gone_is_one_line_and_one_that_comes_back_is_used(tmp_path):
    with postgres() as url:
        store = opened(url)
        rater, key = next_of(store)
        with store.database.writing() as connection:
            mine = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
            connection.execute(
                text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> {mine} AND datname = 'postgres'")
            )
        store.save(rater, key, "GOOD")
        store.close()  # the server waits for its clients
    for ask in (lambda: store.save(rater, key, "BAD"), store.campaigns, lambda: RatingStore(url)):
        with pytest.raises(DatabaseError, match="cannot be used") as fault:
            ask()
        assert "\n" not in str(fault.value) and "server runs" in str(fault.value)


def test_no_one_else_may_read_the_files_and_those_of_before_are_corrected(path):
    umask = os.umask(0)
    try:
        for _ in range(2):
            store = opened(path)
            next_of(store)
            files = sorted(path.parent.iterdir())
            assert [file.name for file in files] == ["ratings.sqlite", "ratings.sqlite-shm", "ratings.sqlite-wal"]
            assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
            store.close()
            path.chmod(0o644)
    finally:
        os.umask(umask)


def test_nothing_of_a_revoked_rater_is_saved(database_url):
    store = opened(database_url)
    rater, key = next_of(store)
    store.save(rater, key, "GOOD")
    after = store.next_item(rater)
    store.revoke([rater])
    for ask in (
        lambda: store.save(rater, after, "GOOD"),
        lambda: store.save(rater, key, "BAD"),
        lambda: store.undo(rater),
        lambda: store.join(rater),
    ):
        with pytest.raises(RevokedError, match="was revoked"):
            ask()
    assert [each["verdict"] for each in store.final_ratings("english")] == ["GOOD"]
    store.close()


def test_a_rating_in_flight_is_saved_before_the_revocation_or_not_at_all(database_url):
    store, order = opened(database_url), list[str]()
    rater, key = next_of(store)
    real = store.clock

    def revoke() -> None:
        store.revoke([rater])
        order.append("revoked")

    revoking = threading.Thread(target=revoke)

    def clock() -> float:  # is asked within the transaction that saves
        if not order:
            order.append("saving")
            revoking.start()
            time.sleep(0.3)
        return real()

    store.clock = clock
    store.save(rater, key, "GOOD")
    order.append("saved")
    revoking.join()
    assert order == ["saving", "saved", "revoked"] or order == ["saving", "revoked", "saved"]
    kinds = event_kinds(store, "english")
    assert kinds[-1] == "revoked" and len(store.final_ratings("english")) == 1
    with pytest.raises(RevokedError):
        store.save(rater, key, "BAD")
    store.close()
