"""JSON files of image–caption sets: read whole, and rejected with a clear error when they have another layout."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.stages.crawl.sources.layouts.row import Row


def load_json(path: Path, label: str) -> Any:
    """Return the parsed document.

    Raises:
        HearsightError: it is not JSON; names the line.
    """
    try:
        return json.loads(path.read_bytes().decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise HearsightError(
            f"is not JSON: {error.msg}", where=f"{label}: line {error.lineno}", hint="fetch it again, or fix crawl.source.layout"
        ) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise HearsightError("is not JSON: it is not UTF-8", where=f"{label}: line {line}", hint="fetch it again") from None
    except ValueError:  # Python refuses to parse integers of thousands of digits
        raise HearsightError("is not JSON of a set: it holds too long a number", where=label, hint="fetch it again") from None
    except RecursionError:
        raise HearsightError(
            "is not JSON of a set: it nests too deeply", where=f"{label}: line 1", hint="fetch it again"
        ) from None


def wrong_layout_error(label: str, layout: str, reason: str) -> HearsightError:
    """Return the error for a document of another layout."""
    return HearsightError(
        f"is not of the layout '{layout}': {reason}", where=f"{label}: line 1", hint="set crawl.source.layout to the file's own"
    )


def require_lists(document: Any, names: tuple[str, ...], label: str, layout: str) -> list[list[Any]]:
    """Return the lists with these names at the top of the document; raises HearsightError when one is missing."""
    for name in names:
        if not isinstance(document, dict) or not isinstance(document.get(name), list):
            raise wrong_layout_error(label, layout, f"it has no list '{name}'")
    return [document[name] for name in names]


def check_fields(number: int, element: Any, fields: dict[str, type]) -> Row | None:
    """Return the row that names a missing field of an element; None when all are present with the right type."""
    if not isinstance(element, dict):
        return Row(number, rule="bad_row", value=type(element).__name__, threshold="an object")
    for name, kind in fields.items():
        if not isinstance(element.get(name), kind) or isinstance(element.get(name), bool):
            return Row(number, rule="missing_field", value=f"no '{name}'", threshold=", ".join(fields))
    return None


def require_fitting_rows(rows: Iterator[Row], label: str, layout: str) -> Iterator[Row]:
    """Yield the rows; raises HearsightError when all of the first twenty do not fit."""
    first = list(islice(rows, 20))
    if first and all(row.rule in ("bad_row", "missing_field") for row in first):
        raise wrong_layout_error(label, layout, f"element {first[0].number}: {first[0].value}")
    yield from chain(first, rows)
