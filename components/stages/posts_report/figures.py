"""Which figures there are for a set, each with its title and with what it shows in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from components.stages.posts_report import clusters, pictures, plots
from components.stages.posts_report.bias import Group
from components.stages.posts_report.clusters import OUTLIER, Sheet
from components.stages.posts_report.facts import Facts
from components.stages.posts_report.words import BANDS


@dataclass(frozen=True)
class Figure:
    """A drawn figure."""

    key: str
    title: str
    alt: str
    """What it shows, for who does not see it."""
    png: bytes


def draw_all(facts: Facts, read: Callable[[str], bytes | None], seed: int) -> Iterator[Figure]:
    """The figures there is something to draw for, in the order of the page.

    Args:
        facts: what is drawn.
        read: key → the bytes of a post's picture, or None.
        seed: of the word clouds' layout.
    """
    if facts.collected:
        yield Figure("loss", "Posts lost in each step", _loss(facts), plots.loss(facts))
    if any(series.days for series in facts.growth):
        yield Figure("growth", "Posts through time", _growth(facts), plots.growth(facts))
    if facts.sizes_after:
        yield Figure("cluster_sizes", "Clusters by size", _sizes(facts), plots.cluster_sizes(facts))
    if facts.places:
        yield Figure("map", "Map of the pictures", _map(facts), plots.cluster_map(facts))
    for sheet in facts.sheets:
        name = "outliers" if sheet.cluster == OUTLIER else f"{sheet.cluster:04d}"
        yield Figure(f"sheet_{name}", sheet_title(sheet), _sheet(sheet), pictures.contact_sheet(sheet, read))
    for number, topic in enumerate(facts.topics, start=1):
        alt = f"Word cloud of topic {number}; the most probable words: {', '.join(word for word, _ in topic.words[:10])}."
        yield Figure(f"topic_{number:02d}", f"Topic {number}", alt, pictures.cloud(topic, seed))
    if plots.sets_of(facts):
        yield Figure("lengths", "Words a description", _lengths(facts), plots.lengths(facts))
        yield Figure("frequencies", "Words by how often they come", _frequencies(facts), plots.frequencies(facts))
    for number, groups in enumerate(facts.contrasts or (), start=1):
        if any(group.words for group in groups):
            title = f"Words that meet {' and '.join(group.name for group in groups)}"
            yield Figure(f"bias_{number}", title, _contrast(groups), plots.contrast(groups))


def sheet_title(sheet: Sheet) -> str:
    """A sheet's heading: its cluster, its posts, its words."""
    name = "Outliers" if sheet.cluster == OUTLIER else f"Cluster {sheet.cluster}"
    return f"{name}: {sheet.posts:,} posts" + (f" · {', '.join(sheet.words)}" if sheet.words else "")


def _loss(facts: Facts) -> str:
    said = []
    for step in facts.steps:
        paper = f" (paper: {100 * step.paper:.1f} %)" if step.paper is not None else ""
        said.append(f"{step.title} {100 * step.share:.1f} %{paper}")
    return f"Bar chart of the share of {facts.collected:,} posts lost in each step: {'; '.join(said)}."


def _growth(facts: Facts) -> str:
    said = [f"{g.series}: {g.days[-1][1]:,} from {g.days[0][0]} to {g.days[-1][0]}" for g in facts.growth if g.days]
    return f"Line chart of the number of posts so far. {'; '.join(said)}."


def _sizes(facts: Facts) -> str:
    said = [
        f"{n:,} of {plots.band_name(*band)} posts"
        for band, n in zip(clusters.BANDS, clusters.bands(facts.sizes_after), strict=True)
        if n
    ]
    return f"Bar chart of clusters by size, duplicates removed: {'; '.join(said)}."


def _map(facts: Facts) -> str:
    count = sum(1 for c in facts.sizes_before if c >= 0)
    outliers = facts.sizes_before.get(OUTLIER, 0)
    return f"Scatter plot of {len(facts.places):,} posts in {count} clusters, with {outliers:,} outliers; near points look alike."


def _sheet(sheet: Sheet) -> str:
    groups: dict[str, list[int]] = {}
    for number, shown in enumerate(sheet.shown, start=1):
        if shown.duplicates:
            groups.setdefault(shown.duplicates, []).append(number)
    told = "; ".join(f"{letter}: {', '.join(map(str, numbers))}" for letter, numbers in groups.items())
    framed = f" Framed duplicates: {told}." if told else " No duplicates among them."
    return f"{len(sheet.shown)} of {sheet.posts} pictures; each is described in the list below.{framed}"


def _lengths(facts: Facts) -> str:
    said = [f"{each.name}: {each.mean:.1f} ± {each.deviation:.1f} words" for each in plots.sets_of(facts)]
    return f"Histogram of the words a description. {'; '.join(said)}."


def _frequencies(facts: Facts) -> str:
    said = []
    for each in plots.sets_of(facts):
        bands = ", ".join(f"{plots.band_name(*band)} times {n:,}" for band, n in zip(BANDS, each.bands, strict=True) if n)
        said.append(f"{each.name}: {bands}")
    return f"Bar chart of words by occurrences. {'; '.join(said)}."


def _contrast(groups: Sequence[Group]) -> str:
    said = [f"{g.name}: {', '.join(met.word for met in g.words[:6])}" for g in groups if g.words]
    return f"Bar charts of the words with the highest npmi. {'; '.join(said)}."
