"""The text of posts: markup read as plain text with its line breaks, and whether a hashtag stands in it as a word.

Line breaks stay, since what is cut out of a caption later depends on them; a caption is otherwise left as its author wrote it.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from components.web.budget import Budget
from components.web.html.page import SURROGATES, PageOverBudget
from components.web.html.page_limits import SMALL, limited

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ENDS = re.compile(r"\r\n?|\u2028|\u2029|\x85")
_SILENT = frozenset(("-comment", "script", "style", "template", "head"))
_PARAGRAPHS = frozenset(("p", "ul", "ol", "blockquote", "pre", "h1", "h2", "h3", "h4", "h5", "h6"))
_LINES = frozenset(("div", "li", "tr"))
_ACCENTS = 30
"""The most that a character of any language needs (Unicode Standard Annex #15, section 13)."""
_HASH = "[#\uff03\ufe5f]"
"""The signs that begin a hashtag: #, and its full-width and small forms."""


def clean_text(text: str) -> str:
    """Text as it was written, with one kind of line end, without controls and half characters, bare at both ends."""
    return _CONTROLS.sub("", _ENDS.sub("\n", SURROGATES.sub("\ufffd", text))).strip()


def html_to_text(markup: str) -> str:
    """The text that a post's HTML shows: ``<br>`` a line, ``<p>`` a paragraph (an empty line between two), links as spelled.

    Of markup that costs more than the budget of a page, made to harm a parser, the text of its beginning.
    """
    if "<" not in markup and "&" not in markup:
        return clean_text(markup)
    if len(markup) <= SMALL:
        return _parse_html(markup)
    try:
        return limited(lambda: _parse_html(markup), Budget())
    except PageOverBudget:
        return _parse_html(markup[:SMALL])


def _parse_html(markup: str) -> str:
    from selectolax.lexbor import LexborHTMLParser

    body = LexborHTMLParser(SURROGATES.sub("\ufffd", markup).replace("\0", "\ufffd")).body
    pieces: list[str] = []
    waiting: list[object] = [body] if body is not None else []
    while waiting:
        here = waiting.pop()
        if isinstance(here, str):
            pieces.append(here)
            continue
        name = here.tag  # type: ignore[attr-defined]
        if name == "-text":
            # A break in the markup is a space, as browsers show it; what is to be a line says so.
            pieces.append(re.sub(r"[\t\n\r ]+", " ", here.text_content or ""))  # type: ignore[attr-defined]
        elif name == "br":
            pieces.append("\n")
        elif name not in _SILENT:
            mark = "\n\n" if name in _PARAGRAPHS else "\n" if name in _LINES else ""
            inside = [*here.iter(include_text=True)]  # type: ignore[attr-defined]
            waiting += [mark, *reversed(inside), mark] if mark else [*reversed(inside)]
    # Line by line: a pattern of spaces and a line end takes quadratic time where there are spaces and no line end.
    text = "\n".join(line.strip(" ") for line in "".join(pieces).split("\n"))
    return clean_text(re.sub(r"\n{3,}", "\n\n", text))


@lru_cache(maxsize=64)
def _patterns(tags: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    names = "|".join(sorted((re.escape(_normal(tag)) for tag in tags), key=len, reverse=True))
    return re.compile(rf"(?<!\w){_HASH}(?:{names})(?!\w)"), re.compile(rf"{_HASH}\w*(?:{names})|(?:{names})")


def match_hashtag(text: str, tags: tuple[str, ...]) -> str:
    """How ``text`` has one of the hashtags: ``word`` (as a whole word, in any case), ``inside`` (in another word), '' (not)."""
    whole, inside = _patterns(tags)
    normal = _normal(text)
    if whole.search(normal):
        return "word"
    return "inside" if inside.search(normal) else ""


def _few_accents(text: str) -> str:
    """The text with at most ``_ACCENTS`` combining characters in a row: normalising sorts a row in quadratic time."""
    if len(text) <= _ACCENTS or text.isascii():
        return text
    kept, row = [], 0
    for char in text:
        row = row + 1 if unicodedata.combining(char) else 0
        if row <= _ACCENTS:
            kept.append(char)
    return "".join(kept)


def _normal(text: str) -> str:
    text = _few_accents(text)
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
