"""Compare an alt-text with the page around it: what it repeats, and what the image is used for.

An alt-text that repeats the title, a heading or the text of a link says what the page is about or where the link leads, not what
the image shows. Texts are compared as words: case, white space, marks and the style of quotes, dashes and apostrophes do not
count. Both page readers, from the tree and from the tags, use these functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

MIN_SHARE = 0.5
"""Share of the words of the longer of two texts that the shorter one must have, for one to repeat the other."""
MIN_WORDS = 4
"""Words below which a text repeats another only if it is equal: "A dog" is part of many headings."""
LIMIT = 500
"""Maximum characters of a page's text that are compared and kept; headings and links with more are no headlines."""
LONGEST = 64
"""Maximum words of an alt-text that may hold another text."""
CAPTION_LIMIT = 2000
"""Maximum characters kept of a figcaption."""
AGREEING = 0.5
"""Share of an alt-text's longer words that its figcaption must have to agree with it."""
LONGER = 4
"""Letters from which a word counts as content: no list of function words covers all languages."""
_WORD = re.compile(r"[^\W_]+")
_APOSTROPHES = str.maketrans("", "", "'’‘ʼ`´\u00ad\u200b")
_FOLDED = bytes(byte if chr(byte).isalnum() else 32 for byte in bytes(range(128)).lower()) + bytes(128)
"""What each ASCII character becomes: a small letter, a digit, or a space."""
_FOLDED_LINES = _FOLDED[:10] + b"\n" + _FOLDED[11:128] + bytes(range(128, 256))
"""The same for lines of text; normalised words of other scripts are kept."""
_SITE = re.compile(r"\s+[-–—·•»«›‹:/]+\s+|\s*[|｜]+\s*")
"""Separates a page's title from the name of its site."""


@dataclass
class Context:
    """What the page around an image says of its alt-text and of the image's use.

    Not frozen: making a frozen object takes three times as long.
    """

    heading: str | None = None
    """The title or heading that the alt-text repeats, without the name of the site."""
    heading_kind: str | None = None
    """title, og:title, or h1 to h6."""
    link_text: str | None = None
    """The text of a link on the page that the alt-text repeats; the images inside a link have no part in its text."""
    link_url: str | None = None
    """Absolute address to which the link around the image leads."""
    control: bool = False
    """Whether the image is in a button, or it or the link around it acts as one. A script for clicks counts for an image only: on
    links it mostly counts visits."""
    role: str | None = None
    """The image's ``role``, in lower case."""
    layout_width: int | None = None
    """Width in the layout in px, as the page states it."""
    layout_height: int | None = None
    """Height in the layout in px, as the page states it."""
    figcaption_agrees: bool | None = None
    """Whether the figcaption has the alt-text's words; None without a figcaption."""
    site_count: int = 1
    """How many images of the page have this alt-text; in the records of a crawl, of all its pages of the site."""


class Repeated(NamedTuple):
    """A title or heading that an alt-text repeats."""

    text: str
    kind: str
    """title, og:title, h1 to h6"""


def to_row(context: Context | None) -> dict[str, Any] | None:
    """Return a context as the value of a record's ``context``."""
    return vars(context) if context else None


def from_row(row: Mapping[str, Any] | None) -> Context | None:
    """Return the context in a record's ``context``."""
    return Context(**row) if row else None


@lru_cache(maxsize=1 << 14)
def normalise(text: str) -> str:
    """Return the words of a text, folded in case, with one space between; texts recur on the pages of a site."""
    if text.isascii():
        return b" ".join(text.encode().translate(_FOLDED, b"'`").split()).decode()
    return " ".join(_WORD.findall(text.translate(_APOSTROPHES).casefold()))


def share_of(one: str, other: str) -> float:
    """Return the words of the shorter text over those of the longer one (0..1) if these have them in a row; else 0."""
    short, long = sorted((normalise(one), normalise(other)), key=len)
    if not short or f" {short} " not in f" {long} ":
        return 0.0
    return (short.count(" ") + 1) / (long.count(" ") + 1)


Text = TypeVar("Text")


class Texts(Generic[Text]):
    """Texts of a page that are searched for what an alt-text repeats.

    Args:
        forms: normalised text → what ``find`` returns for it.
    """

    def __init__(self, forms: dict[str, Text]) -> None:
        self._forms = forms
        self._all: str | None = None
        self._counts: frozenset[int] = frozenset()

    def find(self, alt: str) -> Text | None:
        """Return the text of which the normalised ``alt`` repeats the largest share; None when it repeats none.

        It repeats an equal text, a longer one that has it, and a shorter one that it has ("Illustration for article titled ...").
        """
        if not alt or not self._forms:
            return None
        equal = self._forms.get(alt)
        count = alt.count(" ") + 1
        if equal is not None or count < MIN_WORDS:
            return equal
        if self._all is None:
            self._all = "\n " + " \n ".join(self._forms) + " \n"
            self._counts = frozenset([form.count(" ") + 1 for form in self._forms])
        longer, shorter = self._find_longer(alt, self._all), self._find_shorter(alt, count)
        if longer and shorter and count / (longer.count(" ") + 1) < (shorter.count(" ") + 1) / count:
            longer = ""
        return self._forms.get(longer or shorter)

    @staticmethod
    def _find_longer(alt: str, texts: str) -> str:
        """Return the shortest form that has ``alt``; '' when even that has too many words."""
        found, wanted, at = "", f" {alt} ", -1
        while (at := texts.find(wanted, at + 1)) >= 0:
            start, at = texts.rfind("\n", 0, at) + 2, texts.find("\n", at)
            if not found or at - 1 - start < len(found):
                found = texts[start : at - 1]
        return found if found and (alt.count(" ") + 1) / (found.count(" ") + 1) >= MIN_SHARE else ""

    def _find_shorter(self, alt: str, count: int) -> str:
        """Return the longest form whose words ``alt`` has in a row; '' for none."""
        sizes = range(max(MIN_WORDS, -(-count // 2)), count) if count <= LONGEST else ()
        words = alt.split(" ")
        for size in sorted(self._counts.intersection(sizes), reverse=True):
            for start in range(count - size + 1):
                if (form := " ".join(words[start : start + size])) in self._forms:
                    return form
        return ""


def index_headings(headings: Iterable[Repeated]) -> Texts[Repeated]:
    """Return the titles and headings of a page, of equal ones the first; titles also without the name of the site."""
    forms: dict[str, Repeated] = {}
    for heading in headings:
        for form in _without_site(heading) if heading.kind.endswith("title") else (heading,):
            if normal := normalise(form.text):
                forms.setdefault(normal, form)
    return Texts(forms)


def index_links(links: Sequence[str]) -> Texts[str]:
    """Return the texts of a page's links, of equal ones the first."""
    backwards = links[::-1]
    forms = dict(zip(_normalise_all(backwards), backwards, strict=True)) if links else {}
    forms.pop("", None)
    return Texts(forms)


def _normalise_all(texts: Sequence[str]) -> list[str]:
    """Return each text normalised; one by one takes five times as long."""
    lines = "\n".join(texts)
    if lines.count("\n") >= len(texts) or not lines.isascii():
        lines = "\n".join([text if text.isascii() and "\n" not in text else normalise(text) for text in texts])
    data = lines.encode().translate(_FOLDED_LINES, b"'`")
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    return data.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ").decode().split("\n")


def may_repeat(alts: Iterable[str], text: str) -> bool:
    """Return whether a normalised alt-text may repeat a text or a part of it."""
    spaced = f" {normalise(text)} "
    for alt in alts:
        if f" {alt} " in spaced:
            return True
        if MIN_WORDS <= alt.count(" ") < LONGEST:  # it may have a shorter text, and so MIN_WORDS of its words in a row
            words = alt.split(" ")
            for start in range(len(words) - MIN_WORDS + 1):
                if f" {' '.join(words[start : start + MIN_WORDS])} " in spaced:
                    return True
    return False


def _without_site(title: Repeated) -> list[Repeated]:
    """Return a title whole, its beginning up to each separator, and its longer parts."""
    ends = [(match.start(), match.end()) for match in _SITE.finditer(title.text)]
    if not ends:
        return [title]
    starts = [0, *(end for _, end in ends)]
    stops = [*(start for start, _ in ends), len(title.text)]
    pieces = [title.text, *(title.text[:stop] for stop in stops[-2::-1])]
    pieces += [
        part for start, stop in zip(starts, stops, strict=True) if len((part := title.text[start:stop]).split()) >= MIN_WORDS
    ]
    return [Repeated(piece, title.kind) for piece in pieces]


def agrees(alt: str, figcaption: str) -> bool | None:
    """Return whether a figcaption has most of the alt-text's longer words, or is equal; None for an empty figcaption."""
    said = normalise(figcaption)
    if not said:
        return None
    text = normalise(alt)
    longer = {word for word in text.split(" ") if len(word) >= LONGER}
    return text == said or (bool(longer) and len(longer.intersection(said.split(" "))) > AGREEING * len(longer))
