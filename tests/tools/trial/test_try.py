"""``hearsight try``: a verdict for whatever stands on a line, by the stages' own functions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from components.core.rule_values import RuleValue
from components.tools.trial import Trial, read_lines, text_of
from tests.support import PROJECT, command
from tests.support.knowledge.dictionary import EXTRACT

KEYS = {"alt", "verdict", "rule", "caption", "steps", "value", "threshold", "setting"}


@pytest.fixture(scope="module")
def trial() -> Iterator[Trial]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEARSIGHT_WORDNET", str(EXTRACT))
        yield Trial(PROJECT, "paper")


def test_each_line_gives_one_json_object_in_order() -> None:
    done = command.hearsight(
        "try",
        HEARSIGHT_WORDNET=str(EXTRACT),
        stdin=b"A dog runs on the beach.\n\ncat\r\nClick to enlarge picture: A dog on the grass",
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and [set(line) for line in lines] == [KEYS] * 4
    assert [line["alt"] for line in lines] == [
        "A dog runs on the beach.", "", "cat", "Click to enlarge picture: A dog on the grass",
    ]  # fmt: skip
    assert [(line["verdict"], line["rule"]) for line in lines] == [
        ("kept", None), ("dropped", "min_words"), ("dropped", "min_words"), ("kept", None),
    ]  # fmt: skip
    assert lines[0]["caption"] == "a dog runs on the beach." and lines[3]["caption"] == "a dog on the grass"
    assert set(lines[3]["steps"][0]) == {"step", "before", "after", "reason"}


def test_no_lines_give_no_lines() -> None:
    done = command.hearsight("try", stdin=b"", HEARSIGHT_WORDNET=str(EXTRACT))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_one_line_says_that_no_source_knows_a_person_and_none_where_no_name_was_replaced() -> None:
    for alt, lines in ((b"Anna Maria Beispiel rides a horse on the beach\n", 1), (b"A woman rides a horse on the beach\n", 0)):
        done = command.hearsight("try", stdin=alt * 2, HEARSIGHT_WORDNET=str(EXTRACT))
        assert done.returncode == 0 and done.stderr.count(b"no source knows people") == lines, done.stderr


def test_an_unknown_dataset_gives_a_one_line_error() -> None:
    done = command.hearsight("try", "--dataset", "nonsense", stdin=b"A dog\n", HEARSIGHT_WORDNET=str(EXTRACT))
    assert done.returncode == 2 and done.stdout == b"" and done.stderr.count(b"\n") == 1 and b"nonsense" in done.stderr


def test_explain_all_lists_every_rule_also_after_a_drop(trial: Trial) -> None:
    (result,) = trial.of(["dog 4711xyz"], explain_all=True)
    rules = [rule["rule"] for rule in result["rules"]]
    assert result["rule"] == "first_capital" and {"boilerplate_pattern", "unknown_token", "profanity", "noun_ratio"} <= set(rules)
    assert next(rule["rule"] for rule in result["rules"] if not rule["passed"]) == "first_capital"
    assert "first_capital" in text_of(result)


def test_try_shows_a_rule_as_explain_does(trial: Trial) -> None:
    (result,) = trial.of(["A red car of the big company"], explain_all=True)
    shown = [RuleValue(**rule).text() for rule in result["rules"]]
    assert [line.strip() for line in text_of(result).splitlines()[-len(shown) :]] == shown
    assert "passed     capital_ratio: 0.1429 (allowed: at most 0.7, set by paper.filter.max_capital_ratio)" in shown
    assert any(line.startswith("off        needs_determiner") for line in shown)
    values = {rule["rule"]: rule["value"] for rule in result["rules"]}
    assert re.fullmatch(r"en \(0\.\d{4}\)", values["language"])
    assert not [value for value in values.values() if re.search(r"\.\d{5}", value)]


def test_the_size_of_a_chunk_changes_no_answer(trial: Trial) -> None:
    alts = ["A dog runs on the beach.", "Two men in Paris on Monday", "", "A red car of the company"] * 3
    assert list(trial.of(alts, at_a_time=1)) == list(trial.of(alts, at_a_time=5))


_WORDS = """
    A The a an the man men dog Anna O'Neil Paris Paris, UK - | , . ' " “ ” ( ) 's of in at on by and or 5 km 2017 two May
    Monday Museum British Airways A319 is are runs riding “Waves” £20 @x #y &amp; \u200b \U0001f600 ; : – was who which
    \u202ewith رجل van der Berg-d'Arc ((((( &#x1F600;
"""
WORDS = st.sampled_from(_WORDS.split())


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@example("A dog on the beach " * 600)
@example("A" * 10_000)
@example("a\x00b\x07\x1b[31m A man in the house")
@given(st.one_of(st.text(max_size=200), st.lists(WORDS, max_size=25).map(" ".join)))
def test_any_text_gets_a_verdict_and_its_steps_chain(trial: Trial, alt: str) -> None:
    (result,) = trial.of([alt])
    assert set(result) == KEYS and result["alt"] == alt and result["verdict"] in ("kept", "dropped")
    assert (result["caption"] is None) == (result["verdict"] == "dropped") == (result["rule"] is not None)
    json.dumps(result)
    for before, after in zip(result["steps"], result["steps"][1:], strict=False):
        assert before["after"] == after["before"]
    if result["verdict"] == "kept" and result["steps"]:
        assert result["steps"][-1]["after"] == result["caption"]


@given(st.lists(st.binary(max_size=20)))
def test_bytes_that_are_not_text_are_read_as_lines(lines: list[bytes]) -> None:
    lines = [line.replace(b"\n", b"") for line in lines]
    assert len(list(read_lines(line + b"\n" for line in lines))) == len(lines)
