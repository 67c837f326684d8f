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
        ("rules", "Dropped records by rule", _rules, report.funnel),
        ("lengths", "Words per caption", _lengths, report.lengths),
        ("speech", "Seconds per utterance", _speech, report.speech),
        ("curves", "Validation metric by epoch", _curves, report.curves),
        ("retrieval", "Speech–image retrieval, and chance", _retrieval, report.scores["retrieval"]["models"]),
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
        label = name if name == report.dataset else f"{name} (profile)"
        at = [rows[passed.step.name] for passed in entered]
        left.plot([passed.share for passed in entered], at, mark, color=colour, markersize=9, label=label)
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


def _rules(report: RunReport) -> Any:
    pairs = [
        (f"{line.dataset} · {line.stage} · {rule}", count, line.dataset == report.dataset)
        for line in report.funnel
        for rule, count in line.rules.items()
    ]
    figure, axes = _axes(8, 0.22 * len(pairs) + 1.2)
    axes.barh([p[0] for p in pairs][::-1], [p[1] for p in pairs][::-1], color=[INK if p[2] else SOFT for p in pairs][::-1])
    axes.set_xscale("symlog")
    axes.tick_params(axis="y", labelsize=7)
    axes.set_xlabel("records dropped (log scale)")
    return figure


def _lengths(report: RunReport) -> Any:
    figure, axes = _axes()
    lengths, counts = zip(*sorted(report.lengths.items()), strict=True)
    axes.hist(lengths, bins=range(1, max(lengths) + 2), weights=counts, color=SOFT, edgecolor="white", align="left")
    axes.set_xlabel("words")
    axes.set_ylabel("captions")
    return figure


def _speech(report: RunReport) -> Any:
    figure, axes = _axes()
    edges, counts = report.speech.edges, report.speech.counts
    axes.hist(edges[:-1], bins=edges, weights=counts, color=SOFT, edgecolor="white")
    axes.axvline(3.5, color=WARM, linestyle="--", linewidth=1)
    axes.text(3.5, axes.get_ylim()[1] * 0.95, " crop of the paper, 3.5 s", color=WARM, va="top")
    axes.set_xlabel("seconds")
    axes.set_ylabel("utterances")
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


def _retrieval(report: RunReport) -> Any:
    """Plot the any-hit recalls of the table's last row in both directions, with the chance of each direction."""
    figure, axes = _axes()
    scores = report.scores["retrieval"]
    known = scores["rows"][scores["main"]][scores["crop"]]
    # The keys of the JSON object are in alphabetical order.
    depths = sorted((name for name in known["speech_to_image"] if name.startswith("r_at_")), key=lambda name: int(name[5:]))
    for offset, (way, colour) in enumerate((("speech_to_image", INK), ("image_to_speech", SOFT))):
        recalls = [known[way][depth] for depth in depths]
        at = [index + (offset - 0.5) * 0.3 for index in range(len(depths))]
        error = [
            [recall["value"] - recall["low"] for recall in recalls],
            [recall["high"] - recall["value"] for recall in recalls],
        ]
        label = f"{way.replace('_', ' ')}, {scores['main']}"
        axes.bar(at, [recall["value"] for recall in recalls], 0.28, yerr=error, ecolor=WARM, color=colour, label=label)
        chance = [scores["chance"][way][depth] for depth in depths]
        axes.plot(at, chance, "k_", markersize=26, label="chance" if offset else None)
    axes.set_xticks(range(len(depths)), [depth.replace("r_at_", "R@") for depth in depths])
    axes.legend(frameon=False)
    return figure
