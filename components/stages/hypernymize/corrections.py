"""The first step: plain mistakes of tagger and entity recogniser fixed, by the dictionary and by what stands beside.

Changes no text, so nothing is recorded. What the model is known to miss: names it leaves out or cuts short, names of
places taken for people, verbs taken for nouns, plain words taken for names, dates.
"""

from __future__ import annotations

from components.knowledge.cascade import Knowledge
from components.knowledge.gazetteers import is_given_name, place_kind
from components.stages.hypernymize.dates import dates
from components.stages.hypernymize.names import coordinated, find, people, place, trim, widen
from components.stages.hypernymize.sentence import Entity, Sentence


def hint(sentence: Sentence, knowledge: Knowledge) -> str:
    """Put tags and entities right; see the module."""
    _mend_words(sentence, knowledge)
    trim(sentence, knowledge)
    widen(sentence, knowledge)
    place(sentence, knowledge)
    find(sentence, knowledge)
    people(sentence, knowledge)
    _verb(sentence, knowledge)
    _date(sentence)
    sentence.entities.sort(key=lambda entity: entity.start)
    return ""


def _mend_words(sentence: Sentence, knowledge: Knowledge) -> None:
    for position, word in enumerate(sentence.words):
        plain = word.text.lower()
        capital = word.text[:1].isupper()
        if word.tag == "NN" and plain.isalpha() and not knowledge.is_noun(plain) and knowledge.is_verb(plain):
            word.pos = "VERB"  # "adorn"
        elif word.pos == "PROPN" and word.text.islower():
            word.pos, word.tag = "NOUN", "NNS" if word.tag == "NNPS" else "NN"  # "a wooden jetty"
        elif word.pos == "NOUN" and capital and plain.isalpha() and _only_a_name(plain, knowledge):
            word.pos = "PROPN"  # "Lisbon", "Coyoacán"
        elif capital and position and word.pos in ("ADV", "VERB", "ADJ", "AUX") and _odd_capital(sentence, position):
            word.pos = "PROPN"  # "the ship Ever Given"
        elif word.pos == "NOUN" and capital and position and _before_small_noun(sentence, position):
            word.pos = "PROPN"  # "the Lilium air taxi"
        elif word.pos == "PROPN" and sentence.entity_at(position) is None:
            alone = sentence.modifies(position, position + 1) is None and not _beside_a_name(sentence, position)
            if alone and knowledge.is_noun(plain) and not knowledge.is_instance(plain) and not is_given_name(plain):
                word.pos, word.lemma = "NOUN", word.lemma.lower()  # "Petunia", "Tourists"


def _verb(sentence: Sentence, knowledge: Knowledge) -> None:
    """After two people in coordination a noun that is a verb's base form is that verb: "X and Y hang in"."""
    for entity in sentence.entities:
        word = sentence.words[entity.end] if entity.end < len(sentence.words) else None
        if entity.kind != "PERSON" or word is None or word.tag != "NN" or not knowledge.is_verb(word.text):
            continue
        if coordinated(sentence, entity.start) == "PERSON":
            word.pos, sentence.words[entity.end - 1].dep = "VERB", "nsubj"


def _date(sentence: Sentence) -> None:
    """Spans that are dates by their form are DATE entities, with what the recogniser saw of them."""
    for start, end in dates([word.text for word in sentence.words]):
        met = [entity for entity in sentence.entities if entity.start < end and start < entity.end]
        if any(entity.kind not in ("DATE", "TIME", "CARDINAL", "ORDINAL") for entity in met):
            continue
        low, high = min([start, *(each.start for each in met)]), max([end, *(each.end for each in met)])
        sentence.entities = [entity for entity in sentence.entities if entity not in met]
        sentence.entities.append(Entity(low, high, "DATE"))


def _only_a_name(plain: str, knowledge: Knowledge) -> bool:
    return (
        knowledge.is_instance(plain)
        or bool(place_kind(plain) and not knowledge.is_noun(plain))
        or not _dictionary(plain, knowledge)
    )


def _dictionary(plain: str, knowledge: Knowledge) -> bool:
    """Whether the dictionary or the frequency list takes a word for a plain one."""
    from components.language.words import zipf

    return knowledge.is_noun(plain) or knowledge.is_verb(plain) or zipf(plain) >= 3.0


def _beside_a_name(sentence: Sentence, position: int) -> bool:
    """Whether a proper noun stands next to a word, or a noun that it may modify after it."""
    words = sentence.words
    before = position > 0 and words[position - 1].pos == "PROPN"
    return before or (position + 1 < len(words) and words[position + 1].pos in ("PROPN", "NOUN"))


def _odd_capital(sentence: Sentence, position: int) -> bool:
    """Whether a capital stands where only a name's would: where most words have none, beside a name or noun."""
    words = sentence.words
    before = words[position - 1]
    if before.pos == "PUNCT" or sum(word.text[:1].isupper() for word in words) * 2 > len(words):
        return False
    after = words[position + 1] if position + 1 < len(words) else None
    return (before.pos in ("NOUN", "PROPN") and words[position].pos != "ADJ") or (after is not None and after.pos == "PROPN")


def _before_small_noun(sentence: Sentence, position: int) -> bool:
    """Whether a noun in small letters follows right after a word that it modifies."""
    place = position + 1
    while place < len(sentence.words) and sentence.words[place].pos == "NUM":  # "the Falcon 9 rocket"
        place += 1
    after = sentence.words[place] if place < len(sentence.words) else None
    return (
        after is not None
        and after.pos == "NOUN"
        and after.text[:1].islower()
        and sentence.words[position].dep in ("compound", "nmod")
    )
