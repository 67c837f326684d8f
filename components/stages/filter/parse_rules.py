"""Rules about the parsed text: a well-formed caption (CC §3, first item of text-based filtering)."""

from __future__ import annotations

from components.language.capitals import begins_sentence, is_common_word
from components.language.wordnet import load_wordnet
from components.stages.filter import Params
from components.stages.filter.rules import Finding, Rule, Subject

PARTS: dict[str, tuple[str, ...]] = {"determiner": ("DET",), "noun": ("NOUN", "PROPN"), "preposition": ("ADP",)}
"""Parts of speech that ``require`` may name, as universal tags."""
POSSESSIVE = frozenset({"PRP$", "WP$"})
"""Penn tags of possessive determiners ("his", "whose"), which the universal tags call pronouns."""
OPEN = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "ADV"})
"""Tags of open word classes; function words may recur."""
UNNAMED = frozenset({"WORK_OF_ART", "CARDINAL", "ORDINAL", "QUANTITY", "PERCENT", "MONEY"})
"""Entity types whose words count as common words in a title."""
SHOWN = 5
"""Capitalised words of a title in a finding, at most."""
SILENT = frozenset({"PUNCT", "SPACE", "SYM", "X"})


def _needs(subject: Subject, params: Params, part: str) -> Finding:
    tags = [tag for tag in _tags(subject) if tag in PARTS[part]]
    if part == "determiner" and subject.parse is not None:
        tags += [tag for tag in subject.parse["tag"] if tag in POSSESSIVE]
    required = part in params.require
    return Finding(bool(tags) or not required, len(tags), ">= 1" if required else ">= 0")


def needs_determiner(subject: Subject, params: Params) -> Finding:
    """The text must contain a determiner, if required."""
    return _needs(subject, params, "determiner")


def needs_noun(subject: Subject, params: Params) -> Finding:
    """The text must contain a common or proper noun, if required."""
    return _needs(subject, params, "noun")


def needs_preposition(subject: Subject, params: Params) -> Finding:
    """The text must contain a preposition, if required."""
    return _needs(subject, params, "preposition")


def noun_ratio(subject: Subject, params: Params) -> Finding:
    """The share of nouns among all words must not exceed the threshold.

    Names do not count, since the rewriting removes them. The first word does, since its capital makes taggers call it a name.
    """
    parse = subject.parse
    words = list(zip(parse["text"], parse["pos"], strict=True)) if parse is not None else []
    tags = [
        tag for at, (word, tag) in enumerate(words) if tag not in SILENT and not (at and tag == "PROPN" and word[:1].isupper())
    ]
    ratio = sum(tag in PARTS["noun"] for tag in tags) / max(1, len(tags))
    return Finding(ratio <= params.max_noun_ratio, ratio, f"<= {params.max_noun_ratio}")


def title_case(subject: Subject, params: Params) -> Finding:
    """The text must not be written as a title: every content word after the first has a capital, one of them is a common word.

    Words of a named entity do not count. Source: CC §3, "too high capitalized-word ratio"; the function words of a title keep
    its ratio low.
    """
    threshold = "a content word in small letters"
    if subject.parse is None:
        return Finding(True, "", threshold)
    parse = subject.parse
    named = {at for start, end, label in parse["entities"] if label not in UNNAMED for at in range(start, end)}
    content = [
        (at, word)
        for at, (word, tag) in enumerate(zip(parse["text"], parse["pos"], strict=True))
        if tag in OPEN and word.isalpha() and not begins_sentence(parse["text"], at)
    ]
    if not content or not all(word[:1].isupper() for _, word in content):
        return Finding(True, "", threshold)
    wordnet = load_wordnet()
    titled = [word for at, word in content if at not in named and is_common_word(word.lower(), wordnet)]
    return Finding(not titled, " ".join(titled[:SHOWN]), threshold)


def token_repetition(subject: Subject, params: Params) -> Finding:
    """The share of nouns, verbs, adjectives and adverbs that occurred before must not exceed the threshold."""
    lemmas = [lemma for _, lemma in _content_lemmas(subject)]
    ratio = 1 - len(set(lemmas)) / len(lemmas) if lemmas else 0.0
    return Finding(ratio <= params.max_repetition, ratio, f"<= {params.max_repetition}")


def unique_words(subject: Subject, params: Params) -> Finding:
    """The share of distinct lemmas must reach the threshold in every open word class."""
    lemmas: dict[str, list[str]] = {}
    for pos, lemma in _content_lemmas(subject):
        lemmas.setdefault(pos, []).append(lemma)
    ratio = min((len(set(words)) / len(words) for words in lemmas.values()), default=0.0)
    return Finding(ratio >= params.min_unique_ratio, ratio, f">= {params.min_unique_ratio}")


def _tags(subject: Subject) -> list[str]:
    return [tag for tag in subject.parse["pos"] if tag not in SILENT] if subject.parse is not None else []


def _content_lemmas(subject: Subject) -> list[tuple[str, str]]:
    """Return part of speech and lemma of each word of an open class, in order."""
    parse = subject.parse
    words = zip(parse["pos"], parse["lemma"], strict=True) if parse is not None else ()
    return [(pos, lemma.lower()) for pos, lemma in words if pos in OPEN]


PARSE_RULES = (
    Rule("needs_determiner", needs_determiner, ("require",)),
    Rule("needs_noun", needs_noun, ("require",)),
    Rule("needs_preposition", needs_preposition, ("require",)),
    Rule("noun_ratio", noun_ratio, ("max_noun_ratio",)),
    Rule("title_case", title_case),
    Rule("token_repetition", token_repetition, ("max_repetition",)),
    Rule("unique_words", unique_words, ("min_unique_ratio",)),
)
"""Rules that need the parse."""
