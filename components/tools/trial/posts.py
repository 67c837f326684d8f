"""Run ``extract_descriptions`` on single captions, with the stage's own function and parameters.

Each line of the input is a JSON string, since captions contain line breaks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from components.core.graph import load_graph
from components.execution.runner import stage_settings
from components.stages.extract_descriptions import Params
from components.stages.extract_descriptions.extract import extract
from components.stages.extract_descriptions.rules import load_rules

HINT = 'write each caption as one JSON string a line, for example "#PraCegoVer: Foto de um gato.\\n#gatos"'


class Answer(NamedTuple):
    """The result of a line, or its problem."""

    result: dict[str, Any] | None
    problem: str


class PostTrial:
    """Extraction with one dataset's parameters.

    Raises:
        HearsightError: the dataset does not take ``extract_descriptions``, or its parameters are not valid.
    """

    def __init__(self, root: Path, dataset: str) -> None:
        self._params: Params = stage_settings(load_graph(root), "extract_descriptions", dataset)
        self._rules = load_rules(self._params.language)

    def of(self, caption: str) -> dict[str, Any]:
        """Return ``raw``, ``description`` (None when malformed), ``reason`` (None when well-formed), and the ``steps``."""
        # The language model loads only when a caption is given.
        from components.language.identification import language_probability

        params = self._params
        extracted = extract(
            caption,
            self._rules,
            language_probability,
            min_words=params.min_words,
            min_language=params.min_language,
            max_characters=params.max_characters,
        )
        steps = [step._asdict() for step in extracted.steps]
        return {"raw": caption, "description": extracted.text, "reason": extracted.reason, "steps": steps}

    def lines(self, stream: Iterable[bytes]) -> Iterator[Answer]:
        """Yield one answer per line of UTF-8, in order."""
        for number, line in enumerate(stream, 1):
            try:
                caption = json.loads(line)
            except (ValueError, RecursionError) as error:
                yield Answer(None, f"line {number}: no JSON: {str(error).splitlines()[0]} ({HINT})")
                continue
            if not isinstance(caption, str):
                yield Answer(None, f"line {number}: JSON, but no string ({HINT})")
            else:
                yield Answer(self.of(caption), "")


def text_of(result: dict[str, Any]) -> str:
    """Format a result for people."""
    lines = [f"raw          {result['raw']!r}"]
    lines += [f"  {step['step']:<12} {step['after']!r}   ({step['reason']})" for step in result["steps"]]
    if result["description"] is None:
        lines.append(f"malformed    {result['reason']}")
    else:
        lines.append(f"description  {result['description']}")
    return "\n".join(lines) + "\n"
