"""Every caption metric of two COCO-format files (``hearsight score``; ``docs/metrics.md``).

Captions go through the published figures' tokeniser; what cannot be computed here is left out, and the result says why.
"""

from __future__ import annotations

import importlib
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

METRICS = ("bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_l", "cider", "cider_d", "cider_r", "meteor", "spice", "scene_graph_f")
"""In the order they are told."""
OFF = "off"
"""In place of a jar's path: leave the metric out."""


@dataclass
class Scores:
    """What was measured of a set of captions."""

    image_ids: list[ImageId]
    corpus: dict[str, float | None] = field(default_factory=dict)
    """By metric; None where it is not a number."""
    items: dict[str, Sequence[float]] = field(default_factory=dict)
    """By metric, in the order of ``image_ids``."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Metrics that were not computed → why."""
    notes: list[str] = field(default_factory=list)

    def plain(self, *, per_item: bool = True) -> dict[str, Any]:
        """The result as JSON has it; what is not a number is null."""
        told: dict[str, Any] = {"images": len(self.image_ids), "metrics": self.corpus}
        if per_item:
            told["items"] = [
                {"image_id": image_id} | {name: number(scores[at]) for name, scores in self.items.items()}
                for at, image_id in enumerate(self.image_ids)
            ]
        return told | {"left_out": self.left_out, "notes": self.notes}


def number(value: float) -> float | None:
    """A Python number; None for what JSON has no word for."""
    return float(value) if math.isfinite(value) else None


def read_captions(references: Path, candidates: Path, *, subset: bool = False) -> Captions:
    """Two COCO-format files, matched by image.

    Raises:
        HearsightError: a file cannot be read, is not of its format, or the two do not match.
    """
    known = from_file(references, read_references)
    written = from_file(candidates, read_candidates)
    try:
        return match_captions(known, written, subset=subset)
    except ValueError as problem:
        hint = "pass --subset to score only the images that have one" if str(problem).startswith("no candidate") else ""
        raise HearsightError(str(problem), where=f"{candidates} beside {references}", hint=hint) from None


def from_file(path: Path, read: Callable[[bytes], Any]) -> Any:
    """What ``read`` makes of a file; a :class:`HearsightError` that names the file where it does not."""
    try:
        return read(path.read_bytes())
    except OSError as error:
        raise HearsightError(f"cannot be read: {error.strerror or error}", where=path) from None
    except ValueError as problem:
        raise HearsightError(str(problem), where=path) from None


def score(captions: Captions, *, meteor_path: str = "", spice_path: str = "", java: str = "java", language: str = "en") -> Scores:
    """Every metric that can be computed here.

    Args:
        captions: the items.
        meteor_path: ``meteor-1.5.jar`` or its folder; empty: an installed pycocoevalcap's; ``off``: none.
        spice_path: the folder of ``spice-1.0.jar``; empty or ``off``: none.
        java: the Java program.
        language: the captions', ISO 639-1; the scene-graph score parses them.
    """
    candidates = [ptb_tokenize(text) for text in captions.candidates]
    references = [[ptb_tokenize(text) for text in known] for known in captions.references]
    scores = Scores(captions.image_ids)
    _ngrams(scores, candidates, references)
    _jars(scores, candidates, references, meteor_path, spice_path, java)
    _scene_graph(scores, captions, language)
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
    # Tokens of several parts are these to the reference's BLEU and CIDEr, and one to its ROUGE.
    parts = (
        [split_multiword_tokens(tokens) for tokens in candidates],
        [[split_multiword_tokens(tokens) for tokens in known] for known in references],
    )
    found = score_captions(*parts)
    corpus, items = dict(found.corpus), dict(found.items)
    if parts != (candidates, references):
        whole = score_captions(candidates, references)
        corpus["rouge_l"], items["rouge_l"] = whole.corpus["rouge_l"], whole.items["rouge_l"]
    scores.corpus |= {name: number(value) for name, value in corpus.items()}
    scores.items |= {name: [float(value) for value in values] for name, values in items.items()}


def _jars(
    scores: Scores, candidates: list[list[str]], references: list[list[list[str]]], meteor_path: str, spice_path: str, java: str
) -> None:
    if meteor_path == OFF:
        scores.left_out["meteor"] = "not asked for"
    else:
        try:
            mean, each = meteor(candidates, references, jar=meteor_path, java=java)
            scores.corpus["meteor"], scores.items["meteor"] = number(mean), each
        except JarUnavailable as problem:
            scores.left_out["meteor"] = str(problem)
    if spice_path in ("", OFF):
        scores.left_out["spice"] = "not asked for: name the folder of spice-1.0.jar with --spice PATH"
    else:
        try:
            found = spice(candidates, references, spice_path, java=java)
            scores.corpus["spice"], scores.items["spice"] = number(found.mean), found.items
        except JarUnavailable as problem:
            scores.left_out["spice"] = str(problem)


def _scene_graph(scores: Scores, captions: Captions, language: str) -> None:
    try:
        graphs = importlib.import_module("components.metrics.scene_graph")
        parses = importlib.import_module("components.metrics.caption_parses")
        lexicon = importlib.import_module("components.language.metric_lexicon")
    except ImportError as problem:
        scores.left_out["scene_graph_f"] = f"cannot be imported ({problem.name or problem})"
        return
    every = dict.fromkeys([*captions.candidates, *(text for known in captions.references for text in known)])
    words = lexicon.load_lexicon()
    found = graphs.scene_graph_f(captions.candidates, captions.references, parses.parse_captions(every, language), words)
    if found.mean is None:
        scores.left_out["scene_graph_f"] = found.reason
        return
    scores.corpus["scene_graph_f"], scores.items["scene_graph_f"] = number(found.mean), [item.f for item in found.items]
    if not found.synonyms:
        scores.notes.append(
            "scene_graph_f without a dictionary: equal lemmas alone match (get it: `hearsight data --dictionary`)"
        )
