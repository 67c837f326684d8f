"""A database that fails while people rate: a page that says so and keeps their answer, one line of a command, no half export."""

from __future__ import annotations

import re
import resource
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from sqlalchemy import text

from components.app.raters import rating_store
from components.core.errors import HearsightError
from components.ratings.running import database_url, export_path, own_rater
from components.ratings.store import RatingStore
from tests.app.rating import RatingApp, invited, item_of, rating_app, start
from tests.app.server import OWNER, csrf_of
from tests.support.app.browser import assert_accessible
from tests.support.command import hearsight
from tests.support.ratings.made_items import make_items


@pytest.fixture
def app(tmp_path: Path) -> Iterator[RatingApp]:
    with rating_app(tmp_path, captions=3, retrieved=0, voiced=0) as app:
        yield app


def fields_of(page: httpx.Response) -> dict[str, str]:
    return dict(re.findall(r'<input type="hidden" name="(item|verdict|csrf)" value="([^"]*)"', page.text.partition("<main")[2]))


def test_an_answer_that_was_not_saved_can_be_sent_again_from_the_page_that_says_so(app):
    client = invited(app)
    page = client.get("/rate/task")
    form = {"csrf": csrf_of(page), "item": item_of(page), "verdict": "BAD"}
    path = app.root / "ratings.sqlite"
    path.rename(app.root / "moved")
    refused = client.post("/rate/task", data=form)
    assert refused.status_code == 503 and refused.headers["retry-after"] and "was replaced or removed" in refused.text
    assert fields_of(refused) == form
    for shown in (client.get("/rate/task"), client.get(app.link(rater="r-0123456789"))):
        assert shown.status_code == 503 and "was replaced or removed" in shown.text
    assert httpx.get(f"{app.url}/rate", headers=OWNER).status_code == 503
    (app.root / "moved").rename(path)
    assert "after=bad" in str(client.post("/rate/task", data=fields_of(refused)).url)
    assert [each["verdict"] for each in app.store.final_ratings("english")] == ["BAD"]


def test_a_full_database_is_answered_with_507_and_what_to_do(app):
    client = invited(app)
    page = client.get("/rate/task")
    form = {"csrf": csrf_of(page), "item": item_of(page), "verdict": "GOOD"}

    def allow(pages: int) -> None:
        connections = rating_store(served.state.services).database.engine.pool
        held = [connections.connect() for _ in range(connections.size())]  # all that the application may use
        for connection in held:
            connection.cursor().execute(f"PRAGMA max_page_count={pages}")
            connection.close()

    served = app.app
    allow(1)
    with app.store.database.writing() as connection:  # what is free now is used up
        connection.execute(text("CREATE TABLE filler (x)"))
        connection.execute(
            text("INSERT INTO filler WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000) SELECT i FROM n")
        )
    statuses = [
        client.post(
            "/rate/invitations", data={"csrf": "", "dataset": "english", "count": "50", "days": "1"}, headers=OWNER
        ).status_code
        for _ in range(30)
    ]
    assert 507 in statuses and not {500, 502} & set(statuses), statuses
    answer = client.post("/rate/task", data=form)
    assert answer.status_code in (200, 507)
    allow(1_000_000)
    assert client.post("/rate/task", data=form).status_code == 200
    assert [each["verdict"] for each in app.store.final_ratings("english")] == ["GOOD"]


@pytest.mark.long
def test_the_page_of_a_fault_is_accessible_and_its_button_sends_the_answer(page, app):
    start(page, app.link())
    (app.root / "ratings.sqlite").rename(app.root / "moved")
    page.locator("button.good").press("Enter")
    page.get_by_role("button", name="Send it again").wait_for()
    assert_accessible(page)
    (app.root / "moved").rename(app.root / "ratings.sqlite")
    page.get_by_role("button", name="Send it again").press("Enter")
    page.wait_for_url("**after=good*")
    assert [each["verdict"] for each in app.store.final_ratings("english")] == ["GOOD"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    make_items(tmp_path, captions=2, retrieved=0, voiced=1)
    for name in ("dvc.yaml", "params.yaml"):
        (tmp_path / name).write_text("{}")
    return tmp_path


COMMANDS = (
    ("ratings", "open"),
    ("ratings", "status"),
    ("ratings", "invite"),
    ("ratings", "export"),
    ("ratings", "revoke", "--all"),
)


@pytest.mark.long
def test_every_command_says_in_one_line_that_the_database_is_damaged_or_full(project):
    file = project / ".hearsight" / "ratings" / "ratings.sqlite"
    done = hearsight("ratings", "open", cwd=project, HEARSIGHT_ROOT=str(project))
    assert done.returncode == 0 and file.stat().st_mode & 0o777 == 0o600
    own_rater(project, RatingStore(database_url(project)), "english")
    assert (file.parent / "english.rater").stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(file)) as base:  # what the log has is in the file then, and the log is gone
        base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    good = file.read_bytes()
    for content in (b"garbage" * 2000, good[:100] + b"\xff" * (len(good) - 100)):
        file.write_bytes(content)
        for words in COMMANDS:
            done = hearsight(*words, cwd=project, HEARSIGHT_ROOT=str(project))
            assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, (words, done.stderr)
            assert b"ratings' database" in done.stderr and b"backup" in done.stderr
    file.write_bytes(good)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(good) // 2, before[1]))  # as a disk without space
        done = hearsight("ratings", "invite", "-n", "1000", cwd=project, HEARSIGHT_ROOT=str(project))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert done.returncode == 2 and b"Traceback" not in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.parametrize("content", [b"", b"\xff\x00garbage\n\xfe\n", b"item,verdict\n1,GOOD\n", b"rater\n" + b"x" * 200_000])
def test_an_export_replaces_an_export_only(app, content):
    from components.ratings.running import export_ratings

    (rater,) = app.store.invite("english")
    app.store.save(rater, str(app.store.next_item(rater)), "GOOD")
    path = export_path(app.root, "english")
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    if content:
        with pytest.raises(HearsightError, match=r"hearsight.csv: is no export of ratings — rename it"):
            export_ratings(app.store, "english", app.items, path)
        assert path.read_bytes() == content
        path.unlink()
        path.mkdir()
        with pytest.raises(HearsightError, match="is no export of ratings"):
            export_ratings(app.store, "english", app.items, path)
        path.rmdir()
    for _ in range(2):
        assert export_ratings(app.store, "english", app.items, path) == 1
    assert rater in path.read_text()


def test_an_export_that_cannot_be_noted_leaves_no_file(app, monkeypatch):
    from components.ratings.faults import DatabaseError
    from components.ratings.running import export_ratings

    (rater,) = app.store.invite("english")
    app.store.save(rater, str(app.store.next_item(rater)), "GOOD")
    path, note = export_path(app.root, "english"), app.store.note_export

    def fail(dataset: str, count: int) -> None:
        (app.root / "ratings.sqlite").rename(app.root / "moved")
        note(dataset, count)

    monkeypatch.setattr(app.store, "note_export", fail)
    with pytest.raises(DatabaseError):
        export_ratings(app.store, "english", app.items, path)
    assert not list(path.parent.iterdir())
