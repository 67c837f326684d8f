"""The settings of every stage have defaults with a source, and `hearsight params` lists what applies and why."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from components.cli.main import app
from components.core.graph import load_graph
from components.core.params import Settings, classes_of, parse_settings, stage_params
from components.execution.runner import stage_settings
from components.stages.filter import Params as FilterParams
from components.stages.filter.cascade import RULES
from components.stages.hypernymize import Params as HypernymizeParams
from components.stages.split import Params as SplitParams
from components.tools.datasets.params_listing import listed
from tests.support import PROJECT

GRAPH = load_graph(PROJECT)
BLOCKS = [(stage, dataset) for stage, takers in GRAPH.chain.items() for dataset in takers]


def classes(kind: type[Settings]) -> Iterator[type[Settings]]:
    """A class of settings, its subclasses, and those of its fields."""
    yield kind
    for variant in kind.__subclasses__():
        yield from classes(variant)
    for field in kind.model_fields.values():
        for inner in classes_of(field.annotation):
            yield from classes(inner)


@pytest.mark.parametrize("stage", GRAPH.stages)
def test_every_setting_has_a_default_of_its_type_and_a_meaning(stage: str) -> None:
    for kind in classes(importlib.import_module(f"components.stages.{stage}").Params):
        kind.model_validate(kind().model_dump())
        for name, field in kind.model_fields.items():
            assert field.description, f"{kind.__module__}.{kind.__name__}.{name}"


def test_an_empty_block_has_the_papers_settings() -> None:
    published = {
        "language": "en",
        "formats": ["JPEG"],
        "sides_over": 400,
        "max_aspect_ratio": 2.0,
        "min_labels": 5,
        "max_labels": 20,
    }
    assert parse_settings(FilterParams, {}, "here").plain().items() >= published.items()
    result = stage_params(Path("params.yaml"), {"paper": {}}, "paper", "hypernymize", HypernymizeParams).plain()
    assert (result["concept_level"], result["min_concept_count"], result["min_words"]) == ("noun", 101, 2)
    changed = {
        stage: [row.name for row in listed(stage_settings(GRAPH, stage, "paper")) if row.changed]
        for stage in ("filter", "hypernymize")
    }
    assert changed == {"filter": ["context_rules", "first_capital", "min_description"], "hypernymize": []}  # rules of ours


@pytest.mark.parametrize(("stage", "dataset"), BLOCKS)
def test_the_listed_settings_are_those_the_stage_reads(stage: str, dataset: str) -> None:
    settings = stage_settings(GRAPH, stage, dataset)
    rows = {row.name: row for row in listed(settings)}
    for name, row in rows.items():
        value = settings.plain()
        for key in name.split("."):
            value = value[key]
        assert value == row.value and row.meaning
    assert stage == "train_captioner" or all(row.changed == (row.value != row.default) for row in rows.values())


def test_a_selected_class_is_listed_with_its_own_defaults() -> None:
    rows = {row.name: row for row in listed(parse_settings(SplitParams, {"by": "owner", "sides": "x"}, "here"))}
    assert (rows["by"].value, rows["by"].default, rows["by"].changed) == ("owner", "group", True)
    assert (rows["validation"].value, rows["validation"].changed, rows["validation"].source) == (0.2, False, "PCV §4.3.4: .2.")


def test_the_command_prints_value_default_source_and_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROJECT)
    done = CliRunner().invoke(app, ["params", "filter", "--dataset", "english"])
    rows = {row["name"]: row for row in map(json.loads, done.output.splitlines())}
    assert done.exit_code == 0 and rows["sides_over"] == {
        "name": "sides_over",
        "value": 59,
        "default": 400,
        "changed": True,
        "source": "CC §3: 400.",
        "meaning": "Both sides must be greater than this, in px.",
        "rules": ["image_side"],
    }
    assert {rule for row in rows.values() for rule in row["rules"]} == {name for name, rule in RULES.items() if rule.settings}
    assert "``" not in done.output
    assert rows["providers.vision"]["value"] == "embedded"
    texts = [row.text() for row in listed(FilterParams(), {"brevity": ("min_words",)})]
    assert next(text for text in texts if "brevity" in text).startswith("min_words: 2   (default; read by brevity)\n")
    only = CliRunner().invoke(app, ["params", "filter", "--dataset", "english", "--changed"])
    assert [json.loads(line)["name"] for line in only.output.splitlines()] == [
        "formats", "sides_over", "max_aspect_ratio", "min_description", "min_evidence"
    ]  # fmt: skip
