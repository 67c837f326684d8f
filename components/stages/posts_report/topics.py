"""Topics of descriptions by Latent Dirichlet Allocation.

Source: PCV §5.2, figure 16. Counts of content words, batch variational Bayes with a fixed seed on one thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from components.stages.posts_report.words import content_words

PASSES = 30
"""Number of passes over the descriptions."""


@dataclass(frozen=True)
class Topic:
    """A topic: its words with their probabilities, most probable first, and its share of all words."""

    words: list[tuple[str, float]]
    share: float


def find_topics(captions: Sequence[str], language: str, number: int, min_documents: int, most: int, seed: int) -> list[Topic]:
    """Return up to ``number`` topics, largest first; none if fewer than two words are in ``min_documents`` descriptions."""
    documents = [Counter(content_words(caption, language)) for caption in captions]
    document_counts = Counter(word for document in documents for word in document)
    words = sorted(word for word, count in document_counts.items() if count >= min_documents)
    column = {word: at for at, word in enumerate(words)}
    cells = [
        (row, column[word], n) for row, document in enumerate(documents) for word, n in sorted(document.items()) if word in column
    ]
    if len(words) < 2 or not cells or number < 1:
        return []
    # scikit-learn and SciPy are slow to import, and not needed without words.
    from sklearn.decomposition import LatentDirichletAllocation

    rows, columns, values = zip(*cells, strict=True)
    counts = csr_matrix((values, (rows, columns)), shape=(len(documents), len(words)), dtype=np.float64)
    counts = counts[counts.getnnz(axis=1) > 0]
    model = LatentDirichletAllocation(number, learning_method="batch", max_iter=PASSES, random_state=seed, n_jobs=1)
    mixed = model.fit_transform(counts)
    share = (mixed * counts.sum(axis=1).A1[:, None]).sum(axis=0) / counts.sum()
    topics = []
    for topic in np.argsort(-share, kind="stable"):
        weights = model.components_[topic] / model.components_[topic].sum()
        order = np.lexsort((np.arange(len(words)), -weights))[:most]
        topics.append(Topic([(words[at], float(weights[at])) for at in order], float(share[topic])))
    return topics
