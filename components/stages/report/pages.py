"""The report as HTML and CSV; ``data`` holds the template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from components.core.text_encoding import csv_text
from components.reporting.pages import render
from components.reporting.values import ABSENT, Value, beside_chance, interval, number, ratio
from components.stages.report.facts import PAPER_TABLE_3, STEPS, RunReport

PAPER = {
    "crawl": "5 B images, 1 B English pages",
    "filter": ".2 % of all candidates pass image, text and overlap rules",
    "hypernymize": "≈ 80 % survive the rewriting, ≈ 55 % of those the concept counts",
    "split": "3.37 M captions in all",
}
WAYS = ("speech_to_image", "image_to_speech")
CONSTANT = "constant caption"
DEPTHS = {"r_at_1": "R@1", "r_at_5": "R@5", "r_at_10": "R@10"}


def render_page(report: RunReport, figures: list[dict[str, Any]], warnings: Sequence[str] = ()) -> str:
    """Return the page; its figures are files in ``figures/``."""
    return render(
        Path(__file__).parent / "data",
        "report.html",
        warnings=warnings,
        report=report,
        paper=PAPER,
        steps=step_rows(report),
        table3=PAPER_TABLE_3,
        counts={f"{line.dataset}/{line.stage}": line.rules for line in report.funnel},
        note=size_note(report),
        score_rows=score_rows(report.scores),
        captioners=captioner_rows(report.captioners),
        figures=figures,
    )


def step_rows(report: RunReport) -> list[dict[str, Any]]:
    """Return a row per step: entered, left and pass rates for each dataset, and the paper's rates."""
    rows = []
    for at, step in enumerate(STEPS):
        cells = []
        for steps in report.steps.values():
            if at < len(steps):
                counts = steps[at]
                passed = ratio(counts.left, counts.entered, small=True)
                of_all = ratio(counts.left, steps[0].entered, small=True)
                cells.append((f"{counts.entered:,}", f"{counts.left:,}", passed, of_all))
        rows.append({"title": step.title, "cells": cells, "paper": step.paper_says, "paper_left": step.paper_left_says})
    return rows


def size_note(report: RunReport) -> str:
    """Return a note on the size of the run."""
    captions = {row[0]: row[1] for row in report.statistics}
    return (
        f"A small run: {captions.get('train', 0)} training and {captions.get('test', 0)} test captions. The figures show whether "
        "the models beat chance and a constant caption, not how good the method is; the paper's scores are on another scale and "
        "another test set."
    )


def score_rows(scores: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the retrieval scores with chance as (name, text) rows: any-hit recalls on the main crop."""
    retrieval, rows = scores["retrieval"], list[tuple[str, str]]()
    for way in WAYS:
        for row, crops in retrieval["rows"].items():
            known = crops[retrieval["crop"]][way]
            models = [model for model in retrieval["models"] if model.rpartition("-")[0] == row]
            for depth in (depth for depth in DEPTHS if depth in known):
                recall = known[depth]
                seeds = ", ".join(_short(retrieval["models"][model][retrieval["crop"]][way][depth]) for model in models)
                interval = f"95 % interval {_short(recall['low'])}–{_short(recall['high'])}"
                chance = retrieval["chance"][way][depth]
                parts = (
                    f"{_short(recall['value'])} ({interval}{f'; seeds {seeds}' if len(models) > 1 else ''})",
                    f"chance {_short(chance)}",
                    beside_chance(recall["low"], chance),
                )
                rows.append((f"{row} {way.replace('_', ' ')} {DEPTHS[depth]}", "; ".join(filter(None, parts))))
    return rows


def captioner_rows(tests: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return captioner → its CIDEr-D on each test split, with the interval; the last row is that of the constant caption."""
    rows: dict[str, list[str]] = {}
    for at, scores in enumerate(tests.values()):
        for name, metrics in {**scores["cells"], CONSTANT: scores.get("constant", {})}.items():
            rows.setdefault(name, [ABSENT] * len(tests))[at] = _cider(metrics.get("cider_d"))
    return {name: rows[name] for name in sorted(rows, key=lambda name: name == CONSTANT)}


def _cider(score: Mapping[str, float] | None) -> str:
    if score is None:
        return ABSENT
    value = Value(score["mean"], score.get("low"), score.get("high"))
    return f"{number(value)} ({interval(value)})" if interval(value) else number(value)


def _short(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def steps_csv(report: RunReport) -> str:
    """Return the pass rates of each step as CSV, for DVC's plots; ``series`` is a dataset or the paper."""
    rows = [
        (dataset, f"{passed.step.title} ({dataset})", passed.entered, passed.left, f"{passed.share:.4f}")
        for dataset, steps in report.steps.items()
        for passed in steps
    ]
    papers = [("Conceptual Captions", f"{s.title} (the paper)", "", "", f"{s.paper:.4f}") for s in STEPS if s.paper is not None]
    return csv_text(("series", "step", "entered", "left", "passed"), [*rows, *papers])


def funnel_csv(report: RunReport) -> str:
    """Return the records left after each stage as CSV, for DVC's plots."""
    rows = [(line.dataset, f"{line.dataset} {line.stage}", line.entered, line.left) for line in report.funnel]
    return csv_text(("dataset", "stage", "entered", "records"), rows)
