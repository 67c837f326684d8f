"""The fetch store loses at most what was being written, whatever happens to it."""

from __future__ import annotations

import errno
import gzip
import io
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from components.core.errors import HearsightError
from components.web import segments
from components.web.store import FetchStore
from components.web.warc import Entry
from tests.support import PROJECT

URLS = [f"http://a.sample/{number}" for number in range(12)]


def body(url: str) -> bytes:
    return f"<p>body of {url}\r\n\r\n ".encode() * (1 + URLS.index(url) % 4 * 40)


def fill(folder: Path, urls=URLS) -> str:
    with FetchStore(folder, writer=True) as store:
        for url in urls:
            if url.endswith("7"):
                store.add(Entry(url, 0, "timeout", "over 5 s"))
            else:
                store.add(
                    Entry(url, 200, type="text/html", etag='"x"'),
                    body(url),
                    [("Content-Type", "text/html"), ("ETag", '"x"')],
                    "OK",
                )
        return store.digest()


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store") / "full"
    return folder, fill(folder)


def good(folder: Path) -> list[str]:
    """The URLs a store holds, each body read and checked."""
    with FetchStore(folder, writer=True) as store:
        for entry in store:
            assert store.body(entry.url) == (b"" if entry.failure else body(entry.url))
        return [entry.url for entry in store]


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(segment=st.floats(0, 1), index=st.floats(0, 1), junk=st.binary(max_size=30))
def test_a_truncated_store_keeps_complete_records_and_is_repaired(full, tmp_path, segment, index, junk):
    source, digest = full
    folder = tmp_path / "cut"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    with FetchStore(source) as store:
        ends = {entry.url: entry.offset + entry.length for entry in store}
    for name, part in (("segment-00000.warc.gz", segment), ("index.jsonl", index)):
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[: int(len(data) * part)] + (junk if part < 1 else b""))
    cut = int((source / "segment-00000.warc.gz").stat().st_size * segment)
    kept = good(folder)
    # Junk after the cut may by chance be what was cut off; nothing else can bring a record back.
    assert set(kept) >= {url for url, end in ends.items() if end <= cut}
    assert good(folder) == kept
    assert fill(folder, [url for url in URLS if url not in kept]) == digest


def test_a_kill_loses_no_added_record(tmp_path):
    script = """
import os, signal, sys
from pathlib import Path
from components.web.store import FetchStore
from components.web.warc import Entry
from tests.web.test_store import URLS, body
store = FetchStore(Path(sys.argv[1]), writer=True)
for url in URLS[:5]:
    store.add(Entry(url, 200), body(url), [], "OK")
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "s")], cwd=PROJECT, timeout=900, check=False)
    assert done.returncode == -9
    assert good(tmp_path / "s") == sorted(URLS[:5])


def test_any_warc_tool_reads_it(full):
    data = (full[0] / "segment-00000.warc.gz").read_bytes()
    read = {
        r.rec_headers["WARC-Target-URI"]: r.content_stream().read()
        for r in ArchiveIterator(io.BytesIO(data))
        if r.rec_type == "response"
    }
    assert read == {url: body(url) for url in URLS if not url.endswith("7")}
    assert gzip.decompress(data).count(b"WARC/1.1\r\n") == len(URLS)


def test_the_digest_ignores_times_and_order(full, tmp_path):
    assert fill(tmp_path / "other", list(reversed(URLS))) == full[1]


def test_a_second_writer_is_refused_and_readers_are_not(tmp_path):
    with FetchStore(tmp_path / "s", writer=True):
        with pytest.raises(HearsightError, match="another crawl is writing"):
            FetchStore(tmp_path / "s", writer=True)
        FetchStore(tmp_path / "s").close()


def test_a_full_disk_gives_an_error_and_keeps_stored_answers(tmp_path, monkeypatch):
    real = segments.write_all

    def full_after_a_part(handle, data):
        real(handle, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    with FetchStore(tmp_path / "s", writer=True) as store:
        store.add(Entry(URLS[0], 200), body(URLS[0]), [], "OK")
        monkeypatch.setattr(segments, "write_all", full_after_a_part)
        with pytest.raises(HearsightError, match="no space is left"):
            store.add(Entry(URLS[1], 200), body(URLS[1]), [], "OK")
        with pytest.raises(HearsightError, match="not open for writing"):
            store.add(Entry(URLS[2], 200), body(URLS[2]), [], "OK")
    monkeypatch.setattr(segments, "write_all", real)
    assert good(tmp_path / "s") == URLS[:1]


def test_a_damaged_body_raises(tmp_path):
    fill(tmp_path / "s")
    path = tmp_path / "s" / "segment-00000.warc.gz"
    data = bytearray(path.read_bytes())
    with FetchStore(tmp_path / "s") as store:
        entry = store.get(URLS[3])
        data[entry.offset + entry.length - 12] ^= 255
        path.write_bytes(data)
    with FetchStore(tmp_path / "s") as store, pytest.raises(HearsightError, match="damaged"):
        store.body(URLS[3])


def test_a_change_after_completion_raises(tmp_path):
    fill(tmp_path / "s", URLS[:4])
    with FetchStore(tmp_path / "s", writer=True) as store:
        store.finish({})
        assert store.verified_digest() == store.digest()
    lines = (tmp_path / "s" / "index.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "s" / "index.jsonl").write_bytes(b"".join(lines[:-1]))
    with FetchStore(tmp_path / "s") as store, pytest.raises(HearsightError, match="was changed after"):
        store.verified_digest()


def test_segments_roll_over(tmp_path, monkeypatch):
    monkeypatch.setattr(segments, "SEGMENT_BYTES", 400)
    fill(tmp_path / "s")
    assert len(list((tmp_path / "s").glob("segment-*"))) > 3
    assert good(tmp_path / "s") == sorted(URLS)
