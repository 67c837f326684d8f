"""The reward of self-critical training: CIDEr-D against a picture's training captions.

The end sign is a word here, of samples and references alike: without it captions learn to stop in the middle, for what follows is
cheap to leave out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from components.metrics.cider import CiderD
from components.models.vocabulary import END, SPECIAL

STOP = SPECIAL[END]


class CiderReward:
    """CIDEr-D with the document frequencies of the training references.

    Args:
        references: of each training picture, tokenised captions.
    """

    def __init__(self, references: Sequence[Sequence[Sequence[str]]]) -> None:
        self.cider = CiderD([[[*caption, STOP] for caption in known] for known in references])

    def __call__(self, candidates: Sequence[Sequence[str]], pictures: Sequence[int]) -> NDArray[np.float64]:
        """CIDEr-D, 0..10, of each candidate (with its :data:`STOP`, if it ended) for the picture beside it."""
        return self.cider.score(candidates, pictures)
