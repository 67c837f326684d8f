"""Count what the README, the statistics and the datasheet of a release of posts report."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from components.metrics.caption_lengths import CaptionStatistics
from components.metrics.tokens import tokenize
from components.tools.release.anonymous import Instance, find_personal_data
from components.tools.release.inputs import ReleaseInputs
from components.tools.release.split_files import SPLITS

WINDOW = 7
"""Days after which a post can be found only through its owner (PCV §4.1)."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass
class Part:
    """The counts of a subset's or split's instances."""

    captions: CaptionStatistics = field(default_factory=CaptionStatistics)
    users: Counter[str] = field(default_factory=Counter)
    """User → number of posts; posts without an owner are not counted."""

    @property
    def posts(self) -> int:
        """Number of instances."""
        return self.captions.examples


@dataclass(frozen=True)
class Loss:
    """Counts of a stage's ledger for one kind of row."""

    stage: str
    kind: str
    """page, image or record."""
    kept: int
    dropped: dict[str, int]
    """Rule → number of rows."""

    @property
    def entered(self) -> int:
        """Number of rows that entered."""
        return self.kept + sum(self.dropped.values())

    @property
    def lost(self) -> float:
        """Share of dropped rows, 0 to 1."""
        return sum(self.dropped.values()) / self.entered if self.entered else 0.0


def count_losses(inputs: ReleaseInputs) -> list[Loss]:
    """Return what each stage kept and dropped, in order; rules by falling counts."""
    return [
        Loss(stage, kind, bucket["kept"], dict(sorted(bucket["dropped"].items(), key=lambda item: (-item[1], item[0]))))
        for stage, output in inputs.stages.items()
        for kind, bucket in sorted(output.manifest.counts.items())
    ]


def loss_table(losses: Iterable[Loss]) -> list[list[str]]:
    """Return the losses as a table with its head."""
    rows = [["stage", "of", "entered:", "left:", "dropped:", "by rule"]]
    for loss in losses:
        rules = ", ".join(f"{rule} {number:,}" for rule, number in loss.dropped.items())
        rows.append([loss.stage, loss.kind, f"{loss.entered:,}", f"{loss.kept:,}", f"{loss.lost:.1%}", rules])
    return rows


def count_days(times: Iterable[str]) -> Counter[str]:
    """Return day → number of times; '' for times that are missing or not ISO 8601."""
    return Counter(time[:10] if _DAY.match(time) else "" for time in times)


def describe_days(days: Counter[str]) -> str:
    """Return the first and the last of :func:`count_days`."""
    known = sorted(filter(None, days))
    if not known:
        return "unknown"
    return f"{known[0]} to {known[-1]}" + (f" ({days['']:,} without a day)" if days[""] else "")


@dataclass
class PostFacts:
    """The counts of a release of posts."""

    losses: list[Loss]
    parts: dict[str, dict[str, Part]] = field(default_factory=dict)
    """Subset ('' for the whole dataset) → split ('' for all) → its counts."""
    words: Counter[str] = field(default_factory=Counter)
    """Word → occurrences in captions; see ``metrics.tokens``."""
    posted: Counter[str] = field(default_factory=Counter)
    collected: Counter[str] = field(default_factory=Counter)
    """Both as of :func:`count_days`."""
    languages: Counter[str] = field(default_factory=Counter)
    formats: Counter[str] = field(default_factory=Counter)
    numbers: Counter[str] = field(default_factory=Counter)
    """Further counts, by name; ``data/datasheet.yaml`` says what each is."""

    @property
    def whole(self) -> Part:
        """The counts of all instances."""
        return self.parts[""][""]

    @property
    def largest(self) -> float:
        """Share of the posts by the most frequent owner."""
        return max(self.whole.users.values(), default=0) / self.whole.posts

    def loss(self, stage: str) -> Loss:
        """Return a stage's counts of records."""
        return next((loss for loss in self.losses if (loss.stage, loss.kind) == (stage, "record")), Loss(stage, "record", 0, {}))

    def add(self, subset: str, instances: Sequence[Instance]) -> None:
        """Count a subset, or with '' the whole dataset."""
        parts = self.parts[subset] = {split: Part() for split in ("", *SPLITS)}
        for instance in instances:
            for part in (parts[""], parts[instance.split]):
                part.captions.add(instance.caption)
                if instance.user:
                    part.users[instance.user] += 1
        if not subset:
            self._add_whole(instances)

    def _add_whole(self, instances: Sequence[Instance]) -> None:
        numbers = self.numbers
        self.posted, self.collected = (count_days(getattr(each, name) for each in instances) for name in ("date", "collected"))
        for instance in instances:
            self.words.update(tokenize(instance.caption))
            days = _days_between(instance.date, instance.collected)
            numbers["dated"] += days is not None
            numbers["late"] += days is not None and days > WINDOW
            self.languages[instance.language or "not stated"] += 1
            self.formats[instance.format] += 1
            numbers["without_owner"] += not instance.user
            numbers.update(find_personal_data(instance.raw_caption))
        sizes = _repeated_counts(instance.group for instance in instances)
        numbers["shared_images"], numbers["sharing"] = len(sizes), sum(sizes)
        numbers["same_caption"] = sum(_repeated_counts(instance.caption for instance in instances))

    def plain(self) -> dict[str, Any]:
        """Return the main counts as a flat mapping."""
        parts = self.parts[""]
        sizes = {split: parts[split].posts for split in SPLITS}
        subsets = {name: parts[""].posts for name, parts in self.parts.items() if name}
        return {
            **sizes,
            "owners": len(self.whole.users),
            "subsets": subsets,
            **{name: self.numbers[name] for name in ("masked", "taken_down", "unreadable")},
        }


def _days_between(posted: str, collected: str) -> int | None:
    try:
        return (date.fromisoformat(collected[:10]) - date.fromisoformat(posted[:10])).days
    except ValueError:
        return None


def _repeated_counts(values: Iterable[str]) -> list[int]:
    """Return how often each value occurs that occurs more than once."""
    return [count for count in Counter(values).values() if count > 1]


def statistics_tsv(facts: PostFacts, dataset: str) -> str:
    """Return PCV table 1 and the number of owners as TSV, one line per set and split; population standard deviation."""
    lines = ["set\tsplit\tposts\towners\tvocabulary\twords_mean\twords_sd"]
    for name, parts in facts.parts.items():
        for split, part in parts.items():
            captions = part.captions
            numbers = f"{part.posts}\t{len(part.users)}\t{captions.unique}\t{captions.mean:.1f}\t{captions.deviation:.1f}"
            lines.append(f"{name or dataset}\t{split or 'all'}\t{numbers}")
    return "\n".join(lines) + "\n"
