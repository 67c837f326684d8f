"""#PraCegoVer as published (dos Santos et al. 2022): ``dataset.json``, a list of posts.

A post has ``user`` (anonymised), ``filename``, ``raw_caption`` (as its author wrote it), ``caption`` (cleaned) and ``date``.
A file that holds the posts as an object, by identifier, is read as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from components.stages.crawl.sources.layouts.documents import checked, load, missing, other_layout
from components.stages.crawl.sources.layouts.row import Layout, Row


class PraCegoVer(Layout):
    """The cleaned captions."""

    name = "pracegover"
    has_files = True
    takes = "caption"

    def rows(self, path: Path, shown: str) -> Iterator[Row]:
        """See :class:`Layout`; a row's number is its post's place."""
        document = load(path, shown)
        posts = list(document.values()) if isinstance(document, dict) else document
        if not isinstance(posts, list):
            raise other_layout(shown, self.name, "it holds no posts")

        def each() -> Iterator[Row]:
            for number, post in enumerate(posts, 1):
                lacks = missing(number, post, {"filename": str, self.takes: str})
                if lacks is not None:
                    yield lacks
                    continue
                owner, date = str(post.get("user") or ""), str(post.get("date") or "")
                note = f"posted {date or 'undated'}"
                yield Row(number, post[self.takes], file=post["filename"], owner=owner, posted=date, note=note)

        yield from checked(each(), shown, self.name)


class PraCegoVerRaw(PraCegoVer):
    """The posts as their authors wrote them."""

    name = "pracegover_raw"
    takes = "raw_caption"
