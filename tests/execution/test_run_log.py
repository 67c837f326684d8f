"""The log of stage runs: one line for each event, no secrets, a bounded size, and nothing of it in outputs or keys."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from components.core.errors import HearsightError
from components.core.ledger import dropped, kept, ledger_table
from components.execution import run_log
from components.execution.measure import RunMeter
from components.execution.run_log import ITEM, RunLog, log_file, logged_run, runs_file, without_secrets
from components.execution.stage import ShardOut, Task
from tests import support
from tests.support import WORKERS, make_output, row

make_stage = partial(support.make_stage, engine=WORKERS)


def events(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def keep_long(table: pa.Table, task: Task) -> ShardOut:
    stays = [len(alt) >= 2 for alt in table["alt"].to_pylist()]
    rows = [kept(key) if stay else dropped(key, "short", 0, 2) for key, stay in zip(table["key"].to_pylist(), stays, strict=True)]
    return ShardOut(table.filter(pa.array(stays)), ledger_table(rows))


def run(root: Path) -> tuple[Any, dict[str, float]]:
    output = make_output(root, "filter", [[row("filter", key=f"{n:016x}", alt="x" * n) for n in range(3)]] * 2, "earlier")
    stage = make_stage(root, "filter", inputs={"input": output})
    meter = RunMeter.start()
    with logged_run(stage.state, "english", "filter") as stage.log:
        stage.map(keep_long, output.shards, step="filter", params={})
        return stage, meter.figures(stage, stage.finish())


def test_each_shard_is_one_line_with_its_run_stage_counts_and_costs(tmp_path, monkeypatch):
    monkeypatch.setenv("HEARSIGHT_FLOW_RUN", "flow-7")
    run(tmp_path)
    lines = [line for line in events(log_file(tmp_path / ".hearsight", "english", "filter")) if line["event"] == ITEM]
    assert [line["shard"] for line in sorted(lines, key=lambda line: line["shard"])] == ["00000", "00001"]
    for line in lines:
        assert (line["dataset"], line["stage"], line["step"], line["flow_run"]) == ("english", "filter", "filter", "flow-7")
        assert (line["records_in"], line["records_out"], line["cached"]) == (3, 1, False)
        assert line["bytes"] > 0 and line["peak_bytes"] > 1_000_000 and line["seconds"] >= 0 and line["level"] == "info"
    assert len({line["run"] for line in lines}) == 1


def test_the_figures_of_a_run_are_those_of_its_ledger_and_its_cache(tmp_path):
    _, first = run(tmp_path)
    stage, again = run(tmp_path)
    assert (first["records_in"], first["records_out"], first["yield"]) == (6, 2, pytest.approx(1 / 3, abs=1e-6))
    assert (first["cached_share"], again["cached_share"], again["items"]) == (0, 1, 2)
    assert again["bytes"] == sum(file.stat().st_size for file in stage.out.glob("*/0*"))
    assert first["cost_usd"] == 0 and first["cpu_seconds"] > 0


def test_a_log_changes_no_output_and_no_key(tmp_path):
    logged, _ = run(tmp_path / "logged")
    plain = make_stage(tmp_path / "plain", "filter", inputs={"input": make_output(tmp_path / "plain", "filter", [], "earlier")})
    plain.map(keep_long, logged.inputs["input"].shards, step="filter", params={})
    assert plain.finish() == logged.finish()
    keys = [
        {path.name for path in (root / ".hearsight/cache/filter").iterdir()} for root in (tmp_path / "logged", tmp_path / "plain")
    ]
    assert keys[0] == keys[1]


def test_a_failure_is_logged_with_its_error_and_without_its_secrets(tmp_path):
    error = "refused\x1b[2J by http://me:hunter2@proxy.example/?access_token=abc123"  # pragma: allowlist secret
    with pytest.raises(HearsightError), logged_run(tmp_path, "english", "crawl"):
        raise HearsightError(error, hint="ask again")
    (line,) = events(runs_file(tmp_path, "english", "crawl"))
    assert line["event"] == "run_failed" and line["level"] == "error" and line["seconds"] >= 0
    assert line["error"] == "refused\\x1b[2J by http://***@proxy.example/?access_token=*** — ask again"
    assert events(log_file(tmp_path, "english", "crawl")) == [line]


TEXTS = ["Authorization: Bearer abc.def", "api_key='abc.def'", "password=abc.def&x=1"]  # pragma: allowlist secret


@pytest.mark.parametrize("text", [*TEXTS, '"token": "abc.def"'])
def test_values_of_secrets_are_not_written(text):
    assert "abc.def" not in without_secrets(text) and "***" in without_secrets(text)


def test_text_of_the_web_cannot_control_a_terminal_from_the_log(tmp_path):
    RunLog(tmp_path, "english", "crawl").write("note", shard="\x1b]0;owned\x07\u202e", count=1)
    assert not set("\x1b\x07\u202e") & set(log_file(tmp_path, "english", "crawl").read_text())


def test_the_logs_of_an_output_have_a_bounded_size(tmp_path, monkeypatch):
    monkeypatch.setattr(run_log, "LIMIT", 2000)
    log = RunLog(tmp_path, "captioners/cells/english-t2t8x8", "train_captioner")
    for number in range(200):
        log.write(ITEM, shard=f"{number:05d}")
    log.close()
    files = list((tmp_path / "logs" / "stages").iterdir())
    assert len(files) == 3 and all(file.stat().st_size <= 2000 for file in files)
    assert events(log_file(tmp_path, "captioners/cells/english-t2t8x8", "train_captioner"))[-1]["shard"] == "00199"


def test_a_log_that_cannot_be_written_ends_no_run(tmp_path, capsys):
    (tmp_path / "logs").write_text("in the way")
    with logged_run(tmp_path, "english", "crawl") as log:
        log.write("note")
        log.write("note")
    assert capsys.readouterr().err.count("warning") == 1
