"""Converts Google's syntax and entities to a :class:`Parse`, by tables of tags and labels.

Google tags after Petrov et al. 2012 (12 universal parts of speech, morphology apart) and labels dependencies after
McDonald et al. 2013 (Stanford's scheme); ``Parse`` has the universal parts of speech 2, Penn Treebank's tags, and
spaCy's English dependency labels (ClearNLP's), of the same family: heads are the same words.
Every answer gives a complete parse; values that are not of the documented form are read as "unknown".
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from components.core.params import read_yaml
from components.language.parser import Parse

_TABLES = read_yaml(Path(__file__).parent / "data" / "google_tags.yaml")
POS, DEP, ENTITIES, PUNCTUATION = (_TABLES[name] for name in ("pos", "dep", "entities", "punctuation"))
"""Google's tag → the universal one, refined by :func:`_pos`; its dependency label → spaCy's; its entity type → OntoNotes' label,
where LOCATION is GPE (except nationalities, see :func:`_label`), for Google does not distinguish countries and cities from
mountains; mark → Penn's tag."""
NAMED = frozenset({"PERSON", "LOCATION", "ORGANIZATION", "EVENT", "WORK_OF_ART", "CONSUMER_GOOD"})
"""Types accepted only for proper names: for Google "worker" is a PERSON too (a COMMON mention)."""

T = TypeVar("T")
MODALS = frozenset(["can", "could", "may", "might", "must", "shall", "should", "will", "would"])


class Token(NamedTuple):
    """One token of the answer."""

    text: str
    begin: int
    """Characters from the start of the text; -1 if missing."""
    lemma: str
    grammar: Mapping[str, Any]
    """Google's ``partOfSpeech``."""
    label: str
    head: int


def to_parse(answer: Any) -> Parse:
    """Return the parse of Google's answer; without tokens for a refusal or an invalid answer."""
    tokens = [_token(entry, position) for position, entry in enumerate(_member(answer, "tokens", list))]
    heads = [token.head if 0 <= token.head < len(tokens) else position for position, token in enumerate(tokens)]
    pos = [_pos(token) for token in tokens]
    return Parse(
        text=[token.text for token in tokens],
        space=[_space_after(tokens, position) for position in range(len(tokens))],
        lemma=[token.lemma or token.text for token in tokens],
        pos=pos,
        tag=[_tag(token, kind) for token, kind in zip(tokens, pos, strict=True)],
        dep=[DEP.get(token.label, "dep") for token in tokens],
        head=heads,
        entities=_entities(answer, tokens, pos),
    )


def _token(value: Any, position: int) -> Token:
    edge, grammar = _member(value, "dependencyEdge", dict), _member(value, "partOfSpeech", dict)
    # In JSON of protocol buffers a missing number is 0.
    head = _whole(edge.get("headTokenIndex", 0)) if edge else position
    text, begin = _span(value)
    return Token(
        text, begin, _member(value, "lemma", str), grammar, _member(edge, "label", str), position if head is None else head
    )


def _span(value: Any) -> tuple[str, int]:
    span = _member(value, "text", dict)
    begin = _whole(span.get("beginOffset", 0))
    return _member(span, "content", str), -1 if begin is None else begin


def _space_after(tokens: list[Token], position: int) -> bool:
    if position + 1 >= len(tokens):
        return False
    here, following = tokens[position], tokens[position + 1]
    if here.begin < 0 or following.begin <= here.begin:
        return True
    return following.begin > here.begin + len(here.text)


def _pos(token: Token) -> str:
    kind = POS.get(_member(token.grammar, "tag", str), "X")
    if token.text and all(unicodedata.category(char).startswith("S") for char in token.text):
        return "SYM"
    if kind == "NOUN" and token.grammar.get("proper") == "PROPER":
        return "PROPN"
    if kind == "VERB" and (token.label in ("AUX", "AUXPASS") or token.lemma.lower() == "be"):
        return "AUX"
    if kind == "ADP" and token.label == "MARK":
        return "SCONJ"
    return kind


def _tag(token: Token, pos: str) -> str:
    """Penn's tag, from the morphology and the label."""
    grammar, plural = token.grammar, token.grammar.get("number") == "PLURAL"
    if pos in ("VERB", "AUX"):
        return _verb(token)
    if pos == "NOUN":
        return "NNS" if plural else "NN"
    if pos == "PROPN":
        return "NNPS" if plural else "NNP"
    if pos == "PUNCT":
        return PUNCTUATION.get(token.text, ":")
    if pos == "PRON":
        return "PRP$" if grammar.get("case") == "GENITIVE" or token.label == "POSS" else "PRP"
    if pos == "PART":
        return "TO" if token.text.lower() == "to" else "POS" if token.label == "PS" else "RP"
    if pos == "ADP":
        return "RP" if token.label == "PRT" else "IN"
    simple = {"ADJ": "JJ", "ADV": "RB", "CCONJ": "CC", "SCONJ": "IN", "NUM": "CD", "SYM": "SYM"}
    return ("PDT" if token.label == "PREDET" else "DT") if pos == "DET" else simple.get(pos, "XX")


def _verb(token: Token) -> str:
    tense, indicative = token.grammar.get("tense"), token.grammar.get("mood") == "INDICATIVE"
    if token.label == "AUX" and token.lemma.lower() in MODALS:
        return "MD"
    if indicative and tense == "PAST":
        return "VBD"
    if indicative and tense == "PRESENT":
        third = token.grammar.get("person") == "THIRD" and token.grammar.get("number") == "SINGULAR"
        return "VBZ" if third else "VBP"
    if token.text.lower().endswith("ing"):
        return "VBG"
    return "VBN" if tense == "PAST" else "VB"


def _entities(answer: Any, tokens: list[Token], pos: list[str]) -> list[list[Any]]:
    """Return the entities as spaCy does: in order, without overlaps; of overlapping ones the longest."""
    spans: set[tuple[int, int, str]] = set()
    for entity in _member(answer, "entities", list):
        kind = _member(entity, "type", str)
        for mention in _member(entity, "mentions", list):
            if kind not in ENTITIES or (kind in NAMED and _member(mention, "type", str) == "COMMON"):
                continue
            content, begin = _span(mention)
            positions = [
                position
                for position, token in enumerate(tokens)
                if content and 0 <= begin < token.begin + len(token.text) and 0 <= token.begin < begin + len(content)
            ]
            if positions:
                span = range(positions[0], positions[-1] + 1)
                spans.add((span.start, span.stop, _label(kind, tokens, pos, span)))
    chosen: list[tuple[int, int, str]] = []
    for start, end, label in sorted(spans, key=lambda item: (item[0] - item[1], item)):
        if all(end <= other[0] or other[1] <= start for other in chosen):
            chosen.append((start, end, label))
    return [list(item) for item in sorted(chosen)]


def _label(kind: str, tokens: list[Token], pos: list[str], span: range) -> str:
    if kind == "LOCATION" and all(pos[position] == "ADJ" for position in span):
        return "NORP"  # "Pakistani" worker
    if kind == "NUMBER" and tokens[span[-1]].text.lower().endswith(("st", "nd", "rd", "th")):
        return "ORDINAL"
    return ENTITIES[kind]


def _member(value: Any, name: str, kind: type[T]) -> T:
    """Return a member of an object; an empty one where it is missing or of another kind."""
    member = value.get(name) if isinstance(value, dict) else None
    return member if isinstance(member, kind) else kind()


def _whole(value: Any) -> int | None:
    """Return a 32-bit integer, or None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -(2**31) <= value < 2**31:
        return None
    return int(value)
