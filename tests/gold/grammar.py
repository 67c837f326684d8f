"""Grammar that a rewritten caption must keep, checked without the parser that made it: ``python -m tests.gold.grammar``.

Without arguments it looks at the captions of ``data/english/hypernymize``, which a run of the sample leaves there.
"""

from __future__ import annotations

import re
import sys

from components.language.words import inflector

_ENGINE = inflector()
_ARTICLES = r"(?:a|an|the)"
_DOUBLED = re.compile(rf"\b{_ARTICLES} {_ARTICLES}\b")
_DANGLING = re.compile(r"\b(?:of|at|from|with|for|(?<!vitamin )(?<!hepatitis )a|an|the|and|or)\s*(?:[.,;!?]|$)")
_REPEATED = re.compile(r"\b(of|at|in|on|from|with|for|and|or|by) \1\b")
_AFTER = "on|in|at|of|with|and|or|is|are|was|were|by|for|from|to|near|who|that|which|under|over"
_COUNTED = re.compile(rf"\b(?:a|an) ([a-z]+s)\b(?=$|[.,;]| (?:{_AFTER})\b)")
_SINGULAR = frozenset({"bus", "cactus", "gas", "lens", "series", "species", "walrus", "iris", "corps", "headquarters"})


def faults(caption: str) -> list[str]:
    """What is wrong with a caption, in words; empty when nothing is."""
    result = []
    for what, pattern in (("doubled article", _DOUBLED), ("dangling word", _DANGLING), ("word twice", _REPEATED)):
        if match := pattern.search(caption):
            result.append(f"{what}: {match.group()}")
    for match in _COUNTED.finditer(caption):
        noun = match.group(1)
        if noun not in _SINGULAR and not noun.endswith(("ss", "us", "is")) and _ENGINE.singular_noun(noun):
            result.append(f"article before a plural: {match.group()}")
    if "  " in caption or re.search(r"\s[.,;!?]|\(\s|\s\)", caption):
        result.append("a space too many")
    return result


def main() -> None:
    """Print each faulty caption of the sample and their share."""
    from components.core.stage_output import StageOutput
    from tests.support import PROJECT

    captions = StageOutput(PROJECT / "data" / "english" / "hypernymize").table(["caption"]).column("caption").to_pylist()
    wrong = [(caption, faults(caption)) for caption in captions if faults(caption)]
    for caption, why in wrong:
        print(f"{caption}: {'; '.join(why)}")
    print(f"{len(captions) - len(wrong)} of {len(captions)} without a fault")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
