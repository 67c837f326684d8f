"""Count the words of PCV tables 3 and 4 in a release's captions.

Words are counted by form alone: some ("viado", "puta") also have inoffensive uses, so the counts say nothing about a caption.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

OFFENSIVE: Sequence[Sequence[str]] = (
    ("idiota", "idiotas"), ("puta", "putas"), ("trouxa", "trouxas"), ("viado", "viados"), ("caralho",),
    ("retardado", "retardados", "retardada", "retardadas"), ("imbecil", "imbecis"), ("quenga", "quengas"),
    ("escroto", "escrotos", "escrota", "escrotas"), ("mulato", "mulatos", "mulata", "mulatas"), ("sapatona", "sapatonas"),
    ("xana",), ("vadia", "vadias"),
)  # fmt: skip
"""PCV table 3, with the plurals it omits."""
BODY: Sequence[Sequence[str]] = (
    ("mulher", "mulheres"), ("homem", "homens"), ("menina", "meninas"), ("menino", "meninos"), ("negra", "negras"),
    ("negro", "negros"), ("branca", "brancas"), ("branco", "brancos"), ("indígena", "indígenas"), ("gorda", "gordas"),
    ("gordo", "gordos"), ("magra", "magras"), ("magro", "magros"),
)  # fmt: skip
"""PCV table 4, and the groups of figure 20."""


def offensive_words(words: Counter[str]) -> list[tuple[str, int, int]]:
    """Return (forms, occurrences, rank of the most frequent form from 1, or 0 without occurrence), most frequent first."""
    return _count_groups(words, OFFENSIVE)


def body_words(words: Counter[str]) -> list[tuple[str, int, int]]:
    """Return the same for words about gender, skin colour and body."""
    return _count_groups(words, BODY)


def _count_groups(words: Counter[str], groups: Sequence[Sequence[str]]) -> list[tuple[str, int, int]]:
    ranks = _ranks(words)
    counts = [(", ".join(forms), sum(words[form] for form in forms), forms) for forms in groups]
    counts.sort(key=lambda item: (-item[1], item[0]))
    return [(name, count, min((ranks[form] for form in forms if form in ranks), default=0)) for name, count, forms in counts]


def _ranks(words: Mapping[str, int]) -> dict[str, int]:
    ordered = sorted(words, key=lambda word: (-words[word], word))
    return {word: rank for rank, word in enumerate(ordered, 1)}
