"""The reward of self-critical training: CIDEr-D against a picture's training captions.

The end token counts as a word of samples and references. Without it captions learn to stop early, since the missing words cost
little.
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
        references: the tokenised captions of each training picture.
    """

    def __init__(self, references: Sequence[Sequence[Sequence[str]]]) -> None:
        self.cider = CiderD([[[*caption, STOP] for caption in known] for known in references])

    def __call__(self, candidates: Sequence[Sequence[str]], pictures: Sequence[int]) -> NDArray[np.float64]:
        """Return the CIDEr-D, 0 to 10, of each candidate (ending in :data:`STOP` if complete) for its picture."""
        return self.cider.score(candidates, pictures)
