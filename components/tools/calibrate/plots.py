"""Draw one rule's figure: the distribution of its values, and the share that passes by threshold."""

from __future__ import annotations

from typing import Any

from components.reporting.figures import INK, PALE, SOFT, drawing
from components.tools.calibrate.sweep import Curve

WARM = "#c8553d"


def picture(curve: Curve, candidates: int) -> bytes:
    """Return the figure as PNG; equal curves give equal bytes."""
    with drawing(columns=2, width=10.5, height=3.1, font=9, dpi=140, grid={"wspace": 0.24}) as (_, grid, buffer):
        left, right = grid[0]
        for axes in (left, right):
            axes.axvline(curve.present, color=WARM, linewidth=1.2)
        _distribution(left, curve)
        _passing(right, curve, candidates)
    return buffer.getvalue()


def _distribution(axes: Any, curve: Curve) -> None:
    widths = curve.edges[1:] - curve.edges[:-1]
    clean, other = curve.bins
    axes.bar(curve.edges[:-1], clean + other, widths, align="edge", color=PALE, label="dropped by another rule too")
    axes.bar(curve.edges[:-1], clean, widths, align="edge", color=INK, label="no other rule drops it")
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


def _passing(axes: Any, curve: Curve, candidates: int) -> None:
    alone = 100 * curve.alone / max(1, candidates)
    axes.plot(curve.grid, alone, color=SOFT, linewidth=1.6, label="of all candidates")
    if curve.eligible:
        left = 100 * curve.left / curve.eligible
        axes.plot(curve.grid, left, color=INK, linewidth=2, label="of those no other rule drops")
        at = 100 * curve.at(curve.present)[1] / curve.eligible
        axes.plot([curve.present], [at], "o", color=WARM, markersize=5, zorder=5)
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
