"""Find the ``<img>`` tags of a page's source, and write alt-texts into them without changing any other byte.

The tokenizer follows the HTML standard (13.2.5) as far as it decides what is a tag. It reads bytes as ISO-8859-1, which keeps
positions in charsets that contain ASCII. It does not build a tree: :mod:`components.tools.describe.page` compares what it found
with the tree's images and refuses to write a page where they differ. Time is linear in the page's size.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import NamedTuple

from components.web.html.scan import unescape_attribute

_NEXT = re.compile(r"<(?:(!--)|([!?]|/[^A-Za-z>])|(/?)([A-Za-z][^\t\n\f\r />]*+))")
_COMMENT_END = re.compile(r"-?>|(?:.*?)--!?>", re.S)
_VALUE = r"""(?:"(?P<double>[^"]*+)"|'(?P<single>[^']*+)'|(?P<bare>[^\t\n\f\r >"'][^\t\n\f\r >]*+)|(?=>))"""
_ATTRIBUTE = re.compile(
    r"[\t\n\f\r /]*+(?:(?P<end>>)|(?P<name>[^\t\n\f\r />][^\t\n\f\r />=]*+)"
    rf"(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+{_VALUE})?)"
)
_RAW = frozenset(("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"))
_RAW_END = {name: re.compile(rf"</{name}(?=[\t\n\f\r />])", re.I) for name in _RAW}


class Attribute(NamedTuple):
    """An attribute of a tag: its value as written (None without one), and where it is from its name to its value's end."""

    value: str | None
    start: int
    end: int


class ImageTag(NamedTuple):
    """An ``<img>`` tag."""

    insert_at: int
    """Position after its name."""
    attributes: dict[str, Attribute]
    """By name in lower case; of equal names the first."""

    def value(self, name: str, codec: str) -> str | None:
        """Return an attribute's text; None without the attribute or its value."""
        attribute = self.attributes.get(name)
        if attribute is None or attribute.value is None:
            return None
        return unescape_attribute(attribute.value.encode("latin-1").decode(codec, "replace"))


def find_image_tags(page: bytes) -> list[ImageTag]:
    """Return the ``<img>`` tags of a page in order, without those in comments, scripts, templates and other raw text."""
    text, tags, position, templates = page.decode("latin-1"), list[ImageTag](), 0, 0
    while match := _NEXT.search(text, position):
        comment, bogus, closing, name = match.groups()
        position = match.end()
        if comment or bogus:
            end = _COMMENT_END.match(text, position) if comment else re.compile(">").search(text, match.start() + 2)
            if end is None:
                break
            position = end.end()
            continue
        read = _read_attributes(text, position)
        if read is None:
            break  # the page ends inside the tag
        attributes, position = read
        name = name.lower()
        if name == "template":
            templates += -1 if closing else 1
            templates = max(templates, 0)
        elif name == "img" and not closing and not templates:
            tags.append(ImageTag(match.end(), attributes))
        elif name in _RAW and not closing:
            stop = _RAW_END[name].search(text, position)
            position = stop.start() if stop else len(text)
        elif name == "plaintext" and not closing:
            break
    return tags


def _read_attributes(text: str, position: int) -> tuple[dict[str, Attribute], int] | None:
    """Return a tag's attributes and the position after its ``>``; None where the text ends first."""
    attributes: dict[str, Attribute] = {}
    while match := _ATTRIBUTE.match(text, position):
        position = match.end()
        if match["end"]:
            return attributes, position
        value = next((match[kind] for kind in ("double", "single", "bare") if match[kind] is not None), None)
        attributes.setdefault(match["name"].lower(), Attribute(value, match.start("name"), position))
    return None


class Alt(NamedTuple):
    """An alt-text to write into a tag."""

    tag: ImageTag
    text: str
    mark: str
    """Value of ``data-hearsight``."""


def write_alts(page: bytes, alts: Iterable[Alt], codec: str) -> bytes:
    """Return the page with alt-texts, each marked by ``data-hearsight``; every other byte is unchanged.

    Characters that the page's charset lacks become character references.
    """
    pieces, position = list[bytes](), 0
    for tag, text, mark in sorted(alts, key=lambda alt: alt.tag.insert_at):
        written = f'alt="{html.escape(text)}" data-hearsight="{html.escape(mark)}"'.encode(codec, "xmlcharrefreplace")
        existing = tag.attributes.get("alt")
        start, end = (existing.start, existing.end) if existing else (tag.insert_at, tag.insert_at)
        pieces += [page[position:start], written if existing else b" " + written]
        position = end
    return b"".join([*pieces, page[position:]])
