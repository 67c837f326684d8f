"""Which figures there are for a set, each with its title and with what it shows in words."""

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
    """What it shows, for who does not see it."""
    png: bytes


def draw_all(report: PostsReport, read: Callable[[str], bytes | None], seed: int) -> Iterator[Figure]:
    """The figures there is something to draw for, in the order of the page.

    Args:
        report: what is drawn.
        read: key → the bytes of a post's picture, or None.
        seed: of the word clouds' layout.
    """
    if report.collected:
        yield Figure("loss", "Posts lost in each step", _loss(report), plots.loss(report))
    if any(series.days for series in report.growth):
        yield Figure("growth", "Posts through time", _growth(report), plots.growth(report))
    if report.sizes_after:
        yield Figure("cluster_sizes", "Clusters by size", _sizes(report), plots.cluster_sizes(report))
    if report.places:
        yield Figure("map", "Map of the pictures", _map(report), plots.cluster_map(report))
    for sheet in report.sheets:
        name = "outliers" if sheet.cluster == OUTLIER else f"{sheet.cluster:04d}"
        yield Figure(f"sheet_{name}", sheet_title(sheet), _sheet(sheet), pictures.contact_sheet(sheet, read))
    for number, topic in enumerate(report.topics, start=1):
        alt = f"Word cloud of topic {number}; the most probable words: {', '.join(word for word, _ in topic.words[:10])}."
        yield Figure(f"topic_{number:02d}", f"Topic {number}", alt, pictures.cloud(topic, seed))
    if plots.sets_of(report):
        yield Figure("lengths", "Words a description", _lengths(report), plots.lengths(report))
        yield Figure("frequencies", "Words by how often they come", _frequencies(report), plots.frequencies(report))
    for number, groups in enumerate(report.contrasts or (), start=1):
        if any(group.words for group in groups):
            title = f"Words that meet {' and '.join(group.name for group in groups)}"
            yield Figure(f"bias_{number}", title, _contrast(groups), plots.contrast(groups))


def sheet_title(sheet: Sheet) -> str:
    """A sheet's heading: its cluster, its posts, its words."""
    name = "Outliers" if sheet.cluster == OUTLIER else f"Cluster {sheet.cluster}"
    return f"{name}: {sheet.posts:,} posts" + (f" · {', '.join(sheet.words)}" if sheet.words else "")


def _loss(report: PostsReport) -> str:
    said = []
    for step in report.steps:
        paper = f" (paper: {percent(step.paper)})" if step.paper is not None else ""
        said.append(f"{step.title} {percent(step.share)}{paper}")
    return f"Bar chart of the share of {report.collected:,} posts lost in each step: {'; '.join(said)}."


def _growth(report: PostsReport) -> str:
    said = [f"{g.series}: {g.days[-1][1]:,} from {g.days[0][0]} to {g.days[-1][0]}" for g in report.growth if g.days]
    return f"Line chart of the number of posts so far. {'; '.join(said)}."


def _sizes(report: PostsReport) -> str:
    said = [
        f"{n:,} of {plots.band_name(*band)} posts"
        for band, n in zip(clusters.BANDS, clusters.bands(report.sizes_after), strict=True)
        if n
    ]
    return f"Bar chart of clusters by size, duplicates removed: {'; '.join(said)}."


def _map(report: PostsReport) -> str:
    count = sum(1 for c in report.sizes_before if c >= 0)
    outliers = report.sizes_before.get(OUTLIER, 0)
    return (
        f"Scatter plot of {len(report.places):,} posts in {count} clusters, with {outliers:,} outliers; near points look alike."
    )


def _sheet(sheet: Sheet) -> str:
    groups: dict[str, list[int]] = {}
    for number, shown in enumerate(sheet.shown, start=1):
        if shown.duplicates:
            groups.setdefault(shown.duplicates, []).append(number)
    told = "; ".join(f"{letter}: {', '.join(map(str, numbers))}" for letter, numbers in groups.items())
    framed = f" Framed duplicates: {told}." if told else " No duplicates among them."
    return f"{len(sheet.shown)} of {sheet.posts} pictures; each is described in the list below.{framed}"


def _lengths(report: PostsReport) -> str:
    said = [f"{each.name}: {each.mean:.1f} ± {each.deviation:.1f} words" for each in plots.sets_of(report)]
    return f"Histogram of the words a description. {'; '.join(said)}."


def _frequencies(report: PostsReport) -> str:
    said = []
    for each in plots.sets_of(report):
        bands = ", ".join(f"{plots.band_name(*band)} times {n:,}" for band, n in zip(BANDS, each.bands, strict=True) if n)
        said.append(f"{each.name}: {bands}")
    return f"Bar chart of words by occurrences. {'; '.join(said)}."


def _contrast(groups: Sequence[Group]) -> str:
    said = [f"{g.name}: {', '.join(met.word for met in g.words[:6])}" for g in groups if g.words]
    return f"Bar charts of the words with the highest npmi. {'; '.join(said)}."
