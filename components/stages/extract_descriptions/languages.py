"""Parts of a caption in the configured language: sections by their marks, the rest by language identification.

Identification is used only where the words do not decide, on at most the first ``_MAX_GUESSED`` characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from components.stages.extract_descriptions.bounds import JUNK
from components.stages.extract_descriptions.rules import Rules
from components.stages.extract_descriptions.words import Phrases, count_words, words_of

Guess = Callable[[str, str], float]
"""(text, language) → probability in [0, 1]: ``components.language.identification``."""

_LEAST_WORDS = 5
_LEAST_LETTERS = 20
"""Words and letters below which a text does not identify its language."""
_LEAST_SCRIPT, _SCRIPT_SHARE = 8, 0.8
"""Letters, and the share of non-Latin ones, from which a text counts as another script."""
_LEAST_FOREIGN = 2
_FOREIGN_SHARE = 0.12
"""Least share of a foreign piece's words that the configured language lacks."""
_PLAIN_FOREIGN, _PLAIN_SHARE, _PLAIN_GUESS = 3, 0.3, 0.5
"""With this many foreign words and none of the configured language, a probability below ``_PLAIN_GUESS`` suffices."""
_FOREIGN_TO_OWN = 3
_MAX_GUESSED = 300
_OWN_SHARE = 0.12
WHOLE_SHARE = 0.04
"""``own_share`` of a whole description: "card com texto We are the champions" is Portuguese."""
_UNLIKELY = 0.2
"""Probability of the configured language below which a short piece next to a foreign one is foreign too."""
_LEAST_OTHER = 0.5
_WORD = re.compile(r"[^\W_]+")
_UNJOINED = re.compile(r"(?<![-\u2010\u2011])\b[^\W\d_]+")
_CLOSERS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_BEHIND = re.compile(r"[ \t]*+(?:[:：|]|[-–—](?=\s)|\r?\n|(?=[\u2b05-\u2bff\U0001f000-\U0001faff]))")
_BEGINS = '\n\r.!?…)]}|•·*/\\>–—"”»'


class Section(NamedTuple):
    """A marked piece of a caption: whether it is in the configured language, the positions of mark and piece."""

    own: bool
    start: int
    body: int


def is_foreign(text: str, rules: Rules, min_language: float, guess: Guess, own_share: float = _OWN_SHARE) -> bool:
    """Return whether a piece of text is clearly in one of the other languages.

    The words must confirm the guess, because neighbouring languages share most words ("tomates maduros" is Spanish as well).
    ``own_share`` is the share of words specific to the configured language from which a piece is never foreign.
    """
    sample = text[:_MAX_GUESSED]
    if _in_another_script(sample):
        return True
    words = [word for word in _WORD.findall(sample) if word.isalpha()]
    if len(words) < _LEAST_WORDS or sum(map(len, words)) < _LEAST_LETTERS:
        return False
    own = sum(is_own(word, rules) for word in words)
    foreign = _foreign_words(sample, rules)
    if own >= own_share * len(words) or foreign < max(_LEAST_FOREIGN, _FOREIGN_SHARE * len(words), _FOREIGN_TO_OWN * own):
        return False
    if sum(word.islower() for word in words) < _LEAST_WORDS - 1 and not sample.isupper():
        return False  # names
    probability = guess(sample, rules.language)
    if not own and foreign >= max(_PLAIN_FOREIGN, _PLAIN_SHARE * len(words)):
        return probability < _PLAIN_GUESS
    return probability < min_language and max(guess(sample, other) for other in rules.other_languages) >= _LEAST_OTHER


def _in_another_script(text: str) -> bool:
    letters = [char for char in text if char.isalpha()]
    other = sum(not unicodedata.name(char, "").startswith(("LATIN", "FULLWIDTH LATIN")) for char in letters)
    return len(letters) >= _LEAST_SCRIPT and other >= _SCRIPT_SHARE * len(letters)


def is_own(word: str, rules: Rules) -> bool:
    """Return whether a word is one that the configured language has and its neighbours lack."""
    low = word.lower()
    return low in rules.own_words or rules.own_letters.search(low) is not None


def _foreign_words(text: str, rules: Rules) -> int:
    """Return the number of words that only other languages have or that look it; 0 if none is listed ("vê-la")."""
    words = _UNJOINED.findall(text)
    listed = sum(word.lower() in rules.other_words for word in words)
    similar = sum(word.islower() and word not in rules.other_words and bool(rules.other_letters.search(word)) for word in words)
    return listed + similar if listed else 0


def own_section(text: str, rules: Rules, min_language: float, guess: Guess) -> str:
    """Return the first section in the configured language; the whole text without marks."""
    marks = _sections(text, rules, min_language, guess)
    if not marks:
        return text
    opening = text[: marks[0].start]
    if count_words(opening) > 1 and not is_foreign(opening, rules, min_language, guess):
        end = next((mark.start for mark in marks if not mark.own), len(text))
        return text[:end]
    for index, mark in enumerate(marks):
        if mark.own:
            end = next((later.start for later in marks[index + 1 :] if not later.own), len(text))
            return text[mark.body : end]
    return opening if count_words(opening) > 1 else text


def without_foreign_edges(text: str, rules: Rules, min_language: float, guess: Guess) -> str:
    """Return the text without foreign lines and sentences at its start and end.

    Foreign words inside stay, for example the text of a sign, as does a line in quotes or after a colon. A short ambiguous piece
    after a foreign one is removed with it.
    """
    pieces = _pieces(text)
    foreign: list[bool | None] = [None] * len(pieces)
    inside = _in_quotes(pieces)

    def is_foreign_piece(at: int) -> bool:
        if foreign[at] is None:
            before = pieces[at - 1].rstrip() if at else ""
            bare = pieces[at].strip(JUNK)
            quoted = bare[:1] in "\"“«'‘" or before.endswith(":") or inside[at]
            foreign[at] = not quoted and is_foreign(bare, rules, min_language, guess)
        return bool(foreign[at])

    def is_ambiguous(at: int) -> bool:
        words = words_of(pieces[at])
        own = any(is_own(pieces[at][word.start : word.end], rules) for word in words)
        quoted = inside[at] or (at and pieces[at - 1].rstrip().endswith(":"))
        return len(words) < _LEAST_WORDS and not own and not quoted and guess(pieces[at], rules.language) < _UNLIKELY

    first, last = 0, len(pieces)
    at = len(pieces)
    while at > 0 and (is_foreign_piece(at - 1) or not count_words(pieces[at - 1]) or is_ambiguous(at - 1)):
        at -= 1
        last = at if is_foreign_piece(at) else last
    if last == 0:
        return text
    while last < len(pieces) and not count_words(pieces[last]) and "\n" not in pieces[last]:
        last += 1
    while first < last and (is_foreign_piece(first) or not count_words(pieces[first])):
        first += 1
    cut = any(foreign[at] for at in (*range(first), *range(last, len(pieces))))
    return "".join(pieces[first:last]) if cut else text


def _in_quotes(pieces: list[str]) -> list[bool]:
    """Return for each piece whether an earlier piece opened a quotation that is still open."""
    inside, plain, curly = [], 0, 0
    for piece in pieces:
        inside.append(plain % 2 == 1 or curly > 0)
        plain += piece.count('"')
        curly = max(0, curly + piece.count("“") - piece.count("”"))
    return inside


def _pieces(text: str) -> list[str]:
    """Return lines and sentences, each with its trailing white space."""
    ends = [match.end() for match in re.finditer(r"(?<![.!?…])[.!?…]++[\"”»’)\]]*+\s++|\s/\s|\n\s*+", text)]
    bounds = [0, *ends, len(text)]
    return [text[start:end] for start, end in pairwise(bounds) if end > start]


def _sections(text: str, rules: Rules, min_language: float, guess: Guess) -> list[Section]:
    words = words_of(text)
    sections = list(_flags(text, rules, min_language, guess))
    index = 0
    phrase_sets = (rules.own_section, rules.foreign_section, rules.foreign_tag, rules.foreign_bracketed)
    while index < len(words):
        mark: tuple[bool, int, int, int] | None = None
        for phrases in phrase_sets:
            match = phrases.at(text, words, index)
            if match is None or (mark is not None and match.end <= mark[1]):
                continue
            body = _mark_end(text, match.start, match.end, phrases, rules)
            if body is not None:
                mark = (phrases is rules.own_section, match.end, body, match.after)
        if mark is None:
            index += 1
            continue
        start = words[index].start
        while start and text[start - 1] in "[({<#＃*_":
            start -= 1
        sections.append(Section(mark[0], start, mark[2]))
        index = mark[3]
    return sorted(sections, key=lambda section: section.start)


def _mark_end(text: str, start: int, end: int, phrases: Phrases, rules: Rules) -> int | None:
    """Return the position where the piece after a mark begins; None if the words are no mark."""
    before = text[max(0, start - 80) : start]
    opener = before[-1:]
    if opener in ("#", "＃"):
        return None if phrases is rules.foreign_bracketed else end
    if phrases is rules.foreign_tag:
        return None
    if opener in _CLOSERS:
        match = re.compile(rf"[ \t:.\-–—]*+{re.escape(_CLOSERS[opener])}[ \t]*+[:\-–—]?+").match(text, end)
        return match.end() if match else None
    if phrases is rules.foreign_bracketed:
        return None
    bare = before.rstrip(" \t*_-–—\u200d\ufe0f" + "".join(map(chr, range(0x1F1E6, 0x1F200))))
    if bare and bare[-1] not in _BEGINS:
        return None
    match = _BEHIND.match(text, end)
    return match.end() if match else None


def _flags(text: str, rules: Rules, min_language: float, guess: Guess) -> list[Section]:
    """Return the flags that begin a line or sentence; a foreign flag counts if foreign text follows."""
    if not any(flag in text for flag in rules.foreign_flags):
        return []
    sections = []
    flag = re.compile("|".join((*rules.own_flags, *rules.foreign_flags)))
    for match in flag.finditer(text):
        before = text[max(0, match.start() - 20) : match.start()].rstrip(" \t")
        own = match[0] in rules.own_flags
        following = flag.split(text[match.end() : match.end() + _MAX_GUESSED], maxsplit=1)[0]
        if (not before or before[-1] in _BEGINS) and (own or is_foreign(following.strip(), rules, min_language, guess)):
            sections.append(Section(own, match.start(), match.end()))
    return sections
