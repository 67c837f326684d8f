"""Normalisation under which two captions count as equal, for split groups and for retrieval relevance."""

from __future__ import annotations

import unicodedata


def normalise_caption(caption: str) -> str:
    """Return a caption in NFKC, case folded, with every run of other characters than letters, marks and digits as one space.

    A caption without any letter or digit is returned as it is.
    """
    folded = unicodedata.normalize("NFKC", caption).casefold()
    words = "".join(char if char.isalnum() or unicodedata.category(char)[0] == "M" else " " for char in folded).split()
    return " ".join(words) or caption
