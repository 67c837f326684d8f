"""What writes captions of images: a captioner or a search index of the project; models from elsewhere: ``foreign_writers``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from components.metrics.tokens import tokenize
from components.models.vocabulary import SPECIAL
from components.search.queries import Query
from components.search.searcher import Searcher
from components.tools.describe.models import FoundModel, Models, read_config
from components.tools.describe.support import NEAREST, TrainingImages, WordWeights
from components.tools.describe.wording import limit
from components.vision.captioning import Captioner
from components.vision.image_files import require_image
from components.vision.text_reader import TextLine

SURE = 0.5
"""Confidence from which a caption with support is sure."""
SURE_BY_LIKELIHOOD = 0.55
"""Confidence from which a caption without support is sure: likelihoods are higher than supports."""


class Evidence(NamedTuple):
    """What a confidence is computed from; None for what there is none of."""

    likelihood: float | None
    """Geometric mean of the probabilities of the caption's words and of its end; None for a caption of a similar image."""
    support: float | None
    """Share of the caption's words in the captions of similar images; None without similar images."""
    images: int
    """Number of similar images that were compared."""
    said: bool | None = None
    """Whether the model says that it is sure; None for one that says nothing."""

    def plain(self) -> dict[str, Any]:
        """Return the evidence as JSON values, rounded."""
        rounded = {name: None if value is None else round(value, 4) for name, value in self._asdict().items()}
        return rounded | {"images": self.images, "said": self.said}

    @property
    def confidence(self) -> float:
        """The confidence, 0..1."""
        values = [value for value in (self.likelihood, self.support, self.said) if value is not None]
        return math.prod(values) ** (1 / len(values)) if values else 0.0

    def is_sure(self, threshold: float | None = None) -> bool:
        """Return whether the confidence reaches a threshold, by default the measured one."""
        measured = SURE if self.support is not None else SURE_BY_LIKELIHOOD
        return self.confidence >= (measured if threshold is None else threshold)


class Written(NamedTuple):
    """What a model wrote about an image."""

    caption: str
    """Empty if there is none."""
    evidence: Evidence
    note: str = ""
    """Why there is no caption, or what speaks against it; empty for nothing."""
    doubted: bool = False
    """Whether it is not sure whatever its confidence."""
    usd: float = 0.0
    """What it cost."""
    text: tuple[TextLine, ...] = ()
    """The text in the image."""


class Writer(NamedTuple):
    """A model that writes captions, opened."""

    about: str
    """What it knows, in one line, in the language of the interface."""
    write: Callable[[bytes, str], Written]
    """Maps an image file's bytes, and its name in errors, to what it writes; threads may share it."""
    limits: tuple[str, ...]
    """What it cannot do, in the language of the interface."""
    source: str
    """captioner, similar images, hub or server."""

    def run_by(self, run: Callable[[bytes, Callable[[], Written]], Written]) -> Writer:
        """Return this writer with each image read by ``run(its bytes, work)``, which may refuse it, wait or add something."""
        return self._replace(write=lambda data, where: run(data, lambda: self.write(data, where)))


def open_captioner(models: Models, found: FoundModel, interface: str) -> Writer:
    """Return a captioner of the project; raise HearsightError if it, or its encoder, is not usable."""
    captioner = Captioner(found.folder, found.encoder or models.encoder_weights(found.set))
    captioner.require_encoder()
    images = _training_images(models, found)
    limits = (limit(interface, "likelihood"),) if images is None else ()

    def write(data: bytes, where: str) -> Written:
        seen = captioner.see(data, where)
        vector = images.mean(seen) if images is not None else seen[0]
        if images is not None and not images.is_like(vector):
            return Written("", Evidence(None, 0.0, min(NEAREST, len(images))), limit(interface, "unlike"))
        (written,) = captioner.write([seen])
        support = images.support(written.words, vector) if images is not None else None
        evidence = Evidence(written.likelihood, support, min(NEAREST, len(images)) if images else 0)
        return Written(written.text, evidence, "" if written.text else limit(interface, "empty"))

    return Writer(_trained_on(captioner.config, found.set, interface), write, limits, "captioner")


def _trained_on(config: Mapping[str, Any], dataset: str, interface: str) -> str:
    about = config.get("trained_on", {})  # models of earlier versions lack it
    words = len(set(config["vocabulary"]) - set(SPECIAL))
    number = f"{about['captions']:,} " if about else ""
    return limit(interface, "captioner", number=number, domain=about.get("domain") or dataset, words=f"{words:,}")


def _training_images(models: Models, found: FoundModel) -> TrainingImages | None:
    """Return the images a captioner was trained on; None if they are not here, were changed, or have no frozen features."""
    config, output = read_config(found.folder), models.training_set(found.set)
    if output is None or (config.get("encoder") or {}).get("trained", True):
        return None
    if config.get("set", {}).get("digest") != output.digest:
        return None
    return TrainingImages(output, config["encoder"])


def open_similar(models: Models, found: FoundModel, language: str, interface: str) -> Writer:
    """Return a search index as a writer: the caption of the nearest image. Raises HearsightError if it is not usable."""
    searcher = Searcher.open(found.folder, models.encoder_weights(found.name))
    searcher.encoder  # noqa: B018  (loads the model now)
    items = searcher.index.items
    captions = [
        _texts(item, language)
        for item in items.select(["kind", "captions"]).to_pylist()
        if item["kind"] == "image" and _texts(item, language)
    ]
    weights = WordWeights([_words(texts) for texts in captions])
    nearest = min(NEAREST, len(captions))

    def write(data: bytes, where: str) -> Written:
        require_image(data, where)
        vector = searcher.encoder.embed(Query("image", data, None))
        results = searcher.find(vector, nearest, ("image",), language=language)["image"]
        first, *others = [_texts(result.item, language) for result in results]
        support = weights.support(set(tokenize(first[0])), [_words(texts) for texts in others])
        return Written(first[0], Evidence(None, support, len(others)))

    known = limit(interface, "index", images=f"{len(captions):,}", source=found.name)
    return Writer(known, write, (limit(interface, "similar", source=found.name),), "similar images")


def _texts(item: dict[str, Any], language: str) -> list[str]:
    return [caption["caption"] for caption in item["captions"] if caption["language"] == language]


def _words(texts: list[str]) -> set[str]:
    return {word for text in texts for word in tokenize(text)}
