"""What a rule dropped can be listed, over all datasets or one."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from components.core.errors import HearsightError
from components.core.ledger import dropped, kept, ledger_table
from components.core.records import OUTPUT_SCHEMAS
from components.tracking.explain import dropped_by
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
