"""Corrections of named entities that the recogniser cuts short or misses; their types: ``name_types``.

By dictionary, gazetteers and context; no text changes. Tags of common words are corrected in ``corrections``.
"""

from __future__ import annotations

from components.knowledge.cascade import Knowledge
from components.knowledge.gazetteers import brand_kind, place_kind
from components.knowledge.kinds import KINDS
from components.knowledge.names import kind_by_form
from components.language.capitals import is_common_word
from components.language.dictionary import is_listed
from components.language.person_names import is_given_name, is_surname
from components.stages.hypernymize.common_nouns import INDEFINITE
from components.stages.hypernymize.name_types import LOCATIVE, coordinated, is_role, kind_by_words, led_by
from components.stages.hypernymize.people import is_family
from components.stages.hypernymize.sentence import NUMBERS, PLACES, Entity, Sentence

_ALONE = frozenset({"nsubj", "nsubjpass", "dobj", "pobj", "poss", "conj", "appos"})
"""Dependencies of a noun that modifies no other noun."""
PARTICLES = frozenset(
    {"van", "der", "den", "ter", "von", "zu", "de", "del", "della", "di", "da", "dos", "du", "la", "le", "bin", "al", "el"}
)
"""Small words within names of people."""
JOINING_PLACES = frozenset({"am", "an", "im", "der", "upon", "sur", "sous", "les", "en"})
"""Small words within names of places: "Braunau am Inn"."""
MAGNITUDES = frozenset({"k", "m", "mn", "mm", "b", "bn", "tn"})
"""Abbreviated magnitudes of numbers: "$66M"."""
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
        entity.kind = kind_by_words(sentence, entity, knowledge)
        if entity.kind == "PERSON":
            while entity.end - entity.start > 1 and is_role(sentence, entity.start, knowledge):
                _retag_common(sentence, entity.start, knowledge)
                entity.start += 1
        if entity.kind == "PERSON" and entity.end - entity.start == 1 and words[entity.start].tag == "NNPS":
            entity.kind = "NORP"  # "Africans"
        if entity.kind == "ORG" and entity.end - entity.start == 1 and is_family(words[entity.start], knowledge):
            entity.kind = "NORP"
        if entity.kind == "NORP" and words[entity.end - 1].tag == "NNP" and words[entity.end - 1].dep in _ALONE:
            continue  # a nationality alone takes an article or the plural; the name gets its type as a missed one
        if entity.end <= entity.start or (entity.kind in KINDS and _plain_words(sentence, entity, knowledge)):
            continue
        kept.append(entity)
    sentence.entities = kept


def _plain_words(sentence: Sentence, entity: Entity, knowledge: Knowledge) -> bool:
    """Return whether an entity is common words: lower-case ("a koala"), or one known noun after "the" ("the Universe")."""
    words = [word for word in sentence.words[entity.start : entity.end] if word.pos != "DET"]
    if not words:
        return True
    if all(
        word.text == word.text.lower() and (len(words) > 1 or is_listed(word.text, knowledge.wordnet.folder)) for word in words
    ):
        return True
    first = words[0]
    begins = entity.start == 0 and len(words) > 1 and all(word.text.islower() for word in words[1:])
    if begins and is_common_word(first.text.lower(), knowledge.wordnet):
        first.pos = "NOUN" if knowledge.is_noun(first.text) else "ADJ"
        return True  # "Sandy beach": the capital only begins the text
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
    """Join a maker's name and the number of its product ("Boeing" and "747" are one product), and a number and its magnitude.

    Numbers without an entity get one.
    """
    for position, word in enumerate(sentence.words):
        if word.pos == "NUM" and any(char.isdigit() for char in word.text) and sentence.entity_at(position) is None:
            sentence.entities.append(Entity(position, position + 1, "CARDINAL"))
    for entity in sentence.entities:
        magnitude = sentence.words[entity.end] if entity.end < len(sentence.words) else None
        if entity.kind not in NUMBERS or magnitude is None or magnitude.text.lower() not in MAGNITUDES:
            continue
        if not sentence.words[entity.end - 1].space and sentence.entity_at(entity.end) is None:
            entity.end, magnitude.pos = entity.end + 1, "NUM"
    for entity in list(sentence.entities):
        if entity.kind in ("ORG", "PRODUCT") and _is_designation(sentence, entity.end):
            entity.end, entity.kind = entity.end + 1, "PRODUCT"
        number = sentence.entity_at(entity.end)
        if entity.kind not in ("ORG", "PRODUCT") or number is None or number.kind not in ("PRODUCT", "CARDINAL"):
            continue
        if sentence.words[number.start].text[:1].isdigit() and number.end - number.start == 1:
            entity.end, entity.kind = number.end, "PRODUCT"
            sentence.entities.remove(number)


def _is_designation(sentence: Sentence, position: int) -> bool:
    """Return whether a word is a product's number with letters, in no entity: "X2000"."""
    text = sentence.words[position].text if position < len(sentence.words) else ""
    mixed = text.isalnum() and text[:1].isupper() and any(char.isdigit() for char in text)
    return mixed and sentence.entity_at(position) is None


def extend_names(sentence: Sentence, knowledge: Knowledge) -> None:
    """Extend each entity by the adjacent proper nouns, and each place by the place that goes on with it."""
    for place in [entity for entity in sentence.entities if entity.kind in PLACES]:
        start = place.end
        while start < len(sentence.words) and sentence.words[start].text in JOINING_PLACES:
            start += 1
        follower = sentence.entity_at(start) if start < len(sentence.words) else None
        if follower is not None and follower.start == start and follower.kind in PLACES:
            place.end = follower.end
            sentence.entities.remove(follower)
    for entity in sentence.entities:
        if entity.kind not in KINDS and entity.kind != "NORP":
            continue
        while _free_name(sentence, entity.end):
            entity.end += 1
        while stop := _past_particles(sentence, entity.end):
            entity.end = stop
        while _free_name(sentence, entity.start - 1) and not is_role(sentence, entity.start - 1, knowledge):
            entity.start -= 1
        second = sentence.entity_at(entity.end + 1) if sentence.text_of(entity.end, entity.end + 1) == "and" else None
        if second is not None and second.kind in PLACES and _ends_with_place(sentence, entity):
            entity.end = second.end  # "the Union of England and Wales"
            sentence.entities.remove(second)
        if entity.kind in ("NORP", "GPE") and entity.end - entity.start > 1 and is_given_name(sentence.words[entity.start].text):
            entity.kind = "PERSON"


def _ends_with_place(sentence: Sentence, entity: Entity) -> bool:
    words = sentence.words[entity.start : entity.end]
    return any(word.text == "of" for word in words) and bool(place_kind(words[-1].text))


def add_missed_names(sentence: Sentence, knowledge: Knowledge) -> None:
    """Add an entity for each run of proper nouns that no entity covers, typed by its words and context."""
    position = 0
    while position < len(sentence.words):
        end = position
        while _free_name(sentence, end) or (end > position and _joined(sentence, end)):
            end += 1
        while end > position and (stop := _past_particles(sentence, end)):
            end = stop
        if end == position:
            position += 1
            continue
        start, titled = position, False
        while end - start > 1 and is_role(sentence, start, knowledge):
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
    if kind_by_form(name, "LOC"):
        return "LOC"
    if coordinated(sentence, start) in ("GPE", "PERSON"):
        return coordinated(sentence, start)
    if titled or any(is_given_name(word.text) for word in words[start : end - 1]):
        return "PERSON"
    if knowledge.is_common_noun(last.text.lower()):
        return "ORG" if end - start > 1 else ""
    if led_by(sentence, start) in LOCATIVE:
        return "GPE"
    if is_given_name(first) or (end - start > 1 and last.dep in ("nsubj", "nsubjpass", "pobj", "conj", "ROOT", "appos")):
        return "PERSON"
    if last.dep not in _ALONE or (start and words[start - 1].text.lower() in INDEFINITE):
        return ""
    return "PERSON" if is_surname(name) and not brand_kind(name) else "ORG"


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


def _past_particles(sentence: Sentence, position: int) -> int:
    """Return the end of the name that goes on after particles ("van der Meer"); 0 if none does."""
    stop = position
    while stop < len(sentence.words) and sentence.words[stop].text in PARTICLES:
        stop += 1
    return stop + 1 if stop > position and _free_name(sentence, stop) else 0


def _noun_follows(sentence: Sentence, end: int) -> bool:
    """Return whether a lower-case noun follows, numbers ignored."""
    while end < len(sentence.words) and sentence.words[end].pos == "NUM":
        end += 1
    return end < len(sentence.words) and sentence.words[end].pos == "NOUN" and sentence.words[end].text[:1].islower()
