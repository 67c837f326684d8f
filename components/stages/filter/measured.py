"""What each rule measured of a record, kept or dropped, for ``hearsight explain``: the ledger holds only what dropped it.

The rules are asked again with the settings of the run, over answers of models that are in the cache. No model runs and
no service is asked: a value whose answer is not in the cache is not shown, with the reason.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from components.core.addresses import lineage_path
from components.core.errors import HearsightError
from components.core.graph import Graph
from components.core.ledger import format_value
from components.core.manifest import NAME
from components.core.params import parse_settings, stage_params
from components.core.result_cache import ResultCache
from components.core.rule_values import RuleValue
from components.core.stage_output import StageOutput
from components.execution.shard_worker import Task
from components.providers.registry import make_providers, plan_for
from components.stages.filter import Params, subjects_of
from components.stages.filter.annotation import Learning
from components.stages.filter.cascade import GROUPS
from components.stages.filter.rules import Rule, Subject

STAGE = "filter"


def measured_by_output(graph: Graph, keys: Sequence[str]) -> dict[str, dict[str, list[RuleValue]]]:
    """Return what :func:`measured` does for every finished filter, by ``<dataset>/filter``."""
    finished = [dataset for dataset in graph.chain.get(STAGE, {}) if (graph.output(STAGE, dataset) / NAME).exists()]
    return {f"{dataset}/{STAGE}": measured(graph, dataset, keys) for dataset in finished}


def measured(graph: Graph, dataset: str, keys: Sequence[str]) -> dict[str, list[RuleValue]]:
    """Return what every rule measures of these records of the filter's input, in the order of asking.

    Keys that the input lacks are left out, and all are where the input is not there.
    """
    inputs = {name: StageOutput(folder) for name, folder in graph.inputs(STAGE, dataset).items()}
    if not (inputs["input"].path / NAME).exists():
        return {}
    candidates = inputs["input"].table()
    rows = {row["key"]: row for row in candidates.filter(pc.is_in(candidates["key"], pa.array(keys, pa.string()))).to_pylist()}
    if not rows:
        return {}
    params = _settings_of_run(graph, dataset)
    plan = plan_for(graph.root, params.providers, params.language)
    task = Task(params, plan, ResultCache(graph.root / ".hearsight" / "annotations"), inputs, graph.root / ".hearsight", dataset)
    learning, subjects = Learning(rows, task, make_providers(plan)), subjects_of(rows, params)
    found: dict[str, list[RuleValue]] = {key: [] for key in rows}
    for group, rules in GROUPS.items():
        lacking = _learn(learning, group, subjects)
        for key, subject in subjects.items():
            found[key] += [_value(rule, subject, params, lacking.get(key, "")) for rule in rules]
    return found


def _settings_of_run(graph: Graph, dataset: str) -> Params:
    """The settings the filter ran with, from its lineage; those of params.yaml where that does not tell them."""
    path = lineage_path(graph.output(STAGE, dataset))
    try:
        params = parse_settings(Params, json.loads(path.read_bytes())["params"], str(path))
    except (OSError, ValueError, KeyError, HearsightError):
        params = stage_params(graph.root / "params.yaml", graph.params, dataset, STAGE, Params)
    assert isinstance(params, Params)
    return params


def _learn(learning: Learning, group: str, subjects: Mapping[str, Subject]) -> dict[str, str]:
    """Give the subjects what the group needs, from the cache alone; returns key → why there is nothing for it."""
    lacking: dict[str, str] = {}
    for annotator in learning.needs(group):
        contents = learning.contents(annotator, subjects)
        missing = set(learning.task.annotations.find_missing(annotator, sorted(set(contents.values()))))
        lacking |= {key: f"no answer of {annotator.name} is in the cache" for key in subjects if contents[key] in missing}
    if group == "overlap":
        lacking |= {key: "it needs the parse" for key, subject in subjects.items() if subject.parse is None}
    known = {key: subject for key, subject in subjects.items() if key not in lacking}
    try:
        if known:
            learning(group, known)
    except HearsightError as error:  # the dictionary of kinds may be missing
        lacking |= dict.fromkeys(known, str(error))
    return lacking | {key: f"no answer ({why})" for key, why in learning.refused.items() if key in known}


def _value(rule: Rule, subject: Subject, params: Params, lacking: str) -> RuleValue:
    meaning = " ".join((inspect.getdoc(rule.test) or "").partition("\n\n")[0].split())
    if lacking:
        return RuleValue(rule.name, None, "", "", meaning, lacking)
    finding = rule.test(subject, params)
    return RuleValue(rule.name, finding.passed, format_value(finding.value), format_value(finding.threshold), meaning)
