"""#PraCegoVer as published (PCV): ``dataset.json``, a list of posts.

A post has ``user`` (anonymised), ``filename``, ``raw_caption`` (as its author wrote it), ``caption`` (cleaned) and ``date``.
An object that maps identifiers to posts is accepted too.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from components.stages.crawl.sources.layouts.documents import check_fields, load_json, require_fitting_rows, wrong_layout_error
from components.stages.crawl.sources.layouts.row import Layout, Row


class PraCegoVer(Layout):
    """The cleaned captions (``caption``)."""

    name = "pracegover"
    has_files = True
    caption_field = "caption"

    def rows(self, path: Path, label: str) -> Iterator[Row]:
        """See :class:`Layout`; a row's number is its post's position."""
        document = load_json(path, label)
        posts = list(document.values()) if isinstance(document, dict) else document
        if not isinstance(posts, list):
            raise wrong_layout_error(label, self.name, "it holds no posts")

        def read_rows() -> Iterator[Row]:
            for number, post in enumerate(posts, 1):
                misfit = check_fields(number, post, {"filename": str, self.caption_field: str})
                if misfit is not None:
                    yield misfit
                    continue
                owner, date = str(post.get("user") or ""), str(post.get("date") or "")
                note = f"posted {date or 'undated'}"
                yield Row(number, post[self.caption_field], file=post["filename"], owner=owner, posted=date, note=note)

        yield from require_fitting_rows(read_rows(), label, self.name)


class PraCegoVerRaw(PraCegoVer):
    """The captions as their authors wrote them (``raw_caption``)."""

    name = "pracegover_raw"
    caption_field = "raw_caption"
