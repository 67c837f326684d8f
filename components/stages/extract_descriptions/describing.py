"""How likely each segment of a text describes an image, and the run of segments that does.

A logistic regression over the form of a segment and its surroundings: words of closed classes (``cues`` of the language's data
file), each word by its hash, signs of appeals (telephone numbers, links, labels, prices), of images (articles, gerunds, places),
position. Words in quotation marks or in an announced transcript ("Texto: ...") are text of the image, whatever they say.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

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
    nothing = not any(form.get("shows image") for form in forms)
    for at, (segment, form) in enumerate(zip(segments, forms, strict=True)):
        if transcript and segment.gap in ("line", "blank"):
            transcript = max(transcript, _LINE if segment.gap == "line" else _BLANK)
        gap = segment.gap if begun else "start"
        begun = begun or not form.get("only marks")
        inside = bool(transcript) and not form.get("shows image")
        if transcript:
            form.pop("foreign", None)
        row = _own(form)
        row |= {f"gap {gap}": 1.0, "spacer": float(segment.spacer), f"transcript {transcript}": float(transcript > 0)}
        row |= _around(forms, at, gap, shown) | {"nothing shows": float(nothing)}
        row["capitals alone"] = float(bool(form.get("capitals")) and not capitals)
        place = "paragraph" if gap in ("line", "blank") or segment.spacer else "sentence"
        context = "first" if gap == "start" else f"transcript {place}" if inside else place
        present = {name: value for name, value in row.items() if value}
        present |= {f"{name} in {context}": value for name, value in present.items()} | {f"in {context}": 1.0}
        rows.append(present | dict.fromkeys(hashed_words(text[segment.start : segment.end], rules), 1.0))
        shown += bool(form.get("shows image"))
        transcript = _after(transcript, form)
    return rows


def _own(form: Mapping[str, float]) -> dict[str, float]:
    """Return the features of a segment by itself."""
    row = {name: value for name, value in form.items() if name not in _INTERNAL}
    evidence = form.get("evidence", 0)
    row |= {f"evidence {least}": float(evidence >= least) for least in _LEAST_EVIDENCE}
    return row


def _around(forms: list[dict[str, float]], at: int, gap: str, shown: int) -> dict[str, float]:
    """Return the features of what stands before and behind a segment; ``shown``: segments before it that show an image."""
    form, later = forms[at], forms[at + 1 : at + 1 + _NEAR]
    previous = forms[at - 1] if at else {}
    following = later[0] if later else {}
    evidence = form.get("evidence", 0)
    row = {
        "before colon": bool(following.get("begins with colon")),
        "after colon": bool(previous.get("ends in colon")),
        "no evidence yet": not shown and not evidence,
        "described before": shown > 0,
        "describes after": any(other.get("shows image") for other in later),
        "after unfinished": bool(previous) and not previous.get("finished"),
        "appeal before": _appeals(previous),
        "appeal after": gap != "start" and _appeals(following),
        "appeal near before": any(_appeals(other) for other in forms[max(0, at - _NEAR) : at]),
        "appeal near after": gap != "start" and any(_appeals(other) for other in later),
        "last": not following,
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


def scores(text: str, segments: list[Segment], rules: Rules, weights: Mapping[str, float]) -> list[float]:
    """Return the log odds of each segment that it describes an image; behind an unlikely one, one that was said before has 0."""
    rows = features(text, segments, rules)
    odds = [weights[BIAS] + math.fsum(weights.get(name, 0.0) * value for name, value in row.items()) for row in rows]
    seen: set[tuple[str, ...]] = set()
    doubtful = False
    for at, segment in enumerate(segments):
        said = tuple(word.folded for word in words_of(text[segment.start : segment.end]))
        doubtful = doubtful or odds[at] < 0
        odds[at] = 0.0 if doubtful and said in seen and len(said) >= _LEAST_REPEATED else odds[at]
        seen.add(said)
    return odds


def best_run(values: list[float], start: float = 0.0) -> tuple[float, int, int]:
    """Return the highest sum of log odds of adjacent segments, and the first and the last of them.

    ``start`` is the sum that a run loses by not beginning at the first segment.
    """
    best, found = -math.inf, (0, 0)
    whole, total, begin = 0.0, -math.inf, 1
    for at, value in enumerate(values):
        whole += value
        if at and total <= 0:
            total, begin = 0.0, at
        total += value
        for sum_, first in ((whole, 0), (total - start, begin)):
            if sum_ > best and first <= at:
                best, found = sum_, (first, at)
    return best, *found


def describing(text: str, rules: Rules) -> tuple[str, float]:
    """Return the likeliest run of segments to describe an image, and the probability that one does.

    A text that is likelier to have none is returned whole.
    """
    segments = split(text, rules)
    best, first, last = best_run(scores(text, segments, rules, rules.weights), START)
    part = text[segments[first].start : segments[last].end] if best > 0 else text
    return _SPACER.sub("\n", part), probability(best)
