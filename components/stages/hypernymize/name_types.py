"""Corrections of a named entity's type, by its words, its dictionary entry and its context."""

from __future__ import annotations

import re

from components.knowledge.cascade import Knowledge
from components.knowledge.gazetteers import place_kind
from components.knowledge.kinds import PERSON
from components.knowledge.names import kind_by_form
from components.language.person_names import is_given_name
from components.stages.hypernymize.people import is_double_name
from components.stages.hypernymize.sentence import SUBJECTS, Entity, Sentence

LOCATIVE = frozenset({"in", "at", "near", "off", "outside", "between", "from", "to", "towards", "around", "across", "through"})
_GEOGRAPHIC = """
    island isle islet coast gulf bay lake valley town city village hamlet state province region county district port harbour
    kingdom republic country parish municipality borough suburb resort capital peninsula
"""
GEOGRAPHIC = frozenset(_GEOGRAPHIC.split())
"""Nouns followed by "of" and a place name."""
SPIRIT = 9504135
"""WordNet 3.0 synset: spiritual being (gods, saints)."""
SHIPS = frozenset({"USS", "HMS", "HMCS", "HMAS", "RMS", "SS", "MS", "MV", "USNS", "USCGC", "INS"})
"""Prefixes of ships' names."""
_INITIAL = re.compile(r"[NSEW]\.$")
NUMERAL = re.compile(r"[IVX]{1,5}$")


def kind_by_words(sentence: Sentence, entity: Entity, knowledge: Knowledge) -> str:
    """Return the entity's type, corrected by what its words say: a title, a place, an entry of the dictionary."""
    name = sentence.text_of(entity.start, entity.end)
    kind = knowledge.kind_of(name, entity.kind)
    if entity.end - entity.start > 1:
        first = sentence.words[entity.start].text
        if first in SHIPS:
            return "PRODUCT"
        if _INITIAL.match(first) and place_kind(name):
            return "GPE"  # "S. Africa"
    words = [word.text for word in sentence.words[entity.start : entity.end]]
    if kind in ("ORG", "PRODUCT") and is_double_name(words):
        return "PERSON"
    if kind in ("ORG", "PRODUCT", "FAC", "GPE", "WORK_OF_ART") and _titled(sentence, entity, knowledge):
        return "PERSON"  # "King Felipe VI"
    if kind in ("GPE", "LOC", "FAC", "ORG") and _only_person(name, kind, knowledge):
        return "PERSON"
    last = sentence.words[entity.end - 1]
    acts = last.dep == "nsubj" and sentence.words[last.head].pos == "VERB"
    place = place_kind(name)
    bearer = place != "country" if is_given_name(name) else not (place or knowledge.is_noun(name))
    if kind == "GPE" and acts and entity.end - entity.start == 1 and bearer:
        return "PERSON"  # "Jordan plays basketball"
    if kind == "PERSON" and kind_by_form(name, "EVENT"):
        return "EVENT"  # "Super Bowl LIV"
    if kind == "PERSON" and _named_after_place(sentence, entity, knowledge):
        return "FAC"  # "London Bridge"
    return kind


def _titled(sentence: Sentence, entity: Entity, knowledge: Knowledge) -> bool:
    """Return whether a name begins with a person's role and does not end with a common noun."""
    last = sentence.words[entity.end - 1].text
    numeral = NUMERAL.match(last) is not None
    common = knowledge.is_common_noun(last.lower()) and not numeral
    return entity.end - entity.start > 1 and is_role(sentence, entity.start, knowledge) and not common


def _named_after_place(sentence: Sentence, entity: Entity, knowledge: Knowledge) -> bool:
    """Return whether a name is a place and a noun for a building or location."""
    first, last = sentence.words[entity.start].text, sentence.words[entity.end - 1].text.lower()
    return entity.end - entity.start > 1 and bool(place_kind(first)) and not is_given_name(first) and knowledge.is_place(last)


def _only_person(name: str, kind: str, knowledge: Knowledge) -> bool:
    """Return whether WordNet knows a name, and only as that of people; a single word may name a company after one ("Nike")."""
    if kind in ("ORG", "FAC") and len(name.split()) < 2:
        return False
    senses = knowledge.wordnet.senses(name)
    return bool(senses) and all(
        sense.instance_of and knowledge.wordnet.is_a(sense, frozenset({PERSON, SPIRIT})) for sense in senses
    )


def relabel_people(sentence: Sentence, knowledge: Knowledge) -> None:
    """Label two to four capitalised words as a person where people occur: as a subject, after "by", beside a person, or acting.

    Acting: before a verb in -ing, "Nguyễn Văn An eating noodles".
    """
    for entity in sentence.entities:
        words = [word for word in sentence.words[entity.start : entity.end] if word.pos != "DET"]
        last = words[-1].text.lower() if words else ""
        if entity.kind not in ("ORG", "PRODUCT", "WORK_OF_ART", "FAC", "LOC") or not 2 <= len(words) <= 4:
            continue
        named = all(word.text[:1].isupper() and word.text[1:].islower() for word in words if word.text.isalpha())
        plain = len(last) > 2 and knowledge.is_common_noun(last)  # WordNet has "AN" and "MA" as nouns
        placed = any(place_kind(word.text) for word in words) or place_kind(" ".join(word.text for word in words))
        if not named or plain or placed or words[-1].tag == "NNPS" or not all(word.text[:1].isalpha() for word in words):
            continue
        after = sentence.words[entity.end].tag if entity.end < len(sentence.words) else ""
        role = words[-1].dep in SUBJECTS or after == "VBG" or led_by(sentence, entity.start) == "by"
        if role or "PERSON" in (coordinated(sentence, entity.start), _coordinated_after(sentence, entity.end)):
            entity.kind = "PERSON"


def relabel_places(sentence: Sentence, knowledge: Knowledge) -> None:
    """Label names after a locative preposition, or after "the island of", as places."""
    for entity in sentence.entities:
        if entity.kind not in ("PERSON", "ORG", "PRODUCT", "NORP", "FAC", "WORK_OF_ART"):
            continue
        name = sentence.text_of(entity.start, entity.end)
        preposition = led_by(sentence, entity.start)
        single = entity.end - entity.start == 1
        if entity.kind != "NORP" and place_kind(name) and (preposition in LOCATIVE or preposition == "of"):
            entity.kind = "GPE"
            continue
        noun = sentence.words[entity.end - 1].text.lower()
        common = knowledge.is_common_noun(noun)
        if entity.kind in ("PERSON", "PRODUCT", "NORP") and preposition in ("in", "at", "near", "off", "between"):
            if place_kind(name) or not (common or is_given_name(sentence.words[entity.start].text)):
                entity.kind = "GPE"
            elif common and is_place_noun(noun, knowledge):
                entity.kind = "LOC"
        elif single and preposition in ("in", "near") and place_kind(name) and not common:
            entity.kind = "GPE"
        if preposition == "of" and entity.start >= 2:
            before = sentence.words[entity.start - 2]
            if before.pos == "NOUN" and before.lemma.lower() in GEOGRAPHIC:
                entity.kind = "GPE"


def is_place_noun(noun: str, knowledge: Knowledge) -> bool:
    """Return whether a common noun is a kind of place: "village", "valley", "museum"."""
    return noun in GEOGRAPHIC or knowledge.is_place(noun)


def is_role(sentence: Sentence, position: int, knowledge: Knowledge) -> bool:
    """Return whether the word before a name is a role ("Cellist", "Presidents")."""
    plain = sentence.words[position].text.lower()
    return knowledge.is_role(plain) and not (knowledge.is_instance(plain) or knowledge.is_animal(plain) or is_given_name(plain))


def coordinated(sentence: Sentence, start: int) -> str:
    """Return the type of the name coordinated with and before a name and its title ("Naomi and Queen ..."); "" for none."""
    joint = start - 1
    while joint > 0 and sentence.words[joint].pos == "NOUN" and sentence.words[joint].text[:1].isupper():
        joint -= 1
    if joint < 1 or sentence.words[joint].text.lower() not in ("and", ",", "&", "to"):
        return ""
    entity = sentence.entity_at(joint - 1)
    return entity.kind if entity is not None else ""


def _coordinated_after(sentence: Sentence, end: int) -> str:
    """Return the type of the name coordinated with and after a name; "" for none."""
    if end + 1 >= len(sentence.words) or sentence.words[end].text.lower() not in ("and", ",", "&"):
        return ""
    entity = sentence.entity_at(end + 1)
    return entity.kind if entity is not None else ""


def led_by(sentence: Sentence, start: int) -> str:
    """Return the preposition of a phrase in lower case; "" for none."""
    position = start - 1
    while position >= 0 and sentence.words[position].pos in ("DET", "ADJ"):
        position -= 1
    return sentence.words[position].text.lower() if position >= 0 and sentence.words[position].pos == "ADP" else ""
