"""The step that cuts what a caption can do without and that holds a name of unknown kind: later sentences and optional phrases.

Instead of the caption, the least phrase goes that a sentence is whole without: a modifier, a prepositional phrase, an apposition,
a participial or relative clause, a coordinate. Subjects, only objects and complements stay, and drop the caption. Source: ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from components.knowledge.cascade import Knowledge
from components.language.dictionary import is_listed
from components.stages.hypernymize.dates import CALENDAR
from components.stages.hypernymize.modifiers import set_article
from components.stages.hypernymize.sentence import MODIFIERS, SUBJECTS, Sentence, Word

CLAUSES = frozenset({"relcl", "acl", "advcl"})
"""Dependencies of clauses that their head can do without."""
SETTINGS = frozenset({
    "in", "near", "during", "outside", "inside", "within", "before", "after", "across", "along", "beside", "throughout", "around",
})  # fmt: skip
"""Prepositions of where and when, which no verb needs; "looks at" needs its own."""
PLACING = frozenset({"at", "to", "on", "through", "from", "toward", "towards", "into", "onto", "over", "past"})
"""Prepositions of where to, which only verbs of motion and what is shown do without."""
ARTICLES = frozenset({"a", "an", "the"})
REPORTED = frozenset({"DATE", "GPE", "NORP"})
"""Types of names by which a later sentence reports instead of describing."""
PAST = frozenset({"VBD", "MD"})
"""Tags of finite verbs that tell no present."""
OBJECTS = frozenset({"dobj", "attr", "acomp"})
"""Dependencies by which a verb is whole without a preposition."""
ENDS = frozenset(".!?…")
CLOSING = frozenset(")]\"”’'")
OPENING = frozenset({"DET", "ADP", "CCONJ", "SCONJ"})
"""Tags of words that begin a phrase and end none."""


def is_unknown(word: Word) -> bool:
    """Return whether a word is left of a name of unknown kind."""
    return word.alive and word.pos == "PROPN" and any(char.isalpha() for char in word.text)


def cut_unknown(sentence: Sentence, knowledge: Knowledge) -> str:
    """Cut later sentences that name or tell the background, and optional phrases with a name of unknown kind."""
    struck = [sentence.strike(range(end, len(sentence.words)))] if (end := _end_of_description(sentence, knowledge)) else []
    for position in sentence.alive():
        if is_unknown(sentence.words[position]) and (phrase := _optional_phrase(sentence, position, knowledge)):
            struck.append(sentence.strike(phrase))
    return f"unknown name: {'; '.join(filter(None, struck))}" if any(struck) else ""


def _end_of_description(sentence: Sentence, knowledge: Knowledge) -> int:
    """Return where the first later sentence begins that has an unknown name or tells the background; 0 for none.

    A caption describes in the present; a sentence in the past or future beside it says what happened. The last one goes if
    the text is cut off within it.
    """
    starts = [0, *(at for at in range(1, len(sentence.words)) if _begins(sentence, at)), len(sentence.words)]
    spans = [(start, end) for start, end in pairwise(starts) if _has_word(sentence, start, end)]
    past = [_is_past(sentence.words[start:end]) for start, end in spans]
    for (start, end), told in zip(spans[1:], past[1:], strict=True):
        reports = any(start <= entity.start < end and entity.kind in REPORTED for entity in sentence.entities)
        if any(map(is_unknown, sentence.words[start:end])) or reports or (told and not past[0]):
            return start
    return spans[-1][0] if len(spans) > 1 and _is_cut_off(sentence.words[slice(*spans[-1])], knowledge) else 0


def _is_cut_off(words: Sequence[Word], knowledge: Knowledge) -> bool:
    """Return whether a sentence without a mark at its end stops within a phrase or within a word."""
    last = next((word for word in reversed(words) if word.text not in CLOSING), words[-1])
    if last.text[-1:] in ENDS:
        return False
    top = next((word for word in words if word.dep == "ROOT"), last)
    content = last.pos not in ("PRON", "AUX", "PART", "NUM")  # the dictionary has no function words
    torn = content and last.text.isalpha() and last.text.islower() and not is_listed(last.text, knowledge.wordnet.folder)
    return torn or last.pos in OPENING or last.tag == "PRP$" or last.text in ARTICLES or top.pos in OPENING


def _begins(sentence: Sentence, position: int) -> bool:
    """Return whether a sentence begins at a position, by the marks and by the parse; "3. September" is a date."""
    before = position - 1
    while before > 0 and sentence.words[before].text in CLOSING:
        before -= 1
    last, first = sentence.words[before].text, sentence.words[position].text
    if not first[:1].isalnum() or (first[:1].islower() and not sentence.words[position].renamed):
        return False
    if sentence.words[before - 1].pos == "NUM" and first.lower() in CALENDAR and not sentence.words[before - 1].space:
        return False
    return (last in ENDS or last.endswith(".")) and _top(sentence, before) != _top(sentence, position)


def _top(sentence: Sentence, position: int) -> int:
    for _ in sentence.words:
        position = sentence.words[position].head
    return position


def _has_word(sentence: Sentence, start: int, end: int) -> bool:
    return any(word.alive and word.text[:1].isalpha() for word in sentence.words[start:end])


def _is_past(words: list[Word]) -> bool:
    """Return whether the verb of a sentence is in the past, perfect or future."""
    finite = next(
        (word for word in words if word.tag in ("VBD", "VBZ", "VBP", "MD") and word.dep in ("ROOT", "aux", "auxpass")), None
    )
    return finite is not None and (finite.tag in PAST or (finite.lemma == "have" and finite.dep == "aux"))


def _optional_phrase(sentence: Sentence, position: int, knowledge: Knowledge) -> list[int]:
    """Return the positions of the least phrase around a name that can be cut; empty if there is none."""
    words, node = sentence.words, position
    if start := _before_apposition(sentence, position):
        return start
    for _ in words:
        word, head = words[node], words[words[node].head]
        if word.head == node or (word.dep == "conj" and not _can_go(sentence, node)):
            return []
        if word.dep == "poss" and head.alive:
            return _without_owner(sentence, node)
        if word.dep in MODIFIERS and head.alive and head.pos == "NOUN" and word.head > node:
            return _with_joint(sentence, node)
        if _is_optional(sentence, node, knowledge):
            phrase = _with_pronoun(sentence, _with_marks(sentence, node))
            return phrase if _closes(sentence, phrase[-1]) else []
        node = word.head
    return []


def _is_optional(sentence: Sentence, node: int, knowledge: Knowledge) -> bool:
    """Return whether what depends on a word can go: a clause, coordinate, apposition, or phrase that its head does not need."""
    word, head = sentence.words[node], sentence.words[sentence.words[node].head]
    phrase = sentence.subtree(node)
    if not head.alive or not phrase or word.head in phrase or not _is_run(sentence, phrase):
        return False
    before = sentence.before(phrase[0])
    if word.dep in CLAUSES or word.dep == "conj":
        return True
    if word.dep == "agent":
        return head.dep not in CLAUSES  # "a ball used by X" goes as a whole
    if word.dep == "appos":
        return before is not None and sentence.words[before].pos == "PUNCT" and sentence.words[before].text != ":"
    if word.dep != "prep" or before is None:
        return False
    if word.lemma == "of":  # "a member of", but not "a picture of"
        determined = any(each.alive and each.pos == "DET" and each.head == word.head for each in sentence.words)
        return determined and knowledge.is_role(head.lemma.lower())
    if head.pos == "NOUN" or _is_free(sentence, head, word, knowledge):
        return True
    if head.pos not in ("VERB", "AUX") or head.lemma == "be":
        return False
    whole = any(each.alive and each.head == word.head and each.dep in OBJECTS for each in sentence.words)
    return whole or before != word.head or word.lemma in SETTINGS


def _is_free(sentence: Sentence, head: Word, word: Word, knowledge: Knowledge) -> bool:
    """Return whether a verb is whole without a phrase of place: of motion ("arrives at"), or passive ("is shown on")."""
    if head.pos != "VERB" or word.lemma not in PLACING:
        return False
    passive = any(each.alive and each.dep == "auxpass" and sentence.words[each.head] is head for each in sentence.words)
    return knowledge.wordnet.verb_category(head.lemma) in (("verb.perception",) if passive else ("verb.motion",))


def _closes(sentence: Sentence, last: int) -> bool:
    """Return whether a phrase may end at a position: neither a noun nor a last participle goes on after it ("with X shown")."""
    after = sentence.after(last)
    if after is None:
        return True
    following = sentence.after(after)
    ends = following is None or sentence.words[following].pos == "PUNCT"
    return sentence.words[after].pos not in ("NOUN", "PROPN", "ADJ", "NUM") and not (
        ends and sentence.words[after].tag in ("VBN", "VBG")
    )


def _is_run(sentence: Sentence, phrase: list[int]) -> bool:
    """Return whether the remaining words of a phrase stand together."""
    between = range(phrase[0], phrase[-1] + 1)
    return phrase == [position for position in between if sentence.words[position].alive]


def _can_go(sentence: Sentence, node: int) -> bool:
    """Return whether a coordinate is the second of two and no part of a subject, whose verb would no longer agree."""
    first = sentence.words[node].head
    others = [each for each in sentence.words if each.dep == "conj" and each.head == first]
    return len(others) == 1 and sentence.words[first].dep not in SUBJECTS | {"conj"}


def _before_apposition(sentence: Sentence, position: int) -> list[int]:
    """Return the words of a name that its description can stand for, and the commas: "X, a monkey, sits"; empty for none."""
    for at in range(position + 1, len(sentence.words)):
        word = sentence.words[at]
        if word.dep != "appos" or word.head != position or word.pos != "NOUN" or not word.alive:
            continue
        phrase = sentence.subtree(at)
        if sentence.words[phrase[0] - 1].text != "," or sentence.words[phrase[0]].text.lower() not in ARTICLES:
            return []
        name = [place for place in sentence.subtree(position) if place < phrase[0]]
        last = next(place for place in reversed(phrase) if sentence.words[place].pos != "PUNCT")
        after = sentence.after(last)
        return [*name, after] if after is not None and sentence.words[after].text == "," else name
    return []


def _without_owner(sentence: Sentence, node: int) -> list[int]:
    """Return the words of an owner, whose mark becomes the article that a singular noun needs: "X's counter" → "the counter"."""
    phrase, noun = sentence.subtree(node), sentence.words[sentence.words[node].head]
    clause = any(sentence.words[at].pos in ("VERB", "AUX", "NOUN") for at in phrase)  # no owner, whatever the parser says
    if clause or sentence.words[phrase[-1]].tag != "POS" or not noun.text[:1].islower() or not _is_run(sentence, phrase):
        return []
    return phrase[:-1] if noun.tag == "NN" and set_article(sentence, phrase[-1]) else phrase


def _with_joint(sentence: Sentence, node: int) -> list[int]:
    """Return a modifier with the conjunction that joined it to the next one; empty if it has words of a phrase of its own."""
    phrase = sentence.subtree(node)
    if any(sentence.words[at].pos in ("VERB", "AUX", "DET", "NOUN") for at in phrase):
        return []
    after = sentence.after(phrase[-1])
    return [*phrase, after] if after is not None and sentence.words[after].pos == "CCONJ" else phrase


def _with_marks(sentence: Sentence, node: int) -> list[int]:
    """Return a phrase with its conjunction and with the commas around it."""
    phrase = sentence.subtree(node)
    before, after = sentence.before(phrase[0]), sentence.after(phrase[-1])
    if before is not None and sentence.words[before].pos == "CCONJ" and sentence.words[node].dep == "conj":
        phrase, before = [before, *phrase], sentence.before(before)
    text = sentence.words[after].text if after is not None else "."
    verb = after is not None and sentence.words[after].pos in ("VERB", "AUX")
    if before is not None and sentence.words[before].text == "," and (text == "," or text in ENDS or verb):
        phrase = [before, *phrase]
    if after is not None and text == "," and (before is None or before in phrase) and sentence.words[node].dep != "conj":
        phrase = [*phrase, after]
    return phrase


def _with_pronoun(sentence: Sentence, phrase: list[int]) -> list[int]:
    """Return a phrase with the one after it that refers back: "with X on it"."""
    after = sentence.after(phrase[-1])
    pronoun = sentence.after(after) if after is not None and sentence.words[after].pos == "ADP" else None
    if after is None or pronoun is None or sentence.words[pronoun].tag != "PRP":
        return phrase
    return [*phrase, after, pronoun]
