"""A gzip member written here is one to everybody, and a torn or damaged one is told."""

from __future__ import annotations

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from components.web.gzip_record import decompress_member, store_member
from components.web.warc import Entry, build_record

CONTENTS = st.one_of(st.binary(max_size=300), st.integers(0, 3).map(lambda n: b"\xff\xd8ab" * (65_535 * n // 4) + b"x" * n))


@given(CONTENTS)
def test_a_member_decompresses_to_its_content(content):
    for make in (store_member, gzip.compress):
        assert decompress_member(make(content)) == gzip.decompress(make(content)) == content


@pytest.mark.parametrize("size", [0, 1, 65_534, 65_535, 65_536, 131_070, 131_071])
def test_stored_blocks_have_correct_boundaries(size):
    assert gzip.decompress(store_member(b"\xff" * size)) == b"\xff" * size


@given(st.binary(min_size=1, max_size=200), st.data())
def test_a_truncated_or_damaged_member_raises(content, data):
    member = data.draw(st.sampled_from([store_member, gzip.compress]))(content)
    with pytest.raises(ValueError, match="gzip member"):
        decompress_member(member[: data.draw(st.integers(0, len(member) - 1))])
    at = data.draw(st.integers(len(member) - 8, len(member) - 5))  # its checksum
    with pytest.raises(ValueError, match="gzip member"):
        decompress_member(member[:at] + bytes([member[at] ^ 1]) + member[at + 1 :])


@given(
    st.one_of(st.binary(max_size=100), st.binary(max_size=100).map(lambda rest: b"\xff\xd8" + rest)), st.sampled_from(["OK", ""])
)
def test_other_tools_read_a_record_byte_for_byte(body, reason):
    headers = [("Content-Type", "image/jpeg"), ("X-Note", "gr\u00fcn")]
    record = build_record(Entry("http://a.sample/x%20y", 200, sha256="0" * 64), body, headers, reason)
    (read,) = [
        (item.rec_type, item.rec_headers["WARC-Target-URI"], item.http_headers["Content-Type"], item.content_stream().read())
        for item in ArchiveIterator(io.BytesIO(record))
    ]
    assert read == ("response", "http://a.sample/x%20y", "image/jpeg", body)
