"""The English inflector, without the checks of its arguments that inflect compiles into itself when it is imported."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def inflector() -> Any:
    """Return inflect's engine: plurals, articles, numbers in words.

    inflect rewrites and compiles each of its methods with typeguard at import: 4 s of CPU in every process. Without that, an
    argument of a wrong type is not refused; mypy checks ours.
    """
    import typeguard

    check = typeguard.typechecked
    typeguard.typechecked = lambda method: method  # type: ignore[assignment]
    try:
        import inflect
    finally:
        typeguard.typechecked = check
    return inflect.engine()
