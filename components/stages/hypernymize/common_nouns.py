"""Capitalised words that are common nouns: "a red Frisbee", "a German Shepherd", "an American football player".

WordNet tells classes from instances, and writes each lemma as English does. So a capital does not make a name of a word that is
a class of things ("Frisbee", "Doberman"), nor of a compound whose head is a common noun ("German shepherd", "Ferris wheel").
"""

from __future__ import annotations

from components.knowledge.cascade import Knowledge
from components.knowledge.gazetteers import place_kind
from components.knowledge.kinds import ANIMAL, ARTIFACT, KINDS, PERSON
from components.language.capitals import is_common_word, is_initialism
from components.language.wordnet import Synset
from components.language.words import plural
from components.stages.hypernymize.sentence import PLACES, Entity, Sentence

MATTER, PLANT = 20827, 17222
"""WordNet 3.0 synsets: matter (materials, food, drinks), plant."""
THINGS, LIVING = frozenset({ARTIFACT, MATTER}), frozenset({ANIMAL, PLANT})
FEASTS = frozenset({15157041, 15239292})
"""WordNet 3.0 synsets: calendar day, season (of a feast). A feast that is no date names no one: "a Christmas tree"."""
INDEFINITE = frozenset({"a", "an"})
UNCOUNTED = frozenset({"GPE", "LOC", "FAC", "ORG", "PERSON"})
"""Types whose names take no indefinite article: there is one Paris."""


def is_written_so(word: str, knowledge: Knowledge) -> bool:
    """Return whether WordNet writes a class of things with these capitals: "DVD"."""
    senses = [sense for sense in knowledge.wordnet.senses(word) if word in sense.lemmas and not sense.instance_of]
    return any(lemma.islower() for sense in senses for lemma in sense.lemmas)


def keep_common_nouns(sentence: Sentence, knowledge: Knowledge) -> None:
    """Tag names of classes of things and compounds with a common head as common nouns, without an entity."""
    for start in range(len(sentence.words)):
        if sentence.words[start].pos not in ("PROPN", "NOUN", "ADJ") or not sentence.words[start].text[:1].isupper():
            continue
        end = _end_of_common_noun(sentence, start, knowledge)
        entity = sentence.entity_at(start)
        if end == start:
            continue
        if entity is not None and (_named(sentence, entity.start, start) or _named(sentence, end, entity.end)):
            continue  # a part of a longer name: "a University of Bristol player"
        sentence.entities = [each for each in sentence.entities if each.end <= start or end <= each.start]
        for position in range(start, end):
            word = sentence.words[position]
            plural_tag = word.tag in ("NNS", "NNPS")
            word.pos, word.tag, word.lemma, word.is_class = "NOUN", "NNS" if plural_tag else "NN", word.lemma.lower(), True
            if position < end - 1:
                word.dep, word.head = "compound", end - 1


def settle_indefinite(sentence: Sentence, knowledge: Knowledge) -> None:
    """Correct names after "a" or "an": the article counts one of several things, so no place and no organisation is meant.

    A last word that is a common noun is the head ("a Miami jersey"). Without one the name has no known kind: without an entity,
    ``find_shortcoming`` drops what is left of it.
    """
    kept = []
    for entity in sentence.entities:
        if entity.kind in UNCOUNTED and is_indefinite(sentence, entity) and not sentence.is_modifier(entity):
            last = sentence.words[entity.end - 1]
            if is_common_word(last.text.lower(), knowledge.wordnet) and knowledge.is_common_noun(last.text.lower()):
                last.pos, last.tag, last.lemma = "NOUN", "NN", last.text.lower()
                last.is_class = knowledge.is_object(last.lemma)
                for position in range(entity.start, entity.end - 1):
                    sentence.words[position].dep, sentence.words[position].head = "compound", entity.end - 1
                entity.end -= 1
            else:
                continue
        if entity.end > entity.start:
            kept.append(entity)
    sentence.entities = kept


def _end_of_common_noun(sentence: Sentence, start: int, knowledge: Knowledge) -> int:
    """Return the end of the common noun that begins at ``start``; ``start`` if none does."""
    words = sentence.words
    for length in (3, 2, 1):
        end = start + length
        if end > len(words) or (end < len(words) and _named(sentence, end, end + 1)):
            continue
        phrase = " ".join(word.text for word in words[start:end]).lower().replace(" 's", "'s").replace(" ’s", "'s")
        if (length > 1 and _is_compound(phrase, knowledge)) or (length == 1 and _is_class(sentence, start, knowledge)):
            return end
    return start


def _is_compound(phrase: str, knowledge: Knowledge) -> bool:
    """Return whether WordNet has the phrase, always with its last word in small letters: no "Labour Party"."""
    lemmas = [lemma for sense in knowledge.wordnet.senses(phrase) for lemma in (*sense.lemmas, *map(plural, sense.lemmas))]
    same = [lemma for lemma in lemmas if lemma.lower() == phrase]
    return bool(same) and all(lemma.split()[-1] == phrase.split()[-1] for lemma in same)


def _is_class(sentence: Sentence, position: int, knowledge: Knowledge) -> bool:
    """Return whether a capitalised word is a class of things.

    A word that is a name as well ("Chihuahua"), or is written in lower case as well ("jeep"), needs an article, adjective or
    number. Of the latter only things count, unless a number counts them: cars and teams are named after animals.
    """
    plain = sentence.words[position].text.lower()
    senses = knowledge.wordnet.senses(plain)
    written_so = is_written_so(sentence.words[position].text, knowledge)
    if is_initialism(sentence.words[position].text) and not written_so:
        return False  # "EU" is no element
    lower = is_common_word(plain, knowledge.wordnet)
    after = sentence.words[position + 1] if position + 1 < len(sentence.words) else None
    before = sentence.words[position - 1] if position else None
    counted = before is not None and before.pos == "NUM"
    kinds = THINGS if lower and not counted else THINGS | LIVING
    noun = sentence.modifies(position, position + 1)
    modifies = noun is not None and sentence.words[noun].text.islower()
    entity = sentence.entity_at(position)
    if modifies or entity is None or entity.kind in ("DATE", "EVENT"):
        kinds |= FEASTS
    if entity is not None and entity.kind in PLACES and place_kind(plain) in ("country", "state"):
        return False  # "western Japan"
    brand = lower and modifies and not written_so  # "an Apple computer"
    nationality = entity is not None and entity.kind == "NORP"
    if brand or nationality or (after is not None and after.pos == "NUM"):
        return False
    if not any(not sense.instance_of and _is_kind(knowledge, sense, kinds) for sense in senses):
        return False
    determined = before is not None and (
        (before.pos == "DET" and not (lower and before.text.lower() == "the"))  # names take "the" as well: "the Giants"
        or before.pos == "NUM"
        or ((before.pos == "ADJ" or before.tag == "PRP$") and before.text.islower())
    )
    return determined or not (lower or any(sense.instance_of for sense in senses))


def _is_kind(knowledge: Knowledge, sense: Synset, kinds: frozenset[int]) -> bool:
    return knowledge.wordnet.is_a(sense, kinds) and not knowledge.wordnet.is_a(sense, frozenset({PERSON}))


def _named(sentence: Sentence, start: int, end: int) -> bool:
    """Return whether a span has a capitalised proper noun or a capitalised part of a named entity."""
    for position in range(start, end):
        word, entity = sentence.words[position], sentence.entity_at(position)
        if (
            word.pos != "DET"
            and word.text[:1].isupper()
            and (word.pos == "PROPN" or (entity is not None and entity.kind in KINDS))
        ):
            return True
    return False


def is_indefinite(sentence: Sentence, entity: Entity) -> bool:
    """Return whether "a" or "an" belongs to a name: inside it, as a dependent, or before the adjectives before it."""
    words, position = sentence.words, entity.start - 1
    inside = range(entity.start, entity.end)
    if any(word.text.lower() in INDEFINITE and word.pos == "DET" and word.head in inside for word in words[: entity.end]):
        return True
    while position >= 0 and words[position].pos == "ADJ" and words[position].text.islower():
        position -= 1
    return position >= 0 and words[position].text.lower() in INDEFINITE and words[position].pos == "DET"
