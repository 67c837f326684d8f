"""Outputs in a bucket have the manifests of outputs on disk, need only the manifest locally, and survive what breaks."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from components.core.bucket import Bucket
from components.core.errors import HearsightError
from components.core.manifest import NAME
from components.core.object_store import object_key
from components.core.stage_output import StageOutput
from tests.support import make_output
from tests.support.storage.outputs import MEDIA, ROWS, clone, computed, crawl, filtered
from tests.support.storage.projects import in_bucket, settings
from tests.support.storage.server import S3Server


def test_an_output_in_the_bucket_has_the_digest_of_the_one_on_disk(server: S3Server, tmp_path: Path) -> None:
    on_disk, stored = crawl(tmp_path / "disk"), crawl(in_bucket(tmp_path / "s3", server))
    assert stored.digest == on_disk.digest
    digests = {sha256 for _, sha256 in stored.manifest.expected_files().values()} | {stored.digest}
    assert server.stored() == sorted(object_key(sha256) for sha256 in digests)
    assert not list((tmp_path / "disk").rglob("objects")), "a project on disk got a folder of objects"


@pytest.mark.long
def test_another_machine_reads_the_output_with_the_manifest_alone(server: S3Server, tmp_path: Path) -> None:
    first = crawl(in_bucket(tmp_path / "a", server))
    second = clone(first, in_bucket(tmp_path / "b", server))
    assert second.table().equals(first.table()) and second.ledger().equals(first.ledger())
    assert second.read_media("00001/1-2.jpg") == b"image 1 2"
    assert not (second.path / "media" / "00000.tar").exists(), "a file that nobody read was fetched"
    assert second.fetch() == second.path and (second.path / "media" / "00000.tar").exists()


def test_files_of_another_manifest_are_replaced(server: S3Server, tmp_path: Path) -> None:
    root = in_bucket(tmp_path / "a", server)
    old = crawl(root)
    newer = make_output(
        in_bucket(tmp_path / "b", server), "crawl", ROWS, media=[{n: data + b"!" for n, data in each.items()} for each in MEDIA]
    )
    assert old.read_media("00000/0-0.jpg") == b"image 0 0"
    shutil.copy(newer.path / NAME, old.path / NAME)  # as `dvc checkout` does
    assert StageOutput(old.path).read_media("00000/0-0.jpg") == b"image 0 0!"


def test_a_damaged_or_lost_file_is_fetched_again(server: S3Server, tmp_path: Path) -> None:
    output = crawl(in_bucket(tmp_path / "a", server))
    expected = output.table()
    (output.path / "shards" / "00000.parquet").unlink()
    (output.path / "shards" / "00000.parquet").write_bytes(b"damaged")
    (output.path / "shards" / "00001.parquet").unlink()
    assert StageOutput(output.path).table().equals(expected)


def test_a_worker_of_another_machine_finds_the_cache_entry(server: S3Server, tmp_path: Path) -> None:
    first = crawl(in_bucket(tmp_path / "a", server))
    computed.clear()
    done = filtered(tmp_path / "a", first)
    assert computed == ["00000", "00001"]
    again = filtered(tmp_path / "b", clone(first, in_bucket(tmp_path / "b", server)))
    assert computed == ["00000", "00001"], "an entry of the bucket was computed again"
    assert again.digest == done.digest


def test_an_entry_whose_object_is_lost_or_damaged_is_computed_again(server: S3Server, tmp_path: Path) -> None:
    first = crawl(in_bucket(tmp_path / "a", server))
    done = filtered(tmp_path / "a", first)
    before, table = set(server.stored()), done.manifest.shards
    bucket = Bucket(settings(server))
    bucket.replace(object_key(table[0].sha256), b"x" * table[0].bytes)
    bucket.delete([object_key(table[1].ledger["sha256"])])
    source = clone(first, in_bucket(tmp_path / "b", server))
    # What the crawl wrote may be the same bytes, so the clone takes it from the first machine's files.
    shutil.copytree(first.path, source.path, dirs_exist_ok=True)
    computed.clear()
    again = filtered(tmp_path / "b", source)
    assert again.digest == done.digest and computed == ["00000", "00001"]
    assert set(server.stored()) == before
    assert clone(done, in_bucket(tmp_path / "c", server)).table().equals(done.table())


@pytest.mark.long
def test_a_run_waits_for_the_server_and_ends_with_the_same_digest(server: S3Server, tmp_path: Path) -> None:
    expected = crawl(tmp_path / "disk").digest
    root = in_bucket(tmp_path / "a", server, patience=120.0)
    server.kill()
    starter = threading.Timer(1.0, server.start)
    starter.start()
    assert crawl(root).digest == expected
    starter.join()


def test_a_server_that_stays_away_ends_the_run_with_nothing_lost(server: S3Server, tmp_path: Path) -> None:
    source = crawl(in_bucket(tmp_path / "a", server))
    in_bucket(tmp_path / "a", server, patience=0.0)
    server.kill()
    computed.clear()
    for _ in range(2):
        with pytest.raises(HearsightError, match="has not answered for 0 s") as caught:
            filtered(tmp_path / "a", source)
        assert "\n" not in str(caught.value)
    server.start()
    done = filtered(tmp_path / "a", source)
    assert computed == ["00000", "00001"], "a finished shard was computed again"
    assert done.digest == filtered(tmp_path / "disk", crawl(tmp_path / "disk")).digest
