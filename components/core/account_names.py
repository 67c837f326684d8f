"""Normalisation of account names, shared by comparison, hashing and split assignment."""

from __future__ import annotations

import unicodedata


def normalise_account(owner: str) -> str | None:
    """Return the account name in NFKC, case folded, without surrounding white space and leading ``@``; None when empty."""
    return unicodedata.normalize("NFKC", owner).strip().lstrip("@").casefold() or None
