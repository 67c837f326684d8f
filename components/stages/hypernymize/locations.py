"""Steps that remove locations: "in Los Angeles", ", Tanzania", "at" an organization of unknown kind.

Source: CC §3, "preposition-based locations (e.g., 'in Los Angeles') are removed"; table 1 and figure 1.
"""

from __future__ import annotations

import re

from components.knowledge.cascade import Knowledge
from components.knowledge.kinds import KINDS
from components.stages.hypernymize.common_nouns import is_indefinite
from components.stages.hypernymize.evidence import find_kind
from components.stages.hypernymize.name_types import is_place_noun, is_role
from components.stages.hypernymize.sentence import PLACES, SUBJECTS, Entity, Sentence

UNKNOWN_PLACE_PREPOSITIONS = frozenset(
    {"in", "at", "near", "on", "outside", "inside", "around", "below", "above", "behind", "beside", "along", "during", "against"}
)
"""Prepositions before a name of unknown kind that is removed as a location."""
LOCATING_PREPOSITIONS = frozenset({"in", "at", "near", "from", "inside", "around", "to"})
_OF = "north south east west northeast northwest southeast southwest outside ahead"
_TO = "according due thanks next close adjacent prior"
DIRECTIONS = frozenset([*(("of", word) for word in _OF.split()), *(("to", word) for word in _TO.split())])
"""Prepositions and the words before them that say nothing without what follows."""
BETWEEN = frozenset({"between", "from"})
_STATE = re.compile(r"[A-Z]{2}$|[A-Z]\.[A-Z]\.$|[A-Z][a-z]{2,4}\.$")
"""Abbreviation of a state after a comma: "ON", "N.C.", "Calif."."""
SETTING_OFF = frozenset({",", "-", "–", "—", "(", "|"})
_PLACING = """
    in at near from of on around outside inside across through over off along above below behind beside by to towards
    toward within off
"""
PLACE_PREPOSITIONS = frozenset(_PLACING.split())
NO_NAMES = frozenset({"CARDINAL", "ORDINAL", "QUANTITY", "MONEY", "PERCENT", "DATE", "TIME"})


def strip_locations(sentence: Sentence, knowledge: Knowledge) -> str:
    """Remove preposition and place name ("in Los Angeles"), with the places in apposition to it (", California").

    A name whose last word says what the place is stays for its hypernym, unless its preposition only locates: "in front of the
    Brandenburg Gate" and "over the Grand Canal" stay, "from the Taj Mahal Hotel" is removed (figure 1).
    """
    struck = []
    for entity in sentence.entities:
        plural = sentence.words[entity.end - 1].tag == "NNPS" and entity.end - entity.start > 1
        if not sentence.living(entity) or plural or not _is_place(sentence, entity, knowledge):
            continue  # a plural of several words is a team ("the Green Bay Packers")
        if sentence.is_modifier(entity):
            continue
        possessive = _possessive_place(sentence, entity)
        if possessive:
            struck.append(" ".join(sentence.words[position].text for position in possessive))
            sentence.strike(possessive)
            continue
        if entity.end < len(sentence.words) and sentence.words[entity.end].tag == "POS":
            continue  # "on Santa's lap": the place is the lap
        lead = lead_positions(sentence, entity.start)
        word = sentence.words[lead[0]].text.lower() if lead else ""
        if word not in LOCATING_PREPOSITIONS and _names_its_kind(sentence, entity, knowledge):
            continue
        if not lead or (word not in PLACE_PREPOSITIONS and word not in BETWEEN):
            lead = _set_off(sentence, entity)
            if not lead:
                continue
        if _last_noun(sentence, entity, lead, knowledge):
            continue
        if word == "by" and sentence.words[lead[0]].dep == "agent":
            continue  # "provided by X"
        further = _further_places(sentence, entity.end, pair=word in BETWEEN)
        span = [*_direction(sentence, lead[0]), *lead, *range(entity.start, entity.end), *further]
        closing = sentence.after(span[-1])
        apposed = any(sentence.words[at].text == "," for at in further) and not _is_open(sentence, span[0])
        if apposed and closing is not None and sentence.words[closing].text == ",":
            span.append(closing)  # "in Spring Lake, N.C., take"
        struck.append(sentence.strike(span))
        _end_sentence(sentence, span[-1])
    return f"location: {'; '.join(struck)}" if struck else ""


def _is_open(sentence: Sentence, position: int) -> bool:
    """Return whether a comma before a position has opened an apposition that a later one closes."""
    commas = 0
    for word in sentence.words[:position]:
        commas = 0 if word.text in (".", "!", "?") else commas + (word.alive and word.text == ",")
    return commas % 2 == 1


def _direction(sentence: Sentence, preposition: int) -> list[int]:
    """Return the positions of words that lead only to a preposition: "north of", "according to", with a comma before them."""
    before = sentence.before(preposition)
    if before is None or (sentence.words[preposition].text.lower(), sentence.words[before].text.lower()) not in DIRECTIONS:
        return []
    comma = sentence.before(before)
    return [comma, before] if comma is not None and sentence.words[comma].text == "," else [before]


def _end_sentence(sentence: Sentence, last: int) -> None:
    """Keep the full stop of a removed abbreviation that ends a sentence: "in Folsom, Calif. The plant"."""
    after = sentence.after(last)
    if after is None or not sentence.words[last].text.endswith(".") or after != last + 1:
        return
    if sentence.words[after].text[:1].isupper() and sentence.words[after].pos in ("DET", "PRON"):
        mark = sentence.words[last]
        mark.text, mark.pos, mark.tag, mark.alive, mark.space = ".", "PUNCT", ".", True, True


def _possessive_place(sentence: Sentence, entity: Entity) -> list[int]:
    """Return the positions of a place and its genitive before a person's name ("Kenya's"); empty for none."""
    mark = entity.end
    if mark + 1 >= len(sentence.words) or sentence.words[mark].tag != "POS":
        return []
    for following in range(mark + 1, len(sentence.words)):  # "Kenya's former president X"
        owned = sentence.entity_at(following)
        if owned is not None and owned.kind == "PERSON":
            return list(range(entity.start, mark + 1))
        if sentence.words[following].pos not in ("PROPN", "NOUN", "ADJ"):
            break
    return []


def strip_vague(sentence: Sentence, knowledge: Knowledge, *, min_name_signals: int) -> str:
    """Remove prepositional phrases with a name of unknown kind, and "of" such a name after a person or role."""
    struck = []
    for entity in sentence.entities:
        lead = lead_positions(sentence, entity.start) if entity.kind in KINDS and sentence.living(entity) else []
        if not lead or not _is_loose(sentence, lead[0], knowledge):
            continue
        if sentence.is_modifier(entity) or is_indefinite(sentence, entity):
            continue  # "on a Boeing" locates nothing
        if find_kind(sentence, entity, knowledge, min_name_signals).word is not None:
            continue
        end = entity.end
        if end < len(sentence.words) and sentence.words[end].tag == "POS":
            if end + 1 < len(sentence.words) and sentence.words[end + 1].pos in ("NOUN", "ADJ"):
                continue  # "at Ivar's counter"
            end += 1
        struck.append(sentence.strike([*lead, *range(entity.start, end)]))
    return f"whereabouts: {'; '.join(struck)}" if struck else ""


def _is_loose(sentence: Sentence, preposition: int, knowledge: Knowledge) -> bool:
    """Return whether a sentence is whole without the phrase of a preposition: it locates, opposes, or names someone's group."""
    word, before = sentence.words[preposition].text.lower(), sentence.before(preposition)
    if word not in ("of", "for", "from", "with") or before is None:
        return word in UNKNOWN_PLACE_PREPOSITIONS
    entity = sentence.entity_at(before)
    person = entity is not None and entity.kind == "PERSON"
    return person or (sentence.words[before].pos == "NOUN" and is_role(sentence, before, knowledge))


def _names_its_kind(sentence: Sentence, entity: Entity, knowledge: Knowledge) -> bool:
    """Return whether the last word of a place's name is its kind: a gate, a canal, a stadium."""
    last = sentence.words[entity.end - 1].text.lower()
    words = sentence.words[max(entity.start - 1, 0) : entity.end]
    several = sum(word.pos != "DET" for word in words[-(entity.end - entity.start) :]) > 1
    determined = any(word.pos == "DET" or word.tag in ("POS", "PRP$") for word in words)  # "on Capitol Hill" is struck
    return entity.kind != "GPE" and several and determined and knowledge.is_common_noun(last)


def _last_noun(sentence: Sentence, entity: Entity, lead: list[int], knowledge: Knowledge) -> bool:
    """Return whether one word is left without the place, whose name says what it is: "Mills in the Oak Valley"."""
    removed = {*lead, *range(entity.start, entity.end)}
    rest = [at for at in sentence.alive() if at not in removed and sentence.words[at].text[:1].isalnum()]
    several = sum(word.pos != "DET" for word in sentence.words[entity.start : entity.end]) > 1
    return len(rest) < 2 and several and is_place_noun(sentence.words[entity.end - 1].text.lower(), knowledge)


def _set_off(sentence: Sentence, entity: Entity) -> list[int]:
    """Return the mark that sets a place off from the rest: ", Tanzania", "(Paris)", "- Rome", "Rome,"; empty for none."""
    before, after = sentence.before(entity.start), sentence.after(entity.end - 1)
    adjectives: list[int] = []
    while before is not None and sentence.words[before].pos == "ADJ":  # ", western Japan"
        adjectives.insert(0, before)
        before = sentence.before(before)
    if before is None and after is not None and sentence.words[entity.end - 1].dep not in SUBJECTS:
        return [after] if sentence.words[after].text in (",", ";") else []  # "Cuba, sunbathers"
    if before is None or sentence.words[before].text not in SETTING_OFF:
        return []
    closed = after is None or sentence.words[after].pos == "PUNCT"
    return [before, *adjectives] if closed else []


def _is_place(sentence: Sentence, entity: Entity, knowledge: Knowledge) -> bool:
    if entity.kind in PLACES:
        return True
    name = sentence.text_of(entity.start, entity.end)
    return entity.kind == "ORG" and knowledge.is_place(knowledge.hypernym(name, entity.kind))


def lead_positions(sentence: Sentence, start: int) -> list[int]:
    """Return the positions of a phrase's preposition and of the determiners and names after it; empty without a preposition."""
    between: list[int] = []
    position = sentence.before(start)
    while position is not None and sentence.words[position].pos in ("DET", "PROPN", "ADJ") and len(between) < 4:
        between.append(position)
        position = sentence.before(position)
    if position is None or sentence.words[position].pos != "ADP":
        return []
    return [position, *reversed(between)]


def _further_places(sentence: Sentence, end: int, *, pair: bool = False) -> list[int]:
    """Return the positions of place names that follow after commas; with ``pair`` also after "and" or "to"."""
    positions: list[int] = []
    joint = sentence.after(end - 1)
    joints = (",", "and", "(", "/", "to") if pair else (",", "and", "(", "/")
    while joint is not None and sentence.words[joint].text in joints:
        following = sentence.after(joint)
        entity = sentence.entity_at(following) if following is not None else None
        if following is not None and sentence.words[joint].text == "," and _STATE.match(sentence.words[following].text):
            positions += [joint, following]  # "Toronto, ON"
            joint = sentence.after(following)
            continue
        named = entity is not None and (entity.kind in PLACES or (pair and entity.kind not in NO_NAMES))
        proper = following is not None and sentence.words[following].pos == "PROPN" and entity is None
        if following is None or not (named or (proper and sentence.words[joint].text == ",")):
            break
        stop = entity.end if entity is not None else following + 1
        positions += [joint, *range(following, stop)]
        joint = sentence.after(stop - 1)
    return positions
