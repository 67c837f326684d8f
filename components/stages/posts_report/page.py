"""The page people open, and the lines a run ends with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from components.stages.posts_report import clusters
from components.stages.posts_report.facts import Facts
from components.stages.posts_report.figures import Figure
from components.stages.posts_report.plots import PAPER_DEVIATION, PAPER_MEAN, band_name, sets_of
from components.stages.posts_report.tables import physical
from components.stages.posts_report.words import BANDS

PAPER = {"posts": 533_523, "owners": 14_666, "clusters": 675, "outliers": 60_000}
"""#PraCegoVer sections 5.1 and figure 9."""
PAPER_OFFENSIVE = 28_520
"""The best rank of an offensive word in table 3; section 6.2.8 says "30,000th or lower"."""


def html(facts: Facts, figures: Sequence[Figure], settings: Any) -> str:
    """The page; figures are files beside it, in ``figures/``."""
    from jinja2 import Environment, FileSystemLoader

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "data"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"number": lambda n: f"{n:,}", "percent": percent}
    drawn = {figure.key: figure for figure in figures}
    sheets = [(f, s) for f, s in zip([f for f in figures if f.key.startswith("sheet_")], facts.sheets, strict=True)]
    return environment.get_template("analysis.html").render(
        facts=facts,
        figures=drawn,
        sheets=sheets,
        topics=[(drawn[f"topic_{n:02d}"], topic) for n, topic in enumerate(facts.topics, start=1)],
        contrasts=[(drawn.get(f"bias_{n}"), groups) for n, groups in enumerate(facts.contrasts or (), start=1)],
        bands=_bands(facts),
        frequencies=_frequencies(facts),
        sets=sets_of(facts),
        physical=physical(facts),
        total=facts.growth[2] if len(facts.growth) > 2 else None,
        settings=settings,
        paper=PAPER | {"mean": PAPER_MEAN, "deviation": PAPER_DEVIATION, "offensive": PAPER_OFFENSIVE},
    )


def percent(share: float) -> str:
    """A share in per cent, with one decimal."""
    return f"{100 * share:.1f} %"


def summary(facts: Facts) -> str:
    """What a run prints at its end."""
    words = facts.words
    lines = [f"{facts.dataset}: {facts.collected:,} posts collected, {facts.posts:,} left, of {facts.owners:,} owners", ""]
    width = max(len(step.title) for step in facts.steps)
    lines.append(f"  {'lost':<{width}}     posts    share    paper")
    for step in facts.steps:
        paper = percent(step.paper) if step.paper is not None else "–"
        lines.append(f"  {step.title:<{width}}  {step.lost:8,}  {percent(step.share):>7}  {paper:>7}")
    lines += ["", "  split: " + ", ".join(f"{name} {n:,}" for name, n in facts.splits.items())]
    if words.lengths:
        lines.append(
            f"  words a description: {words.mean:.1f} ± {words.deviation:.1f} (paper {PAPER_MEAN} ± {PAPER_DEVIATION}); "
            f"{len(words.counts):,} distinct words, {words.bands[0]:,} of them at most {BANDS[0][1]} times"
        )
    if facts.clustered:
        told = facts.clustered
        lines.append(
            f"  clusters: {told['clusters']:,} of {told['posts']:,} posts in {len(told['rounds'])} rounds, "
            f"{told['outliers']:,} outliers"
        )
    if facts.offences is not None:
        lines.append(f"  words that may offend: {len(facts.offences)} kinds, {sum(o.count for o in facts.offences):,} times")
    return "\n".join(lines) + "\n"


def _bands(facts: Facts) -> list[tuple[str, int, int]]:
    before, after = clusters.bands(facts.sizes_before), clusters.bands(facts.sizes_after)
    return [(band_name(*band), one, two) for band, one, two in zip(clusters.BANDS, before, after, strict=True)]


def _frequencies(facts: Facts) -> list[tuple[str, list[int]]]:
    sets = sets_of(facts)
    return [(band_name(*band), [each.bands[at] for each in sets]) for at, band in enumerate(BANDS)]
