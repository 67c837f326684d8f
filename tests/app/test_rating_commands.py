"""Commands of ratings: open, invite, revoke, status and export."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from components.app.invitations import read_invitation
from components.app.settings import read_secret
from components.core.errors import HearsightError
from components.ratings.running import database_url, own_rater
from components.ratings.store import RatingStore
from tests.support.command import hearsight
from tests.support.ratings.made_items import make_items


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with three items of dataset ``english``."""
    make_items(tmp_path, captions=2, retrieved=0, voiced=1)
    for name in ("dvc.yaml", "params.yaml"):
        (tmp_path / name).write_text("{}")
    return tmp_path


def run(project: Path, *words: str) -> list[dict[str, Any]]:
    done = hearsight(*words, cwd=project, HEARSIGHT_ROOT=str(project))
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith(b"{")]


def rate(project: Path, *verdicts: str) -> None:
    """Rate the next items as the owner."""
    store = RatingStore(database_url(project))
    rater = own_rater(project, store, "english")
    for verdict in verdicts:
        store.save(rater, str(store.next_item(rater)), verdict)


@pytest.mark.long
def test_ratings_are_opened_counted_and_exported_without_names(project):
    assert run(project, "ratings", "open", "-d", "english") == [{"dataset": "english", "added": 3, "retired": 0, "items": 3}]
    rate(project, "BAD", "GOOD")
    rate(project, "GOOD")  # goes on as the same rater
    (status,) = run(project, "ratings", "status")
    assert (status["ratings"], status["wanted"], status["complete"], status["raters"]) == (3, 11, 0, 1)
    checked = hearsight("ratings", "status", "-d", "english", "--check", cwd=project, HEARSIGHT_ROOT=str(project))
    assert checked.returncode == 1
    (exported,) = run(project, "ratings", "export", "-d", "english")
    assert exported["ratings"] == 3
    with (project / "ratings/english/hearsight.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["item", "query", "candidate", "rank", "rater", "verdict", "time", "seconds", "source"]
    assert [row["verdict"] for row in rows] == ["BAD", "GOOD", "GOOD"] and {row["source"] for row in rows} == {"hearsight"}
    assert {row["query"] for row in rows} == {"record-0", "record-1", "record-0.0"}


def test_invitations_are_links_of_new_raters(project):
    rows = run(project, "ratings", "invite", "-d", "english", "-n", "2", "--days", "3", "--address", "https://rate.example/")
    assert len({row["rater"] for row in rows}) == 2
    for row in rows:
        address, _, token = row["link"].partition("?token=")
        assert address == "https://rate.example/rate/invitation"
        assert read_invitation(read_secret(project), token)[0] == row["rater"]


@pytest.mark.parametrize("name", ["../data/english", "english/.", "--help", "english/../english"])
def test_a_name_of_a_dataset_is_never_a_path(project, name):
    refused = hearsight("ratings", "status", f"--dataset={name}", cwd=project, HEARSIGHT_ROOT=str(project))
    assert refused.returncode == 2 and b"has no rating items" in refused.stderr


@pytest.mark.long
def test_invitations_are_revoked_by_name_or_all_at_once(project):
    first, *_ = [row["rater"] for row in run(project, "ratings", "invite", "-d", "english", "-n", "3")]
    assert run(project, "ratings", "revoke", first) == [{"rater": first, "revoked": "now"}]
    rows = run(project, "ratings", "revoke", "--all", "-d", "english")
    assert sorted(row["revoked"] for row in rows) == ["before", "now", "now"]
    with pytest.raises(HearsightError, match="was revoked"):
        RatingStore(database_url(project)).next_item(first)
    for words in ((), (first, "--all"), ("r-0",)):
        assert hearsight("ratings", "revoke", *words, cwd=project, HEARSIGHT_ROOT=str(project)).returncode == 2


@pytest.mark.long
def test_an_export_loses_no_ratings_of_another_database(project, monkeypatch):
    refused = hearsight("ratings", "export", "-d", "english", cwd=project, HEARSIGHT_ROOT=str(project))
    assert refused.returncode == 2 and b"no rating to export" in refused.stderr
    rate(project, "GOOD")
    run(project, "ratings", "export", "-d", "english")
    monkeypatch.setenv("HEARSIGHT_RATINGS_DB", f"sqlite:///{project / 'other.sqlite'}")
    run(project, "ratings", "open", "-d", "english")
    rate(project, "GOOD")
    done = hearsight("ratings", "export", "-d", "english", cwd=project, HEARSIGHT_ROOT=str(project))
    assert done.returncode == 2 and b"that are not in this database" in done.stderr


def test_a_dataset_without_items_is_refused_with_the_command_that_makes_them(project):
    for words in (("ratings", "open"), ("ratings", "status"), ("ratings", "export")):
        done = hearsight(*words, "-d", "none", cwd=project, HEARSIGHT_ROOT=str(project))
        assert done.returncode == 2 and b"dvc repro build_rating_items@none" in done.stderr
