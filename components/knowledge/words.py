"""Reduces a knowledge base's label or description to one common noun for a caption.

``American actor and film producer`` → ``actor``; ``2003 American romantic comedy film`` → ``film``; ``city in France`` →
``city``; ``pop artist`` stays. CC's captions use actor, pop artist, city, festival (CC figure 1, table 1). Rules:
  1. drop brackets, and everything from the first joint on (comma, ``and``, ``in``, ``of``, ``who``), except in a WordNet phrase
     such as ``head of state``; ``TV`` is television, ``association football`` football;
  2. drop words with a capital or a digit (``American``, ``19th-century``), unless the capital belongs to a common compound
     (``American football player``);
  3. keep the longest ending that is a WordNet phrase, or the last word; a general head (artist, player, team) keeps the word
     or compound before it (``pop artist``, ``ice hockey team``);
  4. every word must be common (Zipf), and the head a noun.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from components.core.params import read_yaml
from components.language.wordnet import WordNet
from components.language.words import zipf

MIN_ZIPF = 2.7
"""Minimum frequency of a common word: one in two million ("aristocrat", "cinematographer")."""
LONGEST = 300
"""Maximum characters of a label or description that are read."""
_LISTS: dict[str, Any] = read_yaml(Path(__file__).parent / "data" / "words.yaml")
WIDE, VAGUE, EMPTY = (frozenset(_LISTS[name].split()) for name in ("wide", "vague", "empty"))
"""Heads that keep the word or compound before them; words hardly more specific than the type, used only without an alternative;
modifiers that are not visible in an image."""
COMPOUNDS = frozenset(_LISTS["compounds"].split(", "))
"""Sports, genres of music and media before a general head that WordNet 3.0 lacks."""
CAPTION_TERMS = {term: word for word, terms in _LISTS["caption_terms"].items() for term in terms.split(", ")}
"""A knowledge base's term → the term for captions."""
_USUAL = (
    (re.compile(r"\bTV\b", re.IGNORECASE), "television"),
    (re.compile(r"\bassociation football\b", re.IGNORECASE), "football"),
)
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_JOINT = re.compile(
    r"[,;:/–—]|\s-\s|\b(?:and|or|in|of|from|for|at|by|on|to|with|based|located|who|which|that|whose|known|best|born|is|was|as|about|held|released|founded|made|"
    r"produced|directed|written|created|published|owned|operated|organi[sz]ed|featuring|starring|during|between|against)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(r"^\s*(?:an?|the|one of the)\s+", re.IGNORECASE)


class Words:
    """Reduces labels and descriptions to common nouns by WordNet."""

    def __init__(self, wordnet: WordNet) -> None:
        self.wordnet = wordnet

    @lru_cache(maxsize=65536)  # noqa: B019 - lives as long as the process
    def noun(self, text: str) -> str:
        """Return the common noun (or two words) of a label or description, or ""."""
        text = _LEAD.sub("", " ".join(_BRACKETS.sub(" ", text[:LONGEST]).split()))
        for pattern, usual in _USUAL:
            text = pattern.sub(usual, text)
        plain = text.lower()
        if plain in CAPTION_TERMS:
            return CAPTION_TERMS[plain]
        # A WordNet phrase is kept ("head of state"), unless it is only a name.
        if plain == text and " of " in text and self._is_noun(plain):
            return plain
        words = self._in_lower_case([word.strip(".'\"’“”") for word in _JOINT.split(text, maxsplit=1)[0].split()])
        words = [word for word in words if word and word.islower() and not any(char.isdigit() for char in word)]
        while words and not self._is_noun(words[-1].rpartition("-")[2]):
            words.pop()  # "a rock band formed"
        phrase = self._ending(words)
        phrase = CAPTION_TERMS.get(phrase, phrase)
        return phrase if phrase and self.common(phrase) else ""

    def _in_lower_case(self, words: list[str]) -> list[str]:
        """Return the words without the capitals of titles ("Former President") and of compounds ("American football")."""
        capitals = [word for word in words if not word.islower()]
        if words[:1] == capitals[:1] and all(word.istitle() and self._is_plain(word.lower()) for word in capitals):
            return [word.lower() for word in words]  # a description's first words, not a nationality
        for place in range(len(words) - 2):
            pair = " ".join(words[place : place + 2]).lower()
            # With two capitals a pair is a people ("African American").
            if words[place].istitle() and (pair in COMPOUNDS or (words[place + 1].islower() and self._is_noun(pair))):
                words = [*words[:place], *pair.split(), *words[place + 2 :]]
        return words

    def common(self, phrase: str) -> bool:
        """Return whether each word is common English, and the last one a noun."""
        words = phrase.replace("-", " ").split()
        return bool(words) and all(word.isalpha() and zipf(word) >= MIN_ZIPF for word in words) and self._is_noun(words[-1])

    def _ending(self, words: list[str]) -> str:
        for start in range(max(0, len(words) - 3), len(words) - 1):
            phrase, compound = " ".join(words[start:]), " ".join(words[start:-1])
            named = words[-1] in WIDE and " " in compound and (compound in COMPOUNDS or self._is_noun(compound))
            if named or phrase in CAPTION_TERMS or self._is_noun(phrase):
                return phrase
        if len(words) > 1 and words[-1] in WIDE and self._modifies(words[-2]):
            return " ".join(words[-2:])
        return words[-1] if words else ""

    def _modifies(self, word: str) -> bool:
        return word.isalpha() and zipf(word) >= MIN_ZIPF and word not in VAGUE and word not in EMPTY

    def _is_plain(self, word: str) -> bool:
        senses = self.wordnet.senses(word)[:1] if word != "polish" else []  # the nationality is the more probable word
        return any(word == lemma for sense in senses for lemma in sense.lemmas)

    def _is_noun(self, phrase: str) -> bool:
        return any(not sense.instance_of for sense in self.wordnet.senses(phrase))


def most_specific(nouns: list[str]) -> str:
    """Return the first noun that is more specific than the type, else the first; "" for none."""
    return next((noun for noun in nouns if noun not in VAGUE), nouns[0] if nouns else "")
