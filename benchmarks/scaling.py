"""Cost of 1 M, 100 M and 5 B candidates from measured rates: `python -m benchmarks.scaling [--write]`.

Each rate names the document that states it, and a test looks for it there. Shares of the candidates are Conceptual Captions' own
(CC §3, as in `components.stages.report.facts.STEPS`). ``--write`` puts the tables into docs/scaling.md.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from benchmarks.harness import ROOT
from components.google.settings import Prices
from components.stages.crawl import Params as Crawl
from components.stages.report.facts import STEPS

PAGE = ROOT / "docs" / "scaling.md"
BEGIN, END = "<!-- begin: python -m benchmarks.scaling --write -->", "<!-- end -->"
CANDIDATES = (1_000_000, 100_000_000, 5_000_000_000)
CORES = (64, 1_000)
_STEP = {step.name: step for step in STEPS}
FETCHED = 1.0
"""Share of the candidates whose image is requested: all."""
READ = _STEP["image"].paper or 0.0
"""Share whose text the filter reads: those that pass the image rules."""
PARSED = 0.2 * READ
"""Share whose text is parsed: the benchmark of captions drops 80 % of the texts before."""
LOOKED_AT = (_STEP["text"].paper or 0.0) * READ
"""Share whose image is labelled: those that pass the text rules too."""
REWRITTEN = _STEP["labels"].paper_left or 0.0
CAPTIONS = _STEP["concepts"].paper_left or 0.0


@dataclass(frozen=True)
class Rate:
    """CPU time of one step."""

    step: str
    share: float
    """Share of the candidates that the step handles."""
    seconds: float
    """CPU seconds for each."""
    source: str
    """Document that states the rate."""
    said: str
    """The text there."""


RATES = (
    Rate("crawl: pages of archives, 5 candidates a page", 1.0, 1 / 2_849 / 5, "benchmarks/README.md", "2,849 pages/s"),
    Rate("crawl: request, decode and store an image", FETCHED, 0.00248, "benchmarks/README.md", "CPU time | 2.48 ms"),
    Rate("filter: texts", READ, 1 / 1_247, "benchmarks/README.md", "1,247 texts"),
    Rate("filter: labels of images", LOOKED_AT, 1 / 7.5, "benchmarks/README.md", "7.5 images a CPU second"),
    Rate("hypernymize: parse and rewrite", REWRITTEN, 1 / 391, "benchmarks/README.md", "391 captions a CPU second"),
    Rate("dedup: pHash within 6 bits", CAPTIONS, 15.62e-6, "benchmarks/README.md", "| 1,000,000 | 389,179 | 3 | 15.62 |"),
    Rate("synthesize", CAPTIONS, 51 * 3600 / 3.3e6, "benchmarks/README.md", "51 core-hours"),
    Rate(
        "extract_features: 2.75 views",
        CAPTIONS,
        20 * 60 / 8_000,
        "benchmarks/README.md",
        "two processes | 11 min 9 s, 20 CPU minutes",
    ),
)
BYTES = (
    ("fetch store: images of 44 KB, not compressed further", FETCHED, 44e3, "benchmarks/README.md", "the packages' JPEGs (44 KB"),
    ("speech (FLAC)", CAPTIONS, 142e9 / 3.3e6, "benchmarks/README.md", "142 GB of FLAC"),
    ("features", CAPTIONS, 0.44e9 / 8_000, "benchmarks/README.md", "features on disk | .44 GB"),
)
"""What is stored, share of the candidates, bytes of each, document and text."""
FILES_OF_A_SHARD = 3
"""Objects that a stage writes for a shard: records, ledger, media."""


def tables() -> str:
    """Return the tables as Markdown."""
    head = " | ".join(short(count) for count in CANDIDATES)
    lines = [f"| core-hours for candidates | share | {head} |", "|---|--:|--:|--:|--:|"]
    for rate in RATES:
        lines.append(row(rate.step, f"{rate.share:.3%}", [figure(hours(rate, count)) for count in CANDIDATES]))
    totals = [sum(hours(rate, count) for rate in RATES) for count in CANDIDATES]
    lines.append(row("**all**", "", [f"**{figure(total)}**" for total in totals]))
    for cores in CORES:
        lines.append(row(f"days on {cores:,} cores", "", [figure(total / 24 / cores) for total in totals]))
    lines += ["", f"| stored, objects, dollars | share | {head} |", "|---|--:|--:|--:|--:|"]
    for name, share, size, *_ in BYTES:
        lines.append(row(f"{name}, GB", f"{share:.3%}", [figure(count * share * size / 1e9) for count in CANDIDATES]))
    shard = Crawl.model_fields["shard_size"].default
    objects = [figure(FILES_OF_A_SHARD * count / shard) for count in CANDIDATES]
    lines.append(row(f"files of the crawl's output at {shard} records a shard: PUT requests on S3", f"{FETCHED:.3%}", objects))
    for name, share, price in google():
        dollars = [figure(count * share * price) for count in CANDIDATES]
        lines.append(row(f"Google, {name}, $ at {1000 * price:g} for 1,000", f"{share:.3%}", dollars))
    return "\n".join(lines)


def google() -> list[tuple[str, float, float]]:
    """Return the name, share of the candidates and price of a unit of what Google can be asked instead of local models."""
    prices = Prices()
    text = (prices.syntax + prices.entities + prices.sentiment + prices.moderation) / 1000
    # 55 characters a caption: $2,900 for 3.3 million captions at $16 a million (docs/providers.md).
    return [
        ("texts up to 100 characters", PARSED, text),
        ("images", LOOKED_AT, (prices.label_detection + prices.safe_search_detection) / 1000),
        ("speech, 55 characters", CAPTIONS, 55 * prices.speech_wavenet / 1000),
    ]


def hours(rate: Rate, candidates: int) -> float:
    """Return the core-hours of a step."""
    return candidates * rate.share * rate.seconds / 3600


def figure(value: float) -> str:
    """Return a number with two significant digits, without an exponent."""
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def short(count: int) -> str:
    """Return a count as ``5 B``."""
    return f"{count // 10**9} B" if count >= 10**9 else f"{count // 10**6} M"


def row(name: str, share: str, cells: list[str]) -> str:
    """Return a row of a table."""
    return f"| {name} | {share} | {' | '.join(cells)} |"


def written(page: str) -> str:
    """Return the page with the tables between its marks."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n\n{tables()}\n\n{END}{rest.split(END)[1]}"


def main() -> None:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(description="Cost of 1 M, 100 M and 5 B candidates from measured rates.")
    parser.add_argument("--write", action="store_true", help="write docs/scaling.md")
    if parser.parse_args().write:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        print(tables())


if __name__ == "__main__":
    main()
