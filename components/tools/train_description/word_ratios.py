"""Learn the ratios of words that the score of description reads, from captions and from texts of pages.

In cross-validation, the ratios used for a fold are computed without its texts: the score must judge texts it has not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from components.core.seeded_rng import seeded_rng
from components.language.dictionary import is_listed
from components.language.word_features import likelihood_ratios, word_counts, word_key
from components.language.wordnet import load_wordnet
from components.tools.train_description.examples import Example

FOLDS = 10
PLAIN = 0.25
"""What a word of a caption of ``--captions`` counts: several people write of the same image, and of few subjects."""


@lru_cache(maxsize=1 << 16)
def fold_of(group: str) -> int:
    """Return the fold of cross-validation that a group is in."""
    return seeded_rng("fold", group).randrange(FOLDS)


class WordRatios:
    """Counts of words of each fold, in captions and in texts of pages; labelled texts have no part in them."""

    def __init__(self, examples: Iterable[Example]) -> None:
        texts: dict[tuple[int, bool, float], list[str]] = {}
        for example in examples:
            if example.kind != "labelled":
                weight = PLAIN if example.kind == "captions" else 1.0
                texts.setdefault((fold_of(example.group), example.positive, weight), []).append(example.text)
        self._counts: dict[tuple[int, bool], Counter[str]] = {}
        for (fold, positive, weight), of_fold in texts.items():
            self._counts.setdefault((fold, positive), Counter()).update(word_counts(of_fold, weight))

    @lru_cache(maxsize=FOLDS + 1)  # noqa: B019 - lives as long as the training
    def without(self, fold: int | None) -> dict[int, float]:
        """Return the ratios by key of the word, computed from all folds but one; None uses all folds.

        Only words that the dictionary lists have one: most others are names.
        """
        captions, others = (self._sum(positive, fold) for positive in (True, False))
        folder = load_wordnet().folder
        ratios = likelihood_ratios(captions, others)
        return {word_key(word): ratio for word, ratio in ratios.items() if word.isalpha() and is_listed(word, folder)}

    def _sum(self, positive: bool, fold: int | None) -> Counter[str]:
        found: Counter[str] = Counter()
        for (of, verdict), counts in self._counts.items():
            if verdict == positive and of != fold:
                found.update(counts)
        return found


def group_ratios(ratios: dict[int, float]) -> dict[str, str]:
    """Return ratio → the keys of its words in order, as the file of weights has them."""
    keys: dict[float, list[str]] = {}
    for key in sorted(ratios):
        if ratios[key]:
            keys.setdefault(ratios[key], []).append(f"{key:08x}")
    return {str(ratio): " ".join(keys[ratio]) for ratio in sorted(keys)}
