"""The results as JSON, CSV, text and MLflow metrics."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from components.core.text_encoding import csv_text
from components.reporting.values import beside_chance, decimal, interval, rounded, six_digits
from components.stages.evaluate_retrieval.columns import Cell
from components.stages.evaluate_retrieval.facts import RetrievalResults
from components.stages.evaluate_retrieval.scoring import DIRECTIONS


def metric_name(depth: int) -> str:
    """Return a recall's name in files: ``r_at_10``."""
    return f"r_at_{depth}"


def scores_json(results: RetrievalResults) -> str:
    """Return all results as JSON with six digits: ``rows`` by crop, direction and recall, ``models``,
    ``tracks`` of rows, what hearing ``costs``, and ``chance``."""
    content: dict[str, Any] = {
        "split": results.params.split, "crop": results.crop, "main": results.main.name, "queries": results.queries,
        "items": results.items, "rounds": results.counts["rounds"],
        "chance": {direction: {} for direction in DIRECTIONS}, "rows": {}, "models": {},
        "tracks": {row.name: row.track for row in results.rows},
        "costs": [
            {"contrast": cost.title, "direction": cost.on} | cost.difference.plain("value") for cost in results.costs
        ],
    }  # fmt: skip
    for cell, value in results.chance.items():
        content["chance"][cell.direction][metric_name(cell.depth)] = rounded(value)
    for row in results.rows:
        for cell, recall in row.values.items():
            target = content["rows"].setdefault(row.name, {}).setdefault(cell.crop, {}).setdefault(cell.direction, {})
            target[metric_name(cell.depth)] = recall.plain("value")
            for model, value in zip(row.models, recall.seeds, strict=True):
                target = content["models"].setdefault(model, {}).setdefault(cell.crop, {}).setdefault(cell.direction, {})
                target[metric_name(cell.depth)] = rounded(value)
    return json.dumps({"retrieval": content}, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def main_figures(results: RetrievalResults) -> Iterator[tuple[tuple[str, str, str], float]]:
    """Yield (row, direction, recall's name) and the value of each row's main any-hit recall, for ``dvc metrics``."""
    depth = results.params.main_depth
    for row in results.rows:
        for direction in DIRECTIONS:
            yield (row.name, direction, metric_name(depth)), row.values[Cell(results.crop, direction, depth)].mean


def claims_json(results: RetrievalResults) -> str:
    """Return the paper's claims with their verdicts and contrasts as JSON."""
    content = [finding.plain("direction", recall=f"R@{finding.claim.depth}") for finding in results.findings]
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def table_csv(results: RetrievalResults) -> str:
    """Return every recall with chance and the paper's value as CSV."""
    head = ["row", "track", "seeds", "training_pairs", "crop", "direction", "depth"]
    head += ["value", "low", "high", "sd", "chance", "paper"]
    lines: list[list[Any]] = []
    for row in results.rows:
        for cell, value in row.values.items():
            chance = results.chance[cell._replace(crop="")]
            paper = row.paper(cell.direction, cell.depth) if cell.crop == results.crop else None
            numbers = [six_digits(number) for number in (value.mean, value.low, value.high, value.deviation, chance, paper)]
            settings = [row.name, row.track, len(row.models), row.pairs, cell.crop, cell.direction, cell.depth]
            lines.append([*settings, *numbers])
    return csv_text(head, lines)


def recall_csv(results: RetrievalResults) -> str:
    """Return the any-hit recalls of each row and direction, and chance, as CSV for DVC's plot."""
    head = ["line", "row", "direction", *(metric_name(depth) for depth in results.params.depths)]
    lines = [
        [f"{name}, {DIRECTIONS[direction]}", name, direction, *map(six_digits, recalls.values())]
        for direction, name, recalls in _any_hit(results)
    ]
    return csv_text(head, lines)


def render_summary(results: RetrievalResults) -> str:
    """Return a text summary: R@10 (or the nearest depth) of each row, and the verdicts on the paper's claims."""
    depth = results.params.main_depth
    text = [
        f"any-hit R@{depth} of {results.dataset}, {results.params.split} split, {results.crop} of the images, 95 % over queries"
    ]
    width = max(12, *(len(row.name) for row in results.rows))
    for row in results.rows:
        recalls = []
        for direction in DIRECTIONS:
            value = row.values[Cell(results.crop, direction, depth)]
            remarks = (interval(value), beside_chance(value.low, results.chance[Cell("", direction, depth)]))
            recalls.append(f"{DIRECTIONS[direction]} {decimal(value.mean)} ({'; '.join(filter(None, remarks))})")
        seeds = f"{len(row.models)} seed{'' if len(row.models) == 1 else 's'}"
        text.append(f"  {row.name:<{width}} {', '.join(recalls)}; {seeds}, {row.pairs:,} training pairs; {row.track}")
    chance = [f"{DIRECTIONS[direction]} {results.chance[Cell('', direction, depth)]:.3f}" for direction in DIRECTIONS]
    text.append(f"  {'chance':<{width}} {', '.join(chance)}")
    for cost in results.costs:
        text.append(f"  {cost.title}, {DIRECTIONS[cost.on]}: {decimal(cost.difference.mean)} ({interval(cost.difference)})")
    judged = [finding for finding in results.findings if finding.judged]
    text += ["the paper's claims", *(f"  {finding.verdict:<15} {finding.claim.says}" for finding in judged)] if judged else []
    return "\n".join(text) + "\n"


def tracking_metrics(results: RetrievalResults) -> Iterator[tuple[str, float]]:
    """Yield MLflow metrics: R@10 (or the nearest depth) of each row and of chance, ``<row>/<direction>/r_at_10``."""
    metric = metric_name(results.params.main_depth)
    yield from ((f"{name}/{direction}/{metric}", recalls[metric]) for direction, name, recalls in _any_hit(results))


def tracking_scores(results: RetrievalResults) -> dict[str, dict[str, float]]:
    """Return model → ``test/<dataset>/<direction>_r_at_<k>`` → value; other crops precede the direction."""
    scores: dict[str, dict[str, float]] = {}
    for row in results.rows:
        for cell, recall in row.values.items():
            crop = "" if cell.crop == results.crop else f"{cell.crop}_"
            name = f"test/{results.dataset}/{crop}{cell.direction}_{metric_name(cell.depth)}"
            for model, value in zip(row.models, recall.seeds, strict=True):
                scores.setdefault(model, {})[name] = value
    return scores


def _any_hit(results: RetrievalResults) -> Iterator[tuple[str, str, dict[str, float]]]:
    """Yield for each direction every row, and then chance: direction, name, metric → any-hit recall on the main crop."""
    names = {depth: metric_name(depth) for depth in results.params.depths}
    for direction in DIRECTIONS:
        for row in results.rows:
            recalls = {name: row.values[Cell(results.crop, direction, depth)].mean for depth, name in names.items()}
            yield direction, row.name, recalls
        yield direction, "chance", {names[depth]: results.chance[Cell("", direction, depth)] for depth in names}
