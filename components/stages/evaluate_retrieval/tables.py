"""The tables as files: JSON for stages and DVC, CSV for people and plots, figures and rows for the tracker."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from components.stages.evaluate_retrieval.columns import Value
from components.stages.evaluate_retrieval.facts import Facts, Row
from components.stages.evaluate_retrieval.paper import reported
from components.stages.evaluate_retrieval.scoring import WAYS
from components.stages.evaluate_retrieval.values import DEFINITIONS, HIT, Cell

SHORT = {"speech_to_image": "speech to image", "image_to_speech": "image to speech"}


def name_of(definition: str, depth: int) -> str:
    """How files name a recall: ``r_at_10`` of any hit, ``share_at_10`` of the share found."""
    return f"{'r' if definition == HIT else 'share'}_at_{depth}"


def scores_json(facts: Facts) -> str:
    """Everything that was measured, six digits each: ``rows`` by crop, direction and recall, ``models``, and ``chance``."""
    content: dict[str, Any] = {
        "split": facts.params.split, "crop": facts.crop, "main": facts.main.name, "queries": facts.queries, "items": facts.items,
        "rounds": facts.asked["rounds"], "chance": {way: {} for way in WAYS}, "rows": {}, "models": {},
    }  # fmt: skip
    for cell, value in facts.chance.items():
        content["chance"][cell.way][name_of(cell.definition, cell.depth)] = _rounded(value)
    for row in facts.rows:
        for cell, found in row.values.items():
            where = content["rows"].setdefault(row.name, {}).setdefault(cell.crop, {}).setdefault(cell.way, {})
            where[name_of(cell.definition, cell.depth)] = plain(found)
            for model, value in zip(row.models, found.seeds, strict=True):
                where = content["models"].setdefault(model, {}).setdefault(cell.crop, {}).setdefault(cell.way, {})
                where[name_of(cell.definition, cell.depth)] = _rounded(value)
    return json.dumps({"retrieval": content}, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def metrics_json(facts: Facts) -> str:
    """What DVC compares between experiments: the any-hit recalls of each row, and chance."""
    content: dict[str, Any] = {}
    for way in WAYS:
        for row in facts.rows:
            content.setdefault(row.name, {})[way] = {name: _rounded(value.mean) for name, value in _hits(row, facts, way)}
        content.setdefault("chance", {})[way] = {name: _rounded(value) for name, value in _chance(facts, way)}
    return json.dumps(content, indent=1, sort_keys=True) + "\n"


def claims_json(facts: Facts) -> str:
    """The paper's claims, and what was measured of each."""
    content = [
        {
            "claim": finding.claim.says, "paper": finding.claim.source, "recall": f"R@{finding.claim.depth}",
            "verdict": finding.verdict, "needs": list(finding.claim.needs),
            "measured": [
                {"contrast": each.title, "way": each.way, "verdict": each.verdict, **plain(each.value)}
                | {"seeds": [_rounded(value) for value in each.value.seeds]}
                for each in finding.judged
            ],
        }
        for finding in facts.findings
    ]  # fmt: skip
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def plain(value: Value) -> dict[str, float]:
    """A value for JSON: ``value``, ``low``, ``high`` and, of several seeds, ``sd``."""
    found = {"value": value.mean, "low": value.low, "high": value.high}
    if value.deviation is not None:
        found["sd"] = value.deviation
    return {name: _rounded(number) for name, number in found.items()}


def table_csv(facts: Facts) -> str:
    """Every recall, a line each, beside chance's and the paper's."""
    head = ["row", "seeds", "training_pairs", "crop", "way", "definition", "depth"]
    head += ["value", "low", "high", "sd", "chance", "paper"]
    lines: list[list[Any]] = []
    for row in facts.rows:
        for cell, value in row.values.items():
            chance = facts.chance[cell._replace(crop="")]
            paper = reported(row.name, cell.way, cell.depth) if cell.definition == HIT and cell.crop == facts.crop else None
            numbers = [_text(number) for number in (value.mean, value.low, value.high, value.deviation, chance, paper)]
            about = [row.name, len(row.models), row.pairs, cell.crop, cell.way, DEFINITIONS[cell.definition], cell.depth]
            lines.append([*about, *numbers])
    return _csv(head, lines)


def recall_csv(facts: Facts) -> str:
    """The any-hit recalls of each row and direction, a line each, and chance's: for DVC's plot."""
    head = ["line", "row", "way", *(name_of(HIT, depth) for depth in facts.params.depths)]
    lines: list[list[Any]] = []
    for way in WAYS:
        for row in facts.rows:
            recalls = (_text(value.mean) for _, value in _hits(row, facts, way))
            lines.append([f"{row.name}, {SHORT[way]}", row.name, way, *recalls])
        lines.append([f"chance, {SHORT[way]}", "chance", way, *(_text(value) for _, value in _chance(facts, way))])
    return _csv(head, lines)


def summary(facts: Facts) -> str:
    """A few lines for a person at a terminal: R@10 (or the first depth) of each row, and what holds of the paper's claims."""
    depth = 10 if 10 in facts.params.depths else facts.params.depths[0]
    text = [f"any-hit R@{depth} of {facts.dataset}, {facts.params.split} side, {facts.crop} of the pictures, 95 % over queries"]
    for row in facts.rows:
        told = []
        for way in WAYS:
            value = row.values[Cell(facts.crop, way, HIT, depth)]
            told.append(f"{SHORT[way]} {value.mean:.3f} ({value.low:.3f} to {value.high:.3f})")
        seeds = f"{len(row.models)} seed{'' if len(row.models) == 1 else 's'}"
        text.append(f"  {row.name:<12} {', '.join(told)}; {seeds}, {row.pairs:,} training pairs")
    chance = [f"{SHORT[way]} {facts.chance[Cell('', way, HIT, depth)]:.3f}" for way in WAYS]
    text.append(f"  {'chance':<12} {', '.join(chance)}")
    judged = [finding for finding in facts.findings if finding.judged]
    text += ["the paper's claims", *(f"  {finding.verdict:<15} {finding.claim.says}" for finding in judged)] if judged else []
    return "\n".join(text) + "\n"


def figures(facts: Facts) -> Iterator[tuple[str, float]]:
    """The tracker's figures of the whole: ``<row>/<way>/r_at_<k>``, and chance's."""
    for way in WAYS:
        for row in facts.rows:
            yield from ((f"{row.name}/{way}/{name}", value.mean) for name, value in _hits(row, facts, way))
        yield from ((f"chance/{way}/{name}", value) for name, value in _chance(facts, way))


def lines(facts: Facts) -> Iterator[tuple[str, dict[str, str], dict[str, float]]]:
    """The tracker's table, a line a row, as the paper's: R@k each way with the ends of its interval and the seeds' deviation."""
    for row in facts.rows:
        found: dict[str, float] = {}
        for crop in facts.params.crops:
            prefix = "" if crop == facts.crop else f"{crop}/"
            for way in WAYS:
                for name, value in _hits(row, facts, way, crop):
                    ends = {"low": value.low, "high": value.high, "sd": value.deviation}
                    found[f"{prefix}{way}/{name}"] = value.mean
                    found |= {f"{prefix}{way}/{name}_{end}": number for end, number in ends.items() if number is not None}
        told = {"row": row.name, "what": row.words, "seeds": str(len(row.models)), "training_pairs": str(row.pairs)}
        yield row.name, told | {"split": facts.params.split, "crop": facts.crop}, found


def _hits(row: Row, facts: Facts, way: str, crop: str | None = None) -> Iterator[tuple[str, Value]]:
    for depth in facts.params.depths:
        yield name_of(HIT, depth), row.values[Cell(crop or facts.crop, way, HIT, depth)]


def _chance(facts: Facts, way: str) -> Iterator[tuple[str, float]]:
    for depth in facts.params.depths:
        yield name_of(HIT, depth), facts.chance[Cell("", way, HIT, depth)]


def _rounded(value: float) -> float:
    return round(value, 6) + 0.0


def _text(value: float | None) -> str:
    return "" if value is None else f"{value + 0.0:.6f}"


def _csv(head: list[str], lines: list[list[Any]]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerows([head, *lines])
    return buffer.getvalue()
