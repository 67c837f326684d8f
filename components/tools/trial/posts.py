"""Post captions tried: what the stage ``describe`` makes of each, without pictures, posts or a run.

The same function and parameters as the stage. A line is a JSON string, since captions have lines of their own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from components.stages import extract_descriptions
from components.stages.extract_descriptions.extract import extract
from components.stages.extract_descriptions.rules import load_rules

MEND = 'write each caption as one JSON string a line, for example "#PraCegoVer: Foto de um gato.\\n#gatos"'


class Answer(NamedTuple):
    """What a line gave: a result, or what is wrong with the line."""

    result: dict[str, Any] | None
    problem: str


class PostTrial:
    """The rules of one dataset's parameters.

    Raises:
        HearsightError: the dataset has no ``describe``, or its parameters do not stand.
    """

    def __init__(self, root: Path, dataset: str) -> None:
        from components.core.graph import load_graph
        from components.core.params import stage_params

        graph = load_graph(root)
        graph.require("extract_descriptions", dataset)
        settings: Any = stage_params(
            root / "params.yaml", graph.params, dataset, "extract_descriptions", extract_descriptions.Params
        )
        self._params: extract_descriptions.Params = settings
        self._rules = load_rules(self._params.language)

    def of(self, caption: str) -> dict[str, Any]:
        """``raw``, ``description`` (None when malformed), ``reason`` (None when well formed), and the ``steps``."""
        from components.language.identification import language_probability

        params = self._params
        found = extract(
            caption,
            self._rules,
            language_probability,
            min_words=params.min_words,
            min_language=params.min_language,
            max_characters=params.max_characters,
        )
        steps = [step._asdict() for step in found.steps]
        return {"raw": caption, "description": found.text, "reason": found.reason, "steps": steps}

    def lines(self, stream: Iterable[bytes]) -> Iterator[Answer]:
        """One answer a line of UTF-8, in order; a line that is no JSON string is answered by what is wrong with it."""
        for number, line in enumerate(stream, 1):
            try:
                caption = json.loads(line)
            except (ValueError, RecursionError) as error:
                yield Answer(None, f"line {number}: no JSON: {str(error).splitlines()[0]} ({MEND})")
                continue
            if not isinstance(caption, str):
                yield Answer(None, f"line {number}: JSON, but no string ({MEND})")
            else:
                yield Answer(self.of(caption), "")


def text_of(result: dict[str, Any]) -> str:
    """A result as a person reads it."""
    lines = [f"raw          {result['raw']!r}"]
    lines += [f"  {step['step']:<12} {step['after']!r}   ({step['reason']})" for step in result["steps"]]
    if result["description"] is None:
        lines.append(f"malformed    {result['reason']}")
    else:
        lines.append(f"description  {result['description']}")
    return "\n".join(lines) + "\n"
