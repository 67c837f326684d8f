"""The addresses that an image offers, in ``src``, for lazy loading, in ``srcset`` and in its picture's sources; and the best.

Both readers of pages, from the tree (``html``) and from the tags (``archives.pairs``), choose here. Every function takes time
linear in its input.
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
    """Return the offers of a ``srcset``, addresses as spelled, in order.

    Follows the HTML standard's splitting (4.8.4.2.1): an address runs to white space and may hold commas; one that
    ends in a comma has no descriptor. Offers with descriptors that make no sense are left out.
    """
    offers: list[Offer] = []
    at = 0
    while found := _ADDRESS.match(text, at):
        url, at = found[1], found.end()
        words: list[str] = []
        if url.endswith(","):
            url = url.rstrip(",")
        else:
            comma = text.find(",", at)
            end = len(text) if comma < 0 else comma
            words, at = text[at:end].split(), end + 1
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
    """Return the offers of an ``<img>`` itself."""
    offers: list[Offer] = []
    for name in ("src", *LAZY):
        if spelled := (attributes.get(name) or "").strip():
            offers.append((0, 1.0, spelled))
    for name in ("srcset", "data-srcset"):
        offers += parse_srcset(attributes.get(name) or "")
    return offers


def read_source_offers(sources: Iterable[Attributes]) -> list[Offer]:
    """Return the offers of a picture's ``<source>`` elements, without those of a type that is not read."""
    offers: list[Offer] = []
    for source in sources:
        if (source.get("type") or DECODABLE[0]).strip().lower() in DECODABLE:
            offers += parse_srcset(source.get("srcset") or "")
    return offers


def choose(offers: list[Offer], resolve: Callable[[str], str | None]) -> Choice:
    """Return the largest offer whose address can be fetched, the first of equals.

    Args:
        resolve: gives the absolute form of an address, None for one that cannot be fetched.
    """
    if not offers:
        return NO_CHOICE
    for width, density, raw in sorted(offers, key=lambda offer: offer[:2], reverse=True):
        if url := resolve(raw):
            return offers[0][2], (width, density, url)
    return offers[0][2], None


def pick_larger(own: Choice, shared: Choice) -> tuple[str, str | None]:
    """Return the first address as spelled and the best absolute one, of an image's own choice and then its picture's."""
    best = own[1]
    if shared[1] and (best is None or shared[1][:2] > best[:2]):
        best = shared[1]
    return own[0] or shared[0], best[2] if best else None
