"""Texts made to be expensive: each gets a verdict at a length at which quadratic work would take many minutes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.knowledge.cascade import Knowledge
from components.language.dictionary import is_listed
from components.language.parser import LONGEST, LONGEST_RUN, EnglishParser
from components.language.wordnet import load_wordnet
from components.stages.filter.boilerplate import crop, load_boilerplate
from components.stages.filter.cascade import GROUPS, TEXT_GROUPS, evaluate_all, first_failures, make_subject
from components.stages.hypernymize.sentence import Sentence, Word
from components.stages.hypernymize.tidy import tidy_marks
from components.tools.trial import Trial
from tests.support import PROJECT
from tests.support.filter.subjects import PAPER

LISTS = load_boilerplate("en")
LONG = 200_000
PIECES = (
    "a", "boat", "a dog on the beach ", ".", "!?", ")", "(", "()", "7", "\U0001f600", "a \U0001f600 ", "\u0301", "\u0301\u0323",
    "“a” ", "'", '" ', "stock photo ", "stock photo - ", " photo by ", "(a/b) ", "(photo ", ". credit: ", " ©", "http://a.bc/d ",
    "a.", "a@b.", "a'", "a_", " .", "good but bad ", "漢", "ก", "\u200d", "İ", "Anna Smith, ", "(a) ((", ":) ",
)  # fmt: skip
"""Each repeated is one kind of hostile text."""
FOLDED = ("  ", "\x9b")
"""What the crawl takes out of every alt-text."""
BOILERPLATE = ("stock photo ", "stock photo - ", " photo by ", " ©", "(a/b) ", ". credit: x", " .", " [", "x")
MARKS = 50_000
ORPHANS = {
    "nested": (["("] * MARKS + [")"] * MARKS, []),
    "pairs": (["(", "a", ")"] * MARKS + ["("] * MARKS, ["(", "a", ")"] * MARKS),
    "joints": (["(", "-"] * MARKS + [")"] * MARKS, []),
    "ends": ([")", "."] * MARKS, []),
}
"""Marks, and what is left of them."""


@pytest.fixture(scope="module")
def trial() -> Iterator[Trial]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEARSIGHT_WORDNET", str(PROJECT / "tests" / "knowledge" / "wordnet"))
        yield Trial(PROJECT, "paper")


def long(piece: str) -> str:
    return (piece * LONG)[:LONG]


@pytest.mark.long
@pytest.mark.parametrize("piece", PIECES)
def test_a_long_text_of_any_kind_is_dropped_and_every_rule_states_its_reason(trial: Trial, piece: str) -> None:
    alt = f"A dog on the grass {long(piece)} x"
    (result,) = trial.of([alt], explain_all=True)
    assert result["verdict"] == "dropped" and result["alt"] == alt
    assert len(result["rules"]) == sum(len(GROUPS[name]) for name in TEXT_GROUPS)
    assert all(len(str(rule["value"])) <= PAPER.max_characters + 10 for rule in result["rules"])


@pytest.mark.long
@pytest.mark.parametrize("piece", FOLDED)
def test_invisible_characters_do_not_count_against_a_caption(trial: Trial, piece: str) -> None:
    (result,) = trial.of([f"A dog on the grass {long(piece)}"])
    assert (result["verdict"], result["caption"]) == ("kept", "a dog on the grass")


def test_grass_with_many_dots_is_dropped_whatever_their_number(trial: Trial) -> None:
    results = trial.of([f"Grass in the garden{'.' * number}" for number in (1, 3, 11, 2_000, 100_000)])
    assert [result["rule"] for result in results] == [None, None, "mark_run", "mark_run", "max_characters"]


def test_the_rules_read_at_most_the_configured_length_of_a_text() -> None:
    made = make_subject("A dog " * LONG, LISTS, 600)
    assert len(made.text) <= 600 and len(made.words) == 200 and len(made.alt) == 6 * LONG


@pytest.mark.long
@pytest.mark.parametrize("piece", BOILERPLATE)
def test_very_long_boilerplate_is_cropped_in_one_pass(piece: str) -> None:
    once = crop(f"A dog {piece * 20_000}", LISTS)
    assert crop(once.text, LISTS) == (once.text, ())


def test_a_very_long_word_is_looked_up_in_bounded_time() -> None:
    assert not is_listed("boat" * 250_000)


@pytest.mark.long
@pytest.mark.parametrize("piece", [")", "a", ".", *(pytest.param(piece, marks=pytest.mark.slow) for piece in ("(", "'", ":) "))])
def test_texts_are_parsed_up_to_a_limit_in_runs_of_limited_length(piece: str) -> None:
    parse = EnglishParser().compute(long(piece))
    assert max(map(len, parse["text"])) <= LONGEST_RUN
    assert 0 < sum(map(len, parse["text"])) <= LONGEST


@pytest.mark.long
@pytest.mark.parametrize(("marks", "left"), ORPHANS.values(), ids=ORPHANS)
def test_marks_that_join_nothing_are_removed_in_one_pass(marks: list[str], left: list[str]) -> None:
    sentence = Sentence([Word(mark, True, mark, "NOUN" if mark == "a" else "PUNCT", "", "", 0) for mark in marks])
    tidy_marks(sentence, Knowledge(load_wordnet(PROJECT)))
    assert [sentence.words[place].text for place in sentence.alive()] == left


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map("".join)), st.integers(0, 40))
def test_any_text_gets_a_verdict_and_no_rule_raises(text: str, max_characters: int) -> None:
    params = PAPER.model_copy(update={"max_characters": max_characters})
    subjects = {"": make_subject(text, LISTS, max_characters)}

    def annotate_group(group: str, alive: object) -> None:
        """The texts' rules need nothing but the text."""

    result = evaluate_all(subjects, annotate_group, params, ["text"])[""]
    failed = first_failures(subjects, annotate_group, params, ["text"])
    broken = [name for name, finding in result.items() if not finding.passed]
    assert ([failed[""][0]] if failed else []) == broken[:1]
    assert ("max_characters" in broken) == (len(text) > max_characters)
