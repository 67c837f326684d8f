"""A release of posts in figures: what its README, its table of statistics and its datasheet tell. All of it is counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any

from components.metrics.caption_statistics import CaptionStatistics
from components.metrics.tokens import tokenize
from components.tools.release.mentions import counted

if TYPE_CHECKING:
    from components.tools.release.made import MadePosts
    from components.tools.release.posts import Instance

WINDOW = 7
"""Days after which a post is found through its owner alone (#PraCegoVer section 4.1)."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass
class Part:
    """Some of the instances."""

    captions: CaptionStatistics = field(default_factory=CaptionStatistics)
    users: Counter[str] = field(default_factory=Counter)
    """User → posts; without those of nobody."""

    @property
    def posts(self) -> int:
        """Instances."""
        return self.captions.examples


@dataclass(frozen=True)
class Loss:
    """What a stage let pass and dropped, from its ledger."""

    stage: str
    kind: str
    """page, image or record."""
    kept: int
    dropped: dict[str, int]
    """Rule → how many."""

    @property
    def entered(self) -> int:
        """How many came in."""
        return self.kept + sum(self.dropped.values())

    @property
    def lost(self) -> float:
        """The share dropped, 0 to 1."""
        return sum(self.dropped.values()) / self.entered if self.entered else 0.0


@dataclass
class Span:
    """The first and the last day of some times."""

    first: str = ""
    last: str = ""
    unknown: int = 0
    """Times that are not given, or not as ISO 8601."""

    def add(self, time: str) -> None:
        """Count one time."""
        found = _DAY.match(time)
        if not found:
            self.unknown += 1
            return
        self.first, self.last = min(self.first or found[0], found[0]), max(self.last, found[0])

    def __str__(self) -> str:
        known = f"{self.first} to {self.last}" if self.first else "unknown"
        return f"{known} ({self.unknown:,} without a day)" if self.first and self.unknown else known


@dataclass
class PostFacts:
    """What a release of posts holds."""

    losses: list[Loss]
    parts: dict[str, dict[str, Part]] = field(default_factory=dict)
    """Subset ('' for the whole) → split ('' for all) → its instances."""
    words: Counter[str] = field(default_factory=Counter)
    """Word → occurrences in captions; see ``metrics.tokens``."""
    posted: Span = field(default_factory=Span)
    collected: Span = field(default_factory=Span)
    late: int = 0
    """Posts collected more than seven days after they were made, of those whose two days are known."""
    dated: int = 0
    """Posts whose two days are known."""
    languages: Counter[str] = field(default_factory=Counter)
    formats: Counter[str] = field(default_factory=Counter)
    shared_pictures: int = 0
    """Groups of near-duplicate pictures with several instances (several references)."""
    sharing: int = 0
    """Instances of those groups."""
    same_caption: int = 0
    """Instances whose very caption another instance has too."""
    mentions: int = 0
    """Raw captions with a mention of an account that was not masked."""
    addresses: int = 0
    """... with a web address."""
    mails: int = 0
    """... with an e-mail address."""
    without_owner: int = 0
    masked: int = 0
    """Account names replaced in captions."""
    stripped: int = 0
    """Pictures with metadata that were removed."""
    unreadable: int = 0
    """Posts left out: what is written inside their picture's file cannot be told from the picture."""
    taken_down: int = 0
    """Posts left out: on the takedown list since the data were made."""

    @classmethod
    def of(cls, made: MadePosts) -> PostFacts:
        """The losses of every stage; the rest is counted as it is written."""
        return cls(
            [
                Loss(stage, kind, bucket["kept"], dict(sorted(bucket["dropped"].items(), key=lambda item: (-item[1], item[0]))))
                for stage, output in made.stages.items()
                for kind, bucket in sorted(output.manifest.counts.items())
            ]
        )

    @property
    def whole(self) -> Part:
        """All instances."""
        return self.parts[""][""]

    @property
    def largest(self) -> float:
        """The share of the posts that the owner with most of them has."""
        return max(self.whole.users.values(), default=0) / self.whole.posts

    def loss(self, stage: str) -> Loss:
        """What a stage did to records."""
        return next((loss for loss in self.losses if (loss.stage, loss.kind) == (stage, "record")), Loss(stage, "record", 0, {}))

    def take(self, name: str, found: Sequence[Instance]) -> None:
        """Count a subset, or with '' the whole and all that is told of it alone."""
        parts = self.parts[name] = {split: Part() for split in ("", "train", "validation", "test")}
        for each in found:
            for part in (parts[""], parts[each.split]):
                part.captions.add(each.caption)
                if each.user:
                    part.users[each.user] += 1
        if not name:
            self._take_whole(found)

    def _take_whole(self, found: Sequence[Instance]) -> None:
        for each in found:
            self.words.update(tokenize(each.caption))
            self.posted.add(each.date)
            self.collected.add(each.collected)
            days = _days_between(each.date, each.collected)
            self.dated += days is not None
            self.late += days is not None and days > WINDOW
            self.languages[each.language or "not told"] += 1
            self.formats[each.kind] += 1
            self.without_owner += not each.user
            mention, address, mail = counted(each.raw_caption)
            self.mentions, self.addresses, self.mails = self.mentions + mention, self.addresses + address, self.mails + mail
        several = _several(each.group for each in found)
        self.shared_pictures, self.sharing = len(several), sum(several)
        self.same_caption = sum(_several(each.caption for each in found))

    def plain(self) -> dict[str, Any]:
        """As one flat line."""
        parts = self.parts[""]
        sizes = {split: parts[split].posts for split in ("train", "validation", "test")}
        named = {name: each[""].posts for name, each in self.parts.items() if name}
        return {
            **sizes,
            "owners": len(self.whole.users),
            "subsets": named,
            "masked": self.masked,
            "taken_down": self.taken_down,
            "unreadable": self.unreadable,
        }


def _days_between(posted: str, collected: str) -> int | None:
    try:
        return (date.fromisoformat(collected[:10]) - date.fromisoformat(posted[:10])).days
    except ValueError:
        return None


def _several(values: Iterable[str]) -> list[int]:
    return [number for number in Counter(values).values() if number > 1]


def statistics_tsv(facts: PostFacts, dataset: str) -> str:
    """Table 1 of the paper, a line a set and split, and the owners beside it; the standard deviation is the population's."""
    lines = ["set\tsplit\tposts\towners\tvocabulary\twords_mean\twords_sd"]
    for name, parts in facts.parts.items():
        for split, part in parts.items():
            told = part.captions
            numbers = f"{part.posts}\t{len(part.users)}\t{told.unique}\t{told.mean:.1f}\t{told.deviation:.1f}"
            lines.append(f"{name or dataset}\t{split or 'all'}\t{numbers}")
    return "\n".join(lines) + "\n"
