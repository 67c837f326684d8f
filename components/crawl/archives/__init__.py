"""Pages out of web archives: WARC and WAT files become pages with their image candidates, one at a time.

``read_archive`` is the one entrance; memory stays flat whatever the archive's size. Reading bytes from disk or S3:
``opening``; cutting them into records: ``records``; a page's pairs: ``pairs``; WAT metadata: ``wat``; Common Crawl's path
lists: ``paths``. Not in scope: which of the images are fetched, and robots rules beyond the page's own ``noindex``.
"""

from __future__ import annotations

from collections.abc import Iterator

from components.crawl.archives.found import PageFound

__all__ = ["PageFound", "read_archive"]


def read_archive(path: str) -> Iterator[PageFound]:
    raise NotImplementedError
