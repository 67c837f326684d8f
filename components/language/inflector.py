"""The English inflector (inflect) without its run-time type checks, which make its import slow."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def inflector() -> Any:
    """Return inflect's engine: plurals, articles, numbers in words.

    inflect compiles each of its methods with typeguard at import: 4 s of CPU per process. Without that, arguments of wrong types
    are not refused; mypy checks the calls.
    """
    # Imported on use: typeguard must be patched before inflect loads.
    import typeguard

    check = typeguard.typechecked
    typeguard.typechecked = lambda method: method  # type: ignore[assignment]
    try:
        # On use: slow to load.
        import inflect
    finally:
        typeguard.typechecked = check
    return inflect.engine()
