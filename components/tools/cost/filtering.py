"""``hearsight cost``: what the filter would ask of paid providers, and for how much, without asking anything.

The rules are gone through in their order. Where every answer that a group needs is cached already, it decides; where
one is missing, the candidate is taken to pass, so the sums are upper bounds. Nothing is computed either: an answer of
an embedded model that no run has computed yet counts as missing as well, and as free.
Not in scope: hypernymize, which parses the very texts that the filter parsed, and so finds every answer cached.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.core.params import parse_settings, stage_params
from components.core.result_cache import Annotator, ResultCache
from components.core.stage_output import StageOutput
from components.execution.shard_worker import Task
from components.google.bill import Line, total
from components.google.responses import NAMES
from components.google.settings import google_params
from components.providers.registry import ProviderParams, choose, plan_for
from components.stages.filter import Params, make_subjects
from components.stages.filter.annotation import SubjectAnnotator
from components.stages.filter.cascade import GROUPS
from components.stages.filter.rules import Subject, first_failure


@dataclass
class Tally:
    """What one annotator would be asked."""

    method: Any
    cached: set[str] = field(default_factory=set)
    missing: dict[str, dict[str, int]] = field(default_factory=dict)
    """Content → the units its answer would take."""

    def lines(self, prices: Mapping[str, float]) -> Iterator[Line]:
        """One line a feature; its requests stand with the first."""
        requests = -(-len(self.missing) // self.method.most)
        for feature in self.method.units("x"):
            units = sum(each.get(feature, 0) for each in self.missing.values())
            items = len(self.cached) + len(self.missing)
            usd = units * prices[feature] / 1000
            yield Line(NAMES[self.method.service], feature, items, len(self.cached), requests, units, usd)
            requests = 0


def estimate(root: Path, dataset: str, language: str = "", vision: str = "") -> list[Line]:
    """What a run of ``dataset``'s filter would ask at most, a line a feature, and the sum.

    Args:
        language: a provider in the place of ``filter.providers.language``; "" for the parameter's own.
        vision: likewise.

    Raises:
        HearsightError: the parameters do not fit, or the filter's input is not finished.
    """
    graph = load_graph(root)
    graph.require("filter", dataset)
    params = stage_params(root / "params.yaml", graph.params, dataset, "filter", Params)
    assert isinstance(params, Params)
    given = params.providers.plain() | {name: value for name, value in (("language", language), ("vision", vision)) if value}
    providers = parse_settings(ProviderParams, given, "hearsight cost")
    assert isinstance(providers, ProviderParams)
    plan = plan_for(root, providers, params.language)
    inputs = {name: StageOutput(path) for name, path in graph.inputs("filter", dataset).items()}
    if not inputs["input"].path.is_dir():
        raise HearsightError("is not there yet", where=inputs["input"].path, hint=f"run the crawl of '{dataset}' first")
    task = Task(params, plan, ResultCache(root / ".hearsight" / "annotations"), inputs, root / ".hearsight", dataset)
    if "asking" not in plan:
        return [Line("embedded", "all", 0, 0, 0, 0, 0.0)]
    tallies: dict[str, Tally] = {}
    chosen = choose(plan)
    for shard in inputs["input"].shards:
        rows = {row["key"]: row for row in shard.read().to_pylist()}
        _go_through(SubjectAnnotator(rows, task, chosen), make_subjects(rows, params), params, tallies)
    prices = google_params(root).prices.plain()
    lines = [line for name in sorted(tallies) for line in tallies[name].lines(prices)]
    return [*lines, total(lines)]


def _go_through(learning: SubjectAnnotator, subjects: Mapping[str, Subject], params: Params, tallies: dict[str, Tally]) -> None:
    dropped: set[str] = set()
    for group, rules in GROUPS.items():
        alive = {key: subject for key, subject in subjects.items() if key not in dropped}
        known = dict(alive)
        for annotator in learning.needs(group):
            missing = _look(learning, annotator, alive, tallies)
            known = {key: subject for key, subject in known.items() if key not in missing}
        if known:
            learning(group, known)
        dropped |= {
            key for key, subject in known.items() if key in learning.refused or first_failure(subject, rules, params) is not None
        }


def _look(learning: SubjectAnnotator, annotator: Annotator, alive: Mapping[str, Subject], tallies: dict[str, Tally]) -> set[str]:
    """The candidates whose answer is not cached; what a paid annotator would take for them is noted."""
    contents = learning.contents(annotator, alive)
    found = learning.task.annotations.known(annotator, sorted(set(contents.values())))
    missing = {key for key, content in contents.items() if content not in found}
    if not hasattr(annotator, "units"):
        return missing
    tally = tallies.setdefault(annotator.name, Tally(annotator))
    tally.cached |= {content for content in contents.values() if content in found}
    for key in missing:
        item = annotator.item(alive[key].text) if annotator.service == "language" else "picture"  # type: ignore[attr-defined]
        tally.missing[contents[key]] = annotator.units(item) if item else {}
    return missing
