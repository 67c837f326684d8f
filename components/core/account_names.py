"""Whose post a record is: the one spelling under which an account is compared, hashed and kept on one side of a split."""

from __future__ import annotations

import unicodedata


def normalise_account(owner: str) -> str | None:
    """An owner's name as hashed: NFKC, case folded, without white space at the ends and a leading @; None when empty."""
    return unicodedata.normalize("NFKC", owner).strip().lstrip("@").casefold() or None
