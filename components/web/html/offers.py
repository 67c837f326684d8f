"""Collect the addresses that an image offers (``src``, lazy loading, ``srcset``, ``<source>``) and choose the largest.

Both page readers, from the tree (``page``) and from the tags (``pairs``), use these functions. All take time linear in the input.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

LAZY = ("data-src", "data-original", "data-lazy-src")
DECODABLE = ("image/jpeg", "image/png", "image/gif", "image/webp", "image/jpg")
_ADDRESS = re.compile(r"[ \t\r\n\f,]*+([^ \t\r\n\f]++)")
_DENSITY = re.compile(r"\d{1,4}(?:\.\d{1,6})?", re.ASCII)

Offer = tuple[int, float, str]
"""Width in px or 0, density or 1, address."""
Attributes = Mapping[str, str | None]
Choice = tuple[str, Offer | None]
"""The first address as spelled ('' for none), and the best offer with its absolute address."""
NO_CHOICE: Choice = ("", None)


def parse_srcset(text: str) -> list[Offer]:
    """Return the offers of a ``srcset`` in order, with addresses as spelled.

    Follows the HTML standard (4.8.4.2.1): an address extends to white space and may hold commas; one that ends in a comma has no
    descriptor. Offers with invalid descriptors are left out.
    """
    offers: list[Offer] = []
    position = 0
    while match := _ADDRESS.match(text, position):
        url, position = match[1], match.end()
        words: list[str] = []
        if url.endswith(","):
            url = url.rstrip(",")
        else:
            comma = text.find(",", position)
            end = len(text) if comma < 0 else comma
            words, position = text[position:end].split(), end + 1
        size = _descriptor(words)
        if size:
            offers.append((*size, url))
    return offers


def _descriptor(words: list[str]) -> tuple[int, float] | None:
    width, density = 0, 1.0
    for word in words:
        value, unit = word[:-1], word[-1]
        if unit == "w" and value.isascii() and value.isdigit() and len(value) < 7:
            width = int(value)
        elif unit == "x" and _DENSITY.fullmatch(value):
            density = float(value)
        elif unit != "h":
            return None
    return width, density


def read_image_offers(attributes: Attributes) -> list[Offer]:
    """Return the offers of an ``<img>`` element."""
    offers: list[Offer] = []
    for name in ("src", *LAZY):
        if spelled := (attributes.get(name) or "").strip():
            offers.append((0, 1.0, spelled))
    for name in ("srcset", "data-srcset"):
        offers += parse_srcset(attributes.get(name) or "")
    return offers


def read_source_offers(sources: Iterable[Attributes]) -> list[Offer]:
    """Return the offers of a picture's ``<source>`` elements, without those of unsupported types."""
    offers: list[Offer] = []
    for source in sources:
        if (source.get("type") or DECODABLE[0]).strip().lower() in DECODABLE:
            offers += parse_srcset(source.get("srcset") or "")
    return offers


def choose(offers: list[Offer], resolve: Callable[[str], str | None]) -> Choice:
    """Return the largest offer whose address ``resolve`` makes absolute (None: not fetchable); of equal offers the first."""
    if not offers:
        return NO_CHOICE
    for width, density, raw in sorted(offers, key=lambda offer: offer[:2], reverse=True):
        if url := resolve(raw):
            return offers[0][2], (width, density, url)
    return offers[0][2], None


def pick_larger(image: Choice, picture: Choice) -> tuple[str, str | None]:
    """Return the first address as spelled and the best absolute one, from an image's choice and then its picture's."""
    best = image[1]
    if picture[1] and (best is None or picture[1][:2] > best[:2]):
        best = picture[1]
    return image[0] or picture[0], best[2] if best else None
