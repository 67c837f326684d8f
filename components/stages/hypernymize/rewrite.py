"""The chain of rewriting steps, each recorded with its reason, and the concepts of the resulting caption."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from components.knowledge.cascade import Knowledge
from components.language.parser import Parse
from components.stages.hypernymize import asides, corrections, leftovers, locations, modifiers, optional, removals, rename, tidy
from components.stages.hypernymize.first_word import choose_parse
from components.stages.hypernymize.sentence import Entity, Sentence
from components.stages.hypernymize.well_formed import find_shortcoming


class Step(NamedTuple):
    """A rewrite that changed the text."""

    step: str
    before: str
    after: str
    reason: str


class Rewritten(NamedTuple):
    """The caption, its steps, its concepts (distinct, in order), and the reason to drop it, if any."""

    caption: str
    steps: list[Step]
    types: list[str]
    shortcoming: tuple[str, str, str] | None


def rewrite(
    parse: Parse,
    knowledge: Knowledge,
    *,
    min_words: int,
    min_name_signals: int,
    second: Parse | None = None,
    removed: bool = False,
    names: Sequence[Entity] = (),
) -> Rewritten:
    """Return a parsed text as a caption without names, numbers, dates and places.

    Args:
        parse: the text's parse.
        knowledge: gives hypernyms.
        min_words: words a caption must have.
        min_name_signals: signals that must agree on the kind of a name.
        second: parse of ``first_word.second_text``; None where that is empty or no second parse was made.
        removed: whether words were removed before, so that faults of form count.
        names: what a second recogniser found (``second_recogniser.align_names``).
    """
    sentence = Sentence.of(choose_parse(parse, second, knowledge), names)
    corrections.correct_parse(sentence, knowledge)
    for word, written in zip(sentence.words, parse["text"], strict=True):
        word.text = written  # the second parse has no capital
    chain: tuple[tuple[str, Callable[[Sentence, Knowledge], str]], ...] = (
        ("labels", asides.strip_labels),
        ("asides", asides.strip_asides),
        ("dates", removals.strip_dates),
        ("quantities", removals.strip_quantities),
        ("quotes", removals.strip_quotes),
        ("locations", locations.strip_locations),
        ("whereabouts", partial(locations.strip_vague, min_name_signals=min_name_signals)),
        ("hypernyms", partial(rename.rename_entities, min_name_signals=min_name_signals)),
        ("modifiers", modifiers.strip_modifiers),
        ("leftovers", leftovers.strip_leftovers),
        ("unknown", optional.cut_unknown),
        ("marks", tidy.tidy_marks),
        ("coordination", rename.merge_coordination),
        ("articles", tidy.repair_articles),
        ("case", tidy.lower_case),
    )
    steps: list[Step] = []
    before = sentence.render()
    for name, change in chain:
        reason = change(sentence, knowledge)
        after = sentence.render()
        if after != before:
            steps.append(Step(name, before, after, reason))
        before = after
    shortcoming = find_shortcoming(sentence, min_words, min_name_signals, removed=removed)
    return Rewritten(before, steps, find_concepts(sentence), shortcoming)


def find_concepts(sentence: Sentence) -> list[str]:
    """Return the heads of the remaining noun phrases as singular common nouns: the paper's resolved entity types."""
    heads: dict[str, None] = {}
    for position in sentence.alive():
        word, following = sentence.words[position], sentence.after(position)
        modifies = following is not None and sentence.words[following].pos == "NOUN" and word.dep in ("compound", "nmod")
        if word.pos == "NOUN" and not modifies and word.lemma.strip():
            heads[word.lemma.lower().strip()] = None
    return list(heads)
