"""Posts over several snapshots: new ones are appended, old ones keep bytes and times, refusing accounts withdraw theirs."""

from __future__ import annotations

import shutil

import pytest

from components.core.digests import sha256_file
from components.web import warc
from tests.support.crawl.social import SERVER, Answer, Social, file_digests, rows, rules

CLOCK = ["2026-11-20T10:00:00.000000Z"]


@pytest.fixture(autouse=True)
def days(monkeypatch):
    """Set the clock of answers to the day that a test selects."""
    from components.web import store

    CLOCK[0] = "2026-11-20T10:00:00.000000Z"
    monkeypatch.setattr(store, "utc_now", lambda: CLOCK[0])
    monkeypatch.setattr(warc, "utc_now", lambda: CLOCK[0])


def to_day(number: int) -> None:
    CLOCK[0] = f"2026-11-{number:02d}T10:00:00.000000Z"


def populate(web: Social, people: int = 4, posts: int = 5) -> None:
    for at in range(people):
        web.person(f"p{at}")
        for number in range(posts):
            web.post(f"p{at}", at * 100 + number + 1, day=1 + number)


@pytest.mark.long
def test_the_next_day_appends_new_posts_and_keeps_old_bytes(social, collect):
    populate(social)
    first = collect(social.proxy)
    before, was = file_digests(first), {row["key"]: row["collected"] for row in rows(first)}
    to_day(21)
    social.post("p0", 50, day=20)
    social.person("new")
    social.post("new", 900, day=20)
    second = collect(social.proxy, "day-2", "day-1")
    after = file_digests(second)
    assert {name: after.get(name) for name in before} == before and len(after) == len(before) + 2
    now = {row["key"]: row["collected"] for row in rows(second)}
    assert len(now) == 22 and {key: now[key] for key in was} == was and set(was.values()) == {"2026-11-20T10:00:00Z"}
    assert {now[key] for key in set(now) - set(was)} == {"2026-11-21T10:00:00Z"}


def test_a_known_account_that_is_in_no_timeline_is_visited(social, collect):
    populate(social)
    collect(social.proxy)
    to_day(21)
    social.timeline = []
    social.post("p1", 150, day=2)
    assert len(rows(collect(social.proxy, "day-2", "day-1"))) == 21


def test_a_deleted_post_is_removed_and_an_edited_one_keeps_its_collection_time(social, collect):
    populate(social, 2, 3)
    keys = {row["post"]: row["key"] for row in rows(collect(social.proxy))}
    to_day(21)
    posts = social.people["p0"].posts
    lost = posts.pop(0)
    posts[0]["content"] = "<p>#pracegover mudou</p>"
    second = collect(social.proxy, "day-2", "day-1")
    edited = [row for row in rows(second) if "mudou" in row["alt"]]
    assert [row["collected"] for row in edited] == ["2026-11-20T10:00:00Z"] and edited[0]["post"] == posts[0]["id"]
    gone = {key for key, rule in rules(second).items() if rule == "gone"}
    assert gone == {keys[lost["id"]], keys[posts[0]["id"]], lost["url"]}
    to_day(22)
    posts.insert(0, lost)  # and back again
    third = collect(social.proxy, "day-3", "day-2")
    assert {row["collected"] for row in rows(third)} == {"2026-11-20T10:00:00Z"} and len(rows(third)) == 6


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "rule"),
    [({"locked": True}, "account_private"), ({"gone": 410}, "account_gone"), ({"more": {"noindex": True}}, "account_noindex")],
)
def test_an_account_that_refuses_later_withdraws_its_posts_and_can_restore_them(social, collect, change, rule):
    populate(social)
    first = collect(social.proxy)
    theirs = {row["key"] for row in rows(first) if row["owner"] == "p2@social.sample"}
    addresses = {row["page_url"] for row in rows(first) if row["key"] in theirs}
    for name, value in change.items():
        setattr(social.people["p2"], name, value)
    social.timeline = []
    for number in (21, 22):  # the rows stay as long as the account does
        to_day(number)
        output = collect(social.proxy, f"day-{number}", "day-1" if number == 21 else "day-21")
        dropped_rules = rules(output)
        assert {key for key, dropped in dropped_rules.items() if dropped == rule} == theirs | addresses | {f"{SERVER}/@p2"}
        assert "gone" not in dropped_rules.values() and len(rows(output)) == 15
        assert len(social.asked(lambda url: "/102/statuses" in url)) == 2  # those of the first day
    for name, value in {"locked": False, "gone": 0, "more": {}}.items():
        setattr(social.people["p2"], name, value)
    to_day(23)
    back = rows(collect(social.proxy, "day-23", "day-22"))
    assert {row["collected"] for row in back} == {"2026-11-20T10:00:00Z"} and len(back) == 20


def test_a_failed_listing_keeps_the_posts_of_the_base(social, collect):
    populate(social)
    before = file_digests(collect(social.proxy))
    to_day(21)
    social.post("p1", 150, day=20)
    social.order("/101/statuses", *[Answer(503, b"busy")] * 2)
    social.order("/102/statuses", *[Answer(200, b"<html>")] * 2)
    social.order("/103/statuses?tagged=pracegover&limit=40&exclude_reblogs=true&max_id", *[Answer(200, body=None)] * 6)
    second = collect(social.proxy, "day-2", "day-1")
    assert file_digests(second) | before == file_digests(second) and len(rows(second)) == 20
    dropped_rules = rules(second)
    names = {"p1": "http_503", "p2": "not_json", "p3": "connection"}
    assert {key: rule for key, rule in dropped_rules.items() if rule != "kept"} == {
        f"listing:{name}@social.sample": rule for name, rule in names.items()
    }


@pytest.mark.long
def test_between_complete_listings_pages_are_read_until_nothing_is_new(social, collect):
    populate(social, 1, 12)
    collect(social.proxy, relist_days=5.0)
    to_day(21)
    social.post("p0", 50, day=20)
    lost = social.people["p0"].posts.pop()  # the oldest: not read, so not missed yet
    start = len(social.log)
    second = collect(social.proxy, "day-2", "day-1", relist_days=5.0)
    listed = [url for url, _ in social.log[start:] if "/statuses" in url]
    assert len(listed) == 1 and len(rows(second)) == 13 and not rules(second)
    to_day(26)
    third = collect(social.proxy, "day-3", "day-2", relist_days=5.0)
    assert len(rows(third)) == 12 and set(rules(third).values()) == {"gone"}
    assert any(lost["id"] in row["detail"] for row in third.ledger().to_pylist() if row["rule"] == "gone")


@pytest.mark.long
def test_a_replay_sends_no_request_and_gives_equal_bytes_with_and_without_cache(social, collect, tmp_path):
    populate(social)
    collect(social.proxy)
    to_day(21)
    social.people["p2"].locked = True
    social.post("p1", 150, day=20)
    second = collect(social.proxy, "day-2", "day-1")
    before, digest, asked = file_digests(second), sha256_file(second.path / "manifest.json"), len(social.log)
    for cold in (False, True):
        if cold:
            shutil.rmtree(tmp_path / ".hearsight")
        again = collect("http://127.0.0.1:1", "day-2", "day-1")
        assert file_digests(again) == before and sha256_file(again.path / "manifest.json") == digest
    assert len(social.log) == asked
