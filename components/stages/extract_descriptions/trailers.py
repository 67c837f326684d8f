"""Remains at the end of a description: appeals to buy or to get in touch, sources, reposts, bare hashtags, torn words.

Captions that another program cut have these. A remain is a last segment, which a line break, the end of a sentence, a dash or a
bracket separates, or the last words of the text. Nothing is removed between quotation marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from components.core.hashtags import MARKS
from components.stages.extract_descriptions.rules import Rules
from components.stages.extract_descriptions.words import Word, words_of

_BOUND = re.compile(
    r"(?P<blank>[ \t\r\xa0]*\n[ \t\r\xa0]*\n\s*)|(?P<line>\s*\n\s*)|(?P<dash>\s[-–—•|]\s*|(?<=[.!?…])[-–—]\s*)"
    r"|(?P<sentence>(?<=[.!?…])\s+|(?<=[.!?…][\"”»)])\s+|(?<=[\"”»)])\s+(?=[A-ZÀ-Ý])|(?<=[a-zà-ÿ)][.!?])(?=[A-ZÀ-Ý][a-zà-ÿ])|\s(?=\([^\W\d]))"
    r"|(?P<glued>(?<=[^\W\d_]\.)(?=[a-zà-ÿ]{6,}[.\s]*$))"
)
_PHONE = re.compile(r"(?<![\d/.,-])(?:\+?55\s*)?(?:\(?0?\d{2}\)\s*|\d{2}[ -]?)?(?:9[ .-]?)?(\d{4})[ .-]?(\d{4})(?![\d/,-])")
_YEAR = re.compile(r"(?:19|20)\d\d")
_TRANSCRIPT = re.compile(
    r"(?i)\b(?:textos?|escrit[oa]s?|lê-se|dizeres|diz|frases?|mensagem|informações)\b[^.:\n\"“«]{0,40}:\s*(?![\"“«'‘])"
)
_TORN = re.compile(rf"(?:(?<=\s)|^)[{MARKS}]\S*")
_ADDRESS = re.compile(r"(?i)(?:rua|r\.|avenida|av\.?|travessa|praça|alameda|rodovia|estrada)\s.*\d")
_LOOSE = re.compile(r"(?<=\w[.!?…])(?:\s+[-–—•|*~/.]+)+$")
_LOOSE_QUOTES = (("“", "”", re.compile(r"(?<=[.!?…])\s*”\s*\.?$")), ('"', '"', re.compile(r"(?<=[.!?…])\s+\"\s*\.?$")))
_STOPS = " \t\r\n.,;:!…-–—•|/*~_"
_LANGUAGES = ("pt", "en", "es", "fr", "it")
_COMMON, _SHORT, _LEAST, _WORDS = 3.5, 5.5, 10, 3
_PAIRS = frozenset(("de", "da", "do", "em", "no", "na", "of", "to", "in", "on", "is", "my", "me", "by"))
"""Least Zipf frequency of a hashtag's words (``_SHORT``: of three letters; ``_PAIRS``: of two), letters of a hashtag inside a
sentence, number of its words."""
_MOST_WORDS, _FEW, _LONGEST, _LOOKED = 12, 4, 40, 500
_MOST_SEGMENTS, _MOST_DANGLING = 20, 8
"""Bounds of the work on a text made to be slow."""


def without_torn_words(text: str) -> str:
    """Return the text without words that begin with a combining mark: a cut inside a decomposed letter left them."""
    return _TORN.sub("", text)


def without_trailers(text: str, rules: Rules) -> str:
    """Return the text without last segments that are contact appeals, sources, reposts or bare hashtags."""
    contact, end = False, len(text)
    for start, kind in _segments(text):
        bare = text[start:end].strip(_STOPS + "()[]")
        appeal = _is_appeal(bare, rules) or (contact and _announces(bare, rules))
        if not (appeal or _is_source(bare, rules, named=kind != "sentence") or _is_bare_tag(text[:start], bare, kind)):
            if kind == "glued":
                continue  # the dot may belong to the words before it
            break
        contact = appeal
        # A number inside an unquoted transcript may be text of the image; a paragraph of appeals behind it goes whole.
        if not appeal or kind in ("blank", "dash") or not _TRANSCRIPT.search(text, 0, start):
            end = start
    return text if end == len(text) else text[:end].rstrip(" \t\r\n-–—•|(")


def without_dangling(text: str, rules: Rules) -> str:
    """Return the text without words at its end that cannot end a sentence ("barcos e a."), and without a hashtag's words."""
    for _ in range(_MOST_DANGLING):
        text = _without_loose_marks(text)
        bare = text.rstrip(" \t\r\n.,;:-–—")
        if bare[-1:] in ('"', "”", "»", "'", "’", ")"):
            break
        start = max(bare.rfind(" "), bare.rfind("\n")) + 1
        last, before = bare[start:], words_of(bare[max(0, start - 30) : start])
        if not before:
            break
        governed = bare[:start].split()[-1] in rules.stranded
        stranded = last in rules.stranded and before[-1].folded not in rules.lettered
        if not (stranded or (_LEAST <= len(last) <= _LONGEST and not governed and _is_hashtag(last))):
            break
        text = bare[:start].rstrip(" \t\r\n,;:-–—")
    return text


def _without_loose_marks(text: str) -> str:
    """Return the text without dashes behind its final stop, and without a closing quotation mark there that nothing opens."""
    text = _LOOSE.sub("", text)
    for opening, closing, pattern in _LOOSE_QUOTES:
        opened = text.count(opening) % 2 == 0 if opening == closing else text.count(opening) >= text.count(closing)
        if not opened:
            text = pattern.sub("", text)
    return text


def _segments(text: str) -> Iterator[tuple[int, str]]:
    """Yield where each segment with a word begins, and what separates it, from the last to the second, outside quotations."""
    bounds = [(match.end(), str(match.lastgroup)) for match in _BOUND.finditer(text)]
    upto = len(text)
    for end, kind in bounds[: -_MOST_SEGMENTS - 1 : -1]:
        if not words_of(text[end:upto]):
            continue
        if text.count("“", 0, end) > text.count("”", 0, end) or text.count('"', 0, end) % 2 or not words_of(text[:end][:_LOOKED]):
            return
        yield end, kind
        upto = end


def has_phone(text: str) -> bool:
    """Return whether a text has a telephone number: eight or nine digits, with or without an area code; not two years."""
    return any(not (_YEAR.fullmatch(match[1]) and _YEAR.fullmatch(match[2])) for match in _PHONE.finditer(text))


def _is_appeal(segment: str, rules: Rules) -> bool:
    """Return whether a segment asks the reader to buy or to get in touch, or holds how: "Encomendas pelo zap", a number."""
    words = words_of(segment)
    if not words or len(segment) > 200 or re.search(r"[\"“«]", segment):
        return False
    channels = sum(word.folded in rules.channel for word in words)
    if any(rules.describing.at(segment, words, index) is not None for index in range(len(words))):
        return False
    whole = rules.appeal_whole.at(segment, words, 0)
    if whole is not None and whole.after == len(words):
        return True
    start = rules.appeal.at(segment, words, 0) or rules.call.at(segment, words, 0)
    offer = rules.offer.at(segment, words, 0)
    if (start or offer) is not None and has_phone(segment):
        return True
    if start is not None:
        rest = words[start.after :]
        stranded = bool(rest) and segment[rest[-1].start : rest[-1].end] in rules.stranded
        if stranded or any(word.folded in rules.channel for word in rest):
            return True
    if offer is not None:
        rest = words[offer.after :]
        stranded = len(rest) == 1 and segment[rest[0].start : rest[0].end] in rules.stranded
        return stranded or _names_channel(segment[offer.end :], rest, rules)
    others = [word for word in words if not word.folded.isdigit() and word.folded not in rules.channel]
    return has_phone(segment) and len(others) <= 2 + channels


def _names_channel(text: str, rest: list[Word], rules: Rules) -> bool:
    """Return whether a channel comes next after "Encomendas" or its like: ": zap", "via WhatsApp", "em (link na bio)"."""
    near = rest[:_FEW] if text.lstrip()[:1] in (":", "(") or (rest and rest[0].folded in rules.offer_by) else []
    return any(word.folded in rules.channel and word.folded not in rules.physical for word in near)


def _announces(segment: str, rules: Rules) -> bool:
    """Return whether a segment before a removed number belongs to it: "WhatsApp para vendas:", an address."""
    words = words_of(segment)
    return bool(_ADDRESS.match(segment)) or (
        len(words) <= _FEW and (rules.appeal.at(segment, words, 0) or rules.offer.at(segment, words, 0)) is not None
    )


def _is_source(segment: str, rules: Rules, *, named: bool) -> bool:
    """Return whether a segment tells only where a post comes from: "Reposted from", "from", "Fonte", if ``named`` "Fonte: IBGE".

    A sentence "Fonte: IBGE." may be text of the image.
    """
    words = words_of(segment)
    if not words or len(words) > _MOST_WORDS:
        return False
    if rules.repost.at(segment, words, 0) is not None:
        return True
    spelled = [segment[word.start : word.end] for word in words]
    # A dot before a word: the rest of a mention such as "@ana.fotos" that was cut at its dot.
    empty = rules.stranded | rules.joining
    if spelled[0] in empty and all(
        name.lower() in empty or segment[word.start - 1] == "." for name, word in zip(spelled, words, strict=True)
    ):
        return True
    label = rules.source.at(segment, words, 0)
    if label is None:
        return False
    names = spelled[label.after :]
    return (named or not names or words[0].folded == "via") and all(
        name[0].isupper() or name[0].isdigit() or name.lower() in rules.stranded for name in names
    )


def _is_bare_tag(before: str, segment: str, kind: str) -> bool:
    """Return whether a segment is one word in lower case after a sentence or line, as a hashtag without its sign is.

    A known word is one only after a sentence that begins with a capital, since some authors use none.
    """
    token = segment.lstrip(".")
    if not re.fullmatch(r"[^\W\d_][\w.]+", token) or not token[0].islower():
        return False
    finished = before.rstrip(" \t\r\n-–—•|")
    ended = finished.rstrip('"”»)')[-1:] in tuple(".!?…")
    if _zipf(token) == 0 or kind == "glued":
        return _zipf(token) == 0 and (ended or kind != "sentence")
    sentence = max(finished.rstrip('.!?…"”»)').rfind(mark) for mark in ".!?\n") + 1
    opening = finished[sentence:].lstrip('"“«( \t')
    return ended and opening[:1].isupper() and len(words_of(opening)) >= _WORDS


@lru_cache(maxsize=4096)
def _zipf(word: str) -> float:
    """Return the highest Zipf frequency of a word among languages that posts are written in."""
    from wordfreq import zipf_frequency  # slow to load; only the ends of few descriptions need it

    return max(zipf_frequency(word.lower(), language) for language in _LANGUAGES)


def _is_hashtag(word: str) -> bool:
    """Return whether an unknown word in lower case splits into three or more common words ("lovelybluesky")."""
    if not re.fullmatch(r"[a-zà-ÿ]+", word) or _zipf(word) > 0:
        return False
    fewest: list[int | None] = [0, *[None] * len(word)]
    for end in range(2, len(word) + 1):
        for start in range(end - 1):
            known, piece = fewest[start], word[start:end]
            common = piece in _PAIRS if len(piece) == 2 else _zipf(piece) >= (_SHORT if len(piece) == 3 else _COMMON)
            if known is not None and common:
                fewest[end] = min(known + 1, fewest[end] or len(word))
    return (fewest[-1] or 0) >= _WORDS
