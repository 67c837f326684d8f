"""Time, throughput, yield, cache hits and cost of each run are metrics with the same names, over time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.tracking import runs
from components.tracking.queue import put
from components.tracking.record import Record, connect
from components.tracking.recorder import flush

NAMES = ("seconds", "records_in", "records_out", "yield", "records_per_second", "cached_share", "bytes", "cost_usd", "peak_bytes")


@pytest.mark.long
def test_a_run_has_its_figures_as_metrics_and_the_same_result_again_adds_a_point(tmp_path, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    first = Record("english", "crawl", digest="d" * 64, usage=dict.fromkeys(NAMES, 1.0), started=1_000.0, ended=1_010.0)
    again = replace(first, usage=dict.fromkeys(NAMES, 2.0), started=2_000.0, ended=2_010.0)
    put(tmp_path, first)
    put(tmp_path, again)
    one, two = flush(tmp_path)
    assert one == two  # an equal result is one run
    client = connect(tmp_path)
    assert runs.log_record(client, tmp_path, again) == one  # logged twice, e.g. after a kill
    for name in NAMES:
        history = client.get_metric_history(one, f"operations/{name}")
        assert [(point.value, point.timestamp, point.step) for point in history] == [(1.0, 1_010_000, 0), (2.0, 2_010_000, 1)]
    assert not client.get_metric_history(
        runs.log_record(client, tmp_path, replace(first, stage="filter", usage={})), "operations/seconds"
    )
