"""Rules about the text that need no parse: language, boiler-plate, length, capitals, repetition, vocabulary, tone.

Source: CC §3, text-based filtering. CC publishes no numbers for these rules. Where CC12M does, its numbers are used; the others
are calibrated so that CC's own kept examples (figure 1, table 1) pass.
"""

from __future__ import annotations

import re
import unicodedata

from components.language.dictionary import is_listed
from components.language.identification import combined_probability
from components.language.words import words_of, zipf
from components.stages.filter import Params
from components.stages.filter.boilerplate import find_drop_pattern, load_boilerplate
from components.stages.filter.rules import Finding, Rule, Subject


def page_language(subject: Subject, params: Params) -> Finding:
    """The page must be in the configured language; a text without a page passes."""
    return Finding(subject.language in ("", params.language), subject.language, params.language)


def boilerplate_pattern(subject: Subject, params: Params) -> Finding:
    """The text must not begin with, end with or consist of a drop pattern ("embedded image permalink", "profile photo")."""
    pattern = find_drop_pattern(subject.text, load_boilerplate(params.language))
    return Finding(not pattern, pattern, "no such pattern")


def min_words(subject: Subject, params: Params) -> Finding:
    """The text must have at least the threshold of words."""
    return Finding(len(subject.words) >= params.min_words, len(subject.words), f">= {params.min_words}")


def max_words(subject: Subject, params: Params) -> Finding:
    """The text must have at most the threshold of words."""
    return Finding(len(subject.words) <= params.max_words, len(subject.words), f"<= {params.max_words}")


def max_characters(subject: Subject, params: Params) -> Finding:
    """The alt-text, boiler-plate included, must have at most the threshold of characters."""
    return Finding(len(subject.alt) <= params.max_characters, len(subject.alt), f"<= {params.max_characters}")


def mark_run(subject: Subject, params: Params) -> Finding:
    """At most so many punctuation marks and symbols may follow each other; spaces and invisible characters are ignored."""
    longest = run = 0
    for char in subject.text:
        kind = "L" if char.isalnum() else unicodedata.category(char)[0]
        if kind in "PS":
            run += 1
            longest = max(longest, run)
        elif kind in "LN":
            run = 0
    return Finding(longest <= params.max_mark_run, longest, f"<= {params.max_mark_run}")


def first_capital(subject: Subject, params: Params) -> Finding:
    """The first word must begin with a capital letter, opening quotes ignored; where boiler-plate was cropped before it
    ("Photo of a dog"), the capital of the first original word suffices.
    """
    first = subject.words[0] if subject.words else ""
    original = next(iter(words_of(subject.alt)), "")
    return Finding(first[:1].isupper() or original[:1].isupper(), first, "begins with a capital")


def capital_ratio(subject: Subject, params: Params) -> Finding:
    """The share of capitalised words must not exceed the threshold."""
    ratio = sum(word[0].isupper() for word in subject.words) / max(1, len(subject.words))
    return Finding(ratio <= params.max_capital_ratio, ratio, f"<= {params.max_capital_ratio}")


def token_repetition(subject: Subject, params: Params) -> Finding:
    """The share of words that occurred before, ignoring case, must not exceed the threshold."""
    distinct = len({word.lower() for word in subject.words})
    ratio = 1 - distinct / max(1, len(subject.words))
    return Finding(ratio <= params.max_repetition, ratio, f"<= {params.max_repetition}")


def unknown_token(subject: Subject, params: Params) -> Finding:
    """Every token must be in the vocabulary.

    Hash-tags, handles, addresses and file names are not. A word is in it when it is frequent enough on the Zipf scale; a rare
    lower-case word must also be in the dictionary, which excludes misspellings. A word written like a name passes: CC's
    vocabulary, all words with five occurrences in Wikipedia, contains names, ours does not.
    """
    threshold = f"listed, or Zipf >= {params.min_zipf_unlisted} (with capitals or digits {params.min_zipf})"
    odd = next((token for token in subject.text.split() if _NO_WORD.search(token)), "")
    if odd:
        return Finding(False, f"{odd} (0.00)", threshold)
    rarest, least = "", 9.0
    for word in subject.words:
        if len(word) > LONGEST_WORD:
            return Finding(False, f"{word[:LONGEST_WORD]}… (0.00)", threshold)
        frequency = zipf(word)
        if _NAME.match(word) or frequency >= least or (word.isascii() and word.isalpha() and is_listed(word)):
            continue
        if word.islower():
            rarest, least = word, frequency
        elif frequency < params.min_zipf:
            return Finding(False, f"{word} ({frequency:.2f})", threshold)
    return Finding(least >= params.min_zipf_unlisted, f"{rarest} ({least:.2f})" if rarest else "", threshold)


def language(subject: Subject, params: Params) -> Finding:
    """The probability that the text is in the configured language must reach the threshold."""
    probability = combined_probability(subject.text, params.language)
    return Finding(probability >= params.min_language, probability, f">= {params.min_language}")


def profanity(subject: Subject, params: Params) -> Finding:
    """The probability of profanity must be below the threshold."""
    return Finding(subject.profanity < params.profanity_from, subject.profanity, f"< {params.profanity_from}")


def polarity_low(subject: Subject, params: Params) -> Finding:
    """The polarity must not be below the threshold."""
    return Finding(subject.polarity >= params.min_polarity, subject.polarity, f">= {params.min_polarity}")


def polarity_high(subject: Subject, params: Params) -> Finding:
    """The polarity must not exceed the threshold."""
    return Finding(subject.polarity <= params.max_polarity, subject.polarity, f"<= {params.max_polarity}")


_NO_WORD = re.compile(
    r"^[#@]\w|://|\bwww\.|\w_\w|_$|^_|\w\.(?:jpe?g|png|gif|webp|bmp|tiff?|svg|html?|php|pdf|com|net|org)\b", re.I
)
"""Matches tokens that are no words: hash-tags, handles, addresses, file names."""
_NAME = re.compile(
    r"[^\W\d_a-z][^\W\d_A-Z]+(?:['’][^\W\d_]+)?$|(?:Mc|Mac|De|Di|La|Le|Van|O['’]|D['’]|d['’])[^\W\d_a-z][^\W\d_A-Z]+$"
)
"""Matches words written like names: one capital, then small letters."""

LONGEST_WORD = 100
"""Letters of the longest word that is looked up; longer ones count as unknown."""

TEXT_RULES = (
    Rule("page_language", page_language, ("language",)),
    Rule("max_characters", max_characters, ("max_characters",)),
    Rule("boilerplate_pattern", boilerplate_pattern),
    Rule("min_words", min_words, ("min_words",)),
    Rule("max_words", max_words, ("max_words",)),
    Rule("mark_run", mark_run, ("max_mark_run",)),
    Rule("first_capital", first_capital),
    Rule("capital_ratio", capital_ratio, ("max_capital_ratio",)),
    Rule("token_repetition", token_repetition, ("max_repetition",)),
    Rule("unknown_token", unknown_token, ("min_zipf_unlisted", "min_zipf")),
    Rule("language", language, ("min_language",)),
)
"""Rules that need the words."""
TONE_RULES = (
    Rule("profanity", profanity, ("profanity_from",)),
    Rule("polarity_low", polarity_low, ("min_polarity",)),
    Rule("polarity_high", polarity_high, ("max_polarity",)),
)
"""Rules that need the scores of two fast annotators."""
