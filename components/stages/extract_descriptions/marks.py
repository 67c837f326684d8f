"""Links, mentions, hashtags and emoticons, which are not words of a description. No pattern backtracks.

An e-mail address stays: cards show them.
"""

from __future__ import annotations

import re

from components.core.hashtags import HASHTAG, MARKS, SIGNS, fold
from components.stages.extract_descriptions.rules import Rules

_TAIL = r"\s<>\"“”«»"
LINK = re.compile(
    rf"(?i:https?://|www\.)[^{_TAIL}]++"
    r"|(?<![\w@.-])(?:[a-z0-9-]++\.)++(?:com|org|net|edu|gov|jus|leg|br|pt|ly|me|ee|io|be|app|page|gl|gle|tv|art)(?:/[^\s<>\"“”«»]*+|(?![\w@]))"
)
"""Addresses: with a scheme or www, and bare lower-case ones with a common top-level domain."""
QUOTE = re.compile(rf"(?<!\w)[\[(]?(?i:re|qt)[ \t]*+[:：]\s{{0,4}}+[<\[(]?(?:{LINK.pattern})>?")
"""What servers add to a post that quotes another, for programs that do not show quotes: "RE: https://…", "QT: [https://…]"."""
MAIL = re.compile(r"(?<![\w@.+-])[\w+-]++(?:\.[\w+-]++)*+@[\w-]++(?:\.[\w-]++)++")
MENTION = re.compile(rf"(?<![\w/])[@＠][\w{MARKS}]++(?:[.\-][\w{MARKS}]++)*+(?:@[\w-]++(?:\.[\w-]++)++)?+")
_NESTED = r"(?<!\w)\"(?=\w)(?:[^\"]|(?<=\s)\"(?=\w)[^\"]*+\"(?!\w))*+\"(?!\w)"
QUOTATION = re.compile(rf"“[^“”]*+”|{_NESTED}|(?<![.!?…])\"[^\"]*+\"|«[^«»]*+»|(?<!\w)‘[^‘’]*+’(?!\w)|(?<!\w)'[^'\n]*+'(?!\w)")
_LINK_END = ".,;:!?…)]}'*_"
_SEPARATED = r"(?:[\s,/|&+]|(?<=\s)e(?=\s))*+"
_OPENING, _CLOSING = "\"'“‘«([{", "\"'”’»)]}"
_FINISHED = ".!?…:;"
_NEAR, _WORDS_BEFORE = 40, 3
"""Characters and words before an address that may say that the image shows it."""


def link_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of links, without trailing punctuation of the sentence."""
    return [(match.start(), match.start() + len(match[0].rstrip(_LINK_END))) for match in LINK.finditer(text)]


def without_quotes(text: str) -> str:
    """Return the text without the link of a quoted post and its "RE:"."""
    return QUOTE.sub(" ", text)


def without_links(text: str, rules: Rules) -> str:
    """Return the text without links and without the preposition before one at the end of a sentence; text of the image stays."""
    return _without(text, links_to_remove(text, rules), rules)


def links_to_remove(text: str, rules: Rules) -> list[tuple[int, int]]:
    """Return the spans of links that are no text of the image."""
    quoted = [match.span() for match in QUOTATION.finditer(text)]
    spans = [span for span in link_spans(text) if not _is_shown(text, span, rules)]
    return [span for span in spans if not any(start < span[0] < end for start, end in quoted)]


def _is_shown(text: str, span: tuple[int, int], rules: Rules) -> bool:
    """Return whether a sentence says that the image shows an address: "No rodapé está exemplo.com"."""
    clause = re.split(r"[.!?…\n]", text[max(0, span[0] - _NEAR) : span[0]])[-1]
    near = {word.lower() for word in re.findall(r"[^\W\d_]+", clause)[-_WORDS_BEFORE:]}
    return "://" not in text[slice(*span)] and bool(near & (rules.cues["shows"] | rules.cues["letters"]))


def without_mentions(text: str, rules: Rules) -> str:
    """Return the text without mentions: "Foto de Ana por @ana.fotos." becomes "Foto de Ana."."""
    return _without(text, [match.span() for match in MENTION.finditer(text)], rules)


def without_hashtags(text: str, rules: Rules) -> str:
    """Return the text without hashtags; a hashtag that is a word of its sentence only loses its mark.

    It is a word in quotes, after a governing word ("com a hashtag #VacinaJá"), or within a sentence ("pessoas na #praia ao sol"),
    but not at the end of a sentence or line, nor in a row of hashtags followed by a new sentence.
    """
    matches = list(HASHTAG.finditer(text))
    pieces, position = [], 0
    for run in _runs(text, [match.span() for match in matches]):
        start, end = run[0][0], run[-1][1]
        pieces.append(text[position:start])
        if _is_word(text, start, end, len(run), rules):
            words, previous = [], start
            for first, last in run:
                words += [text[previous:first], text[first:last].lstrip(SIGNS + " \t_")]
                previous = last
            pieces.append("".join(words))
        else:
            pieces.append(" ")
        position = end
    return "".join([*pieces, text[position:]])


def without_emoticons(text: str, rules: Rules) -> str:
    """Return the text without emoticons between spaces."""
    faces = frozenset(rules.emoticons)
    return "".join("" if piece in faces else piece for piece in re.split(r"(\s+)", text))


def without_marks(text: str) -> str:
    """Return the text with a space for each link, mention, hashtag and mail address."""
    return MENTION.sub(" ", LINK.sub(" ", HASHTAG.sub(" ", MAIL.sub(" ", text))))


def _runs(text: str, spans: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Return the marks grouped into runs separated only by spaces, commas and "e"."""
    runs: list[list[tuple[int, int]]] = []
    between = re.compile(_SEPARATED)
    for span in spans:
        if runs and between.fullmatch(text, runs[-1][-1][1], span[0]):
            runs[-1].append(span)
        else:
            runs.append([span])
    return runs


def _without(text: str, spans: list[tuple[int, int]], rules: Rules) -> str:
    pieces, position = [], 0
    for run in _runs(text, spans):
        start, end = run[0][0], run[-1][1]
        ended = end == len(text) or re.compile(r"[ \t]*+(?:[.,;:!?…)\]\n]|$)").match(text, end)
        if ended:
            start = _before_dangling(text, position, start, rules)
        pieces += [text[position:start], " "]
        position = end
    return "".join([*pieces, text[position:]])


def _before_dangling(text: str, least: int, start: int, rules: Rules) -> int:
    """Return the start of a preposition that would lose its noun, or ``start``."""
    word_end = start
    while word_end > least and text[word_end - 1] in " \t":
        word_end -= 1
    word = word_end
    while word > least and text[word - 1].isalpha() and word_end - word < 8:
        word -= 1
    alone = word > least and not text[word - 1].isalnum()
    return word if alone and word_end < start and fold(text[word:word_end]) in rules.dangling else start


def _is_word(text: str, start: int, end: int, count: int, rules: Rules) -> bool:
    line_start = max(text.rfind("\n", max(0, start - 400), start) + 1, start - 400, 0)
    before = text[line_start:start].rstrip(" \t")
    line_end = text.find("\n", end, end + 400)
    after = text[end : line_end if line_end >= 0 else end + 400].lstrip(" \t")
    if before and after and before[-1] in _OPENING and after[0] in _CLOSING:
        return before[-1] not in "([{"
    if text[start:end].lstrip(SIGNS + " \t")[:1].isdigit() and count == 1:
        return True
    words = re.findall(r"[^\W_]+", before[-40:])
    next_words = re.findall(r"[^\W_]+", after[:40])
    unfinished = bool(before) and before[-1].isalnum()
    governed = unfinished and bool(words) and fold(words[-1]) in rules.governing
    if governed and (count == 1 or not after or not after[0].isupper()):
        return True
    if not next_words:
        return False
    if not before or before[-1] in _FINISHED:
        return count == 1 and fold(next_words[0]) in rules.governing and after[0].isalpha() and next_words[0].islower()
    if not unfinished and before[-1] not in ",-–—" + _OPENING + _CLOSING:
        return False
    return (count == 1 and after[0] not in _FINISHED) or after[0].islower()
