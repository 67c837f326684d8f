"""split: assign records to train, validation and test by group (pages), owner (posts), text (spoken sets) or published lists.

``by: group`` draws each group of near-duplicates by its key and the seed alone, so added pages move no existing record. Shares
are therefore approximate. ``by: owner`` keeps all posts of an account in one split, close to the shares, and stores the
assignments (``owners``, ``assignments``). ``by: text`` separates neither equal captions nor equal images (``text``), ``by:
published`` reads lists (``published``); both also accept candidates, whose alt-text is the caption (``records``). With
``min_good``, test records that too few raters called GOOD are dropped (``records``). Source: CC §3 (table 3); PCV §4.3.4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from components.core.errors import HearsightError
from components.core.params import NotNegative, Settings
from components.stages.split.published import Lists

_ASSIGNMENTS = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


class Params(Settings):
    """Settings of split."""

    by: Literal["group", "owner", "text", "published"] = "group"
    """group: near-duplicates stay together; owner: an account's posts too; text: equal captions and images too; published: as
    lists of image names say."""
    min_good: NotNegative = 0
    """Raters that must call a test record's caption GOOD; 0 drops none. CC table 3: 2 of 3, "the test set has been cleaned using
    human judgements (2+ GOOD)"; 0 since most datasets have no ratings."""
    unrated: Literal["keep", "drop"] = "keep"
    """Test records without enough ratings, where min_good is not 0. CC table 3 has rated records only, so drop; keep is
    ours, since usually a sample is rated."""

    @classmethod
    def of(cls, block: Mapping[str, Any]) -> type[Settings]:
        """Return the settings class of the value of ``by``."""
        return KINDS.get(str(block.get("by", "group")), cls)


class ByGroup(Params):
    """Near-duplicates stay together."""

    by: Literal["group"] = "group"
    """Near-duplicates stay together."""
    seed: int = 1
    """Seed of the draw. Ours."""
    validation: float = 0.0084
    """Share of the groups that goes to validation. CC table 3: 28,355 of 3,369,218."""
    test: float = 0.0067
    """Share of the groups that goes to test. CC table 3: 22,530 of 3,369,218."""

    def check(self, where: str) -> None:
        """Require shares that leave a training set."""
        _check_shares(self.validation, self.test, where)


class ByOwner(Params):
    """An account's posts stay together, and so do near-duplicates (PCV §4.3.4)."""

    by: Literal["owner"] = "owner"
    """An account's posts stay together, and so do near-duplicates."""
    seed: int = 1
    """Seed of the draw. Ours."""
    validation: float = 0.2
    """Share of the posts that goes to validation. PCV §4.3.4: .2."""
    test: float = 0.2
    """Share of the posts that goes to test. PCV §4.3.4: .2."""
    sides: str = ""
    """Name of the file with the owners' split assignments (data/store/sides); required."""

    def check(self, where: str) -> None:
        """Require shares that leave a training set, and the name of a file."""
        _check_shares(self.validation, self.test, where)
        if not self.sides:
            raise HearsightError("is empty", where=f"{where}.sides", hint="name the file of split assignments")
        if not _ASSIGNMENTS.fullmatch(self.sides) or self.sides == "index":  # "index" marks the folder of a fetch store
            what = f"'{self.sides}' is not a valid name of assignments"
            raise HearsightError(what, where=f"{where}.sides", hint="use a-z, 0-9, - and _")


class ByText(Params):
    """Equal captions and equal images stay together."""

    by: Literal["text"] = "text"
    """Equal captions and equal images stay together."""
    seed: int = 1
    """Seed of the draw. Ours."""
    validation: float = 0.125
    """Share of the texts that goes to validation. CSC §2.3: 1,000 of 8,000 images."""
    test: float = 0.125
    """Share of the texts that goes to test. CSC §2.3: 1,000 of 8,000 images."""

    def check(self, where: str) -> None:
        """Require shares that leave a training set."""
        _check_shares(self.validation, self.test, where)


class Published(Params):
    """Splits from published lists of image names."""

    by: Literal["published"] = "published"
    """Splits from published lists of image names."""
    lists: Lists = Lists()
    """The lists; at least one is required."""


def _check_shares(validation: float, test: float, where: str) -> None:
    if min(validation, test) < 0 or validation + test >= 1:
        raise HearsightError(
            f"validation {validation} and test {test} leave nothing to train on",
            where=where,
            hint="give shares of at least 0 that sum to less than 1",
        )


KINDS: dict[str, type[Params]] = {"group": ByGroup, "owner": ByOwner, "text": ByText, "published": Published}
"""``split.by`` → settings class."""
