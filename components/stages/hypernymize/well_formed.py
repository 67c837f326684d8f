"""The reasons to drop a caption: too little is left, something identifying is left, or the rewriting broke the sentence.

Source: CC §3, "around 20 % of samples are discarded during this transformation because it can leave sentences too short or
inconsistent". Faults of form count only where words were removed: a published text may be odd, and that is no reason to drop it.
"""

from __future__ import annotations

from itertools import pairwise

from components.language.words import words_of
from components.stages.hypernymize.common_nouns import INDEFINITE
from components.stages.hypernymize.optional import is_unknown
from components.stages.hypernymize.removals import CURRENCY
from components.stages.hypernymize.sentence import MODIFIERS, NUMBERS, SUBJECTS, Sentence, Word

QUOTING = frozenset("\"'“‘«([{")
ARTICLES = frozenset({"a", "an", "the"})
TELLING = 2
"""Different words that describe, at least: "the building" and "person with person" describe nothing, but "a dog" does."""
OBJECTS = frozenset({"dobj", "attr"})


def find_shortcoming(
    sentence: Sentence, min_words: int, min_name_signals: int, *, removed: bool = False
) -> tuple[str, str, str] | None:
    """Return why the caption must be dropped (rule, value, threshold), or None."""
    alive = [sentence.words[index] for index in sentence.alive()]
    words = words_of(sentence.render())
    if len(words) < min_words:
        return "too_short", str(len(words)), f">= {min_words} words"
    names = [place for place in sentence.alive() if is_unknown(sentence.words[place])]
    if names:
        entities = (sentence.entity_at(place) for place in names)
        doubts = dict.fromkeys(entity.doubt for entity in entities if entity is not None and entity.doubt)
        shown = f"{' '.join(sentence.words[place].text for place in names)} ({'; '.join(doubts) or 'no signal'})"
        return "unknown_name", shown, f">= {min_name_signals} signals"
    digits = [word.text for word in alive if any(char.isdigit() for char in word.text)]
    if digits:
        return "inconsistent", f"a number is left: {' '.join(digits)}", "no numbers"
    if not (removed or any(_counts(word) for word in sentence.words)):
        return None
    amounts = [word.text for word in alive if word.text[-1:] in CURRENCY | {"%"}]
    if amounts:
        return "inconsistent", f"an amount is left: {' '.join(amounts)}", "no amounts"
    if not any(word.pos == "NOUN" for word in alive):
        return "inconsistent", "no noun is left", "a noun"
    telling = {word.text for word in alive if word.pos in ("NOUN", "VERB", "ADJ", "ADV")}
    if len(telling) < TELLING and alive[0].text not in INDEFINITE:
        return "inconsistent", f"only '{' '.join(telling)}' is left", f">= {TELLING} different words that describe"
    if any(word.text == "|" for word in alive):
        return "inconsistent", "a bar is left", "one text"
    fault = _fault_at_start(sentence) or _fault_of_pair(sentence) or _fault_at_gap(sentence) or _lost_part(sentence)
    return ("inconsistent", *fault) if fault is not None else None


def _counts(word: Word) -> bool:
    """Return whether a word was removed by a step that may break the sentence: marks, articles and merged hypernyms do not."""
    return (
        not (word.alive or word.renamed or word.beside)
        and word.text.lower() not in ARTICLES
        and any(char.isalnum() for char in word.text)
    )


def _gap(sentence: Sentence, start: int, end: int) -> bool:
    """Return whether a word was removed between two positions."""
    return any(_counts(word) for word in sentence.words[start:end])


def _fault_at_start(sentence: Sentence) -> tuple[str, str] | None:
    """Return the fault (value, threshold) of a caption whose beginning depends on removed words."""
    places = sentence.alive()
    alive = [sentence.words[index] for index in places]
    first = alive[0]
    if first.pos == "ADP" and not any(word.pos == "VERB" or (word.dep == "ROOT" and word.pos == "NOUN") for word in alive):
        return f"only the phrase after '{first.text}' is left", "a noun or a verb of its own"
    if not _gap(sentence, 0, places[0]):
        return None
    if first.pos == "CCONJ":
        return f"'{first.text}' joins nothing", "something on both sides"
    if first.pos == "ADJ" and len(alive) > 1 and alive[1].pos in ("ADP", "SCONJ"):
        return f"'{first.text}' describes nothing", "a noun after an adjective"
    # "Seated girls", "bulldogs": a participle before a noun, and a noun by the number before it, whatever its tag.
    following = alive[1].pos if len(alive) > 1 else ""
    participle = first.tag in ("VBD", "VBN") and (first.dep in MODIFIERS or following in ("NOUN", "ADJ"))
    counted = any(word.dep in MODIFIERS and word.head == places[0] for word in sentence.words[: places[0]])
    if first.pos in ("VERB", "AUX") and first.tag in ("VBD", "VBZ", "VBN", "MD") and not (participle or counted):
        return f"begins with '{first.text}'", "a subject before the verb"
    return None


def _fault_of_pair(sentence: Sentence) -> tuple[str, str] | None:
    """Return the fault of two neighbours: a conjunction with nothing on one side, or a noun that modifies "person"."""
    for before, position in pairwise(sentence.alive()):
        left, word, after = sentence.words[before], sentence.words[position], sentence.after(position)
        if word.pos == "CCONJ" and _gap(sentence, before + 1, position):
            lost = after is not None and _gap(sentence, position + 1, after)
            if lost or left.pos in ("ADP", "DET", "SCONJ"):
                return f"'{word.text}' joins nothing", "something on both sides"
        person = word.renamed and word.text in ("person", "people") and word.dep not in ("dobj", "dative")
        if person and left.pos == "NOUN" and left.dep in MODIFIERS:
            return f"'{left.text} {word.text}' is no phrase", "one noun"
    return None


def _fault_at_gap(sentence: Sentence) -> tuple[str, str] | None:
    """Return the fault of a word before removed words: an article, preposition or conjunction without its complement."""
    places = sentence.alive()
    for position, following in zip(places, [*places[1:], len(sentence.words)], strict=True):
        word = sentence.words[position]
        if not _gap(sentence, position + 1, following):
            continue
        after = sentence.words[following] if following < len(sentence.words) else None
        if after is not None and after.tag == "POS" and _gap(sentence, following - 1, following):
            return f"'{after.text}' belongs to nothing", "a noun before a genitive mark"
        ends = after is None or (after.pos == "PUNCT" and after.text not in QUOTING)
        needs_noun = word.text in ARTICLES or word.tag == "PRP$"
        if needs_noun and (ends or (after is not None and after.pos in ("ADP", "CCONJ", "AUX"))):
            return f"'{word.text}' leads nowhere", "a noun after an article"
        joins = word.tag == "TO" or (word.pos in ("ADP", "SCONJ") and word.tag == "IN")
        if joins and (ends or (after is not None and after.pos in ("CCONJ", "AUX", "ADP"))):
            return f"'{word.text}' has no object", "an object after a preposition"
        if word.pos == "CCONJ" and ends:
            return f"'{word.text}' joins nothing", "something on both sides"
    return None


def _lost_part(sentence: Sentence) -> tuple[str, str] | None:
    """Return the fault of a verb whose subject or object was removed, or of a relative clause whose noun was."""
    for position, word in enumerate(sentence.words):
        head = sentence.words[word.head]
        if word.alive and word.dep == "relcl" and _counts(head):
            start = min(index for index, each in enumerate(sentence.words) if each.alive and sentence.is_below(index, position))
            before = sentence.before(start)
            if before is None or sentence.words[before].pos != "NOUN":
                return f"'{word.text}' describes nothing", "a noun before a relative clause"
        if not _counts(word) or not head.alive or head.pos not in ("VERB", "AUX") or word.dep not in SUBJECTS | OBJECTS:
            continue
        entity = sentence.entity_at(position)
        if word.dep == "dobj" and entity is not None and entity.kind in (*NUMBERS, "DATE", "TIME"):
            continue  # "raised £50 for charity" is whole without the amount
        kinds = SUBJECTS if word.dep in SUBJECTS else OBJECTS
        rest = any(
            each.alive and (sentence.is_below(index, position) or (each.head == word.head and each.dep in kinds))
            for index, each in enumerate(sentence.words)
            if each.pos in ("NOUN", "PRON", "DET") and each.text.lower() not in ARTICLES
        )
        if not rest:
            part = "subject" if word.dep in SUBJECTS else "object"
            return f"'{head.text}' has lost its {part}", f"the verb's {part}"
    return None
