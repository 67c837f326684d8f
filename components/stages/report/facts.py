"""The content of the report, read from manifests, ledgers, shards and scores, with the funnel by the paper's steps (CC §3)."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from components.core.addresses import parse_output_name
from components.core.ledger import DROPPED
from components.core.shards import read_table
from components.core.stage_output import StageOutput
from components.execution.stage import Stage
from components.knowledge.people import count_people
from components.metrics.caption_lengths import CaptionStatistics
from components.ratings.precision import read_verdicts, verdicts_path
from components.reporting.kept_captions import KeptCaptions, show_kept


@dataclass
class Durations:
    """Utterances by voice, and their duration."""

    voices: dict[str, int] = field(default_factory=dict)
    number: int = 0
    seconds: float = 0.0


def sum_durations(speech: StageOutput) -> Durations:
    """Return the voices and the duration of all utterances."""
    voices: Counter[str] = Counter()
    found = Durations()
    for shard in speech.shards:
        table = shard.read(["voice", "seconds"])
        voices.update(table["voice"].to_pylist())
        found.number += table.num_rows
        found.seconds = sum(table["seconds"].to_pylist(), found.seconds)
    found.voices = dict(sorted(voices.items()))
    return found


def dropped_examples(output: StageOutput, most: int) -> dict[str, list[dict[str, str]]]:
    """Return rule → the first ``most`` dropped records in the order of the shards; no ledger is read after the last of them."""
    left = {rule: min(most, count) for rule, count in output.manifest.counts.get("record", {"dropped": {}})["dropped"].items()}
    by_rule: dict[str, list[dict[str, str]]] = {rule: [] for rule in sorted(left)}
    for shard in output.shards:
        wanted = [rule for rule, number in left.items() if number]
        if not wanted:
            break
        ledger = read_table(shard.ledger)
        of_records = pc.and_(pc.equal(ledger["verdict"], DROPPED), pc.equal(ledger["kind"], "record"))
        ledger = ledger.filter(pc.and_(of_records, pc.is_in(ledger["rule"], pa.array(wanted, pa.string()))))
        for rule in wanted:
            rows = ledger.filter(pc.equal(ledger["rule"], rule)).slice(0, left[rule]).to_pylist()
            by_rule[rule] += rows
            left[rule] -= len(rows)
    return {rule: rows for rule, rows in by_rule.items() if rows}


def texts_of(crawl: StageOutput, keys: Collection[str]) -> dict[str, str]:
    """Return the alt-texts of some records by key; no shard is read after the last of them."""
    texts: dict[str, str] = {}
    wanted = pa.array(sorted(keys), pa.string())
    for shard in crawl.shards:
        if len(texts) == len(wanted):
            break
        table = shard.read(["key", "alt"])
        table = table.filter(pc.is_in(table["key"], wanted))
        texts |= dict(zip(table["key"].to_pylist(), table["alt"].to_pylist(), strict=True))
    return texts


@dataclass
class Captions:
    """Statistics of the captions of each split, the people in them, and those with the most rewriting steps."""

    by_split: dict[str, CaptionStatistics]
    people: tuple[int, int] = (0, 0)
    rewritten: list[dict[str, Any]] = field(default_factory=list)


def sum_captions(split: StageOutput, splits: tuple[str, ...], most: int) -> Captions:
    """Return the statistics of a split's captions; ``most`` of the captions with the most rewriting steps."""
    found = Captions({name: CaptionStatistics() for name in splits})
    for shard in split.shards:
        rows = shard.read(["split", "caption", "alt", "text", "steps"]).to_pylist()
        for row in rows:
            if row["split"] in found.by_split:
                found.by_split[row["split"]].add(row["caption"])
        people = count_people(row["steps"] for row in rows)
        found.people = (found.people[0] + people[0], found.people[1] + people[1])
        found.rewritten = sorted([*found.rewritten, *rows], key=lambda row: (-len(row["steps"]), row["alt"]))[:most]
    return found


@dataclass(frozen=True)
class Step:
    """One step of the paper's funnel."""

    name: str
    stage: str
    title: str
    group: str | None
    """The filter's group of rules, or a rule, which is this step; None for what no other step of its stage names."""
    paper: float | None
    """The paper's pass rate, 0 to 1, or None."""
    paper_says: str
    """The same as the paper states it."""
    paper_left: float | None = None
    """The paper's share of all candidates left after the step."""
    paper_left_says: str = ""


STEPS = (
    Step("image", "filter", "image rules", "record", 0.35, "< 35 %", 0.35, "< 35 %"),
    Step("text", "filter", "text rules", None, 0.03, "≈ 3 %"),
    Step("pornography", "filter", "pornography", "image", None, "in the image rules"),
    Step("labels", "filter", "label overlap", "overlap", 0.40, "≈ 40 %", 0.002, "0.2 %"),
    Step("rewriting", "hypernymize", "rewriting", None, 0.80, "≈ 80 %", 0.0016, "≈ 0.16 %"),
    Step("concepts", "hypernymize", "common concepts", "rare_concept", 0.55, "≈ 55 %", 0.00088, "≈ 0.09 %"),
)
"""The steps in the order of this project: unlike the paper's other image rules, pornography follows the text rules, since it must
decode the image. Two of the paper's shares of all candidates are products of its rates."""


@dataclass(frozen=True)
class Passed:
    """Counts of one step for one dataset."""

    step: Step
    entered: int
    left: int

    @property
    def share(self) -> float:
        """Share of the entering records that are kept."""
        return self.left / self.entered if self.entered else 0.0


def passed_by(stage: str, entered: int, dropped: Mapping[str, int], groups: Mapping[str, str]) -> list[Passed]:
    """Return the counts of a stage's steps, from the entering records, the drops by rule, and the groups of rules."""
    stage_steps: dict[str | None, Step] = {step.group: step for step in STEPS if step.stage == stage}
    by_step: Counter[str | None] = Counter()
    for rule, count in dropped.items():
        own = groups.get(rule, rule)
        by_step[own if own in stage_steps else None] += count
    passed = []
    for group, step in stage_steps.items():
        dropped_here = by_step[group]
        passed.append(Passed(step, entered, entered - dropped_here))
        entered -= dropped_here
    return passed


PAPER_TABLE_3 = [
    ("train", 3_318_333, 51_201, 10.3, 4.5, 9.0),
    ("validation", 28_355, 13_063, 10.3, 4.6, 9.0),
    ("test", 22_530, 11_731, 10.1, 4.5, 9.0),
]
"""CC table 3: split, examples, unique tokens, and mean, sd and median of tokens per caption."""
PER_RECORD = ("crawl", "filter", "hypernymize", "dedup", "split")


@dataclass(frozen=True)
class Line:
    """Counts of one stage of one dataset in the funnel."""

    dataset: str
    stage: str
    entered: int
    left: int
    rules: dict[str, int]
    """Rule → number of dropped records, largest first."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """Rule → its group, of filter."""

    @property
    def share(self) -> float:
        """Share of the entering records that are kept."""
        return self.left / self.entered if self.entered else 0.0


@dataclass
class RunReport:
    """Everything that the report of a run shows."""

    dataset: str
    funnel: list[Line] = field(default_factory=list)
    steps: dict[str, list[Passed]] = field(default_factory=dict)
    """Dataset → counts of the paper's steps."""
    pages: dict[str, Any] = field(default_factory=dict)
    dropped: dict[str, dict[str, list[dict[str, str]]]] = field(default_factory=dict)
    """``dataset/stage`` → rule → dropped examples with key, text, value and threshold."""
    statistics: list[tuple[str, int, int, float, float, float]] = field(default_factory=list)
    lengths: Counter[int] = field(default_factory=Counter)
    """Words → captions with so many."""
    rewritten: list[dict[str, Any]] = field(default_factory=list)
    people: tuple[int, int] = (0, 0)
    """People named in the kept texts, and those that became only "person"."""
    speech: Durations = field(default_factory=Durations)
    heard: dict[str, Any] = field(default_factory=dict)
    """``voices.json`` of ``evaluate_speech``; empty if the chain does not have that stage."""
    scores: dict[str, Any] = field(default_factory=dict)
    captioners: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Test split → its part of ``scores.json`` of ``evaluate_captioners``; empty if the chain does not have that stage."""
    captioners_page: str = ""
    """The page of ``evaluate_captioners``, from the folder of the report."""
    curves: list[dict[str, Any]] = field(default_factory=list)
    kept: KeptCaptions = field(default_factory=KeptCaptions)


def gather(stage: Stage) -> RunReport:
    """Return the report of a stage's inputs."""
    report = RunReport(stage.dataset)
    inputs = stage.inputs
    for output in inputs.values():
        name = output.path.name
        if name in PER_RECORD and output.name not in report.dropped:
            report.funnel.append(_line(output))
            report.dropped[output.name] = dropped_examples(output, stage.params.examples)
    shown = [row for rules in report.dropped.values() for rows in rules.values() for row in rows]
    texts = texts_of(inputs["crawl"], {row["key"] for row in shown})
    for row in shown:
        row["text"] = texts.get(row["key"], "")
    order = {name: index for index, name in enumerate(PER_RECORD)}
    report.funnel.sort(key=lambda line: (line.dataset != stage.dataset, line.dataset, order[line.stage]))
    for line in report.funnel:
        report.steps.setdefault(line.dataset, []).extend(passed_by(line.stage, line.entered, line.rules, line.groups))
    report.pages = inputs["crawl"].manifest.counts.get("page", {})
    _captions(report, inputs["split"])
    report.kept = show_kept(inputs["split"], inputs["crawl"], read_verdicts(verdicts_path(stage.project, stage.dataset)))
    report.speech = sum_durations(inputs["synthesize"])
    if "evaluate_speech" in inputs:
        report.heard = json.loads(inputs["evaluate_speech"].file("voices.json").read_text())
    evaluated = inputs["input"]
    report.scores = json.loads(evaluated.file("scores.json").read_text())
    if "evaluate_captioners" in inputs:
        captioners = inputs["evaluate_captioners"]
        tests = json.loads(captioners.file("scores.json").read_text())
        report.captioners = {name: scores for name, scores in tests.items() if "cells" in scores}
        report.captioners_page = f"../../{captioners.name}/compare.html"
    if "pretrain_retrieval" in inputs:
        report.curves = _curves(inputs["pretrain_retrieval"])
    return report


def _line(output: StageOutput) -> Line:
    counts = output.manifest.counts.get("record", {"kept": 0, "dropped": {}})
    rules = dict(sorted(counts["dropped"].items(), key=lambda item: (-item[1], item[0])))
    dataset, stage = parse_output_name(output.name)
    groups = json.loads(output.file("rules.json").read_bytes()) if stage == "filter" else {}
    return Line(dataset, stage, counts["kept"] + sum(rules.values()), counts["kept"], rules, groups)


def _captions(report: RunReport, split: StageOutput) -> None:
    # The captions with the most rewriting steps show most of the rules.
    captions = sum_captions(split, ("train", "validation", "test"), most=20)
    for name, statistics in captions.by_split.items():
        if statistics.examples:
            report.statistics.append(
                (name, statistics.examples, statistics.unique, statistics.mean, statistics.deviation, statistics.median)
            )
            report.lengths += statistics.lengths
    report.people, report.rewritten = captions.people, captions.rewritten


def _curves(train: StageOutput) -> list[dict[str, Any]]:
    rows = []
    for model in train.table().to_pylist():
        path = train.file(f"models/{model['key']}/history.csv")
        for line in csv.DictReader(path.read_text().splitlines()):
            figures = {name: float(value) for name, value in line.items() if value and name != "phase"}
            rows.append({"model": model["key"], "kind": model["kind"], **figures})
    return rows
