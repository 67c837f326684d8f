"""Detect how an archive is compressed from its first bytes: gzip, zstd, not at all; or that it is a ZIP file."""

from __future__ import annotations

from components.web.archives.expansion import Expansion
from components.web.archives.gzip_members import MAGIC as GZIP
from components.web.archives.gzip_members import GzipMembers
from components.web.archives.members import CHUNK, Members
from components.web.archives.opening import Stream, read_fully
from components.web.archives.zstd_members import MAGIC as ZSTD
from components.web.archives.zstd_members import SKIPPABLE, ZstdMembers

ZIP = (b"PK\x03\x04", b"PK\x05\x06")


def is_zstd(head: bytes) -> bool:
    """Return whether ``head`` begins a zstd frame."""
    return head.startswith(ZSTD) or SKIPPABLE.match(head) is not None


def open_members(stream: Stream, expansion: Expansion) -> Members:
    """Return a reader of the archive's members."""
    head = read_fully(stream, CHUNK)
    if head.startswith(GZIP[:2]):
        return GzipMembers(stream, head, expansion)
    return (ZstdMembers if is_zstd(head) else Members)(stream, head, expansion)
