"""Listed things are recognised in any bytes, by plain value and by hash, and nothing else is."""

from __future__ import annotations

import gzip
import io
import sqlite3
import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.core.ledger import dropped, kept, ledger_table
from components.core.shards import write_table
from components.tools.takedown.file_search import PIECE, FileSearch, Matcher, may_hold_crawl_addresses
from components.web.redaction import redact_row
from components.web.takedown_list import EMPTY_LIST, Entry, Takedown, canonicalise_host, hash_value

HOST = "gone.sample"
LISTED = Takedown([Entry("host", "s", hash_value("s", "host", HOST), "")])
PLAIN, HASHES = Matcher.from_plain([("host", HOST)]), Matcher(LISTED)
BOTH = pytest.mark.parametrize("matcher", [PLAIN, HASHES], ids=["plain", "hashes"])


@BOTH
@pytest.mark.parametrize(
    "text",
    [
        "http://gone.sample/a.jpg",
        '<a href="https://WWW.Gone.Sample:8080/x">',
        '["http:\\/\\/gone.sample\\/"]',
        "hosts: [gone.sample, stays.sample]",
        "(see gone.sample).",
        "302 http://gone.sample/a, then",
    ],
)
def test_an_address_is_found_however_it_is_written(matcher: Matcher, text: str) -> None:
    assert matcher.find_in_text(text)
    assert not matcher.find_in_text(matcher.redact(text))


@BOTH
@pytest.mark.parametrize("text", ["notgone.sample", "gone.sample.org", "http://gone.samples/", "gone", "http://a.b/gone", ""])
def test_an_unlisted_address_does_not_match(matcher: Matcher, text: str) -> None:
    assert not matcher.find_in_text(text) and matcher.redact(text) == text


@settings(deadline=None)
@given(before=st.binary(max_size=60), after=st.binary(max_size=60))
def test_an_address_is_found_between_any_bytes(before: bytes, after: bytes) -> None:
    framed = before + b' "http://gone.sample/x" ' + after
    assert PLAIN.find_in_bytes(framed) and HASHES.find_in_bytes(framed)
    assert isinstance(HASHES.find_in_bytes(before + after), set)


@settings(deadline=None)
@given(st.text(max_size=80))
def test_redacted_text_contains_no_listed_item(words: str) -> None:
    assert not HASHES.find_in_text(HASHES.redact(f"{words} http://gone.sample/{words}"))


def test_a_url_is_not_found_in_a_longer_one() -> None:
    matcher = Matcher.from_plain([("url", "http://stays.sample/1")])
    assert matcher.find_in_text("see https://stays.sample/1.") and not matcher.find_in_text(
        "http://stays.sample/10 http://stays.sample/1/x"
    )
    with pytest.raises(HearsightError, match="is no host"):
        Matcher.from_plain([("host", "")])


def test_an_address_across_two_pieces_of_a_large_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(b"x" * (PIECE - 5) + b" gone.sample " + b"x" * 10)
    assert FileSearch(HASHES).in_file(path) and FileSearch(PLAIN).in_file(path)


def test_packed_files_databases_and_tars_are_searched(tmp_path: Path) -> None:
    body = b"http://gone.sample/"
    (tmp_path / "log.gz").write_bytes(gzip.compress(b"first") + gzip.compress(body))
    base = sqlite3.connect(tmp_path / "base.db")
    base.execute("CREATE TABLE params (value TEXT)")
    base.execute("INSERT INTO params VALUES (?)", ("x" * 9000 + body.decode(),))
    base.commit()
    base.close()
    with tarfile.open(tmp_path / "media.tar", "w") as tar:
        for name in ("a" * 64 + ".jpg", "b" * 64 + ".jpg"):
            header = tarfile.TarInfo(name)
            header.size = 3
            tar.addfile(header, io.BytesIO(b"jpg"))
    for name in ("log.gz", "base.db"):
        assert FileSearch(HASHES).in_file(tmp_path / name), name
    assert not FileSearch(HASHES).in_file(tmp_path / "media.tar")
    assert FileSearch(Matcher(LISTED, digests=["b" * 64])).in_file(tmp_path / "media.tar") == {"a tar member"}


def test_truncated_gzip_and_broken_parquet_files_are_searched_as_far_as_readable(tmp_path: Path) -> None:
    (tmp_path / "torn.gz").write_bytes(gzip.compress(b"http://gone.sample/") + gzip.compress(b"x" * 999)[:12])
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 http://gone.sample/ PAR")
    assert FileSearch(HASHES).in_file(tmp_path / "torn.gz") and FileSearch(HASHES).in_file(tmp_path / "broken.parquet")


@given(st.text(max_size=30))
def test_any_text_is_a_host_or_none(words: str) -> None:
    assert canonicalise_host(words) is None or " " not in str(canonicalise_host(words))


@BOTH
def test_an_address_of_another_host_that_contains_it_is_a_mention(matcher: Matcher, tmp_path: Path) -> None:
    proxied = b"http://proxy.sample/gone.sample/a.jpg"
    assert not matcher.find_hits(b"see " + proxied + b" there")
    assert matcher.redact(proxied.decode()) == proxied.decode()
    # It hides nothing: neither the next address of a list, nor what stands in bytes that have no order of text.
    assert matcher.find_hits(b"[http://stays.sample/," + proxied[7:] + b",http://gone.sample/]")
    assert matcher.find_hits(b"\0" + proxied)


def test_addresses_in_ledgers_are_matched_as_addresses_in_the_crawl_and_as_quotations_later(tmp_path: Path) -> None:
    write_table(tmp_path / "ledger.parquet", ledger_table([kept("a" * 16, detail="a boat, by http://gone.sample/")]))
    for place, hit in (
        ("data/english/crawl/ledger/00000.parquet", True),
        (".hearsight/cache/crawl.plan/1/plan.parquet", True),
        ("data/english/filter/ledger/00000.parquet", False),
        (".hearsight/cache/filter/1/ledger.parquet", False),
    ):
        hits = FileSearch(HASHES).in_file(tmp_path / "ledger.parquet", crawl=may_hold_crawl_addresses(Path(place)))
        assert bool(hits) == hit, place


@settings(deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_a_cleaned_ledger_row_names_no_listed_item_and_an_empty_list_changes_no_row(before: str, after: str) -> None:
    words = f"{before} http://gone.sample/{after}"
    row = dropped("http://gone.sample/x", "rule", words, words, detail=words)
    cleaned = redact_row(row, LISTED)
    assert not any(HASHES.find_in_text(value) for value in cleaned.values()) and set(cleaned) == set(row)
    assert redact_row(row, EMPTY_LIST) == row
