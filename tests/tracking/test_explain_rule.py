"""What a rule dropped and what was kept can be listed, over all datasets or one; an address of many records says how many."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from components.core.errors import HearsightError
from components.core.ledger import dropped, kept, ledger_table
from components.core.records import OUTPUT_SCHEMAS
from components.tracking.explain import MOST, explain
from components.tracking.listings import dropped_by, kept_records
from tests.support import make_stage, row


@pytest.fixture
def graph(tmp_path: Path) -> Any:
    """Two datasets with a finished crawl each."""
    for dataset in ("english", "other"):
        job = make_stage(tmp_path, "crawl", dataset)
        table = pa.Table.from_pylist([row("crawl", key="a" * 16)], schema=OUTPUT_SCHEMAS["crawl"][1])
        rows = [
            kept("a" * 16),
            dropped(f"http://{dataset}.example/p", "page_over_budget", "out of CPU time", "10 s", kind="page"),
            dropped("b" * 16, "timeout", "over 20 s", "an answer", detail=f"http://{dataset}.example/x.jpg"),
        ]
        job.write_shard("00000", table, ledger_table(rows))
        job.finish()
    return SimpleNamespace(
        root=tmp_path,
        datasets=["english", "other"],
        stages_of=lambda _: ["crawl", "filter"],
        output=lambda stage, dataset: tmp_path / "data" / dataset / stage,
    )


def test_all_records_that_a_rule_dropped_are_listed_with_source_and_reason(graph):
    assert [(each["output"], each["key"], each["value"]) for each in dropped_by(graph, "page_over_budget")] == [
        ("english/crawl", "http://english.example/p", "out of CPU time"),
        ("other/crawl", "http://other.example/p", "out of CPU time"),
    ]
    (row_,) = dropped_by(graph, "timeout", "other")
    assert row_["detail"] == "http://other.example/x.jpg"


def test_a_rule_without_drops_gives_a_one_line_error_with_the_rules_that_have_some(graph):
    with pytest.raises(HearsightError, match=r"by the rule 'tiemout'.*page_over_budget, timeout"):
        list(dropped_by(graph, "tiemout"))
    with pytest.raises(HearsightError, match=r"no dataset 'engish'.*english, other"):
        list(dropped_by(graph, "timeout", "engish"))


def finish(root: Path, stage: str, rows: list[dict[str, Any]], ledger: list[dict[str, str]]) -> None:
    """Write a finished output of a stage of english."""
    job = make_stage(root, stage, "english")
    job.write_shard("00000", pa.Table.from_pylist(rows, schema=OUTPUT_SCHEMAS[stage][1]), ledger_table(ledger))
    job.finish()


def test_the_kept_records_are_those_of_the_last_stage_with_key_whole_text_and_address(graph):
    assert [(each["output"], each["key"]) for each in kept_records(graph)] == [
        ("english/crawl", "a" * 16),
        ("other/crawl", "a" * 16),
    ]
    url, text = "http://english.example/a.jpg", "A dog on  the beach " * 5
    record = row("filter", key="b" * 16, alt="Photo of a dog", text=text, image_url=url)
    finish(graph.root, "filter", [record], [kept("b" * 16), dropped("a" * 16, "min_words", 1, ">= 2")])
    (found,) = kept_records(graph, "english")
    assert (found["output"], found["key"], found["address"]) == ("english/filter", "b" * 16, url)
    assert found["text"] == " ".join(text.split())


def test_a_dropped_record_is_listed_with_text_and_address_though_the_crawl_is_another_datasets(graph):
    url = "http://english.example/a.jpg"
    finish(graph.root, "crawl", [row("crawl", key="b" * 16, alt="A prune.", image_url=url)], [kept("b" * 16)])
    finish(graph.root, "filter", [], [dropped("b" * 16, "min_words", 1, ">= 2")])
    filtered = graph.root / "data" / "english" / "filter"
    filtered.rename(graph.root / "data" / "other" / "filter")
    (listed,) = dropped_by(graph, "min_words", "other")
    assert (listed["output"], listed["text"], listed["address"]) == ("other/filter", "A prune.", url)
    (page,) = dropped_by(graph, "page_over_budget", "other")
    assert page["text"] == page["address"] == ""


def test_a_record_is_found_by_its_whole_text_or_else_by_a_part_of_it(graph):
    texts = {"b" * 16: "A dog on a bed", "c" * 16: "A dog", "d" * 16: "a  DOG", "e" * 16: "A cat", "f" * 16: "bed"}
    rows = [row("filter", key=key, alt=f"Photo of {text}", text=text) for key, text in texts.items()]
    finish(graph.root, "filter", rows, [kept(key) for key in texts])
    assert [history.key for history in explain(graph, " a dog ")] == ["c" * 16, "d" * 16]
    assert [history.key for history in explain(graph, "bed")] == ["f" * 16]
    assert [history.key for history in explain(graph, "photo of a cat")] == ["e" * 16]
    assert [history.key for history in explain(graph, "dog")] == ["b" * 16, "c" * 16, "d" * 16]
    for text in ("a horse", "  "):
        with pytest.raises(HearsightError, match="no finished stage has a record of"):
            explain(graph, text)


def test_a_dataset_with_a_part_of_a_text_is_searched_though_another_has_the_whole(graph):
    finish(graph.root, "filter", [row("filter", key="b" * 16, text="A dog on grass")], [kept("b" * 16)])
    other = graph.root / "data" / "other" / "filter"
    (graph.root / "data" / "english" / "filter").rename(other)
    finish(graph.root, "filter", [row("filter", key="c" * 16, text="A dog")], [kept("c" * 16)])
    assert [history.key for history in explain(graph, "a dog")] == ["c" * 16]
    assert [history.key for history in explain(graph, "a dog", "other")] == ["b" * 16]


def test_an_images_path_is_not_searched_as_a_part_of_texts(graph):
    rows = [row("filter", key="b" * 16, image_url="file:1.jpg"), row("filter", key="c" * 16, alt="IMG_0001.jpg")]
    finish(graph.root, "filter", rows, [kept("b" * 16), kept("c" * 16)])
    assert [history.key for history in explain(graph, "1.jpg")] == ["b" * 16]
    assert [history.key for history in explain(graph, "0001.jpg")] == ["c" * 16]


def test_a_dataset_that_keeps_nothing_is_one_line(graph):
    finish(graph.root, "filter", [], [dropped("a" * 16, "min_words", 1, ">= 2")])
    with pytest.raises(HearsightError, match="no finished stage keeps a record of english"):
        list(kept_records(graph, "english"))
    with pytest.raises(HearsightError, match=r"no dataset 'engish'.*english, other"):
        list(kept_records(graph, "engish"))


def test_an_address_of_more_records_than_are_shown_says_how_many_and_shows_whole_lives(graph):
    url, keys = "http://english.example/page", [f"{number:016x}" for number in range(MOST + 7)]
    rows = [row("filter", key=key, page_url=url) for key in keys]
    finish(graph.root, "filter", rows, [kept(key) for key in keys])
    last = list(reversed(keys))
    finish(graph.root, "split", [row("split", key=key, page_url=url) for key in last], [kept(key) for key in last])
    graph.stages_of = lambda _: ["crawl", "filter", "split"]
    notes: list[str] = []
    histories = explain(graph, url, "english", notes.append)
    assert [history.key for history in histories] == keys[:MOST]
    assert all([event.output for event in history.events] == ["english/filter", "english/split"] for history in histories)
    assert len(notes) == 1 and notes[0].startswith(f"{MOST} of {MOST + 7} records shown: name one by its key")
    explain(graph, keys[0], report=notes.append)
    assert len(notes) == 1


def test_a_record_outside_a_sample_is_not_drawn_and_a_threshold_names_its_setting(graph):
    rule = dropped("a" * 16, "not_drawn", "1 utterances", "6 a voice")
    finish(graph.root, "evaluate_speech", [], [rule])
    finish(graph.root, "hypernymize", [], [dropped("a" * 16, "too_short", "1", ">= 2 words")])
    graph.stages_of = lambda _: ["hypernymize", "evaluate_speech"]
    (history,) = explain(graph, "a" * 16, "english")
    assert [event.verdict for event in history.events] == ["dropped", "not drawn"]
    assert history.text().splitlines()[1:] == [
        "  english/hypernymize: dropped by too_short: 1 (allowed: at least 2 words, set by english.hypernymize.min_words)",
        "  english/evaluate_speech: not drawn for the sample (allowed: 6 a voice, set by english.evaluate_speech.per_voice)",
    ]
    graph.output = lambda stage, dataset: graph.root / "data" / "english" / stage
    assert next(iter(dropped_by(graph, "not_drawn", "english")))["verdict"] == "not drawn"
