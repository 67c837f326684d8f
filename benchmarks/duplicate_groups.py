"""Recall of groups of duplicate captions by the distance of their text: ``python -m benchmarks.duplicate_groups FILE``.

FILE: ``{"2": [{"caption": ..., "shortcode": ...}, ...], ...}``, the #PraCegoVer authors' groups. They were made with the
images and corrected by hand, so captions of one group may differ; only the text is compared here. For each threshold and
method, a row has three figures: the share of pairs within a group that the distance links (recall), the share of groups that
these pairs connect, and the number of linked pairs across groups, of which ``exact`` are equal but for case and spaces.

``paper``: the published code (larocs/PraCegoVer, feature_extraction.py): scikit-learn's TfidfVectorizer without NLTK's
Portuguese stop words, from ``--stop-words FILE``, one a line; without it without ours. ``corpus`` and ``language``: the stage's
vectors with either idf. ``cleaned``: the same on captions as the stage extracts them.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfVectorizer

from benchmarks.harness import show
from components.stages.dedup import captions
from components.stages.dedup.close_pairs import close_rows
from components.stages.dedup.groups import Groups

LANGUAGES = ("pt",)


def published(texts: list[str], stops: list[str]) -> csr_matrix:
    """Return the published code's vectors."""
    return csr_matrix(TfidfVectorizer(stop_words=stops, dtype=np.float64).fit_transform(texts))


def ours(texts: list[str], idf: str) -> csr_matrix:
    """Return the stage's vectors, one a text."""
    counts = [Counter(captions.words(text, captions.stop_words(LANGUAGES))) for text in texts]
    vocabulary = {word for count in counts for word in count}
    return captions.vectors(
        counts, captions.corpus_idf(counts) if idf == "corpus" else captions.language_idf(vocabulary, LANGUAGES)
    )


def cleaned(texts: list[str]) -> list[str]:
    """Return the captions as the stage extracts them after a tag; one that it drops as it is."""
    from benchmarks.description_debris import clean

    return [clean(text) or text for text in texts]


def rows(vectors: csr_matrix, texts: list[str], group: NDArray[np.int64], thresholds: list[float]) -> Iterator[dict[str, Any]]:
    """Yield the figures of one method at each threshold."""
    sizes = np.bincount(group)
    total = int((sizes * (sizes - 1) // 2).sum())
    plain = np.unique([" ".join(text.casefold().split()) for text in texts], return_inverse=True)[1]
    for threshold in thresholds:
        first, second = close_rows(vectors, threshold)
        within = group[first] == group[second]
        found = np.bincount(group[first[within]], minlength=len(sizes))
        components = Groups(len(texts))
        components.add(first[within], second[within])
        parts = np.bincount(group[np.unique(components.labels())])
        across = ~within
        exact = plain[first[across]] == plain[second[across]]
        yield {
            "distance": threshold,
            "recall of pairs": f"{within.sum()} of {total} = {within.sum() / total:.3f}",
            "mean over groups": f"{np.mean(found / (sizes * (sizes - 1) / 2)):.3f}",
            "groups connected": f"{int((parts == 1).sum())} of {len(sizes)} = {(parts == 1).mean():.3f}",
            "pairs across": f"{int(across.sum())} (exact {int(exact.sum())})",
            "precision": f"{within.sum() / max(1, len(first)):.3f}",
        }


def main() -> None:
    """Print a row for each method and threshold."""
    parser = argparse.ArgumentParser(description="Recall of groups of duplicate captions by the distance of their text.")
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--distances", type=float, nargs="+", default=[0.1, 0.2])
    parser.add_argument("--stop-words", type=Path, help="NLTK's Portuguese stop words, one a line")
    options = parser.parse_args()
    content = json.loads(options.file.read_text(encoding="utf-8"))
    posts = [(number, post["caption"]) for number, group in enumerate(content.values()) for post in group]
    group, texts = np.array([number for number, _ in posts]), [text for _, text in posts]
    stops = (
        options.stop_words.read_text(encoding="utf-8").split() if options.stop_words else sorted(captions.stop_words(LANGUAGES))
    )
    cut = cleaned(texts)
    print(f"{len(texts)} captions of {len(content)} groups\n")
    methods = {"published": published(texts, stops), "corpus": ours(texts, "corpus"), "language": ours(texts, "language")}
    methods |= {"corpus, cleaned": ours(cut, "corpus"), "language, cleaned": ours(cut, "language")}
    for name, vectors in methods.items():
        for row in rows(vectors, texts, group, options.distances):
            show({"method": name, **row})


if __name__ == "__main__":
    main()
