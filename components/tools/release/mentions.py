"""Account names inside of captions.

The paper publishes captions as their authors wrote them, with whoever they mention. Here a caption does not tell what its own
``user`` field hides: an account of the set is replaced by its user wherever it is mentioned (``@ana``, ``@ana@server``, an
address that ends in its name), and in its own captions also as a bare word of four letters or more ("ana" is a name of many, and
"a" an article). Accounts that are not in the set stay as written, unless all mentions are to be masked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from components.core.account_names import normalise_account
from components.tools.release.anonymous import DIGITS, Names

BARE = 4
"""Letters from which a name is masked as a bare word; with a digit or a sign in it, any length is."""
ANYBODY = "user"
"""What stands for an account that has no user of its own."""
_HANDLE = r"\w(?:[\w.\-]*\w)?"
_MENTION = re.compile(rf"(?<![\w@])[@\uff20]({_HANDLE}(?:@{_HANDLE})?)")
_ADDRESS = re.compile(rf"(?<=\w)(\.[a-z]{{2,}}(?::\d+)?/(?:(?:users|web|profile)/)?@?)({_HANDLE}(?:@{_HANDLE})?)", re.I)


class Mentions:
    """The accounts of a set, as captions may name them."""

    def __init__(self, names: Names, owners: Iterable[str], *, mask_all: bool = False) -> None:
        self._names, self._all = names, mask_all
        self._known: dict[str, str] = {}
        for owner in sorted({owner for owner in owners if owner}):
            for form in forms(owner):
                # Two servers may each have an "ana": then a bare "@ana" is somebody of the set, and no more is told.
                same = self._known.setdefault(form, names.user(owner)) == names.user(owner)
                self._known[form] = self._known[form] if same else ANYBODY
        self._users = frozenset(self._known.values())
        self._own = lru_cache(maxsize=100_000)(self._own_words)
        self.masked = 0
        """Names replaced so far."""

    def mask(self, text: str, owner: str) -> str:
        """``text`` of one of ``owner``'s posts, without the names of accounts of the set."""
        text = _ADDRESS.sub(lambda found: found[1] + self._known_or(found[2], found[2]), text)
        text = _MENTION.sub(lambda found: f"@{self._known_or(found[1], ANYBODY if self._all else found[1])}", text)
        pattern = self._own(owner) if owner else None
        if pattern:
            text, times = pattern.subn(self._names.user(owner), text)
            self.masked += times
        return text

    def _known_or(self, handle: str, other: str) -> str:
        if handle in self._users:  # replaced already, as part of an address
            return handle
        spelled = normalise_account(handle) or ""
        user = self._known.get(spelled) or self._known.get(spelled.partition("@")[0]) or other
        self.masked += user != handle
        return user

    def _own_words(self, owner: str) -> re.Pattern[str] | None:
        words = [word for word in {owner.strip().lstrip("@"), *forms(owner)} if len(word) >= BARE or not word.isalpha()]
        words = sorted(filter(None, words), key=lambda word: (-len(word), word))
        return re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in words), re.I) if words else None


def forms(owner: str) -> list[str]:
    """What an account is called: in full, without its server, and the end of its address when it is told by one."""
    spelled = normalise_account(owner)
    if not spelled:
        return []
    last = spelled.rstrip("/").rpartition("/")[2].lstrip("@")
    return list(dict.fromkeys(form for form in (spelled, last, last.partition("@")[0]) if form))


def counted(text: str) -> tuple[bool, bool, bool]:
    """Whether a masked text holds a mention of somebody who is not in the set, a web address, an e-mail address."""
    others = any(not _MASKED.fullmatch(found[1]) for found in _MENTION.finditer(text))
    return others, bool(_WEB.search(text)), bool(_MAIL.search(text))


_MASKED = re.compile(rf"{ANYBODY}|[0-9a-f]{{{DIGITS}}}")
_WEB = re.compile(r"(?:https?://|www\.)\w", re.I)
_MAIL = re.compile(rf"{_HANDLE}@{_HANDLE}\.[a-z]{{2,}}", re.I)
