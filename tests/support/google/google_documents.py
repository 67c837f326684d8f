"""Texts with what Google's syntax and entity analysis says of them, in the documented form of ``AnnotateTextResponse``.

Written by hand: a line a token, ``text lemma TAG LABEL head`` and then the grammar that is known.
"""

from __future__ import annotations

import re
from typing import Any

GRAMMAR = ("aspect", "case", "form", "gender", "mood", "number", "person", "proper", "reciprocity", "tense", "voice")
VALUES = {
    "PROPER": "proper", "SINGULAR": "number", "PLURAL": "number", "INDICATIVE": "mood", "PRESENT": "tense", "PAST": "tense",
    "THIRD": "person", "GENITIVE": "case",
}  # fmt: skip

WORKER = "A Pakistani worker helps to clear the debris from the Taj Mahal Hotel November 7, 2005 in Balakot, Pakistan."
WORKER_TOKENS = """
A a DET DET 2
Pakistani Pakistani ADJ AMOD 2
worker worker NOUN NSUBJ 3 SINGULAR
helps help VERB ROOT 3 INDICATIVE PRESENT THIRD SINGULAR
to to PRT AUX 5
clear clear VERB XCOMP 3
the the DET DET 7
debris debris NOUN DOBJ 5 SINGULAR
from from ADP PREP 5
the the DET DET 12
Taj Taj NOUN NN 12 SINGULAR PROPER
Mahal Mahal NOUN NN 12 SINGULAR PROPER
Hotel Hotel NOUN POBJ 8 SINGULAR PROPER
November November NOUN TMOD 3 SINGULAR PROPER
7 7 NUM NUM 13
, , PUNCT P 13
2005 2005 NUM NUM 13
in in ADP PREP 3
Balakot Balakot NOUN POBJ 17 SINGULAR PROPER
, , PUNCT P 18
Pakistan Pakistan NOUN APPOS 18 SINGULAR PROPER
. . PUNCT P 3
"""
WORKER_ENTITIES = [
    ("worker", "PERSON", [("worker", "COMMON")]),
    ("debris", "OTHER", [("debris", "COMMON")]),
    ("Taj Mahal Hotel", "LOCATION", [("Taj Mahal Hotel", "PROPER")]),
    ("Balakot", "LOCATION", [("Balakot", "PROPER")]),
    ("Pakistan", "LOCATION", [("Pakistani", "PROPER"), ("Pakistan.", "PROPER")]),
    ("November 7, 2005", "DATE", [("November 7, 2005", "TYPE_UNKNOWN")]),
    ("7", "NUMBER", [("7", "TYPE_UNKNOWN")]),
    ("2005", "NUMBER", [("2005", "TYPE_UNKNOWN")]),
]

CROWD = "Crowd at a concert in Los Angeles"
CROWD_TOKENS = """
Crowd crowd NOUN ROOT 0 SINGULAR
at at ADP PREP 0
a a DET DET 3
concert concert NOUN POBJ 1 SINGULAR
in in ADP PREP 3
Los Los NOUN NN 6 SINGULAR PROPER
Angeles Angeles NOUN POBJ 4 SINGULAR PROPER
"""
CROWD_ENTITIES = [
    ("Crowd", "PERSON", [("Crowd", "COMMON")]),
    ("concert", "EVENT", [("concert", "COMMON")]),
    ("Los Angeles", "LOCATION", [("Los Angeles", "PROPER")]),
]

DOG = "A dog on the beach."
DOG_TOKENS = """
A a DET DET 1
dog dog NOUN ROOT 1 SINGULAR
on on ADP PREP 1
the the DET DET 4
beach beach NOUN POBJ 2 SINGULAR
. . PUNCT P 1
"""

WALL = "A dog on the wall."

NOUNS = "Beach Dog Sky Water"


def document(text: str, tokens: str = "", entities: Any = ()) -> dict[str, Any]:
    """What Google says of a text; without ``tokens``, all its words are nouns."""
    lines = [line.split() for line in tokens.strip().splitlines()]
    lines = lines or [[word, word, "NOUN", "ROOT", str(place)] for place, word in enumerate(re.findall(r"\w+|[^\w\s]", text))]
    result, at = [], 0
    for word, lemma, tag, edge, head, *known in lines:
        at = text.index(word, at)
        grammar = {name: f"{name.upper()}_UNKNOWN" for name in GRAMMAR}
        grammar |= {VALUES[value]: value for value in known}
        result.append(
            {
                "text": {"content": word, "beginOffset": at},
                "partOfSpeech": {"tag": tag, **grammar},
                "dependencyEdge": {"headTokenIndex": int(head), "label": edge},
                "lemma": lemma,
            }
        )
        at += len(word)
    return {
        "sentences": [{"text": {"content": text, "beginOffset": 0}, "sentiment": {"magnitude": 0, "score": 0}}],
        "tokens": result,
        "entities": [
            {
                "name": name,
                "type": kind,
                "metadata": {},
                "salience": 0.1,
                "mentions": [{"text": _span(text, each), "type": mention} for each, mention in mentions],
            }
            for name, kind, mentions in entities
        ],
        "language": "en",
    }


def _span(text: str, mention: str) -> dict[str, Any]:
    return {"content": mention.rstrip("."), "beginOffset": text.index(mention)}


DOCUMENTS = {
    WORKER: document(WORKER, WORKER_TOKENS, WORKER_ENTITIES),
    CROWD: document(CROWD, CROWD_TOKENS, CROWD_ENTITIES),
    WALL: document(WALL, DOG_TOKENS.replace("beach", "wall")),
    DOG: document(DOG, DOG_TOKENS, [("dog", "OTHER", [("dog", "COMMON")]), ("beach", "LOCATION", [("beach", "COMMON")])]),
}
