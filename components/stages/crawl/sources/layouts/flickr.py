"""Flickr8k and Flickr30k as published: an image's file name, the number of its caption, and the caption.

``Flickr8k.token.txt`` and ``results_20130124.token``: ``name.jpg#0<TAB>caption``. ``results.csv``, another distributed form of
Flickr30k: ``name.jpg| 0| caption`` under a header, unquoted.
"""

from __future__ import annotations

import re

from components.stages.crawl.sources.layouts.lines import LineLayout, wrong_field_count
from components.stages.crawl.sources.layouts.row import Row

_TOKEN = re.compile(r"(?P<file>[^\t]+)#(?P<number>\d+)\t(?P<caption>.*)", re.DOTALL)


class Flickr8k(LineLayout):
    """``name.jpg#0<TAB>caption``."""

    name = "flickr8k"
    fields = "name.jpg#0<TAB>caption"
    has_files = True

    def row(self, number: int, text: str) -> Row:
        """See :class:`LineLayout`."""
        match = _TOKEN.fullmatch(text)
        if match is None:
            return wrong_field_count(number, len(text.split("\t")), self.fields)
        post = f"{match['file'].strip()}#{match['number']}"
        return Row(number, match["caption"], file=match["file"], post=post, note=f"caption {match['number']}")


class Flickr30k(Flickr8k):
    """``name.jpg#0<TAB>caption`` or ``name.jpg| 0| caption``."""

    name = "flickr30k"
    fields = "name.jpg#0<TAB>caption, or name.jpg| 0| caption"

    def is_header(self, text: str) -> bool:
        """Return whether the line is ``image_name| comment_number| comment``."""
        return [part.strip() for part in text.split("|")] == ["image_name", "comment_number", "comment"]

    def row(self, number: int, text: str) -> Row:
        """See :class:`LineLayout`."""
        if _TOKEN.fullmatch(text) or "|" not in text:
            return super().row(number, text)
        parts = text.split("|", 2)
        if len(parts) != 3 or not parts[1].strip().isdecimal():
            return wrong_field_count(number, len(parts), self.fields)
        file, caption = parts[0].strip(), parts[1].strip()
        return Row(number, parts[2], file=file, post=f"{file}#{caption}", note=f"caption {caption}")
