"""The documented examples are valid settings."""

from __future__ import annotations

import re
from textwrap import dedent
from typing import Any

import pytest
import yaml

from components.core.params import parse_settings
from components.stages.crawl import Params
from tests.support import PROJECT

TEXT = (PROJECT / "docs" / "sources.md").read_text(encoding="utf-8")
BLOCKS = [yaml.safe_load(dedent(block)) for block in re.findall(r"^ *```yaml\n(.*?)^ *```", TEXT, re.DOTALL | re.MULTILINE)]
CRAWLS: dict[str, Any] = {
    dataset: block["crawl"] for blocks in BLOCKS for dataset, block in blocks.items() if dataset != "chain" and "crawl" in block
}


def test_each_kind_of_source_has_an_example() -> None:
    assert {"site", "archive", "table", "posts", "export"} <= set(CRAWLS)


@pytest.mark.parametrize("dataset", list(CRAWLS))
def test_an_example_fits_the_stage(dataset: str) -> None:
    assert parse_settings(Params, CRAWLS[dataset], "here").snapshot == f"{dataset}-1"
