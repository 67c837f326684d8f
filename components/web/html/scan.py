"""Read a page's images from its tags without building its tree; None where only the tree can tell.

``tags`` finds the tags, compiled; their values are decoded here. Where tree building would move, hide or re-parent an image,
``scan`` returns None and the page is read from the tree. ``tests/web/html/test_pairs.py`` compares both on arbitrary markup.
"""

from __future__ import annotations

import html.entities
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from components.web.html.page import check_image_count
from components.web.html.tag_kinds import BASE, HTML, IMG, META, NOSCRIPT, NOSCRIPT_END, PICTURE, SOURCE
from components.web.html.tag_syntax import ATTRIBUTES
from components.web.html.tags import find_tags

Attributes = dict[str, str | None]
_REFERENCE = re.compile(r"&(?:#(?:[xX]([0-9a-fA-F]++)|([0-9]++));?|([a-zA-Z][a-zA-Z0-9]*+)(;?))")
_NAMED = html.entities.html5
# 13.2.5.80: the numbers 80 to 9F (hexadecimal) are Windows-1252 where that defines them.
_WINDOWS = {n: bytes([n]).decode("cp1252") for n in range(0x80, 0xA0) if n not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)}


@dataclass
class Scan:
    """The parts of a page's markup that candidates need."""

    images: list[tuple[Attributes, Sequence[Attributes], bool]] = field(default_factory=list)
    """For each ``<img>`` its attributes, those of each ``<source>`` of its ``<picture>``, and whether it is all of a
    ``<noscript>``."""
    base: str | None = None
    """``href`` of the first ``<base>`` that has one."""
    language: str | None = None
    """``lang`` of ``<html>``."""
    metas: list[Attributes] = field(default_factory=list)
    """Each ``<meta>`` with a name and content that may address robots."""


def scan(text: str | bytes, most_images: int | None = None, agent: str = "hearsight") -> Scan | None:
    """Return the images of a page's text; None when the tree is needed.

    Args:
        text: decoded, without NUL characters and lone surrogates; or its UTF-8 bytes. Broken UTF-8 sequences are allowed: they
            never extend into the ASCII characters of markup, so values can be decoded one by one.
        most_images: maximum ``<img>`` elements.
        agent: our product token, whose ``<meta>`` tags are returned.

    Raises:
        PageOverBudget: the page has more than ``most_images``.
    """
    data = text.encode() if isinstance(text, str) else text
    plain, rows = find_tags(np.frombuffer(data, np.uint8), np.frombuffer(agent.lower().encode(), np.uint8))
    if not plain:
        return None
    if most_images is not None and len(rows) > most_images:
        check_image_count(int(np.count_nonzero(rows[:, 0] == IMG)), most_images)
    scanned = Scan()
    others: list[tuple[int, Attributes]] = []
    attributes: Attributes = {}
    sources: list[Attributes] | tuple[()] = ()
    without_script = False
    for code, start, end in rows.tolist():
        if code >= 0:
            name = ATTRIBUTES[code]
            if name not in attributes:
                attributes[name] = None if start < 0 else unescape_attribute(data[start:end].decode("utf-8", "replace"))
            continue
        attributes = {}
        if code == IMG:
            scanned.images.append((attributes, sources, without_script))
        elif code == SOURCE:
            sources.append(attributes)  # type: ignore[union-attr]
        elif code in (NOSCRIPT, NOSCRIPT_END):
            without_script = code == NOSCRIPT
        elif code in (BASE, HTML, META):
            others.append((code, attributes))
        else:
            sources = [] if code == PICTURE else ()
    for code, attributes in others:
        if code == META and "name" in attributes and "content" in attributes:
            scanned.metas.append(attributes)
        elif code == BASE and scanned.base is None and "href" in attributes:
            scanned.base = attributes["href"] or ""
        elif code == HTML and scanned.language is None and "lang" in attributes:
            scanned.language = attributes["lang"] or ""
    return scanned


def unescape_attribute(value: str) -> str:
    """Return the value with line ends replaced by ``\\n`` and character references replaced.

    As in the HTML standard (13.2.5.72–13.2.5.80), which differs from ``html.unescape``: ``&copy=1`` is not a copyright sign.
    """
    if "\r" in value:
        value = value.replace("\r\n", "\n").replace("\r", "\n")
    return _REFERENCE.sub(_replace_reference, value) if "&" in value else value


def _replace_reference(match: re.Match[str]) -> str:
    hexadecimal, decimal, name, semicolon = match.groups()
    if name:
        if semicolon:
            character = _NAMED.get(name + ";")
            return match.group() if character is None else character
        # A legacy name needs no semicolon, unless an equals sign follows.
        legacy = _NAMED.get(name)
        return match.group() if legacy is None or match.string[match.end() : match.end() + 1] == "=" else legacy
    digits = (hexadecimal or decimal).lstrip("0")
    if len(digits) > 7:
        return "\ufffd"
    number = int(digits or "0", 16 if hexadecimal else 10)
    if number == 0 or number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        return "\ufffd"
    return _WINDOWS.get(number) or chr(number)
