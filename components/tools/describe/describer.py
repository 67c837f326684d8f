"""Describe one image: its caption, how sure that is and why, and what the model cannot do, in the languages of the interface.

With similar images at hand the confidence is the geometric mean of the caption's likelihood a word and its support by their
captions (``support``); of a caption taken from a similar image, the support by the others; without similar images the likelihood
a word. The thresholds were chosen with the demo's validation and test tables in view (``python -m benchmarks.describe``;
``benchmarks/README.md`` has the figures). Text in the image is read by another model, and never guessed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.hub.model import find_model
from components.tools.describe.foreign_writers import open_hub, open_server
from components.tools.describe.models import FoundModel, Models
from components.tools.describe.settings import SERVER, DescribeParams, describe_params, is_foreign
from components.tools.describe.wording import INTERFACES, LANGUAGES, confidence_word, limit, with_prefix, with_text
from components.tools.describe.writers import Evidence, Writer, Written, open_captioner, open_similar
from components.tracking.models import CAPTIONER
from components.vision.text_reader import TextLine, read_text_lines, reader_version


@dataclass(frozen=True)
class Description:
    """A description of one image, by a program."""

    caption: str
    """Empty if the model has no words for the image, or none that may be shown."""
    language: str
    """ISO 639-1, of the caption."""
    confidence: float
    """0..1."""
    sure: bool
    word: str
    """``sure`` or ``not sure``, in the language of the interface."""
    evidence: Evidence
    source: str
    """``captioner``; ``similar images``: the caption was written for another image; ``hub``; ``server``."""
    model: str
    version: str
    trained_on: str
    """What the model knows, in one line, in the language of the interface."""
    limits: tuple[str, ...]
    """What the model cannot do, in the language of the interface."""
    text: tuple[TextLine, ...] = ()
    """The text in the image."""
    usd: float = 0.0
    """What the caption cost; 0 for one that was paid for before."""

    @property
    def alt(self) -> str:
        """The caption as an alt-text: one that is not sure begins with the words for that; the text in the image follows it."""
        alt = with_prefix(self.caption, self.language, self.sure)
        return with_text(alt, [line.text for line in self.text], self.language)

    def plain(self) -> dict[str, Any]:
        """Return the description as JSON values."""
        confidence = {"confidence": round(self.confidence, 4), "sure": self.sure, "word": self.word}
        source = {"source": self.source, "model": self.model, "version": self.version, "trained_on": self.trained_on}
        written = {"alt": self.alt, "caption": self.caption, "language": self.language, **confidence}
        seen = {"evidence": self.evidence.plain(), "text": [line.plain() for line in self.text]}
        return {**written, **seen, **source, "usd": self.usd, "limits": list(self.limits)}


@dataclass(frozen=True)
class Describer:
    """A model that describes images in one language; loaded once, for any number of images and threads."""

    language: str
    found: FoundModel
    interface: str
    threshold: float | None
    writer: Writer
    reader: str
    """What reads text in images, with its version; empty if nothing does."""

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
            model: as ``describe.model``; empty for the setting's.
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
        params = describe_params(root)
        found, writer = _open(root, params, language, model, interface, registry)
        reader = reader_version() if params.read_text else ""
        if reader:
            writer = writer.run_by(lambda data, work: work()._replace(text=read_text_lines(data)))
        return cls(language, found, interface, threshold, writer, reader)

    @property
    def trained_on(self) -> str:
        """What the model knows, in one line, in the language of the interface."""
        return self.writer.about

    def describe(self, data: bytes, where: str = "the image") -> Description:
        """Return the description of an image file's bytes.

        Args:
            where: its name in errors.

        Raises:
            HearsightError: it is no image, damaged, too small or too large; or the model server cannot answer.
        """
        caption, evidence, note, doubted, usd, text = self.writer.write(data, where)
        sure = bool(caption) and not doubted and evidence.is_sure(self.threshold)
        limits = [*([note] if note else []), *self.writer.limits, *([] if self.reader else [limit(self.interface, "text")])]
        return Description(
            caption=caption,
            language=self.language,
            confidence=evidence.confidence if caption and not doubted else 0.0,
            sure=sure,
            word=confidence_word(self.interface, sure),
            evidence=evidence,
            source=self.writer.source,
            model=self.found.name,
            version=self.found.version,
            trained_on=self.trained_on,
            limits=(*limits, limit(self.interface, "check")),
            text=text,
            usd=usd,
        )

    def run_by(self, run: Callable[[bytes, Callable[[], Written]], Written]) -> Describer:
        """Return this describer with each image read by ``run(its bytes, work)``, which may refuse it or wait."""
        return replace(self, writer=self.writer.run_by(run))


def _open(
    root: Path, params: DescribeParams, language: str, asked: str, interface: str, registry: bool
) -> tuple[FoundModel, Writer]:
    model = asked or params.model
    if is_foreign(model) and not asked and language not in params.languages:
        model = ""
    if model == SERVER:
        return open_server(root, language, interface)
    if is_foreign(model):
        files = find_model(root, model)
        name, _, commit = files.name.partition("@")
        return FoundModel(name, "hub", files.folder, commit[:12] or files.digest[:12]), open_hub(
            files, params, language, interface
        )
    models = Models(load_graph(root), registry=registry)
    found = models.choose(language, model)
    if found.kind == CAPTIONER:
        return found, open_captioner(models, found, interface)
    return found, open_similar(models, found, language, interface)
