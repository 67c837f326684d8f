"""Steps that strike out: dates, amounts, quotes, locations under prepositions, modifiers of certain types.

Source: seed 000 section 3, "the following steps are applied", and seed 001 (quotes, brands). Each step changes the
sentence in place and returns why, or "" when it found nothing.
"""

from __future__ import annotations

import re

from components.hypernymize.dates import CALENDAR, RELATIVE
from components.hypernymize.sentence import Entity, Sentence
from components.providers.knowledge import Knowledge

NAMING = frozenset({"call", "name", "title", "entitle", "label", "dub"})
QUOTES = {"“": "”", "‘": "’", '"': '"', "'": "'", "«": "»", "`": "'", "``": "''", "„": "“"}
CURRENCY = frozenset("$€£¥₹")
VAGUELY = frozenset({"in", "at", "near", "on", "outside", "inside", "around", "below", "above", "behind", "beside", "along"})
WHEREABOUTS = frozenset({"in", "at", "near", "from", "inside", "around", "to"})
EXTENT = frozenset({"long", "high", "tall", "wide", "deep", "thick", "old", "away"})
BETWEEN = frozenset({"between", "from"})
_STATE = re.compile(r"[A-Z]{2}$|[A-Z]\.[A-Z]\.$|[A-Z][a-z]{2,4}\.$")
"""A state's abbreviation after a comma: "ON", "N.C.", "Calif."."""
SETTING_OFF = frozenset({",", "-", "–", "—", "(", "|"})
PLACES = frozenset({"GPE", "LOC", "FAC"})
NUMBERS = frozenset({"CARDINAL", "ORDINAL", "QUANTITY", "MONEY", "PERCENT"})
_PLACING = """
    in at near from of on around outside inside across through over off along above below behind beside by to towards
    toward within off
"""
PLACING = frozenset(_PLACING.split())


def strip_dates(sentence: Sentence, knowledge: Knowledge) -> str:
    """Dates, times and durations, with the preposition that brings them in."""
    struck = []
    for entity in sentence.entities:
        holiday = entity.kind in ("EVENT", "DATE") and _is_holiday(sentence, entity)
        timely = entity.kind in ("DATE", "TIME") and _dated(sentence, entity)
        if not sentence.living(entity) or not (timely or holiday):
            continue
        struck.append(sentence.text_of(entity.start, entity.end))
        modified = sentence.modifies(entity.start, entity.end)
        sentence.strike(range(entity.start, entity.end))
        if modified is None:
            _strike_lead(sentence, entity.start)
    return f"date or duration: {'; '.join(struck)}" if struck else ""


def _is_holiday(sentence: Sentence, entity: Entity) -> bool:
    """Whether a name is a day's: "on Boxing Day", "on New Year's Eve"."""
    return sentence.words[entity.end - 1].text in ("Day", "Eve") and bool(_leaders(sentence, entity.start))


def _dated(sentence: Sentence, entity: Entity) -> bool:
    """Whether an entity of time tells when or how long, and is not a plain noun ("the morning")."""
    words = [sentence.words[place] for place in range(entity.start, entity.end)]
    return any(
        word.pos == "NUM"
        or word.text.strip("'’")[:1].isdigit()
        or word.text.lower().strip(".") in CALENDAR | RELATIVE
        or word.text.lower() in ("last", "next")
        for word in words
    )


def strip_quantities(sentence: Sentence, knowledge: Knowledge) -> str:
    """Amounts that stand for themselves ("after 5 km", ", £20", "two of the men"), with what brings them in."""
    struck = []
    for entity in sentence.entities:
        if entity.kind not in NUMBERS or not sentence.living(entity) or sentence.modifies(entity.start, entity.end) is not None:
            continue
        start, end = entity.start, entity.end
        if sentence.text_of(start, end).lower() == "one":
            continue  # "one of the people": a pronoun
        while start > 0 and sentence.words[start - 1].text in CURRENCY:
            start -= 1
        after = sentence.after(end - 1)
        if after is not None and sentence.words[after].text.lower() == "of":
            following = sentence.after(after)
            end = after + 1
            if following is not None and sentence.words[following].pos == "DET":
                end = following + 1 if start > 0 else end
        beside = after == end and sentence.words[end].pos in ("NOUN", "PROPN", "ADJ")
        if beside and entity.kind in ("CARDINAL", "ORDINAL"):
            continue  # a modifier after all, whatever the parser says
        if beside and sentence.words[end].text.lower() in EXTENT:
            end += 1  # "the 80 km long trail"
        struck.append(sentence.text_of(start, end))
        sentence.strike(range(start, end))
        if not beside and end == entity.end:
            _strike_lead(sentence, start)
    return f"amount: {'; '.join(struck)}" if struck else ""


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
    """Preposition and place name ("in Los Angeles"), with the places in apposition to it (", California").

    A name that says what the place is stays for its hypernym, unless it only tells the whereabouts: "in front of the
    Brandenburg Gate" and "over the Grand Canal" do, "from the Taj Mahal Hotel" does not (figure 1).
    """
    struck = []
    for entity in sentence.entities:
        plural = sentence.words[entity.end - 1].tag == "NNPS" and entity.end - entity.start > 1
        if not sentence.living(entity) or plural or not _is_place(sentence, entity, knowledge):
            continue  # a plural of several words is a team ("the Green Bay Packers")
        if sentence.modifies(entity.start, entity.end) is not None or sentence.noun_beside(entity) is not None:
            continue
        lead = _leaders(sentence, entity.start)
        word = sentence.words[lead[0]].text.lower() if lead else ""
        if word not in WHEREABOUTS and _tells(sentence, entity, knowledge):
            continue
        if not lead or (word not in PLACING and word not in BETWEEN):
            lead = _set_off(sentence, entity)
            if not lead:
                continue
        span = [*lead, *range(entity.start, entity.end), *_further_places(sentence, entity.end, pair=word in BETWEEN)]
        struck.append(" ".join(sentence.words[place].text for place in span if sentence.words[place].alive))
        sentence.strike(span)
    return f"location: {'; '.join(struck)}" if struck else ""


def strip_vague(sentence: Sentence, knowledge: Knowledge) -> str:
    """Whereabouts of which nothing is known but that they are an organization, an event, a building: they go as locations do."""
    struck = []
    for entity in sentence.entities:
        if entity.kind not in ("ORG", "FAC", "LOC", "EVENT", "PRODUCT") or not sentence.living(entity):
            continue
        known = knowledge.known(sentence.text_of(entity.start, entity.end), entity.kind)
        lead = _leaders(sentence, entity.start)
        if known is None or known.source != "type" or not lead or sentence.words[lead[0]].text.lower() not in VAGUELY:
            continue
        if sentence.modifies(entity.start, entity.end) is not None or sentence.noun_beside(entity) is not None:
            continue
        span = [*lead, *range(entity.start, entity.end)]
        struck.append(" ".join(sentence.words[place].text for place in span if sentence.words[place].alive))
        sentence.strike(span)
    return f"whereabouts: {'; '.join(struck)}" if struck else ""


def _tells(sentence: Sentence, entity: Entity, knowledge: Knowledge) -> bool:
    """Whether the last word of a place's name says what it is: a gate, a canal, a stadium."""
    last = sentence.words[entity.end - 1].text.lower()
    several = sum(word.pos != "DET" for word in sentence.words[entity.start : entity.end]) > 1
    return entity.kind != "GPE" and several and knowledge.is_noun(last) and not knowledge.is_instance(last)


def _set_off(sentence: Sentence, entity: Entity) -> list[int]:
    """The mark that sets a place off from what it tells the place of: ", Tanzania", "(Paris)", "- Rome"."""
    before, after = sentence.before(entity.start), sentence.after(entity.end - 1)
    if before is None or sentence.words[before].text not in SETTING_OFF:
        return []
    closed = after is None or sentence.words[after].pos == "PUNCT"
    return [before] if closed else []


def strip_modifiers(sentence: Sentence, knowledge: Knowledge) -> str:
    """Modifiers of a noun that are proper nouns, nationalities, numbers, units or brands."""
    struck: list[int] = []
    for position in sentence.alive():
        word, entity = sentence.words[position], sentence.entity_at(position)
        kind = entity.kind if entity else ""
        if word.renamed or word.pos in ("DET", "ADP", "PUNCT", "VERB", "AUX", "PRON"):
            continue
        adjective = word.pos == "ADJ" and word.text[:1].isupper() and position > 0  # "the Adriatic town"
        proper = adjective or word.pos == "PROPN" or kind == "NORP" or (kind in ("PRODUCT", "ORG") and word.text[:1].isupper())
        counted = word.pos in ("NUM", "SYM") or kind in NUMBERS or word.text[:1].isdigit()
        beside = entity is not None and kind not in NUMBERS and proper and sentence.noun_beside(entity) is not None
        if (proper or counted) and (beside or _modifies_noun(sentence, position)):
            struck.append(position)
    struck += _scores(sentence, struck)
    # Marks that joined struck modifiers ("Music & Cultural", "A-319") go with them.
    for position in sentence.alive():
        left, right = sentence.before(position), sentence.after(position)
        joins = sentence.words[position].text in {"&", "-", "–", "/", "'s", "’s", "+", "#", "™", "®", "$", "€"}
        if joins and position not in struck and (left in struck or right in struck):
            struck.append(position)
    sentence.strike(struck)
    text = " ".join(sentence.words[place].text for place in sorted(struck))
    return f"name, number or unit before a noun: {text}" if struck else ""


def _scores(sentence: Sentence, struck: list[int]) -> list[int]:
    """What a struck number is joined to by a dash: the rest of "2-1"."""
    found = []
    for position in struck:
        mark, other = position + 1, position + 2
        if other >= len(sentence.words) or sentence.words[mark].text not in ("-", "–", ":", "/") or sentence.words[mark].space:
            continue
        if sentence.words[position].text[:1].isdigit() and sentence.words[other].text[:1].isdigit():
            found += [mark, other]
    return found


def _modifies_noun(sentence: Sentence, position: int) -> bool:
    """Whether the word, through a chain of modifiers, belongs to a noun further right."""
    entity = sentence.entity_at(position)
    if sentence.modifies(position, position + 1) is not None:
        return True
    if entity is None:
        return False
    noun = sentence.modifies(entity.start, entity.end)
    return noun is not None and noun > position


def _is_place(sentence: Sentence, entity: Entity, knowledge: Knowledge) -> bool:
    if entity.kind in PLACES:
        return True
    name = sentence.text_of(entity.start, entity.end)
    return entity.kind == "ORG" and knowledge.is_place(knowledge.hypernym(name, entity.kind))


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


def _further_places(sentence: Sentence, end: int, *, pair: bool = False) -> list[int]:
    """Commas and place names that follow one another after a place; with ``pair`` also "and" or "to" and a name."""
    found: list[int] = []
    place = sentence.after(end - 1)
    joints = (",", "and", "(", "/", "to") if pair else (",", "and", "(", "/")
    while place is not None and sentence.words[place].text in joints:
        following = sentence.after(place)
        entity = sentence.entity_at(following) if following is not None else None
        if following is not None and sentence.words[place].text == "," and _STATE.match(sentence.words[following].text):
            found += [place, following]  # "Toronto, ON"
            place = sentence.after(following)
            continue
        named = entity is not None and (entity.kind in PLACES or (pair and entity.kind not in NUMBERS | {"DATE", "TIME"}))
        proper = following is not None and sentence.words[following].pos == "PROPN" and entity is None
        if following is None or not (named or (proper and sentence.words[place].text == ",")):
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
