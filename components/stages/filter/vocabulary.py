"""The vocabulary rule: every token of a text is a known word (CC §3, tokens found at least five times in the English Wikipedia).

Hash-tags, handles, addresses and file names are not words. A word is known when it is frequent enough on the Zipf scale; a rare
lower-case word must also be in the dictionary, which excludes misspellings. CC's vocabulary has a billion types and so contains
rare names, which no word list here does: an unlisted word counts as a name if it is used and spelt like one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from components.language.dictionary import is_listed
from components.language.person_names import is_given_name
from components.language.words import zipf
from components.stages.filter import Params
from components.stages.filter.rules import Finding, Subject

LONGEST_WORD = 100
"""Letters of the longest word that is looked up; longer ones count as unknown."""
MAX_UNSEEN = 0.2
"""Share of a name's letter trigrams that no frequent English word has, at most: foreign names have .1, keyboard noise .5."""
_NO_WORD = re.compile(
    r"^#\w*[^\W\d]|^@\w|://|\bwww\.|\w_\w|_$|^_|\w\.(?:jpe?g|png|gif|webp|bmp|tiff?|svg|html?|php|pdf|com|net|org|gov|edu|info|co\.[a-z]{2})\b",
    re.I,
)
"""Matches tokens that are no words: hash-tags, handles, addresses, file names."""
_NAME = re.compile(r"[^\W\d_a-z][^\W\d_A-Z]+$|(?:Mc|Mac|De|Di|La|Le|Van|O['’]|D['’]|d['’])[^\W\d_a-z][^\W\d_A-Z]+$")
"""Matches words written like names: one capital, then small letters."""
_PARTS = re.compile(r"[A-Z][a-z]+|[A-Z]{2,}(?![a-z])|^[a-z]+(?=[A-Z])")
"""Matches the parts of a word that is joined of words with capitals."""
_GENITIVE = re.compile(r"['’]s?$")
_MEASURE = re.compile(r"\d+(?:x\d+)?[a-z]{0,3}$", re.I)
"""Matches a number with its unit ("200mph", "500px"), or a size ("8x38")."""
_CODE = re.compile(r"(?=[A-Za-z]*\d)[A-Z][A-Za-z\d]{1,9}$")
"""Matches the code of a model or a flight ("QZ8501", "P16s"), which is a name."""


def unknown_token(subject: Subject, params: Params) -> Finding:
    """Every token is a known word, a number, or a name by its use and spelling, and no file name or code."""
    threshold = f"listed, or Zipf >= {params.min_zipf_unlisted} (with capitals or digits {params.min_zipf})"
    odd = next((token for token in subject.text.split() if _NO_WORD.search(token)), "")
    if odd:
        return Finding(False, f"{odd} (0.00)", threshold)
    rarest, least = "", 9.0
    for position, written in enumerate(subject.words):
        if len(written) > LONGEST_WORD:
            return Finding(False, f"{written[:LONGEST_WORD]}… (0.00)", threshold)
        word = _GENITIVE.sub("", written)
        frequency = 9.0 if _MEASURE.match(word) or (position and _CODE.match(word)) else zipf(word)
        if frequency >= least or (word.isascii() and word.isalpha() and is_listed(word)) or _is_joined(word, params):
            continue
        if word.islower():
            rarest, least = word, frequency
        elif frequency < params.min_zipf and not _is_name(subject.words, position):
            return Finding(False, f"{word} ({frequency:.2f})", threshold)
    return Finding(least >= params.min_zipf_unlisted, f"{rarest} ({least:.2f})" if rarest else "", threshold)


def _is_name(words: Sequence[str], position: int) -> bool:
    """Return whether an unlisted word is a name: its capital has no other reason than a name, and its letters form a word.

    The first word of a text has a capital anyway, unless another capital or a genitive mark follows; after "a" there is a common
    noun. A word beside a given name may have any spelling.
    """
    word = _GENITIVE.sub("", words[position])
    before = words[position - 1] if position else ""
    if not _NAME.match(word) or before.lower() in ("a", "an"):
        return False
    after = words[position + 1] if position + 1 < len(words) else ""
    if any(beside[:1].isupper() and is_given_name(beside) for beside in (before, after)):
        return True
    followed = word != words[position] or after[:1].isupper()
    return (position > 0 or followed) and unseen_share(word) <= MAX_UNSEEN


def _is_joined(word: str, params: Params) -> bool:
    """Return whether a word is a brand of known words that keep their capitals: "SnowBoat"."""
    parts = _PARTS.findall(word)
    return len(parts) > 1 and "".join(parts) == word and all(zipf(part) >= params.min_zipf for part in parts)


def unseen_share(word: str) -> float:
    """Return the share of a word's letter trigrams, its ends included, that no frequent English word has; accents are ignored."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", word.lower()) if not unicodedata.combining(char))
    trigrams = _trigrams(plain)
    return len(trigrams - _seen_trigrams()) / len(trigrams)


@lru_cache(maxsize=1)
def _seen_trigrams() -> frozenset[str]:
    # Imported on use: wordfreq loads its lists.
    import wordfreq

    frequent = wordfreq.get_frequency_dict("en", wordlist="small")
    return frozenset().union(*(_trigrams(word) for word in frequent if word.isalpha()))


def _trigrams(word: str) -> set[str]:
    bounded = f"^{word}$"
    return {bounded[start : start + 3] for start in range(len(bounded) - 2)}
