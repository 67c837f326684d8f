"""The figures of a run, gathered from manifests, ledgers, shards and scores."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from components.core.addresses import named
from components.core.stage_output import StageOutput
from components.execution.stage import Stage
from components.metrics.caption_statistics import CaptionStatistics
from components.stages.report.funnel import Passed, passed_by

PAPER_TABLE_3 = [
    ("train", 3_318_333, 51_201, 10.3, 4.5, 9.0),
    ("validation", 28_355, 13_063, 10.3, 4.6, 9.0),
    ("test", 22_530, 11_731, 10.1, 4.5, 9.0),
]
"""Conceptual Captions table 3: split, examples, unique tokens, tokens a caption: mean, sd, median."""
PER_RECORD = ("crawl", "filter", "hypernymize", "dedup", "split")


@dataclass(frozen=True)
class Line:
    """One stage of one dataset in the funnel."""

    dataset: str
    stage: str
    entered: int
    left: int
    rules: dict[str, int]
    """rule → records dropped by it, most first."""

    @property
    def share(self) -> float:
        """The share of what entered that is left."""
        return self.left / self.entered if self.entered else 0.0


@dataclass
class RunReport:
    """A run from pages to scores."""

    dataset: str
    funnel: list[Line] = field(default_factory=list)
    steps: dict[str, list[Passed]] = field(default_factory=dict)
    """dataset → what each of the paper's steps let pass."""
    pages: dict[str, Any] = field(default_factory=dict)
    dropped: dict[str, dict[str, list[dict[str, str]]]] = field(default_factory=dict)
    """``dataset/stage`` → rule → examples with key, text, value, threshold."""
    statistics: list[tuple[str, int, int, float, float, float]] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    rewritten: list[dict[str, Any]] = field(default_factory=list)
    voices: dict[str, int] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    heard: dict[str, Any] = field(default_factory=dict)
    """What the listen stage tells of each voice (its ``voices.json``); empty where the chain has none."""
    scores: dict[str, Any] = field(default_factory=dict)
    captioners: str = ""
    """What the compare stage says of captioners in a few lines (its ``summary.txt``); empty where the chain has none."""
    curves: list[dict[str, Any]] = field(default_factory=list)


def gather(stage: Stage) -> RunReport:
    """Read the inputs of a report stage."""
    report = RunReport(stage.dataset)
    inputs = stage.inputs
    texts = {r["key"]: r["alt"] for r in inputs["crawl"].table(["key", "alt"]).to_pylist()}
    for output in inputs.values():
        name = output.path.name
        if name in PER_RECORD and output.name not in report.dropped:
            report.funnel.append(_line(output))
            report.dropped[output.name] = _examples(output, texts, stage.params.examples)
    order = {name: index for index, name in enumerate(PER_RECORD)}
    report.funnel.sort(key=lambda line: (line.dataset != stage.dataset, line.dataset, order[line.stage]))
    for line in report.funnel:
        report.steps.setdefault(line.dataset, []).extend(passed_by(line.stage, line.entered, line.rules))
    report.pages = inputs["crawl"].manifest.counts.get("page", {})
    _captions(report, inputs["split"])
    speech = inputs["synthesize"].table(["voice", "seconds"])
    report.voices = dict(sorted(Counter(speech["voice"].to_pylist()).items()))
    report.seconds = speech["seconds"].to_pylist()
    if "evaluate_speech" in inputs:
        report.heard = json.loads(inputs["evaluate_speech"].file("voices.json").read_text())
    evaluated = inputs["input"]
    report.scores = json.loads(evaluated.file("scores.json").read_text())
    if "evaluate_captioners" in inputs:
        report.captioners = inputs["evaluate_captioners"].file("summary.txt").read_text()
    if "pretrain_retrieval" in inputs:
        report.curves = _curves(inputs["pretrain_retrieval"])
    return report


def _line(output: StageOutput) -> Line:
    counts = output.manifest.counts.get("record", {"kept": 0, "dropped": {}})
    rules = dict(sorted(counts["dropped"].items(), key=lambda item: (-item[1], item[0])))
    dataset, stage = named(output.name)
    return Line(dataset, stage, counts["kept"] + sum(rules.values()), counts["kept"], rules)


def _examples(output: StageOutput, texts: dict[str, str], most: int) -> dict[str, list[dict[str, str]]]:
    by_rule: dict[str, list[dict[str, str]]] = {}
    for row in output.ledger().to_pylist():
        if row["verdict"] == "dropped" and row["kind"] == "record":
            shown = by_rule.setdefault(row["rule"], [])
            if len(shown) < most:
                shown.append({**row, "text": texts.get(row["key"], "")})
    return dict(sorted(by_rule.items()))


def _captions(report: RunReport, split: StageOutput) -> None:
    rows = split.table(["split", "caption", "alt", "text", "steps"]).to_pylist()
    for name in ("train", "validation", "test"):
        found = CaptionStatistics()
        for row in rows:
            if row["split"] == name:
                found.add(row["caption"])
        if found.examples:
            report.statistics.append((name, found.examples, found.unique, found.mean, found.deviation, found.median))
            report.lengths += sorted(found.lengths.elements())
    # The most rewritten first: they say most about what the rules do.
    report.rewritten = sorted(rows, key=lambda row: (-len(row["steps"]), row["alt"]))[:20]


def _curves(train: StageOutput) -> list[dict[str, Any]]:
    import csv

    rows = []
    for model in train.table().to_pylist():
        path = train.file(f"models/{model['key']}/history.csv")
        for line in csv.DictReader(path.read_text().splitlines()):
            rows.append({"model": model["key"], "kind": model["kind"], **{k: float(v) for k, v in line.items() if _is_number(v)}})
    return rows


def _is_number(text: str | None) -> bool:
    try:
        float(text or "")
    except ValueError:
        return False
    return True
