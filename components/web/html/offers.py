"""Collect the addresses that an image offers (``src``, lazy loading, ``srcset``, ``<source>``) and choose the best.

A script that loads images lazily puts a placeholder into ``src`` and the image into another attribute, which therefore goes
first. Both page readers, from the tree (``page``) and from the tags (``pairs``), use these functions. All take time linear in
the input.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

LAZY = (
    "data-src", "data-lazy-src", "data-original", "data-original-src", "data-lazy", "data-lazyload", "data-hi-res-src",
    "data-orig-src", "data-cfsrc", "data-ezsrc", "data-echo", "data-flickity-lazyload", "data-pagespeed-lazy-src",
    "nitro-lazy-src",
)  # fmt: skip
"""Attributes of lazy loading that hold an address: of lazysizes, jQuery Lazy Load, Slick, Flickity, WordPress and CDNs."""
LAZY_SETS = (
    "data-srcset", "data-lazy-srcset", "data-original-set", "data-orig-srcset", "data-ezsrcset", "data-flickity-lazyload-srcset",
    "nitro-lazy-srcset",
)  # fmt: skip
"""Attributes of lazy loading that hold a ``srcset``."""
_SETS = ("srcset", *LAZY_SETS)
OFFERING = ("src", *LAZY, *_SETS)
"""All attributes that offer an address."""
DECODABLE = ("image/jpeg", "image/png", "image/gif", "image/webp", "image/jpg")
_ADDRESS = re.compile(r"[ \t\r\n\f,]*+([^ \t\r\n\f]++)")
_DENSITY = re.compile(r"\d{1,4}(?:\.\d{1,6})?", re.ASCII)
_NO_IMAGE = re.compile(
    r"[\[#]|[\d.]+$|[^./]*$|.*[{}<>\"]|[^?#]*\.(?:html?|js|json|css|pdf|mp4|webm|mp3|m3u8)(?:[?#]|$)"
    r"|(?:[^?#]*/)?(?:blank|spacer|pixel|placeholder|loading|loader|spinner|transparent|1x1)\.(?:gif|png|svg)(?:[?#]|$)",
    re.I | re.S,
)
"""Values that those attributes have for other purposes: words, numbers, selectors, JSON, unfilled templates, other media; and
usual names of placeholders."""

Offer = tuple[bool, int, float, str]
"""Whether it is loaded lazily, width in px or 0, density or 1, address. They are compared without the address."""
Attributes = Mapping[str, str | None]
Choice = tuple[str, Offer | None]
"""An address as spelled (of the best offer, else the first; '' for none), and the best offer with its absolute address."""
NO_CHOICE: Choice = ("", None)


def parse_srcset(text: str) -> list[tuple[int, float, str]]:
    """Return the width, density and address (as spelled) of each offer of a ``srcset``, in order.

    Follows the HTML standard (4.8.4.2.1): an address extends to white space and may hold commas; one that ends in a comma has no
    descriptor. Offers with invalid descriptors are left out.
    """
    offers: list[tuple[int, float, str]] = []
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
    return _read_offers(attributes, ("src", *LAZY))


def read_source_offers(sources: Iterable[Attributes]) -> list[Offer]:
    """Return the offers of a picture's ``<source>`` elements, without those of unsupported types."""
    offers: list[Offer] = []
    for source in sources:
        if (source.get("type") or DECODABLE[0]).strip().lower() in DECODABLE:
            offers += _read_offers(source, LAZY)
    return offers


def _read_offers(attributes: Attributes, names: Iterable[str]) -> list[Offer]:
    """Return the offers of an element's sets, which browsers prefer, and of the attributes ``names``."""
    offers: list[Offer] = []
    for name in (*_SETS, *names):
        if text := (attributes.get(name) or "").strip():
            lazy = name not in ("src", "srcset")
            listed = parse_srcset(text) if name in _SETS else [(0, 1.0, text)]
            offers += [(lazy, *offer) for offer in listed if not (lazy and _is_placeholder(offer[2], attributes))]
    return offers


def _is_placeholder(address: str, attributes: Attributes) -> bool:
    return address == attributes.get("src") or _NO_IMAGE.match(address) is not None


def choose(offers: list[Offer], resolve: Callable[[str], str | None]) -> Choice:
    """Return the best offer whose address ``resolve`` makes absolute (None: not fetchable); of equal offers the first."""
    if not offers:
        return NO_CHOICE
    for lazy, width, density, raw in sorted(offers, key=lambda offer: offer[:3], reverse=True):
        if url := resolve(raw):
            return raw, (lazy, width, density, url)
    return offers[0][3], None


def pick_better(image: Choice, picture: Choice) -> Choice:
    """Return the better of an image's choice and its picture's; of equal ones the image's."""
    if picture[1] and (image[1] is None or picture[1][:3] > image[1][:3]):
        return picture
    return image if image[0] else picture
