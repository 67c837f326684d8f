"""Make the posts of a release; accounts are keyed hashes, HMAC-SHA256 of the account, under a key that is in no file of it.

PCV §3 publishes an anonymised user with each post. An unkeyed hash can be reversed by hashing all public account names; a keyed
one cannot without the key. File names are made from the record's key in the same way, since that is a plain hash of the post's
addresses.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from components.core.errors import HearsightError
from components.core.hashtags import normalise_account
from components.tools.release.inputs import ReleaseInputs
from components.web.images.image import FORMATS
from components.web.takedown_list import Takedown

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


MIN_LETTERS = 4
"""Shortest name of letters that is masked as a bare word; one with a digit or a sign is masked at any length."""
ANONYMOUS = "user"
"""Replaces an account that has no user, or not a single one."""
_HANDLE = r"\w(?:[\w.\-]*\w)?"
_MENTION = re.compile(rf"(?<![\w@])[@\uff20]({_HANDLE}(?:@{_HANDLE})?)")
_ADDRESS = re.compile(rf"(?<=\w)(\.[a-z]{{2,}}(?::\d+)?/(?:(?:users|web|profile)/)?@?)({_HANDLE}(?:@{_HANDLE})?)", re.I)


class Mentions:
    """The accounts of a dataset in the spellings that captions use, which must not reveal their own ``user`` field.

    The paper publishes them unchanged. An account of the dataset is replaced by its user wherever it is mentioned (``@ana``,
    ``@ana@server``, an address that ends in its name), and in its own captions also as a bare word of four letters or more, since
    shorter names are often ordinary words. Accounts outside the dataset stay as written, unless all mentions are masked.
    """

    def __init__(self, pseudonyms: Pseudonyms, owners: Iterable[str], *, mask_all: bool = False) -> None:
        self._pseudonyms, self._all = pseudonyms, mask_all
        self._known: dict[str, str] = {}
        for owner in sorted({owner for owner in owners if owner}):
            for form in account_forms(owner):
                # Two servers may each have an "ana": a bare "@ana" is then ambiguous.
                same = self._known.setdefault(form, pseudonyms.user(owner)) == pseudonyms.user(owner)
                self._known[form] = self._known[form] if same else ANONYMOUS
        self._users = frozenset(self._known.values())
        self._name_pattern = lru_cache(maxsize=100_000)(self._make_name_pattern)
        self.masked = 0
        """Pseudonyms replaced so far."""

    def mask(self, text: str, owner: str) -> str:
        """Return ``text``, from a post by ``owner``, with the accounts of the dataset replaced by their users."""
        text = _ADDRESS.sub(lambda match: match[1] + self._known_or(match[2], match[2]), text)
        text = _MENTION.sub(lambda match: f"@{self._known_or(match[1], ANONYMOUS if self._all else match[1])}", text)
        pattern = self._name_pattern(owner) if owner else None
        if pattern:
            text, times = pattern.subn(self._pseudonyms.user(owner), text)
            self.masked += times
        return text

    def _known_or(self, handle: str, other: str) -> str:
        if handle in self._users:  # replaced already, as part of an address
            return handle
        spelled = normalise_account(handle) or ""
        user = self._known.get(spelled) or self._known.get(spelled.partition("@")[0]) or other
        self.masked += user != handle
        return user

    def _make_name_pattern(self, owner: str) -> re.Pattern[str] | None:
        """Return a pattern of the owner's names as bare words; None when all are too short."""
        spellings = {owner.strip().lstrip("@"), *account_forms(owner)}
        words = [word for word in spellings if len(word) >= MIN_LETTERS or not word.isalpha()]
        words = sorted(filter(None, words), key=lambda word: (-len(word), word))
        return re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in words), re.I) if words else None


def account_forms(owner: str) -> list[str]:
    """Return the spellings of an account: in full, the last part of an address, and without its server."""
    spelled = normalise_account(owner)
    if not spelled:
        return []
    last = spelled.rstrip("/").rpartition("/")[2].lstrip("@")
    return list(dict.fromkeys(form for form in (spelled, last, last.partition("@")[0]) if form))


def find_personal_data(text: str) -> dict[str, bool]:
    """Return whether a masked text holds mentions of accounts outside the dataset, web addresses, e-mail addresses."""
    mentions = any(not _MASKED.fullmatch(match[1]) for match in _MENTION.finditer(text))
    return {"mentions": mentions, "addresses": bool(_WEB.search(text)), "mails": bool(_MAIL.search(text))}


_MASKED = re.compile(rf"{ANONYMOUS}|[0-9a-f]{{{DIGITS}}}")
_WEB = re.compile(r"(?:https?://|www\.)\w", re.I)
_MAIL = re.compile(rf"{_HANDLE}@{_HANDLE}\.[a-z]{{2,}}", re.I)


class Instance(NamedTuple):
    """One post of the release: the attributes of ``dataset.json`` (PCV §3), then columns of its record."""

    filename: str
    user: str
    raw_caption: str
    caption: str
    date: str
    key: str
    split: str
    group: str
    language: str
    collected: str
    image_sha256: str
    media: str
    format: str
    width: int
    height: int

    def published(self) -> dict[str, str]:
        """Return the attributes of ``dataset.json``."""
        return {name: getattr(self, name) for name in ("user", "filename", "raw_caption", "caption", "date")}


OWN = Instance._fields[5:]


def make_instances(
    inputs: ReleaseInputs, pseudonyms: Pseudonyms, listed: Takedown, *, mask_all: bool
) -> tuple[list[Instance], dict[str, int]]:
    """Anonymise the records of the split that are not on the takedown list.

    Returns:
        The instances in the order of their file names, and the numbers of ``masked`` account names and of posts ``taken_down``.
    """
    rows = inputs.split.table(["owner", "page_url", "image_url", "alt", "caption", "posted", *OWN]).to_pylist()
    mentions = Mentions(pseudonyms, (row["owner"] for row in rows), mask_all=mask_all)
    instances = [
        Instance(
            pseudonyms.file(row["key"], FORMATS[row["format"]]),
            pseudonyms.user(row["owner"]),
            mentions.mask(row["alt"], row["owner"]),
            mentions.mask(row["caption"], row["owner"]),
            row["posted"],
            *(row[name] for name in OWN),
        )
        for row in rows
        if not (listed.owner(row["owner"]) or listed.url(row["page_url"]) or listed.url(row["image_url"]))
    ]
    return sorted(instances), {"masked": mentions.masked, "taken_down": len(rows) - len(instances)}
