"""What is damaged in the bucket is computed again where it is a cache, and otherwise named in one line and repaired by a push."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from components.cli.main import app
from components.core.bucket import Bucket
from components.core.errors import HearsightError, ObjectMissing
from components.core.object_store import ObjectStore, object_key
from components.core.shard_cache import ShardCache, read_shared
from components.core.stage_output import StageOutput
from components.core.stored_files import keep_lineage, store_of
from components.tools.storage.prune import find_unused
from components.tools.takedown.bucket_objects import BucketObjects, open_stores
from components.tools.takedown.file_search import FileSearch, Matcher
from components.tools.takedown.versions import Objects, find_outdated
from components.web.takedown_list import EMPTY_LIST
from tests.support import PROJECT
from tests.support.settings_files import write_settings
from tests.support.storage.outputs import clone, crawl, filtered
from tests.support.storage.projects import git, in_bucket, settings, small_params
from tests.support.storage.server import S3Server
from tests.support.takedown.snapshots import crawled, fetch, keep
from tests.support.takedown.versions import GONE, STAYS

TORN = {
    "empty": b"", "cut": b'{"a": "', "not UTF-8": b'{"a": "\xff"}', "a list": b"[]", "null": b"null", "a number": b"3",
    "no content": b"{}", "other content": b'{"files": [], "digest": 3}', "nested": b"[" * 100_000,
    "outside": json.dumps({"../../out": "0" * 64}).encode(),
}  # fmt: skip


@pytest.fixture
def project(server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose crawl, its lineage and its snapshot are in the bucket."""
    root = tmp_path / "project"
    root.mkdir()
    write_settings(root, small_params() | {"storage": settings(server).plain()})
    shutil.copy(PROJECT / "dvc.yaml", root / "dvc.yaml")
    output = crawl(root)
    lineage = root / "reports" / "lineage" / "english" / "crawl.json"
    lineage.parent.mkdir(parents=True)
    lineage.write_bytes(b'{"parents": []}')
    keep_lineage(output.path, output.digest, lineage.read_bytes())
    crawled(root / "data" / "store" / "s", STAYS)
    keep(root / "data" / "store" / "s")
    git(root, "init", "-q")
    git(root, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "empty", "--allow-empty")
    monkeypatch.setenv("HEARSIGHT_ROOT", str(root))
    return root


def hearsight(*words: str, code: int = 0) -> list[dict[str, Any]]:
    """Run a command of storage; return its lines."""
    done = CliRunner().invoke(app, ["storage", *words])
    assert done.exit_code == code, (done.output, done.exception)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_damaged_entry_of_the_shard_cache_is_computed_again(server: S3Server, tmp_path: Path) -> None:
    bucket, filled = Bucket(settings(server)), list[Path]()

    def fill(folder: Path) -> None:
        filled.append(folder)
        (folder / "result").write_bytes(b"a result")

    def get(name: str) -> bool:
        folder, cached = ShardCache((root := in_bucket(tmp_path / name, server)) / ".hearsight" / "cache", store_of(root)).get(
            "step", "key", fill
        )
        return cached and (folder / "result").read_bytes() == b"a result"

    assert not get("first") and get("another")
    (key,) = [one.key for one in bucket.list("cache")]
    whole, before = bucket.read(key), server.stored()
    for data in TORN.values():
        bucket.replace(key, data)
        with pytest.raises(ObjectMissing, match="is damaged"):
            read_shared(ObjectStore(settings(server), tmp_path / "objects"), key)
    assert not get("second") and get("third") and len(filled) == 2
    assert bucket.read(key) == whole and server.stored() == before


@pytest.mark.long
def test_a_run_goes_on_where_an_entry_of_the_shard_cache_is_damaged(server: S3Server, tmp_path: Path) -> None:
    first = crawl(in_bucket(tmp_path / "a", server))
    done, bucket = filtered(tmp_path / "a", first), Bucket(settings(server))
    for entry in bucket.list("cache"):
        bucket.replace(entry.key, b"{")
    assert filtered(tmp_path / "b", clone(first, in_bucket(tmp_path / "b", server))).digest == done.digest


def test_a_damaged_document_of_a_snapshot_is_one_line_and_repaired_by_a_push(
    server: S3Server, project: Path, tmp_path: Path
) -> None:
    bucket, key = Bucket(settings(server)), "snapshots/s.json"
    whole, before = bucket.read(key), server.stored()
    other = in_bucket(tmp_path / "other", server) / "data" / "store"
    crawled(other / "t", STAYS)
    for data in TORN.values():
        bucket.replace(key, data)
        for work in (
            lambda: fetch(other / "s"),
            lambda: keep(project / "data" / "store" / "s"),
            lambda: find_unused(project, ["HEAD"], 0.0),
        ):
            with pytest.raises(ObjectMissing, match=r"snapshots/s.json: is damaged in the bucket — .*storage push --verify"):
                work()
    keep(other / "t")  # others are not concerned
    assert {*server.stored()} >= {*before}, "something was deleted"
    assert {"damaged": key, "needed by": ""} in hearsight("status", "--verify", code=1)
    assert {"repaired": key} in hearsight("push", "--verify")
    assert bucket.read(key) == whole
    fetch(other / "s")
    assert (other / "s" / "COMPLETE").exists()


def test_a_takedown_that_cannot_read_a_document_changes_nothing(server: S3Server, project: Path) -> None:
    """The old segments are deleted after the new document: were another one unreadable then, nobody would delete them."""
    folder, bucket = project / "data" / "store" / "s", Bucket(settings(server))
    bucket.replace("snapshots/t.json", b"{")
    crawled(folder, GONE)
    with pytest.raises(ObjectMissing, match=r"snapshots/t.json"):
        keep(folder)
    old = json.loads(bucket.read("snapshots/s.json") or b"")
    bucket.delete(["snapshots/t.json"])
    keep(folder)
    new = json.loads(bucket.read("snapshots/s.json") or b"")
    gone = {each["sha256"] for each in old["files"].values()} - {each["sha256"] for each in new["files"].values()}
    assert gone and not gone & {one.key.rpartition("/")[2] for one in bucket.list("objects")}


def test_damage_of_equal_length_is_named_by_verify_and_repaired_by_a_push(server: S3Server, project: Path) -> None:
    bucket, output = Bucket(settings(server)), StageOutput(project / "data" / "english" / "crawl")
    keys = server.stored()
    kept = {key: bucket.read(key) or b"" for key in keys if not key.startswith("snapshots/")}
    assert {key.split("/")[0] for key in kept} == {"objects", "lineages"} and object_key(output.digest) in kept
    for key, data in kept.items():
        bucket.replace(key, bytes(byte ^ 1 for byte in data))
    hearsight("status")
    hearsight("push")
    lines = hearsight("status", "--verify", code=1)
    assert {line["damaged"] for line in lines if "damaged" in line} == set(kept)
    assert {"damaged": object_key(output.digest), "needed by": "english/crawl"} in lines
    assert {line["repaired"] for line in hearsight("push", "--verify") if "repaired" in line} == set(kept)
    assert {key: bucket.read(key) for key in kept} == kept and server.stored() == keys
    assert not [line for line in hearsight("status", "--verify") if "damaged" in line]


def test_a_push_of_one_output_repairs_its_objects_and_fails_while_damage_is_left(server: S3Server, project: Path) -> None:
    bucket, output = Bucket(settings(server)), StageOutput(project / "data" / "english" / "crawl")
    shard = output.manifest.shards[0]
    key = object_key(shard.sha256)
    bucket.replace(key, b"x" * shard.bytes)
    path = output.path / "shards" / f"{shard.name}.parquet"
    path.rename(project / "elsewhere")
    shutil.rmtree(project / ".hearsight" / "objects", ignore_errors=True)
    for copy in (project / ".hearsight" / "cache").rglob("*.parquet"):
        copy.unlink()
    path.write_bytes(b"y" * shard.bytes)  # the file here is damaged too
    assert hearsight("push", "english/crawl", "--verify", code=1)[-1] == {"damaged": key, "needed by": "english/crawl"}
    (project / "elsewhere").rename(path)
    assert hearsight("push", "english/crawl", "--verify")[0] == {"repaired": key}
    assert Bucket(settings(server)).read(key) == path.read_bytes()


@pytest.mark.parametrize("ahead", [30 * 24 * 3600.0, -30 * 24 * 3600.0], ids=["ahead", "behind"])
def test_prune_reads_the_clock_of_the_bucket(
    server: S3Server, project: Path, monkeypatch: pytest.MonkeyPatch, ahead: float
) -> None:
    shutil.rmtree(project / "data" / "english")  # nothing here needs its objects
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + ahead)
    assert not find_unused(project, ["HEAD"], 7.0).objects, "fresh objects would be deleted"
    assert find_unused(project, ["HEAD"], 0.0).objects


def test_prune_deletes_nothing_where_the_server_states_no_time(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = Bucket(settings(server))
    assert abs(bucket.clock() - time.time()) < 60
    for headers in ({}, {"date": "yesterday"}):
        monkeypatch.setattr(
            bucket, "_list_page", lambda *_, headers=headers, **__: {"ResponseMetadata": {"HTTPHeaders": headers}}
        )
        with pytest.raises(HearsightError, match="does not state its time"):
            bucket.clock()


@pytest.mark.parametrize("folder", ["lineages", "objects"])
def test_a_takedown_names_a_damaged_document_and_claims_nothing_about_it(server: S3Server, project: Path, folder: str) -> None:
    (objects,) = open_stores(project, None)
    assert isinstance(objects, BucketObjects)
    digest = StageOutput(project / "data" / "english" / "crawl").digest
    key = next(one.key for one in objects.store.bucket.list(folder) if digest in one.key)
    objects.store.bucket.replace(key, b'{"parents": {}')
    search = FileSearch(Matcher(EMPTY_LIST))
    with pytest.raises(HearsightError, match=f"{key}: is damaged in the bucket"):
        find_outdated(objects, search, set(), {})
    if folder == "objects":
        with pytest.raises(HearsightError, match=f"{key}: is damaged in the bucket"):
            [objects.open(oid) for oid in objects.ids()]


class OneFolder(Objects):
    """A store of DVC with one folder and its manifest."""

    def ids(self) -> list[str]:
        return ["folder.dir", "manifest"]

    def path(self, oid: str) -> str:
        return f"files/{oid}"

    def read(self, oid: str) -> bytes:
        return bytes(self.odb[oid])


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[]", b"3", b"{}", b"[3]"])
def test_a_damaged_document_of_dvc_is_named(data: bytes) -> None:
    listing = json.dumps([{"relpath": "manifest.json", "md5": "manifest"}]).encode()
    objects = OneFolder("DVC remote store", {"folder.dir": listing, "manifest": data}, "")
    with pytest.raises(HearsightError, match="DVC remote store: files/manifest: is damaged"):
        find_outdated(objects, FileSearch(Matcher(EMPTY_LIST)), set(), {})
    if data != b"[]":
        objects = OneFolder("DVC remote store", {"folder.dir": data, "manifest": b""}, "")
        with pytest.raises(HearsightError, match="is damaged"):
            find_outdated(objects, FileSearch(Matcher(EMPTY_LIST)), set(), {})
