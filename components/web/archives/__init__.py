"""Read pages from web archives: WARC, WAT and WACZ files become pages with image candidates, one at a time.

``read_archive`` is the entry point; memory is constant in the archive's size. ``opening`` opens the bytes (disk, S3, http),
``members`` and ``records`` split them, ``responses`` and ``wat`` read a page from a record, ``paths`` reads Common Crawl's lists.
"""

from __future__ import annotations

from components.web.archives.paths import is_path_list, read_paths
from components.web.archives.reading import ArchivePage, read_archive, read_stream, summarize

__all__ = ["ArchivePage", "is_path_list", "read_archive", "read_paths", "read_stream", "summarize"]
