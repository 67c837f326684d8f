"""The last step, and what is dropped: spacing, marks and articles put in order, lower case; too short or inconsistent.

Source: table 1 of CC (lower case, "an aircraft" after the name between went), and "around 20 % of samples are
discarded during this transformation because it can leave sentences too short or inconsistent".
"""

from __future__ import annotations

from components.knowledge.cascade import Knowledge
from components.language.words import article, words_of
from components.stages.hypernymize.sentence import Sentence

PAIRS = {"(": ")", "[": "]", "{": "}"}
OPENINGS = {end: mark for mark, end in PAIRS.items()}
JOINTS = frozenset({",", ";", ":", "-", "–", "—", "&", "and", "or", "/", "|"})
FINAL = frozenset(".!?")


def tidy_marks(sentence: Sentence, knowledge: Knowledge) -> str:
    """Strike marks that join or enclose nothing any more."""
    marks = _Marks(sentence)
    at = marks.next(-1)
    while at < marks.end:
        orphans = marks.orphans(at)
        if orphans:
            sentence.strike(orphans)
            at = marks.restart(at, orphans)
        else:
            at = marks.next(at)
    return "marks that joined nothing" if marks.changed else ""


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


class _Marks:
    """The words of a sentence from left to right, while marks among them are struck out; all together one linear pass.

    Words before the one looked at are no orphans: whether a word is one depends on its neighbours and on the brackets that are
    left, so after each stroke the look goes back just as far as the stroke may matter (``restart``).
    """

    def __init__(self, sentence: Sentence) -> None:
        self.words = sentence.words
        self.end = len(self.words)
        self.changed = False
        places = sentence.alive()
        self._after = dict(zip([-1, *places], [*places, self.end], strict=True))
        self._before = {after: before for before, after in self._after.items()}
        opening = {mark: [place for place in reversed(places) if self.words[place].text == mark] for mark in PAIRS}
        closing = {mark: [place for place in places if self.words[place].text == mark] for mark in PAIRS.values()}
        self._brackets = opening | closing
        """Where each bracket stands; the last of a list is the first opening and the last closing one."""

    def next(self, place: int) -> int:
        """The next word that is not struck out, or ``end``."""
        return self._after[place]

    def orphans(self, place: int) -> list[int]:
        """The marks at a place that join or enclose nothing; empty for none."""
        text = self.words[place].text.lower()
        left, right = self._text(self._before[place]), self._text(self._after[place])
        edge = not left or not right or right in FINAL or (right in JOINTS and right not in ("and", "or"))
        joint = text in JOINTS and self.words[place].pos in ("PUNCT", "CCONJ", "SYM")
        if joint and (edge or left in PAIRS or right in PAIRS.values()):
            return [place]
        if text in PAIRS and right == PAIRS[text]:
            return [place, self._after[place]]
        if text in PAIRS and self._last(PAIRS[text], -1) < place:
            return [place]
        if text in OPENINGS and self._last(OPENINGS[text], self.end) > place:
            return [place]
        return [place] if text in FINAL and left == text else []

    def restart(self, place: int, struck: list[int]) -> int:
        """Note what was struck out, and return the first word that this may have made an orphan."""
        self.changed = True
        before, after = self._before[place], self._after[struck[-1]]
        self._after[before], self._before[after] = after, before
        again = before if before >= 0 else after
        if len(struck) == 2 and (last := self._last(PAIRS[self.words[place].text], -1)) < struck[-1]:
            # The last closing bracket is gone: what was opened behind the one before it is closed by nothing any more.
            opened = self._brackets[self.words[place].text]
            again = min([again, *(each for each in opened if last < each < again and self.words[each].alive)])
        return again

    def _text(self, place: int) -> str:
        return self.words[place].text if 0 <= place < self.end else ""

    def _last(self, mark: str, none: int) -> int:
        """The first opening or the last closing bracket that is left, or ``none``."""
        places = self._brackets[mark]
        while places and not self.words[places[-1]].alive:
            places.pop()
        return places[-1] if places else none
