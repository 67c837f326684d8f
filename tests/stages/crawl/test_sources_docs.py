"""The documented examples are settings the stage takes."""

from __future__ import annotations

import re

import pytest
import yaml

from components.stages.crawl import Params
from components.stages.crawl.settings import sound
from tests.support import PROJECT

TEXT = (PROJECT / "docs" / "sources.md").read_text(encoding="utf-8")
EXAMPLES = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)[0])


@pytest.mark.parametrize("dataset", ["archive", "site", "table"])
def test_an_example_fits_the_stage(dataset):
    params = sound(Params.model_validate(EXAMPLES[dataset]["crawl"]))
    assert params.snapshot == f"{dataset}-1" and dataset in EXAMPLES["chain"]["crawl"]


def test_every_layout_is_documented():
    from components.stages.crawl.sources.layouts import LAYOUTS

    for name in LAYOUTS:
        assert re.search(rf"^\| .*`{name}`", TEXT, re.MULTILINE), name
