"""A scheduled run first moves the crawl on to the day's snapshot, and does not run over one that cannot be moved."""

from __future__ import annotations

import re

import pytest
import yaml

from components.core.errors import HearsightError
from components.core.params import read_params_file
from tests.support import PROJECT
from tests.support.flows.clones import Make
from tests.support.settings_files import write_settings

pytestmark = pytest.mark.long


@pytest.mark.slow
@pytest.mark.usefixtures("prefect_server")
def test_a_flow_moves_on_to_the_days_snapshot_before_anything_runs(make_project: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    from flows.flow import pipeline

    root = make_project()
    monkeypatch.setenv("PYTHONPATH", str(PROJECT))
    with pytest.raises(HearsightError, match="there is no stage 'crawl'"):
        pipeline(snapshots=["english"])
    assert not (root / "a.txt").exists()
    stages = yaml.safe_load((root / "dvc.yaml").read_text())
    stages["stages"]["crawl"] = {
        "cmd": "cp datasets/english.yaml crawled.txt",
        "params": [{"datasets/english.yaml": ["crawl.snapshot"]}],
        "outs": ["crawled.txt"],
    }
    (root / "dvc.yaml").write_text(yaml.safe_dump(stages))
    crawl = read_params_file(PROJECT / "params.yaml")["english"]["crawl"]
    write_settings(root, {"chain": {"crawl": {"english": {}}}, "english": {"crawl": crawl}})
    (root / "data/store/sample-2").mkdir(parents=True)
    (root / "data/store/sample-2/COMPLETE").write_text("{}")
    assert pipeline(target="crawl", snapshots=["english"]) == 1
    seen = yaml.safe_load((root / "crawled.txt").read_text())["crawl"]
    assert re.fullmatch(r"sample-2-\d{4}-\d\d-\d\d", seen["snapshot"]) and seen["base"] == "sample-2"
