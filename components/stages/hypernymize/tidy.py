"""The last steps: fix spacing, marks and articles, lower the case.

Source: CC table 1 (lower case, "an aircraft" once the name between is gone).
"""

from __future__ import annotations

from components.knowledge.cascade import Knowledge
from components.language.capitals import is_initialism
from components.language.words import article, words_of
from components.stages.hypernymize.sentence import Sentence

PAIRS = {"(": ")", "[": "]", "{": "}"}
OPENINGS = {end: mark for mark, end in PAIRS.items()}
JOINTS = frozenset({",", ";", ":", "-", "–", "—", "&", "and", "or", "/", "|"})
FINAL = frozenset(".!?")


def tidy_marks(sentence: Sentence, knowledge: Knowledge) -> str:
    """Remove marks that no longer join or enclose anything."""
    marks = _Marks(sentence)
    position = marks.next(-1)
    while position < marks.end:
        orphans = marks.orphans(position)
        if orphans:
            sentence.strike(orphans)
            position = marks.restart(position, orphans)
        else:
            position = marks.next(position)
    return "marks that joined nothing" if marks.changed else ""


def repair_articles(sentence: Sentence, knowledge: Knowledge) -> str:
    """Set ``a`` or ``an`` by the following word, and remove either before a plural."""
    changed = []
    for position in sentence.alive():
        word = sentence.words[position]
        following = sentence.after(position)
        if word.text.lower() not in ("a", "an") or word.pos != "DET" or following is None:
            continue
        after = sentence.words[following]
        spoken = after.text if is_initialism(after.text) else after.text.lower()
        right = article(spoken) if words_of(after.text) else word.text
        if after.tag == "NNS" and after.dep != "compound":
            sentence.strike([position])
            changed.append(f"{word.text} {after.text}")
        elif right != word.text.lower():
            changed.append(f"{word.text} → {right}")
            word.text = right
    return "; ".join(changed)


def lower_case(sentence: Sentence, knowledge: Knowledge) -> str:
    """Convert the text to lower case."""
    changed = [word for word in sentence.words if word.alive and word.text != word.text.lower()]
    for word in changed:
        word.text = word.text.lower()
    return "lower case" if changed else ""


class _Marks:
    """The remaining words of a sentence from left to right while marks are removed; linear in total.

    Whether a word is an orphan depends on its neighbours and on the remaining brackets, so after a removal the scan resumes at
    the first word that the removal can affect (``restart``).
    """

    def __init__(self, sentence: Sentence) -> None:
        self.words = sentence.words
        self.end = len(self.words)
        self.changed = False
        places = sentence.alive()
        self._after = dict(zip([-1, *places], [*places, self.end], strict=True))
        self._before = {after: before for before, after in self._after.items()}
        opening = {mark: [position for position in reversed(places) if self.words[position].text == mark] for mark in PAIRS}
        closing = {mark: [position for position in places if self.words[position].text == mark] for mark in PAIRS.values()}
        self._brackets = opening | closing
        """Bracket → its positions; the last of a list is the first opening and the last closing one."""

    def next(self, position: int) -> int:
        """Return the next remaining position, or ``end``."""
        return self._after[position]

    def orphans(self, position: int) -> list[int]:
        """Return the positions of marks at ``position`` that join or enclose nothing; empty for none."""
        text = self.words[position].text.lower()
        left, right = self._text(self._before[position]), self._text(self._after[position])
        edge = not left or left in FINAL or not right or right in FINAL or (right in JOINTS and right not in ("and", "or"))
        joining = text == "|" or (text in JOINTS and self.words[position].pos in ("PUNCT", "CCONJ", "SYM"))
        joint = joining and not self._within_word(position)
        if joint and (edge or left in PAIRS or right in PAIRS.values()):
            return [position]
        if text in PAIRS and right == PAIRS[text]:
            return [position, self._after[position]]
        if text in PAIRS and self._last(PAIRS[text], -1) < position:
            return [position]
        if text in OPENINGS and self._last(OPENINGS[text], self.end) > position:
            return [position]
        if text == "#" and not right[:1].isalnum():
            return [position]
        return [position] if text in FINAL and left in ("", text) else []

    def _within_word(self, position: int) -> bool:
        """Return whether a mark joins the words beside it without a space, and both remain: "black-and-white"."""
        before, after = position - 1, position + 1
        if before < 0 or after >= self.end or self.words[before].space or self.words[position].space:
            return False
        return self._before[position] == before and self._after[position] == after and self.words[before].text not in PAIRS

    def restart(self, position: int, struck: list[int]) -> int:
        """Record the removed positions and return the first position that may have become an orphan."""
        self.changed = True
        before, after = self._before[position], self._after[struck[-1]]
        self._after[before], self._before[after] = after, before
        again = before if before >= 0 else after
        if len(struck) == 2 and (last := self._last(PAIRS[self.words[position].text], -1)) < struck[-1]:
            # Without the last closing bracket, brackets opened after the one before it are no longer closed.
            opened = self._brackets[self.words[position].text]
            again = min([again, *(start for start in opened if last < start < again and self.words[start].alive)])
        return again

    def _text(self, position: int) -> str:
        return self.words[position].text if 0 <= position < self.end else ""

    def _last(self, mark: str, none: int) -> int:
        """Return the first opening or the last closing bracket that remains, or ``none``."""
        places = self._brackets[mark]
        while places and not self.words[places[-1]].alive:
            places.pop()
        return places[-1] if places else none
