"""Google's syntax and entities read as a :class:`Parse`: the tables from its tags and labels to those the rules read.

Google tags after Petrov et al. 2012 (12 universal parts of speech, morphology apart) and labels dependencies after
McDonald et al. 2013 (Stanford's scheme); ``Parse`` has the universal parts of speech 2, Penn Treebank's tags, and
spaCy's English dependency labels (ClearNLP's), which are of the same family: heads are the same words.
Whatever the answer holds, the parse is whole: what is not of the documented form is read as "unknown".
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any, NamedTuple

from components.language.parser import Parse

POS = {
    "ADJ": "ADJ", "ADP": "ADP", "ADV": "ADV", "CONJ": "CCONJ", "DET": "DET", "NOUN": "NOUN", "NUM": "NUM", "PRON": "PRON",
    "PRT": "PART", "PUNCT": "PUNCT", "VERB": "VERB", "X": "X", "AFFIX": "X",
}  # fmt: skip
"""Google's tag → the universal one, before what :func:`_pos` tells apart by label and properness."""

DEP = {
    "ABBREV": "appos", "ACOMP": "acomp", "ADVCL": "advcl", "ADVMOD": "advmod", "ADVPHMOD": "advmod", "AMOD": "amod",
    "APPOS": "appos", "ATTR": "attr", "AUX": "aux", "AUXCAUS": "aux", "AUXPASS": "auxpass", "AUXVV": "aux", "CC": "cc",
    "CCOMP": "ccomp", "CONJ": "conj", "COP": "aux", "CSUBJ": "csubj", "CSUBJPASS": "csubjpass", "DET": "det",
    "DISCOURSE": "intj", "DOBJ": "dobj", "DTMOD": "det", "EXPL": "expl", "GOBJ": "dobj", "GOESWITH": "compound",
    "INFMOD": "acl", "IOBJ": "dative", "MARK": "mark", "MES": "nummod", "MWE": "advmod", "NCOMP": "compound", "NEG": "neg",
    "NN": "compound", "NOMC": "pcomp", "NOMCSUBJ": "csubj", "NOMCSUBJPASS": "csubjpass", "NPADVMOD": "npadvmod",
    "NSUBJ": "nsubj", "NSUBJPASS": "nsubjpass", "NUM": "nummod", "NUMBER": "compound", "NUMC": "nummod", "P": "punct",
    "PARATAXIS": "parataxis", "PARTMOD": "acl", "PCOMP": "pcomp", "POBJ": "pobj", "POSS": "poss", "POSTNEG": "neg",
    "PRECONJ": "preconj", "PREDET": "predet", "PREP": "prep", "PRT": "prt", "PS": "case", "QUANTMOD": "quantmod",
    "RCMOD": "relcl", "RCMODREL": "mark", "ROOT": "ROOT", "SNUM": "nummod", "TITLE": "compound", "TMOD": "npadvmod",
    "VMOD": "acl", "XCOMP": "xcomp",
}  # fmt: skip
"""Google's dependency label → spaCy's; every other one is ``dep``."""

ENTITIES = {
    "PERSON": "PERSON", "LOCATION": "GPE", "ORGANIZATION": "ORG", "EVENT": "EVENT", "WORK_OF_ART": "WORK_OF_ART",
    "CONSUMER_GOOD": "PRODUCT", "ADDRESS": "FAC", "DATE": "DATE", "NUMBER": "CARDINAL", "PRICE": "MONEY",
    "PHONE_NUMBER": "CARDINAL",
}  # fmt: skip
"""Google's entity type → OntoNotes' label. Google does not part countries and cities from mountains: all LOCATION is GPE
(nationalities apart, see :func:`_label`). OTHER and UNKNOWN say nothing that a rule could use and are left out."""
NAMED = frozenset({"PERSON", "LOCATION", "ORGANIZATION", "EVENT", "WORK_OF_ART", "CONSUMER_GOOD"})
"""Types that count only where the mention is a proper name: to Google "worker" is a PERSON too (a COMMON mention)."""

MODALS = frozenset(["can", "could", "may", "might", "must", "shall", "should", "will", "would"])
PUNCTUATION = {
    ",": ",", "(": "-LRB-", "[": "-LRB-", "{": "-LRB-", ")": "-RRB-", "]": "-RRB-", "}": "-RRB-", "“": "``", "‘": "``",
    "”": "''", "’": "''", '"': "''", "'": "''", ".": ".", "!": ".", "?": ".",
}  # fmt: skip
"""Mark → Penn's tag; every other mark is ":"."""


class Token(NamedTuple):
    """One token as far as it is needed, whatever the answer said."""

    text: str
    begin: int
    """Characters from the start of the text; -1 when not said."""
    lemma: str
    grammar: Mapping[str, Any]
    """Google's ``partOfSpeech``."""
    label: str
    head: int


def to_parse(answer: Any) -> Parse:
    """Return the parse of Google's answer; of no tokens when it has none (a refusal, nonsense)."""
    tokens = [_token(each, place) for place, each in enumerate(_list(answer, "tokens"))]
    heads = [token.head if 0 <= token.head < len(tokens) else place for place, token in enumerate(tokens)]
    pos = [_pos(token) for token in tokens]
    return Parse(
        text=[token.text for token in tokens],
        space=[_space_after(tokens, place) for place in range(len(tokens))],
        lemma=[token.lemma or token.text for token in tokens],
        pos=pos,
        tag=[_tag(token, kind) for token, kind in zip(tokens, pos, strict=True)],
        dep=[DEP.get(token.label, "dep") for token in tokens],
        head=heads,
        entities=_entities(answer, tokens, pos),
    )


def _token(value: Any, place: int) -> Token:
    edge, grammar = _dict(value, "dependencyEdge"), _dict(value, "partOfSpeech")
    # In JSON of protocol buffers a missing number is 0.
    head = _whole(edge.get("headTokenIndex", 0)) if edge else place
    text, begin = _span(value)
    return Token(text, begin, _text(value, "lemma"), grammar, _text(edge, "label"), place if head is None else head)


def _span(value: Any) -> tuple[str, int]:
    span = _dict(value, "text")
    begin = _whole(span.get("beginOffset", 0))
    return _text(span, "content"), -1 if begin is None else begin


def _space_after(tokens: list[Token], place: int) -> bool:
    if place + 1 >= len(tokens):
        return False
    here, following = tokens[place], tokens[place + 1]
    if here.begin < 0 or following.begin <= here.begin:
        return True
    return following.begin > here.begin + len(here.text)


def _pos(token: Token) -> str:
    kind = POS.get(_text(token.grammar, "tag"), "X")
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
    tense, said = token.grammar.get("tense"), token.grammar.get("mood") == "INDICATIVE"
    if token.label == "AUX" and token.lemma.lower() in MODALS:
        return "MD"
    if said and tense == "PAST":
        return "VBD"
    if said and tense == "PRESENT":
        third = token.grammar.get("person") == "THIRD" and token.grammar.get("number") == "SINGULAR"
        return "VBZ" if third else "VBP"
    if token.text.lower().endswith("ing"):
        return "VBG"
    return "VBN" if tense == "PAST" else "VB"


def _entities(answer: Any, tokens: list[Token], pos: list[str]) -> list[list[Any]]:
    """Entities as spaCy gives them: in order, none inside another; of those that overlap the longest stays."""
    found: set[tuple[int, int, str]] = set()
    for entity in _list(answer, "entities"):
        kind = _text(entity, "type")
        for mention in _list(entity, "mentions"):
            if kind not in ENTITIES or (kind in NAMED and _text(mention, "type") == "COMMON"):
                continue
            content, begin = _span(mention)
            places = [
                place
                for place, token in enumerate(tokens)
                if content and 0 <= begin < token.begin + len(token.text) and 0 <= token.begin < begin + len(content)
            ]
            if places:
                span = range(places[0], places[-1] + 1)
                found.add((span.start, span.stop, _label(kind, tokens, pos, span)))
    chosen: list[tuple[int, int, str]] = []
    for start, end, label in sorted(found, key=lambda each: (each[0] - each[1], each)):
        if all(end <= other[0] or other[1] <= start for other in chosen):
            chosen.append((start, end, label))
    return [list(each) for each in sorted(chosen)]


def _label(kind: str, tokens: list[Token], pos: list[str], span: range) -> str:
    if kind == "LOCATION" and all(pos[place] == "ADJ" for place in span):
        return "NORP"  # "Pakistani" worker
    if kind == "NUMBER" and tokens[span[-1]].text.lower().endswith(("st", "nd", "rd", "th")):
        return "ORDINAL"
    return ENTITIES[kind]


def _dict(value: Any, name: str) -> dict[str, Any]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _list(value: Any, name: str) -> list[Any]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def _text(value: Any, name: str) -> str:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def _whole(value: Any) -> int | None:
    """Return a whole number of 32 bits, as Google's are."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -(2**31) <= value < 2**31:
        return None
    return int(value)
