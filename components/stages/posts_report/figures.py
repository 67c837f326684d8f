"""The figures of the report with their titles; ``data/parts.html`` has their text alternatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from components.stages.posts_report import pictures, plots
from components.stages.posts_report.clusters import OUTLIER, Sheet
from components.stages.posts_report.facts import PostsReport


@dataclass(frozen=True)
class Figure:
    """A drawn figure."""

    key: str
    title: str
    png: bytes


def draw_all(report: PostsReport, read: Callable[[str], bytes | None], seed: int) -> Iterator[Figure]:
    """Yield the figures that have data, in the order of the page.

    Args:
        read: returns the bytes of a post's picture by its key, or None.
        seed: seed of the word clouds' layout.
    """
    if report.collected:
        yield Figure("loss", "Posts lost in each step", plots.draw_loss(report))
    if any(series.days for series in report.growth):
        yield Figure("growth", "Posts over time", plots.draw_growth(report))
    if report.sizes_after:
        yield Figure("cluster_sizes", "Clusters by size", plots.draw_cluster_sizes(report))
    if report.positions:
        yield Figure("map", "Map of the pictures", plots.draw_cluster_map(report))
    for sheet in report.sheets:
        name = "outliers" if sheet.cluster == OUTLIER else f"{sheet.cluster:04d}"
        yield Figure(f"sheet_{name}", sheet_title(sheet), pictures.contact_sheet(sheet, read))
    for number, topic in enumerate(report.topics, start=1):
        yield Figure(f"topic_{number:02d}", f"Topic {number}", pictures.word_cloud(topic, seed))
    if plots.described_sets(report):
        yield Figure("lengths", "Words per description", plots.draw_lengths(report))
        yield Figure("frequencies", "Words by frequency", plots.draw_frequencies(report))
    for number, groups in enumerate(report.contrasts or (), start=1):
        if any(group.words for group in groups):
            title = f"Words that co-occur with {' and '.join(group.name for group in groups)}"
            yield Figure(f"bias_{number}", title, plots.draw_contrast(groups))


def sheet_title(sheet: Sheet) -> str:
    """Return a sheet's heading: its cluster, number of posts and characteristic words."""
    name = "Outliers" if sheet.cluster == OUTLIER else f"Cluster {sheet.cluster}"
    return f"{name}: {sheet.posts:,} posts" + (f" · {', '.join(sheet.words)}" if sheet.words else "")
