"""What is taken down leaves the bucket: objects of tainted outputs, entries of the shard cache, segments, and local copies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.object_store import OBJECTS
from components.core.shard_cache import ShardCache
from components.core.stage_output import StageOutput
from components.core.stored_files import store_of
from components.tools.takedown.bucket_objects import BucketObjects, find_copies, find_current, open_stores
from components.tools.takedown.file_search import FileSearch, Matcher
from components.tools.takedown.listing import add
from components.tools.takedown.versions import find_outdated
from components.web.erase import erase
from components.web.store import FetchStore
from components.web.stored_snapshots import named_objects
from components.web.takedown_list import NAME, read_takedown
from tests.support import row
from tests.support.storage.projects import in_bucket
from tests.support.storage.server import S3Server
from tests.support.takedown.snapshots import PAGE, crawled, fetch, keep
from tests.support.takedown.versions import GONE, STAYS, output


def objects(root: Path) -> set[str]:
    store = store_of(root)
    assert store is not None
    return {one.key.rpartition("/")[2] for one in store.bucket.list(OBJECTS)}


def open_bucket(root: Path) -> BucketObjects:
    (bucket,) = open_stores(root, None)
    assert isinstance(bucket, BucketObjects)
    return bucket


class Graph(SimpleNamespace):
    """A graph of crawl and report of one dataset."""

    def outputs(self) -> Iterator[tuple[str, str, Path]]:
        for stage in ("crawl", "report"):
            yield stage, "english", self.root / "data" / "english" / stage


@pytest.fixture
def two_versions(server: S3Server, tmp_path: Path) -> dict[str, Any]:
    """An output with a host and what was made from it, then both without the host; an entry of the shard cache for each."""
    root = in_bucket(tmp_path / "project", server)
    both = [row("crawl", key=f"{n:016x}", page_url=f"http://{host}/{n}", host=host) for n, host in enumerate((GONE, STAYS))]
    made: dict[str, Any] = {"root": root}
    for name, rows in (("old", both), ("new", both[1:])):
        digest = output(root, "crawl", "", rows, b"same")
        output(root, "report", digest, [], name.encode())
        made[name] = objects(root)
        shard = root / "data" / "english" / "crawl" / "shards" / "00000.parquet"
        data = shard.read_bytes()
        ShardCache(root / ".hearsight" / "cache", store_of(root)).get(
            "step", name, lambda folder, data=data: (folder / "t").write_bytes(data)
        )
    add(root, "host", GONE)
    return made


def test_exactly_the_older_versions_leave_the_bucket(two_versions: dict[str, Any]) -> None:
    root, bucket = two_versions["root"], open_bucket(two_versions["root"])
    search, graph = FileSearch(Matcher(read_takedown(root / NAME))), Graph(root=root)
    StageOutput(root / "data" / "english" / "crawl").fetch()
    old_table = next(iter(sorted(two_versions["old"])))
    bucket.store.fetch(old_table, root / "copy")  # leaves a copy on this machine
    current = find_current(root, graph, bucket)
    outdated, tainted = find_outdated(bucket, search, current, {})
    assert len(tainted) == 1 and sum(path.startswith("cache/") for path in outdated) == 1
    for path in outdated:
        bucket.remove(path)
    for copy in find_copies(bucket.store, current):
        copy.unlink()
    left = objects(root)
    assert left == {oid for oid in current if len(oid) == 64} and not find_copies(bucket.store, current)
    assert {sha256_bytes(b"same"), sha256_bytes(b"new")} <= left and sha256_bytes(b"old") not in left
    again = open_bucket(root)
    assert not find_outdated(again, search, current, {})[0]
    assert len(list(again.store.bucket.list("cache"))) == 1


def test_a_chain_that_still_holds_what_is_listed_is_refused(two_versions: dict[str, Any]) -> None:
    root = two_versions["root"]
    bucket = open_bucket(root)
    search = FileSearch(Matcher(read_takedown(root / NAME)))
    with pytest.raises(HearsightError, match=r"refers to an output that holds what is listed"):
        find_outdated(bucket, search, set(bucket.ids()), {})


def test_a_snapshot_is_fetched_where_it_is_missing_and_erased_in_the_bucket(server: S3Server, tmp_path: Path) -> None:
    root = in_bucket(tmp_path / "a", server)
    folder = root / "data" / "store" / "day"
    digest = crawled(folder, GONE, STAYS)
    keep(folder)
    before = objects(root)
    keep(folder)
    assert objects(root) == before
    other = in_bucket(tmp_path / "b", server) / "data" / "store" / "day"
    fetch(other)
    with FetchStore(other) as store:
        assert store.verified_digest() == digest and store.body(f"http://{GONE}/") == PAGE + GONE.encode()
    add(root, "host", GONE)
    assert erase(folder, read_takedown(root / NAME)) == 1
    keep(folder)
    store = store_of(root)
    assert store is not None and objects(root) == named_objects(store) and not before & objects(root) - named_objects(store)
    for sha256 in objects(root):
        assert GONE.encode() not in (store.bucket.read(f"objects/{sha256[:2]}/{sha256}") or b"")


def test_a_second_crawl_of_one_snapshot_does_not_replace_the_first(server: S3Server, tmp_path: Path) -> None:
    first, second = (in_bucket(tmp_path / name, server) / "data" / "store" / "day" for name in "ab")
    crawled(first, GONE)
    crawled(second, STAYS)
    keep(first)
    with pytest.raises(HearsightError, match=r"was completed by another machine with other answers"):
        keep(second)
    crawled(first, STAYS)  # `hearsight retry` adds answers
    keep(first)
    third = in_bucket(tmp_path / "c", server) / "data" / "store" / "day"
    third.mkdir(parents=True)
    (third / "segment-00000.warc.gz").write_bytes(b"an unfinished crawl")
    with pytest.raises(HearsightError, match=r"is unfinished here"):
        fetch(third)
