"""The report shows the warnings of all its inputs, and the people that no source of knowledge knows."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from components.core.ledger import kept, ledger_table
from components.core.records import OUTPUT_SCHEMAS
from components.core.stage_output import StageOutput
from components.stages import report
from components.stages.filter.cascade import RULE_GROUPS
from components.stages.report.run import run as run_report
from tests.support import leave_warning, make_output, make_stage, row
from tests.support.report import scores


def with_file(root: Path, stage: str, record: dict[str, object], name: str, text: str, kind: str = "model") -> StageOutput:
    job = make_stage(root, stage)
    job.write_shard(
        "00000", pa.Table.from_pylist([record], schema=OUTPUT_SCHEMAS[stage][1]), ledger_table([kept("a", kind=kind)])
    )
    job.write_file(name, text.encode())
    job.finish()
    return StageOutput(job.out)


def inputs_of(root: Path, **caption: object) -> dict[str, StageOutput]:
    record = {"key": "a", "caption": "a dog runs", "split": "train"} | caption
    inputs = {stage: make_output(root, stage, [[row(stage, key="a")]]) for stage in ("crawl", "hypernymize", "dedup")}
    inputs["filter"] = with_file(root, "filter", row("filter", key="a"), "rules.json", json.dumps(RULE_GROUPS), "record")
    inputs["split"] = make_output(root, "split", [[row("split", **record)]])
    inputs["synthesize"] = make_output(root, "synthesize", [[row("synthesize", key="a.0", voice="v")]])
    history = "epoch,validation\n1,0.5\n"
    inputs["pretrain_retrieval"] = with_file(
        root, "pretrain_retrieval", row("pretrain_retrieval", key="a", kind="dual_encoder"), "models/a/history.csv", history
    )
    evaluated = with_file(root, "evaluate_retrieval", row("evaluate_retrieval", key="a"), "scores.json", json.dumps(scores()))
    return inputs | {"input": evaluated}


def page_of(root: Path, inputs: dict[str, StageOutput]) -> str:
    stage = make_stage(root, "report", params=report.Params(examples=1), inputs=inputs)
    run_report(stage)
    return (stage.out / "report.html").read_text()


@pytest.mark.long
def test_the_warnings_of_inputs_are_on_the_page(tmp_path: Path) -> None:
    inputs = inputs_of(tmp_path)
    lines = [leave_warning(inputs[name]) for name in ("synthesize", "crawl")]
    page = page_of(tmp_path, inputs)
    assert page.count("found &lt;0.7&gt;") == len(lines)
    assert "people named" not in page


def test_people_that_no_source_of_knowledge_knows_are_counted_on_the_page(tmp_path: Path) -> None:
    reason = "Jaro Venn (PERSON) is a person, says type; Mira Venn (PERSON) is an actor, says wikidata Q20"
    step = {"step": "hypernyms", "before": "", "after": "", "reason": reason}
    page = page_of(tmp_path, inputs_of(tmp_path, steps=[step]))
    assert 'Of 2 people named in these texts, 1 became only "person"' in page
