"""Rules about the text that need no parse: language, boiler-plate, length, capitals, vocabulary, tone.

Source: CC §3, text-based filtering. CC publishes no numbers for these rules: each threshold is set so that the rule alone
drops at most .3 % of the captions that CC published (docs/quality.md).
"""

from __future__ import annotations

import unicodedata

from components.core.rule_values import ANYTHING
from components.language.identification import identify
from components.language.words import words_of
from components.stages.filter import Params
from components.stages.filter.boilerplate import find_drop_pattern, load_boilerplate
from components.stages.filter.rules import Finding, Rule, Subject, Sweep, compare, rule
from components.stages.filter.vocabulary import unknown_token

UNFINISHED = frozenset({"a", "an", "the", "and", "or", "but", "of"})
"""Words that end no English phrase."""
TEXT_RULES: list[Rule] = []
"""Rules that need the words."""
TONE_RULES: list[Rule] = []
"""Rules that need the scores of two fast annotators."""


@rule(TEXT_RULES, "language", portuguese="A página está no idioma certo.")
def page_language(subject: Subject, params: Params) -> Finding:
    """The page is in the right language; a text without a page passes."""
    return Finding(subject.language in ("", params.language), subject.language, params.language)


@rule(TEXT_RULES, "max_characters", portuguese="O texto não é longo demais.")
def max_characters(subject: Subject, params: Params) -> Finding:
    """The text is not too long, boiler-plate included."""
    return compare(len(subject.alt), "<=", params.max_characters)


@rule(TEXT_RULES, portuguese="O texto não é uma frase padrão de um site.")
def boilerplate_pattern(subject: Subject, params: Params) -> Finding:
    """The text is no standard phrase of a website, and neither begins nor ends with one ("embedded image permalink")."""
    pattern = find_drop_pattern(subject.text, load_boilerplate(params.language))
    return Finding(not pattern, pattern, "no such pattern")


@rule(TEXT_RULES, "min_words", portuguese="O texto tem palavras suficientes.")
def min_words(subject: Subject, params: Params) -> Finding:
    """The text has enough words."""
    return compare(len(subject.words), ">=", params.min_words)


@rule(TEXT_RULES, "max_words", portuguese="O texto não tem palavras demais.")
def max_words(subject: Subject, params: Params) -> Finding:
    """The text does not have too many words."""
    return compare(len(subject.words), "<=", params.max_words)


@rule(TEXT_RULES, "max_mark_run", portuguese="Não há muitos sinais de pontuação ou símbolos seguidos.")
def mark_run(subject: Subject, params: Params) -> Finding:
    """Not many punctuation marks or symbols follow each other; spaces and invisible characters are ignored."""
    longest = run = 0
    for char in subject.text:
        kind = "L" if char.isalnum() else unicodedata.category(char)[0]
        if kind in "PS":
            run += 1
            longest = max(longest, run)
        elif kind in "LN":
            run = 0
    return compare(longest, "<=", params.max_mark_run)


@rule(TEXT_RULES, "first_capital", portuguese="A primeira palavra começa com letra maiúscula.")
def first_capital(subject: Subject, params: Params) -> Finding:
    """The first word begins with a capital letter or a digit, if required; opening quotes are ignored.

    Where boiler-plate was cropped before it ("Photo of a dog"), the capital of the first original word suffices.
    """
    first = subject.words[0] if subject.words else ""
    original = next(iter(words_of(subject.alt)), "")
    passed = any(word[:1].isupper() or word[:1].isdigit() for word in (first, original))
    return Finding(passed or not params.first_capital, first, "begins with a capital" if params.first_capital else ANYTHING)


@rule(TEXT_RULES, portuguese="O texto não termina no meio de uma frase.")
def cut_off(subject: Subject, params: Params) -> Finding:
    """The text does not end in the middle of a phrase: with an article, a conjunction or "of" in small letters."""
    last = subject.words[-1] if subject.words else ""
    found = last in UNFINISHED and subject.text.rstrip(".…!? ").endswith(last)
    return Finding(not found, last if found else "", "ends with another word")


@rule(TEXT_RULES, "max_capital_ratio", portuguese="Não há palavras demais com letra maiúscula.", sweep=Sweep("<="))
def capital_ratio(subject: Subject, params: Params) -> Finding:
    """Not too many words begin with a capital letter."""
    ratio = sum(word[0].isupper() for word in subject.words) / max(1, len(subject.words))
    return compare(ratio, "<=", params.max_capital_ratio)


rule(
    TEXT_RULES,
    "min_zipf_unlisted",
    "min_zipf",
    portuguese="Cada palavra é conhecida; não há nomes de arquivos.",
    sweep=Sweep(">=", 0, 6),
)(unknown_token)


@rule(
    TEXT_RULES, "min_language", portuguese="O texto está no idioma certo.", sweep=Sweep(">=", shown=(0.001, 0.01, 0.1, 0.4, 0.8))
)
def language(subject: Subject, params: Params) -> Finding:
    """The text is in the right language, by its own words."""
    found = identify(subject.text, params.language)
    likelier = f"{found.best} is likelier, {found.best_probability:.2f}; " if found.best != params.language else ""
    measured = f"{likelier}{params.language} ({found.probability:.4f})"
    return Finding(found.probability >= params.min_language, measured, f">= {params.min_language}")


@rule(TONE_RULES, "profanity_from", portuguese="O texto não tem palavras ofensivas.", sweep=Sweep("<"))
def profanity(subject: Subject, params: Params) -> Finding:
    """The text has no offensive words."""
    return compare(subject.profanity, "<", params.profanity_from)


@rule(TONE_RULES, "min_polarity", portuguese="O texto não é muito negativo.", sweep=Sweep(">=", -1, 0))
def polarity_low(subject: Subject, params: Params) -> Finding:
    """The text is not strongly negative."""
    return compare(subject.polarity, ">=", params.min_polarity)


@rule(TONE_RULES, "max_polarity", portuguese="O texto não é muito positivo, como propaganda.", sweep=Sweep("<="))
def polarity_high(subject: Subject, params: Params) -> Finding:
    """The text is not strongly positive, as advertising is."""
    return compare(subject.polarity, "<=", params.max_polarity)
