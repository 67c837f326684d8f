"""dedup: keep one of each set of duplicate posts, and group records whose images show the same.

Duplicate posts follow PCV §4.2.2, definitions 1 to 3: images and captions both close, connected components, one representative
each. An image of a group with another caption stays as a further reference; repeated captions within a group are dropped. A
split never separates a group.
Input: ``input`` the CAPTION records, ``media`` the images. Output: GROUPED records, and ``duplicates.csv`` with the effect of
other thresholds.
Not in scope: clusters of features (``cluster``), conflicts between owners and splits (``split``).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from components.core.errors import HearsightError
from components.core.params import Settings
from components.execution.resources import Accelerator


class PerceptualHash(Settings):
    """Settings for matching images by perceptual hash."""

    kind: Literal["phash"] = "phash"
    """Perceptual hashes."""
    max_distance: int = 6
    """Bits of 64 in which hashes of the same image differ, at most. Ours: 10 has a precision of .998 on altered copies,
    drawings need less."""

    def check(self, where: str) -> None:
        """Require a number of bits."""
        if not 0 <= self.max_distance <= 64:
            raise HearsightError("is not from 0 to 64", where=f"{where}.max_distance", hint="set a number of bits, for example 6")


class Aligned(Settings):
    """Settings for matching images by features and alignment: also crops, turns and mirrorings (docs/pages-to-captions.md)."""

    kind: Literal["aligned"] = "aligned"
    """Features and alignment."""
    whole_from: float = 0.98
    """Correlation of the whole images, in any turn or mirroring, from which they match. Ours."""
    cosine_from: float = 0.55
    """Cosine of their features from which parts are aligned too. Ours."""
    cosine_weight: float = 0.6
    """Weight of that cosine next to the correlation. Ours."""
    score_from: float = 1.34
    """``cosine_weight`` · cosine + correlation from which images match. Ours."""
    detail_from: float = 0.8
    """Correlation of the details of aligned images from which they match whatever the score: a small part has other features
    than the whole, but the same details. Ours."""


class Posts(Settings):
    """Settings for duplicate posts."""

    image_distance: float = 0.1
    """Greatest cosine distance of the images' features (definition 1). PCV §4.2.2: .1."""
    caption_distance: float = 0.1
    """Greatest cosine distance of the captions' TF-IDF vectors (definition 2); below 1. PCV §4.2.2: .1."""
    same_image: Literal["features", "signal"] = "features"
    """When two images count as the same: by the distance of their features alone, or also if ``signal`` matches them (turned,
    mirrored, grey, in a screenshot). PCV §4.2.2: features."""
    languages: list[str] = ["pt"]
    """ISO 639-1 codes whose stop words are removed, and whose word frequencies give the idf. PCV §4: Portuguese."""
    idf: Literal["language", "corpus"] = "corpus"
    """Source of the idf: word frequency in the language, or in the captions at hand; then every added post changes every
    distance. PCV §4.3.1: corpus."""
    grid: list[float] = [0.02, 0.05, 0.1, 0.2]
    """Thresholds combined for ``duplicates.csv``. PCV §4.2.2: the same."""

    def check(self, where: str) -> None:
        """Require distances below 1."""
        distances = [("image_distance", self.image_distance), ("caption_distance", self.caption_distance)]
        for name, value in [*distances, *(("grid", value) for value in self.grid)]:
            if not 0 <= value < 1:
                raise HearsightError(
                    f"a distance of {value} is not in [0, 1)", where=f"{where}.{name}", hint="the paper takes .1"
                )


Signal = Annotated[PerceptualHash | Aligned, Field(discriminator="kind")]


class Params(Settings):
    """Settings of dedup."""

    signal: Signal = PerceptualHash()
    """How images are matched, by ``kind``: phash or aligned."""
    mobilenet_v2: str = ""
    """A file of weights of MobileNetV2, as in ``cluster``; empty for features of EfficientNet-lite0, for which the defaults of
    ``aligned`` were chosen. PCV §4.3: MobileNetV2."""
    encoder: str = ""
    """Instead of these a model of a hub (its id with the full hash of a commit) or a folder, such as DINOv2 (docs/providers.md);
    empty for none. Ours."""
    accelerator: Accelerator = "cpu"
    """Where mobilenet_v2 or encoder compute: the processor, a GPU in batches of 64, or a GPU where there is one. Ours."""
    posts: Posts | None = None
    """Settings for duplicate posts; null, for pages, drops only repeated captions within a group."""
