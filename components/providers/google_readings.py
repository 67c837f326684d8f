"""Converts Google's sentiment, moderation, labels and SafeSearch to the values that the filter's rules compare.

Every answer gives a value; a field that is not of the documented form counts as absent.
"""

from __future__ import annotations

from typing import Any

from components.vision.labels import Label

PROFANE = frozenset({"Profanity", "Sexual", "Toxic", "Insult", "Derogatory"})
"""Moderation categories that make a text profane. The others (Violent, Health, Politics, War & Conflict, Finance ...) are
topics, which captions may have."""

ADULT = {"VERY_UNLIKELY": 0.0, "UNLIKELY": 0.2, "POSSIBLE": 0.4, "LIKELY": 0.8, "VERY_LIKELY": 1.0}
"""SafeSearch's likelihood of ``adult`` → score: LIKELY and above exceed .5, as Google recommends; UNKNOWN is 0."""
RACY = {"VERY_UNLIKELY": 0.0, "UNLIKELY": 0.1, "POSSIBLE": 0.2, "LIKELY": 0.4, "VERY_LIKELY": 0.6}
"""``racy`` → score: only VERY_LIKELY exceeds .5, since swimwear is not pornography."""


def polarity(answer: Any) -> float:
    """Return the document's sentiment score, -1 to 1."""
    sentiment = answer.get("documentSentiment") if isinstance(answer, dict) else None
    return max(-1.0, min(1.0, _number(sentiment.get("score") if isinstance(sentiment, dict) else None)))


def profanity(answer: Any) -> float:
    """Return the highest confidence among the profane categories, 0 to 1."""
    listed = answer.get("moderationCategories") if isinstance(answer, dict) else None
    confidences = [
        _number(category.get("confidence"))
        for category in (listed if isinstance(listed, list) else [])
        if isinstance(category, dict) and isinstance(category.get("name"), str) and category["name"] in PROFANE
    ]
    return max(0.0, min(1.0, max(confidences, default=0.0)))


def pornography(answer: Any) -> float:
    """Return the higher of the scores of ``adult`` and ``racy``, 0 to 1."""
    annotation = answer.get("safeSearchAnnotation") if isinstance(answer, dict) else None
    if not isinstance(annotation, dict):
        return 0.0
    return max(table.get(str(annotation.get(name)), 0.0) for name, table in (("adult", ADULT), ("racy", RACY)))


def labels(answer: Any, *, least: int, most: int, min_confidence: float) -> list[Label]:
    """Return the labels by falling confidence, with their Knowledge Graph identifiers.

    Args:
        answer: Google's answer.
        least, most: bounds on the number of labels (fewer than ``least`` if the answer has fewer).
        min_confidence: labels below it are dropped beyond the first ``least``.
    """
    listed = answer.get("labelAnnotations") if isinstance(answer, dict) else None
    distinct: dict[tuple[str, str], Label] = {}
    for entry in listed if isinstance(listed, list) else []:
        name = entry.get("description") if isinstance(entry, dict) else None
        if isinstance(name, str) and name.strip():
            mid = entry.get("mid") if isinstance(entry.get("mid"), str) else ""
            score = round(max(0.0, min(1.0, _number(entry.get("score")))), 4)
            label = Label((" ".join(name.lower().split()),), score, mid)
            distinct.setdefault((label.names[0], mid), label)
    ranked = sorted(distinct.values(), key=lambda label: (-label.confidence, label.names, label.identifier))
    return [label for rank, label in enumerate(ranked[:most]) if rank < least or label.confidence >= min_confidence]


def _number(value: Any) -> float:
    """Return a score as a number; 0 for NaN, other types and values beyond 10⁶."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -1e6 <= value <= 1e6:
        return 0.0
    return float(value)
