"""Who wrote a post, told by a keyed hash: HMAC-SHA256 of the account, under a key that lies in no file of a release.

#PraCegoVer section 3 publishes an anonymised user beside each post. An unkeyed hash of a public account name is undone by hashing
all account names; without the key this one is not. File names are made in the same way, of the record's key, which is a plain
hash of the post's addresses. Texts: ``mentions``.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from pathlib import Path

from components.core.account_names import normalise_account
from components.core.errors import HearsightError

VARIABLE = "HEARSIGHT_RELEASE_KEY"
SHORTEST = 16
"""Bytes of a key."""
MAKE = "python3 -c 'import secrets; print(secrets.token_hex(32))'"
DIGITS = 16
"""Hexadecimal digits of a user: two of a million accounts are alike in one release of 37 million."""


class Names:
    """Names under one key; the key itself is told to nobody."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def __repr__(self) -> str:
        return "Names(key not told)"

    def user(self, owner: str) -> str:
        """What stands for an account in every release under the same key; empty for nobody."""
        spelled = normalise_account(owner)
        return self._of("user", spelled) if spelled else ""

    def file(self, key: str, suffix: str) -> str:
        """The file name of a record's picture."""
        return f"{self._of('file', key)}.{suffix}"

    def _of(self, what: str, value: str) -> str:
        return hmac.new(self._key, f"{what}\n{value}".encode(), hashlib.sha256).hexdigest()[:DIGITS]


def read_names(root: Path, out: Path, key_file: Path | None) -> Names:
    """The key from the environment, or from a file that lies neither in the project nor in the release.

    Raises:
        HearsightError: there is none, or it is shorter than 16 bytes, or it lies where it would be given away.
    """
    hint = f"make one with `{MAKE}`, keep it, and put it into {VARIABLE} or a file named by --key-file"
    if key_file is None:
        key, where = os.environ.get(VARIABLE, "").strip().encode(), VARIABLE
    else:
        where, place = str(key_file), key_file.resolve()
        for folder, name in ((root.resolve(), "the project"), (out.resolve(), "the release")):
            if place.is_relative_to(folder):
                raise HearsightError(f"lies in {name}, where it would be given away", where=where, hint="move it elsewhere")
        try:
            key = place.read_bytes().strip()
        except OSError as error:
            raise HearsightError(f"cannot be read ({error.strerror})", where=where, hint=hint) from None
    if not key:
        raise HearsightError("holds no key, and users must be told by a keyed hash", where=where, hint=hint)
    if len(key) < SHORTEST:
        raise HearsightError(f"has {len(key)} bytes, and a key needs at least {SHORTEST}", where=where, hint=hint)
    return Names(key)
