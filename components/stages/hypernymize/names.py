"""Corrections of named entities: names that the recogniser cuts short, misses or mislabels.

By dictionary, gazetteers and context; no text changes. Tags of common words are corrected in ``corrections``.
"""

from __future__ import annotations

import re

from components.knowledge.cascade import Knowledge
from components.knowledge.gazetteers import is_given_name, place_kind
from components.knowledge.kinds import KINDS, PERSON
from components.language.dictionary import is_listed
from components.stages.hypernymize.sentence import Entity, Sentence

LOCATIVE = frozenset({"in", "at", "near", "off", "outside", "between", "from", "to", "towards", "around", "across", "through"})
_GEOGRAPHIC = """
    island isle islet coast gulf bay lake valley town city village hamlet state province region county district port harbour
    kingdom republic country parish municipality borough suburb resort capital peninsula
"""
GEOGRAPHIC = frozenset(_GEOGRAPHIC.split())
"""Nouns followed by "of" and a place name."""
SPIRIT = 9504135
"""WordNet 3.0 synset: spiritual being (gods, saints)."""
_NUMERAL = re.compile(r"[IVX]{1,5}$")
_JOINING = frozenset({"-", "–", "‑"})


def trim_names(sentence: Sentence, knowledge: Knowledge) -> None:
    """Remove quotes and roles from the ends of entities, and drop entities that are common words."""
    kept = []
    for entity in sentence.entities:
        words = sentence.words
        while entity.start < entity.end and not words[entity.start].text[:1].isalnum():
            entity.start += 1
        while entity.end > entity.start and (words[entity.end - 1].tag == "POS" or not words[entity.end - 1].text[-1:].isalnum()):
            if words[entity.end - 1].text.endswith("."):
                break
            entity.end -= 1
        name = sentence.text_of(entity.start, entity.end)
        entity.kind = knowledge.kind_of(name, entity.kind)
        if entity.kind in ("ORG", "PRODUCT", "FAC", "GPE", "WORK_OF_ART") and _titled(sentence, entity, knowledge):
            entity.kind = "PERSON"  # "King Felipe VI"
        elif entity.kind in ("GPE", "LOC", "FAC", "ORG") and _only_person(name, entity.kind, knowledge):
            entity.kind = "PERSON"
        elif entity.kind == "PERSON" and _named_after_place(sentence, entity, knowledge):
            entity.kind = "FAC"  # "London Bridge"
        if entity.kind == "PERSON":
            while entity.end - entity.start > 1 and _is_role(sentence, entity.start, knowledge):
                _retag_common(sentence, entity.start, knowledge)
                entity.start += 1
        if entity.kind == "PERSON" and entity.end - entity.start == 1 and words[entity.start].tag == "NNPS":
            entity.kind = "NORP"  # "Africans"
        if entity.end <= entity.start or (entity.kind in KINDS and _plain_words(sentence, entity, knowledge)):
            continue
        kept.append(entity)
    sentence.entities = kept


def _titled(sentence: Sentence, entity: Entity, knowledge: Knowledge) -> bool:
    """Return whether a name begins with a person's role and does not end with a common noun."""
    last = sentence.words[entity.end - 1].text
    numeral = _NUMERAL.match(last) is not None
    common = knowledge.is_common_noun(last.lower()) and not numeral
    return entity.end - entity.start > 1 and _is_role(sentence, entity.start, knowledge) and not common


def _only_person(name: str, kind: str, knowledge: Knowledge) -> bool:
    """Return whether WordNet knows a name, and only as that of people; a single word may name a company after one ("Nike")."""
    if kind in ("ORG", "FAC") and len(name.split()) < 2:
        return False
    senses = knowledge.wordnet.senses(name)
    return bool(senses) and all(
        sense.instance_of and knowledge.wordnet.is_a(sense, frozenset({PERSON, SPIRIT})) for sense in senses
    )


def _named_after_place(sentence: Sentence, entity: Entity, knowledge: Knowledge) -> bool:
    """Return whether a name is a place and a noun for a building or location."""
    first, last = sentence.words[entity.start].text, sentence.words[entity.end - 1].text.lower()
    return entity.end - entity.start > 1 and bool(place_kind(first)) and not is_given_name(first) and knowledge.is_place(last)


def _plain_words(sentence: Sentence, entity: Entity, knowledge: Knowledge) -> bool:
    """Return whether an entity is common words: lower-case ("a koala"), or one known noun after "the" ("the Universe")."""
    words = [word for word in sentence.words[entity.start : entity.end] if word.pos != "DET"]
    if not words:
        return True
    if all(word.text == word.text.lower() and (len(words) > 1 or is_listed(word.text)) for word in words):
        return True
    only = words[-1].text.lower()
    if len(words) == 1 and entity.start == 0 and words[0].tag in ("NNS", "NNPS") and knowledge.is_noun(only):
        words[0].pos, words[0].tag, words[0].lemma = "NOUN", "NNS", words[0].lemma.lower()
        return not place_kind(only)  # "Commuters": the capital only begins the text
    if words[-1].text.isupper() or _noun_follows(sentence, entity.end):
        return False  # "a NASA astronaut", "the Falcon 9 rocket"
    after_article = entity.start > 0 and sentence.words[entity.start - 1].pos == "DET"
    after_article = after_article or sentence.words[entity.start].pos == "DET"
    if len(words) == 1 and after_article and knowledge.is_common_noun(only) and not place_kind(only):
        words[-1].pos, words[-1].lemma = "NOUN", words[-1].lemma.lower()
        return True
    return False


def join_numbers(sentence: Sentence) -> None:
    """Join the name of a maker and the number of its product: "Boeing" and "747" are one product."""
    for entity in list(sentence.entities):
        number = sentence.entity_at(entity.end)
        if entity.kind not in ("ORG", "PRODUCT") or number is None or number.kind not in ("PRODUCT", "CARDINAL"):
            continue
        if sentence.words[number.start].text[:1].isdigit() and number.end - number.start == 1:
            entity.end, entity.kind = number.end, "PRODUCT"
            sentence.entities.remove(number)


def extend_names(sentence: Sentence, knowledge: Knowledge) -> None:
    """Extend each entity by the adjacent proper nouns."""
    for entity in sentence.entities:
        if entity.kind not in KINDS and entity.kind != "NORP":
            continue
        while _free_name(sentence, entity.end):
            entity.end += 1
        while _free_name(sentence, entity.start - 1) and not _is_role(sentence, entity.start - 1, knowledge):
            entity.start -= 1
        if entity.kind in ("NORP", "GPE") and entity.end - entity.start > 1 and is_given_name(sentence.words[entity.start].text):
            entity.kind = "PERSON"


def add_missed_names(sentence: Sentence, knowledge: Knowledge) -> None:
    """Add an entity for each run of proper nouns that no entity covers, typed by its words and context."""
    position = 0
    while position < len(sentence.words):
        end = position
        while _free_name(sentence, end) or (end > position and _joined(sentence, end)):
            end += 1
        if end == position:
            position += 1
            continue
        start, titled = position, False
        while end - start > 1 and _is_role(sentence, start, knowledge):
            _retag_common(sentence, start, knowledge)
            start, titled = start + 1, True
        kind = _infer_kind(sentence, start, end, knowledge, titled=titled)
        if kind:
            sentence.entities.append(Entity(start, end, kind))
        position = end


def _infer_kind(sentence: Sentence, start: int, end: int, knowledge: Knowledge, *, titled: bool) -> str:
    """Return the type of a missed name, or "" if unknown."""
    words, name = sentence.words, sentence.text_of(start, end)
    first, last = words[start].text, words[end - 1]
    if last.tag == "NNPS" and end - start == 1:
        return "NORP"  # "Africans"
    if place_kind(name):
        return "GPE"
    if coordinated(sentence, start) in ("GPE", "PERSON"):
        return coordinated(sentence, start)
    if titled or any(is_given_name(word.text) for word in words[start : end - 1]):
        return "PERSON"
    if knowledge.is_common_noun(last.text.lower()):
        return "ORG" if end - start > 1 else ""
    if _led_by(sentence, start) in LOCATIVE:
        return "GPE"
    if is_given_name(first) or (end - start > 1 and last.dep in ("nsubj", "nsubjpass", "pobj", "conj", "ROOT", "appos")):
        return "PERSON"
    return ""


def relabel_people(sentence: Sentence, knowledge: Knowledge) -> None:
    """Label two to four capitalised words as a person where people occur: as a subject, after "by", beside a person."""
    for entity in sentence.entities:
        words = [word for word in sentence.words[entity.start : entity.end] if word.pos != "DET"]
        last = words[-1].text.lower() if words else ""
        if entity.kind not in ("ORG", "PRODUCT", "WORK_OF_ART", "FAC", "LOC") or not 2 <= len(words) <= 4:
            continue
        named = all(word.text[:1].isupper() and word.text[1:].islower() for word in words if word.text.isalpha())
        plain = knowledge.is_common_noun(last)
        placed = any(place_kind(word.text) for word in words) or place_kind(" ".join(word.text for word in words))
        if not named or plain or placed or words[-1].tag == "NNPS" or not all(word.text[:1].isalpha() for word in words):
            continue
        role = words[-1].dep in ("nsubj", "nsubjpass") or _led_by(sentence, entity.start) == "by"
        if role or "PERSON" in (coordinated(sentence, entity.start), _coordinated_after(sentence, entity.end)):
            entity.kind = "PERSON"


def relabel_places(sentence: Sentence, knowledge: Knowledge) -> None:
    """Label names after a locative preposition, or after "the island of", as places."""
    for entity in sentence.entities:
        if entity.kind not in ("PERSON", "ORG", "PRODUCT", "NORP", "FAC", "WORK_OF_ART"):
            continue
        name = sentence.text_of(entity.start, entity.end)
        preposition = _led_by(sentence, entity.start)
        single = entity.end - entity.start == 1
        if entity.kind != "NORP" and place_kind(name) and (preposition in LOCATIVE or preposition == "of"):
            entity.kind = "GPE"
            continue
        noun = sentence.words[entity.end - 1].text.lower()
        common = knowledge.is_common_noun(noun)
        if entity.kind in ("PERSON", "PRODUCT", "NORP") and preposition in ("in", "at", "near", "off", "between"):
            if place_kind(name) or (not common and not is_given_name(sentence.words[entity.start].text)):
                entity.kind = "GPE"
        elif single and preposition in ("in", "near") and place_kind(name) and not common:
            entity.kind = "GPE"
        if preposition == "of" and entity.start >= 2:
            before = sentence.words[entity.start - 2]
            if before.pos == "NOUN" and before.lemma.lower() in GEOGRAPHIC:
                entity.kind = "GPE"


def _is_role(sentence: Sentence, position: int, knowledge: Knowledge) -> bool:
    """Return whether the word before a name is a role ("Cellist", "Presidents")."""
    plain = sentence.words[position].text.lower()
    return knowledge.is_role(plain) and not knowledge.is_instance(plain) and not is_given_name(plain)


def _retag_common(sentence: Sentence, position: int, knowledge: Knowledge) -> None:
    word = sentence.words[position]
    word.pos, word.tag = "NOUN", "NNS" if word.tag == "NNPS" else "NN"
    word.lemma = word.lemma.lower()


def _free_name(sentence: Sentence, position: int) -> bool:
    """Return whether the position holds a proper noun that no entity covers."""
    if not 0 <= position < len(sentence.words) or sentence.words[position].pos != "PROPN":
        return False
    return sentence.words[position].text[:1].isalnum() and sentence.entity_at(position) is None


def _joined(sentence: Sentence, position: int) -> bool:
    """Return whether a hyphen at the position joins two parts of a name ("Yo-Yo")."""
    word = sentence.words[position] if position < len(sentence.words) else None
    return (
        word is not None
        and word.text in _JOINING
        and not word.space
        and not sentence.words[position - 1].space
        and _free_name(sentence, position + 1)
    )


def _noun_follows(sentence: Sentence, end: int) -> bool:
    """Return whether a lower-case noun follows, numbers ignored."""
    while end < len(sentence.words) and sentence.words[end].pos == "NUM":
        end += 1
    return end < len(sentence.words) and sentence.words[end].pos == "NOUN" and sentence.words[end].text[:1].islower()


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


def _led_by(sentence: Sentence, start: int) -> str:
    """Return the preposition of a phrase in lower case; "" for none."""
    position = start - 1
    while position >= 0 and sentence.words[position].pos in ("DET", "ADJ"):
        position -= 1
    return sentence.words[position].text.lower() if position >= 0 and sentence.words[position].pos == "ADP" else ""
