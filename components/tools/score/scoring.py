"""Compute every caption metric of two COCO-format files (``hearsight score``; ``docs/metrics.md``).

Captions are tokenised as for published scores (PTB). Metrics that cannot be computed here are left out, with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.metrics.captions import score_captions
from components.metrics.coco import Captions, ImageId, match_captions, read_candidates, read_references
from components.metrics.jars import JarUnavailable
from components.metrics.meteor import meteor
from components.metrics.ptb import ptb_tokenize, split_multiword_tokens
from components.metrics.spice import spice

METRICS = ("bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_l", "cider", "cider_d", "cider_r", "meteor", "spice")
"""In the order of the result."""
OFF = "off"
"""Given instead of a jar's path: leave the metric out."""


@dataclass
class Scores:
    """The scores of a set of captions."""

    image_ids: list[ImageId]
    corpus: dict[str, float | None] = field(default_factory=dict)
    """Metric → score; None where it is not finite."""
    items: dict[str, Sequence[float]] = field(default_factory=dict)
    """Metric → scores in the order of ``image_ids``."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Metric that was not computed → reason."""
    notes: list[str] = field(default_factory=list)

    def plain(self, *, per_item: bool = True) -> dict[str, Any]:
        """Return the scores as a JSON-able mapping; None for what is not finite."""
        result: dict[str, Any] = {"images": len(self.image_ids), "metrics": self.corpus}
        if per_item:
            result["items"] = [
                {"image_id": image_id} | {name: finite_or_none(scores[index]) for name, scores in self.items.items()}
                for index, image_id in enumerate(self.image_ids)
            ]
        return result | {"left_out": self.left_out, "notes": self.notes}


def finite_or_none(value: float) -> float | None:
    """Return a Python float; None for infinities and NaN, which JSON lacks."""
    return float(value) if math.isfinite(value) else None


def read_captions(references: Path, candidates: Path, *, subset: bool = False) -> Captions:
    """Read two COCO-format files and match them by image.

    Raises:
        HearsightError: a file cannot be read or has another format, or the two do not match.
    """
    known = read_file(references, read_references)
    written = read_file(candidates, read_candidates)
    try:
        return match_captions(known, written, subset=subset)
    except ValueError as problem:
        hint = "pass --subset to score only the images that have one" if str(problem).startswith("no candidate") else ""
        raise HearsightError(str(problem), where=f"{candidates} beside {references}", hint=hint) from None


def read_file(path: Path, read: Callable[[bytes], Any]) -> Any:
    """Return ``read`` of a file's bytes; raise HearsightError that names the file when it cannot be read."""
    try:
        return read(path.read_bytes())
    except OSError as error:
        raise HearsightError(f"cannot be read: {error.strerror or error}", where=path) from None
    except ValueError as problem:
        raise HearsightError(str(problem), where=path) from None


def score(captions: Captions, *, meteor_path: str = "", spice_path: str = "", java: str = "java", language: str = "en") -> Scores:
    """Compute every metric that this machine can.

    Args:
        meteor_path: ``meteor-1.5.jar`` or its folder; empty for pycocoevalcap's; ``off`` for no METEOR.
        spice_path: the folder of ``spice-1.0.jar``; empty or ``off`` for no SPICE.
        language: of the captions, ISO 639-1: METEOR reads its data, and SPICE knows English.
    """
    candidates = [ptb_tokenize(text) for text in captions.candidates]
    references = [[ptb_tokenize(text) for text in known] for known in captions.references]
    scores = Scores(captions.image_ids)
    _ngrams(scores, candidates, references)
    _jars(scores, candidates, references, meteor_path, spice_path, java, language)
    scores.corpus = {name: scores.corpus[name] for name in METRICS if name in scores.corpus}
    scores.items = {name: scores.items[name] for name in METRICS if name in scores.items}
    empty = [image_id for image_id, tokens in zip(captions.image_ids, candidates, strict=True) if not tokens]
    if empty:
        scores.notes.append(f"{len(empty)} of the candidates have no word and score 0 (first: image {empty[0]!r})")
    bare = sum(not tokens for known in references for tokens in known)
    if bare:
        scores.notes.append(f"{bare} of the references have no word")
    if len(candidates) == 1:
        scores.notes.append("of one image CIDEr is 0: every n-gram of its references is in every document, so its idf is log 1")
    return scores


def _ngrams(scores: Scores, candidates: list[list[str]], references: list[list[list[str]]]) -> None:
    # The reference code splits compound tokens for BLEU and CIDEr, but not for ROUGE.
    parts = (
        [split_multiword_tokens(tokens) for tokens in candidates],
        [[split_multiword_tokens(tokens) for tokens in known] for known in references],
    )
    scored = score_captions(*parts)
    corpus, items = dict(scored.corpus), dict(scored.items)
    if parts != (candidates, references):
        unsplit = score_captions(candidates, references)
        corpus["rouge_l"], items["rouge_l"] = unsplit.corpus["rouge_l"], unsplit.items["rouge_l"]
    scores.corpus |= {name: finite_or_none(value) for name, value in corpus.items()}
    scores.items |= {name: [float(value) for value in values] for name, values in items.items()}


def _jars(
    scores: Scores,
    candidates: list[list[str]],
    references: list[list[list[str]]],
    meteor_path: str,
    spice_path: str,
    java: str,
    language: str,
) -> None:
    if meteor_path == OFF:
        scores.left_out["meteor"] = "not asked for"
    else:
        try:
            mean, per_item = meteor(candidates, references, language=language, jar=meteor_path, java=java)
            scores.corpus["meteor"], scores.items["meteor"] = finite_or_none(mean), per_item
        except JarUnavailable as problem:
            scores.left_out["meteor"] = str(problem)
    if spice_path in ("", OFF):
        scores.left_out["spice"] = "not asked for: name the folder of spice-1.0.jar with --spice PATH"
    elif language != "en":
        scores.left_out["spice"] = f"SPICE reads English, and these captions are in '{language}'"
    else:
        try:
            result = spice(candidates, references, spice_path, java=java)
            scores.corpus["spice"], scores.items["spice"] = finite_or_none(result.mean), result.items
        except JarUnavailable as problem:
            scores.left_out["spice"] = str(problem)
