"""Words of the paper's tables 3 and 4, counted in a release's captions: a first look, not a judgement of any caption.

A word counts by its form alone: "viado" and "puta" have other uses, and what is meant is not looked into.
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
"""#PraCegoVer table 3, with the plurals it leaves out."""
BODY: Sequence[Sequence[str]] = (
    ("mulher", "mulheres"), ("homem", "homens"), ("menina", "meninas"), ("menino", "meninos"), ("negra", "negras"),
    ("negro", "negros"), ("branca", "brancas"), ("branco", "brancos"), ("indígena", "indígenas"), ("gorda", "gordas"),
    ("gordo", "gordos"), ("magra", "magras"), ("magro", "magros"),
)  # fmt: skip
"""Table 4, and the groups of figure 20."""


def offensive_words(words: Counter[str]) -> list[tuple[str, int, int]]:
    """(forms, occurrences, rank of the most frequent form among all words from 1; 0 where none occurs), most frequent first."""
    return _counted(words, OFFENSIVE)


def body_words(words: Counter[str]) -> list[tuple[str, int, int]]:
    """The same for words that speak of women and men and of their looks."""
    return _counted(words, BODY)


def _counted(words: Counter[str], groups: Sequence[Sequence[str]]) -> list[tuple[str, int, int]]:
    ranks = _ranks(words)
    found = [(", ".join(forms), sum(words[form] for form in forms), forms) for forms in groups]
    found.sort(key=lambda item: (-item[1], item[0]))
    return [(told, number, min((ranks[form] for form in forms if form in ranks), default=0)) for told, number, forms in found]


def _ranks(words: Mapping[str, int]) -> dict[str, int]:
    ordered = sorted(words, key=lambda word: (-words[word], word))
    return {word: rank for rank, word in enumerate(ordered, 1)}
