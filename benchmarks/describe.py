"""Descriptions: seconds an image, and how well confidences separate good captions: `python -m benchmarks.describe [--root .]`.

Run it in a project that has run. A caption is good if its CIDEr-D, among the captions of its split, is at least .5. The
thresholds of ``components/tools/describe/describer.py`` were chosen with the tables of both splits in view, so the test
splits' figures may be slightly too good.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.harness import show
from components.core.graph import load_graph
from components.core.stage_output import StageOutput
from components.metrics.captions import score_captions
from components.metrics.tokens import tokenize
from components.search.searcher import Searcher
from components.stages.evaluate_captioners.inputs import read_rows
from components.stages.evaluate_captioners.scoring import tokenize_caption
from components.stages.evaluate_captioners.writing import read_features
from components.tools.describe.describer import Describer
from components.tools.describe.models import CAPTIONERS, Models
from components.tools.describe.support import NEAREST, TrainingImages, WordWeights
from components.tools.describe.writers import SURE, SURE_BY_LIKELIHOOD, Evidence
from components.vision.captioning import Captioner

GOOD = 0.5
"""CIDEr-D from which a caption counts as good."""


def separation(scores: NDArray[np.float64], good: NDArray[np.bool_]) -> float:
    """Return the probability that a good caption has a higher confidence than another (area under the ROC curve)."""
    yes, no = scores[good], scores[~good]
    return float((yes[:, None] > no).mean() + 0.5 * (yes[:, None] == no).mean()) if len(yes) and len(no) else float("nan")


def row(name: str, split: str, confidences: Sequence[float], ciders: Sequence[float], threshold: float) -> dict[str, Any]:
    """Return a row of the table: separation, share that is sure, and of both parts the share of good captions."""
    scores, values = np.array(confidences), np.array(ciders)
    good, sure = values >= GOOD, scores >= threshold
    of_sure, of_others = (round(float(good[part].mean()), 2) if part.any() else "–" for part in (sure, ~sure))
    figures = {"model": name, "split": split, "images": len(scores), "separation": round(separation(scores, good), 2)}
    return figures | {"sure": round(float(sure.mean()), 2), "good, of sure": of_sure, "of others": of_others}


def of_captioner(models: Models, cell: str, split: str) -> tuple[list[Evidence], list[float]]:
    """Return the evidence and CIDEr-D of each caption that a cell writes for a split of its own set."""
    found = models.captioner(models.graph.cells[cell])
    assert found is not None
    prepared = models.training_set(found.set)
    assert prepared is not None
    rows = read_rows(prepared, split)
    references: dict[str, dict[str, None]] = {}
    for each in rows:
        references.setdefault(each["group"], {})[each["caption"]] = None
    images = list({each["image_sha256"]: each for each in reversed(rows)}.values())
    seen = [read_features(prepared, each["media"]) for each in images]
    captioner = Captioner(found.folder)
    training = TrainingImages(prepared, captioner.config["encoder"])
    written = [captioner.write([each])[0] for each in seen]
    evidence = [
        Evidence(caption.likelihood, training.support(caption.words, training.mean(each)), NEAREST)
        for caption, each in zip(written, seen, strict=True)
    ]
    wanted = [[tokenize_caption(text) for text in references[each["group"]]] for each in images]
    scores = score_captions([tokenize_caption(caption.text) for caption in written], wanted).items["cider_d"]
    return evidence, scores.tolist()


def of_similar(folder: Path, language: str, split: str) -> tuple[list[Evidence], list[float]]:
    """Return the same of captions of similar images: those of a split are described by the splits before it."""
    searcher = Searcher.open(folder)
    known = {"validation": ["train"], "test": ["train", "validation"]}[split]
    items = [searcher.index.item(place) for place in range(len(searcher.index))]
    texts = [[each["caption"] for each in item["captions"] if each["language"] == language] for item in items]
    usable = [place for place, item in enumerate(items) if item["kind"] == "image" and texts[place]]
    asked = [place for place in usable if items[place]["splits"] == [split]]
    others = [place for place in usable if set(items[place]["splits"]) & set(known)]
    words = {place: {word for text in texts[place] for word in tokenize(text)} for place in others}
    weights, vectors = WordWeights(words.values()), np.asarray(searcher.index.embeddings)
    evidence, captions = [], []
    for place in asked:
        first, *rest = [others[at] for at in np.argsort(-(vectors[others] @ vectors[place]), kind="stable")[:NEAREST]]
        captions.append(texts[first][0])
        evidence.append(Evidence(None, weights.support(set(tokenize(texts[first][0])), [words[at] for at in rest]), len(rest)))
    wanted = [[tokenize_caption(text) for text in texts[place]] for place in asked]
    return evidence, score_captions([tokenize_caption(text) for text in captions], wanted).items["cider_d"].tolist()


def seconds(root: Path, language: str, model: str, images: Sequence[bytes]) -> tuple[float, float, float]:
    """Return the seconds to open a describer, and the median and largest seconds an image after it."""
    begun = time.perf_counter()
    describer = Describer.open(root, language, model=model, registry=False)
    opened = time.perf_counter() - begun
    times = []
    for data in images:
        begun = time.perf_counter()
        describer.describe(data)
        times.append(time.perf_counter() - begun)
    return opened, statistics.median(times), max(times)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description="Descriptions: seconds an image, and how confidences separate good captions.")
    parser.add_argument("--root", type=Path, default=Path(), help="of a project that has run")
    parser.add_argument("--images", type=int, default=40, help="images to time, of the crawl `english`")
    chosen = parser.parse_args()
    root = chosen.root.resolve()
    torch.set_num_threads(1)
    models = Models(load_graph(root), registry=False)
    crawled = StageOutput(root / "data" / "english" / "crawl")
    members = crawled.table(["media"])["media"].to_pylist()
    images = [crawled.read_media(name) for name in members[:: max(1, len(members) // chosen.images)][: chosen.images]]
    for model, language in (("english-rnn1x1", "en"), ("english-t2t8x8", "en"), ("portuguese-rnn1x1", "pt"), ("stamps", "fr")):
        start, middle, most = seconds(root, language, model, images)
        row_of_times = {"model": model, "language": language, "start, s": start, "an image, s: median": middle, "largest": most}
        show(row_of_times)
    for name, cell in models.graph.cells.items():
        if cell.matrix == CAPTIONERS:
            for split in ("validation", "test"):
                evidence, scores = of_captioner(models, name, split)
                show(row(cell.name, split, [each.confidence for each in evidence], scores, SURE))
                likelihoods = [each.likelihood or 0.0 for each in evidence]
                show(row(f"{cell.name}, likelihood alone", split, likelihoods, scores, SURE_BY_LIKELIHOOD))
    index = models.index("stamps")
    assert index is not None
    for language in ("fr", "es"):
        for split in ("validation", "test"):
            evidence, scores = of_similar(index.folder, language, split)
            show(row(f"stamps, {language}", split, [each.confidence for each in evidence], scores, SURE))


if __name__ == "__main__":
    main()
