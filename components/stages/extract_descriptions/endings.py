"""Text after a description: spacer lines, rows of hashtags, calls to the reader, credits."""

from __future__ import annotations

import re

from components.core.hashtags import HASHTAG
from components.stages.extract_descriptions.bounds import JUNK, is_label
from components.stages.extract_descriptions.marks import LINK, MAIL, MENTION, has_marks, only_marks
from components.stages.extract_descriptions.plain_text import without_emoji
from components.stages.extract_descriptions.rules import Rules
from components.stages.extract_descriptions.words import count_words, words_of

_CAMERAS = ("📷", "📸", "🎥", "📹", "🎞", "©", "🖼")
_SMALL = frozenset(("de", "da", "do", "das", "dos", "e", "por", "by", "via", "para", "the", "of"))
_COLON = re.compile(r"[ \t]*+[:：|@/]")
_FEW = 4
_DOTS = ".…·•∙⋅ \t"
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"”»’)\]]*+(?:\s++|$)|\n\s*+")


def without_tail(text: str, rules: Rules) -> str:
    """Return the lines of the description: up to a spacer, a line of marks, a call, a credit or a decorated paragraph.

    A spacer of dots also separates paragraphs: the next one belongs to the description if its words clearly describe.
    """
    kept: list[str] = []
    seen = ended = gap = after_colon = dotted = False
    for line in text.splitlines(keepends=True):
        content = line.strip(" \t\r\n\u2800\u3000\xa0\x0b\x0c\x85\u2028\u2029")
        if not content:
            gap, after_colon = True, False
            if not ended:
                kept.append(line)
            continue
        if seen and (is_label(content, rules) or (dotted and _goes_on(content, rules))):
            ended = False
        elif (spacer := _is_spacer(content)) or only_marks(without_emoji(content)):
            dotted = spacer and (dotted or not ended) and not content.strip(_DOTS)
            ended = ended or seen
            continue
        elif not seen and has_marks(content) and _is_call(content, rules):
            continue
        elif seen and not ended:
            finished = gap or (_finished(kept) and not after_colon)
            own_text = gap and _decorated(content) and not any(_decorated(line.lstrip()) for line in kept)
            ended = finished and (_is_call(content, rules) or (not after_colon and _only_points(content, rules)))
            ended = ended or _is_credit(content, rules) or own_text
        gap = dotted = False
        after_colon = after_colon or content.endswith(":")  # lines up to the next gap may be the text of a card
        if not ended:
            kept.append(line)
            seen = seen or count_words(without_emoji(content)) > 0
    return "".join(kept)


def without_calls(text: str, rules: Rules) -> str:
    """Return the text without final sentences that call to a link, an account or the comments, or credit an account."""
    bounds = [0, *(match.end() for match in _SENTENCE_END.finditer(text))]
    if bounds[-1] >= len(text):
        bounds.pop()
    end = upto = len(text)
    while len(bounds) > 1:
        start = bounds.pop()
        sentence, upto = text[start:upto], start
        if not count_words(without_emoji(sentence)):
            continue
        bare = sentence.strip()
        named = has_marks(sentence) or any(word.folded in rules.call_object for word in words_of(sentence))
        credits_account = (has_marks(bare) or bare.startswith(_CAMERAS)) and _is_credit(bare, rules)
        if not (named and _is_call(sentence, rules)) and not credits_account:
            break
        end = start
    return text[:end]


def _is_spacer(shown: str) -> bool:
    bare = without_emoji(shown).strip()
    return bool(bare) and not any(char.isalnum() for char in bare)


def _only_points(line: str, rules: Rules) -> bool:
    """Return whether a line is a link or account with a few words and none of an image: "Loja: …", "Insta: @… Site: …"."""
    if len(line) > 300 or not (LINK.search(line) or MENTION.search(line)):
        return False
    rest = without_emoji(HASHTAG.sub(" ", MENTION.sub(" ", LINK.sub(" ", line))))
    words = words_of(rest)
    if len(words) <= sum(1 for marks in (LINK, MENTION) for _ in marks.finditer(line)):
        return True  # one word for each mark: "Vestido @… | Foto @…"
    return len(words) <= _FEW and not any(rules.describing.at(rest, words, at) is not None for at in range(len(words)))


def _goes_on(line: str, rules: Rules) -> bool:
    """Return whether a line clearly describes: words of images, and no address, question, exclamation or link."""
    if _decorated(line) or has_marks(line) or "#" in line or "!" in line or "?" in line:
        return False
    if _is_call(line, rules) or _is_credit(line, rules):
        return False
    words = words_of(line)
    if any(word.folded in rules.addressing for word in words):
        return False
    return any(rules.describing.at(line, words, index) is not None for index in range(len(words)))


def _decorated(line: str) -> bool:
    """Return whether a line begins with an emoji, as a post's own paragraphs do and plain descriptions do not."""
    return bool(line) and without_emoji(line[:8]).startswith(" ")


def _finished(kept: list[str]) -> bool:
    for line in reversed(kept):
        bare = without_emoji(line).rstrip()
        if bare:
            return bare[-1] in '.!?…"”»)]'
    return False


def _is_call(line: str, rules: Rules) -> bool:
    bare = without_emoji(line[:200]).lstrip(JUNK + "([{¿¡\"“'")
    words = words_of(bare)
    return bool(words) and rules.call.at(bare, words, 0) is not None


def _is_credit(line: str, rules: Rules) -> bool:
    """Return whether a line holds only names after "Foto:", a camera or "Crédito": "📷 Ana Souza/Secom", "Fotos: @ana"."""
    if len(line) > 200:
        return False
    camera = line.startswith(_CAMERAS)
    bare = without_emoji(line).lstrip(JUNK + "([{© ")
    words = words_of(bare)
    match = rules.credit.at(bare, words, 0) if words else None
    if match is not None and (_COLON.match(bare, match.end) or MENTION.search(bare, match.end)):
        rest = bare[match.end :]
    elif camera:
        rest = bare
    else:
        return False
    names = re.findall(r"[^\W\d_]+", HASHTAG.sub(" ", MENTION.sub(" ", LINK.sub(" ", MAIL.sub(" ", rest)))))
    named = all(name[0].isupper() or name.lower() in _SMALL for name in names)
    return named and len(names) <= 8 and (bool(names) or has_marks(rest) or camera)
