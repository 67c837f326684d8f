"""What the rewriting does to captions without names: ``python -m benchmarks.rewriting FILE [--show N]``.

FILE has a caption a line, such as the published captions of Conceptual Captions, which are rewritten already. A lower-case first
letter becomes a capital, as in an alt-text, and spaces before punctuation are removed. Only the parser and the rewriting run,
with the settings of the dataset ``paper``. A caption counts as changed if it is kept and a step changed it other than those that
remove dates, amounts and numbers, which such captions may contain, and those that correct articles, marks and case. ``--show``
prints up to N changes of each step and N drops of each rule. Times are CPU times of one process.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness import project, show
from components.core.graph import load_graph
from components.core.params import stage_params
from components.knowledge.cascade import Knowledge
from components.language.parser import EnglishParser
from components.language.wordnet import load_wordnet
from components.stages import hypernymize
from components.stages.hypernymize.first_word import second_text
from components.stages.hypernymize.rewrite import Rewritten, Step, rewrite

ALLOWED = frozenset({"dates", "quantities", "articles", "marks", "case"})
"""Steps that a caption without names may need."""
AT_A_TIME = 4096
_SPACED = re.compile(r"\s+([.,;:!?])")


def as_alt(line: str) -> str:
    """Return a caption as an alt-text: first letter capitalised, no space before punctuation."""
    text = _SPACED.sub(r"\1", line.strip())
    return text[:1].upper() + text[1:]


def changes(result: Rewritten) -> list[Step]:
    """Return the steps that a caption without names does not need."""
    return [
        step
        for step in result.steps
        if step.step not in ALLOWED and not (step.step == "modifiers" and step.reason.startswith("number or unit"))
    ]


def rewrite_all(texts: Sequence[str], settings: hypernymize.Params, knowledge: Knowledge) -> tuple[list[Rewritten], float]:
    """Return the rewritten texts and the seconds without the parser's."""
    parser = EnglishParser()
    parses = parser.compute_many(texts)
    again = {text: second for text, parse in zip(texts, parses, strict=True) if (second := second_text(text, parse, knowledge))}
    seconds = dict(zip(again, parser.compute_many(list(again.values())), strict=True))
    begun = time.process_time()
    results = [
        rewrite(parse, knowledge, **{name: getattr(settings, name) for name in hypernymize.REWRITING}, second=seconds.get(text))
        for text, parse in zip(texts, parses, strict=True)
    ]
    return results, time.process_time() - begun


def measure(texts: Sequence[str]) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Return the figures, and the examples of each step and rule."""
    settings = stage_params(project() / "params.yaml", load_graph(project()).params, "paper", "hypernymize", hypernymize.Params)
    assert isinstance(settings, hypernymize.Params)
    knowledge = Knowledge(load_wordnet(project()))
    EnglishParser().compute("A dog.")  # loads the model
    examples: dict[str, list[str]] = defaultdict(list)
    changed, begun, rewriting = 0, time.process_time(), 0.0
    for start in range(0, len(texts), AT_A_TIME):
        part = texts[start : start + AT_A_TIME]
        results, seconds = rewrite_all(part, settings, knowledge)
        rewriting += seconds
        for text, result in zip(part, results, strict=True):
            if result.shortcoming is not None:
                rule, value, _ = result.shortcoming
                examples[rule].append(f"{text} → {result.caption}   ({value})")
                continue
            steps = changes(result)
            changed += bool(steps)
            for step in steps:
                examples[step.step].append(f"{step.before} → {step.after}   ({step.reason})")
    total, cpu = max(len(texts), 1), time.process_time() - begun
    dropped = {rule: len(examples[rule]) for rule in ("unknown_name", "inconsistent", "too_short")}
    figures = {
        "captions": len(texts),
        "changed": changed,
        "changed_share": round(changed / total, 4),
        **dropped,
        "dropped_share": round(sum(dropped.values()) / total, 4),
        "by_step": {name: len(found) for name, found in sorted(examples.items()) if name not in dropped},
        "captions_per_cpu_second": round(len(texts) / cpu) if texts else 0,
        "rewriting_cpu_ms": round(1000 * rewriting / total, 3),
    }
    return figures, examples


def main() -> None:
    """Print the figures, and examples if asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--show", type=int, default=0, metavar="N")
    asked = parser.parse_args()
    try:
        lines = asked.file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        parser.error(f"{asked.file} cannot be read: {error}")
    texts = [as_alt(line) for line in lines if line.strip()]
    figures, examples = measure(texts)
    show(figures)
    for name, found in sorted(examples.items()) if asked.show else ():
        print(f"\n{name}: {len(found)}")
        print("\n".join(f"  {example}" for example in found[: asked.show]))


if __name__ == "__main__":
    main()
