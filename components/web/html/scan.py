"""Read what a crawl wants of a page's markup without building its tree; None where only a tree can tell.

``tags`` finds the tags, compiled; here their values are decoded. Where tree building would move, hide or re-parent an image,
``scan`` returns None and the page goes to the DOM reading, so it is never wrong where it answers:
``tests/web/html/test_pairs.py`` compares the two on arbitrary markup. Not in scope: text, links, decoding, URLs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from components.web.html.attributes import unescape_attribute
from components.web.html.page import check_image_count
from components.web.html.tags import BASE, HTML, IMG, META, PICTURE, SOURCE, WANTED, find_tags

Attributes = dict[str, str | None]


@dataclass
class Scan:
    """A page's markup, as far as candidates need it."""

    images: list[tuple[Attributes, Sequence[Attributes]]] = field(default_factory=list)
    """Of each ``<img>`` its attributes, and those of the ``<source>`` of the ``<picture>`` it is in."""
    base: str | None = None
    """``href`` of the first ``<base>`` that has one."""
    language: str | None = None
    """``lang`` of ``<html>``."""
    metas: list[Attributes] = field(default_factory=list)
    """The ``<meta>`` with a name and content that may speak to robots."""


def scan(text: str | bytes, most_images: int | None = None) -> Scan | None:
    """Return the images of a page's text, or None when its tree has to be built to know them.

    Args:
        text: decoded, without NUL characters and lone surrogates; or its UTF-8 form, broken sequences allowed: those never
            reach into the ASCII characters that markup is made of, so that values may be decoded one by one.
        most_images: ``<img>`` a page may have.

    Raises:
        PageOverBudget: it has more than ``most_images``.
    """
    data = text.encode() if isinstance(text, str) else text
    plain, rows = find_tags(np.frombuffer(data, np.uint8))
    if not plain:
        return None
    if most_images is not None and len(rows) > most_images:
        check_image_count(int(np.count_nonzero(rows[:, 0] == IMG)), most_images)
    found = Scan()
    others: list[tuple[int, Attributes]] = []
    given: Attributes = {}
    sources: list[Attributes] | tuple[()] = ()
    for code, start, end in rows.tolist():
        if code >= 0:
            name = WANTED[code]
            if name not in given:
                given[name] = None if start < 0 else unescape_attribute(data[start:end].decode("utf-8", "replace"))
            continue
        given = {}
        if code == IMG:
            found.images.append((given, sources))
        elif code == SOURCE:
            sources.append(given)  # type: ignore[union-attr]
        elif code in (BASE, HTML, META):
            others.append((code, given))
        else:
            sources = [] if code == PICTURE else ()
    for code, given in others:
        if code == META and "name" in given and "content" in given:
            found.metas.append(given)
        elif code == BASE and found.base is None and "href" in given:
            found.base = given["href"] or ""
        elif code == HTML and found.language is None and "lang" in given:
            found.language = given["lang"] or ""
    return found
