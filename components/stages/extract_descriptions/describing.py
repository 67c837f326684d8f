"""How likely each segment of a text describes an image, and the run of segments that does.

A logistic regression over the form of a segment and its surroundings: words of closed classes (``cues`` of the language's data
file), signs of appeals (telephone numbers, links, labels, prices), signs of images (articles, gerunds, places), position. Words
in quotation marks or in an announced transcript ("Texto: ...") are text of the image, whatever they say.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from components.core.hashtags import HASHTAG
from components.language.logistic import probability
from components.stages.extract_descriptions.bounds import is_label
from components.stages.extract_descriptions.languages import is_own
from components.stages.extract_descriptions.marks import LINK, MAIL, MENTION, QUOTATION, without_marks
from components.stages.extract_descriptions.plain_text import without_emoji
from components.stages.extract_descriptions.rules import Rules
from components.stages.extract_descriptions.segments import Segment, split
from components.stages.extract_descriptions.trailers import is_known
from components.stages.extract_descriptions.words import words_of

_PHONE = re.compile(r"(?<![\d/.,-])(?:\+?55\s*)?(?:\(?0?\d{2}\)\s*|\d{2}[ -]?)?(?:9[ .-]?)?(\d{4})[ .-]?(\d{4})(?![\d/,-])")
_YEAR = re.compile(r"(?:19|20)\d\d")
_PRICE = re.compile(r"R\$\s*\d|\d%")
_NUMBER = re.compile(r"\d")
_CAMERAS = ("📷", "📸", "🎥", "📹", "🎞", "©", "🖼")
_LABEL = re.compile(r"\W*(?:[^\W\d_]+[ \t]*){1,3}[:：]")
_TRANSCRIPT_COLON = re.compile(r"[:：](?!\s*+[\"“«'‘])")
_TORN_ACCOUNT = re.compile(r"(?:^|\s)\.[a-z]|^\W*\w+\.[a-z]{3,}[\w.]*\W*$")
_ANNOUNCED = re.compile(r"([^.:\n]*+)[:：](?=\s*+\S)")
_ANNOUNCING = 6
"""Words before a colon among which one announces a text."""
_UNCLOSED = re.compile(r"(?<!\w)[“«\"](?=\w)")
_DIRECT_SPEECH = re.compile(r"[:：][\s\-–—]*+$")
_GERUND = re.compile(r"(?:[aei]ndo)$")
_PARTICIPLE = re.compile(r"(?:[ai]d[oa]s?)$")
_INFINITIVE = re.compile(r"^[a-z]{2,}(?:[aei]r)$")
_PLACING = frozenset(
    (
        "a",
        "o",
        "ao",
        "no",
        "na",
        "nos",
        "nas",
        "em",
        "do",
        "da",
        "mais",
        "logo",
        "atrás",
        "abaixo",
        "acima",
        "embaixo",
        "sobre",
        "sob",
    )
)
_ARTICLES = frozenset(("um", "uma", "dois", "duas", "três", "quatro", "vários", "várias", "o", "a", "os", "as"))
_WE = re.compile(r"(?:[aei]mos|[b-df-hj-np-tv-z]ei)$")
_PAST = re.compile(r"(?:[b-df-hj-np-tv-z]ou|[aei]ram)$")

_START = 3.0
"""Log odds that the segments before a description must lose by, together: most captions begin with their description."""
_SPACER = re.compile(r"\n(?:[^\w\n\"”»’')\]}]++(?=\n|$))")
"""A line of marks alone."""
BIAS = "bias"
"""The weight of every segment."""
APPEALS = ("you", "we", "asks", "sells", "contacts", "cites")
"""Cues of a segment that addresses, sells, cites or signs; in a transcript they count apart."""
_SPEECH = (*APPEALS, "argues", "dates")
_LONG = 10
"""Words of a segment in which one word that speaks counts half."""
_SHOWS = ("depicts", "places", "colours", "letters", "shows", "bodies")


def spoken(text: str, rules: Rules) -> str:
    """Return a segment without emoji and without the text of the image: what it quotes or announces ("lê-se: ...")."""
    bare = QUOTATION.sub(" “” ", text)
    unclosed = _UNCLOSED.search(bare)
    if unclosed:
        bare = bare[: unclosed.start()] + " “”"
    for match in _ANNOUNCED.finditer(bare):
        words = {word.lower() for word in match[1].split()[-_ANNOUNCING:]}
        if words & rules.cues["letters"] and not words & rules.cues["contacts"]:
            bare = bare[: match.end()] + " “”"
            break
    return without_emoji(bare)


def has_phone(text: str) -> bool:
    """Return whether a text has a telephone number: eight or nine digits, with or without an area code; not two years."""
    return any(not (_YEAR.fullmatch(match[1]) and _YEAR.fullmatch(match[2])) for match in _PHONE.finditer(text))


def features(text: str, segments: list[Segment], rules: Rules) -> list[dict[str, float]]:
    """Return the features of each segment by name; absent ones are 0."""
    forms = [_form(text[segment.start : segment.end], rules) for segment in segments]
    rows: list[dict[str, float]] = []
    begun, since_appeal = False, _NEAR + 1
    all_capitals = text.isupper()
    transcript, shown = 0, 0
    for at, (segment, form) in enumerate(zip(segments, forms, strict=True)):
        if transcript and segment.gap in ("line", "blank"):
            transcript = max(transcript, 2 if segment.gap == "line" else _BLANK)
        gap = segment.gap if begun else "start"
        row = {f"gap {gap}": 1.0, "spacer": float(segment.spacer)}
        plainly = form.get("evidence", 0) >= 1 and not any(form.get(name) for name in _SPEAKS)
        begun = begun or not form.get("only marks")
        if begun and (gap in ("line", "blank") or segment.spacer):
            row["paragraph that shows"] = float(plainly)
            row["paragraph that shows much"] = float(plainly and form["evidence"] >= 3)
        for least in (1, 2, 3, 4):
            row[f"evidence {least}"] = float(form.get("evidence", 0) >= least)
        inside = bool(transcript) and not form.get("shows image")
        if transcript:
            form.pop("foreign", None)
        row.update((name, value) for name, value in form.items() if name not in _INTERNAL)
        if transcript:
            row[f"transcript {transcript}"] = 1.0
        following = forms[at + 1] if at + 1 < len(forms) else {}
        previous = forms[at - 1] if at else {}
        row["before colon"] = float(bool(following.get("begins with colon")))
        row["no evidence yet"] = float(not shown and not form.get("evidence"))
        row["little evidence yet"] = float(not shown and form.get("evidence", 0) == 1)
        row["capitals alone"] = float(bool(form.get("capitals")) and not all_capitals)
        row["after unfinished"] = float(bool(previous) and not previous.get("finished"))
        row["last"] = float(at == len(forms) - 1)
        row["described before"] = float(shown > 0)
        row["describes after"] = float(any(later.get("shows image", 0) for later in forms[at + 1 : at + 4]))
        row["appeal before"] = float(_appeals(previous))
        row["appeal after"] = float(gap != "start" and _appeals(following))
        row["after a signature"] = float(bool(previous.get("capitals") and previous.get("one word")))
        row["dash again"] = float(gap == "dash" and at > 1 and segments[at - 1].gap == "dash")
        row["one word at the end"] = float(not following and bool(form.get("one word")))
        row["short at the end"] = float(not following and bool(form.get("short")))
        row["appeal near before"] = float(since_appeal <= _NEAR)
        row["appeal near after"] = float(gap != "start" and any(_appeals(later) for later in forms[at + 1 : at + 1 + _NEAR]))
        hangs = bool(form.get("ends in colon")) and (not following or _appeals(following))
        row["hanging label"] = float(hangs)
        row["short hanging label"] = float(hangs and bool(form.get("short") or form.get("one word")))
        row["after colon"] = float(previous.get("ends in colon", 0))
        if gap == "start":
            context = "first"
        else:
            context = ("transcript " if inside else "") + (
                "paragraph" if gap in ("line", "blank") or segment.spacer else "sentence"
            )
        rows.append({name: value for name, value in row.items() if value})
        rows[-1].update((f"{name} in {context}", value) for name, value in row.items() if value)
        rows[-1][f"in {context}"] = 1.0
        since_appeal = 1 if _appeals(form) else since_appeal + 1
        shown += bool(form.get("shows image"))
        if form.get("opens transcript"):
            transcript = 1
        elif transcript == _BLANK and not _appeals(form):
            transcript = _BLANK - 1
        elif form.get("shows image") and transcript > 1:
            transcript = 0
    return rows


_SPEAKS = ("appeals", "we", "phone", "address", "account", "link", "label", "asks something", "begins source", "hashtag")
_INTERNAL = frozenset(("capitals", "evidence", "finished", "opens transcript ahead"))


def _is_handle(word: str) -> bool:
    """Return whether a word is no word of a language: letters that no list has, or letters and digits."""
    mixed = word.isalnum() and not word.isalpha() and not word.isdigit() and len(word) > _SHORT
    return mixed or (word.isalpha() and not is_known(word))


def _appeals(form: Mapping[str, float]) -> bool:
    """Return whether a segment outside transcripts plainly appeals: it tells how to get in touch or where something came from."""
    told = any(form.get(name) for name in ("phone", "address", "link", "begins source", "torn account", "mail"))
    return (told or form.get("appeals", 0) >= 2) and not form.get("shows image")


_BLANK = 3
"""A transcript goes on over a blank line (2: over a line break, 1: in its line)."""
_LEAST_SAID = 2
"""Words of a segment that a colon ends, below which it is a label; above, somebody speaks or a text follows."""
_SHORT = 4
_NEAR = 3
"""Segments around one in which an appeal counts."""


def _form(piece: str, rules: Rules) -> dict[str, float]:
    bare = spoken(piece, rules)
    words = words_of(bare)
    folded = [word.folded for word in words]
    spelled = [bare[word.start : word.end] for word in words]
    count = len(words)
    row: dict[str, float] = {}
    lowered = [word.lower() for word in spelled]
    for name, listed in rules.cues.items():
        hits = sum(word in listed for word in lowered)
        if hits:
            row[name] = min(hits, 3) / (1 + count / _LONG if name in _SPEECH else 1)
    row["we"] = row.get("we", 0) + sum(
        len(word) > 4 and bool(_WE.search(word)) and word not in rules.cues["shows"] for word in lowered
    )
    row["gerund"] = min(sum(bool(_GERUND.search(word)) and len(word) > 4 for word in folded), 2)
    row["participle"] = min(sum(bool(_PARTICIPLE.search(word)) and len(word) > 4 for word in folded), 2)
    row["only marks"] = float(not words_of(without_marks(bare)))
    row["hashtag"] = len(HASHTAG.findall(bare)) / max(count, 1)
    row["account"] = 2 * len(MENTION.findall(bare)) / max(count, 2)
    row["link"] = float(bool(LINK.search(MAIL.sub(" ", bare))))
    row["phone"] = float(has_phone(bare))
    row["mail"] = float(bool(MAIL.search(bare)))
    row["com"] = float("com" in folded)
    row["infinitive"] = min(sum(bool(_INFINITIVE.search(word)) for word in folded), 2)
    row["begins with an infinitive"] = float(any(_INFINITIVE.search(word) for word in folded[:2]))
    row["past"] = min(sum(bool(_PAST.search(word)) and len(word) > 4 for word in folded), 2)
    row["begins in a place"] = float(
        bool(folded) and lowered[0] in _PLACING and any(word in rules.cues["places"] for word in lowered[:3])
    )
    row["begins with an image"] = float(any(word in rules.cues["depicts"] for word in lowered[:3]))
    row["begins with a noun"] = float(bool(folded) and (lowered[0] in rules.cues["depicts"] or lowered[0] in _ARTICLES))
    row["price"] = float(bool(_PRICE.search(bare)))
    row["number"] = float(bool(_NUMBER.search(bare)))
    row["number only"] = float(count > 0 and all(not word.isalpha() for word in folded))
    row["address"] = float(bool(folded) and lowered[0] in rules.cues["streets"] and any(word.isdigit() for word in folded))
    row["begins appeal"] = float(bool(folded) and any(lowered[0] in rules.cues[name] for name in ("asks", "sells", "contacts")))
    row["begins source"] = float(any(word in rules.cues["cites"] for word in lowered[:2]))
    row["label"] = float(
        bool(_LABEL.match(bare)) and not (folded and lowered[0] in rules.cues["letters"] | rules.cues["depicts"])
    )
    row["ends in colon"] = float(bool(_DIRECT_SPEECH.search(piece)))
    row["begins with colon"] = float(bare.lstrip()[:1] == ":")
    row["asks something"] = float("?" in bare)
    row["exclaims"] = float("!" in bare)
    row["emoji"] = float(without_emoji(piece) != piece)
    row["camera"] = float(piece.lstrip().startswith(_CAMERAS))
    row["begins with emoji"] = float(without_emoji(piece[:8]).startswith(" ") and not piece[:1].isspace())
    row["quotation"] = float(bool(QUOTATION.search(piece)))
    row["begins with a star"] = float(piece.lstrip(" (-").startswith("*"))
    row["image label"] = float(is_label(bare[:80], rules))
    row["one word"] = float(count == 1)
    row["short"] = float(1 < count <= 3)
    row["lower case"] = float(bool(spelled) and spelled[0][:1].islower())
    row["capitals"] = float(count > 0 and bare.isupper())
    letters = [word for word in spelled if word.lower() not in rules.stranded]
    row["names only"] = float(bool(letters) and all(not word[0].islower() for word in letters))
    labelled = _LABEL.match(bare)
    credited = words_of(bare[labelled.end() :]) if labelled and not row["image label"] else []
    named = [bare[labelled.end() :][word.start : word.end] for word in credited] if labelled else []
    row["credit"] = float(bool(named) and all(not name[0].islower() or name in rules.stranded for name in named))
    row["stranded"] = float(bool(spelled) and spelled[-1] in rules.stranded)
    row["foreign"] = float(
        any(word in rules.other_words for word in lowered) and not any(is_own(word, rules) for word in lowered)
    )
    appeals = sum(bool(row.get(name)) for name in ("you", "asks", "sells", "contacts", "phone", "link", "account", "address"))
    row["appeals"] = min(appeals, 3)
    row["evidence"] = float(sum(name in row for name in _SHOWS) + bool(row["gerund"]) + bool(row["participle"]))
    row["finished"] = float(piece.rstrip()[-1:] in tuple(".!?…:;\"”»’')]"))
    row["torn account"] = float(bool(_TORN_ACCOUNT.search(bare)))
    row["unknown word"] = float(count == 1 and _is_handle(spelled[0]))
    row["shows image"] = float(sum(name in row for name in _SHOWS) >= 2 or "depicts" in row)
    unquoted = QUOTATION.sub(" “” ", piece)
    announces = bool(_TRANSCRIPT_COLON.search(unquoted)) or lowered[:1] == ["texto"]
    row["opens transcript"] = float("letters" in row and announces)
    speaks = any(row.get(name) for name in (*APPEALS, "address", "image label"))
    row["opens transcript"] = max(
        row["opens transcript"], float(bool(row["ends in colon"]) and count > _LEAST_SAID and not speaks)
    )
    return {name: float(value) for name, value in row.items() if value}


def scores(text: str, segments: list[Segment], rules: Rules, weights: Mapping[str, float]) -> list[float]:
    """Return the log odds of each segment that it describes an image."""
    rows = features(text, segments, rules)
    return [weights[BIAS] + math.fsum(weights.get(name, 0.0) * value for name, value in row.items()) for row in rows]


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
    run = best_run(values, _START)
    part = text[segments[run[0]].start : segments[run[1]].end] if run else text
    return _SPACER.sub("\n", part), probability(max(values))
