"""Plots of the report as PNG; equal data gives equal bytes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from components.reporting.figures import EDGE, GREY, INK, PALE, SOFT, drawing
from components.reporting.values import percent
from components.stages.posts_report import clusters
from components.stages.posts_report.bias import Group
from components.stages.posts_report.facts import PostsReport
from components.stages.posts_report.words import BANDS, Vocabulary

WARM = "#b8452f"
PAPER_MEAN, PAPER_DEVIATION = 39.3, 29.7
"""Words per description of #PraCegoVer-173K (PCV table 1)."""


def draw_loss(report: PostsReport) -> bytes:
    """Return figure 6: the share lost in each step, with the paper's values."""
    steps = report.steps[::-1]
    with drawing(height=3.4) as (_, (axes,), buffer):
        for at, step in enumerate(steps):
            _bar(axes, at + 0.19, step.share, INK)
            if step.paper is not None:
                _bar(axes, at - 0.19, step.paper, WARM)
            else:
                axes.text(0.004, at - 0.19, "not reported", va="center", color=GREY, fontsize=9)
        axes.set_yticks(range(len(steps)), [step.title for step in steps])
        axes.set_xlim(0, max([0.6, *(step.share for step in steps)]) * 1.12)
        axes.set_xlabel("share of all collected posts")
        axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
        _legend(axes, [(INK, report.dataset), (WARM, "#PraCegoVer, figure 6")])
    return buffer.getvalue()


def draw_growth(report: PostsReport) -> bytes:
    """Return figure 8: cumulative posts by day, and the total of the tag, if known, as a dashed line."""
    from matplotlib.ticker import MaxNLocator  # slow to import

    with drawing(height=3.6) as (figure, (axes,), buffer):
        # The first line is broad, so that it stays visible below an overlapping one.
        looks = ((SOFT, "-", 5), (INK, "-", 1.8), (WARM, "--", 2))
        for line, (colour, style, line_width) in zip(report.growth, looks, strict=False):
            if line.days:
                days = [date.fromisoformat(day).toordinal() for day, _ in line.days]
                posts = [n for _, n in line.days]
                axes.step(
                    days, posts, where="post", color=colour, linestyle=style, linewidth=line_width, label=line.series,
                    marker="o" if len(days) < 3 else None,
                )  # fmt: skip
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        axes.xaxis.set_major_formatter(lambda value, _: date.fromordinal(max(1, int(value))).isoformat())
        axes.set_ylim(bottom=0)
        axes.set_ylabel("posts (cumulative)")
        axes.grid(axis="y", color=PALE)
        axes.legend(frameon=False)
        figure.autofmt_xdate(rotation=20, ha="center")
    return buffer.getvalue()


def draw_cluster_sizes(report: PostsReport) -> bytes:
    """Return figure 9: number of clusters by size, without duplicates."""
    values = clusters.count_bands(report.sizes_after)
    with drawing(height=3.2) as (_, (axes,), buffer):
        axes.bar(range(len(values)), values, color=SOFT)
        for at, value in enumerate(values):
            axes.text(at, value, f"{value:,}", ha="center", va="bottom", color=INK)
        axes.set_xticks(range(len(values)), [band_name(*band) for band in clusters.BANDS])
        axes.set_xlabel("posts in a cluster")
        axes.set_ylabel("clusters")
        axes.yaxis.get_major_locator().set_params(integer=True)
    return buffer.getvalue()


def draw_cluster_map(report: PostsReport) -> bytes:
    """Return a map of all posts: the 20 largest clusters coloured and numbered, the others grey, outliers small."""
    from matplotlib import colormaps  # slow to import

    large = [c for c in sorted(report.sizes_before, key=lambda c: (-report.sizes_before[c], c)) if c >= 0][:20]
    with drawing(width=9, height=6) as (_, (axes,), buffer):
        for cluster in sorted(report.sizes_before, key=lambda c: (c in large, c)):
            points = [(x, y) for _, at, x, y in report.positions if at == cluster]
            colour = colormaps["tab20"](large.index(cluster) % 20) if cluster in large else "#c3ced4"
            axes.scatter(*zip(*points, strict=True), s=5 if cluster < 0 else 16, color=[colour], linewidths=0, rasterized=True)
        for cluster in large:
            xs, ys = zip(*((x, y) for _, at, x, y in report.positions if at == cluster), strict=True)
            axes.annotate(
                str(cluster), _middle(xs, ys), ha="center", va="center", fontsize=9, color=INK,
                bbox={"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": EDGE, "alpha": 0.85},
            )  # fmt: skip
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines[["bottom", "left"]].set_visible(False)
    return buffer.getvalue()


def draw_lengths(report: PostsReport) -> bytes:
    """Return figure 17: words per description, as a share of each set."""
    sets = described_sets(report)
    longest = max(max(vocabulary.lengths) for vocabulary in sets)
    width = max(1, round(min(longest, 150) / 40))
    edges = list(range(0, min(longest, 150) + 2 * width, width))
    with drawing(height=3.6) as (_, (axes,), buffer):
        for vocabulary, colour in zip(sets, (INK, WARM), strict=False):
            axes.hist(
                [min(n, edges[-1] - 1) for n in vocabulary.lengths.elements()], bins=edges,
                weights=[100 / vocabulary.examples] * vocabulary.examples,
                color=colour, alpha=0.6, label=f"{vocabulary.name}: {vocabulary.mean:.1f} ± {vocabulary.deviation:.1f} words",
            )  # fmt: skip
            axes.axvline(vocabulary.mean, color=colour, linewidth=1.5, linestyle="--")
        if edges[-1] - 1 >= PAPER_MEAN:
            axes.axvline(
                PAPER_MEAN, color=GREY, linewidth=1, linestyle=":", label=f"#PraCegoVer-173K: {PAPER_MEAN} ± {PAPER_DEVIATION}"
            )
        axes.set_xlabel("words per description" + (", longer ones in the last bar" if longest > 150 else ""))
        axes.set_ylabel("% of descriptions")
        axes.legend(edgecolor="white", framealpha=1)
    return buffer.getvalue()


def draw_frequencies(report: PostsReport) -> bytes:
    """Return figure 18: number of words by frequency."""
    sets = described_sets(report)
    with drawing(height=3.6) as (_, (axes,), buffer):
        bar_width = 0.8 / len(sets)
        for number, (vocabulary, colour) in enumerate(zip(sets, (INK, WARM), strict=False)):
            at = [position + (number - (len(sets) - 1) / 2) * bar_width for position in range(len(BANDS))]
            axes.bar(at, vocabulary.bands, bar_width, color=colour, label=f"{vocabulary.name}: {len(vocabulary.counts):,} words")
            for position, value in zip(at, vocabulary.bands, strict=True):
                axes.text(position, max(value, 0.02), f"{value:,}", ha="center", va="bottom", fontsize=8, color=colour)
        axes.set_yscale("symlog", linthresh=1)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.set_ylim(0, max(max(vocabulary.bands) for vocabulary in sets) * 4 + 1)
        axes.set_xticks(range(len(BANDS)), [band_name(*band) for band in BANDS])
        axes.set_xlabel("occurrences of a word")
        axes.set_ylabel("words (log scale)")
        axes.legend(frameon=False)
    return buffer.getvalue()


def draw_contrast(groups: Sequence[Group]) -> bytes:
    """Return figures 20 and 21: the words of each group by npmi, highest first."""
    reported = [group for group in groups if group.words]
    most = max(len(group.words) for group in reported)
    with drawing(columns=len(reported), width=4.2 * len(reported), height=0.3 * most + 1.0) as (figure, grid, buffer):
        for axes, group, colour in zip(grid, reported, (INK, WARM, "#5d7a3a"), strict=False):
            shown = group.words[::-1]
            axes.barh(range(most - len(shown), most), [word.npmi for word in shown], color=colour, alpha=0.85)
            axes.set_yticks(range(most - len(shown), most), [word.word for word in shown])
            axes.set_ylim(-0.6, most - 0.4)
            axes.set_xlim(min(0, *(word.npmi for word in shown)), 1)
            axes.set_title(f"{group.name} ({group.captions})", fontsize=10, color=INK)
            axes.set_xlabel("npmi")
        figure.tight_layout()
    return buffer.getvalue()


def described_sets(report: PostsReport) -> list[Vocabulary]:
    """Return the sets that have descriptions: this one, and the one it is compared with."""
    return [vocabulary for vocabulary in (report.words, report.compared) if vocabulary is not None and vocabulary.lengths]


def band_name(low: int, high: int | None) -> str:
    """Return a range as text: 1–10, 20,001 or more."""
    return f"{low:,}–{high:,}" if high is not None else f"{low:,} or more"


def _middle(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """Return the point nearest to the medians, so that a label lies on its cluster."""
    x, y = sorted(xs)[len(xs) // 2], sorted(ys)[len(ys) // 2]
    return min(zip(xs, ys, strict=True), key=lambda point: ((point[0] - x) ** 2 + (point[1] - y) ** 2, point))


def _bar(axes: Any, at: float, share: float, colour: str) -> None:
    axes.barh(at, share, 0.36, color=colour)
    axes.text(share, at, f" {percent(share)}", va="center", color=colour, fontsize=9)


def _legend(axes: Any, entries: Sequence[tuple[str, str]]) -> None:
    from matplotlib.patches import Patch  # slow to import

    handles = [Patch(color=colour, label=label) for colour, label in entries]
    axes.legend(handles=handles, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(entries))
