"""Steps that strike out: dates and durations, quotes, locations under prepositions, modifiers of certain types.

Source: seed 000 section 3, "the following steps are applied", and seed 001 (quotes, brands). Each step changes the
sentence in place and returns why, or "" when it found nothing.
"""

from __future__ import annotations

from components.hypernymize.sentence import Sentence
from components.providers.knowledge import Knowledge

_CALENDAR = """
    january february march april may june july august september october november december jan feb mar apr jun jul aug sep
    sept oct nov dec monday tuesday wednesday thursday friday saturday sunday
"""
CALENDAR = frozenset(_CALENDAR.split())
NAMING = frozenset({"call", "name", "title", "entitle", "label", "dub"})
QUOTES = {"“": "”", "‘": "’", '"': '"', "'": "'", "«": "»", "`": "'", "``": "''", "„": "“"}
PLACES = frozenset({"GPE", "LOC", "FAC"})
NUMBERS = frozenset({"CARDINAL", "ORDINAL", "QUANTITY", "MONEY", "PERCENT"})
_PLACING = """
    in at near from of on around outside inside across through over off along above below behind beside by to towards
    toward within
"""
PLACING = frozenset(_PLACING.split())


def strip_dates(sentence: Sentence, knowledge: Knowledge) -> str:
    """Dates and durations, with the preposition that brings them in."""
    struck = []
    for entity in sentence.entities:
        span = range(entity.start, entity.end)
        words = [sentence.words[place] for place in span]
        dated = any(word.pos == "NUM" or word.text[:1].isdigit() or word.text.lower().strip(".") in CALENDAR for word in words)
        if entity.kind not in ("DATE", "TIME") or not dated or not sentence.living(entity):
            continue
        struck.append(" ".join(word.text for word in words))
        modified = sentence.modifies(entity.start, entity.end)
        sentence.strike(span)
        if modified is None:
            _strike_lead(sentence, entity.start)
    return f"date or duration: {'; '.join(struck)}" if struck else ""


def strip_quotes(sentence: Sentence, knowledge: Knowledge) -> str:
    """What stands in quotation marks, with the preposition or the word of naming that brings it in."""
    struck = []
    while (pair := _quoted(sentence)) is not None:
        start, end = pair
        struck.append(" ".join(sentence.words[place].text for place in range(start, end + 1) if sentence.words[place].alive))
        # A quote that modifies what follows ("Waves" filter) leaves the preposition to it.
        follower = sentence.after(end)
        keeps = follower is not None and sentence.words[follower].pos in ("NOUN", "PROPN", "ADJ")
        sentence.strike(range(start, end + 1))
        if not keeps:
            _strike_lead(sentence, start)
    return f"quote: {'; '.join(struck)}" if struck else ""


def strip_locations(sentence: Sentence, knowledge: Knowledge) -> str:
    """Preposition and place name ("in Los Angeles"), with the places in apposition to it (", California")."""
    struck = []
    for entity in sentence.entities:
        if not sentence.living(entity) or not _is_place(sentence, entity.start, entity.end, entity.kind, knowledge):
            continue
        if sentence.modifies(entity.start, entity.end) is not None:
            continue
        lead = _leaders(sentence, entity.start)
        if not lead or sentence.words[lead[0]].text.lower() not in PLACING:
            continue
        span = [*lead, *range(entity.start, entity.end), *_further_places(sentence, entity.end)]
        struck.append(" ".join(sentence.words[place].text for place in span if sentence.words[place].alive))
        sentence.strike(span)
    return f"location: {'; '.join(struck)}" if struck else ""


def strip_modifiers(sentence: Sentence, knowledge: Knowledge) -> str:
    """Modifiers of a noun that are proper nouns, nationalities, numbers, units or brands."""
    struck: list[int] = []
    for position in sentence.alive():
        word, entity = sentence.words[position], sentence.entity_at(position)
        kind = entity.kind if entity else ""
        if word.renamed or word.pos in ("DET", "ADP", "PUNCT", "VERB", "AUX", "PRON"):
            continue
        proper = word.pos == "PROPN" or kind == "NORP" or (kind in ("PRODUCT", "ORG") and word.text[:1].isupper())
        counted = word.pos in ("NUM", "SYM") or kind in NUMBERS or word.text[:1].isdigit()
        if (proper or counted) and _modifies_noun(sentence, position):
            struck.append(position)
    # Marks that joined struck modifiers ("Music & Cultural", "A-319") go with them.
    for position in sentence.alive():
        left, right = sentence.before(position), sentence.after(position)
        joins = sentence.words[position].text in {"&", "-", "–", "/", "'s", "’s", "+", "#", "™", "®", "$", "€"}
        if joins and position not in struck and (left in struck or right in struck):
            struck.append(position)
    sentence.strike(struck)
    text = " ".join(sentence.words[place].text for place in sorted(struck))
    return f"name, number or unit before a noun: {text}" if struck else ""


def _modifies_noun(sentence: Sentence, position: int) -> bool:
    """Whether the word, through a chain of modifiers, belongs to a noun further right."""
    entity = sentence.entity_at(position)
    if sentence.modifies(position, position + 1) is not None:
        return True
    if entity is None:
        return False
    noun = sentence.modifies(entity.start, entity.end)
    return noun is not None and noun > position


def _is_place(sentence: Sentence, start: int, end: int, kind: str, knowledge: Knowledge) -> bool:
    if kind in PLACES:
        return True
    name = " ".join(word.text for word in sentence.words[start:end])
    return kind == "ORG" and knowledge.is_place(knowledge.hypernym(name, kind))


def _leaders(sentence: Sentence, start: int) -> list[int]:
    """The preposition before a phrase, with the determiners and names between; empty when there is none."""
    found: list[int] = []
    place = sentence.before(start)
    while place is not None and sentence.words[place].pos in ("DET", "PROPN", "ADJ") and len(found) < 4:
        found.append(place)
        place = sentence.before(place)
    if place is None or sentence.words[place].pos != "ADP":
        return []
    return [place, *reversed(found)]


def _further_places(sentence: Sentence, end: int) -> list[int]:
    """Commas and place names that follow one another after a place."""
    found: list[int] = []
    place = sentence.after(end - 1)
    while place is not None and sentence.words[place].text in (",", "and", "(", "/"):
        following = sentence.after(place)
        entity = sentence.entity_at(following) if following is not None else None
        named = entity is not None and entity.kind in PLACES
        if following is None or not (named or (sentence.words[place].text == "," and sentence.words[following].pos == "PROPN")):
            break
        stop = entity.end if entity is not None else following + 1
        found += [place, *range(following, stop)]
        place = sentence.after(stop - 1)
    return found


def _strike_lead(sentence: Sentence, start: int) -> None:
    """Strike the determiner, preposition, or word of naming that brought in what was struck out at ``start``."""
    place = sentence.before(start)
    if place is not None and sentence.words[place].pos == "DET":
        sentence.strike([place])
        place = sentence.before(place)
    if (place is not None and (sentence.words[place].pos in ("ADP", "SCONJ") or sentence.words[place].lemma in NAMING)) or (
        place is not None and sentence.words[place].text == ","
    ):
        sentence.strike([place])


def _quoted(sentence: Sentence) -> tuple[int, int] | None:
    """The first quotation: positions of its marks."""
    alive = sentence.alive()
    for order, start in enumerate(alive):
        mark = sentence.words[start].text
        if mark not in QUOTES or sentence.words[start].tag == "POS":
            continue
        # A straight mark opens a quote only where a word begins.
        if mark in ("'", '"') and start > 0 and not sentence.words[start - 1].space and sentence.words[start - 1].pos != "PUNCT":
            continue
        for end in alive[order + 1 :]:
            if sentence.words[end].text == QUOTES[mark] or (mark == "'" and sentence.words[end].text == "''"):
                return start, end
    return None
