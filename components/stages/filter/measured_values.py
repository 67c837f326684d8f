"""Values that each rule measures of a record, kept or dropped, for ``hearsight explain``; the ledger has only the broken one.

The rules run again with the settings of the run over cached annotations. No model and no service is called: a value whose
annotation is not cached is reported as missing, with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from components.core.addresses import lineage_path, state_folder
from components.core.errors import HearsightError
from components.core.graph import Graph
from components.core.manifest import NAME
from components.core.params import parse_settings, stage_params
from components.core.result_cache import ResultCache
from components.core.rule_values import RuleValue
from components.core.stage_output import StageOutput
from components.execution.shard_worker import Task
from components.providers.registry import make_providers, plan_for
from components.stages.filter import Params
from components.stages.filter.annotation import SubjectAnnotator, providers_of
from components.stages.filter.cascade import GROUPS, make_subjects
from components.stages.filter.rules import Rule, Subject

STAGE = "filter"


def measured_by_output(graph: Graph, keys: Sequence[str]) -> dict[str, dict[str, list[RuleValue]]]:
    """Return :func:`measure_records` of every finished filter output, by ``<dataset>/filter``."""
    finished = [dataset for dataset in graph.chain.get(STAGE, {}) if (graph.output(STAGE, dataset) / NAME).exists()]
    return {f"{dataset}/{STAGE}": measure_records(graph, dataset, keys) for dataset in finished}


def measure_records(graph: Graph, dataset: str, keys: Sequence[str]) -> dict[str, list[RuleValue]]:
    """Return what every rule measures of these records of the filter's input, in order of application.

    Keys that the input lacks are left out; the result is empty if the input does not exist.
    """
    inputs = {name: StageOutput(folder) for name, folder in graph.inputs(STAGE, dataset).items()}
    if not (inputs["input"].path / NAME).exists():
        return {}
    candidates = inputs["input"].table()
    rows = {row["key"]: row for row in candidates.filter(pc.is_in(candidates["key"], pa.array(keys, pa.string()))).to_pylist()}
    if not rows:
        return {}
    params = _settings_of_run(graph, dataset)
    plan = plan_for(graph.root, params.providers, params.language, params.zero_shot, params.image_text)
    state = state_folder(graph.root)
    task = Task(params, plan, ResultCache(state / "annotations"), inputs, state, dataset, graph.root, state)
    annotate, subjects = SubjectAnnotator(rows, task, make_providers(plan, graph.root)), make_subjects(rows, params)
    values: dict[str, list[RuleValue]] = {key: [] for key in rows}
    for group, rules in GROUPS.items():
        unavailable = _annotate_from_cache(annotate, group, subjects)
        for key, subject in subjects.items():
            values[key] += [_value(rule, subject, task, unavailable.get(key, "")) for rule in rules]
    return values


def _settings_of_run(graph: Graph, dataset: str) -> Params:
    """Return the settings of the run from its lineage, or those of the dataset's file if the lineage has none."""
    path = lineage_path(graph.output(STAGE, dataset))
    try:
        params = parse_settings(Params, json.loads(path.read_bytes())["params"], str(path))
    except (OSError, ValueError, KeyError, HearsightError):
        params = stage_params(graph.root / "params.yaml", graph.params, dataset, STAGE, Params)
    assert isinstance(params, Params)
    return params


def _annotate_from_cache(annotate: SubjectAnnotator, group: str, subjects: Mapping[str, Subject]) -> dict[str, str]:
    """Set the annotations of a group from the cache alone; return key → why there is none."""
    unavailable: dict[str, str] = {}
    for role, provider in providers_of(group, annotate.providers).items():
        annotator, contents = provider.annotator, annotate.contents(role, subjects)
        missing = set(annotate.task.annotations.find_missing(annotator, sorted(set(contents.values()))))
        unavailable |= {key: f"no answer of {annotator.name} is in the cache" for key in subjects if contents[key] in missing}
    if group == "overlap":
        unavailable |= {key: "it needs the parse" for key, subject in subjects.items() if subject.parse is None}
    available = {key: subject for key, subject in subjects.items() if key not in unavailable}
    try:
        if available:
            annotate(group, available)
    except HearsightError as error:  # WordNet may not be installed
        unavailable |= dict.fromkeys(available, str(error))
    return unavailable | {key: f"no answer ({reason})" for key, reason in annotate.refused.items() if key in available}


def _value(rule: Rule, subject: Subject, task: Task, unavailable: str) -> RuleValue:
    if not unavailable:
        try:
            detail = rule.describe(subject, task.params) if rule.describe else ""
            return rule.shown(rule.test(subject, task.params), task.dataset, task.params, detail)
        except HearsightError as error:  # its dictionary is missing
            unavailable = str(error)
    return RuleValue(rule.name, None, "", "", rule.meaning, unavailable)
