"""Read a page's images and what is around them from its tags, without building its tree.

``tags`` finds the tags, compiled; their values are decoded here. Where tree building would move, hide or re-parent an image, the
page is not ``plain`` and its images are read from the tree. ``tests/web/html/test_pairs.py`` compares both on arbitrary markup.
"""

from __future__ import annotations

import html.entities
import re
from collections.abc import Sequence
from ctypes import byref, c_char
from dataclasses import dataclass, field

from components.web.html.candidate import check_image_count
from components.web.html.machine_code import load_scanner
from components.web.html.tag_codes import (
    ATTRIBUTES,
    BASE,
    HEIGHT,
    HREF,
    HTML,
    IMG,
    META,
    NOSCRIPT,
    NOSCRIPT_END,
    PICTURE,
    SOURCE,
    STATE_SIZE,
    WIDTH,
)

Attributes = dict[str, str | None]
_REFERENCE = re.compile(r"&(?:#(?:[xX]([0-9a-fA-F]++)|([0-9]++));?|([a-zA-Z][a-zA-Z0-9]*+)(;?))")
_NAMED = html.entities.html5
# 13.2.5.80: the numbers 80 to 9F (hexadecimal) are Windows-1252 where that defines them.
_WINDOWS = {n: bytes([n]).decode("cp1252") for n in range(0x80, 0xA0) if n not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)}


@dataclass(slots=True)
class ImageTag:
    """An ``<img>`` and what is around it."""

    attributes: Attributes
    sources: Sequence[Attributes] = ()
    """Those of each ``<source>`` of its ``<picture>``."""
    without_script: bool = False
    """Whether it is all of a ``<noscript>``."""
    href: str | None = None
    """That of the link around it."""
    acts: bool = False
    """Whether it is in a ``<button>``, or it or the link around it acts as one."""
    width: int | None = None
    """px that the tag states; likewise ``height``."""
    height: int | None = None
    figure: int = 0
    """Number of its innermost ``<figure>``; 0 for none."""


@dataclass
class Scan:
    """The parts of a page's markup that candidates need."""

    plain: bool
    """Whether the images are those of the tree, in its order."""
    data: bytes
    images: list[ImageTag] = field(default_factory=list)
    base: str | None = None
    """``href`` of the first ``<base>`` that has one."""
    language: str | None = None
    """``lang`` of ``<html>``."""
    metas: list[Attributes] = field(default_factory=list)
    """Each ``<meta>`` with a content, and a name that may address robots or a property that states a title."""
    texts: bytearray = field(default_factory=bytearray)
    """Five int64 for each text in ``buffer``; see ``tag_texts.close_text``."""
    buffer: bytearray = field(default_factory=bytearray)


def scan(text: str | bytes, most_images: int | None = None, agent: str = "hearsight") -> Scan:
    """Return the images of a page's text, and the texts around them.

    Args:
        text: decoded, without NUL characters and lone surrogates; or its UTF-8 bytes. Broken UTF-8 sequences are allowed: they
            never extend into the ASCII characters of markup, so values can be decoded one by one.
        most_images: maximum ``<img>`` elements.
        agent: our product token, whose ``<meta>`` tags are returned.

    Raises:
        PageOverBudget: the page can be read without its tree and has more than ``most_images``.
    """
    data = text.encode() if isinstance(text, str) else text
    ascii_text = data.decode() if data.isascii() else None  # most pages: their values need no decoding
    plain, rows, texts, buffer = _find_tags(data, agent)
    if plain and most_images is not None and len(rows) > most_images:
        check_image_count(rows[::3].count(IMG), most_images)
    scanned = Scan(plain, data, texts=texts, buffer=buffer)
    others: list[tuple[int, Attributes]] = []
    attributes: Attributes = {}
    sources: list[Attributes] | tuple[()] = ()
    without_script, href = False, None
    numbers = iter(rows)
    for code, start, end in zip(numbers, numbers, numbers, strict=True):
        if code >= 0:
            name = ATTRIBUTES[code]
            if name in attributes:
                continue
            if start < 0:
                attributes[name] = None
                continue
            value = ascii_text[start:end] if ascii_text is not None else data[start:end].decode("utf-8", "replace")
            attributes[name] = unescape_attribute(value) if "&" in value or "\r" in value else value
            continue
        attributes = {}
        if code == IMG:
            # ``start`` is what ``tag_images.read_image`` says besides, ``end`` the number of the figure.
            image = ImageTag(attributes, sources, without_script, href, start % WIDTH == 1, figure=end)
            if start >= WIDTH:
                image.width, image.height = (px - 1 if px else None for px in (start % HEIGHT // WIDTH, start // HEIGHT))
            scanned.images.append(image)
            href = None
        elif code == HREF:
            href = unescape_attribute(data[start:end].decode("utf-8", "replace"))
        elif code == SOURCE:
            sources.append(attributes)  # type: ignore[union-attr]
        elif code in (NOSCRIPT, NOSCRIPT_END):
            without_script = code == NOSCRIPT
        elif code in (BASE, HTML, META):
            others.append((code, attributes))
        else:
            sources = [] if code == PICTURE else ()
    for code, attributes in others:
        if code == META and "content" in attributes:
            scanned.metas.append(attributes)
        elif code == BASE and scanned.base is None and "href" in attributes:
            scanned.base = attributes["href"] or ""
        elif code == HTML and scanned.language is None and "lang" in attributes:
            scanned.language = attributes["lang"] or ""
    return scanned


def _find_tags(data: bytes, agent: str) -> tuple[bool, list[int], bytearray, bytearray]:
    """Return whether the page is plain, the numbers of the rows of tags, the texts and the buffer; see ``tags.find_tags``."""
    find_tags, ours = load_scanner().find_tags, agent.lower().encode()
    buffer, state = bytearray(len(data) + 64), bytearray(8 * STATE_SIZE)
    most, most_texts = 256, 128
    while True:
        rows, texts = bytearray(24 * most), bytearray(40 * most_texts)
        places = [byref(c_char.from_buffer(table)) for table in (rows, texts, buffer, state)]
        find_tags(data, len(data), ours, len(ours), places[0], most, places[1], most_texts, *places[2:])
        plain, found, found_texts = memoryview(state).cast("q")[:3]
        if found <= most and found_texts <= most_texts:
            return plain == 1, memoryview(rows).cast("q")[: 3 * found].tolist(), texts[: 40 * found_texts], buffer
        most, most_texts = max(most, found), max(most_texts, found_texts)


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
