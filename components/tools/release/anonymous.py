"""Replace accounts by keyed hashes: HMAC-SHA256 of the account, under a key that is in no file of a release.

PCV §3 publishes an anonymised user with each post. An unkeyed hash can be reversed by hashing all public account names; a keyed
one cannot without the key. File names are made from the record's key in the same way, since that is a plain hash of the post's
addresses. Not in scope: names inside captions (``mentions``).
"""

from __future__ import annotations

import hashlib
import hmac
import os
from pathlib import Path

from components.core.account_names import normalise_account
from components.core.errors import HearsightError

KEY_VARIABLE = "HEARSIGHT_RELEASE_KEY"
MIN_KEY_BYTES = 16
MAKE_KEY = "python3 -c 'import secrets; print(secrets.token_hex(32))'"
DIGITS = 16
"""Hexadecimal digits of a user; a million accounts collide with a probability of one in 37 million."""


class Pseudonyms:
    """Pseudonyms under one key, which is never printed."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def __repr__(self) -> str:
        return "Pseudonyms(key hidden)"

    def user(self, owner: str) -> str:
        """Return the pseudonym of an account, equal in all releases under the same key; '' for no account."""
        spelled = normalise_account(owner)
        return self._hash("user", spelled) if spelled else ""

    def file(self, key: str, suffix: str) -> str:
        """Return the file name of a record's image."""
        return f"{self._hash('file', key)}.{suffix}"

    def _hash(self, purpose: str, value: str) -> str:
        return hmac.new(self._key, f"{purpose}\n{value}".encode(), hashlib.sha256).hexdigest()[:DIGITS]


def read_pseudonyms(root: Path, out: Path, key_file: Path | None) -> Pseudonyms:
    """Read the key from the environment, or from a file outside of the project and the release.

    Raises:
        HearsightError: there is no key, it is shorter than 16 bytes, or its file would be published.
    """
    hint = f"make one with `{MAKE_KEY}`, keep it, and put it into {KEY_VARIABLE} or a file named by --key-file"
    if key_file is None:
        key, where = os.environ.get(KEY_VARIABLE, "").strip().encode(), KEY_VARIABLE
    else:
        where, path = str(key_file), key_file.resolve()
        for folder, name in ((root.resolve(), "the project"), (out.resolve(), "the release")):
            if path.is_relative_to(folder):
                raise HearsightError(f"lies in {name}, where it would be published", where=where, hint="move it elsewhere")
        try:
            key = path.read_bytes().strip()
        except OSError as error:
            raise HearsightError(f"cannot be read ({error.strerror})", where=where, hint=hint) from None
    if not key:
        raise HearsightError("holds no key, and users are published as keyed hashes", where=where, hint=hint)
    if len(key) < MIN_KEY_BYTES:
        raise HearsightError(f"has {len(key)} bytes, and a key needs at least {MIN_KEY_BYTES}", where=where, hint=hint)
    return Pseudonyms(key)
