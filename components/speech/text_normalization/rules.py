"""The rules in order: one pass over a text.

Characters, markup and addresses come first, then figures, from the most specific forms to bare numbers, then abbreviations and
capitals, and marks last. A rule outputs words, or figures for a later rule.
"""

from __future__ import annotations

from components.speech.text_normalization.abbreviations import say_abbreviations, say_before_digits, say_phrases
from components.speech.text_normalization.capitals import is_shouting, say_capitals, say_letters, say_mixed
from components.speech.text_normalization.characters import fold_characters
from components.speech.text_normalization.codes import join_groups, say_codes
from components.speech.text_normalization.dates import say_dates, say_decades, say_times
from components.speech.text_normalization.draft import Draft
from components.speech.text_normalization.marks import part, say_symbols, tidy
from components.speech.text_normalization.quantities import (
    join_figures,
    say_fractions,
    say_money,
    say_numbers,
    say_ordinals,
    say_units,
)
from components.speech.text_normalization.roman import say_roman
from components.speech.text_normalization.written import say_addresses, split_camel, strip_markup


def apply(draft: Draft) -> float:
    """Apply all rules to a draft once; return its share of letters of other scripts."""
    strip_markup(draft)
    foreign = fold_characters(draft)
    draft.shouting = is_shouting(draft.text)
    say_addresses(draft)
    say_phrases(draft)
    if draft.has_digits:
        join_groups(draft)
        say_before_digits(draft)
        say_dates(draft)
        say_times(draft)
        say_codes(draft)
        say_decades(draft)
        join_figures(draft)
        say_money(draft)
        say_units(draft)
        say_fractions(draft)
        say_ordinals(draft)
        say_mixed(draft)
        say_numbers(draft)
    say_abbreviations(draft)
    say_roman(draft)
    split_camel(draft)
    say_capitals(draft)
    say_symbols(draft)
    part(draft)
    say_letters(draft)
    tidy(draft)
    return foreign
