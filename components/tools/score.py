"""Compute every caption metric of two COCO-format files (``hearsight score``; ``docs/metrics.md``); write files of COCO's server.

Captions are tokenised as for published scores (PTB). Metrics that cannot be computed here are left out, with the reason.

COCO's caption server reads ``captions_val2014_<algorithm>_results.json`` and ``captions_test2014_<algorithm>_results.json`` from
the top of one zip, and needs both even for test scores alone. Each is a list of ``image_id`` (a number) and ``caption`` for every
image of its split: 40,504 and 40,775.
"""

from __future__ import annotations

import io
import json
import math
import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.files import disk_error, publish_bytes
from components.metrics.captions import score_captions
from components.metrics.coco import Captions, ImageId, match_captions, read_candidates, read_json, read_references
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


SPLITS = {"val2014": 40_504, "test2014": 40_775}
"""Images of each split."""
_NAME = re.compile(r"[A-Za-z0-9.-]+")


def write_submission(candidates: Path, split: str, algorithm: str, out: Path, images: Path | None = None) -> dict[str, Any]:
    """Write one split's results, and a zip of the splits written so far; return what was written.

    Args:
        split: ``val2014`` or ``test2014``.
        algorithm: a name of letters, digits, full stops and hyphens (underscores separate the parts of file names).
        out: the folder, created if necessary; the algorithm's file of the other split there is zipped too.
        images: the split's image ids, which the captions must match: COCO's JSON (``image_info_test2014.json``),
            a JSON list, or one id per line.

    Raises:
        HearsightError: a name, a file or an id is not valid; nothing is written then.
    """
    if split not in SPLITS:
        raise HearsightError(f"'{split}' is no split of the server", where="--split", hint=f"give {' or '.join(SPLITS)}")
    if not _NAME.fullmatch(algorithm):
        hint = "use letters, digits, full stops and hyphens"
        raise HearsightError(f"'{algorithm}' cannot name the server's files", where="--algorithm", hint=hint)
    captions: dict[int, str] = read_file(candidates, _with_numeric_ids)
    if images is not None:
        _require_images(captions, read_file(images, _image_ids), candidates, images)
    rows = [{"image_id": image_id, "caption": text} for image_id, text in sorted(captions.items())]
    file = out / f"captions_{split}_{algorithm}_results.json"
    bundle = out / f"{algorithm}_results.zip"
    try:
        out.mkdir(parents=True, exist_ok=True)
        publish_bytes(file, json.dumps(rows, ensure_ascii=True, separators=(",", ":")).encode())
        written = [path for name in SPLITS if (path := out / f"captions_{name}_{algorithm}_results.json").is_file()]
        publish_bytes(bundle, _zipped(written))
    except OSError as error:
        raise disk_error(error, out) from error
    missing = [name for name in SPLITS if name not in {path.name.split("_")[1] for path in written}]
    result: dict[str, Any] = {"file": str(file), "zip": str(bundle), "captions": len(rows), "images_of_the_split": SPLITS[split]}
    if len(rows) != SPLITS[split]:
        result["note"] = "the server takes a caption for every image of the split, no more and no fewer"
    if missing:
        result["lacking"] = f"{' and '.join(missing)}: the server needs both splits in one zip"
    return result


def _with_numeric_ids(data: bytes) -> dict[int, str]:
    captions = read_candidates(data)
    for image_id, text in captions.items():
        if not isinstance(image_id, int):
            raise ValueError(f"has image_id {image_id!r}, where the server's ids are numbers")
        if not text.strip():
            raise ValueError(f"has an empty caption for image {image_id}")
    return {int(image_id): text for image_id, text in captions.items()}


def _image_ids(data: bytes) -> list[int]:
    try:
        content = read_json(data)
    except ValueError:
        content = data.decode("utf-8").split()  # one id per line
    if isinstance(content, dict):
        content = [image.get("id") if isinstance(image, dict) else image for image in content.get("images") or []]
    try:
        ids = [int(str(item)) for item in content] if isinstance(content, list) else []
    except ValueError:
        raise ValueError("holds an invalid image id: give COCO's JSON, a JSON list of numbers, or one number per line") from None
    if not ids:
        raise ValueError("has no image ids")
    return ids


def _require_images(captions: dict[int, str], image_ids: list[int], candidates: Path, images: Path) -> None:
    for what, ids in (
        ("no caption for", [image_id for image_id in image_ids if image_id not in captions]),
        ("captions for images that are not in it:", sorted(captions.keys() - set(image_ids))),
    ):
        if ids:
            first = ", ".join(map(str, ids[:5])) + (", ..." if len(ids) > 5 else "")
            raise HearsightError(f"{what} {len(ids)} of {len(image_ids)} images ({first})", where=f"{candidates} beside {images}")


def _zipped(files: list[Path]) -> bytes:
    """Return a zip with the files at its top; equal content gives equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as bundle:
        for file in files:
            bundle.writestr(zipfile.ZipInfo(file.name, date_time=(1980, 1, 1, 0, 0, 0)), file.read_bytes(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
