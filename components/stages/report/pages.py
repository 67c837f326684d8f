"""The report as a page, as Markdown, as a plot's table, and as the lines a run ends with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from components.stages.report.facts import PAPER_TABLE_3, Facts
from components.stages.report.funnel import STEPS

PAPER = {
    "crawl": "5 B images, 1 B English pages",
    "filter": ".2 % of all candidates pass image, text and overlap rules",
    "hypernymize": "≈ 80 % survive the rewriting, ≈ 55 % of those the concept counts",
    "split": "3.37 M captions in all",
}
WAYS = ("speech_to_image", "image_to_speech")
DEPTHS = {"r_at_1": "R@1", "r_at_5": "R@5", "r_at_10": "R@10"}


def html(facts: Facts, figures: list[dict[str, Any]]) -> str:
    """The page people open; figures are files beside it."""
    from jinja2 import Environment, FileSystemLoader

    environment = Environment(loader=FileSystemLoader(Path(__file__).parent / "data"), autoescape=True)
    return environment.get_template("report.html").render(
        facts=facts,
        figures=figures,
        paper=PAPER,
        steps=step_rows(facts),
        table3=PAPER_TABLE_3,
        counts={f"{line.dataset}/{line.stage}": line.rules for line in facts.funnel},
        note=size_note(facts),
        score_rows=score_rows(facts.scores),
    )


def step_rows(facts: Facts) -> list[dict[str, Any]]:
    """The paper's steps: what each dataset has entering, left, and passing, of what entered and of all; and the paper's."""
    rows = []
    for at, step in enumerate(STEPS):
        cells = []
        for steps in facts.steps.values():
            if at < len(steps):
                found = steps[at]
                passed = percent(found.share) if found.entered else "–"
                of_all = percent(found.left / steps[0].entered) if steps[0].entered else "–"
                cells.append((f"{found.entered:,}", f"{found.left:,}", passed, of_all))
        rows.append({"title": step.title, "cells": cells, "paper": step.paper_says, "paper_left": step.paper_left_says})
    return rows


def percent(share: float) -> str:
    """A share in per cent with the digits it needs: 37.2 %, 3.7 %, 0.16 %."""
    value = 100 * share
    if value == 0 or value >= 1:
        return f"{value:.1f} %"
    return f"{value:.2g} %" if value >= 0.01 else "< 0.01 %"


def size_note(facts: Facts) -> str:
    """How much the scores can carry, said plainly."""
    tested = next((row[1] for row in facts.statistics if row[0] == "test"), 0)
    trained = next((row[1] for row in facts.statistics if row[0] == "train"), 0)
    return (
        f"A small run: {trained} training and {tested} test captions. The figures tell whether the models beat chance and a "
        "constant caption here, not how good the method is; the paper's scores are on another scale and another test set."
    )


def score_rows(scores: dict[str, Any]) -> list[tuple[str, str]]:
    """The retrieval scores as (name, text) rows, beside chance: any-hit recalls on the crop that evaluate's tables tell."""
    retrieval, rows = scores["retrieval"], list[tuple[str, str]]()
    for way in WAYS:
        for row, crops in retrieval["rows"].items():
            known = crops[retrieval["crop"]][way]
            models = [model for model in retrieval["models"] if model.rpartition("-")[0] == row]
            for depth in (depth for depth in DEPTHS if depth in known):
                found = known[depth]
                seeds = ", ".join(_short(retrieval["models"][model][retrieval["crop"]][way][depth]) for model in models)
                interval = f"95 % interval {_short(found['low'])}–{_short(found['high'])}"
                text = f"{_short(found['value'])} ({interval}; seeds {seeds}); chance {_short(retrieval['chance'][way][depth])}"
                rows.append((f"{row} {way.replace('_', ' ')} {DEPTHS[depth]}", text))
    return rows


def _short(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def steps_csv(facts: Facts) -> str:
    """The share each step lets pass beside the paper's, for DVC's plots: ``series`` is a dataset, or the paper."""
    lines = ["series,step,entered,left,passed"]
    for dataset, steps in facts.steps.items():
        lines += [f"{dataset},{found.step.title} ({dataset}),{found.entered},{found.left},{found.share:.4f}" for found in steps]
    lines += [f"Conceptual Captions,{step.title} (the paper),,,{step.paper:.4f}" for step in STEPS if step.paper is not None]
    return "\n".join(lines) + "\n"


def funnel_csv(facts: Facts) -> str:
    """Records left after each stage, for DVC's plots."""
    lines = ["dataset,stage,entered,records"]
    lines += [f"{line.dataset},{line.dataset} {line.stage},{line.entered},{line.left}" for line in facts.funnel]
    return "\n".join(lines) + "\n"


def markdown(facts: Facts) -> str:
    """The report without its pictures, for a terminal, a pull request or a flow's artefact."""
    lines = [f"# Hearsight report: {facts.dataset}", "", "| dataset | stage | entered | left | passed |", "|---|---|--:|--:|--:|"]
    lines += [f"| {x.dataset} | {x.stage} | {x.entered:,} | {x.left:,} | {100 * x.share:.1f} % |" for x in facts.funnel]
    names = list(facts.steps)
    lines += [
        "",
        "| step | " + " | ".join(f"{n}: entered | left | passed | of all" for n in names) + " | Conceptual Captions | of all |",
    ]
    lines += ["|---|" + "--:|" * (4 * len(names) + 2)]
    for row in step_rows(facts):
        cells = [cell for four in row["cells"] for cell in four]
        lines += ["| " + " | ".join([row["title"], *cells, row["paper"], row["paper_left"]]) + " |"]
    lines += ["", "| dataset/stage | rule | dropped |", "|---|---|--:|"]
    lines += [f"| {x.dataset}/{x.stage} | {rule} | {n:,} |" for x in facts.funnel for rule, n in x.rules.items()]
    lines += ["", "| split | examples | unique tokens | mean | sd | median |", "|---|--:|--:|--:|--:|--:|"]
    lines += [f"| {s[0]} | {s[1]:,} | {s[2]:,} | {s[3]:.1f} | {s[4]:.1f} | {s[5]:.1f} |" for s in facts.statistics]
    lines += ["", size_note(facts), "", "| score | value |", "|---|---|"]
    lines += [f"| {name} | {value} |" for name, value in score_rows(facts.scores)]
    if facts.captioners:
        lines += ["", "```", facts.captioners.rstrip(), "```"]
    return "\n".join(lines) + "\n"


def summary(facts: Facts) -> str:
    """What a run prints at its end: the funnel, the scores, and how little they prove."""
    width = max(len(f"{x.dataset} {x.stage}") for x in facts.funnel)
    lines = ["funnel" + " " * (width - 4) + "entered     left   passed   most dropped by"]
    for x in facts.funnel:
        top = ", ".join(f"{rule} {n}" for rule, n in list(x.rules.items())[:3])
        lines.append(f"  {f'{x.dataset} {x.stage}':<{width}} {x.entered:8,} {x.left:8,} {100 * x.share:7.1f} %  {top}")
    lines += ["", "scores"] + [f"  {name}: {value}" for name, value in score_rows(facts.scores)]
    if facts.captioners:
        lines += ["", facts.captioners.rstrip()]
    return "\n".join([*lines, "", size_note(facts)]) + "\n"
