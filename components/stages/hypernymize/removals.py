"""Steps that remove dates, amounts and quotes (locations: ``locations``; modifiers: ``modifiers``).

Source: CC §3, "the following steps are applied"; quotes and brands are ours. Each step changes the sentence in place and returns
the reason, or "" if it removed nothing.
"""

from __future__ import annotations

from components.knowledge.cascade import Knowledge
from components.stages.hypernymize.dates import CALENDAR, RELATIVE
from components.stages.hypernymize.locations import lead_positions
from components.stages.hypernymize.sentence import NUMBERS, SEVERAL, SUBJECTS, Entity, Sentence, Word

NAMING = frozenset({"call", "name", "title", "entitle", "label", "dub", "nickname", "date"})
SAYING = frozenset({"say", "read", "spell", "state"})
"""Verbs whose object is what is written on something."""
WORDS = frozenset({"word", "phrase", "letter", "text", "slogan", "inscription", "motto"})
"""Nouns that say nothing without the quotation after them."""
QUOTES = {"“": "”", "‘": "’", '"': '"', "'": "'", "«": "»", "`": "'", "``": "''", "„": "“"}
CURRENCY = frozenset("$€£¥₹")
_APPROXIMATE = "more than, less than, fewer than, up to, at least, at most, over, about, around, nearly, almost, just, only, some"
APPROXIMATE = tuple(_APPROXIMATE.split(", "))
"""Words before an amount that qualify it, longest first."""
EXTENT = frozenset({"long", "high", "tall", "wide", "deep", "thick", "old", "away"})


def strip_dates(sentence: Sentence, knowledge: Knowledge) -> str:
    """Remove dates, times and durations, with their preposition."""
    struck = []
    for entity in sentence.entities:
        holiday = entity.kind in ("EVENT", "DATE") and _is_holiday(sentence, entity)
        timely = entity.kind in ("DATE", "TIME") and _dated(sentence, entity)
        if not sentence.living(entity) or not (timely or holiday):
            continue
        if subject := _subject_year(sentence, entity):
            struck.append(sentence.strike(subject))
            continue
        modified = sentence.modifies(entity.start, entity.end)
        end, owns = _genitive(sentence, entity)
        owns = owns or _goes_on(sentence, end, ("NOUN", "ADJ")) or sentence.text_of(end, end + 2) in (", file", ", photo")
        start = entity.start
        if owns and sentence.words[start].pos == "DET" and sentence.words[start].text.lower() not in ("last", "next"):
            start += 1  # "in a fall 2015 team photo", "in this May 25, 2005, file photo"
        struck.append(sentence.strike(range(start, end + (sentence.text_of(end, end + 1) == "," and owns))))
        if modified is None and not owns:
            _strike_lead(sentence, entity.start, goes_on=_goes_on(sentence, end))
    return f"date or duration: {'; '.join(struck)}" if struck else ""


def _subject_year(sentence: Sentence, entity: Entity) -> list[int]:
    """Return the positions of the numbers of a date that is a subject with a noun of its own: "the year 2012 was"."""
    span = range(entity.start, entity.end)
    noun = any(sentence.words[at].dep in SUBJECTS and sentence.words[at].pos == "NOUN" for at in span)
    return [at for at in span if sentence.words[at].text.isdigit()] if noun else []


def _goes_on(sentence: Sentence, position: int, tags: tuple[str, ...] = ("DET", "PROPN", "NOUN", "ADJ")) -> bool:
    """Return whether a noun phrase follows directly: "of the 1994 The Green Cup"."""
    return position < len(sentence.words) and sentence.words[position].pos in tags


def _genitive(sentence: Sentence, entity: Entity) -> tuple[int, bool]:
    """Return the end of a date with its genitive mark, and whether a noun follows it: "at last year's event"."""
    marks = [
        place for place in (entity.end - 1, entity.end) if place < len(sentence.words) and sentence.words[place].tag == "POS"
    ]
    if not marks:
        return entity.end, False
    after = marks[0] + 1
    owned = after < len(sentence.words) and sentence.words[after].pos in ("NOUN", "ADJ", "PROPN", "NUM")
    return max(entity.end, after), owned


def _is_holiday(sentence: Sentence, entity: Entity) -> bool:
    """Return whether a name is that of a day: "on Boxing Day", "on New Year's Eve"."""
    return sentence.words[entity.end - 1].text in ("Day", "Eve") and bool(lead_positions(sentence, entity.start))


def _dated(sentence: Sentence, entity: Entity) -> bool:
    """Return whether an entity of time is a date or duration and not a common noun ("the morning")."""
    words = [sentence.words[position] for position in range(entity.start, entity.end)]
    return any(
        word.pos == "NUM"
        or word.text.strip("'’")[:1].isdigit()
        or word.text.lower().strip(".") in CALENDAR | RELATIVE
        or word.text.lower() in ("last", "next", "this")
        for word in words
    )


def strip_quantities(sentence: Sentence, knowledge: Knowledge) -> str:
    """Remove independent amounts ("after 5 km", ", £20", "two of the men"), with their preposition; "number 5"; counted parts."""
    struck = [sentence.strike((position, position + 1)) for position in (*_labels(sentence), *_counted_parts(sentence))]
    for start, end in _scores(sentence):
        struck.append(sentence.strike(range(start, end)))
        after = sentence.after(end - 1)
        if after is None or sentence.words[after].pos not in ("NOUN", "ADJ"):
            _strike_lead(sentence, start)
    for entity in sentence.entities:
        if entity.kind == "ORDINAL" and (time := _occasion(sentence, entity)) is not None:
            struck.append(sentence.strike(range(entity.start, time + 1)))
            _strike_lead(sentence, entity.start)
            continue
        if entity.kind not in NUMBERS or not sentence.living(entity) or sentence.modifies(entity.start, entity.end) is not None:
            continue
        start, end = entity.start, entity.end
        if sentence.text_of(start, end).lower() in ("one", "half") or sentence.words[start].tag == "NNS":
            continue  # "one of the people" is a pronoun, "hundreds of people" a noun
        while start > 0 and sentence.words[start - 1].text in CURRENCY | {"#"}:
            start -= 1
        while end < len(sentence.words) and sentence.words[end].text in CURRENCY:
            end += 1
        start = _approximation(sentence, start)
        after = sentence.after(end - 1)
        if after is not None and sentence.words[after].text.lower() == "of" and sentence.text_of(after + 1, after + 2) == "whom":
            sentence.words[start].text = "some"  # "two of whom"
            sentence.strike(range(start + 1, end))
            continue
        counts = start == 0 or sentence.words[start - 1].pos not in ("NOUN", "PROPN")  # not "day three of"
        partitive = after is not None and sentence.words[after].text.lower() == "of" and counts
        if after is not None and partitive:
            following = sentence.after(after)
            end = after + 1
            if following is not None and sentence.words[following].pos == "DET":
                end = following + 1 if start > 0 else end
        compound = after == end and sentence.words[end].text == "-" and not sentence.words[end - 1].space
        beside = after == end and (compound or sentence.words[end].pos in ("NOUN", "PROPN", "ADJ"))
        if beside and entity.kind in ("CARDINAL", "ORDINAL"):
            continue  # a modifier, whatever the parser says
        if beside and sentence.words[end].text.lower() in EXTENT:
            end += 1  # "the 80 km long trail"
        struck.append(sentence.strike(range(start, end)))
        if not beside and not partitive:
            _strike_lead(sentence, start)
            _strike_closing_comma(sentence, start, end)
    return f"amount: {'; '.join(struck)}" if struck else ""


def _counted_parts(sentence: Sentence) -> list[int]:
    """Return where a number and a word begin that together modify one thing: "a two seated cart", "the five star hotel"."""
    words = sentence.words
    return [
        at
        for at in range(1, len(words) - 2)
        if words[at].pos == "NUM"
        and words[at].text.lower() not in SEVERAL
        and (words[at].text.lower() != "one" or words[at - 1].text.lower() == "a")  # "the one red boat"
        and words[at - 1].pos == "DET"
        and words[at + 1].text.isalpha()
        and words[at + 1].pos in ("NOUN", "ADJ", "VERB")
        and words[at + 2].tag == "NN"
        and all(word.alive for word in words[at - 1 : at + 3])
    ]


def _approximation(sentence: Sentence, start: int) -> int:
    """Return where the words that qualify an amount begin ("more than 40"); ``start`` for none."""
    for phrase in APPROXIMATE:
        words = phrase.split()
        if start >= len(words) and sentence.text_of(start - len(words), start).lower() == phrase:
            return start - len(words)
    return start


def _strike_closing_comma(sentence: Sentence, start: int, end: int) -> None:
    """Remove the second comma around a removed age: "Ann, 32, walks"."""
    if start == 0 or end >= len(sentence.words) or sentence.words[start - 1].text != "," or sentence.words[end].text != ",":
        return
    after = sentence.after(end)
    if after is not None and sentence.words[after].pos not in ("PROPN", "NOUN", "DET"):
        sentence.strike([end])


def _scores(sentence: Sentence) -> list[tuple[int, int]]:
    """Return the spans of scores and ranges, with those that follow after commas: "2-1", "7-6, 6-4"."""
    words, spans = sentence.words, []
    position = 0
    while position < len(words):
        end = _score_end(words, position)
        while end and end < len(words) and words[end].text == "," and _score_end(words, end + 1):
            end = _score_end(words, end + 1)
        if end:
            spans.append((position, end))
        position = end or position + 1
    return spans


def _score_end(words: list[Word], start: int) -> int:
    """Return the end of two numbers that a dash joins without spaces; 0 for none."""
    span = words[start : start + 3]
    joined = len(span) == 3 and span[1].text in ("-", "–", ":", "/") and not (span[0].space or span[1].space)
    return start + 3 if joined and all(word.alive and word.text.isdigit() for word in (span[0], span[2])) else 0


def _occasion(sentence: Sentence, entity: Entity) -> int | None:
    """Return the position of "time" after an ordinal with its preposition ("for the first time"); None for none."""
    after = sentence.after(entity.end - 1)
    if after is None or sentence.words[after].lemma != "time" or not lead_positions(sentence, entity.start):
        return None
    return after


def _labels(sentence: Sentence) -> list[int]:
    """Return the positions of "number" or "#" before a numeral, where a noun is beside both: "a number 5 shirt"."""
    words, positions = sentence.words, []
    for position in range(1, len(words) - 1):
        if words[position].text.lower() not in ("number", "#", "no.", "no", "nr.") or not words[position + 1].text.isdigit():
            continue
        after = words[position + 2].pos if position + 2 < len(words) else ""
        if words[position - 1].pos == "NOUN" or (words[position - 1].pos in ("DET", "ADJ") and after in ("NOUN", "ADJ")):
            positions.append(position)
    return positions


def strip_quotes(sentence: Sentence, knowledge: Knowledge) -> str:
    """Remove quotations with a capital, with their preposition, verb of naming or relative clause ("that says").

    A title has a capital; other quotations are plain words.
    """
    struck = []
    for start, end in _quotations(sentence):
        if not any(word.text[:1].isupper() for word in sentence.words[start:end]):
            continue
        # The preposition belongs to the noun that the quote modifies ("Waves" filter).
        follower = sentence.after(end)
        ends = sentence.words[end - 1].text == ","  # With "The Hill," a company ...
        modifies_next = follower is not None and not ends and sentence.words[follower].pos in ("NOUN", "PROPN", "ADJ")
        struck.append(sentence.strike(range(start, end + 1)))
        if modifies_next:
            continue
        before = sentence.before(start)
        if before is not None and sentence.words[before].lemma in WORDS:
            sentence.strike([before])  # "with the words" of a quotation
        _strike_lead(sentence, start)
    return f"quote: {'; '.join(struck)}" if struck else ""


def _strike_lead(sentence: Sentence, start: int, *, goes_on: bool = False) -> None:
    """Remove the determiner, preposition or verb of naming before the words removed at ``start``.

    Args:
        goes_on: a noun phrase follows the removed words, so an "of" before them belongs to it.
    """
    position = sentence.before(start)
    if position is not None and sentence.words[position].pos == "DET":
        sentence.strike([position])
        position = sentence.before(position)
    if position is None:
        return
    word = sentence.words[position]
    relative = sentence.before(position)
    if word.lemma in SAYING and word.pos == "VERB" and word.dep in ("acl", "relcl"):
        clause = relative is not None and sentence.words[relative].tag in ("WDT", "WP")
        sentence.strike([position, relative] if clause and relative is not None else [position])
    elif (word.pos in ("ADP", "SCONJ") and not (goes_on and word.lemma == "of")) or word.lemma in NAMING or word.text == ",":
        sentence.strike([position])


def _quotations(sentence: Sentence) -> list[tuple[int, int]]:
    """Return the positions of the marks of each quotation."""
    spans: list[tuple[int, int]] = []
    alive = sentence.alive()
    for order, start in enumerate(alive):
        mark = sentence.words[start].text
        if mark not in QUOTES or sentence.words[start].tag == "POS" or (spans and start <= spans[-1][1]):
            continue
        # A straight mark opens a quote only where a word begins.
        if mark in ("'", '"') and start > 0 and not sentence.words[start - 1].space and sentence.words[start - 1].pos != "PUNCT":
            continue
        closing = ("'", "''") if mark == "'" else (QUOTES[mark],)
        end = next((position for position in alive[order + 1 :] if sentence.words[position].text in closing), None)
        if end is not None:
            spans.append((start, end))
    return spans
