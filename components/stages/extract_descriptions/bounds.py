"""Start and end of a description in the text after its tag: lead-ins, brackets, end marks."""

from __future__ import annotations

import re

from components.stages.extract_descriptions.rules import Rules
from components.stages.extract_descriptions.words import count_words, words_of

JUNK = " \t\r\n\u2800.,;:：!?-–—_|/\\*~•·●▪◦■□→➡»›>=+&^`´)]}…"
"""Characters that may separate a tag from its description."""
_MARKED = re.compile(r"[ \t]*+(?:[:：|»→]|[-–—>](?=\s)|\.(?=\s|$)|[*_]|\r?\n|$|(?=[\u2b05-\u2bff\U0001f000-\U0001faff]))")
"""Separators of a lead-in and its description: punctuation, the end of the line, an emoji."""
_LEFT_OF_END = " \t([{#＃*/\\-–—|<_~•·▪→>"
_OPENERS = {"(": ")", "[": "]", "{": "}"}
_QUOTES = {"“": "”", "«": "»", '"': '"', "‘": "’"}
_LEFTOVER = re.compile(r"[eE]\s*:\s")


def without_lead_in(text: str, rules: Rules) -> str:
    """Return the text without leading punctuation, lead-ins and the "e:" of several tags, removed repeatedly."""
    at = 0
    while True:
        start = at
        while at < len(text) and text[at] in JUNK and not (text[at] == "+" and text[at + 1 : at + 2].isdigit()):
            at += 1
        if (leftover := _LEFTOVER.match(text, at)) is not None:
            at = leftover.end()
        at = _skip_lead_in(text, at, rules)
        if at == start:
            return text[at:]


def _skip_lead_in(text: str, at: int, rules: Rules) -> int:
    """Return the position after a lead-in at ``at``, or ``at``: "(Audiodescrição)", "#AD", "Descrição da imagem:"."""
    opener = text[at : at + 1] if text[at : at + 1] in _OPENERS else ""
    start = at + len(opener)
    tagged = text.startswith(("#", "＃"), start)
    start += tagged
    words = words_of(text[start : start + 80])
    if not words or words[0].start:
        return at
    match = rules.lead_in.at(text[start : start + 80], words, 0)
    if match is None:
        return at
    end = start + match.end
    if opener:
        closed = re.compile(rf"[ \t:.]*+{re.escape(_OPENERS[opener])}").match(text, end)
        return closed.end() if closed else at
    separator = _MARKED.match(text, end)
    if separator is not None:
        return separator.end()
    spaced = text[end : end + 1].isspace() and tagged
    return end if spaced else at


def without_frame(text: str, rules: Rules, min_words: int) -> tuple[str, bool]:
    """Return the content of the brackets or quotes that enclose the description, and whether brackets end it.

    "(Foto de uma praia.) Venha!" becomes "Foto de uma praia."; brackets around few words are part of the description, and
    brackets without an end lose their opening.
    """
    opener = text[:1]
    if opener in _QUOTES:
        return _unquoted(text, opener), False
    if not opener or opener not in _OPENERS:
        return text, False
    close = find_closing(text, opener, 1)
    if close < 0:
        return text[1:], False
    if count_words(text[1:close]) <= min_words:
        return text, False
    pieces, position = [text[1:close]], close + 1
    while True:  # the brackets of further images
        following = _past_junk(text, position)
        if text[following : following + 1] != opener or not is_label(text[following + 1 : following + 60], rules):
            return " ".join(pieces), True
        close = find_closing(text, opener, following + 1)
        if close < 0:
            return " ".join(pieces), True
        pieces.append(text[following + 1 : close])
        position = close + 1


def _past_junk(text: str, at: int) -> int:
    while at < len(text) and text[at] in JUNK:
        at += 1
    return at


def find_closing(text: str, opener: str, start: int) -> int:
    """Return the position that closes the bracket whose content begins at ``start``; -1 if none does."""
    depth = 1
    for match in re.compile(f"[{re.escape(opener + _OPENERS[opener])}]").finditer(text, start):
        depth += 1 if match[0] == opener else -1
        if depth == 0:
            return match.start()
    return -1


def _unquoted(text: str, opener: str) -> str:
    closer = _QUOTES[opener]
    bare = text.rstrip(" \t\r\n")
    stop = bare[-1:] if bare[-1:] == "." and bare[-2:-1] == closer else ""
    bare = bare.removesuffix(stop) if stop else bare
    if len(bare) < 3 or bare[-1] != closer or opener in bare[1:-1] or closer in bare[1:-1]:
        return text
    return bare[1:-1]


def before_end_mark(text: str, rules: Rules) -> tuple[str, bool]:
    """Return the text up to its end mark and whether there is one; directly following labelled images are included."""
    words = words_of(text)
    pieces, position, index = [], 0, 0
    ended = False
    while index < len(words):
        word = words[index]
        match = rules.end.at(text, words, index) if word.folded[:1] else None
        start = _before_marks(text, word.start)
        if match is None:
            match = rules.end_whole.at(text, words, index)
            if match is not None and not (_begins_sentence(text, start, word.start) and _ends_sentence(text, match.end)):
                match = None
        elif index and words[index - 1].folded in rules.end_guard and text[words[index - 1].end : word.start].strip(" \t") == "":
            match = None
        if match is None:
            index += 1
            continue
        pieces.append(text[position:start])
        ended = True
        index, position = match.after, match.end
        if index >= len(words) or not is_label(text[words[index].start : words[index].start + 60], rules):
            return "".join(pieces), True
        if any(char in text[position : words[index].start] for char in "#@＃"):
            return "".join(pieces), True
        pieces.append("\n")
        position = words[index].start
    return ("".join([*pieces, text[position:]]), True) if ended else (text, False)


def _before_marks(text: str, start: int) -> int:
    while start and text[start - 1] in _LEFT_OF_END:
        start -= 1
    return start


def _begins_sentence(text: str, start: int, word: int) -> bool:
    before = text[:start].rstrip(" \t") if start < 200 else text[start - 200 : start].rstrip(" \t")
    if text[word - 1 : word] in tuple("\"'“‘«"):
        return False  # text on a sign
    return not before or before[-1] in '\n.!?…"”»)]' or any(char in text[start:word] for char in "([{#＃/*|")


def _ends_sentence(text: str, end: int) -> bool:
    behind = text[end : end + 20].lstrip(" \t*_/")
    return not behind or behind[0] in "\n\r.!…)]}#＃@|<-–—" or ord(behind[0]) > 0x2190


def is_label(text: str, rules: Rules) -> bool:
    """Return whether a text begins with an image's label: "Imagem 2", "[Card 3/5]", "Segunda foto", "Slide dois"."""
    words = words_of(text.lstrip(JUNK + "([{"))
    if not words:
        return False
    first, second = words[0].folded, words[1].folded if len(words) > 1 else ""
    if first in rules.image_label:
        return second in rules.numbers or bool(re.fullmatch(r"[0-9]{1,2}", second))
    return first in rules.ordinal and second in rules.image_label
