"""Candidates: the images of a page with their alt-text. Both page readers and the one of WAT make them."""

from __future__ import annotations

import html as entities
import re
from dataclasses import dataclass

from components.web.consent.statements import Statement
from components.web.html.context import Context

_ENTITY = re.compile(r"&(#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8}\d?);", re.I)
_LONG_NUMBER = re.compile(r"&#(?:0++)?([0-9]{8})?[0-9]*+")
_CONTROLS = re.compile(
    "[\\x00-\\x08\\x0e-\\x1f\\x7f-\\x84\\x86-\\x9f\\u00ad\\u034f\\u061c\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff"
    "\\ufff9-\\ufffb\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a\\U000e0001]"
)
"""Control characters (C0 and C1) except white space (U+0085 among it), and invisible characters: soft hyphens, zero-width spaces,
marks of direction, annotation and language. Joiners and variation selectors are kept: emoji, Indic scripts and Mongolian need
them."""
SURROGATES = re.compile(r"[\ud800-\udfff]")


class PageOverBudget(Exception):
    """A page exceeds its budget: the measure in words, and the limit with its unit."""

    def __init__(self, reason: str, threshold: str) -> None:
        super().__init__(reason, threshold)
        self.reason, self.threshold = reason, threshold


@dataclass
class Candidate:
    """One ``<img>`` of a page. Not frozen: a frozen class takes four times as long to make, and pages have many."""

    image_url: str | None
    """Absolute address of the best version; None when none can be fetched."""
    alt: str
    """Alt-text with entities decoded and white space folded; may be empty."""
    position: int
    """Index among the page's ``<img>``, from 0; of an image and its twin in ``<noscript>`` that of the first."""
    source: str
    """That address as spelled, cut to 200 characters (a ``data:`` URI holds the whole image)."""
    data_uri: bool = False
    """Whether its only image is inside the page."""
    has_alt: bool = True
    """Whether the attribute exists; an empty one counts."""
    figcaption: str = ""
    """Text of the ``<figcaption>`` of its ``<figure>``; folded, cut to ``CAPTION_LIMIT``, '' for none."""
    context: Context | None = None
    """What the page around it says; None without a page, or without an alt-text."""
    taken: str = ""
    """For a listed (taken-down) image: the record's key, the entry's hash and the sha256 of the image's address, with spaces
    between."""


def is_folded(alt: str) -> bool:
    """Return whether ``fold`` would not change ``alt``: plain ASCII with single spaces."""
    return alt.isascii() and alt.isprintable() and "&" not in alt and "  " not in alt and alt.strip(" ") == alt


def make_candidate(url: str | None, alt: str | None, position: int, source: str) -> Candidate:
    """Return the candidate of an image.

    Args:
        url: its address in absolute form; None when it cannot be fetched.
        alt: its alt-text with references decoded; None without the attribute.
        source: its address as spelled.
    """
    folded = "" if not alt else alt if is_folded(alt) else fold(alt)
    return Candidate(url, folded, position, source[:200], url is None and source[:5].lower() == "data:", alt is not None)


@dataclass
class Page:
    """The content of a page that a crawl uses."""

    candidates: list[Candidate]
    links: list[str]
    """Absolute addresses in document order, each once; empty when the page asks not to be followed."""
    language: str = "un"
    """ISO 639-1, declared or guessed."""
    statements: tuple[Statement, ...] = ()
    """What its meta tags state about being collected."""


def fold(text: str) -> str:
    """Return the text on one line: doubly escaped entities decoded, white space folded, controls removed."""
    if "&" in text and _ENTITY.search(text):
        text = entities.unescape(_LONG_NUMBER.sub(_short_number, text) if "&#" in text else text)
    return " ".join(_CONTROLS.sub("", SURROGATES.sub("\ufffd", text)).split())


def _short_number(match: re.Match[str]) -> str:
    """Return a numeric reference that Python can parse: it refuses numbers of thousands of digits."""
    return "&#1114112" if match[1] else "&#" + match[0][2:].lstrip("0").rjust(1, "0") if len(match[0]) > 9 else match[0]


def check_image_count(count: int, most: int | None) -> None:
    """Raise PageOverBudget when ``count`` exceeds ``most``."""
    if most is not None and count > most:
        raise PageOverBudget(f"{count} images", f"{most} images")
