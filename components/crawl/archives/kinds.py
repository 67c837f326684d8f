"""How an archive is compressed, told by its first bytes: gzip, zstd, or not at all; or whether it is a ZIP file."""

from __future__ import annotations

from components.crawl.archives.expansion import Expansion
from components.crawl.archives.gzip_members import MAGIC as GZIP
from components.crawl.archives.gzip_members import GzipMembers
from components.crawl.archives.members import CHUNK, Members
from components.crawl.archives.opening import Stream, read_fully
from components.crawl.archives.zstd_members import MAGIC as ZSTD
from components.crawl.archives.zstd_members import SKIPPABLE, ZstdMembers

ZIP = (b"PK\x03\x04", b"PK\x05\x06")


def is_zstd(head: bytes) -> bool:
    """Whether zstd frames begin so."""
    return head.startswith(ZSTD) or SKIPPABLE.match(head) is not None


def members_of(stream: Stream, expansion: Expansion) -> Members:
    """The members of an archive."""
    head = read_fully(stream, CHUNK)
    if head.startswith(GZIP[:2]):
        return GzipMembers(stream, head, expansion)
    return (ZstdMembers if is_zstd(head) else Members)(stream, head, expansion)
