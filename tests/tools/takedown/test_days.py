"""Snapshots that stand on one another: what is taken down leaves every one of them, and all the rest stands as it stood."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.stages.crawl.run import run
from components.tools.snapshots import retry_snapshot
from components.tools.takedown.listing import add
from components.web import erase as erasing
from components.web import store as storing
from components.web import takedown_journal as removing
from components.web.erase import erase
from components.web.segments import write_all
from components.web.store import FetchStore
from components.web.takedown_list import NAME, read_takedown
from tests.support import THOROUGH, make_stage
from tests.support.crawl.counting_web import CountingWeb, Thing
from tests.support.crawl.crawls import fixture_params
from tests.support.crawl.daily_site import HOST, MEDIA, image, site
from tests.support.crawl.fixtures import crawl_day as crawl  # noqa: F401
from tests.support.takedown.unpack import read_unpacked

GONE = f"{HOST}/p003.html"
DAYS = ("day-1", "day-2", "day-3")


def listed(url: str) -> bool:
    """By itself, or as the image that only a listed page shows."""
    return url in (GONE, image(3, 0)) or url.startswith(MEDIA)


def bodies(store: Path) -> dict[str, bytes]:
    """The bodies of a snapshot's good answers that are not listed."""
    with FetchStore(store) as opened:
        assert opened.verified_digest()
        return {entry.url: opened.body(entry.url) for entry in opened if not entry.failure and not listed(entry.url)}


def three_days(crawl, web: CountingWeb) -> None:  # noqa: F811
    crawl(web, "day-1")
    web.things |= site(range(9))
    crawl(web, "day-2", "day-1")
    web.things |= site(range(10))
    crawl(web, "day-3", "day-2")


@pytest.mark.long
def test_content_of_day_1_is_taken_down_on_day_3_and_the_snapshot_chain_stays_valid(crawl, tmp_path):  # noqa: F811
    stores = tmp_path / "data/store"
    with CountingWeb(site(range(8))) as web:
        three_days(crawl, web)
        with FetchStore(stores / "day-3") as store:
            assert store.get(GONE).held.startswith("day-1/") and store.get(image(3, 1)).held.startswith("day-1/")
        secret = [web.things[url].body for url in (GONE, image(3, 0), image(3, 1))]
        before = {day: bodies(stores / day) for day in DAYS}
        rows = crawl(web, "day-3", "day-2")[0].table().to_pylist()
        add(tmp_path, "url", GONE)
        add(tmp_path, "host", MEDIA.removeprefix("http://"))

        third, asked, _ = crawl(web, "day-3", "day-2")
        assert asked == []
        kept = {row["key"]: row for row in rows if not listed(row["page_url"]) and not listed(row["image_url"])}
        assert {row["key"] for row in third.table().to_pylist()} == set(kept) and len(kept) == 9
        assert all(third.read_media(row["media"]) for row in third.table().to_pylist())
        ledger = third.ledger().to_pylist()
        assert not any(name in str(ledger) for name in (MEDIA, GONE, image(3, 0))) and "gone" not in {
            row["rule"] for row in ledger
        }
        assert {row["kind"] for row in ledger if row["rule"] == "takedown"} == {"page", "record"}

        for day in DAYS:
            assert bodies(stores / day) == before[day], day
            left = read_unpacked(stores / day)
            assert not any(body in left for body in secret)
            assert not re.search(rb"WARC-Target-URI: (http://media|\S+/p003|\S+/003-0)", left)
            with FetchStore(stores / day) as store:
                assert not any(listed(entry.url) for entry in store)

        # A function of the snapshots and the list alone.
        shutil.rmtree(tmp_path / ".hearsight")
        again, asked, _ = crawl(web, "day-3", "day-2")
        assert again.digest == third.digest and asked == []
        fourth, asked, _ = crawl(web, "day-4", "day-3")
        assert asked and not [one for one in asked if listed(one.url)]
        assert {row["key"] for row in fourth.table().to_pylist()} == set(kept)
        assert bodies(stores / "day-4") == before["day-3"]


@pytest.mark.long
def test_a_later_snapshot_with_listed_content_is_read_without_it(crawl, tmp_path):  # noqa: F811
    with CountingWeb(site(range(8))) as web:
        three_days(crawl, web)
        add(tmp_path, "url", GONE)
        erase(tmp_path / "data/store/day-1", read_takedown(tmp_path / NAME))
        third, asked, _ = crawl(web, "day-3", "day-2")
        assert asked == [] and GONE not in str(third.ledger().to_pylist()) and third.table().num_rows == 18
        assert not [row for row in third.table().to_pylist() if listed(row["page_url"])]


@pytest.mark.long
def test_a_base_changed_by_anything_but_a_takedown_is_refused(crawl, tmp_path):  # noqa: F811
    with CountingWeb(site(range(8))) as web:
        three_days(crawl, web)
        add(tmp_path, "url", GONE)
        crawl(web, "day-3", "day-2")
        result = tmp_path / "data/store/day-1/COMPLETE"
        result.write_text(result.read_text().replace('"digest": "', '"digest": "0'))
        with (
            FetchStore(tmp_path / "data/store/day-3") as store,
            pytest.raises(HearsightError, match="'day-1' of 'day-3' was changed"),
        ):
            store.verified_digest()


KILLS_APART = 1 if THOROUGH else 7
"""Every how many writes a run is killed; 7 is prime to the writes of one day."""


@pytest.mark.long
def test_a_takedown_of_several_days_killed_at_any_write_is_completed_by_the_next_call(crawl, tmp_path, monkeypatch):  # noqa: F811
    stores, made = tmp_path / "data/store", tmp_path / "made"
    with CountingWeb(site(range(4))) as web:
        crawl(web, "day-1")
        crawl(web, "day-2", "day-1")
        crawl(web, "day-3", "day-2")
        before = {day: bodies(stores / day) for day in DAYS}
        secret = [web.things[url].body for url in (GONE, image(3, 0))]
        add(tmp_path, "url", GONE)
        shutil.copytree(stores, made)
        whole = crawl(web, "day-3", "day-2")[0].digest

        class Killed(BaseException):
            pass

        steps = 0
        while True:
            shutil.rmtree(stores, ignore_errors=True)
            shutil.copytree(made, stores)
            left = [steps]

            def dying(real, left=left):
                def step(*arguments):
                    if left[0] == 0:
                        if real is write_all:
                            real(arguments[0], arguments[1][: len(arguments[1]) // 2])
                        raise Killed
                    left[0] -= 1
                    return real(*arguments)

                return step

            with monkeypatch.context() as patch:
                for module, name in (
                    (erasing, "publish_bytes"),
                    (erasing, "write_all"),
                    (removing, "publish_bytes"),
                    (storing, "publish_bytes"),
                    (storing, "publish_json"),
                ):
                    patch.setattr(module, name, dying(getattr(module, name)))
                try:
                    crawl(web, "day-3", "day-2")
                    break
                except Killed:
                    pass
            assert crawl(web, "day-3", "day-2")[0].digest == whole
            for day in DAYS:
                assert bodies(stores / day) == before[day]
                left = read_unpacked(stores / day)
                assert not any(body in left for body in secret) and b"-URI: " + GONE.encode() not in left
            steps += KILLS_APART
        assert steps > 25


def test_a_redirect_to_a_listed_item_is_never_stored_nor_requested_again(crawl, tmp_path):  # noqa: F811
    things = site(range(4))
    moved = f"{HOST}/moved.jpg"
    page = b'<!doctype html><html lang=en><img src="/moved.jpg" alt="A moved picture">'
    things |= {f"{HOST}/p002.html": Thing(page), moved: Thing(b"", "text/plain", 302, [("Location", f"{MEDIA}/elsewhere.jpg")])}
    for number in range(4):  # no page of this one names the media host
        things[f"{HOST}/p{number:03d}.html"].body = things[f"{HOST}/p{number:03d}.html"].body.replace(MEDIA.encode(), b"")
    with CountingWeb(things) as web:
        add(tmp_path, "host", MEDIA.removeprefix("http://"))
        first, asked, _ = crawl(web, "day-1")
        assert moved in {one.url for one in asked} and not [one for one in asked if one.url.startswith(MEDIA)]
        assert MEDIA.encode() not in read_unpacked(tmp_path / "data/store/day-1")
        (row,) = [row for row in first.ledger().to_pylist() if row["rule"] == "takedown"]
        assert row["kind"] == "record" and "//" not in str(row)
        digest = first.digest
        assert crawl(web, "day-1")[0].digest == digest


def test_a_listed_page_removes_no_file_that_other_pages_show(crawl, tmp_path):  # noqa: F811
    things = site(range(3))
    things[f"{HOST}/away.jpg"] = Thing(b"", "text/plain", 302, [("Location", "/p001.html")], validator="none")
    for source in ("/robots.txt", "/", "/p001.html", "/away.jpg", image(2, 0)):  # of a hostile page
        things[f"{HOST}/p000.html"].body += f'<img src="{source}" alt="Something that is not mine">'.encode()
    with CountingWeb(things) as web:
        crawl(web, "day-1")
        add(tmp_path, "url", f"{HOST}/p000.html")
        after, asked, _ = crawl(web, "day-1")
        assert asked == [] and after.table().num_rows == 4
        with FetchStore(tmp_path / "data/store/day-1") as store:
            assert {f"{HOST}/robots.txt", f"{HOST}/", f"{HOST}/p001.html", image(2, 0)} <= {entry.url for entry in store}
            assert f"{HOST}/away.jpg" not in store and image(0, 0) not in store and image(0, 1) not in store


def test_a_retry_requests_no_listed_item(tmp_path):
    things = {f"{HOST}/robots.txt": Thing(b"", "text/plain"), f"{HOST}/": Thing(b'<img src="/a.jpg" alt="One of them">')}
    things[f"{HOST}/"].body += f'<img src="{MEDIA}/b.jpg" alt="The other of them">'.encode()
    things |= {f"{HOST}/a.jpg": Thing(b"", status=503), f"{MEDIA}/b.jpg": Thing(b"", status=503)}
    with CountingWeb(things) as web:
        values = {"web": "open", "proxy": web.proxy, "contact": "mail@example.org", "seeds": [f"{HOST}/"], "hosts": ["a.sample"]}
        stage = make_stage(tmp_path, "crawl", params=fixture_params(**values, retries=0))
        run(stage)
        asked = len(web.log)
        add(tmp_path, "host", MEDIA.removeprefix("http://"))
        result = retry_snapshot(stage, ["http_5xx"])
        assert [one.url for one in web.log[asked:]] == [f"{HOST}/a.jpg"] and result["asked"] == 1
        with FetchStore(tmp_path / "data/store/fixture") as store:
            assert store.verified_digest() == result["digest"] and f"{MEDIA}/b.jpg" not in store


def test_a_redirect_to_a_listed_host_is_not_retried(tmp_path):
    with CountingWeb({f"{HOST}/": Thing(b'<img src="/a.jpg" alt="One of them">')}) as web:
        web.things[f"{HOST}/a.jpg"] = Thing(b"", "text/plain", 302, [("Location", f"{MEDIA}/a.jpg")])
        values = {"web": "open", "proxy": web.proxy, "contact": "mail@example.org", "seeds": [f"{HOST}/"], "hosts": ["a.sample"]}
        stage = make_stage(tmp_path, "crawl", params=fixture_params(**values))
        add(tmp_path, "host", MEDIA.removeprefix("http://"))
        run(stage)
        with FetchStore(tmp_path / "data/store/fixture") as store:
            result = store.get(f"{HOST}/a.jpg")
            assert (result.status, result.failure, result.location) == (0, "takedown", "")
        with pytest.raises(HearsightError, match="'takedown' is no class of failure here"):
            retry_snapshot(stage, ["takedown"])
