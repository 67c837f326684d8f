"""The first step: plain mistakes of tagger and entity recogniser mended, by the dictionary and by what stands beside.

Changes no text, so nothing is recorded. What the model is known to miss: names it leaves out or cuts short, names of
places taken for people, verbs taken for nouns, plain words taken for names, dates.
"""

from __future__ import annotations

from components.hypernymize.dates import dates
from components.hypernymize.sentence import Entity, Sentence
from components.providers.knowledge import Knowledge
from components.providers.knowledge_gazetteers import is_given_name, place_kind

NAMED = frozenset({"PERSON", "GPE", "LOC", "FAC", "ORG", "EVENT", "WORK_OF_ART", "PRODUCT", "LAW"})
LOCATIVE = frozenset({"in", "at", "near", "off", "outside", "between", "from", "to", "towards", "around", "across", "through"})
_GEOGRAPHIC = """
    island isle islet coast gulf bay lake valley town city village hamlet state province region county district port harbour
    kingdom republic country parish municipality borough suburb resort capital peninsula
"""
GEOGRAPHIC = frozenset(_GEOGRAPHIC.split())
"""Nouns that are followed by "of" and the name of such a place."""
_JOINING = frozenset({"-", "–", "‑"})


def mend(sentence: Sentence, knowledge: Knowledge) -> str:
    """Put tags and entities right; see the module."""
    _mend_words(sentence, knowledge)
    _trim(sentence, knowledge)
    _widen(sentence, knowledge)
    _place(sentence, knowledge)
    _find(sentence, knowledge)
    _people(sentence, knowledge)
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


def _trim(sentence: Sentence, knowledge: Knowledge) -> None:
    """Quotes do not belong to an entity, nor the role of its bearer; plain words are none."""
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
        if entity.kind == "PERSON":
            while entity.end - entity.start > 1 and _is_role(sentence, entity.start, knowledge):
                _common_noun(sentence, entity.start, knowledge)
                entity.start += 1
        if entity.kind == "PERSON" and entity.end - entity.start == 1 and words[entity.start].tag == "NNPS":
            entity.kind = "NORP"  # "Africans"
        if entity.end <= entity.start or (entity.kind in NAMED and _plain_words(sentence, entity, knowledge)):
            continue
        kept.append(entity)
    sentence.entities = kept


def _titled(sentence: Sentence, entity: Entity, knowledge: Knowledge) -> bool:
    """Whether a name begins with the role of a person and goes on with what is no common noun."""
    last = sentence.words[entity.end - 1].text.lower()
    plain = knowledge.is_noun(last) and not knowledge.is_instance(last)
    return entity.end - entity.start > 1 and _is_role(sentence, entity.start, knowledge) and not plain


def _widen(sentence: Sentence, knowledge: Knowledge) -> None:
    """A name's words stand together: proper nouns right beside an entity belong to it."""
    for entity in sentence.entities:
        if entity.kind not in NAMED and entity.kind != "NORP":
            continue
        while _free_name(sentence, entity.end):
            entity.end += 1
        while _free_name(sentence, entity.start - 1) and not _is_role(sentence, entity.start - 1, knowledge):
            entity.start -= 1
        if entity.kind in ("NORP", "GPE") and entity.end - entity.start > 1 and is_given_name(sentence.words[entity.start].text):
            entity.kind = "PERSON"


def _find(sentence: Sentence, knowledge: Knowledge) -> None:
    """Names that no entity covers become one, of the kind that their words and their place in the sentence show."""
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
            _common_noun(sentence, start, knowledge)
            start, titled = start + 1, True
        kind = _kind(sentence, start, end, knowledge, titled=titled)
        if kind:
            sentence.entities.append(Entity(start, end, kind))
        position = end


def _people(sentence: Sentence, knowledge: Knowledge) -> None:
    """Two or three capitalised words that are no common noun's are a person where people stand: by whom, who does, with whom."""
    for entity in sentence.entities:
        words = [word for word in sentence.words[entity.start : entity.end] if word.pos != "DET"]
        last = words[-1].text.lower() if words else ""
        if entity.kind not in ("ORG", "PRODUCT", "WORK_OF_ART", "FAC", "LOC") or not 2 <= len(words) <= 4:
            continue
        named = all(word.text[:1].isupper() and word.text[1:].islower() for word in words if word.text.isalpha())
        plain = knowledge.is_noun(last) and not knowledge.is_instance(last)
        placed = any(place_kind(word.text) for word in words) or place_kind(" ".join(word.text for word in words))
        if not named or plain or placed or words[-1].tag == "NNPS" or not all(word.text[:1].isalpha() for word in words):
            continue
        role = words[-1].dep in ("nsubj", "nsubjpass") or _led_by(sentence, entity.start) == "by"
        if role or "PERSON" in (_coordinated(sentence, entity.start), _coordinated_after(sentence, entity.end)):
            entity.kind = "PERSON"


def _coordinated_after(sentence: Sentence, end: int) -> str:
    """The kind of the name that is in coordination with a name, after it; "" for none."""
    if end + 1 >= len(sentence.words) or sentence.words[end].text.lower() not in ("and", ",", "&"):
        return ""
    entity = sentence.entity_at(end + 1)
    return entity.kind if entity is not None else ""


def _kind(sentence: Sentence, start: int, end: int, knowledge: Knowledge, *, titled: bool) -> str:
    """What a name is that the recogniser did not see, or "" when nothing tells."""
    words, name = sentence.words, sentence.text_of(start, end)
    first, last = words[start].text, words[end - 1]
    if last.tag == "NNPS" and end - start == 1:
        return "NORP"  # "Africans"
    if place_kind(name):
        return "GPE"
    if _coordinated(sentence, start) in ("GPE", "PERSON"):
        return _coordinated(sentence, start)
    if titled or any(is_given_name(word.text) for word in words[start : end - 1]):
        return "PERSON"
    if knowledge.is_noun(last.text.lower()) and not knowledge.is_instance(last.text.lower()):
        return "ORG" if end - start > 1 else ""
    if _led_by(sentence, start) in LOCATIVE:
        return "GPE"
    if is_given_name(first) or (end - start > 1 and last.dep in ("nsubj", "nsubjpass", "pobj", "conj", "ROOT", "appos")):
        return "PERSON"
    return ""


def _place(sentence: Sentence, knowledge: Knowledge) -> None:
    """Single names under a preposition of place, and names after "the island of", are places whatever they sound like."""
    for entity in sentence.entities:
        if entity.kind not in ("PERSON", "ORG", "PRODUCT", "NORP", "FAC", "WORK_OF_ART"):
            continue
        name = sentence.text_of(entity.start, entity.end)
        lead = _led_by(sentence, entity.start)
        one = entity.end - entity.start == 1
        if entity.kind != "NORP" and place_kind(name) and (lead in LOCATIVE or lead == "of"):
            entity.kind = "GPE"
            continue
        noun = sentence.words[entity.end - 1].text.lower()
        common = knowledge.is_noun(noun) and not knowledge.is_instance(noun)
        if entity.kind in ("PERSON", "PRODUCT", "NORP") and lead in ("in", "at", "near", "off", "between"):
            if place_kind(name) or (not common and not is_given_name(sentence.words[entity.start].text)):
                entity.kind = "GPE"
        elif one and lead in ("in", "near") and place_kind(name) and not common:
            entity.kind = "GPE"
        if lead == "of" and entity.start >= 2:
            before = sentence.words[entity.start - 2]
            if before.pos == "NOUN" and before.lemma.lower() in GEOGRAPHIC:
                entity.kind = "GPE"


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
    from components.providers.language_words import zipf

    return knowledge.is_noun(plain) or knowledge.is_verb(plain) or zipf(plain) >= 3.0


def _is_role(sentence: Sentence, position: int, knowledge: Knowledge) -> bool:
    """Whether a capitalised word before a name says what its bearer is ("Cellist", "Presidents")."""
    plain = sentence.words[position].text.lower()
    return knowledge.is_role(plain) and not knowledge.is_instance(plain) and not is_given_name(plain)


def _common_noun(sentence: Sentence, position: int, knowledge: Knowledge) -> None:
    word = sentence.words[position]
    word.pos, word.tag = "NOUN", "NNS" if word.tag == "NNPS" else "NN"
    word.lemma = word.lemma.lower()


def _plain_words(sentence: Sentence, entity: Entity, knowledge: Knowledge) -> bool:
    """Whether a supposed name is plain words: without a capital ("a koala"), or one known word after "the" ("the Universe")."""
    words = [word for word in sentence.words[entity.start : entity.end] if word.pos != "DET"]
    if not words:
        return True
    if all(word.text == word.text.lower() and knowledge.is_noun(word.text) for word in words):
        return True
    only = words[-1].text.lower()
    if len(words) == 1 and entity.start == 0 and words[0].tag in ("NNS", "NNPS") and knowledge.is_noun(only):
        words[0].pos, words[0].tag, words[0].lemma = "NOUN", "NNS", words[0].lemma.lower()
        return not place_kind(only)  # "Commuters", whose capital only begins the text
    led = entity.start > 0 and sentence.words[entity.start - 1].pos == "DET"
    led = led or sentence.words[entity.start].pos == "DET"
    if len(words) == 1 and led and knowledge.is_noun(only) and not knowledge.is_instance(only) and not place_kind(only):
        words[-1].pos, words[-1].lemma = "NOUN", words[-1].lemma.lower()
        return True
    return False


def _free_name(sentence: Sentence, position: int) -> bool:
    """Whether there is a proper noun at that position which no entity covers."""
    if not 0 <= position < len(sentence.words) or sentence.words[position].pos != "PROPN":
        return False
    return sentence.words[position].text[:1].isalnum() and sentence.entity_at(position) is None


def _joined(sentence: Sentence, position: int) -> bool:
    """Whether a hyphen at that position joins two parts of a name ("Yo-Yo")."""
    word = sentence.words[position] if position < len(sentence.words) else None
    return (
        word is not None
        and word.text in _JOINING
        and not word.space
        and not sentence.words[position - 1].space
        and _free_name(sentence, position + 1)
    )


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


def _coordinated(sentence: Sentence, start: int) -> str:
    """The kind of the name that a name is in coordination with, before it: "Naomi and ..."; "" for none."""
    joint = start - 1
    if joint < 1 or sentence.words[joint].text.lower() not in ("and", ",", "&", "to"):
        return ""
    entity = sentence.entity_at(joint - 1)
    return entity.kind if entity is not None else ""


def _verb(sentence: Sentence, knowledge: Knowledge) -> None:
    """After two people in coordination a noun that is a verb's base form is that verb: "X and Y hang in"."""
    for entity in sentence.entities:
        word = sentence.words[entity.end] if entity.end < len(sentence.words) else None
        if entity.kind != "PERSON" or word is None or word.tag != "NN" or not knowledge.is_verb(word.text):
            continue
        if _coordinated(sentence, entity.start) == "PERSON":
            word.pos, sentence.words[entity.end - 1].dep = "VERB", "nsubj"


def _led_by(sentence: Sentence, start: int) -> str:
    """The preposition before a phrase, in lower case; "" when it has none."""
    place = start - 1
    while place >= 0 and sentence.words[place].pos in ("DET", "ADJ"):
        place -= 1
    return sentence.words[place].text.lower() if place >= 0 and sentence.words[place].pos == "ADP" else ""
