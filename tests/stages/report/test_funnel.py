"""The funnel by the paper's steps: every drop is counted in exactly one step."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from components.reporting.figures import png
from components.stages.filter.cascade import GROUPS, RULE_GROUPS
from components.stages.report.facts import STEPS, Line, RunReport, passed_by
from components.stages.report.figures import DPI, _pass_rates
from components.stages.report.pages import step_rows, steps_csv

RULES = {name: [rule.name for rule in rules] for name, rules in GROUPS.items()}
IMAGE = set(RULES["record"])
DROPS = st.dictionaries(st.sampled_from([rule for rules in RULES.values() for rule in rules]), st.integers(0, 50))


def test_the_steps_contain_the_filters_groups_of_rules() -> None:
    named = {step.name: step.group for step in STEPS if step.stage == "filter"}
    assert named == {"image": "record", "text": None, "pornography": "image", "labels": "overlap"}
    assert {group for group in named.values() if group} <= set(GROUPS)
    assert [step.name for step in STEPS] == ["image", "text", "pornography", "labels", "rewriting", "concepts"]


@given(DROPS, st.integers(0, 100))
def test_every_drop_is_counted_in_one_step_and_what_leaves_one_enters_the_next(dropped: dict[str, int], kept: int) -> None:
    entered = sum(dropped.values()) + kept
    steps = passed_by("filter", entered, dropped, RULE_GROUPS)
    assert steps[0].entered == entered and steps[-1].left == kept
    assert all(before.left == after.entered for before, after in pairwise(steps))
    assert steps[0].entered - steps[0].left == sum(count for rule, count in dropped.items() if rule in IMAGE)


def test_an_unknown_rule_counts_as_a_text_rule_and_other_stages_have_no_steps() -> None:
    text = next(result for result in passed_by("filter", 10, {"a_new_rule": 4}, RULE_GROUPS) if result.step.name == "text")
    assert (text.entered, text.left) == (10, 6)
    assert passed_by("dedup", 10, {}, {}) == []
    assert [(p.step.name, p.left) for p in passed_by("hypernymize", 10, {"too_short": 2, "rare_concept": 3}, {})] == [
        ("rewriting", 8), ("concepts", 5),
    ]  # fmt: skip


def report() -> RunReport:
    made = RunReport("english", [Line("english", "filter", 100, 10, {"image_side": 40, "noun_ratio": 50})])
    made.steps = {
        "english": [
            *passed_by("filter", 100, {"image_side": 40, "noun_ratio": 50}, RULE_GROUPS),
            *passed_by("hypernymize", 10, {}, {}),
        ],
        "paper": [*passed_by("filter", 100, {"image_side": 100}, RULE_GROUPS), *passed_by("hypernymize", 0, {}, {})],
    }
    return made


def test_rows_show_both_profiles_and_the_paper() -> None:
    rows = step_rows(report())
    assert rows[0]["cells"] == [("100", "60", "60.0 %", "60.0 %"), ("100", "0", "0.0 %", "0.0 %")]
    assert rows[1]["cells"] == [("60", "10", "16.7 %", "10.0 %"), ("0", "0", "–", "0.0 %")]
    assert [row["paper"] for row in rows] == ["< 35 %", "≈ 3 %", "in the image rules", "≈ 40 %", "≈ 80 %", "≈ 55 %"]
    lines = steps_csv(report()).splitlines()
    assert lines[0] == "series,step,entered,left,passed" and "english,text rules (english),60,10,0.1667" in lines
    assert len(lines) == 1 + 2 * len(STEPS) + 5


def test_the_figure_is_drawn_with_empty_steps_and_is_reproducible() -> None:
    first = png(_pass_rates(report()), DPI)
    assert first.startswith(b"\x89PNG") and first == png(_pass_rates(report()), DPI)
