"""Captioned files: one caption and one local image per line, separated by a tab.

``caption<TAB>path``, UTF-8, with or without that header, with any line ends; quotes are ordinary characters. Paths are relative
to ``crawl.source.image_folder``, or to the table's own folder where that is empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from components.core.errors import HearsightError
from components.stages.crawl.sources.layouts.lines import LineLayout, wrong_field_count
from components.stages.crawl.sources.layouts.row import Row

_ADDRESS = re.compile(r"\s*https?://", re.I)
_PICTURE = re.compile(r".+\.(?:jpe?g|png|gif|webp|bmp|tiff?)\s*", re.I)


class CaptionedFiles(LineLayout):
    """``caption<TAB>path``."""

    name = "tsv"
    fields = "caption<TAB>path of a picture"
    has_files = True
    folder_optional = True

    def is_header(self, text: str) -> bool:
        """Return whether the line is ``caption<TAB>path``, in any case."""
        return [part.strip().lower() for part in text.split("\t")] == ["caption", "path"]

    def rows(self, path: Path, label: str) -> Iterator[Row]:
        """See :class:`components.stages.crawl.sources.layouts.row.Layout`; a table without rows is an error."""
        empty = True
        for row in super().rows(path, label):
            empty = False
            yield row
        if empty:
            raise HearsightError("holds no rows", where=label, hint=f"write one row a line: {self.fields}")

    def row(self, number: int, text: str) -> Row:
        """See :class:`LineLayout`."""
        if "\0" in text:
            return Row(number, rule="bad_encoding", value="a NUL character, as in UTF-16", threshold="UTF-8")
        parts = text.split("\t")
        if len(parts) != 2:
            return wrong_field_count(number, len(parts), self.fields)
        caption, file = parts
        if not file.strip():
            return Row(number, rule="missing_field", value="no path", threshold=self.fields)
        if _ADDRESS.match(file):
            value = f"'{file.strip()[:60]}' is a web address (layout: cc3m)"
            return Row(number, rule="bad_row", value=value, threshold="path of a picture")
        if _PICTURE.fullmatch(caption) and not _PICTURE.fullmatch(file):
            return Row(
                number, rule="bad_row", value=f"'{caption.strip()[:60]}' is where the caption belongs", threshold=self.fields
            )
        return Row(number, caption, file=file)
