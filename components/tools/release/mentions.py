"""Mask account names inside captions, which must not reveal their own ``user`` field; the paper publishes them unchanged.

An account of the dataset is replaced by its user wherever it is mentioned (``@ana``, ``@ana@server``, an address that ends in its
name), and in its own captions also as a bare word of four letters or more, since shorter names are often ordinary words.
Accounts outside the dataset stay as written, unless all mentions are masked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from components.core.account_names import normalise_account
from components.tools.release.anonymous import DIGITS, Pseudonyms

MIN_LETTERS = 4
"""Shortest name of letters that is masked as a bare word; one with a digit or a sign is masked at any length."""
ANONYMOUS = "user"
"""Replaces an account that has no user, or not a single one."""
_HANDLE = r"\w(?:[\w.\-]*\w)?"
_MENTION = re.compile(rf"(?<![\w@])[@\uff20]({_HANDLE}(?:@{_HANDLE})?)")
_ADDRESS = re.compile(rf"(?<=\w)(\.[a-z]{{2,}}(?::\d+)?/(?:(?:users|web|profile)/)?@?)({_HANDLE}(?:@{_HANDLE})?)", re.I)


class Mentions:
    """The accounts of a dataset in the spellings that captions use."""

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


def find_personal_data(text: str) -> tuple[bool, bool, bool]:
    """Return whether a masked text holds a mention of an account outside the dataset, a web address, an e-mail address."""
    mentions = any(not _MASKED.fullmatch(match[1]) for match in _MENTION.finditer(text))
    return mentions, bool(_WEB.search(text)), bool(_MAIL.search(text))


_MASKED = re.compile(rf"{ANONYMOUS}|[0-9a-f]{{{DIGITS}}}")
_WEB = re.compile(r"(?:https?://|www\.)\w", re.I)
_MAIL = re.compile(rf"{_HANDLE}@{_HANDLE}\.[a-z]{{2,}}", re.I)
