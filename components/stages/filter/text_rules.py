"""Rules about the text that need no parse: language, boiler-plate, length, capitals, vocabulary, tone.

Source: CC §3, text-based filtering. CC publishes no numbers for these rules: each threshold is set so that the rule alone
drops at most .3 % of the captions that CC published (docs/quality.md).
"""

from __future__ import annotations

import unicodedata

from components.language.identification import identify
from components.language.words import words_of
from components.stages.filter import Params
from components.stages.filter.boilerplate import find_drop_pattern, load_boilerplate
from components.stages.filter.rules import Finding, Rule, Subject
from components.stages.filter.vocabulary import unknown_token

UNFINISHED = frozenset({"a", "an", "the", "and", "or", "but", "of"})
"""Words that end no English phrase."""


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
    """The first word must begin with a capital letter or a digit, opening quotes ignored.

    Where boiler-plate was cropped before it ("Photo of a dog"), the capital of the first original word suffices.
    """
    first = subject.words[0] if subject.words else ""
    original = next(iter(words_of(subject.alt)), "")
    passed = any(word[:1].isupper() or word[:1].isdigit() for word in (first, original))
    return Finding(passed, first, "begins with a capital")


def cut_off(subject: Subject, params: Params) -> Finding:
    """The text must not end with an article, a conjunction or "of" in small letters: such a text was cut off."""
    last = subject.words[-1] if subject.words else ""
    found = last in UNFINISHED and subject.text.rstrip(".…!? ").endswith(last)
    return Finding(not found, last if found else "", "ends with another word")


def capital_ratio(subject: Subject, params: Params) -> Finding:
    """The share of capitalised words must not exceed the threshold."""
    ratio = sum(word[0].isupper() for word in subject.words) / max(1, len(subject.words))
    return Finding(ratio <= params.max_capital_ratio, ratio, f"<= {params.max_capital_ratio}")


def language(subject: Subject, params: Params) -> Finding:
    """The probability that the text is in the configured language must reach the threshold; the value names a likelier one."""
    found = identify(subject.text, params.language)
    likelier = f"{found.best} is likelier, {found.best_probability:.2f} " if found.best != params.language else ""
    return Finding(found.probability >= params.min_language, f"{likelier}({found.probability:.4f})", f">= {params.min_language}")


def profanity(subject: Subject, params: Params) -> Finding:
    """The probability of profanity must be below the threshold."""
    return Finding(subject.profanity < params.profanity_from, subject.profanity, f"< {params.profanity_from}")


def polarity_low(subject: Subject, params: Params) -> Finding:
    """The polarity must not be below the threshold."""
    return Finding(subject.polarity >= params.min_polarity, subject.polarity, f">= {params.min_polarity}")


def polarity_high(subject: Subject, params: Params) -> Finding:
    """The polarity must not exceed the threshold."""
    return Finding(subject.polarity <= params.max_polarity, subject.polarity, f"<= {params.max_polarity}")


TEXT_RULES = (
    Rule("page_language", page_language, ("language",)),
    Rule("max_characters", max_characters, ("max_characters",)),
    Rule("boilerplate_pattern", boilerplate_pattern),
    Rule("min_words", min_words, ("min_words",)),
    Rule("max_words", max_words, ("max_words",)),
    Rule("mark_run", mark_run, ("max_mark_run",)),
    Rule("first_capital", first_capital),
    Rule("cut_off", cut_off),
    Rule("capital_ratio", capital_ratio, ("max_capital_ratio",)),
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
