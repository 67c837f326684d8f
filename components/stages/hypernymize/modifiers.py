"""The step that removes modifiers of certain types: names, nationalities, numbers, units, brands.

Source: CC §3, "the following steps are applied"; brands are ours.
"""

from __future__ import annotations

from components.knowledge.cascade import Knowledge
from components.language.capitals import begins_sentence
from components.stages.hypernymize.removals import CURRENCY
from components.stages.hypernymize.sentence import NUMBERS, SEVERAL, Sentence

UNIT_LETTERS = 3
"""Fewer letters joined to a number are its unit."""


def strip_modifiers(sentence: Sentence, knowledge: Knowledge) -> str:
    """Remove modifiers of a noun that are proper nouns, nationalities, numbers, units or brands."""
    names: list[int] = []
    numbers: list[int] = []
    written = [word.text for word in sentence.words]
    for position in sentence.alive():
        word, entity = sentence.words[position], sentence.entity_at(position)
        kind = entity.kind if entity else ""
        if word.renamed or word.pos in ("DET", "ADP", "PUNCT", "VERB", "AUX", "PRON"):
            continue
        adjective = word.pos == "ADJ" and not begins_sentence(written, position)  # "the Adriatic town"
        # English capitalises names and nationalities; "french fries" has lost its.
        proper = word.text[:1].isupper() and (adjective or word.pos == "PROPN" or kind in ("NORP", "PRODUCT", "ORG"))
        counted = word.pos in ("NUM", "SYM") or kind in NUMBERS or word.text[:1].isdigit()
        beside = entity is not None and kind not in NUMBERS and proper and sentence.noun_beside(entity) is not None
        if word.text in ("one", "One") and counted and _counts_one(sentence, position):
            word.text = "a" if word.text.islower() else "A"
            word.pos, word.tag, word.dep = "DET", "DT", "det"
            continue
        goes_on = any(each.pos == "PROPN" for each in sentence.words[position + 1 : position + 2])
        inside = counted and word.head in names and goes_on  # "a Zqxwv Pro 5 Electronic Camera"
        if inside or ((proper or counted) and (beside or _modifies_noun(sentence, position))):
            (numbers if counted else names).append(position)
    names += _joints(sentence, names)
    names += _compounds(sentence, names)
    numbers += _comparisons(sentence, numbers)
    numbers += _measures(sentence)
    several = [at for at in numbers if sentence.words[at].text.lower() in SEVERAL]
    numbers += [at - 1 for at in several if at and sentence.words[at - 1].text.lower() == "a"]  # "a hundred boats"
    numbers += _compounds(sentence, numbers)
    struck = [*names, *numbers]
    # Marks that joined removed modifiers ("Music & Cultural", "A-319") go with them.
    for position in sentence.alive():
        left, right = sentence.before(position), sentence.after(position)
        text = sentence.words[position].text
        joins = text in {"&", "-", "–", "/", "+", "#", "™", "®"} | CURRENCY and (left in struck or right in struck)
        joins = joins or (sentence.words[position].pos == "CCONJ" and left in struck)
        if (joins or (text in ("'s", "’s") and left in struck)) and position not in struck:
            struck.append(position)
    owners = {position for position in struck if _owns_one(sentence, position)}
    sentence.strike([position for position in struck if position not in owners or not set_article(sentence, position)])
    removed = (("name before a noun", names), ("number or unit before a noun", numbers))
    return "; ".join(
        f"{what}: {' '.join(sentence.words[position].text for position in sorted(positions))}"
        for what, positions in removed
        if positions
    )


def _owns_one(sentence: Sentence, mark: int) -> bool:
    """Return whether a genitive mark is that of an owner of one thing, which needs an article without it."""
    owner = sentence.words[mark - 1] if mark else None
    noun = sentence.words[owner.head] if owner is not None and owner.dep == "poss" else None
    return sentence.words[mark].tag == "POS" and noun is not None and noun.tag == "NN" and noun.text.islower()


def set_article(sentence: Sentence, mark: int) -> bool:
    """Turn the genitive mark of a removed owner into "the" and return whether it is: "X's counter" → "the counter".

    A determiner before the owner stays and does the same.
    """
    start = mark - 1
    while start > 0 and sentence.words[start].pos in ("PROPN", "NOUN", "ADJ", "NUM", "ADP", "PUNCT"):
        if sentence.words[start].text in (",", "of", "in", "with", "at", "on", "by", "for", "from", "to"):
            break
        start -= 1
    if sentence.words[start].pos == "DET" and sentence.words[start].alive:
        return False
    word = sentence.words[mark]
    word.text, word.pos, word.tag, word.space = "the", "DET", "DT", True
    sentence.words[mark - 1].space = True
    return True


def _counts_one(sentence: Sentence, position: int) -> bool:
    """Return whether "one" stands for an article: before a singular noun, without a determiner ("one person")."""
    before, noun = sentence.before(position), sentence.modifies(position, position + 1)
    determined = before is not None and (sentence.words[before].pos == "DET" or sentence.words[before].tag in ("PRP$", "POS"))
    capital = before is not None and sentence.words[position].text.istitle()  # "the One mini"
    return noun is not None and sentence.words[noun].tag == "NN" and not (determined or capital)


def _joints(sentence: Sentence, names: list[int]) -> list[int]:
    """Return the positions of small words that join removed parts of one name: "University of Bristol"."""
    return [
        position
        for entity in sentence.entities
        for position in range(entity.start + 1, entity.end - 1)
        if sentence.words[position].pos in ("ADP", "DET", "CCONJ") and entity.end - 1 in names
    ]


def _comparisons(sentence: Sentence, struck: list[int]) -> list[int]:
    """Return the positions of prepositions within removed amounts: the "than" of "more than 40"."""
    amounts = [entity for entity in sentence.entities if entity.kind in NUMBERS and entity.end - 1 in struck]
    return [at for each in amounts for at in range(each.start, each.end - 1) if sentence.words[at].pos == "ADP"]


def _measures(sentence: Sentence) -> list[int]:
    """Return the positions of the numerals of a hyphenated compound, which may depend on each other: "2.5 billion-year-old"."""
    positions: list[int] = []
    for position, word in enumerate(sentence.words[:-1]):
        hyphen = sentence.words[position + 1]
        if not (word.alive and word.pos == "NUM" and hyphen.text == "-" and not word.space):
            continue
        while position >= 0 and sentence.words[position].pos == "NUM" and sentence.words[position].alive:
            positions.append(position)
            position -= 1
    return positions


def _compounds(sentence: Sentence, struck: list[int]) -> list[int]:
    """Return the positions joined to removed words before a noun: the rest of "3-D", "12-year-old", "70m", "Oslo-based"."""
    positions: list[int] = []
    for position in struck:
        end = position + 1
        if end < len(sentence.words) and not sentence.words[position].space and len(sentence.words[end].text) < UNIT_LETTERS:
            end += sentence.words[end].text.isalpha()
        while end + 1 < len(sentence.words) and sentence.words[end].text == "-" and not sentence.words[end - 1].space:
            end += 2
        after = sentence.after(end - 1)
        if end > position + 1 and after is not None and sentence.words[after].pos in ("NOUN", "PROPN", "ADJ"):
            positions += range(position + 1, end)
    return positions


def _modifies_noun(sentence: Sentence, position: int) -> bool:
    """Return whether the word modifies a noun further right, directly or through other modifiers."""
    entity = sentence.entity_at(position)
    if sentence.modifies(position, position + 1) is not None:
        return True
    if entity is None:
        return False
    noun = sentence.modifies(entity.start, entity.end)
    return noun is not None and noun > position
