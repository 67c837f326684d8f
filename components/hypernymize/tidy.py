"""The last step, and what is dropped: spacing, marks and articles put in order, lower case; too short or inconsistent.

Source: table 1 of seed 000 (lower case, "an aircraft" after the name between went), and "around 20 % of samples are
discarded during this transformation because it can leave sentences too short or inconsistent".
"""

from __future__ import annotations

from components.hypernymize.sentence import Sentence
from components.providers.knowledge import Knowledge
from components.providers.language_words import article, words_of

PAIRS = {"(": ")", "[": "]", "{": "}"}
JOINTS = frozenset({",", ";", ":", "-", "–", "—", "&", "and", "or", "/", "|"})
FINAL = frozenset(".!?")


def tidy_marks(sentence: Sentence, knowledge: Knowledge) -> str:
    """Strike marks that join or enclose nothing any more."""
    changed = False
    while orphans := _orphans(sentence):
        sentence.strike(orphans)
        changed = True
    return "marks that joined nothing" if changed else ""


def repair_articles(sentence: Sentence, knowledge: Knowledge) -> str:
    """``a`` or ``an`` as the word that follows now asks; none before a plural."""
    changed = []
    for position in sentence.alive():
        word = sentence.words[position]
        following = sentence.after(position)
        if word.text.lower() not in ("a", "an") or word.pos != "DET" or following is None:
            continue
        after = sentence.words[following]
        right = article(after.text.lower()) if words_of(after.text) else word.text
        if after.tag == "NNS" and after.dep != "compound":
            sentence.strike([position])
            changed.append(f"{word.text} {after.text}")
        elif right != word.text.lower():
            changed.append(f"{word.text} → {right}")
            word.text = right
    return "; ".join(changed)


def lower_case(sentence: Sentence, knowledge: Knowledge) -> str:
    """Everything in lower case."""
    changed = [word for word in sentence.words if word.alive and word.text != word.text.lower()]
    for word in changed:
        word.text = word.text.lower()
    return "lower case" if changed else ""


def shortcoming(sentence: Sentence, min_words: int) -> tuple[str, str, str] | None:
    """Why the caption must be dropped: rule, what was found, what is asked; or None."""
    alive = [sentence.words[place] for place in sentence.alive()]
    words = words_of(sentence.render())
    if len(words) < min_words:
        return "too_short", str(len(words)), f">= {min_words} words"
    if not any(word.pos == "NOUN" for word in alive):
        return "inconsistent", "no noun is left", "a noun"
    names = [word.text for word in alive if word.pos == "PROPN"]
    if names:
        return "inconsistent", f"a name is left: {' '.join(names)}", "no names"
    digits = [word.text for word in alive if any(char.isdigit() for char in word.text)]
    if digits:
        return "inconsistent", f"a number is left: {' '.join(digits)}", "no numbers"
    if alive[0].pos == "ADP" and not any(word.pos == "VERB" or (word.dep == "ROOT" and word.pos == "NOUN") for word in alive):
        return "inconsistent", f"nothing but what '{alive[0].text}' leads to", "a noun or a verb of its own"
    for place, word in enumerate(alive):
        rest = alive[place + 1 :]
        following = rest[0] if rest else None
        ends = following is None or (following.pos == "PUNCT" and following.text not in QUOTING)
        if (
            word.pos == "DET"
            and (ends or (following is not None and following.pos in ("ADP", "CCONJ", "AUX")))
            and word.text in ("a", "an", "the")
        ):
            return "inconsistent", f"'{word.text}' leads nowhere", "a noun after an article"
        if word.tag == "IN" and word.pos == "ADP" and (ends or (following is not None and following.pos in ("CCONJ", "AUX"))):
            return "inconsistent", f"'{word.text}' leads nowhere", "an object after a preposition"
        if word.pos == "CCONJ" and (ends or place == 0):
            return "inconsistent", f"'{word.text}' joins nothing", "something on both sides"
    if alive[0].pos == "VERB" and alive[0].tag in ("VBD", "VBZ"):
        return "inconsistent", f"begins with '{alive[0].text}'", "a subject before the verb"
    return None


QUOTING = frozenset("\"'“‘«([{")


def _orphans(sentence: Sentence) -> list[int]:
    alive = sentence.alive()
    for order, place in enumerate(alive):
        text = sentence.words[place].text.lower()
        left = sentence.words[alive[order - 1]].text if order else ""
        right = sentence.words[alive[order + 1]].text if order + 1 < len(alive) else ""
        edge = not left or not right or right in FINAL or (right in JOINTS and right not in ("and", "or"))
        if (
            text in JOINTS
            and sentence.words[place].pos in ("PUNCT", "CCONJ", "SYM")
            and (edge or left in PAIRS or right in PAIRS.values())
        ):
            return [place]
        if text in PAIRS and (right == PAIRS[text] or PAIRS[text] not in [sentence.words[p].text for p in alive[order:]]):
            return [place, alive[order + 1]] if right == PAIRS[text] else [place]
        opening = next((mark for mark, end in PAIRS.items() if end == text), "")
        if opening and opening not in [sentence.words[p].text for p in alive[:order]]:
            return [place]
        if text in FINAL and left in FINAL and left == text:
            return [place]
    return []
