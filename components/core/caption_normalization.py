"""When two captions say the same: one rule for who is on which side (``split``) and for what matches what (``retrieval``)."""

from __future__ import annotations

import unicodedata


def normalise_caption(caption: str) -> str:
    """A caption as it is compared: NFKC, without case, marks and what is no letter or digit parted by single spaces.

    What holds no letter or digit stays as it is.
    """
    folded = unicodedata.normalize("NFKC", caption).casefold()
    words = "".join(char if char.isalnum() or unicodedata.category(char)[0] == "M" else " " for char in folded).split()
    return " ".join(words) or caption
