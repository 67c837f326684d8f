"""Steps that remove what is beside the sentence: a topic before a colon, "In this file photo,", brackets with names, titles.

Agencies and newspapers write them around a caption ("SYDNEY, Australia - A man ...", "the fund (WFX)"). Neither belongs to the
sentence, so a hypernym would make no sense there. Source: ours; CC's published captions have none.
"""

from __future__ import annotations

import re

from components.knowledge.cascade import Knowledge
from components.language.capitals import is_initialism
from components.stages.hypernymize.sentence import Sentence
from components.stages.hypernymize.tidy import PAIRS

LONGEST_LABEL = 8
"""Words of a label at most."""
_LABEL_ENDS = frozenset({":", ";", "|", "-", "–", "—", "--"})
_JOINING = frozenset({"ADP", "DET", "CCONJ", "PUNCT", "SYM", "PART"})
"""Tags of words that only join names."""
_WHERE = """
    left right center centre middle top bottom front back rear far row l r c first second third from to and in
"""
WHERE = frozenset(_WHERE.split())
"""Words of a bracket or label that says which of several people a name means."""
PHOTOS = frozenset({"photo", "photograph", "image", "picture", "frame", "handout"})
LEAD = 14
"""Words, at most, from "In this" to the word for a photo."""
_PARTY = re.compile(r"[RDI]-[A-Z][A-Za-z.]+$")
"""Matches party and state of a politician: "R-Ky."."""
_DEGREE = re.compile(r"[A-Z][A-Za-z]{0,2}\.?[A-Z]\.?$")
"""Matches a degree after a person's name: "M.D.", "PhD"."""


def strip_labels(sentence: Sentence, knowledge: Knowledge) -> str:
    """Remove labels before a colon, bar or dash at the beginning, where the text goes on with a capital, and names at the end."""
    struck = []
    start: int | None = 0
    while start is not None and (end := _label_end(sentence, start)) is not None:
        struck.append(sentence.strike(range(start, end + 1), beside=True))
        for entity in [entity for entity in sentence.entities if entity.start <= end < entity.end]:
            sentence.entities.remove(entity)  # it went on beyond the mark, so it was no name
            for word in sentence.words[end + 1 : entity.end]:
                if word.pos == "PROPN" and knowledge.is_common_noun(word.text.lower()):
                    word.pos, word.lemma = "NOUN", word.lemma.lower()
        start = sentence.after(end)
    if (mark := _mark_before_names(sentence)) is not None:
        struck.append(sentence.strike(range(mark, len(sentence.words)), beside=True))
    return f"before or after the sentence: {'; '.join(struck)}" if struck else ""


def _mark_before_names(sentence: Sentence) -> int | None:
    """Return where names after a bar or dash at the end begin, or after a word and a colon ("Photos: X and Y"); None for none."""
    words = sentence.words
    for position in range(len(words) - 2, 1, -1):
        mark = words[position]
        if mark.text not in _LABEL_ENDS or not mark.space or not _only_names(sentence, position + 1, len(words)):
            continue
        if not any(word.pos == "PROPN" and word.text[:1].isupper() for word in words[position + 1 :]):
            return None
        if mark.text == ":":
            return position - 1 if words[position - 2].text in (".", "!", "?") else None
        return position if words[position - 1].space and words[position].alive else None
    return None


def _label_end(sentence: Sentence, start: int) -> int | None:
    """Return the position of the mark that ends a label beginning at ``start``; None for no label."""
    words = sentence.words
    for position in range(start + 1, min(len(words) - 1, start + LONGEST_LABEL + 1)):
        mark = words[position]
        spaced = mark.text in (":", ";", "|") or words[position - 1].space  # no hyphen within a word
        if mark.text in _LABEL_ENDS and mark.space and spaced:
            goes_on = next((word.text for word in words[position + 1 :] if word.text[:1].isalnum()), "")
            label = _only_names(sentence, start, position) or _says_where(sentence, start, position)
            return position if goes_on[:1].isupper() and label else None
    return None


def strip_asides(sentence: Sentence, knowledge: Knowledge) -> str:
    """Remove brackets with a name or number and no verb, and party and state after a politician."""
    struck = [sentence.strike(range(_lead_end(sentence)), beside=True)]
    for start, word in enumerate(sentence.words):
        end = _closing(sentence, start) if word.alive and word.text in PAIRS else None
        if end is not None and _is_beside(sentence, start + 1, end):
            struck.append(sentence.strike(range(start, end + 1), beside=True))
    for position in range(1, len(sentence.words)):
        end = _title_end(sentence, position) if sentence.words[position - 1].text == "," else position
        if end > position:
            closing = end < len(sentence.words) and sentence.words[end].text == ","
            struck.append(sentence.strike(range(position - 1, end + closing), beside=True))
    return f"beside the sentence: {'; '.join(filter(None, struck))}" if any(struck) else ""


def _lead_end(sentence: Sentence) -> int:
    """Return the end of "In this ... file photo," at the beginning; 0 for none."""
    words, start = sentence.words, sentence.after(-1) or 0
    if [word.text.lower() for word in words[start : start + 2]] != ["in", "this"]:
        return 0
    photo = next((at for at in range(start + 2, min(start + LEAD, len(words))) if words[at].lemma.lower() in PHOTOS), len(words))
    return next((at + 1 for at in range(photo, len(words)) if words[at].text == ","), 0)


def _title_end(sentence: Sentence, start: int) -> int:
    """Return the end of a party and state, or of a person's degree, that begin at ``start``; ``start`` for none."""
    for end in (start + 1, start + 3):
        span = sentence.words[start:end]
        if all(word.alive for word in span) and _PARTY.match("".join(word.text for word in span)):
            return end
    bearer = sentence.entity_at(start - 2)
    goes_on = start + 1 < len(sentence.words) and sentence.words[start + 1].pos in ("NOUN", "ADJ", "PROPN")  # "X, U.S. attorney"
    if bearer is not None and bearer.kind == "PERSON" and not goes_on and _DEGREE.match(sentence.words[start].text):
        return start + 1
    return start


def _closing(sentence: Sentence, start: int) -> int | None:
    """Return the position of the first closing bracket after the opening one at ``start``."""
    mark = PAIRS[sentence.words[start].text]
    return next((place for place in range(start + 1, len(sentence.words)) if sentence.words[place].text == mark), None)


def _is_beside(sentence: Sentence, start: int, end: int) -> bool:
    """Return whether a bracket has a name and no verb ("[File: Reuters]"), or says where a person stands ("second from left")."""
    if _says_where(sentence, start, end):
        return True
    span = sentence.words[start:end]
    named = any(word.pos == "PROPN" or is_initialism(word.text) for word in span) or any(
        sentence.entity_at(at) is not None for at in range(start, end)
    )
    return named and not any(word.pos in ("VERB", "AUX") for word in span)


def _says_where(sentence: Sentence, start: int, end: int) -> bool:
    """Return whether a span only says where people stand: "from left", "second row"."""
    return all(word.text.lower().strip(".") in WHERE for word in sentence.words[start:end])


def _only_names(sentence: Sentence, start: int, end: int) -> bool:
    """Return whether a span has a name, a number or capitals, and otherwise only words that join them."""
    found = False
    for position in range(start, end):
        word = sentence.words[position]
        name = word.pos in ("PROPN", "NUM") or sentence.entity_at(position) is not None
        if name or (word.text.isupper() and word.text.isalpha()):
            found = True
        elif word.pos not in _JOINING:
            return False
    return found
