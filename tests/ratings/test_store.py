"""The store of a running rating: assignment, undo, late answers, replaced items, append-only tables and the audit trail."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from components.core.errors import HearsightError
from components.ratings.assignment import HOLD
from components.ratings.store import RatingStore, RefusedRatingError
from tests.support.ratings.audit import event_kinds

ITEMS = {f"{number:016x}": 2 for number in range(5)}


class Clock:
    """A clock that tests move."""

    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(database_url: str, clock: Clock) -> Iterator[RatingStore]:
    store = RatingStore(database_url, clock)
    store.open_campaign("english", "digest-1", ITEMS)
    yield store
    store.close()


def rate_all(store: RatingStore, rater: str, verdict: str = "GOOD") -> list[str]:
    """Rate until nothing is left; return the keys in the order of showing."""
    seen = []
    while (key := store.next_item(rater)) is not None:
        seen.append(key)
        store.save(rater, key, verdict)
    return seen


@pytest.mark.long
def test_each_item_is_given_to_as_many_raters_as_wanted_and_to_none_twice(store):
    raters = store.invite("english", 3)
    seen = [rate_all(store, rater) for rater in raters]
    assert sorted(seen[0]) == sorted(seen[1]) == sorted(ITEMS) and seen[2] == []
    (progress,) = store.campaigns()
    assert progress.finished and (progress.ratings, progress.wanted, progress.raters) == (10, 10, 2)


def test_raters_see_different_orders_and_a_rater_the_same_one_each_time(database_url):
    store = RatingStore(database_url)
    store.open_campaign("english", "digest", {f"{number:016x}": 2 for number in range(40)})
    one, two = (rate_all(store, rater) for rater in store.invite("english", 2))
    assert one != two and sorted(one) == sorted(two)
    assert one != sorted(one)
    store.close()


def test_an_item_stays_reserved_until_it_is_answered_and_counts_for_others(store, clock):
    one, two, three = store.invite("english", 3)
    store.open_campaign("english", "digest-2", {"a" * 16: 2})
    assert store.next_item(one) == store.next_item(one) == store.next_item(two) == "a" * 16
    assert store.next_item(three) is None
    clock.now += HOLD + 1
    assert store.next_item(three) == "a" * 16


def test_a_late_answer_is_accepted_while_a_place_is_free_and_refused_when_others_took_it(store, clock):
    one, two, three = store.invite("english", 3)
    store.open_campaign("english", "digest-2", {"a" * 16: 1})
    assert store.next_item(one) == "a" * 16
    clock.now += HOLD + 1
    assert store.next_item(two) == "a" * 16
    with pytest.raises(RefusedRatingError, match="late"):
        store.save(one, "a" * 16, "GOOD")
    clock.now += HOLD + 1
    store.save(two, "a" * 16, "BAD")
    assert store.next_item(one) is None and store.next_item(three) is None
    assert [(r["rater"], r["verdict"]) for r in store.final_ratings("english")] == [(two, "BAD")]
    assert event_kinds(store, "english")[-1] == "refused"


def test_an_item_that_was_not_shown_cannot_be_rated(store):
    (rater,) = store.invite("english")
    with pytest.raises(RefusedRatingError, match="not given"):
        store.save(rater, next(iter(ITEMS)), "GOOD")
    with pytest.raises(HearsightError, match="no verdict"):
        store.save(rater, next(iter(ITEMS)), "MAYBE")


def test_the_same_rating_twice_is_one_and_another_verdict_replaces_it(store, clock):
    (rater,) = store.invite("english")
    key = store.next_item(rater)
    clock.now += 2.5
    for verdict in ("GOOD", "GOOD", "BAD", "BAD"):
        store.save(rater, key, verdict)
    (final,) = store.final_ratings("english")
    assert (final["verdict"], final["seconds"], final["time"]) == ("BAD", 2.5, "2027-01-15T08:00:02Z")
    assert store.progress(rater).answered == 1
    with store.database.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM ratings")).scalar() == 2


def test_undo_makes_the_last_ratings_void_and_shows_their_items_again(store):
    (rater,) = store.invite("english")
    first = store.next_item(rater)
    store.save(rater, first, "GOOD")
    second = store.next_item(rater)
    store.save(rater, second, "BAD")
    third = store.next_item(rater)
    assert store.undo(rater) == second == store.next_item(rater)
    assert store.undo(rater) == first == store.next_item(rater)
    assert store.undo(rater) is None
    assert store.final_ratings("english") == [] and store.progress(rater).answered == 0
    order = []
    for _ in range(3):
        order.append(store.next_item(rater))
        store.save(rater, order[-1], "GOOD")
    assert order == [first, second, third]


def test_new_items_keep_ratings_of_unchanged_keys_and_retire_those_that_are_gone(store):
    (rater,) = store.invite("english")
    rate_all(store, rater)
    kept = dict(list(ITEMS.items())[:2])
    assert store.open_campaign("english", "digest-2", kept | {"f" * 16: 2}) == {"added": 1, "retired": 3, "items": 3}
    assert store.open_campaign("english", "digest-2", kept) == {"added": 0, "retired": 0, "items": 3}
    assert {rating["item"] for rating in store.final_ratings("english")} == set(kept)
    assert rate_all(store, rater) == ["f" * 16]
    assert store.open_campaign("english", "digest-3", ITEMS)["added"] == 3
    assert {rating["item"] for rating in store.final_ratings("english")} == set(ITEMS)


def test_an_erased_item_leaves_no_key_behind(store, database_url):
    (rater,) = store.invite("english")
    key = rate_all(store, rater)[0]
    assert store.erase([key, "0" * 15 + "z"]) == 1
    assert not store.was_shown(rater, key)
    with store.database.reading() as connection:
        for table in ("items", "places", "ratings", "events", "raters", "campaigns"):
            assert key not in str(connection.execute(text(f"SELECT * FROM {table}")).all()), table
    assert len(store.final_ratings("english")) == len(ITEMS) - 1


@pytest.mark.parametrize("table", ["ratings", "events"])
@pytest.mark.parametrize("change", ["UPDATE {} SET time = ''", "DELETE FROM {}"])
def test_ratings_and_events_cannot_be_changed(store, table, change):
    (rater,) = store.invite("english")
    store.save(rater, store.next_item(rater), "GOOD")
    with pytest.raises(DBAPIError, match="append-only"), store.database.writing() as connection:
        connection.execute(text(change.format(table)))


@pytest.mark.parametrize("table", ["ratings", "events"])
def test_a_row_cannot_be_replaced_by_inserting_its_number_again(store, table):
    (rater,) = store.invite("english")
    store.save(rater, store.next_item(rater), "GOOD")
    store.join(rater)
    replace = f"{'INSERT OR REPLACE' if store.database.sqlite else 'INSERT'} INTO {table} SELECT * FROM {table}"
    with pytest.raises(DBAPIError), store.database.writing() as connection:
        connection.execute(text(replace))


def test_every_step_is_in_the_audit_trail(store):
    (rater,) = store.invite("english")
    store.join(rater)
    store.save(rater, store.next_item(rater), "GOOD")
    store.undo(rater)
    store.open_campaign("english", "digest-2", {})
    store.note_export("english", 0)
    kinds = event_kinds(store, "english")
    assert kinds == ["opened", "invited", "joined", "undone", "items replaced", "exported"]


def test_progress_falls_when_others_complete_items(store, clock):
    one, two, three = store.invite("english", 3)
    assert (store.progress(three).answered, store.progress(three).left) == (0, 5)
    for rater in (one, two):
        rate_all(store, rater)
    clock.now += 60
    assert store.progress(three).items == 0 and store.progress(one).items == 5


def test_unknown_raters_campaigns_and_databases_are_refused_in_one_line(store, tmp_path):
    with pytest.raises(HearsightError, match="no such rater"):
        store.next_item("r-0000000000")
    with pytest.raises(HearsightError, match="ratings open"):
        store.invite("none")
    for url, message in {
        "mysql://x/y": "not supported",
        "nothing": "no address",
        f"sqlite:///{tmp_path}/none/x.sqlite": "cannot be used",
        "postgresql://someone:secret@127.0.0.1:1/none": "cannot be used",  # pragma: allowlist secret
    }.items():
        with pytest.raises(HearsightError, match=message) as refused:
            RatingStore(url)
        assert "secret" not in str(refused.value)
