"""Captions as they are written and as they are said."""

from __future__ import annotations

from tests.support import PROJECT

HERE = PROJECT / "tests" / "speech" / "text_normalization"


def cases() -> list[tuple[str, str, str, str]]:
    """(language, class, written, said); what is said begins with ``!`` where it is the rule of what cannot be."""
    results = []
    for path in sorted(HERE.glob("*.txt")):
        language, kind = path.stem[:2], path.stem[3:]
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("## "):
                kind = line[3:]
            elif line:
                written, result = line.split(" => ")
                results.append((language, kind, written, result))
    return results


CASES = cases()
