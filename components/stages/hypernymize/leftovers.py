"""The step that finds names no other step saw: words with a capital that English does not give them.

A word that no dictionary lists ("Oktoberfest"), or a common word with a capital inside a sentence ("the One mini"), is a name or
a part of one. Before a noun it is removed like other names there; elsewhere it drops the caption. Source: ours.
"""

from __future__ import annotations

from components.knowledge.cascade import Knowledge
from components.knowledge.gazetteers import place_kind
from components.language.capitals import begins_sentence, is_common_word, is_in_use, is_initialism
from components.language.dictionary import is_listed
from components.language.person_names import unaccented
from components.language.words import zipf
from components.stages.hypernymize.common_nouns import is_written_so
from components.stages.hypernymize.name_types import is_role
from components.stages.hypernymize.people import FREQUENT
from components.stages.hypernymize.sentence import Sentence, Word

FREQUENT_IN_CAPITALS = 0.5
"""Share of words with a capital from which capitals say nothing, as in a title."""
ABBREVIATED = 3
"""Letters of an abbreviation in capitals, at most, that a common word may be as well: "UP"."""
USUAL = 4.3
"""Frequency (Zipf) of a noun that needs no capital after "the"."""
FAMILIAR = 4.2
"""Frequency (Zipf) of a word that may begin a sentence though no dictionary lists it."""
RARE = 3.5
"""Frequency (Zipf) under which a word that no dictionary lists may be a town in small letters."""
APOSTROPHES = frozenset("'’´`")
FUNCTIONS = frozenset({"DET", "PRON", "ADP", "AUX", "CCONJ", "SCONJ", "PART", "INTJ"})
"""Tags of words that are names only within titles."""


def strip_leftovers(sentence: Sentence, knowledge: Knowledge) -> str:
    """Remove the names left before a noun, and tag other names left as names."""
    written = [word.text for word in sentence.words]
    letters = [word for word in sentence.words if word.alive and word.text[:1].isalpha()]
    titled = sum(word.text[:1].isupper() for word in letters) > FREQUENT_IN_CAPITALS * len(letters)
    gone = {word.text for word in sentence.words if not word.alive and word.pos == "PROPN"}
    struck = []
    for position in sentence.alive():
        word = sentence.words[position]
        if word.renamed or word.is_class or word.text == "I" or not word.text[:1].isalpha():
            continue
        if word.text.islower():
            if _is_place(word, knowledge):
                word.pos = "PROPN"
            continue
        inside = not (titled or sentence.before(position) is None or begins_sentence(written, position))
        again = word.text in gone and not is_written_so(word.text, knowledge)
        if not (again or _is_name(sentence, position, knowledge, inside=inside)):
            continue
        if _modifies(sentence, position):
            struck.append(position)
            mark = sentence.after(position)
            if mark is not None and (sentence.words[mark].tag in ("POS", "CC") or sentence.words[mark].text in APOSTROPHES):
                struck.append(mark)
        else:
            word.pos = "PROPN"
    return f"name before a noun: {sentence.strike(struck)}" if struck else ""


def _is_name(sentence: Sentence, position: int, knowledge: Knowledge, *, inside: bool) -> bool:
    """Return whether English does not give a word its capital.

    Args:
        sentence: the sentence.
        position: the word's.
        knowledge: the dictionary.
        inside: the word is inside a sentence, so that a common word has no capital.
    """
    word, plain = sentence.words[position], unaccented(sentence.words[position].text.lower())
    common = is_common_word(plain, knowledge.wordnet)
    abbreviated = is_initialism(word.text)
    usual_so = is_written_so(word.text, knowledge) and (abbreviated or not common)
    if usual_so and not _ends_name(sentence, position, knowledge):
        return False
    if _joined(sentence, position):
        return False
    if abbreviated and len(plain) <= ABBREVIATED:
        return True
    if word.pos in FUNCTIONS:
        after = sentence.after(position)
        replaced = after is not None and sentence.words[after].renamed
        # A title: "a scene from After Earth".
        return inside and not (is_initialism(word.text) or (replaced and word.pos == "DET"))
    if not inside:
        nation = any(not sense.instance_of for sense in knowledge.wordnet.senses(plain))
        listed = is_in_use(plain, knowledge.wordnet) or zipf(plain) >= FREQUENT
        usual = word.pos != "PROPN" and zipf(plain) >= FAMILIAR
        return not common and not usual and (word.pos not in ("ADJ", "VERB", "ADV") or nation or not listed)
    if not common:
        return True
    beside = [sentence.words[at] for at in (position - 1, position + 1) if 0 <= at < len(sentence.words)]
    # Not "iPhone Pro".
    alone = all(each.alive and (each.renamed or each.text.islower()) for each in beside if each.text.isalpha())
    if word.tag in ("NN", "NNP") and alone and is_role(sentence, position, knowledge):
        return False
    return word.tag not in ("NN", "NNP") or not _is_definite(sentence, position, knowledge)


def _is_place(word: Word, knowledge: Knowledge) -> bool:
    """Return whether a word in small letters is a name that no dictionary has as a common word: "seattle", "laos"."""
    plain = word.text
    kind = place_kind(plain) if len(plain) > ABBREVIATED else ""  # "lie" is a country's code
    noun = word.pos in ("NOUN", "PROPN") or (word.tag in ("VB", "VBP") and kind and not knowledge.is_verb(plain))
    if not noun or is_common_word(plain, knowledge.wordnet):
        return False
    senses = knowledge.wordnet.senses(plain)
    places = [sense for sense in senses if sense.instance_of or sense.category == "noun.group"]  # "Asia", and its peoples
    if len(places) == len(senses) and any(sense.instance_of for sense in senses):
        return not plain.endswith("s") or kind in ("country", "state")
    return bool(kind) and zipf(plain) < RARE and not is_listed(plain, knowledge.wordnet.folder)


def _ends_name(sentence: Sentence, position: int, knowledge: Knowledge) -> bool:
    """Return whether an abbreviation that may mean a person follows a name, and so is a part of it: "Mini JCW GP"."""
    before = sentence.words[position - 1] if position else None
    return before is not None and before.pos == "PROPN" and knowledge.is_role(sentence.words[position].text.lower())


def _is_definite(sentence: Sentence, position: int, knowledge: Knowledge) -> bool:
    """Return whether a usual noun is between "the" and small letters, and no animal (a team or inn): "the Universe"."""
    plain = sentence.words[position].text.lower()
    after = sentence.words[position + 1] if position + 1 < len(sentence.words) else None
    alone = sentence.entity_at(position) is None and (after is None or not after.text[:1].isupper())
    usual = zipf(plain) >= USUAL and not plain.endswith("s") and not knowledge.is_animal(plain)
    return alone and usual and position > 0 and sentence.words[position - 1].text == "the"


def _joined(sentence: Sentence, position: int) -> bool:
    """Return whether a word is joined to a single letter, or is that letter: "T-shirt", "U-Lock"."""
    before = [word.text for word in sentence.words[max(position - 2, 0) : position]]
    after = sentence.words[position + 1 : position + 2]
    letter = len(sentence.words[position].text) == 1 and any(word.text == "-" for word in after)
    return letter or (len(sentence.words[position].text) > 1 and len(before) == 2 and len(before[0]) == 1 and before[1] == "-")


def _modifies(sentence: Sentence, position: int) -> bool:
    """Return whether a word is before a noun that it modifies."""
    if sentence.words[position].tag in ("NNPS", "NNS"):
        return False  # "Fans of the Giants cheer"
    after = sentence.after(position)
    beside = after == position + 1 and sentence.words[after].pos == "NOUN" and sentence.words[after].text.islower()
    return beside or sentence.modifies(position, position + 1) is not None
