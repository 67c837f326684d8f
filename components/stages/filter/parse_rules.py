"""Rules about the parsed text: a well-formed caption (CC §3, first item of text-based filtering)."""

from __future__ import annotations

from components.core.ledger import format_value
from components.core.rule_values import ANYTHING
from components.language.capitals import begins_sentence, is_common_word
from components.language.wordnet import load_wordnet
from components.stages.filter import Params
from components.stages.filter.description import load_model
from components.stages.filter.rules import Finding, Rule, Subject, Sweep, compare, rule

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
PARSE_RULES: list[Rule] = []
"""Rules that need the parse."""


def _needs(subject: Subject, params: Params, part: str) -> Finding:
    tags = [tag for tag in _tags(subject) if tag in PARTS[part]]
    if part == "determiner" and subject.parse is not None:
        tags += [tag for tag in subject.parse["tag"] if tag in POSSESSIVE]
    required = part in params.require
    return Finding(bool(tags) or not required, len(tags), ">= 1" if required else ANYTHING)


@rule(PARSE_RULES, "require", portuguese="O texto tem um artigo ou palavra semelhante.")
def needs_determiner(subject: Subject, params: Params) -> Finding:
    """The text has an article or a similar word (a, the, his), if required."""
    return _needs(subject, params, "determiner")


@rule(PARSE_RULES, "require", portuguese="O texto tem um substantivo ou um nome.")
def needs_noun(subject: Subject, params: Params) -> Finding:
    """The text has a noun or a name, if required."""
    return _needs(subject, params, "noun")


@rule(PARSE_RULES, "require", portuguese="O texto diz como as coisas se relacionam (em, sobre, com).")
def needs_preposition(subject: Subject, params: Params) -> Finding:
    """The text says how things relate (in, on, with), if required."""
    return _needs(subject, params, "preposition")


@rule(PARSE_RULES, "max_noun_ratio", portuguese="O texto é uma frase, não uma lista de substantivos.", sweep=Sweep("<="))
def noun_ratio(subject: Subject, params: Params) -> Finding:
    """The text is a phrase, not a list of nouns.

    Names do not count, since the rewriting removes them. The first word does, since its capital makes taggers call it a name.
    """
    parse = subject.parse
    words = list(zip(parse["text"], parse["pos"], strict=True)) if parse is not None else []
    tags = [
        tag for at, (word, tag) in enumerate(words) if tag not in SILENT and not (at and tag == "PROPN" and word[:1].isupper())
    ]
    ratio = sum(tag in PARTS["noun"] for tag in tags) / max(1, len(tags))
    return compare(ratio, "<=", params.max_noun_ratio)


@rule(PARSE_RULES, portuguese="O texto não está escrito como um título.")
def title_case(subject: Subject, params: Params) -> Finding:
    """The text is not written as a title.

    In a title every content word after the first has a capital, and one of them is a common word. Words of a named entity do not
    count. Source: CC §3, "too high capitalized-word ratio"; the function words of a title keep its ratio low.
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


@rule(
    PARSE_RULES,
    "max_repetition",
    portuguese="Substantivos, verbos, adjetivos e advérbios não se repetem muito.",
    sweep=Sweep("<="),
)
def token_repetition(subject: Subject, params: Params) -> Finding:
    """Nouns, verbs, adjectives and adverbs are not repeated much: by the share of those that occurred before."""
    lemmas = [lemma for _, lemma in _content_lemmas(subject)]
    ratio = 1 - len(set(lemmas)) / len(lemmas) if lemmas else 0.0
    return compare(ratio, "<=", params.max_repetition)


@rule(
    PARSE_RULES,
    "min_unique_ratio",
    portuguese="Em cada classe (substantivos, verbos, …) as palavras são diferentes entre si.",
    sweep=Sweep(">="),
)
def unique_words(subject: Subject, params: Params) -> Finding:
    """The words of each open class differ from each other: by the share of distinct nouns, verbs, adjectives or adverbs."""
    lemmas: dict[str, list[str]] = {}
    for pos, lemma in _content_lemmas(subject):
        lemmas.setdefault(pos, []).append(lemma)
    ratio = min((len(set(words)) / len(words) for words in lemmas.values()), default=0.0)
    return compare(ratio, ">=", params.min_unique_ratio)


def describe_description(subject: Subject, params: Params) -> str:
    """Return the score with the features that decide it."""
    model = load_model(params.language)
    if model is None or subject.parse is None:
        return ""
    features = model.features(subject.parse, subject.context)
    decisive = ", ".join(f"{name} {move:+.1f}" for name, move in model.decisive(features))
    return f"{format_value(model.score(features))}, mostly by: {decisive}"


@rule(
    PARSE_RULES,
    "min_description",
    portuguese="O texto descreve uma imagem; não é um título, um link, um botão nem um aviso.",
    sweep=Sweep(">="),
    describe=describe_description,
)
def description(subject: Subject, params: Params) -> Finding:
    """The text describes an image; it is no headline, link, button, slogan or notice, by its form and its page."""
    model = load_model(params.language)
    if model is None or subject.parse is None:
        return Finding(True, "", ANYTHING)
    score = round(model.score(model.features(subject.parse, subject.context)), 4)
    return compare(score, ">=", params.min_description) if params.min_description else Finding(True, score, ANYTHING)


def _tags(subject: Subject) -> list[str]:
    return [tag for tag in subject.parse["pos"] if tag not in SILENT] if subject.parse is not None else []


def _content_lemmas(subject: Subject) -> list[tuple[str, str]]:
    """Return part of speech and lemma of each word of an open class, in order."""
    parse = subject.parse
    words = zip(parse["pos"], parse["lemma"], strict=True) if parse is not None else ()
    return [(pos, lemma.lower()) for pos, lemma in words if pos in OPEN]
