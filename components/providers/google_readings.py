"""Google's sentiment, moderation, labels and SafeSearch read as the values the rules compare with.

Whatever the answer holds, there is a value; what is not of the documented form counts as "nothing found".
"""

from __future__ import annotations

from typing import Any

from components.vision.labels import Label

PROFANE = frozenset({"Profanity", "Sexual", "Toxic", "Insult", "Derogatory"})
"""Moderation's categories that make a text profane. The others (Violent, Health, Politics, War & Conflict, Finance ...) are
topics, and captions may have any."""

ADULT = {"VERY_UNLIKELY": 0.0, "UNLIKELY": 0.2, "POSSIBLE": 0.4, "LIKELY": 0.8, "VERY_LIKELY": 1.0}
"""SafeSearch's likelihood of ``adult`` → score: from .5 is LIKELY and more, as Google advises; UNKNOWN is 0."""
RACY = {"VERY_UNLIKELY": 0.0, "UNLIKELY": 0.1, "POSSIBLE": 0.2, "LIKELY": 0.4, "VERY_LIKELY": 0.6}
"""``racy`` → score: swimwear is no pornography, so it takes VERY_LIKELY to reach .5."""


def polarity(answer: Any) -> float:
    """The document's sentiment score, -1 to 1."""
    found = answer.get("documentSentiment") if isinstance(answer, dict) else None
    return max(-1.0, min(1.0, _number(found.get("score") if isinstance(found, dict) else None)))


def profanity(answer: Any) -> float:
    """The highest confidence among the profane categories, 0 to 1."""
    listed = answer.get("moderationCategories") if isinstance(answer, dict) else None
    found = [
        _number(each.get("confidence"))
        for each in (listed if isinstance(listed, list) else [])
        if isinstance(each, dict) and isinstance(each.get("name"), str) and each["name"] in PROFANE
    ]
    return max(0.0, min(1.0, max(found, default=0.0)))


def pornography(answer: Any) -> float:
    """The higher of the scores of ``adult`` and ``racy``, 0 to 1."""
    found = answer.get("safeSearchAnnotation") if isinstance(answer, dict) else None
    if not isinstance(found, dict):
        return 0.0
    return max(table.get(str(found.get(name)), 0.0) for name, table in (("adult", ADULT), ("racy", RACY)))


def labels(answer: Any, *, least: int, most: int, min_confidence: float) -> list[Label]:
    """The labels, surest first, with their Knowledge Graph identifiers: those of ``min_confidence``, but at least
    ``least`` (as far as there are so many) and at most ``most``."""
    listed = answer.get("labelAnnotations") if isinstance(answer, dict) else None
    found: dict[tuple[str, str], Label] = {}
    for each in listed if isinstance(listed, list) else []:
        name = each.get("description") if isinstance(each, dict) else None
        if isinstance(name, str) and name.strip():
            mid = each.get("mid") if isinstance(each.get("mid"), str) else ""
            score = round(max(0.0, min(1.0, _number(each.get("score")))), 4)
            label = Label((" ".join(name.lower().split()),), score, mid)
            found.setdefault((label.names[0], mid), label)
    ranked = sorted(found.values(), key=lambda label: (-label.confidence, label.names, label.identifier))
    return [label for rank, label in enumerate(ranked[:most]) if rank < least or label.confidence >= min_confidence]


def _number(value: Any) -> float:
    """A number that can be a score; NaN and what is far off count as none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -1e6 <= value <= 1e6:
        return 0.0
    return float(value)
