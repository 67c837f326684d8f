"""How likely each segment of a text describes an image, and the run of segments that does.

A logistic regression over the form of a segment and its surroundings: words of closed classes (``cues`` of the language's data
file), each word by its hash, signs of appeals (telephone numbers, links, labels, prices), of images (articles, gerunds, places),
position. Words
in quotation marks or in an announced transcript ("Texto: ...") are text of the image, whatever they say.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

from components.language.logistic import probability
from components.stages.extract_descriptions.forms import form_of, hashed_words
from components.stages.extract_descriptions.rules import Rules
from components.stages.extract_descriptions.segments import Segment, split
from components.stages.extract_descriptions.words import words_of

START = 3.0
"""Log odds that the segments before a description must lose by, together: most captions begin with their description."""
_SPACER = re.compile(r"\n(?:[^\w\n\"”»’')\]}]++(?=\n|$))")
"""A line of marks alone."""
BIAS = "bias"
"""The weight of every segment."""


_SPEAKS = ("appeals", "we", "phone", "address", "account", "link", "label", "asks something", "begins source", "hashtag")
_ADDRESSES = ("you", "we", "asks")
_INTERNAL = frozenset(("capitals", "evidence", "finished"))
"""What a segment is like that counts only beside what surrounds it."""
_LINE, _BLANK = 2, 3
"""A transcript goes on over a blank line (``_LINE``: over a line break, 1: in its line)."""
_NEAR = 3
"""Segments around one in which an appeal counts."""
_LEAST_EVIDENCE = (1, 2, 3, 4)
_LEAST_REPEATED = 5
"""Words of a segment that says nothing new where it stands again."""


def features(text: str, segments: list[Segment], rules: Rules) -> list[dict[str, float]]:
    """Return the features of each segment by name; absent ones are 0."""
    forms = [form_of(text[segment.start : segment.end], rules) for segment in segments]
    rows: list[dict[str, float]] = []
    begun, transcript, shown = False, 0, 0
    capitals = text.isupper()
    whole = _Whole.of(forms)
    for at, (segment, form) in enumerate(zip(segments, forms, strict=True)):
        if transcript and segment.gap in ("line", "blank"):
            transcript = max(transcript, _LINE if segment.gap == "line" else _BLANK)
        gap = segment.gap if begun else "start"
        begun = begun or not form.get("only marks")
        inside = bool(transcript) and not form.get("shows image")
        if transcript:
            form.pop("foreign", None)
        row = _own(form, gap, paragraph=begun and (gap in ("line", "blank") or segment.spacer))
        row |= {f"gap {gap}": 1.0, "spacer": float(segment.spacer), f"transcript {transcript}": float(transcript > 0)}
        row |= _around(forms, at, gap, shown, whole)
        row["capitals alone"] = float(bool(form.get("capitals")) and not capitals)
        row["dash again"] = float(gap == "dash" and at > 1 and segments[at - 1].gap == "dash")
        place = "paragraph" if gap in ("line", "blank") or segment.spacer else "sentence"
        context = "first" if gap == "start" else f"transcript {place}" if inside else place
        present = {name: value for name, value in row.items() if value}
        present |= {f"{name} in {context}": value for name, value in present.items()} | {f"in {context}": 1.0}
        rows.append(present | dict.fromkeys(hashed_words(text[segment.start : segment.end], rules), 1.0))
        shown += bool(form.get("shows image"))
        transcript = _after(transcript, form)
    return rows


def _own(form: Mapping[str, float], gap: str, *, paragraph: bool) -> dict[str, float]:
    """Return the features of a segment by itself, and as the beginning of a paragraph."""
    row = {name: value for name, value in form.items() if name not in _INTERNAL}
    evidence = form.get("evidence", 0)
    row |= {f"evidence {least}": float(evidence >= least) for least in _LEAST_EVIDENCE}
    if paragraph:
        plainly = evidence >= 1 and not any(form.get(name) for name in _SPEAKS)
        row["paragraph that shows"] = float(plainly)
        row["paragraph that shows much"] = float(plainly and evidence >= _LEAST_EVIDENCE[2])
    return row


class _Whole(NamedTuple):
    """What holds of a whole caption; found once, so that the work is linear."""

    nothing: bool
    """Whether no segment shows an image."""
    appeals: bool
    """Whether a segment appeals."""
    last_opening: int
    """The last segment in which an image opens; -1 for none."""

    @classmethod
    def of(cls, forms: list[dict[str, float]]) -> _Whole:
        opening = max((at for at, form in enumerate(forms) if form.get("an image opens")), default=-1)
        return cls(not any(form.get("shows image") for form in forms), any(_appeals(form) for form in forms), opening)


def _around(forms: list[dict[str, float]], at: int, gap: str, shown: int, whole: _Whole) -> dict[str, float]:
    """Return the features of what stands before and behind a segment; ``shown``: segments before it that show an image."""
    form, later = forms[at], forms[at + 1 : at + 1 + _NEAR]
    previous = forms[at - 1] if at else {}
    following = later[0] if later else {}
    evidence = form.get("evidence", 0)
    brief = bool(form.get("short") or form.get("one word"))
    hangs = bool(form.get("ends in colon")) and (not following or _appeals(following))
    opens_later = not shown and whole.last_opening > at
    row = {
        "before colon": bool(following.get("begins with colon")),
        "after colon": bool(previous.get("ends in colon")),
        "no evidence yet": not shown and not evidence,
        "little evidence yet": not shown and evidence == 1,
        "image opens later": opens_later and not form.get("an image opens"),
        "nothing shows": whole.nothing,
        "nothing shows but appeals": whole.nothing and whole.appeals,
        "nothing shows, no evidence": whole.nothing and not evidence,
        "described before": shown > 0,
        "describes after": any(other.get("shows image") for other in later),
        "after unfinished": bool(previous) and not previous.get("finished"),
        "after a signature": bool(previous.get("capitals") and previous.get("one word")),
        "after an address": _addresses(previous),
        "before an address": gap != "start" and _addresses(following),
        "after an item": bool(previous.get("item")),
        "item again": bool(previous.get("item") and form.get("item")),
        "before an item": bool(following.get("item")),
        "appeal before": _appeals(previous),
        "appeal after": gap != "start" and _appeals(following),
        "appeal near before": any(_appeals(other) for other in forms[max(0, at - _NEAR) : at]),
        "appeal near after": gap != "start" and any(_appeals(other) for other in later),
        "last": not following,
        "one word at the end": not following and bool(form.get("one word")),
        "short at the end": not following and bool(form.get("short")),
        "names at the end": not following and brief and bool(form.get("names only")),
        "hanging label": hangs,
        "short hanging label": hangs and brief,
    }
    return {name: float(value) for name, value in row.items()}


def _after(transcript: int, form: Mapping[str, float]) -> int:
    """Return how far a transcript goes on behind a segment; 0: it is over."""
    if form.get("opens transcript"):
        return 1
    if transcript == _BLANK and not _appeals(form):
        return _LINE
    return 0 if form.get("shows image") and transcript > 1 else transcript


def _appeals(form: Mapping[str, float]) -> bool:
    """Return whether a segment outside transcripts plainly appeals: it tells how to get in touch or where something came from."""
    told = any(form.get(name) for name in ("phone", "address", "link", "begins source", "torn account", "mail"))
    return (told or form.get("appeals", 0) >= 2) and not form.get("shows image")


def _addresses(form: Mapping[str, float]) -> bool:
    """Return whether a segment speaks to somebody and shows nothing."""
    return any(form.get(name) for name in _ADDRESSES) and not form.get("evidence")


def scores(text: str, segments: list[Segment], rules: Rules, weights: Mapping[str, float]) -> list[float]:
    """Return the log odds of each segment that it describes an image; one that repeats an earlier one has 0."""
    rows = features(text, segments, rules)
    odds = [weights[BIAS] + math.fsum(weights.get(name, 0.0) * value for name, value in row.items()) for row in rows]
    seen: set[tuple[str, ...]] = set()
    for at, segment in enumerate(segments):
        said = tuple(word.folded for word in words_of(text[segment.start : segment.end]))
        odds[at] = 0.0 if said in seen and len(said) >= _LEAST_REPEATED else odds[at]
        seen.add(said)
    return odds


def best_run(values: list[float], start: float = 0.0) -> tuple[int, int] | None:
    """Return the first and the last of the adjacent segments whose log odds have the highest sum; None if no sum is above 0.

    ``start`` is the sum that a run loses by not beginning at the first segment.
    """
    best, found = 0.0, None
    whole, total, begin = 0.0, 0.0, 1
    for at, value in enumerate(values):
        whole += value
        if total <= 0:
            total, begin = 0.0, max(at, 1)
        total += value if at else 0.0
        for sum_, first in ((whole, 0), (total - start, begin)):
            if sum_ > best and first <= at:
                best, found = sum_, (first, at)
    return found


def describing(text: str, rules: Rules) -> tuple[str, float]:
    """Return the part of a text that describes an image, and the probability of its likeliest segment.

    A text in which no segment is likely to describe is returned whole.
    """
    segments = split(text, rules)
    values = scores(text, segments, rules, rules.weights)
    run = best_run(values, START)
    part = text[segments[run[0]].start : segments[run[1]].end] if run else text
    return _SPACER.sub("\n", part), probability(max(values))
