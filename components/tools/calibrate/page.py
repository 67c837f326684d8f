"""Write a sweep's results: a self-contained page with a figure for each rule, and a table of the rates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from components.core.files import publish_bytes
from components.reporting.figures import INK, PALE, SOFT, drawing
from components.reporting.pages import data_uri, render
from components.reporting.values import ratio
from components.stages.filter.cascade import GROUPS
from components.tools.calibrate.sweep import Curve, Sweep

WARM = "#c8553d"


def write_page(sweep: Sweep, out: Path, about: str, published: Sweep | None = None) -> tuple[Path, Path]:
    """Write ``index.html`` and ``rates.tsv`` into ``out``, each atomically; return their paths.

    Args:
        sweep: of the candidates.
        about: names the candidates on the page.
        published: of captions that should pass; None for none.
    """
    page, rates = out / "index.html", out / "rates.tsv"
    publish_bytes(rates, rates_tsv(sweep, published).encode())
    publish_bytes(page, html(sweep, about, published).encode())
    return page, rates


def rates_tsv(sweep: Sweep, published: Sweep | None = None) -> str:
    """Return a TSV line for each threshold of each rule.

    ``passed``: candidates that pass this rule; ``rate``: their share of all candidates. ``left``: candidates that pass all text
    rules; ``left_rate``: their share of those that pass all other text rules.
    With ``published``, ``published_loss`` is the share of published captions that fail this rule.
    """
    rows = list(sweep.rates())
    losses = [f"\t{1 - row['rate']:.4f}" for row in published.rates()] if published is not None else [""] * len(rows)
    lines = ["rule\tsetting\tvalue\tpassed\trate\tleft\tleft_rate\tpresent" + ("\tpublished_loss" if published else "")]
    lines += [
        f"{row['rule']}\t{row['setting']}\t{row['value']:g}\t{row['passed']}\t{row['rate']:.4f}\t{row['left']}"
        f"\t{row['left_rate']:.4f}\t{'yes' if row['present'] else 'no'}{loss}"
        for row, loss in zip(rows, losses, strict=True)
    ]
    return "\n".join(lines) + "\n"


def html(sweep: Sweep, about: str, published: Sweep | None = None) -> str:
    """Return the page as HTML."""
    others = published.curves if published is not None else [None] * len(sweep.curves)
    return render(
        Path(__file__).parent / "data",
        "calibration.html",
        about=about,
        candidates=sweep.candidates,
        passing=sweep.passing,
        published=published,
        losses=[(rule, count, _percent(share)) for rule, count, share in published.losses()] if published is not None else [],
        curves=[_shown(curve, sweep.candidates, other) for curve, other in zip(sweep.curves, others, strict=True)],
    )


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def _shown(curve: Curve, candidates: int, published: Curve | None) -> dict[str, Any]:
    swept = curve.swept
    alone, left = curve.at(curve.present)
    return {
        "rule": swept.rule,
        "setting": swept.setting,
        "sign": {"<=": "≤", ">=": "≥"}.get(swept.sign, swept.sign),
        "measures": swept.measures,
        "says": _says(swept.rule),
        "present": f"{curve.present:g}",
        "alone": ratio(alone, candidates),
        "left": ratio(left, curve.eligible),
        "costs": curve.eligible - left,
        "image": data_uri(draw_curve(curve, candidates, published)),
        "rows": [_row(curve, threshold, candidates, published) for threshold in curve.inside],
    }


def _row(curve: Curve, threshold: float, candidates: int, published: Curve | None) -> dict[str, Any]:
    alone, left = curve.at(threshold)
    return {
        "threshold": f"{threshold:g}",
        "present": threshold == curve.present,
        "alone": ratio(alone, candidates),
        "left": ratio(left, curve.eligible),
        "left_count": left,
        "lost": _percent(1 - published.at(threshold)[0] / max(1, published.captions)) if published is not None else "",
        "sides": [curve.inside[threshold], curve.outside[threshold]],
    }


def _says(rule: str) -> str:
    test = next(candidate.test for rules in GROUPS.values() for candidate in rules if candidate.name == rule)
    return " ".join((test.__doc__ or "").split())


def draw_curve(curve: Curve, candidates: int, published: Curve | None = None) -> bytes:
    """Return the figure as PNG; equal curves give equal bytes."""
    with drawing(columns=2, width=10.5, height=3.1, font=9, dpi=140, grid={"wspace": 0.24}) as (_, grid, buffer):
        left, right = grid
        for axes in (left, right):
            axes.axvline(curve.present, color=WARM, linewidth=1.2)
        _distribution(left, curve, published)
        _passing(right, curve, candidates, published)
    return buffer.getvalue()


def _distribution(axes: Any, curve: Curve, published: Curve | None) -> None:
    widths = curve.edges[1:] - curve.edges[:-1]
    clean, other = curve.bins
    axes.bar(curve.edges[:-1], clean + other, widths, align="edge", color=PALE, label="dropped by another rule too")
    axes.bar(curve.edges[:-1], clean, widths, align="edge", color=INK, label="no other rule drops it")
    if published is not None:
        counts = published.bins.sum(axis=0)
        axes.stairs(counts * ((clean + other).sum() / max(1, counts.sum())), curve.edges, color=WARM, label="published (scaled)")
    axes.set_yscale("symlog", linthresh=1)
    top = max(1, int((clean + other).max()))
    axes.set_ylim(0, top * 2)
    ticks = [0, *(10**power for power in range(8) if 10**power <= top * 2)]
    axes.set_yticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlim(curve.swept.low, curve.swept.high)
    axes.set_xlabel(curve.swept.measures)
    axes.set_ylabel("candidates (log scale)")
    _legend(axes)


def _passing(axes: Any, curve: Curve, candidates: int, published: Curve | None) -> None:
    alone = 100 * curve.alone / max(1, candidates)
    axes.plot(curve.grid, alone, color=SOFT, linewidth=1.6, label="of all candidates")
    if curve.eligible:
        left = 100 * curve.left / curve.eligible
        axes.plot(curve.grid, left, color=INK, linewidth=2, label="of those no other rule drops")
        at = 100 * curve.at(curve.present)[1] / curve.eligible
        axes.plot([curve.present], [at], "o", color=WARM, markersize=5, zorder=5)
    if published is not None:
        share = 100 * published.alone / max(1, published.captions)
        axes.plot(curve.grid, share, color=WARM, linewidth=1.6, linestyle="--", label="of published captions")
    axes.set_xlim(curve.swept.low, curve.swept.high)
    axes.set_ylim(0, 105)
    axes.set_yticks([0, 25, 50, 75, 100])
    axes.grid(axis="y", color=PALE, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_xlabel(f"{curve.swept.setting}   (red: {curve.present:g}, the present one)")
    axes.set_ylabel("% that pass")
    _legend(axes)


def _legend(axes: Any) -> None:
    """Draw the legend above the axes, where it covers nothing."""
    axes.legend(
        frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 0.99), ncols=2, borderaxespad=0.1, handlelength=1.4,
        columnspacing=1.4,
    )  # fmt: skip
