"""A blanked record has exactly the length of what it replaces, and every WARC tool walks over it."""

from __future__ import annotations

import gzip
import io
import zlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from components.web.gzip_record import SHORTEST, build_filler
from components.web.warc import Entry, build_record, read_member


@given(st.integers(SHORTEST, 300_000))
@example(SHORTEST)
@example(SHORTEST + 1)
@example(65535 + SHORTEST)
@example(2 * 65535 + 40)
def test_a_filler_of_any_length_is_one_gzip_member_with_one_record(length: int) -> None:
    member = build_filler(length)
    assert len(member) == length
    assert read_member(io.BytesIO(member)) == (gzip.decompress(member), length)
    (record,) = [(r.rec_type, r.content_stream().read().strip()) for r in ArchiveIterator(io.BytesIO(member))]
    assert record == ("metadata", b"")


def test_a_segment_that_contains_a_space_is_read_completely() -> None:
    first, last = (
        build_record(Entry(f"http://a.sample/{n}", 200), b"body", [("Content-Type", "text/html")], "OK") for n in (1, 2)
    )
    result = [
        (record.rec_type, record.rec_headers.get_header("WARC-Target-URI"))
        for record in ArchiveIterator(io.BytesIO(first + build_filler(12_345) + last))
    ]
    assert result == [("response", "http://a.sample/1"), ("metadata", None), ("response", "http://a.sample/2")]


def test_the_shortest_record_of_a_store_has_room_for_one() -> None:
    shortest = build_record(Entry("http://a/", 0, "dns"), b"", [], "")
    assert len(shortest) > SHORTEST and zlib.decompress(build_filler(len(shortest)), 31)
    with pytest.raises(ValueError, match="too few for a WARC record"):
        build_filler(SHORTEST - 1)
