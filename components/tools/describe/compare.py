"""Compare what several models say about the images of a folder (``hearsight compare``): a page, a table, and runs in MLflow.

Scores are those of ``hearsight score``, over the images that have references and that every model described, apart from models
that described none; an image about which a model says nothing counts as 0. CLIPScore (Hessel et al., EMNLP 2021, section 3) says
without references how well a caption fits its image, 0 to 2.5.
"""

from __future__ import annotations

import csv
import io
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from components.core.digests import digest_value
from components.core.errors import HearsightError
from components.core.files import publish_bytes, publish_json
from components.core.progress import progress
from components.core.text_encoding import read_text
from components.hub.chosen import choose_model
from components.hub.model import HubModel
from components.metrics.coco import Captions
from components.model_server.client import ModelServerError
from components.reporting.pages import data_uri, render
from components.tools.describe.describer import Describer
from components.tools.describe.folder import ResultNames, describe_folder, find_images
from components.tools.score import score
from components.tracking.record import COMPARISONS
from components.tracking.recorder import record_study
from components.vision.image_files import read_image_file
from components.vision.image_text import ImageTextScore
from components.web.images.opening import make_thumbnail

PAGE, TABLE = "comparison.html", "comparison.json"
REFERENCES = "captions.csv"
"""The file with captions of people, in the folder of the images: a header, and a line ``file,caption`` for each caption."""
TITLES = {
    "described": "described", "sure": "sure", "median_seconds": "median seconds an image", "usd": "US dollars",
    "cider_d": "CIDEr-D", "bleu_4": "BLEU-4", "meteor": "METEOR", "rouge_l": "ROUGE-L", "clip_score": "CLIPScore",
}  # fmt: skip
"""Figure of a model → its title on the page."""
CLIP_WEIGHT, CLIP_PROMPT = 2.5, "A photo depicts "
"""Both of the paper of CLIPScore."""
SIDE = 240
"""px of the longer side of an image on the page."""
_TEMPLATES = Path(__file__).parent / "data"


@dataclass
class ComparedModel:
    """A model and what it says about the images."""

    model: str
    """As it was asked for."""
    version: str
    about: str
    """What it knows, in one line."""
    lines: dict[str, dict[str, Any]] = field(default_factory=dict)
    """File → its line, as of :func:`~components.tools.describe.folder.describe_folder`."""
    figures: dict[str, float] = field(default_factory=dict)
    """Of :data:`TITLES`, those that there are."""


def compare(
    root: Path,
    folder: Path,
    names: Sequence[str],
    out: Path,
    *,
    language: str = "en",
    clip_score: str = "",
    registry: bool = True,
    fail: Callable[[str], None],
) -> list[ComparedModel]:
    """Describe a folder by each model, write page and table to ``out``, and record a run for each model.

    Descriptions are stored at once, in a file for each model, so a run that was ended continues.

    Args:
        names: of models, as of :meth:`Describer.open`.
        clip_score: a model for CLIPScore, as ``ID@COMMIT`` or a folder; empty for none.
        registry: as of :meth:`Describer.open`.
        fail: called once with the error of each image that cannot be described.

    Raises:
        HearsightError: there are no images, a model is not usable, or the references are not readable.
    """
    files, failed = find_images(folder), set[str]()
    if not files:
        raise HearsightError("holds no images", where=folder, hint="name a folder with JPEG, PNG, GIF, WebP, BMP or TIFF files")
    references, results, models = read_references(folder), ResultNames(out), list[ComparedModel]()
    chosen = choose_model(root, HubModel(model=clip_score))
    for name in dict.fromkeys(names):
        describer = Describer.open(root, language, model=name, registry=registry)
        models.append(ComparedModel(name, describer.found.version, describer.trained_on))
        stored = f"{re.sub('[^A-Za-z0-9]+', '-', name).strip('-')}.jsonl"
        path = results.path(stored, f"{folder.resolve()} in {language} by {name}")
        described = describe_folder(describer, folder, path, files, timed=True)
        try:
            for result in progress(described, total=len(files), desc=f"{name}: images"):
                if not result.error:
                    models[-1].lines[result.file] = result.line
                elif result.error not in failed:
                    failed.add(result.error)
                    fail(result.error)
        except ModelServerError as error:
            fail(str(error))  # what it described is compared, and the next call asks for the rest
    working = [model for model in models if model.lines]
    scored = [file for file in files if working and file in references and all(file in model.lines for model in working)]
    notes = {note for model in models for note in _add_figures(model, {file: references[file] for file in scored}, language)}
    if chosen is not None:
        for model in working:
            model.figures["clip_score"] = _clip_score(ImageTextScore(root, chosen), folder, model)
    images = {file: line["sha256"] for file in files for model in working if (line := model.lines.get(file))}
    about = {
        "language": language,
        "folder_sha256": digest_value([images, references]),
        "images": len(images),
        "scored_images": len(scored),
        "references": sum(len(references[file]) for file in scored),
        "clip_score_model": clip_score,
    }
    page, table = (results.path(name, folder) for name in (PAGE, TABLE))
    publish_bytes(page, _page(folder, models, references, list(images), sorted(notes), about).encode())
    publish_json(table, about | {"notes": sorted(notes), "models": [vars(model) for model in models]})
    for model in models:
        params = {"model": model.model, "version": model.version, **about}
        numbers = [(name, float(value), None) for name, value in model.figures.items()]
        record_study(root, COMPARISONS, model.model, params, numbers, [page, table])
    return models


def _page(
    folder: Path,
    models: Sequence[ComparedModel],
    references: Mapping[str, list[str]],
    files: Sequence[str],
    notes: Sequence[str],
    about: Mapping[str, Any],
) -> str:
    images = {file: data_uri(make_thumbnail(read_image_file(folder / file), SIDE)) for file in files}
    titles = {name: title for name, title in TITLES.items() if any(name in model.figures for model in models)}
    shown: dict[str, Any] = {"models": models, "images": images, "references": references, "titles": titles, "notes": notes}
    return render(_TEMPLATES, "compare.html", folder=folder.name, about=about, width="none", **shown)


def read_references(folder: Path) -> dict[str, list[str]]:
    """Return file → captions of :data:`REFERENCES` in a folder; none without it.

    Raises:
        HearsightError: the file has another form.
    """
    found: dict[str, list[str]] = {}
    if not (path := folder / REFERENCES).is_file():
        return found
    hint = "write the header file,caption and then a line for each caption"
    for number, row in enumerate(csv.reader(io.StringIO(read_text(path, hint))), 1):
        if len(row) != 2:
            raise HearsightError(f"has {len(row)} columns, not 2", where=f"{path}, row {number}", hint=hint)
        if number > 1 and row[1].strip():
            found.setdefault(row[0], []).append(row[1])
    return found


def _add_figures(model: ComparedModel, references: Mapping[str, list[str]], language: str) -> set[str]:
    """Set a model's figures except CLIPScore; return what is to be known about its scores."""
    lines = model.lines.values()
    model.figures = {"described": sum(bool(line["caption"]) for line in lines), "sure": sum(line["sure"] for line in lines)}
    if lines:
        model.figures["median_seconds"] = statistics.median(line["seconds"] for line in lines)
    if cost := sum(line.get("usd", 0.0) for line in lines):
        model.figures["usd"] = cost
    if not references or not lines:
        return set()
    captions = Captions(list(references), [model.lines[file]["caption"] for file in references], list(references.values()))
    scores = score(captions, language=language)
    model.figures |= {name: round(value, 6) for name in TITLES if (value := scores.corpus.get(name)) is not None}
    left_out = {f"{TITLES[name]} is left out: {why}" for name, why in scores.left_out.items() if name in TITLES}
    return left_out | {note for note in scores.notes if note.startswith("of one image")}


def _clip_score(cosine: ImageTextScore, folder: Path, model: ComparedModel) -> float:
    scores = []
    for file, line in progress(model.lines.items(), total=len(model.lines), desc=f"{model.model}: CLIPScore"):
        pair = read_image_file(folder / file), CLIP_PROMPT + line["caption"]
        scores.append(CLIP_WEIGHT * max(0.0, cosine.compute(pair)) if line["caption"] else 0.0)
    return round(statistics.fmean(scores), 6)
