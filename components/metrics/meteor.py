"""METEOR 1.5 (Denkowski and Lavie 2014) through its own jar, called as in pycocoevalcap.

The jar and the English paraphrase table come with an installed pycocoevalcap, or from a path. One process scores all items. It
reads tokens, lower-cased and without punctuation (``-norm`` normalises again, as for published figures).

The jar chooses by language. Those of ``TABLES`` have tuned parameters, a stemmer (not Czech), function words, and paraphrases
from a table beside the jar; English has synonyms too. Those of ``STEMMERS``, Portuguese among them, have exact and stem matches
and the language-independent parameters (alpha .75, beta 1.4, gamma .7, delta .5; a stem counts half) and none of the rest, and
need ``-lower``, because the jar has no rules for ``-norm``. No other language is scored.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from components.metrics.jars import JarUnavailable, find_packaged_file, jar_command, run_jar

JAR = "meteor-1.5.jar"
TABLES = {"en": "en", "cs": "cz", "de": "de", "es": "es", "fr": "fr", "ru": "ru"}
"""ISO 639-1 code → METEOR's, of the languages with a paraphrase table (``data/paraphrase-<code>.gz``)."""
STEMMERS = {code: code for code in ("da", "fi", "hu", "it", "nl", "no", "pt", "ro", "tr")} | {"sv": "se"}
"""ISO 639-1 code → METEOR's, of the languages with a stemmer only."""
SECONDS = 3600.0
"""Timeout of each of the two runs: one counts matches, the other scores the counts."""
_SEPARATOR = "|||"


class LanguageUnavailable(JarUnavailable):
    """METEOR has no data for a language, or the data is not beside the jar."""


def find_meteor(given: str | Path = "") -> Path:
    """Return the path of the jar: the given one (a file or its folder), else that of an installed pycocoevalcap.

    Raises:
        JarUnavailable: the jar is missing.
    """
    if given:
        path = Path(given) / JAR if Path(given).is_dir() else Path(given)
        if not path.is_file():
            raise JarUnavailable(f"METEOR: {path} does not exist")
    else:
        bundled = find_packaged_file("meteor", JAR)
        if bundled is None:
            raise JarUnavailable(
                f"METEOR: {JAR} was not found: run `pip install pycocoevalcap==1.2`, or give its path with --meteor PATH"
            )
        path = bundled
    return path.resolve()


def meteor_jar(given: str | Path = "", language: str = "en") -> Path:
    """Return the path of a jar (:func:`find_meteor`) that has what it needs for a language (ISO 639-1).

    Raises:
        JarUnavailable: the jar is missing.
        LanguageUnavailable: METEOR has no data for the language, or its paraphrase table is not beside the jar.
    """
    path = find_meteor(given)
    if language in TABLES:
        table = f"data/paraphrase-{TABLES[language]}.gz"
        if not (path.parent / table).is_file():
            raise LanguageUnavailable(f"METEOR: {table} is not beside {path}: copy the complete folder of METEOR 1.5")
    elif language not in STEMMERS:
        known = ", ".join(sorted({*TABLES, *STEMMERS}))
        raise LanguageUnavailable(f"METEOR: it has no data for the language '{language}': it has some for {known}")
    return path


def meteor(
    candidates: Sequence[Sequence[str]],
    references: Sequence[Sequence[Sequence[str]]],
    *,
    language: str = "en",
    jar: str | Path = "",
    java: str = "java",
    seconds: float = SECONDS,
) -> tuple[float, list[float]]:
    """Return the corpus score and each item's, in 0..1. The corpus score is computed from all items' counts, not as their
    mean.

    Args:
        candidates: one tokenised caption an item.
        references: tokenised references, at least one an item.
        language: of the captions, ISO 639-1.
        jar: path of ``meteor-1.5.jar``; empty: an installed pycocoevalcap's.
        java: the Java program.
        seconds: timeout of each run.

    Raises:
        ValueError: lengths differ, or an item has no reference.
        JarUnavailable: Java, the jar or its data for the language is missing, or the jar fails.
    """
    if len(candidates) != len(references) or not all(references):
        raise ValueError("one candidate and at least one reference an item are needed")
    path = meteor_jar(jar, language)
    command = jar_command(java, path, "2G")
    if not candidates:
        return 0.0, []
    command += ["-", "-", "-stdio", "-l"]
    command += [TABLES[language], "-norm"] if language in TABLES else [STEMMERS[language], "-lower"]
    try:
        asked = [
            f" {_SEPARATOR} ".join(["SCORE", *map(_line, known), _line(one)])
            for one, known in zip(candidates, references, strict=True)
        ]
        counts = run_jar(command, path.parent, seconds, asked)
        answers = run_jar(command, path.parent, seconds, [f" {_SEPARATOR} ".join(["EVAL", *counts])])
        if len(answers) <= len(counts):
            raise JarUnavailable(f"{len(answers)} answers for {len(counts)} captions")
        scores = [float(answer) for answer in answers]
    except JarUnavailable as failure:
        raise JarUnavailable(f"METEOR: {path.name}: {failure}") from None
    except ValueError as failure:
        raise JarUnavailable(f"METEOR: {path.name} did not answer with a number ({failure})") from None
    return scores[-1], scores[:-1]


def _line(tokens: Sequence[str]) -> str:
    """Return tokens as one field of a line, without the separator and without line breaks."""
    return " ".join(" ".join(tokens).replace(_SEPARATOR, "").splitlines())
