"""Checks of image–caption sets and of ratings: every layout or format reads any file or rejects it with one error."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from components.core.errors import HearsightError
from tests.fuzz.checks.common import as_file, shown, storable


def tables(data: bytes) -> None:
    """Check the line-based layouts."""
    from components.stages.crawl.sources.layouts import LAYOUTS, layout_named
    from components.stages.crawl.sources.layouts.lines import LineLayout

    _read([name for name in LAYOUTS if isinstance(layout_named(name), LineLayout)], data)


def documents(data: bytes) -> None:
    """Check the JSON layouts."""
    from components.stages.crawl.sources.layouts import LAYOUTS, layout_named
    from components.stages.crawl.sources.layouts.lines import LineLayout

    _read([name for name in LAYOUTS if not isinstance(layout_named(name), LineLayout)], data)


def ratings(data: bytes) -> None:
    """Check files of ratings: what is read is in the normal form."""
    from components.ratings.formats import csv
    from components.ratings.formats.readings import BAD, GOOD, SOURCES

    try:
        table = csv.read(data, "file")
    except HearsightError as error:
        storable(str(error))
        return
    assert table.num_rows
    for rating in table.to_pylist():
        storable(rating)
        assert rating["item"] and rating["rater"] and rating["row"] > 0 and rating["source"] in SOURCES
        assert rating["verdict"] in (GOOD, BAD)
        assert rating["time"] == "" or (len(rating["time"]) == 27 and rating["time"].endswith("Z"))
        assert rating["seconds"] is None or 0 <= rating["seconds"] < float("inf")


def _read(names: Iterable[str], data: bytes) -> None:
    from components.stages.crawl.sources.layouts import layout_named
    from components.stages.crawl.sources.table import row_to_page

    path = Path(as_file(data))
    for name in names:
        layout = layout_named(name)
        try:
            for row in layout.rows(path, "table"):
                assert row.number > 0
                assert isinstance(row.caption, str) and isinstance(row.file, str) and isinstance(row.url, str)
                page = row_to_page(row, "table", local=layout.has_files, language="un")
                storable(page)
                if page.row is not None:
                    shown(page.row["value"])
                for candidate in page.candidates:
                    shown(candidate.alt)
        except HearsightError as error:
            storable(str(error))
