"""The drawn figures: equal data gives equal bytes. What a figure shows is also said in words and in a table beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from components.reporting.figures import EDGE, GREY, INK, PALE, SOFT, drawing
from components.reporting.numbers import percent
from components.stages.posts_report import clusters
from components.stages.posts_report.bias import Group
from components.stages.posts_report.facts import PostsReport
from components.stages.posts_report.words import BANDS, Vocabulary

WARM = "#b8452f"
PAPER_MEAN, PAPER_DEVIATION = 39.3, 29.7
"""Words a description of #PraCegoVer-173K (table 1)."""


def loss(report: PostsReport) -> bytes:
    """Figure 6: the share each step lost, beside the paper's."""
    steps = report.steps[::-1]
    with drawing(height=3.4) as (_, grid, buffer):
        axes = grid[0][0]
        for at, step in enumerate(steps):
            _bar(axes, at + 0.19, step.share, INK)
            if step.paper is not None:
                _bar(axes, at - 0.19, step.paper, WARM)
            else:
                axes.text(0.004, at - 0.19, "not told", va="center", color=GREY, fontsize=9)
        axes.set_yticks(range(len(steps)), [step.title for step in steps])
        axes.set_xlim(0, max([0.6, *(step.share for step in steps)]) * 1.12)
        axes.set_xlabel("share of all collected posts")
        axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
        _legend(axes, [(INK, report.dataset), (WARM, "#PraCegoVer, figure 6")])
    return buffer.getvalue()


def growth(report: PostsReport) -> bytes:
    """Figure 8: posts by day; the tag's own total, where it is known, as a dashed line."""
    from datetime import date

    with drawing(height=3.6) as (figure, grid, buffer):
        axes = grid[0][0]
        # The first is broad, so that it is seen under one that runs on it.
        looks = ((SOFT, "-", 5), (INK, "-", 1.8), (WARM, "--", 2))
        for line, (colour, style, broad) in zip(report.growth, looks, strict=False):
            if line.days:
                days = [date.fromisoformat(day).toordinal() for day, _ in line.days]
                posts = [n for _, n in line.days]
                axes.step(
                    days, posts, where="post", color=colour, linestyle=style, linewidth=broad, label=line.series,
                    marker="o" if len(days) < 3 else None,
                )  # fmt: skip
        axes.xaxis.set_major_locator(_ticks())
        axes.xaxis.set_major_formatter(lambda value, _: date.fromordinal(max(1, int(value))).isoformat())
        axes.set_ylim(bottom=0)
        axes.set_ylabel("posts so far")
        axes.grid(axis="y", color=PALE)
        axes.legend(frameon=False)
        figure.autofmt_xdate(rotation=20, ha="center")
    return buffer.getvalue()


def cluster_sizes(report: PostsReport) -> bytes:
    """Figure 9: clusters by the paper's ranges of size, after duplicates were removed."""
    values = clusters.bands(report.sizes_after)
    with drawing(height=3.2) as (_, grid, buffer):
        axes = grid[0][0]
        axes.bar(range(len(values)), values, color=SOFT)
        for at, value in enumerate(values):
            axes.text(at, value, f"{value:,}", ha="center", va="bottom", color=INK)
        axes.set_xticks(range(len(values)), [band_name(*band) for band in clusters.BANDS])
        axes.set_xlabel("posts in a cluster")
        axes.set_ylabel("clusters")
        axes.yaxis.get_major_locator().set_params(integer=True)
    return buffer.getvalue()


def cluster_map(report: PostsReport) -> bytes:
    """Every post at its place; the largest clusters in a colour and with their number, the others grey, outliers small."""
    from matplotlib import colormaps

    large = [c for c in sorted(report.sizes_before, key=lambda c: (-report.sizes_before[c], c)) if c >= 0][:20]
    with drawing(width=9, height=6) as (_, grid, buffer):
        axes = grid[0][0]
        for cluster in sorted(report.sizes_before, key=lambda c: (c in large, c)):
            points = [(x, y) for _, at, x, y in report.places if at == cluster]
            colour = colormaps["tab20"](large.index(cluster) % 20) if cluster in large else "#c3ced4"
            axes.scatter(*zip(*points, strict=True), s=5 if cluster < 0 else 16, color=[colour], linewidths=0, rasterized=True)
        for cluster in large:
            xs, ys = zip(*((x, y) for _, at, x, y in report.places if at == cluster), strict=True)
            axes.annotate(
                str(cluster), _middle(xs, ys), ha="center", va="center", fontsize=9, color=INK,
                bbox={"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": EDGE, "alpha": 0.85},
            )  # fmt: skip
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines[["bottom", "left"]].set_visible(False)
    return buffer.getvalue()


def lengths(report: PostsReport) -> bytes:
    """Figure 17: words a description, as a share of each set."""
    sets = sets_of(report)
    longest = max(max(each.lengths) for each in sets)
    width = max(1, round(min(longest, 150) / 40))
    edges = list(range(0, min(longest, 150) + 2 * width, width))
    with drawing(height=3.6) as (_, grid, buffer):
        axes = grid[0][0]
        for each, colour in zip(sets, (INK, WARM), strict=False):
            axes.hist(
                [min(n, edges[-1] - 1) for n in each.lengths], bins=edges, weights=[100 / len(each.lengths)] * len(each.lengths),
                color=colour, alpha=0.6, label=f"{each.name}: {each.mean:.1f} ± {each.deviation:.1f} words",
            )  # fmt: skip
            axes.axvline(each.mean, color=colour, linewidth=1.5, linestyle="--")
        if edges[-1] - 1 >= PAPER_MEAN:
            axes.axvline(
                PAPER_MEAN, color=GREY, linewidth=1, linestyle=":", label=f"#PraCegoVer-173K: {PAPER_MEAN} ± {PAPER_DEVIATION}"
            )
        axes.set_xlabel("words a description" + (", longer ones in the last bar" if longest > 150 else ""))
        axes.set_ylabel("% of descriptions")
        axes.legend(edgecolor="white", framealpha=1)
    return buffer.getvalue()


def frequencies(report: PostsReport) -> bytes:
    """Figure 18: words by how often they come."""
    sets = sets_of(report)
    with drawing(height=3.6) as (_, grid, buffer):
        axes = grid[0][0]
        wide = 0.8 / len(sets)
        for number, (each, colour) in enumerate(zip(sets, (INK, WARM), strict=False)):
            at = [place + (number - (len(sets) - 1) / 2) * wide for place in range(len(BANDS))]
            axes.bar(at, each.bands, wide, color=colour, label=f"{each.name}: {len(each.counts):,} words")
            for place, value in zip(at, each.bands, strict=True):
                axes.text(place, max(value, 0.02), f"{value:,}", ha="center", va="bottom", fontsize=8, color=colour)
        axes.set_yscale("symlog", linthresh=1)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.set_ylim(0, max(max(each.bands) for each in sets) * 4 + 1)
        axes.set_xticks(range(len(BANDS)), [band_name(*band) for band in BANDS])
        axes.set_xlabel("occurrences of a word")
        axes.set_ylabel("words (log scale)")
        axes.legend(frameon=False)
    return buffer.getvalue()


def contrast(groups: Sequence[Group]) -> bytes:
    """Figures 20 and 21: the words each group meets more often than chance, the strongest first."""
    told = [group for group in groups if group.words]
    most = max(len(group.words) for group in told)
    with drawing(columns=len(told), width=4.2 * len(told), height=0.3 * most + 1.0) as (figure, grid, buffer):
        for axes, group, colour in zip(grid[0], told, (INK, WARM, "#5d7a3a"), strict=False):
            shown = group.words[::-1]
            axes.barh(range(most - len(shown), most), [each.npmi for each in shown], color=colour, alpha=0.85)
            axes.set_yticks(range(most - len(shown), most), [each.word for each in shown])
            axes.set_ylim(-0.6, most - 0.4)
            axes.set_xlim(min(0, *(each.npmi for each in shown)), 1)
            axes.set_title(f"{group.name} ({group.captions})", fontsize=10, color=INK)
            axes.set_xlabel("npmi")
        figure.tight_layout()
    return buffer.getvalue()


def sets_of(report: PostsReport) -> list[Vocabulary]:
    """The sets that have descriptions: this one, and the one beside it."""
    return [each for each in (report.words, report.compared) if each is not None and each.lengths]


def band_name(low: int, high: int | None) -> str:
    """A range as text: 1–10, 20,001 or more."""
    return f"{low:,}–{high:,}" if high is not None else f"{low:,} or more"


def _middle(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """The point nearest to the medians: a label there is on its cluster, whatever the shape."""
    x, y = sorted(xs)[len(xs) // 2], sorted(ys)[len(ys) // 2]
    return min(zip(xs, ys, strict=True), key=lambda point: ((point[0] - x) ** 2 + (point[1] - y) ** 2, point))


def _bar(axes: Any, at: float, share: float, colour: str) -> None:
    axes.barh(at, share, 0.36, color=colour)
    axes.text(share, at, f" {percent(share)}", va="center", color=colour, fontsize=9)


def _legend(axes: Any, entries: Sequence[tuple[str, str]]) -> None:
    from matplotlib.patches import Patch

    handles = [Patch(color=colour, label=label) for colour, label in entries]
    axes.legend(handles=handles, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(entries))


def _ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(6, integer=True)
