"""METEOR 1.5 (Denkowski and Lavie 2014) by its own jar, asked as pycocoevalcap asks it.

The jar and its table of paraphrases come with an installed pycocoevalcap, or from a path. One process answers for all items. It
reads tokens, lower-cased and without punctuation (``-norm`` normalises again, as the published figures do).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from components.metrics.jars import JarProcess, JarUnavailable, find_java, find_packaged_file

JAR = "meteor-1.5.jar"
SECONDS = 300.0
"""One answer; the last, over all items, is the longest."""
_MARK = "|||"


def meteor_jar(given: str | Path = "") -> Path:
    """The jar: the one given (a file, or the folder it is in), else that of an installed pycocoevalcap.

    Raises:
        JarUnavailable: there is none, or its table of paraphrases is not beside it.
    """
    if given:
        path = Path(given) / JAR if Path(given).is_dir() else Path(given)
        if not path.is_file():
            raise JarUnavailable(f"METEOR: there is no {path}")
    else:
        found = find_packaged_file("meteor", JAR)
        if found is None:
            raise JarUnavailable(
                f"METEOR: no {JAR} at hand: `pip install pycocoevalcap==1.2` brings it, or name it with --meteor PATH"
            )
        path = found
    if not (path.parent / "data" / "paraphrase-en.gz").is_file():
        raise JarUnavailable(f"METEOR: data/paraphrase-en.gz is not beside {path}: take the folder whole")
    return path.resolve()


def meteor(
    candidates: Sequence[Sequence[str]],
    references: Sequence[Sequence[Sequence[str]]],
    *,
    jar: str | Path = "",
    java: str = "java",
    seconds: float = SECONDS,
) -> tuple[float, list[float]]:
    """The corpus score and each item's, in 0..1. The corpus score is computed over all items' counts, not their mean.

    Args:
        candidates: one tokenised caption an item.
        references: its tokenised references, at least one an item.
        jar: where ``meteor-1.5.jar`` is; empty: an installed pycocoevalcap's.
        java: the Java program.
        seconds: how long one answer may take.

    Raises:
        ValueError: the two differ in length, or an item has no reference.
        JarUnavailable: Java or the jar is missing, or fails.
    """
    if len(candidates) != len(references) or not all(references):
        raise ValueError("one candidate and at least one reference an item are needed")
    path, program = meteor_jar(jar), find_java(java)
    if not candidates:
        return 0.0, []
    options = ["-Xmx2G", "-Dfile.encoding=UTF-8", "-jar", str(path)]
    command = [program, *options, "-", "-", "-stdio", "-l", "en", "-norm"]
    try:
        with JarProcess(command, path.parent, seconds=seconds) as process:
            counts = [
                process.ask(f" {_MARK} ".join(["SCORE", *map(_line, known), _line(candidate)]))[0]
                for candidate, known in zip(candidates, references, strict=True)
            ]
            answers = process.ask(f" {_MARK} ".join(["EVAL", *counts]), len(counts) + 1)
        scores = [float(answer) for answer in answers]
    except JarUnavailable as failure:
        raise JarUnavailable(f"METEOR: {path.name}: {failure}") from None
    except ValueError as failure:
        raise JarUnavailable(f"METEOR: {path.name} answered what is no number ({failure})") from None
    return scores[-1], scores[:-1]


def _line(tokens: Sequence[str]) -> str:
    """Tokens as one of the line's fields: without its mark, and without a line's end."""
    return " ".join(" ".join(tokens).replace(_MARK, "").splitlines())
