"""Describe one image: its caption, how sure that is and why, and what the model cannot do, in the languages of the interface.

With similar images at hand it is the geometric mean of the caption's likelihood a word and its support by their captions
(``support``); of a caption taken from a similar image, the support by the others; without similar
images the likelihood a word. The thresholds were chosen with the demo's validation and test tables in view
(``python -m benchmarks.describe``; ``benchmarks/README.md`` has the figures).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.metrics.tokens import tokenize
from components.models.vocabulary import SPECIAL
from components.search.queries import Query
from components.search.searcher import Searcher
from components.tools.describe.models import FoundModel, Models, read_config
from components.tools.describe.support import NEAREST, TrainingImages, WordWeights
from components.tracking.models import CAPTIONER
from components.vision.captioning import Captioner
from components.vision.image_files import require_image

LANGUAGES = ("en", "pt", "fr", "es")
"""Languages of captions (ISO 639-1)."""
INTERFACES = ("en", "pt")
"""Languages of notes."""
PREFIX = {"en": "Not sure: ", "pt": "Sem certeza: ", "fr": "Pas sûr : ", "es": "Sin certeza: "}
"""Language of a caption → what precedes it where it is not sure."""
WORDS = {"en": ("sure", "not sure"), "pt": ("com certeza", "sem certeza")}
"""Language of the interface → the words for a confidence."""
LIMITS = {
    "en": {
        "text": "Text in the image is not read.",
        "captioner": "Trained on {number}captions of {domain}: {words} words. It calls everything by one of these words.",
        "index": "It repeats captions of {images} images of the dataset {source}.",
        "similar": "This caption was written for a similar image, of the dataset {source}. It may not fit this one.",
        "likelihood": "The confidence is the model's own: there are no captions of similar images to compare with.",
        "empty": "The model has no words for this image.",
        "unlike": "This image is unlike those that the model was trained on, so it says nothing.",
        "check": "A program wrote this. Check it before you publish it.",
    },
    "pt": {
        "text": "O texto na imagem não é lido.",
        "captioner": "Treinado com {number}legendas de {domain}: {words} palavras. Chama tudo por uma dessas palavras.",
        "index": "Repete legendas de {images} imagens do conjunto {source}.",
        "similar": "Esta legenda foi escrita para uma imagem semelhante, do conjunto {source}. Pode não servir para esta.",
        "likelihood": "A confiança é do próprio modelo: não há legendas de imagens semelhantes para comparar.",
        "empty": "O modelo não tem palavras para esta imagem.",
        "unlike": "Esta imagem não se parece com as do treino, por isso o modelo não diz nada.",
        "check": "Um programa escreveu isto. Confira antes de publicar.",
    },
}


def limit(interface: str, name: str, **values: object) -> str:
    """Return a note on a limit in a language of the interface."""
    return LIMITS[interface][name].format(**values)


def confidence_word(interface: str, sure: bool) -> str:
    """Return the word for a confidence in a language of the interface."""
    return WORDS[interface][0 if sure else 1]


def with_prefix(caption: str, language: str, sure: bool) -> str:
    """Return the caption as an alt-text: one that is not sure says so; empty for an empty caption."""
    return caption if sure or not caption else PREFIX[language] + caption


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

    def plain(self) -> dict[str, Any]:
        """Return the evidence as JSON values, rounded."""
        rounded = {name: None if value is None else round(value, 4) for name, value in self._asdict().items()}
        return rounded | {"images": self.images}

    @property
    def confidence(self) -> float:
        """The confidence, 0..1."""
        values = [value for value in (self.likelihood, self.support) if value is not None]
        return math.prod(values) ** (1 / len(values)) if values else 0.0

    def is_sure(self, threshold: float | None = None) -> bool:
        """Return whether the confidence reaches a threshold, by default the measured one."""
        measured = SURE if self.support is not None else SURE_BY_LIKELIHOOD
        return self.confidence >= (measured if threshold is None else threshold)


@dataclass(frozen=True)
class Description:
    """A description of one image, by a program."""

    caption: str
    """Empty if the model has no words for the image."""
    language: str
    """ISO 639-1, of the caption."""
    confidence: float
    """0..1."""
    sure: bool
    word: str
    """``sure`` or ``not sure``, in the language of the interface."""
    evidence: Evidence
    source: str
    """``captioner``, or ``similar images``: then the caption was written for another image."""
    model: str
    version: str
    trained_on: str
    """What the model knows, in one line, in the language of the interface."""
    limits: tuple[str, ...]
    """What the model cannot do, in the language of the interface."""

    @property
    def alt(self) -> str:
        """The caption as an alt-text: one that is not sure begins with the words for that in its language."""
        return with_prefix(self.caption, self.language, self.sure)

    def plain(self) -> dict[str, Any]:
        """Return the description as JSON values."""
        evidence = {"confidence": round(self.confidence, 4), "sure": self.sure, "word": self.word}
        source = {"source": self.source, "model": self.model, "version": self.version, "trained_on": self.trained_on}
        written = {"caption": self.caption, "language": self.language, **evidence, "evidence": self.evidence.plain()}
        return {**written, **source, "limits": list(self.limits)}


class _Written(NamedTuple):
    caption: str
    evidence: Evidence
    missing: str = "empty"
    """The note on why there is no caption."""


@dataclass(frozen=True)
class Describer:
    """A model that describes images in one language; loaded once, for any number of images and threads."""

    language: str
    found: FoundModel
    interface: str
    threshold: float | None
    trained_on: str
    """What the model knows, in one line, in the language of the interface."""
    _write: Callable[[bytes, str], _Written]
    _limits: tuple[str, ...]

    @classmethod
    def open(
        cls,
        root: Path,
        language: str = "en",
        *,
        model: str = "",
        threshold: float | None = None,
        interface: str = "en",
        registry: bool = True,
    ) -> Describer:
        """Load the model for a language.

        Args:
            root: of the project.
            language: of the captions: en, pt, fr or es.
            model: a captioner's cell (``english-t2t8x8``) or a dataset with a search index; empty for the default.
            threshold: confidence from which a caption is sure, 0..1; None for the measured one.
            interface: language of notes and words: en or pt.
            registry: ask MLflow for the registered version.

        Raises:
            HearsightError: nothing describes images in this language, or the model is damaged.
        """
        for value, known, option in ((language, LANGUAGES, "--language"), (interface, INTERFACES, "interface")):
            if value not in known:
                raise HearsightError(f"'{value}' is not a language here", where=option, hint=f"write {', '.join(known)}")
        if threshold is not None and not 0.0 <= threshold <= 1.0:
            raise HearsightError(f"{threshold:g} is not from 0 to 1", where="--sure", hint="give a confidence, as 0.5")
        models = Models(load_graph(root), registry=registry)
        found = models.choose(language, model)
        open_source = _open_captioner if found.kind == CAPTIONER else _open_similar
        return cls(language, found, interface, threshold, *open_source(models, found, language, interface))

    def describe(self, data: bytes, where: str = "the image") -> Description:
        """Return the description of an image file's bytes.

        Args:
            where: its name in errors.

        Raises:
            HearsightError: it is no image, damaged, too small or too large.
        """
        caption, evidence, missing = self._write(data, where)
        sure = bool(caption) and evidence.is_sure(self.threshold)
        limits = self._limits if caption else (limit(self.interface, missing), *self._limits)
        return Description(
            caption=caption,
            language=self.language,
            confidence=evidence.confidence if caption else 0.0,
            sure=sure,
            word=confidence_word(self.interface, sure),
            evidence=evidence,
            source="captioner" if self.found.kind == CAPTIONER else "similar images",
            model=self.found.name,
            version=self.found.version,
            trained_on=self.trained_on,
            limits=(*limits, limit(self.interface, "check")),
        )

    def run_by(self, run: Callable[[bytes, Callable[[], _Written]], _Written]) -> Describer:
        """Return this describer with each image read by ``run(its bytes, work)``, which may refuse it or wait."""
        return replace(self, _write=lambda data, where: run(data, lambda: self._write(data, where)))


_Source = tuple[str, Callable[[bytes, str], _Written], tuple[str, ...]]


def _open_captioner(models: Models, found: FoundModel, language: str, interface: str) -> _Source:
    captioner = Captioner(found.folder, found.encoder or models.encoder_weights(found.set))
    captioner.require_encoder()
    images = _training_images(models, found)
    limits = [limit(interface, "text")]
    if images is None:
        limits.append(limit(interface, "likelihood"))

    def write(data: bytes, where: str) -> _Written:
        seen = captioner.see(data, where)
        vector = images.mean(seen) if images is not None else seen[0]
        if images is not None and not images.is_like(vector):
            return _Written("", Evidence(None, 0.0, min(NEAREST, len(images))), "unlike")
        (written,) = captioner.write([seen])
        support = images.support(written.words, vector) if images is not None else None
        return _Written(written.text, Evidence(written.likelihood, support, min(NEAREST, len(images)) if images else 0))

    return _trained_on(captioner.config, found.set, interface), write, tuple(limits)


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


def _open_similar(models: Models, found: FoundModel, language: str, interface: str) -> _Source:
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

    def write(data: bytes, where: str) -> _Written:
        require_image(data, where)
        vector = searcher.encoder.embed(Query("image", data, None))
        results = searcher.find(vector, nearest, ("image",), language=language)["image"]
        first, *others = [_texts(result.item, language) for result in results]
        support = weights.support(set(tokenize(first[0])), [_words(texts) for texts in others])
        return _Written(first[0], Evidence(None, support, len(others)))

    known = limit(interface, "index", images=f"{len(captions):,}", source=found.name)
    return known, write, (limit(interface, "similar", source=found.name), limit(interface, "text"))


def _texts(item: dict[str, Any], language: str) -> list[str]:
    return [caption["caption"] for caption in item["captions"] if caption["language"] == language]


def _words(texts: list[str]) -> set[str]:
    return {word for text in texts for word in tokenize(text)}
