"""Run filter: apply the rules to each shard of candidates."""

from __future__ import annotations

import pyarrow as pa

from components.core.digests import canonical_json
from components.core.ledger import dropped, kept, ledger_table
from components.core.records import FILTERED
from components.execution.stage import ShardOut, Stage, Task
from components.google.cost import record_usage
from components.hub.chosen import resources_for
from components.providers.registry import make_providers, models_of, plan_for, record_choice
from components.stages.filter import Params
from components.stages.filter.annotation import SubjectAnnotator
from components.stages.filter.boilerplate import load_boilerplate
from components.stages.filter.cascade import RULE_GROUPS, first_failures, make_subjects
from components.stages.filter.rules import Finding


def run(stage: Stage) -> None:
    """Filter each shard of candidates; record the providers, and the group of each rule."""
    params: Params = stage.params
    plan = plan_for(stage.project, params.providers, params.language, params.zero_shot, params.image_text, stage.engine.device)
    models = models_of(plan)
    for role, model in models.items():
        stage.note_parent(f"model of {role}", model.digest)
    if "labels" in models:
        stage.note_parent("vocabulary", plan["labels"]["vocabulary"]["digest"])
    shards, resources = stage.inputs["input"].shards, resources_for(models.values())
    with record_usage(stage, plan):
        refs = stage.map(filter_shard, shards, step="filter", params=params, shared=plan, resources=resources)
    record_choice(stage, plan)
    stage.write_file("rules.json", (canonical_json(RULE_GROUPS) + "\n").encode())
    stage.metric("kept", sum(ref.read(["key"]).num_rows for ref in refs))


def filter_shard(table: pa.Table, task: Task) -> ShardOut:
    """Apply the groups of rules in order; each group sees only what the groups before it kept."""
    params: Params = task.params
    boilerplate = load_boilerplate(params.language)
    rows = {row["key"]: row for row in table.to_pylist()}
    subjects = make_subjects(rows, params)
    annotate = SubjectAnnotator(rows, task, make_providers(task.shared, task.project, task.work))
    failed = first_failures(subjects, annotate, params)
    failed |= {key: ("unanswered", Finding(False, reason, "an answer")) for key, reason in annotate.refused.items()}

    verdicts, kept_rows = [], []
    for key, row in rows.items():
        subject = subjects[key]
        detail = f"boiler-plate v{boilerplate.version} cropped: {'; '.join(subject.cropped)}" if subject.cropped else ""
        if key in failed:
            name, finding = failed[key]
            verdicts.append(dropped(key, name, finding.value, finding.threshold, detail=detail))
            continue
        verdicts.append(kept(key, detail=detail))
        labels = [
            {"label": label.names[0], "confidence": label.confidence, "identifier": label.identifier} for label in subject.labels
        ]
        kept_rows.append(row | {"text": subject.text, "labels": labels})
    return ShardOut(pa.Table.from_pylist(kept_rows, schema=FILTERED), ledger_table(verdicts))
