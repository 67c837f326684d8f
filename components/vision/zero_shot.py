"""Labels of an image from a vocabulary of one's own, by a model that compares images with texts (zero-shot classification).

A prompt makes a text of each label. The vectors of these texts are computed once, by the first process that needs them, and
mapped into memory by all. Source: CLIP (Radford et al. 2021, §3.1); a vocabulary of 10^5 labels gives what CC §3 has.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from components.core.addresses import installed_file, state_folder
from components.core.digests import digest_value
from components.core.errors import HearsightError
from components.core.files import publish
from components.core.result_files import open_key_locks
from components.hub.chosen import ChosenModel
from components.vision.image_text import batches, load_image_text
from components.vision.labels import Label

TEXTS = 64
"""Labels in a batch."""


class Vocabulary(NamedTuple):
    """A file of labels and the digest of these, the prompt that makes texts of them, and how many labels an image keeps."""

    file: str
    digest: str
    prompt: str
    kept: int


def read_labels(project: Path, file: str) -> list[str]:
    """Return the labels of a vocabulary, one a line, in order, each once.

    Raises:
        HearsightError: the file cannot be read, is not UTF-8, or has no label.
    """
    path, hint = installed_file(project, file), "name a file in UTF-8, one label a line"
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise HearsightError("the vocabulary is not UTF-8", where=path, hint=hint) from None
    except OSError as error:
        raise HearsightError(f"the vocabulary cannot be read ({error.strerror})", where=path, hint=hint) from None
    labels = list(dict.fromkeys(filter(None, (" ".join(line.split()) for line in lines))))
    if not labels:
        raise HearsightError("the vocabulary has no label", where=path, hint=hint)
    return labels


class ZeroShotLabels:
    """Annotator: encoded image → its best labels as [label, probability], by falling probability."""

    name = "labels.hub"
    version = 1
    codec = "json"

    def __init__(self, project: Path, chosen: ChosenModel, vocabulary: Vocabulary) -> None:
        self.project, self.chosen, self.vocabulary = project, chosen, vocabulary
        self.model = f"{chosen.identity}-{digest_value(vocabulary[1:])[:16]}"

    def compute(self, payload: bytes) -> list[tuple[str, float]]:
        """Return the labels of one image.

        Raises:
            HearsightError: model or vocabulary cannot be used.
            UnreadableImageError: the image cannot be decoded completely.
        """
        return self.compute_many([payload])[0]

    def compute_many(self, payloads: Sequence[bytes]) -> list[list[tuple[str, float]]]:
        """Return the labels of each image, in batches as the settings say; raises as :meth:`compute`."""
        model, found = load_image_text(self.project, self.chosen), []
        labels, vectors = _loaded(self.project, self.chosen, self.vocabulary)
        for part in batches(payloads, self.chosen.batch):
            for row in model.probabilities(model.images(part) @ vectors.T):
                best = np.argsort(-row, kind="stable")[: self.vocabulary.kept]
                found.append([(labels[at], round(float(row[at]), 6)) for at in best])
        return found


def best_labels(stored: Sequence[Any], *, least: int, most: int, min_confidence: float) -> list[Label]:
    """Return the labels of a result of :class:`ZeroShotLabels`: ``most`` of them, beyond ``least`` those with the confidence."""
    found = [Label((name.lower(),), round(probability, 4)) for name, probability in stored[:most]]
    return [label for rank, label in enumerate(found) if rank < least or label.confidence >= min_confidence]


@lru_cache(maxsize=1)
def _loaded(project: Path, chosen: ChosenModel, vocabulary: Vocabulary) -> tuple[list[str], NDArray[np.float32]]:
    """Return the labels and the vectors of their texts, labels × dimensions."""
    labels = read_labels(project, vocabulary.file)
    if digest_value(labels) != vocabulary.digest:
        raise HearsightError("the vocabulary has changed during the run", where=vocabulary.file, hint="run again")
    name = digest_value([chosen.digest, chosen.device, vocabulary.prompt, vocabulary.digest])
    path = state_folder(project) / "vocabularies" / f"{name}.npy"

    def write(target: Path) -> None:
        if len(labels) > TEXTS:
            print(f"hearsight: {len(labels)} labels are encoded once for {chosen.model}", file=sys.stderr, flush=True)
        model, texts = load_image_text(project, chosen), [vocabulary.prompt.replace("{}", label) for label in labels]
        with target.open("wb") as handle:
            np.save(handle, np.concatenate([model.texts(part) for part in batches(texts, TEXTS)]))

    with open_key_locks(path.with_name("vocabularies.lock")) as locks:
        # Other workers wait, so that a large vocabulary is encoded once.
        locks.acquire(name, wait=True)
        if not path.exists():
            publish(path, write)
    return labels, np.load(path, mmap_mode="r")
