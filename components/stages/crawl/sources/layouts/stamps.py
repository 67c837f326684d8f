"""Stamps of Tux Paint: next to each image a text file with its caption in many languages.

``apple.txt`` holds the English caption on its first line, then lines such as ``fr.utf8=Une pomme.``; ``apple.png`` is the image.
A stamp drawn as SVG has no ``.png`` and counts as a missing file. Captions of regions (``pt_BR``, ``ca@valencia``) and languages
without an ISO 639-1 code are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from components.core.errors import HearsightError
from components.stages.crawl.sources.layouts.lines import LineLayout
from components.stages.crawl.sources.layouts.row import Row

_LINE = re.compile(r"(?P<code>[A-Za-z]{2,3}(?:_[A-Za-z]+)?(?:@\w+)?)\.utf8\s*=(?P<caption>.*)", re.DOTALL)


class Stamps(LineLayout):
    """Stamps of Tux Paint, a ``.txt`` each: the caption in one of ``languages``, of the ``.png`` beside it."""

    name = "stamps"
    fields = "the English caption, then one of <language>.utf8=<caption> a line"
    has_files = True
    relative_to_table = True
    has_languages = True

    def rows(self, path: Path, label: str) -> Iterator[Row]:
        rows = list(self._read_rows(path, label))
        if len(rows) > 1 and all(row.rule for row in rows[1:]):
            raise HearsightError(
                f"is not of the layout '{self.name}': {rows[1].value}, and so none of the lines after its first",
                where=f"{label}: line {rows[1].number}",
                hint=f"a file holds {self.fields}; set crawl.source.layout to the file's own, or narrow crawl.source.inputs",
            )
        for row in rows:
            if row.rule or row.language:
                yield row if row.rule else replace(row, file=f"{path.stem}.png")

    def row(self, number: int, text: str) -> Row:
        if number == 1:
            return Row(number, text, language="en")
        if not text.strip():
            return Row(number)
        match = _LINE.fullmatch(text)
        if match is None:
            return Row(number, rule="missing_field", value=f"'{text[:40]}'", threshold="<language>.utf8=<caption>")
        code = match["code"]
        return Row(number, match["caption"], language=code if re.fullmatch("[a-z]{2}", code) else "")
