"""Objects named by content: what is fetched is what was stored, whatever breaks on the way, or one line says why not."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from components.core.bucket import Bucket
from components.core.digests import sha256_bytes
from components.core.errors import HearsightError, ObjectMissing
from components.core.object_store import ObjectStore, in_threads, object_key
from components.core.storage import S3Storage, parse_storage
from tests.support.storage.projects import settings
from tests.support.storage.server import S3Server

DAMAGES = ("none", "kept copy cut", "kept copy changed", "kept copy lost", "unfinished download")


@given(data=st.binary(max_size=3000), damage=st.sampled_from(DAMAGES))
@hypothesis_settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_object_comes_back_whole_after_any_damage_to_the_local_copy(
    store: ObjectStore, tmp_path: Path, data: bytes, damage: str
) -> None:
    sha256, source, target = sha256_bytes(data), tmp_path / "source", tmp_path / "target"
    source.write_bytes(data)
    store.put_file(source, sha256)
    assert not store.put_file(source, sha256), "an object that is there was sent again"
    store.fetch(sha256, target)
    kept = store.cache / sha256[:2] / sha256
    kept.unlink() if damage == "kept copy lost" else None
    if damage == "kept copy cut":
        kept.write_bytes(data[: len(data) // 2])
    elif damage == "kept copy changed":
        kept.write_bytes(bytes(reversed(data)) + b"x")
    elif damage == "unfinished download":
        kept.with_name(f".{kept.name}.1-2.tmp").write_bytes(data[:1])
    again = tmp_path / "again"
    again.unlink(missing_ok=True)
    store.fetch(sha256, again)
    assert again.read_bytes() == data


def test_a_damaged_object_is_refused_and_stored_again(store: ObjectStore, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"content")
    sha256 = sha256_bytes(b"content")
    store.put_file(tmp_path / "a", sha256)
    store.bucket.replace(object_key(sha256), b"c0ntent")
    with pytest.raises(ObjectMissing, match="is damaged in the bucket"):
        store.fetch(sha256, tmp_path / "b")
    assert not (tmp_path / "b").exists() and not list(store.cache.rglob(".*")), "a damaged download was left behind"
    assert store.put_file(tmp_path / "a", sha256)
    store.fetch(sha256, tmp_path / "b")


def test_a_cut_off_object_is_missing_and_stored_again(store: ObjectStore, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"content")
    sha256 = sha256_bytes(b"content")
    store.put_file(tmp_path / "a", sha256)
    store.bucket.replace(object_key(sha256), b"con")
    assert store.missing({sha256: 7}) == [sha256]
    assert store.put_file(tmp_path / "a", sha256) and store.missing({sha256: 7}) == []


def put(store: ObjectStore, folder: Path, data: bytes) -> str:
    """The digest of an object of these bytes, now in the bucket."""
    path, sha256 = folder / "put", sha256_bytes(data)
    path.write_bytes(data)
    store.put_file(path, sha256)
    return sha256


def test_operations_wait_for_the_server_with_one_line_and_then_succeed(server: S3Server, tmp_path: Path, capsys: Any) -> None:
    store = ObjectStore(settings(server, patience=120.0), tmp_path / "objects")
    sha256 = put(store, tmp_path, b"content")
    server.kill()
    starter = threading.Timer(1.0, server.start)
    starter.start()
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: store.fetch(sha256, tmp_path / str(number)), range(4)))
    starter.join()
    assert (tmp_path / "3").read_bytes() == b"content"
    assert capsys.readouterr().err.count("waiting for s3://bucket/") == 1


def test_a_server_that_stays_away_and_wrong_credentials_are_one_line(
    server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(HearsightError, match=r"refuses .*SignatureDoesNotMatch") as refused:
        Bucket(settings(server)).require_access()
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(HearsightError, match=r"credentials") as unknown:
        Bucket(settings(server)).require_access()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    server.kill()
    with pytest.raises(HearsightError, match=r"has not answered for 0 s") as away:
        Bucket(settings(server, patience=0.0)).require_access()
    for caught in (refused, unknown, away):
        assert "\n" not in str(caught.value) and "wrong" not in str(caught.value)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["conditions", "no conditions"])
def test_of_two_writers_of_a_document_the_first_wins(
    kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """moto's server knows ``If-None-Match``; rclone's ignores it, so that a document is looked for first."""
    if kind == "conditions":
        request.getfixturevalue("bucket")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "k")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
        written = Bucket(S3Storage(url="s3://archive/team"))
        monkeypatch.setattr(written, "size", lambda key: None)  # as if both had looked before either wrote
        results = in_threads(lambda data: written.create("cache/step/key.json", data), [b"one", b"two"])
        assert sorted(results) == [False, True]
        assert written.read("cache/step/key.json") == [b"one", b"two"][results.index(True)]
    else:
        written = Bucket(settings(request.getfixturevalue("server")))
        assert written.create("k", b"one") and not written.create("k", b"two") and written.read("k") == b"one"


@pytest.mark.parametrize(
    ("block", "what"),
    [
        ({"kind": "s3"}, "storage.url: is missing"),
        ({"kind": "s3", "url": "bucket"}, "names no bucket"),
        ({"kind": "s3", "url": "s3://key:secret@bucket/x"}, "names no bucket"),  # pragma: allowlist secret
        ({"kind": "s3", "url": "s3://b", "endpoint": "host:9000"}, "is not an address"),
        ({"kind": "s3", "url": "s3://b", "versioned": ""}, "storage.versioned"),
        ({"kind": "s4"}, "storage.kind"),
        ({"kind": "local", "url": "s3://b"}, "storage.url: is not a setting"),
    ],
)
def test_unusable_settings_are_refused(block: dict[str, Any], what: str) -> None:
    with pytest.raises(HearsightError) as caught:
        parse_storage(Path("params.yaml"), {"storage": block})
    assert what in str(caught.value)


def test_documents_are_listed_and_deleted(store: ObjectStore, tmp_path: Path) -> None:
    digests = [put(store, tmp_path, bytes([number])) for number in range(5)]
    assert sorted(one.key for one in store.bucket.list("objects")) == sorted(map(object_key, digests))
    store.delete(digests[:2])
    assert store.missing(dict.fromkeys(digests, 1)) == sorted(digests[:2])
