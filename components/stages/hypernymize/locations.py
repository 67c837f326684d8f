"""Steps that strike out whereabouts: "in Los Angeles", ", Tanzania", "at" some organization of which nothing is known.

Source: CC section 3, "preposition-based locations (e.g., 'in Los Angeles') are removed"; table 1 and figure 1.
"""

from __future__ import annotations

import re

from components.knowledge.cascade import Knowledge
from components.stages.hypernymize.sentence import Entity, Sentence

VAGUELY = frozenset(
    {"in", "at", "near", "on", "outside", "inside", "around", "below", "above", "behind", "beside", "along", "during"}
)
WHEREABOUTS = frozenset({"in", "at", "near", "from", "inside", "around", "to"})
BETWEEN = frozenset({"between", "from"})
_STATE = re.compile(r"[A-Z]{2}$|[A-Z]\.[A-Z]\.$|[A-Z][a-z]{2,4}\.$")
"""A state's abbreviation after a comma: "ON", "N.C.", "Calif."."""
SETTING_OFF = frozenset({",", "-", "–", "—", "(", "|"})
PLACES = frozenset({"GPE", "LOC", "FAC"})
_PLACING = """
    in at near from of on around outside inside across through over off along above below behind beside by to towards
    toward within off
"""
PLACING = frozenset(_PLACING.split())
NO_NAMES = frozenset({"CARDINAL", "ORDINAL", "QUANTITY", "MONEY", "PERCENT", "DATE", "TIME"})


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
        owner = _owner(sentence, entity)
        if owner:
            struck.append(" ".join(sentence.words[place].text for place in owner))
            sentence.strike(owner)
            continue
        lead = leaders(sentence, entity.start)
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


def _owner(sentence: Sentence, entity: Entity) -> list[int]:
    """A place that only tells whose a person is, with its genitive: "Kenya's" before a name."""
    mark = entity.end
    if mark + 1 >= len(sentence.words) or sentence.words[mark].tag != "POS":
        return []
    owned = sentence.entity_at(mark + 1)
    return list(range(entity.start, mark + 1)) if owned is not None and owned.kind == "PERSON" else []


def strip_vague(sentence: Sentence, knowledge: Knowledge) -> str:
    """Whereabouts of which nothing is known but that they are an organization, an event, a building: they go as locations do."""
    struck = []
    for entity in sentence.entities:
        if entity.kind not in ("ORG", "FAC", "LOC", "EVENT", "PRODUCT") or not sentence.living(entity):
            continue
        known = knowledge.lookup(sentence.text_of(entity.start, entity.end), entity.kind)
        lead = leaders(sentence, entity.start)
        if entity.kind == "EVENT" and lead and sentence.words[lead[0]].text.lower() == "during":
            continue  # "during the event" tells something
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


def _is_place(sentence: Sentence, entity: Entity, knowledge: Knowledge) -> bool:
    if entity.kind in PLACES:
        return True
    name = sentence.text_of(entity.start, entity.end)
    return entity.kind == "ORG" and knowledge.is_place(knowledge.hypernym(name, entity.kind))


def leaders(sentence: Sentence, start: int) -> list[int]:
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
        named = entity is not None and (entity.kind in PLACES or (pair and entity.kind not in NO_NAMES))
        proper = following is not None and sentence.words[following].pos == "PROPN" and entity is None
        if following is None or not (named or (proper and sentence.words[place].text == ",")):
            break
        stop = entity.end if entity is not None else following + 1
        found += [place, *range(following, stop)]
        place = sentence.after(stop - 1)
    return found
