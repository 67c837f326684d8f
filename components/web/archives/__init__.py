"""Pages out of web archives: WARC and WAT files become pages with their image candidates, one at a time.

``read_archive`` is the one entrance; memory stays flat whatever the archive's size. The bytes, from disk or S3:
``opening``; cut into gzip members and records: ``members``, ``records``; a page out of a record: ``responses``, ``wat``; its
pairs: ``pairs``, ``scan``, ``attributes``, ``resolve``; Common Crawl's lists: ``paths``. Not in scope: which images are fetched.
"""

from __future__ import annotations

from components.web.archives.findings import ArchivePage
from components.web.archives.paths import is_path_list, read_paths
from components.web.archives.reading import read_archive, read_stream

__all__ = ["ArchivePage", "is_path_list", "read_archive", "read_paths", "read_stream"]
