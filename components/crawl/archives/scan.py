"""What a crawl wants of a page's markup, found without building its tree; None where only a tree can tell.

A parser spends its time on elements nobody asks for. Here one regular expression walks the tags as the HTML standard's
tokenizer does (attributes, comments, raw text), in C, and stops only at what matters: ``<img>``, ``<picture>``, ``<base>``.
Where tree building would move, hide or re-parent an image (misnested tables, odd foreign content, framesets, markup in
``<select>``), ``scan`` gives up and the page goes to the DOM reading; so it is never wrong where it answers, which
``tests/crawl/test_pairs.py`` holds to arbitrary markup. Not in scope: text, links, decoding, URLs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from components.crawl.archives.attributes import ATTRIBUTES, END, attributes, unescape

try:
    from components.crawl.archives._scan import scan as native
except ImportError:  # installed where there was no C compiler
    native = None

Attributes = dict[str, str | None]

_RAW = "script|style|title|textarea|iframe|xmp|noembed|noframes"
_OTHER_STOPS = "img|image|picture|base|svg|math|select|template|plaintext|frameset|html"
_TABLE = "t(?:able|[dhr]|body|head|foot)|caption|col(?:group)?"
# After one of these an image lies where it is written; after any other table tag it may be moved before the table.
_CELL = "t[dh]|caption|/table"
_NO_CELL = "table|t(?:r|body|head|foot)|col(?:group)?|/(?:t(?:[dhr]|body|head|foot)|caption|col(?:group)?)"
_COMMENT = r"<!--(?:-?>|(?:[^-]++|-(?!-!?>))*+--!?>)"
_NO_TAG = r"<(?:(?:!(?!--)|\?)[^>]*+>|/(?![a-zA-Z])[^>]*+>|(?![a-zA-Z!/?]))"
_FLAGS = re.IGNORECASE | re.ASCII


def _skippers(stops: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Everything up to the next stop: from where images stay where they are written, and from where they do not.

    No groups: Python 3.11 confuses those inside a possessive repeat.
    """
    raws = "|".join(
        rf"<{name}{END}{ATTRIBUTES}[^<]*+(?:<(?!/{name}{END}|!--)[^<]*+)*+(?=</{name}{END})" for name in _RAW.split("|")
    )
    tag = rf"<(?!(?:{stops}|{_RAW}|/?(?:{_TABLE})){END})/?[a-zA-Z][^\t\n\f\r />]*+{ATTRIBUTES}"
    other = rf"[^<]++|{tag}|{raws}|{_COMMENT}|{_NO_TAG}"
    cell, no_cell = (rf"<(?:{names}){END}{ATTRIBUTES}" for names in (_CELL, _NO_CELL))
    quiet = rf"(?:{other}|{cell}|{no_cell}(?:{other}|{no_cell})*+{cell})*+"
    return re.compile(quiet, _FLAGS), re.compile(rf"(?:{other}|{no_cell})*+", _FLAGS)


def _region(name: str, forbidden: str, more: str = "") -> re.Pattern[str]:
    """A start tag ``name`` and what may harmlessly lie before its end tag."""
    tag = rf"<(?!/?(?:{forbidden}){END}|/{name}{END})/?[a-zA-Z][^\t\n\f\r />]*+{ATTRIBUTES}"
    no_tag = _NO_TAG.replace("!(?!--)", r"!(?!--|\[)")
    return re.compile(rf"<{name}{END}{ATTRIBUTES}(?:[^<]++|{tag}{more}|{_COMMENT}|{no_tag})*+(?=</{name}{END})", _FLAGS)


_SKIP = _skippers(_OTHER_STOPS)
_SKIP_TO_META = _skippers(_OTHER_STOPS + "|meta")
_NAME = re.compile(rf"<(/?(?:{_TABLE})|{_RAW}|{_OTHER_STOPS}|meta){END}", _FLAGS)
_ATTRIBUTES = re.compile(ATTRIBUTES)
_ODD = f"{_RAW}|{_OTHER_STOPS}|meta|{_TABLE}"
_QUIET = "".join(rf"|<{name}{END}{ATTRIBUTES}[^<]*+</{name}{END}{ATTRIBUTES}" for name in ("style", "title"))
_REGIONS = {
    "svg": _region("svg", _ODD, _QUIET),
    "math": _region("math", _ODD),
    "select": _region("select", _ODD + "|input|keygen|button|option(?!)"),
    # Nothing inside a template is part of the page, and its tables are its own.
    "template": _region("template", f"{_RAW}|svg|math|select|template|plaintext|frameset"),
}
_PICTURE = re.compile(
    rf"<picture{END}{ATTRIBUTES}(?:[^<]++|</?(?:source|img){END}{ATTRIBUTES}|{_COMMENT})*+(?=</picture{END})", _FLAGS
)
_IN_PICTURE = re.compile(rf"{_COMMENT}|<(source|img){END}({ATTRIBUTES})", _FLAGS)
_ROBOTS = re.compile(r"<[mM][eE][tT][aA][\t\n\f\r /][^>]*(?:robots|hearsight|&)", _FLAGS)
_ENDS = {name: re.compile(rf"</{name}{END}", _FLAGS) for name in _RAW.split("|")}
_REST = frozenset(("html", "base", "meta", "image", "plaintext", "frameset"))
_SCRIPT = re.compile(rf"<script{END}", _FLAGS)
_IS_CELL = re.compile(_CELL)


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
    """The ``<meta>`` with a name, when any may speak to robots."""


def scan(text: str | bytes) -> Scan | None:
    """The images of a page's text, or None when its tree has to be built to know them.

    The work of ``_scan.c`` when it was compiled, which is ten times as fast, and of ``scan_in_python`` otherwise.

    Args:
        text: decoded, without NUL characters and lone surrogates; or its UTF-8 form, broken sequences allowed: those never
            reach into the ASCII characters that markup is made of, so that values may be decoded one by one.
    """
    if native is None:
        return scan_in_python(text if isinstance(text, str) else text.decode("utf-8", "replace"))
    found = native(text, unescape)
    return None if found is None else Scan(*found)


def scan_in_python(text: str) -> Scan | None:
    """As ``scan``; the specification of ``_scan.c``."""
    found = Scan()
    quiet, misplaced = _SKIP_TO_META if _ROBOTS.search(text) else _SKIP
    position, size, skip = 0, len(text), quiet
    while True:
        match = skip.match(text, position)
        assert match is not None  # it can match nothing at all
        position = match.end()
        if position >= size:
            return found
        at = _NAME.match(text, position)
        if at is None:  # the text ends inside a tag or a comment
            return found
        name = at[1].lower()
        if name in _ENDS:
            after = _raw_end(text, at.end(), name)
            if after is None:
                return None
            position = after
            continue
        if name in _REGIONS or name == "picture":
            whole = (_PICTURE if name == "picture" else _REGIONS[name]).match(text, position)
            if whole is None or (name == "picture" and skip is misplaced):
                return None
            if name == "picture":
                _picture(found, text, position, whole.end())
            position = whole.end()
            continue
        tag = _ATTRIBUTES.match(text, at.end())
        if tag is None:
            return found
        position = tag.end()
        if name == "img" and skip is quiet:
            found.images.append((attributes(text, at.end(), position), []))
        elif name in ("img", "base") and skip is misplaced:
            return None
        elif name in _REST:
            if not _note(found, name, attributes(text, at.end(), position)):
                return None
        else:
            skip = quiet if _IS_CELL.fullmatch(name) else misplaced


def _note(found: Scan, name: str, given: Attributes) -> bool:
    """Keep what one of the rarer tags says; False when it makes the page odd."""
    if name == "html":
        if found.language is None and "lang" in given:
            found.language = given["lang"] or ""
    elif name == "base":
        if found.base is None and "href" in given:
            found.base = given["href"] or ""
    elif name == "meta":
        if "name" in given and "content" in given:
            found.metas.append(given)
    else:  # image, plaintext, frameset
        return False
    return True


def _picture(found: Scan, text: str, start: int, end: int) -> None:
    sources: list[Attributes] = []
    images: list[Attributes] = []
    for match in _IN_PICTURE.finditer(text, start, end):
        if match[1]:
            (images if match[1].lower() == "img" else sources).append(attributes(text, match.start(2), match.end()))
    found.images += [(image, sources) for image in images]


def _raw_end(text: str, start: int, name: str) -> int | None:
    """Where the raw text of an element that holds ``<!--``, or has no end, is over; None when that is hard to tell."""
    tag = _ATTRIBUTES.match(text, start)
    if tag is None:
        return len(text)
    end = _ENDS[name].search(text, tag.end())
    stop = end.start() if end else len(text)
    # 13.2.5.20: a script inside a comment inside a script hides the end tag.
    if name == "script" and _SCRIPT.search(text, tag.end(), stop):
        return None
    return stop
