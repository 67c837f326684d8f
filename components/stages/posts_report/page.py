"""The HTML page of the report, the data of its figures as CSV (for DVC's plots and other tools), and the text summary."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from components.core.text_encoding import csv_text
from components.reporting.pages import render
from components.reporting.values import ABSENT, percent
from components.stages.posts_report import clusters
from components.stages.posts_report.bias import load_groups
from components.stages.posts_report.facts import PostsReport
from components.stages.posts_report.figures import Figure
from components.stages.posts_report.plots import PAPER_DEVIATION, PAPER_MEAN, band_name, described_sets
from components.stages.posts_report.words import BANDS

PAPER = {"posts": 533_523, "owners": 14_666, "clusters": 675, "outliers": 60_000}
"""PCV §5.1 and figure 9."""
PAPER_OFFENSIVE = 28_520
"""The best rank of an offensive word in PCV table 3; §6.2.8 states "30,000th or lower"."""


def render_page(report: PostsReport, figures: Sequence[Figure], settings: Any, warnings: Sequence[str] = ()) -> str:
    """Return the page; figures are files beside it, in ``figures/``."""
    drawn = {figure.key: figure for figure in figures}
    sheets = [(f, s) for f, s in zip([f for f in figures if f.key.startswith("sheet_")], report.sheets, strict=True)]
    return render(
        Path(__file__).parent / "data",
        "analysis.html",
        warnings=warnings,
        report=report,
        figures=drawn,
        sheets=sheets,
        topics=[(drawn[f"topic_{n:02d}"], topic) for n, topic in enumerate(report.topics, start=1)],
        contrasts=[(drawn.get(f"bias_{n}"), groups) for n, groups in enumerate(report.contrasts or (), start=1)],
        bands=_bands(report),
        frequencies=_frequencies(report),
        sets=described_sets(report),
        body_words=body_words(report),
        total=report.growth[2] if len(report.growth) > 2 else None,
        settings=settings,
        paper=PAPER | {"mean": PAPER_MEAN, "deviation": PAPER_DEVIATION, "offensive": PAPER_OFFENSIVE},
    )


def render_summary(report: PostsReport) -> str:
    """Return the text summary that a run ends with."""
    words = report.words
    lines = [f"{report.dataset}: {report.collected:,} posts collected, {report.posts:,} left, of {report.owners:,} owners", ""]
    width = max(len(step.title) for step in report.steps)
    lines.append(f"  {'lost':<{width}}     posts    share    paper")
    for step in report.steps:
        paper = percent(step.paper) if step.paper is not None else ABSENT
        lines.append(f"  {step.title:<{width}}  {step.lost:8,}  {percent(step.share):>7}  {paper:>7}")
    lines += ["", "  split: " + ", ".join(f"{name} {n:,}" for name, n in report.splits.items())]
    if words.lengths:
        lines.append(
            f"  words per description: {words.mean:.1f} ± {words.deviation:.1f} (paper {PAPER_MEAN} ± {PAPER_DEVIATION}); "
            f"{len(words.counts):,} distinct words, {words.bands[0]:,} of them at most {BANDS[0][1]} times"
        )
    if report.clustered:
        clustered = report.clustered
        lines.append(
            f"  clusters: {clustered['clusters']:,} of {clustered['posts']:,} posts in {len(clustered['rounds'])} rounds, "
            f"{clustered['outliers']:,} outliers"
        )
    if report.offences is not None:
        lines.append(f"  possibly offensive words: {len(report.offences)} kinds, {sum(o.count for o in report.offences):,} times")
    return "\n".join(lines) + "\n"


def _bands(report: PostsReport) -> list[tuple[str, int, int]]:
    """Return cluster sizes, and the number of clusters before and after removing duplicates."""
    before, after = clusters.count_bands(report.sizes_before), clusters.count_bands(report.sizes_after)
    return [(band_name(*band), one, two) for band, one, two in zip(clusters.BANDS, before, after, strict=True)]


def _frequencies(report: PostsReport) -> list[tuple[str, list[int]]]:
    sets = described_sets(report)
    return [(band_name(*band), [vocabulary.bands[at] for vocabulary in sets]) for at, band in enumerate(BANDS)]


def all_tables(report: PostsReport) -> dict[str, bytes]:
    """Return file name → CSV, one per figure and table of the page; headers only where there is no data."""
    tables = {
        "loss": (("step", "series", "posts", "share", "rules"), _loss(report)),
        "growth": (("date", "series", "posts"), [(day, g.series, n) for g in report.growth for day, n in g.days]),
        "cluster_sizes": (
            ("posts", "clusters", "clusters_before_removing_duplicates"),
            [(band, after, before) for band, before, after in _bands(report)],
        ),
        "map": (("key", "cluster", "x", "y"), [(key, at, f"{x:.4f}", f"{y:.4f}") for key, at, x, y in report.positions]),
        "sheets": (
            ("cluster", "number", "key", "duplicates", "dropped"),
            [(s.cluster, n, p.key, p.duplicates, int(p.dropped)) for s in report.sheets for n, p in enumerate(s.shown, 1)],
        ),
        "topics": (
            ("topic", "share", "word", "probability"),
            [(n, f"{t.share:.4f}", word, f"{p:.6f}") for n, t in enumerate(report.topics, 1) for word, p in t.words],
        ),
        "lengths": (("series", "words", "descriptions", "share"), _lengths(report)),
        "frequencies": (("series", "occurrences", "words"), _frequency_rows(report)),
        "offensive": (
            ("forms", "sense", "source", "occurrences", "rank"),
            [("/".join(o.forms), o.sense, o.source, o.count, o.rank or "") for o in report.offences or ()],
        ),
        "physical": (("word", "occurrences", "rank", "paper_occurrences", "paper_rank"), body_words(report)),
        "bias": (("contrast", "group", "descriptions", "word", "together", "with_word", "npmi"), _bias(report)),
    }
    return {f"{name}.csv": csv_text(header, rows).encode() for name, (header, rows) in tables.items()}


def body_words(report: PostsReport) -> list[tuple[str, int, int | str, int, int]]:
    """Return PCV table 4: word, occurrences, rank (empty for an absent word), and the paper's two values."""
    known, ranks = load_groups(report.language), report.words.ranks
    listed = (known or {}).get("physical", {})
    return [(word, report.words.counts[word], ranks.get(word, ""), *paper) for word, paper in listed.items()]


def _loss(report: PostsReport) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for step in report.steps:
        rules = "; ".join(f"{rule} {n}" for rule, n in step.rules.items())
        rows.append((step.title, report.dataset, step.lost, f"{step.share:.4f}", rules))
        if step.paper is not None:
            rows.append((f"{step.title} (paper)", "#PraCegoVer", "", step.paper, ""))
    return rows


def _lengths(report: PostsReport) -> list[tuple[str, int, int, str]]:
    return [
        (vocabulary.name, length, n, f"{n / vocabulary.examples:.6f}")
        for vocabulary in described_sets(report)
        for length, n in sorted(vocabulary.lengths.items())
    ]


def _frequency_rows(report: PostsReport) -> list[tuple[str, str, int]]:
    return [
        (vocabulary.name, band_name(*band), n)
        for vocabulary in described_sets(report)
        for band, n in zip(BANDS, vocabulary.bands, strict=True)
    ]


def _bias(report: PostsReport) -> list[tuple[Any, ...]]:
    return [
        (number, group.name, group.captions, word.word, word.together, word.count, f"{word.npmi:.4f}")
        for number, row in enumerate(report.contrasts or (), 1)
        for group in row
        for word in group.words
    ]
