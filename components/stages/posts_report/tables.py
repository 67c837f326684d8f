"""The data of every figure as CSV, for DVC's plots and other tools."""

from __future__ import annotations

from collections import Counter
from typing import Any

from components.reporting.tables import csv_text
from components.stages.posts_report import clusters, words
from components.stages.posts_report.bias import load_groups
from components.stages.posts_report.facts import PostsReport
from components.stages.posts_report.plots import band_name, described_sets


def all_tables(report: PostsReport) -> dict[str, bytes]:
    """Return file name → CSV, one per figure and table of the page; headers only where there is no data."""
    tables = {
        "loss": (("step", "series", "posts", "share", "rules"), _loss(report)),
        "growth": (("date", "series", "posts"), [(day, g.series, n) for g in report.growth for day, n in g.days]),
        "cluster_sizes": (("posts", "clusters", "clusters_before_removing_duplicates"), _sizes(report)),
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
        "frequencies": (("series", "occurrences", "words"), _frequencies(report)),
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


def _sizes(report: PostsReport) -> list[tuple[str, int, int]]:
    after, before = clusters.count_bands(report.sizes_after), clusters.count_bands(report.sizes_before)
    return [(band_name(*band), one, two) for band, one, two in zip(clusters.BANDS, after, before, strict=True)]


def _lengths(report: PostsReport) -> list[tuple[str, int, int, str]]:

    return [
        (vocabulary.name, length, n, f"{n / len(vocabulary.lengths):.6f}")
        for vocabulary in described_sets(report)
        for length, n in sorted(Counter(vocabulary.lengths).items())
    ]


def _frequencies(report: PostsReport) -> list[tuple[str, str, int]]:
    return [
        (vocabulary.name, band_name(*band), n)
        for vocabulary in described_sets(report)
        for band, n in zip(words.BANDS, vocabulary.bands, strict=True)
    ]


def _bias(report: PostsReport) -> list[tuple[Any, ...]]:
    return [
        (number, group.name, group.captions, word.word, word.together, word.count, f"{word.npmi:.4f}")
        for number, row in enumerate(report.contrasts or (), 1)
        for group in row
        for word in group.words
    ]
