"""Listed answers leave the fetch store wholly, are never asked for again, and a kill in between loses nothing."""

from __future__ import annotations

import shutil

import pytest

from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.stages.crawl.run import run
from components.tools.takedown.listing import add
from components.web import erase as erasing
from components.web import segments
from components.web import store as storing
from components.web import takedown_journal as removing
from components.web.erase import erase
from components.web.segments import write_all
from components.web.store import FetchStore
from components.web.takedown_journal import read_removals
from components.web.takedown_list import NAME, read_takedown
from components.web.warc import Entry
from tests.support.crawl.fixture_web import HOSTS
from tests.support.crawl.fixtures import drawn_web, stage, web  # noqa: F401
from tests.support.takedown.unpack import read_unpacked

GONE, STAYS = HOSTS


def small(folder, complete: bool = True) -> dict[str, bytes]:
    """A store of two hosts over several segments; returns the bodies that stay."""
    with FetchStore(folder, writer=True) as store:
        for number in range(8):
            for host in HOSTS:
                body = f"<img src=/p.png alt='picture {number}'>{host}".encode()
                store.add(Entry(f"http://{host}/{number}", 200, type="text/html"), body, [("Content-Type", "text/html")], "OK")
        to = f"http://{GONE}/1"
        store.add(Entry(f"http://{STAYS}/moved", 301, location=to), b"", [("Location", to)], "Moved")
        if complete:
            store.finish({"seeds": [f"http://{host}/0" for host in HOSTS], "web": "folder"})
        return {e.url: store.body(e.url) for e in store if STAYS in e.url and not e.url.endswith("moved")}


def whole(folder, bodies) -> None:
    with FetchStore(folder) as store:
        assert {e.url: store.body(e.url) for e in store if not e.failure} == bodies
        assert store.get(f"http://{STAYS}/moved").failure == "takedown"
        assert store.complete is None or store.verified_digest() == store.digest()


@pytest.fixture(autouse=True)
def small_segments(monkeypatch):
    monkeypatch.setattr(segments, "SEGMENT_BYTES", 900)


def test_all_answers_of_a_listed_host_and_no_others_are_removed(tmp_path):
    bodies = small(tmp_path / "s")
    before = FetchStore(tmp_path / "s").digest()
    assert GONE.encode() in read_unpacked(tmp_path / "s")
    add(tmp_path, "host", GONE)
    listed = read_takedown(tmp_path / NAME)
    assert erase(tmp_path / "s", listed) == 8 and erase(tmp_path / "s", listed) == 0
    assert GONE.encode() not in read_unpacked(tmp_path / "s")
    whole(tmp_path / "s", bodies)
    (note,) = read_removals(tmp_path / "s")
    assert note["before"] == before and note["after"] == FetchStore(tmp_path / "s").digest() and len(note["bodies"]) == 8
    assert len(note["texts"]) == 8


def test_only_the_listed_page_is_removed(tmp_path):
    bodies = small(tmp_path / "s")
    add(tmp_path, "url", f"https://{STAYS}/3")
    assert erase(tmp_path / "s", read_takedown(tmp_path / NAME)) == 1
    with FetchStore(tmp_path / "s") as store:
        left = {e.url for e in store}
        assert set(bodies) - left == {f"http://{STAYS}/3"} and len(left) == 16


@pytest.mark.long
@pytest.mark.parametrize("torn", [False, True], ids=["before a write", "in the middle of it"])
@pytest.mark.parametrize("complete", [True, False], ids=["complete", "open"])
def test_a_takedown_killed_at_any_write_is_completed_by_the_next_call(tmp_path, monkeypatch, torn, complete):
    bodies = small(tmp_path / "made", complete)
    add(tmp_path, "host", GONE)
    listed = read_takedown(tmp_path / NAME)

    class Killed(BaseException):
        pass

    steps = 0
    while True:
        shutil.rmtree(tmp_path / "s", ignore_errors=True)
        shutil.copytree(tmp_path / "made", tmp_path / "s")
        left = [steps]

        def dying(real, left=left):
            def step(*arguments):
                if left[0] == 0:
                    if real is write_all and torn:
                        real(arguments[0], arguments[1][: len(arguments[1]) // 2])
                    raise Killed
                left[0] -= 1
                return real(*arguments)

            return step

        with monkeypatch.context() as patch:
            places = [(erasing, "publish_bytes"), (erasing, "write_all"), (removing, "publish_bytes")]
            places += [(storing, "publish_bytes"), (storing, "publish_json"), (segments, "write_all")]
            for module, name in places:
                patch.setattr(module, name, dying(getattr(module, name)))
            try:
                erase(tmp_path / "s", listed)
                break
            except Killed:
                pass
        erase(tmp_path / "s", listed)
        whole(tmp_path / "s", bodies)
        assert GONE.encode() not in read_unpacked(tmp_path / "s")
        steps += 1
    assert steps > 12 and erasing.write_all is write_all


def test_an_open_snapshot_is_cleared_too(tmp_path):
    small(tmp_path / "s", complete=False)
    index = tmp_path / "s" / "index.jsonl"
    index.write_bytes(b"".join(index.read_bytes().splitlines(keepends=True)[:5]))  # the rest was not indexed before a kill
    add(tmp_path, "host", GONE)
    assert erase(tmp_path / "s", read_takedown(tmp_path / NAME)) == 8
    assert GONE.encode() not in read_unpacked(tmp_path / "s") and not (tmp_path / "s" / "COMPLETE").exists()


def test_a_store_changed_by_hand_stays_refused(tmp_path):
    small(tmp_path / "s")
    add(tmp_path, "host", GONE)
    erase(tmp_path / "s", read_takedown(tmp_path / NAME))
    index = tmp_path / "s" / "index.jsonl"
    index.write_bytes(b"".join(index.read_bytes().splitlines(keepends=True)[1:]))
    with pytest.raises(HearsightError, match="was changed after"):
        erase(tmp_path / "s", read_takedown(tmp_path / NAME))
    with FetchStore(tmp_path / "s") as store, pytest.raises(HearsightError, match="was changed after"):
        store.verified_digest()


def crawl(make, **changes) -> StageOutput:
    job = make(**changes)
    shutil.rmtree(job.out)
    run(job)
    job.finish()
    return StageOutput(job.out)


def test_the_next_crawl_drops_a_listed_host_without_its_address_or_a_request(stage, tmp_path, monkeypatch):  # noqa: F811
    before = crawl(stage).table().to_pylist()
    add(tmp_path, "host", GONE)
    monkeypatch.setattr("components.web.fetch.Fetcher._ask", None)
    after = crawl(stage)
    rows = after.table().to_pylist()
    strip = [{name: value for name, value in row.items() if name != "media"} for row in rows]
    kept = [{name: value for name, value in row.items() if name != "media"} for row in before if row["host"] == STAYS]
    assert rows and strip == kept
    ledger = after.ledger().to_pylist()
    assert any(row["rule"] == "takedown" for row in ledger) and GONE not in str(ledger)
    assert len({row["key"] for row in ledger}) == len(ledger)
    assert all(after.read_media(row["media"]) for row in rows)
    assert crawl(stage).digest == after.digest


def test_a_fresh_crawl_sends_no_request_to_a_listed_host(stage, tmp_path, monkeypatch):  # noqa: F811
    asked = []
    from components.web.fetch import Fetcher

    real = Fetcher._ask
    monkeypatch.setattr(Fetcher, "_ask", lambda self, url, role: asked.append(url) or real(self, url, role))
    add(tmp_path, "host", GONE)
    assert crawl(stage).table().num_rows
    assert asked and not [url for url in asked if GONE in url]


def test_a_listed_image_is_removed_from_every_page_and_redirect(stage, tmp_path):  # noqa: F811
    url = f"http://{STAYS}/odd.jpg"
    before = crawl(stage).table().to_pylist()
    assert [row for row in before if row["image_url"] == url] and [
        row for row in before if row["image_url"].endswith("moved.jpg")
    ]
    add(tmp_path, "url", url)
    after = crawl(stage)
    rows = after.table().to_pylist()
    assert not [row for row in rows if row["image_url"] in (url, f"http://{STAYS}/moved.jpg")]
    # The other host shows the same kind of page: its images stay.
    assert [row for row in rows if row["image_url"] == f"http://{GONE}/odd.jpg"]
    assert url not in str(after.ledger().to_pylist()) and len(rows) < len(before)
