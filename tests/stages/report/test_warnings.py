"""The report shows the warnings of all its inputs."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa

from components.core.ledger import kept, ledger_table
from components.core.records import OUTPUT_SCHEMAS
from components.core.stage_output import StageOutput
from components.stages import report
from components.stages.report.run import run as run_report
from tests.stages.report.test_scores import scores
from tests.support import leave_warning, make_output, make_stage, row


def with_file(root: Path, stage: str, record: dict[str, object], name: str, text: str) -> StageOutput:
    job = make_stage(root, stage)
    job.write_shard(
        "00000", pa.Table.from_pylist([record], schema=OUTPUT_SCHEMAS[stage][1]), ledger_table([kept("a", kind="model")])
    )
    job.write_file(name, text.encode())
    job.finish()
    return StageOutput(job.out)


def test_the_warnings_of_inputs_are_on_the_page_and_in_the_markdown(tmp_path: Path) -> None:
    record = {"key": "a", "caption": "a dog runs", "split": "train"}
    inputs = {
        stage: make_output(tmp_path, stage, [[row(stage, key="a")]]) for stage in ("crawl", "filter", "hypernymize", "dedup")
    }
    inputs["split"] = make_output(tmp_path, "split", [[row("split", **record)]])
    inputs["synthesize"] = make_output(tmp_path, "synthesize", [[row("synthesize", key="a.0", voice="v")]])
    history = "epoch,validation\n1,0.5\n"
    inputs["pretrain_retrieval"] = with_file(
        tmp_path, "pretrain_retrieval", row("pretrain_retrieval", key="a", kind="dual_encoder"), "models/a/history.csv", history
    )
    evaluated = with_file(tmp_path, "evaluate_retrieval", row("evaluate_retrieval", key="a"), "scores.json", json.dumps(scores()))
    inputs["input"] = evaluated
    lines = [leave_warning(inputs[name]) for name in ("synthesize", "crawl")]
    stage = make_stage(tmp_path, "report", params=report.Params(examples=1), inputs=inputs)
    stage.root = tmp_path
    run_report(stage)
    page, text = ((stage.out / name).read_text() for name in ("report.html", "report.md"))
    assert page.count("found &lt;0.7&gt;") == len(lines)
    assert all(f"- Warning: {line}" in text for line in lines)
