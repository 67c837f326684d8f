"""``hearsight explain`` shows what every rule measured of a record, found by key or by image, and runs no model for it."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from components.cli.main import app
from components.cli.results import explain as list_records
from components.core.addresses import lineage_path
from components.core.errors import HearsightError
from components.core.graph import Graph, load_graph
from components.core.rule_values import RuleValue
from components.stages.filter.cascade import GROUPS, RULES
from components.stages.filter.image_rules import describe_overlap
from components.stages.filter.measured_values import measured_by_output
from components.tracking.explain import explain
from components.tracking.history import RecordHistory, add_rule_values
from tests.support.filter.candidates import ALTS, dictionary, filtered
from tests.support.filter.subjects import PAPER, subject
from tests.support.knowledge.dictionary import EXTRACT
from tests.support.settings_files import copy_settings

__all__ = ["dictionary"]
NAMES = [rule.name for rules in GROUPS.values() for rule in rules]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose english filter ran with the paper's settings, other ones than its params.yaml holds."""
    root = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEARSIGHT_WORDNET", str(EXTRACT))
        patch.setitem(ALTS, "kite", "A red kite above the hills of the country.")
        made = filtered(root)
    lineage_path(made.path).parent.mkdir(parents=True)
    lineage_path(made.path).write_text(json.dumps({"params": PAPER.plain()}))
    copy_settings(root)
    return root


@pytest.fixture
def graph(finished: Path, tmp_path: Path) -> Graph:
    """A copy of it."""
    return load_graph(shutil.copytree(finished, tmp_path / "project"))


def explained(graph: Graph, what: str) -> RecordHistory:
    histories = explain(graph, what)
    (history,) = add_rule_values(histories, measured_by_output(graph, [history.key for history in histories]))
    return history


def rules(history: RecordHistory) -> dict[str, RuleValue]:
    (event,) = [event for event in history.events if event.output == "english/filter"]
    return {each.rule: each for each in event.rules}


def test_a_kept_record_shows_every_rule_with_value_and_threshold_of_the_run(graph: Graph) -> None:
    result = rules(explained(graph, "kite"))
    assert list(result) == NAMES and all(each.passed for each in result.values())
    assert (result["image_side"].value, result["image_side"].threshold) == ("500", "> 400 px")
    assert (result["min_words"].value, result["needs_noun"].threshold) == ("9", ">= 1")
    assert 0 < float(result["pornography"].value) < 0.5 and "kite" in result["label_overlap"].value
    assert all(each.meaning for each in result.values())
    assert result["image_side"].setting == "english.filter.sides_over" and result["cut_off"].setting == "no setting"


def test_the_words_and_confidences_that_decided_the_overlap_are_shown(graph: Graph) -> None:
    assert re.fullmatch(r"'kite' is the label 'kite' \(0\.\d\d\)", rules(explained(graph, "kite"))["label_overlap"].detail)
    failed = rules(explained(graph, "nothing"))["label_overlap"]
    assert failed.setting.startswith("english.filter.overlap (stem), min_evidence (-0.15), min_labels (5), max_labels (20), ")
    assert re.match(r"No word of the text is a label; the labels: \w[^,]* 0\.\d\d, ", failed.detail) and not failed.passed


def test_the_hypernym_that_is_nearest_to_a_match_is_shown_with_the_setting() -> None:
    detail = describe_overlap(subject("A prune.", nearest_kind=lambda: ("prune", "fruit", 0.0279)), PAPER)
    near = "'prune' is a kind of 'fruit' (0.0279; min_kind_confidence is 0.1)"
    assert detail == f"No word of the text is a label; {near}; the labels: none"


def test_a_dropped_record_shows_the_rules_up_to_the_one_that_dropped_it(graph: Graph) -> None:
    small = rules(explained(graph, "small"))
    assert {name: (each.passed, each.value) for name, each in small.items()} == {
        "image_format": (True, "JPEG"),
        "image_side": (False, "300"),
    }
    last = rules(explained(graph, "nothing"))
    assert list(last) == NAMES[: NAMES.index("label_overlap") + 1] and [
        name for name, each in last.items() if not each.passed
    ] == ["label_overlap"]


def test_a_value_without_a_cached_answer_is_omitted_and_no_model_runs(graph: Graph) -> None:
    folder = graph.root / ".hearsight" / "annotations"
    for path in folder.glob("parse.en*"):
        path.unlink()
    before = sorted(path.name for path in folder.glob("*.sqlite"))
    result = rules(explained(graph, "kite"))
    hidden = {name: each.note for name, each in result.items() if each.passed is None}
    assert set(hidden) == {
        "needs_determiner", "needs_noun", "needs_preposition", "noun_ratio", "title_case", "token_repetition",
        "unique_words", "description", "label_overlap", "image_text",
    }  # fmt: skip
    assert hidden["noun_ratio"] == "no answer of parse.en is in the cache" and hidden["label_overlap"] == "it needs the parse"
    assert sorted(path.name for path in folder.glob("*.sqlite")) == before


def test_a_rule_whose_dictionary_is_missing_is_shown_without_a_value(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARSIGHT_WORDNET", str(graph.root / "missing"))
    result = rules(explained(graph, "kite"))
    assert result["image_side"].passed and result["unknown_token"].passed is None
    assert "the WordNet dictionary cannot be read" in result["unknown_token"].note


def test_explain_finds_an_image_by_its_file_its_digest_and_a_prefix_of_it(graph: Graph, tmp_path: Path) -> None:
    from components.core.stage_output import StageOutput

    crawled = StageOutput(graph.output("crawl", "english"))
    row = crawled.table().to_pylist()[0]
    file = tmp_path / "image.jpg"
    file.write_bytes(crawled.read_media(row["media"]))
    for what in (str(file), row["image_sha256"], row["image_sha256"][:17], row["image_sha256"].upper()):
        histories = explain(graph, what)
        assert sorted(history.key for history in histories) == sorted([*ALTS, "kite"]), what
        assert all([event.output for event in history.events] == ["english/crawl", "english/filter"] for history in histories)
    file.write_bytes(b"another")
    with pytest.raises(HearsightError, match=r"no record has an image with the sha256 [0-9a-f]{64}"):
        explain(graph, str(file))


def test_text_is_one_line_a_rule_and_json_holds_the_same(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    text = explained(graph, "lower").text()
    lines = [line.strip() for line in text.splitlines()]
    assert "english/filter: dropped by first_capital" in lines
    assert "passed     image_side: 500 (allowed: more than 400 px, set by english.filter.sides_over)" in lines
    assert lines[-1].startswith(
        "failed     first_capital: a (allowed: begins with a capital, set by english.filter.first_capital). "
    )
    monkeypatch.setenv("HEARSIGHT_ROOT", str(graph.root))
    printed = CliRunner().invoke(app, ["explain", "lower"])
    (history,) = [json.loads(line) for line in printed.stdout.splitlines()]
    assert history["history"][0]["rules"] == [] and history["history"][1]["rules"][1]["threshold"] == "> 400 px"


def test_on_a_terminal_the_list_of_a_rule_begins_with_what_it_asks_for(
    graph: Graph, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEARSIGHT_ROOT", str(graph.root))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    list_records(rule="first_capital")
    first, _, row = capsys.readouterr().out.splitlines()
    assert first == f"first_capital: {RULES['first_capital'].meaning}" and " lower " in row


def test_without_the_settings_of_the_run_those_of_params_yaml_are_used(graph: Graph) -> None:
    lineage_path(graph.output("filter", "english")).unlink()
    assert rules(explained(graph, "kite"))["image_side"].threshold == "> 59 px"
