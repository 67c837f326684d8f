"""Prepare training and test data of captioners and dual encoders: tokens and image features in shards.

Input: ``input``, the SPLIT records; ``media``, their images. Output: FEATURES records with the features of a frozen encoder (of
each image, of distorted views for training, and of the central square for retrieval), or with the images themselves for an
encoder that is trained too. One set of shards serves all networks and seeds and streams from disk.
Sources: CC §5.2 (distortion, crops of 50-100 %), figure 3 (``wording: text`` uses the alt-text before hypernyms); CSC §4.1
(``crop_or_pad``, 67 %, ``centre``). Not in scope: vocabularies (``train_captioner``), distortion for trained encoders.
"""

from __future__ import annotations

from typing import Literal

from components.core.errors import HearsightError
from components.core.params import Settings
from components.execution.resources import Accelerator


class Encoder(Settings):
    """The image encoder."""

    name: Literal["inception_resnet_v2", "efficientnet_lite0", "mobilenet_v2", "hub"] = "inception_resnet_v2"
    """Which; efficientnet_lite0's weights are at hand; hub is a model of today such as DINOv2, SigLIP or CLIP, frozen. CC §5.2,
    CSC §4.1: inception_resnet_v2."""
    weights: str = ""
    """A file of weights (timm's names, mobilenet_v2: torchvision's; safetensors or pth) below the project's root, or empty for
    those at hand. DVC does not see the file: after changing it, ``dvc repro -f``. For hub the model: a hub's id with the full
    hash of a commit, or a folder below the root (docs/providers.md)."""
    side: int = 299
    """px; 299 gives inception_resnet_v2 a grid of 8 x 8, 256 gives it to efficientnet_lite0; 0 is the side of a hub's model.
    CSC §4.1: 299."""
    frozen: bool = False
    """true: its features are kept; false: the images are, and it is trained with the captioner. CC §5.2, CSC §4.1: false."""
    trained_blocks: int = 0
    """Last blocks of a frozen encoder that are trained with captioners all the same: what is kept is their input. Up to 4 of
    efficientnet_lite0, none of the others; a dual encoder cannot read it. Ours."""


class Params(Settings):
    """What is kept of each record."""

    wording: Literal["caption", "text"] = "caption"
    """What is learned: the caption, or the cleaned alt-text it was made from. CC §3: caption."""
    encoder: Encoder = Encoder()
    """What looks at the images."""
    views: int = 0
    """Distorted views of each training image, besides the image itself; 0 where the encoder is trained. CC §5.2, CSC §4.1:
    new ones each time, which an encoder that is trained gets."""
    crops: Literal["square", "crop_or_pad"] = "square"
    """Views are squares out of the image padded to a square (captioners), or squares that cut or pad it (retrieval)."""
    least_area: float = 0.5
    """Share that a view covers at least: of the padded square, or with crop_or_pad of the image. CC §5.2: .5; CSC §4.1: .67."""
    centre: bool = False
    """Keep the vector of each image's central square as well: the evaluation view of CSC. CSC §4.1: the central
    portion, which an encoder that is trained gets as images are read."""
    grid: bool = True
    """Keep the cells' vectors; false keeps the whole image's alone, which is all that a dual encoder reads. Ours."""
    thumbnail: int = 240
    """px, longer side of the small images kept for pages; 0 keeps none. Ours."""
    thumbnails: Literal["test", "all"] = "test"
    """Of which images: of the test split, or of all, so that a search can show whatever it finds. Ours."""
    accelerator: Accelerator = "cpu"
    """Where a frozen encoder computes: the processor, a GPU in batches of 64, or a GPU where there is one. Features of a GPU are
    equal but for rounding. Ours."""

    def check(self, where: str) -> None:
        """Require numbers in their ranges, and a frozen encoder for what is computed once."""
        if self.encoder.name == "hub" and not (self.encoder.frozen and self.encoder.weights):
            what, hint = "needs a model, and is not trained", "name it in encoder.weights, and set encoder.frozen to true"
            raise HearsightError(what, where=f"{where}.encoder", hint=hint)
        if self.views < 0 or self.thumbnail < 0 or self.encoder.side < (0 if self.encoder.name == "hub" else 75):
            raise HearsightError(
                "views and thumbnail must be 0 or more, encoder.side 75 or more", where=where, hint="raise the value"
            )
        if self.encoder.trained_blocks and not (self.encoder.frozen and self.grid and not self.centre):
            raise HearsightError(
                "needs a frozen encoder, its grid, and no central squares",
                where=f"{where}.encoder.trained_blocks",
                hint="set frozen and grid to true and centre to false, or trained_blocks to 0",
            )
        if not 0.0 < self.least_area <= 1.0:
            raise HearsightError("must be above 0 and at most 1", where=f"{where}.least_area", hint="give a share")
        if self.views and not self.encoder.frozen:
            raise HearsightError(
                "need a frozen encoder",
                where=f"{where}.views",
                hint="set it to 0: a trained encoder's images are distorted when they are read",
            )
        if self.centre and not self.encoder.frozen:
            raise HearsightError(
                "needs a frozen encoder",
                where=f"{where}.centre",
                hint="set it to false: a trained encoder's images are cropped when they are read",
            )
