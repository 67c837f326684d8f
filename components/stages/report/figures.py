"""Figures of the report; equal data gives equal bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from components.reporting.figures import INK, SOFT, png, pyplot
from components.stages.report.facts import STEPS, RunReport

WARM = "#c8553d"
DPI = 110


def draw_all(report: RunReport) -> Iterator[tuple[str, str, bytes]]:
    """Yield ``(key, title, PNG)`` for each figure that has data."""
    makers: list[tuple[str, str, Callable[[RunReport], Any], object]] = [
        ("funnel", "Records left after each stage", _funnel, report.funnel),
        ("pass_rates", "Pass rate of each step, and the paper's", _pass_rates, report.steps),
        ("lengths", "Words per caption", _lengths, report.lengths),
        ("curves", "Validation metric by epoch", _curves, report.curves),
    ]
    for key, title, make, data in makers:
        if data:
            yield key, title, png(make(report), DPI)


def _axes(width: float = 8, height: float = 4.2) -> tuple[Any, Any]:
    figure, axes = pyplot().subplots(figsize=(width, height))
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _funnel(report: RunReport) -> Any:
    lines = [line for line in report.funnel if line.dataset == report.dataset]
    figure, axes = _axes(8, 0.6 * len(lines) + 1.4)
    names = [f"into {lines[0].stage}"] + [f"after {line.stage}" for line in lines]
    values = [lines[0].entered] + [line.left for line in lines]
    axes.barh(names[::-1], values[::-1], color=SOFT)
    for index, value in enumerate(values[::-1]):
        axes.text(value, index, f" {value:,}", va="center", color=INK)
    axes.set_xlabel("records")
    return figure


def _pass_rates(report: RunReport) -> Any:
    """Plot a row per step: left, the pass rates of each dataset and the paper; right, the shares of all candidates left."""
    from matplotlib.ticker import FuncFormatter  # slow to import

    figure, (left, right) = pyplot().subplots(
        1, 2, figsize=(11, 0.62 * len(STEPS) + 1.5), sharey=True, gridspec_kw={"wspace": 0.08}
    )
    rows = {step.name: len(STEPS) - 1 - at for at, step in enumerate(STEPS)}
    series = [(name, colour, "o") for name, colour in zip(report.steps, (INK, SOFT, "#9a6a2f"), strict=False)]
    for axes in (left, right):
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.hlines(list(rows.values()), *((0, 1) if axes is left else (1e-4, 1)), color="#dbe6ec", linewidth=1, zorder=0)
    for name, colour, mark in series:
        entered = [passed for passed in report.steps[name] if passed.entered]
        total = report.steps[name][0].entered
        at = [rows[passed.step.name] for passed in entered]
        left.plot([passed.share for passed in entered], at, mark, color=colour, markersize=9, label=name)
        nonempty = [passed for passed in entered if passed.left]
        right.plot(
            [passed.left / total for passed in nonempty],
            [rows[e.step.name] for e in nonempty],
            f"{mark}-",
            color=colour,
            markersize=7,
        )
    with_paper = [step for step in STEPS if step.paper is not None]
    left.plot(
        [s.paper for s in with_paper],
        [rows[s.name] for s in with_paper],
        "D",
        color=WARM,
        markersize=8,
        label="Conceptual Captions",
    )
    kept = [step for step in STEPS if step.paper_left is not None]
    right.plot([s.paper_left for s in kept], [rows[s.name] for s in kept], "D-", color=WARM, markersize=7)
    left.set_yticks(list(rows.values()), [step.title for step in STEPS])
    left.set_xlim(-0.03, 1.03)
    left.set_ylim(-0.6, len(STEPS) - 0.4)
    left.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.0f} %"))
    left.set_xlabel("share of entering records that pass")
    right.set_xscale("log")
    right.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g} %"))
    right.set_xlabel("share of all candidates left (log scale)")
    figure.legend(frameon=False, loc="upper center", ncols=4, bbox_to_anchor=(0.5, 0.98))
    return figure


def _lengths(report: RunReport) -> Any:
    figure, axes = _axes()
    lengths, counts = zip(*sorted(report.lengths.items()), strict=True)
    axes.hist(lengths, bins=range(1, max(lengths) + 2), weights=counts, color=SOFT, edgecolor="white", align="left")
    axes.set_xlabel("words")
    axes.set_ylabel("captions")
    return figure


def _curves(report: RunReport) -> Any:
    kinds = sorted({row["kind"] for row in report.curves})
    figure, grid = pyplot().subplots(1, len(kinds), figsize=(5 * len(kinds), 3.6), squeeze=False)
    for axes, kind in zip(grid[0], kinds, strict=True):
        axes.spines[["top", "right"]].set_visible(False)
        for model in sorted({row["model"] for row in report.curves if row["kind"] == kind}):
            points = [(row["epoch"], row["validation"]) for row in report.curves if row["model"] == model and "validation" in row]
            axes.plot(*zip(*points, strict=True), label=model)
        axes.set_title(kind.replace("_", " "))
        axes.set_xlabel("epoch")
        axes.legend(frameon=False, fontsize=8)
    return figure
