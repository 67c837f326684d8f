"""Alt-texts are written into the tags that the tree calls images, and no other byte changes."""

from __future__ import annotations

import time

import pytest
from selectolax.lexbor import LexborHTMLParser

from components.tools.describe.image_tags import Alt, find_image_tags, write_alts


@pytest.mark.parametrize(
    ("page", "written"),
    [
        (b"<img src=a.png>", b'<img alt="A &amp; &quot;B&quot;" data-hearsight="proposed" src=a.png>'),
        (b"<IMG\n SRC='a'/>", b'<IMG alt="A &amp; &quot;B&quot;" data-hearsight="proposed"\n SRC=\'a\'/>'),
        (b"x<img alt='' src=a>y", b'x<img alt="A &amp; &quot;B&quot;" data-hearsight="proposed" src=a>y'),
        (b"<img src=a alt>", b'<img src=a alt="A &amp; &quot;B&quot;" data-hearsight="proposed">'),
        (b"<img/src=a>", b'<img alt="A &amp; &quot;B&quot;" data-hearsight="proposed"/src=a>'),
    ],
)
def test_an_alt_text_is_inserted_or_replaces_an_empty_one(page: bytes, written: bytes) -> None:
    (tag,) = find_image_tags(page)
    assert write_alts(page, [Alt(tag, 'A & "B"', "proposed")], "utf-8") == written
    assert LexborHTMLParser(written.decode()).css_first("img").attributes["alt"] == 'A & "B"'


def test_characters_that_the_charset_lacks_become_references() -> None:
    page = b"<meta charset=iso-8859-1><img src=a>\xe9"
    written = write_alts(page, [Alt(find_image_tags(page)[0], "Pas sûr : 猫", "not-sure")], "cp1252")
    assert b'alt="Pas s\xfbr : &#29483;"' in written and written.endswith(b">\xe9")


@pytest.mark.long
@pytest.mark.parametrize(
    "piece", [b"<img ", b'<img a="', b"<!--", b"<img a=", b"<a b='", b"<script>", b"<template>", b"</", b"<img a ", b"<!x"]
)
def test_time_is_linear_in_the_page(piece: bytes) -> None:
    def seconds(size: int) -> float:
        page = piece * (size // len(piece))
        begun = time.process_time()
        find_image_tags(page)
        return time.process_time() - begun

    # Quadratic time would be 64 times as long for the larger page.
    assert seconds(1 << 20) < 24 * max(seconds(1 << 17), 0.01)
