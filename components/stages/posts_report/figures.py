"""The figures of the report, with titles and text alternatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from components.reporting.numbers import percent
from components.stages.posts_report import clusters, pictures, plots
from components.stages.posts_report.bias import Group
from components.stages.posts_report.clusters import OUTLIER, Sheet
from components.stages.posts_report.facts import PostsReport
from components.stages.posts_report.words import BANDS


@dataclass(frozen=True)
class Figure:
    """A drawn figure."""

    key: str
    title: str
    alt: str
    png: bytes


def draw_all(report: PostsReport, read: Callable[[str], bytes | None], seed: int) -> Iterator[Figure]:
    """Yield the figures that have data, in the order of the page.

    Args:
        read: returns the bytes of a post's picture by its key, or None.
        seed: seed of the word clouds' layout.
    """
    if report.collected:
        yield Figure("loss", "Posts lost in each step", _loss(report), plots.draw_loss(report))
    if any(series.days for series in report.growth):
        yield Figure("growth", "Posts over time", _growth(report), plots.draw_growth(report))
    if report.sizes_after:
        yield Figure("cluster_sizes", "Clusters by size", _sizes(report), plots.draw_cluster_sizes(report))
    if report.positions:
        yield Figure("map", "Map of the pictures", _map(report), plots.draw_cluster_map(report))
    for sheet in report.sheets:
        name = "outliers" if sheet.cluster == OUTLIER else f"{sheet.cluster:04d}"
        yield Figure(f"sheet_{name}", sheet_title(sheet), _sheet(sheet), pictures.contact_sheet(sheet, read))
    for number, topic in enumerate(report.topics, start=1):
        alt = f"Word cloud of topic {number}; the most probable words: {', '.join(word for word, _ in topic.words[:10])}."
        yield Figure(f"topic_{number:02d}", f"Topic {number}", alt, pictures.word_cloud(topic, seed))
    if plots.described_sets(report):
        yield Figure("lengths", "Words per description", _lengths(report), plots.draw_lengths(report))
        yield Figure("frequencies", "Words by frequency", _frequencies(report), plots.draw_frequencies(report))
    for number, groups in enumerate(report.contrasts or (), start=1):
        if any(group.words for group in groups):
            title = f"Words that co-occur with {' and '.join(group.name for group in groups)}"
            yield Figure(f"bias_{number}", title, _contrast(groups), plots.draw_contrast(groups))


def sheet_title(sheet: Sheet) -> str:
    """Return a sheet's heading: its cluster, number of posts and characteristic words."""
    name = "Outliers" if sheet.cluster == OUTLIER else f"Cluster {sheet.cluster}"
    return f"{name}: {sheet.posts:,} posts" + (f" · {', '.join(sheet.words)}" if sheet.words else "")


def _loss(report: PostsReport) -> str:
    parts = []
    for step in report.steps:
        paper = f" (paper: {percent(step.paper)})" if step.paper is not None else ""
        parts.append(f"{step.title} {percent(step.share)}{paper}")
    return f"Bar chart of the share of {report.collected:,} posts lost in each step: {'; '.join(parts)}."


def _growth(report: PostsReport) -> str:
    parts = [f"{g.series}: {g.days[-1][1]:,} from {g.days[0][0]} to {g.days[-1][0]}" for g in report.growth if g.days]
    return f"Line chart of the cumulative number of posts. {'; '.join(parts)}."


def _sizes(report: PostsReport) -> str:
    parts = [
        f"{n:,} of {plots.band_name(*band)} posts"
        for band, n in zip(clusters.BANDS, clusters.count_bands(report.sizes_after), strict=True)
        if n
    ]
    return f"Bar chart of clusters by size, duplicates removed: {'; '.join(parts)}."


def _map(report: PostsReport) -> str:
    count = sum(1 for c in report.sizes_before if c >= 0)
    outliers = report.sizes_before.get(OUTLIER, 0)
    posts = f"{len(report.positions):,} posts in {count} clusters, with {outliers:,} outliers"
    return f"Scatter plot of {posts}; similar pictures are near each other."


def _sheet(sheet: Sheet) -> str:
    groups: dict[str, list[int]] = {}
    for number, shown in enumerate(sheet.shown, start=1):
        if shown.duplicates:
            groups.setdefault(shown.duplicates, []).append(number)
    groups_text = "; ".join(f"{letter}: {', '.join(map(str, numbers))}" for letter, numbers in groups.items())
    framed = f" Framed duplicates: {groups_text}." if groups_text else " No duplicates among them."
    return f"{len(sheet.shown)} of {sheet.posts} pictures; the list below has their descriptions.{framed}"


def _lengths(report: PostsReport) -> str:
    parts = [
        f"{vocabulary.name}: {vocabulary.mean:.1f} ± {vocabulary.deviation:.1f} words"
        for vocabulary in plots.described_sets(report)
    ]
    return f"Histogram of the words per description. {'; '.join(parts)}."


def _frequencies(report: PostsReport) -> str:
    parts = []
    for vocabulary in plots.described_sets(report):
        ranges = ", ".join(f"{plots.band_name(*band)} times {n:,}" for band, n in zip(BANDS, vocabulary.bands, strict=True) if n)
        parts.append(f"{vocabulary.name}: {ranges}")
    return f"Bar chart of words by occurrences. {'; '.join(parts)}."


def _contrast(groups: Sequence[Group]) -> str:
    parts = [f"{g.name}: {', '.join(met.word for met in g.words[:6])}" for g in groups if g.words]
    return f"Bar charts of the words with the highest npmi. {'; '.join(parts)}."
