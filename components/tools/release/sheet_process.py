"""Answers about the collection, preprocessing, uses and maintenance of a dataset of posts (PCV §6.3 to §6.7)."""

from __future__ import annotations

from collections.abc import Callable

from components.core.params import dotted
from components.tools.release.offensive import body_words
from components.tools.release.post_facts import WINDOW, PostFacts
from components.tools.release.sheet_answer import Answer, SheetData, share


def _acquired(data: SheetData) -> Answer:
    described = data.facts.loss("extract_descriptions")
    return Answer(
        [
            "Pictures and captions were published by the owners of the posts and taken as they were; nobody validated them. "
            f"Of {described.entered:,} captions {share(sum(described.dropped.values()), described.entered)} were malformed (no "
            "description could be cut out) and were dropped."
        ]
    )


def _mechanisms(data: SheetData) -> Answer:
    rows = [["stage", "of", "entered", "left", "dropped", "by rule"]]
    rows += [
        [
            loss.stage, loss.kind, f"{loss.entered:,}", f"{loss.kept:,}", f"{loss.lost:.1%}",
            ", ".join(f"{rule} {number:,}" for rule, number in loss.dropped.items()),
        ]
        for loss in data.facts.losses
    ]  # fmt: skip
    text = "By a crawler that notes for every record whether it was kept, and if not, by which rule. What each stage dropped:"
    return Answer([text], rows)


def _time_frame(data: SheetData) -> Answer:
    facts = data.facts
    return Answer(
        [
            f"Posted: {facts.posted}. Collected: {facts.collected}.",
            f"The two need not match: of {facts.dated:,} posts whose days are known {share(facts.late, facts.dated)} "
            f"were collected "
            f"more than {WINDOW} days after they were made.",
        ]
    )


def _third_parties(data: SheetData) -> Answer:
    return Answer(["Through the service where the posts were published, not from the individuals themselves."])


def _preprocessing(data: SheetData) -> Answer:
    rows = [["stage", "setting", "value"]]
    for stage, values in data.settings.items():
        if stage != "crawl":
            rows += [[stage, name, str(value)] for name, value in sorted(dotted(values))]
    text = (
        "Descriptions were cut out of captions, duplicates dropped, owners split, account names in captions "
        "replaced, and metadata "
        "removed from the pictures' files. The settings:"
    )
    return Answer([text], rows)


def _raw(data: SheetData) -> Answer:
    return Answer(
        ["`raw_caption` holds the caption before its description was cut out. Posts that were dropped are not released."]
    )


def _software(data: SheetData) -> Answer:
    return Answer([f"{data.software} (Apache-2.0); its settings are in `settings.json`."])


def _other_tasks(data: SheetData) -> Answer:
    return Answer(
        [
            "Image classification and retrieval, text-to-image generation, and studies of how pictures are "
            "described for people who do "
            "not see them."
        ]
    )


def _impact_on_uses(data: SheetData) -> Answer:
    rows = [["words", "occurrences", "rank of the most frequent"]]
    rows += [[words, f"{number:,}", f"{rank:,}" if rank else ""] for words, number, rank in body_words(data.facts.words)]
    text = (
        "The posts are those whose authors describe their pictures, found by a hashtag: they speak for no "
        "population, and carry its "
        f"stereotypes. The ten owners with most posts have {share(_ten(data.facts), data.facts.whole.posts)} of "
        f"them. How often captions "
        "speak of women and men and of their looks (the paper's table 4 and figure 20; occurrences alone, not what "
        "stands beside them):"
    )
    return Answer([text], rows)


def _ten(facts: PostFacts) -> int:
    return sum(number for _, number in facts.whole.users.most_common(10))


def _withdrawn(data: SheetData) -> Answer:
    return Answer(
        [
            "Posts whose owners asked for it or made them private are left out of the next version "
            f"({data.facts.taken_down:,} were left out of this one after the data were made)."
        ]
    )


PROCESS: dict[str, Callable[[SheetData], Answer]] = {
    "6.3.1": _acquired, "6.3.2": _mechanisms, "6.3.4": _time_frame, "6.3.6": _third_parties, "6.4.1": _preprocessing,
    "6.4.2": _raw, "6.4.3": _software, "6.5.3": _other_tasks, "6.5.4": _impact_on_uses, "6.7.3": _withdrawn,
}  # fmt: skip
"""Question → function that answers it, or that adds to the publishers' answer."""
