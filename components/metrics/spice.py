"""SPICE 1.0 (Anderson et al. 2016) through its own jar: F-scores over scene graph tuples.

The jar needs Stanford CoreNLP 3.6.0 and its models in ``lib/`` beside it (from its ``get_stanford_models.sh``, or pycocoevalcap's
``get_stanford_models``); no package registry has them. It reads a JSON list of ``image_id``, ``test`` and ``refs``, and writes
one of ``image_id`` and ``scores``: f, pr and re for each kind of tuple ("All", "Object", "Relation", ...). The corpus score is
the mean f of "All".
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.metrics.jars import JarUnavailable, jar_command, run_jar

JAR, CORENLP = "spice-1.0.jar", "stanford-corenlp-3.6.0"
ALL = "All"
SECONDS = 3600.0
"""Timeout of the whole run; parsing takes most of it."""


@dataclass(frozen=True)
class SpiceScores:
    """The corpus score and each item's, 0..1."""

    mean: float
    items: list[float]


def spice_jar(folder: str | Path) -> Path:
    """Return the jar in a folder, with CoreNLP in ``lib/`` beside it.

    Raises:
        JarUnavailable: the jar or CoreNLP is missing; the message names it.
    """
    path = Path(folder) if Path(folder).name == JAR else Path(folder) / JAR
    if not path.is_file():
        raise JarUnavailable(f"SPICE: {path} does not exist: give the folder of {JAR} with --spice PATH")
    missing = [name for name in (f"{CORENLP}.jar", f"{CORENLP}-models.jar") if not (path.parent / "lib" / name).is_file()]
    if missing:
        raise JarUnavailable(
            f"SPICE: {' and '.join(missing)} not in {path.parent / 'lib'}: copy them from stanford-corenlp-full-2015-12-09.zip"
        )
    return path.resolve()


def spice_input(candidates: Sequence[Sequence[str]], references: Sequence[Sequence[Sequence[str]]]) -> list[dict[str, Any]]:
    """Return the jar's input; items are numbered from 0."""
    return [
        {"image_id": number, "test": " ".join(candidate), "refs": [" ".join(reference) for reference in known]}
        for number, (candidate, known) in enumerate(zip(candidates, references, strict=True))
    ]


def read_spice(output: str, items: int) -> SpiceScores:
    """Return the scores in the jar's output.

    Args:
        output: the text of its output file.
        items: expected number of items.

    Raises:
        ValueError: the format is wrong, or an item is missing or duplicate.
    """
    try:
        rows = json.loads(output)
        by_image = {row["image_id"]: _number(row["scores"][ALL]["f"]) for row in rows}
        scores = [by_image[number] for number in range(items)]
    except json.JSONDecodeError as error:
        raise ValueError(f"its output is not JSON: {error}") from None
    except KeyError as error:
        raise ValueError(f"its output has no {error}") from None
    except (TypeError, AttributeError):
        raise ValueError("its output is not a list of image_id and scores") from None
    if len(rows) != items:
        raise ValueError(f"its output has {len(rows)} items for {items}")
    return SpiceScores(math.fsum(scores) / items if items else 0.0, scores)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def spice(
    candidates: Sequence[Sequence[str]],
    references: Sequence[Sequence[Sequence[str]]],
    folder: str | Path,
    *,
    java: str = "java",
    seconds: float = SECONDS,
) -> SpiceScores:
    """Return the scores of all items.

    Args:
        candidates: one tokenised caption an item.
        references: tokenised references, at least one an item.
        folder: with ``spice-1.0.jar`` and ``lib/``.
        java: the Java program; the jar was written for Java 8.
        seconds: timeout.

    Raises:
        ValueError: lengths differ, or an item has no reference.
        JarUnavailable: Java, the jar or CoreNLP is missing, or the run fails.
    """
    if len(candidates) != len(references) or not all(references):
        raise ValueError("one candidate and at least one reference an item are needed")
    path = spice_jar(folder)
    command = jar_command(java, path, "8G")
    if not candidates:
        return SpiceScores(0.0, [])
    with tempfile.TemporaryDirectory() as scratch:
        input_path, output_path = Path(scratch, "in.json"), Path(scratch, "out.json")
        input_path.write_text(json.dumps(spice_input(candidates, references)), encoding="utf-8")
        command += [str(input_path), "-out", str(output_path), "-subset", "-silent"]
        try:
            run_jar(command, path.parent, seconds)
            if not output_path.is_file():
                raise JarUnavailable("it wrote no output")
            return read_spice(output_path.read_text(encoding="utf-8", errors="replace"), len(candidates))
        except ValueError as failure:
            raise JarUnavailable(f"SPICE: {failure}") from None
