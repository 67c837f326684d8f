"""Examples of the score of description: read, drawn and varied, each draw keyed by the text.

Published captions are in lower case and have words for names, alt-texts have names, and titles have capitals. So that a model
does not learn the case or the names of one source, captions get names back where they have a word for one, texts of every source
are sometimes in small letters, and full stops come and go.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

from components.core.errors import HearsightError
from components.core.seeded_rng import seeded_rng
from components.tools.calibrate.run import as_written
from components.tools.labelled import read_labelled
from components.web.archives.any_input import ARCHIVE, decompress_head
from components.web.archives.encodings import MAGIC, BadRecord, decode_body
from components.web.archives.opening import PeekedStream, open_archive, read_fully
from components.web.archives.records import read_records
from components.web.archives.responses import parse_response
from components.web.budget import Budget
from components.web.html.context import Context
from components.web.html.page import cut_deep_nesting, decode, fold

SELECTORS = {
    "title": "title, meta[property='og:title']",
    "heading": "h1, h2, h3, h4, h5, h6",
    "button": "button, [role=button], input[type=submit], input[type=button]",
    "link": "a",
}
"""Kind of text → the elements that hold it; a text of several kinds counts as the first."""
MIN_WORDS, MAX_WORDS = 2, 60
_BUDGET = Budget()


def read_page_texts(path: str) -> Iterator[tuple[str, str, str]]:
    """Yield site, kind and text of each text of the pages of an HTML file (plain or gzip) or a WARC, each text once a page.

    Raises:
        HearsightError: the file cannot be read.
    """
    try:
        with open_archive(path) as opened:
            stream = PeekedStream(opened)
            for site, html, charset in _pages(stream, path):
                yield from ((site, kind, text) for text, kind in _texts(decode(html, charset)).items())
    except OSError as error:
        raise HearsightError(f"cannot be read ({error.strerror})", where=path, hint="give HTML or WARC files") from None


def _pages(stream: PeekedStream, path: str) -> Iterator[tuple[str, bytes, str | None]]:
    """Yield site, bytes and stated charset of each page; parts of an archive that cannot be read are left out."""
    if not ARCHIVE.match(decompress_head(stream.head)):
        data = read_fully(stream, _BUDGET.record_bytes)
        yield path, decode_body(data, b"gzip" if data.startswith(MAGIC) else b"", _BUDGET.record_bytes), None
        return
    for record in read_records(stream, _BUDGET.record_bytes):
        if record.fault or record.type != b"response" or not record.block.startswith(b"HTTP/"):
            continue
        try:
            response = parse_response(record.block)
            if response.html and 200 <= response.status < 300:
                yield urlsplit(record.url).hostname or path, response.body(_BUDGET.record_bytes), response.charset
        except BadRecord:
            continue


def _texts(html: str) -> dict[str, str]:
    """Return the texts of a page and their kinds."""
    tree = LexborHTMLParser(cut_deep_nesting(html))
    found: dict[str, str] = {}
    for kind, selector in SELECTORS.items():
        for node in tree.css(selector):
            attribute = "content" if node.tag == "meta" else "value" if node.tag == "input" else ""
            text = fold((node.attributes.get(attribute) if attribute else node.text()) or "")
            if MIN_WORDS <= len(text.split()) <= MAX_WORDS:
                found.setdefault(text, kind)
    return found


MOST = 2000
"""Examples of one kind, at most; those with the least draws are taken."""
MOST_OF_A_PAGE = 120
"""Texts of one page, or of a site of an archive, at most."""
SMALL = 0.15
"""Share of the texts that are put into small letters."""
NAMED = 0.6
"""Share of the captions with a word for a name that get a name."""
_PEOPLE = ("Anna Keller", "James Okoro", "Maria Santos", "Tom Baker", "Chen Wei", "Sarah O'Neill", "Rahul Mehta", "Lucy Brown")
_PLACES = ("Boston", "Lagos", "New Delhi", "Toronto", "Leeds, England", "Santiago, Chile", "Austin, Texas", "Kyoto")
_DATES = ("in 2014", "on May 3, 2016", "on Tuesday", "in June 2012", "Saturday, Oct. 8, 2011", "on 23 July 2015")
_PERSON = re.compile(
    r"\b(?:person|(?:pop |hip hop |rock )?artist|actor|politician|football player|film character|celebrity)\b", re.I
)
"""Matches words that stand for people's names in published captions."""
_PLACE = re.compile(r"\b(?:a|the|us) (?:city|country|state|location|town|village)\b", re.I)


@dataclass(frozen=True)
class Example:
    """A text, whether it is a description, what kind of text it is, and whose group it belongs to in cross-validation."""

    text: str
    positive: bool
    kind: str
    """labelled, captions, published, title, heading, link or button."""
    group: str
    context: Context | None = None


def read_examples(
    captions: Sequence[Path], published: Sequence[Path], pages: Sequence[str], labelled: Sequence[Path]
) -> list[Example]:
    """Return the examples of all files, labelled first, each text once.

    Args:
        captions: files with one caption a line, as people wrote them.
        published: the same in lower case and split into tokens (:func:`as_written`).
        pages: HTML files or WARCs.
        labelled: files of :func:`read_labelled`.
    """
    found = [Example(row.text, row.keep, "labelled", row.site, row.context) for path in labelled for row in read_labelled(path)]
    of_pages = [Example(text, False, kind, site) for path in pages for site, kind, text in _of_page(path)]
    written = [Example(text, True, "captions", text) for path in captions for text in _lines(path)]
    written += [Example(as_written(text), True, "published", text) for path in published for text in _lines(path)]
    return list({example.text: example for example in reversed([*found, *written, *of_pages])}.values())[::-1]


def draw(examples: Sequence[Example]) -> list[Example]:
    """Return the labelled examples, and of each other kind ``MOST`` at most."""
    kinds: dict[str, list[Example]] = {}
    for example in examples:
        kinds.setdefault(example.kind, []).append(example)
    return [each for kind, of_kind in kinds.items() for each in (of_kind if kind == "labelled" else _draw(of_kind, MOST, kind))]


def _of_page(path: str) -> list[tuple[str, str, str]]:
    of_site: dict[str, list[tuple[str, str, str]]] = {}
    for row in read_page_texts(path):
        of_site.setdefault(row[0], []).append(row)
    return [row for rows in of_site.values() for row in sorted(rows, key=lambda row: _lot(row[2], "page"))[:MOST_OF_A_PAGE]]


def _draw(examples: Iterable[Example], most: int, purpose: str) -> list[Example]:
    return sorted(examples, key=lambda example: (_lot(example.text, purpose), example.text))[:most]


def _lot(text: str, purpose: str) -> float:
    return seeded_rng("train-description", purpose, text).random()


def _lines(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    except OSError as error:
        raise HearsightError(
            f"cannot be read ({error.strerror})", where=path, hint="give a text file, one caption a line"
        ) from None
    return [text for line in lines if (text := fold(line.partition("\t")[0]))]


def vary(example: Example) -> Example:
    """Return the example as another person might write it: with a name for a word that stands for one, in small letters, or
    with or without its full stop. Labelled texts stay as they are."""
    if example.kind == "labelled":
        return example
    rng, text = seeded_rng("train-description", "vary", example.text), example.text
    if example.positive:
        if rng.random() < NAMED:
            text = _PERSON.sub(lambda _: rng.choice(_PEOPLE), text)
            text = _PLACE.sub(lambda _: rng.choice(_PLACES), text)
            if example.kind == "published" and rng.random() < 0.25:
                text = f"{text.rstrip(' .')} {rng.choice(_DATES)}"
        bare = text.rstrip(" .")
        text = f"{bare}." if rng.random() < 0.5 else bare
    if rng.random() < SMALL:
        text = text.lower()
    return replace(example, text=text)
