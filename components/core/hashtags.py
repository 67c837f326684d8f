"""Hashtags as words and names of accounts: what belongs to one, and the form in which two are compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

SIGNS = "#\uff03\ufe5f"
"""Signs that start a hashtag: #, and its full-width and small forms."""
MARKS = "\u0300-\u036f"
"""Combining accents: "ã" may be encoded as "a" and a tilde."""
_INSIDE = rf"\w{MARKS}\u00ad\u200b-\u200d\u2060"
"""Characters of a hashtag's word; the last ones show nothing."""
HASHTAG = re.compile(rf"(?<![{SIGNS}])[{SIGNS}]++[{_INSIDE}]++")
SPACED_HASHTAG = re.compile(rf"(?<![{SIGNS}])[{SIGNS}]++[ \t]?+[{_INSIDE}]++")
"""As :data:`HASHTAG`, also with a space after the sign."""


def fold(text: str) -> str:
    """Return the text in lower case without accents, compatibility letters as plain ones ("𝗣𝗿𝗮" is "pra")."""
    if text.isascii():
        return text.lower()
    # Normalisation sorts a run of combining characters in quadratic time, so they go before it.
    return _without_accents(unicodedata.normalize("NFKD", _without_accents(text)).casefold())


def match_hashtag(text: str, tags: Collection[str]) -> str:
    """Return how a text contains one of the hashtags: ``word`` (a whole word), ``inside`` (part of a word), or ''.

    Case, accents, underscores and invisible characters make no difference.
    """
    keys = {_key(tag) for tag in tags}
    for match in SPACED_HASHTAG.finditer(text):
        before = text[match.start() - 1 : match.start()]
        if _key(match[0]) in keys and not (before.isalnum() or before == "_"):
            return "word"
    whole = fold(text).replace("_", "")
    return "inside" if any(key in whole for key in keys) else ""


def _key(text: str) -> str:
    return "".join(char for char in fold(text) if char.isalnum())


def _without_accents(text: str) -> str:
    return "".join(char for char in text if not unicodedata.combining(char))


def normalise_account(owner: str) -> str | None:
    """Return the account name in NFKC, case folded, without surrounding white space and leading ``@``; None when empty."""
    return unicodedata.normalize("NFKC", owner).strip().lstrip("@").casefold() or None
