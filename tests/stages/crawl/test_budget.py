"""Every budget of a crawl is a setting with a documented default; an invalid one is a one-line error."""

from __future__ import annotations

import pytest

from components.core.errors import HearsightError
from components.core.params import parse_settings
from components.web.budget import Budget
from tests.stages.crawl.hostile_web import rules
from tests.support import PROJECT
from tests.support.crawl.crawls import fixture_params

PAGE = (PROJECT / "docs" / "robustness.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", list(Budget.model_fields))
def test_every_budget_is_explained_and_its_default_is_in_the_documents(name):
    assert Budget.model_fields[name].description
    assert f"| `{name}` | {getattr(Budget(), name):,g} |" in PAGE or f"| `{name}` | {getattr(Budget(), name):,} |" in PAGE


@pytest.mark.parametrize("name", list(Budget.model_fields))
@pytest.mark.parametrize("value", [0, -1])
def test_a_zero_budget_is_an_error_that_names_the_setting(name, value):
    kind = type(getattr(Budget(), name))
    with pytest.raises(HearsightError, match=rf"crawl.budget.{name}: .* is too small"):
        parse_settings(Budget, {name: kind(value)}, "params.yaml: english.crawl.budget")


def test_a_project_may_leave_the_budget_out_or_name_a_part_of_it():
    assert fixture_params().budget == Budget()
    assert fixture_params(budget={"image_side": 30_000}).budget == Budget(image_side=30_000)


@pytest.mark.parametrize("rule", sorted(rules()))
def test_every_rule_of_the_hostile_web_is_documented(rule):
    assert f"`{rule}`" in PAGE
