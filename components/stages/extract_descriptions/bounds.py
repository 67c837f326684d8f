"""Where a description begins and ends in the text behind its tag: lead-ins, brackets, end marks."""

from __future__ import annotations

import re

from components.stages.extract_descriptions.rules import Rules
from components.stages.extract_descriptions.words import count_words, words_of

JUNK = " \t\r\n\u2800.,;:：!?-–—_|/\\*~•·●▪◦■□→➡»›>=+&^`´)]}…"
"""What may stand between a tag and the description behind it."""
_MARKED = re.compile(r"[ \t]*+(?:[:：|»→]|[-–—>](?=\s)|\.(?=\s|$)|[*_]|\r?\n|$|(?=[\u2b05-\u2bff\U0001f000-\U0001faff]))")
"""What parts a lead-in from the description: punctuation, the end of the line, an emoji."""
_LEFT_OF_END = " \t([{#＃*/\\-–—|<_~•·▪→>"
_OPENERS = {"(": ")", "[": "]", "{": "}"}
_QUOTES = {"“": "”", "«": "»", '"': '"', "‘": "’"}
_LEFTOVER = re.compile(r"[eE]\s*:\s")


def without_lead_in(text: str, rules: Rules) -> str:
    """The text without punctuation, lead-in marks and the "e:" of several tags before it, again and again."""
    at = 0
    while True:
        begin = at
        while at < len(text) and text[at] in JUNK and not (text[at] == "+" and text[at + 1 : at + 2].isdigit()):
            at += 1
        if (leftover := _LEFTOVER.match(text, at)) is not None:
            at = leftover.end()
        at = _behind_lead_in(text, at, rules)
        if at == begin:
            return text[at:]


def _behind_lead_in(text: str, at: int, rules: Rules) -> int:
    """Where the text goes on behind a lead-in at ``at``, or ``at``: "(Audiodescrição)", "#AD", "Descrição da imagem:"."""
    opener = text[at : at + 1] if text[at : at + 1] in _OPENERS else ""
    inner = at + len(opener)
    tagged = text.startswith(("#", "＃"), inner)
    inner += tagged
    words = words_of(text[inner : inner + 80])
    if not words or words[0].start:
        return at
    found = rules.lead_in.at(text[inner : inner + 80], words, 0)
    if found is None:
        return at
    end = inner + found.end
    if opener:
        behind = re.compile(rf"[ \t:.]*+{re.escape(_OPENERS[opener])}").match(text, end)
        return behind.end() if behind else at
    marked = _MARKED.match(text, end)
    if marked is not None:
        return marked.end()
    spaced = text[end : end + 1].isspace() and tagged
    return end if spaced else at


def without_frame(text: str, rules: Rules, min_words: int) -> tuple[str, bool]:
    """What stands in brackets or quotes that hold the description, and whether brackets said where it ends.

    "(Foto de uma praia.) Venha!" is "Foto de uma praia."; brackets of few words are part of the description, and
    brackets that are never closed lose their opening.
    """
    opener = text[:1]
    if opener in _QUOTES:
        return _unquoted(text, opener), False
    if not opener or opener not in _OPENERS:
        return text, False
    close = closing(text, opener, 1, 1)
    if close < 0:
        return text[1:], False
    if count_words(text[1:close]) <= min_words:
        return text, False
    pieces, at = [text[1:close]], close + 1
    while True:  # the next picture's own brackets
        follows = _past_junk(text, at)
        if text[follows : follows + 1] != opener or not is_label(text[follows + 1 : follows + 60], rules):
            return " ".join(pieces), True
        close = closing(text, opener, follows + 1, 1)
        if close < 0:
            return " ".join(pieces), True
        pieces.append(text[follows + 1 : close])
        at = close + 1


def _past_junk(text: str, at: int) -> int:
    while at < len(text) and text[at] in JUNK:
        at += 1
    return at


def closing(text: str, opener: str, start: int, depth: int) -> int:
    """Where the bracket that is open ``depth`` deep at ``start`` is closed; -1 where it never is."""
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
    """The text up to its end mark, and whether there was one; where the next picture follows at once, that is kept too."""
    words = words_of(text)
    pieces, at, index = [], 0, 0
    found_any = False
    while index < len(words):
        word = words[index]
        found = rules.end.at(text, words, index) if word.folded[:1] else None
        start = _left(text, word.start)
        if found is None:
            found = rules.end_whole.at(text, words, index)
            if found is not None and not (_begins_here(text, start, word.start) and _ends_here(text, found.end)):
                found = None
        elif index and words[index - 1].folded in rules.end_guard and text[words[index - 1].end : word.start].strip(" \t") == "":
            found = None
        if found is None:
            index += 1
            continue
        pieces.append(text[at:start])
        found_any = True
        index, at = found.after, found.end
        if index >= len(words) or not is_label(text[words[index].start : words[index].start + 60], rules):
            return "".join(pieces), True
        if any(char in text[at : words[index].start] for char in "#@＃"):
            return "".join(pieces), True
        pieces.append("\n")
        at = words[index].start
    return ("".join([*pieces, text[at:]]), True) if found_any else (text, False)


def _left(text: str, start: int) -> int:
    while start and text[start - 1] in _LEFT_OF_END:
        start -= 1
    return start


def _begins_here(text: str, start: int, word: int) -> bool:
    before = text[:start].rstrip(" \t") if start < 200 else text[start - 200 : start].rstrip(" \t")
    if text[word - 1 : word] in tuple("\"'“‘«"):
        return False  # what a sign says
    return not before or before[-1] in '\n.!?…"”»)]' or any(char in text[start:word] for char in "([{#＃/*|")


def _ends_here(text: str, end: int) -> bool:
    behind = text[end : end + 20].lstrip(" \t*_/")
    return not behind or behind[0] in "\n\r.!…)]}#＃@|<-–—" or ord(behind[0]) > 0x2190


def is_label(text: str, rules: Rules) -> bool:
    """Whether a text begins with the name of a further picture: "Imagem 2", "[Card 3/5]", "Segunda foto", "Slide dois"."""
    words = words_of(text.lstrip(JUNK + "([{"))
    if not words:
        return False
    first, second = words[0].folded, words[1].folded if len(words) > 1 else ""
    if first in rules.image_label:
        return second in rules.numbers or bool(re.fullmatch(r"[0-9]{1,2}", second))
    return first in rules.ordinal and second in rules.image_label
