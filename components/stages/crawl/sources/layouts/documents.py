"""JSON files of image–caption sets: read whole, and told from another layout by what they lack."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.stages.crawl.sources.layouts.row import Row


def load_json(path: Path, label: str) -> Any:
    """The document.

    Raises:
        HearsightError: it is not JSON; names the line.
    """
    try:
        return json.loads(path.read_bytes().decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise HearsightError(
            f"is not JSON: {error.msg}", where=f"{label}: line {error.lineno}", hint="fetch it again, or fix crawl.layout"
        ) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise HearsightError("is not JSON: it is not UTF-8", where=f"{label}: line {line}", hint="fetch it again") from None
    except ValueError:  # a number of thousands of digits
        raise HearsightError("is not JSON of a set: it holds too long a number", where=label, hint="fetch it again") from None
    except RecursionError:
        raise HearsightError(
            "is not JSON of a set: it nests too deeply", where=f"{label}: line 1", hint="fetch it again"
        ) from None


def wrong_layout_error(label: str, layout: str, lacks: str) -> HearsightError:
    """What to tell of a document that is another one's."""
    return HearsightError(
        f"is not of the layout '{layout}': {lacks}", where=f"{label}: line 1", hint="set crawl.layout to the file's own"
    )


def require_lists(document: Any, names: tuple[str, ...], label: str, layout: str) -> list[list[Any]]:
    """The lists of those names at the document's top; raises HearsightError when one is not there."""
    for name in names:
        if not isinstance(document, dict) or not isinstance(document.get(name), list):
            raise wrong_layout_error(label, layout, f"it has no list '{name}'")
    return [document[name] for name in names]


def check_fields(number: int, what: Any, fields: dict[str, type]) -> Row | None:
    """The row that tells which field an element misfit, or None when it has them all."""
    if not isinstance(what, dict):
        return Row(number, rule="bad_row", value=type(what).__name__, threshold="an object")
    for name, kind in fields.items():
        if not isinstance(what.get(name), kind) or isinstance(what.get(name), bool):
            return Row(number, rule="missing_field", value=f"no '{name}'", threshold=", ".join(fields))
    return None


def require_fitting_rows(rows: Iterator[Row], label: str, layout: str) -> Iterator[Row]:
    """The rows; raises HearsightError when there are some and the first twenty all do not fit."""
    from itertools import chain, islice

    first = list(islice(rows, 20))
    if first and all(row.rule in ("bad_row", "missing_field") for row in first):
        raise wrong_layout_error(label, layout, f"element {first[0].number}: {first[0].value}")
    yield from chain(first, rows)
