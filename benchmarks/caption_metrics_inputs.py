"""Captions to score: many small corpora of every odd kind, and large ones that look like COCO's."""

from __future__ import annotations

import random
from collections.abc import Iterator

WORDS = ["a", "the", "dog", "cat", "red", "ball", "on", "table", "of", "photo", "standing", "grass", "two", "'s", "n't", "3.5"]
UNICODE = ["chó", "ζώο", "собака", "犬", "كلب", "🐕", "x\u0301", "naïve", "ﬁ", "Å", "ı", "ß"]
KINDS = (
    "one reference",
    "five references",
    "forty references",
    "few words",
    "unicode",
    "equal captions",
    "with empty captions",
    "above 64 words",
)
Corpus = tuple[list[list[str]], list[list[list[str]]]]


def corpora(seed: int, number: int) -> Iterator[tuple[str, Corpus]]:
    """``number`` corpora of 1 to 7 items, kind after kind, each drawn from its own number."""
    for place in range(number):
        source = random.Random(f"{seed} {place}")
        kind = KINDS[place % len(KINDS)]
        yield kind, corpus(source, kind)


def corpus(source: random.Random, kind: str) -> Corpus:
    """One corpus of a kind; in all of them candidates may be empty, of one word, or repeat words."""
    words = UNICODE if kind == "unicode" else WORDS[:3] if kind == "few words" else WORDS
    # Forty references of few items: the peer takes a third of a millisecond for each.
    items = source.randint(1, 3 if kind in ("forty references", "above 64 words") else 7)
    exactly = {"one reference": 1, "five references": 5, "forty references": 40}.get(kind)
    fewest, most = (55, 80) if kind == "above 64 words" else (1, source.choice([1, 4, 12, 25]))

    def caption(least: int = fewest) -> list[str]:
        shape = source.random()
        if shape < 0.08:
            return [source.choice(words)] * source.randint(1, 6)
        return source.choices(words, k=source.randint(least, max(least, most)))

    empty = 0 if kind == "with empty captions" else fewest
    references = [[caption(empty) for _ in range(exactly or source.randint(1, 6))] for _ in range(items)]
    if not any(map(any, references)):
        references[0][0] = caption()  # The peer fails on references without a word.
    candidates = [
        source.choice(known) if source.random() < 0.3 else caption(fewest if source.random() < 0.9 else 0) for known in references
    ]
    if kind == "equal captions":
        one = caption()
        references = [[one for _ in known] if source.random() < 0.7 else known for known in references]
        candidates = [one if source.random() < 0.7 else candidate for candidate in candidates]
    return candidates, references


def large(items: int, references: int, seed: int = 0, vocabulary: int = 9000) -> Corpus:
    """A corpus with the lengths (10.5 words, sd 2.4) and about the vocabulary of COCO's; an item's references are alike.

    Words are drawn with Zipf's frequencies; six of ten are followed by one of five words that usually follow; a reference keeps
    half of its item's first caption, place by place. Drawn, not real.
    """
    source = random.Random(seed)
    words = [f"w{number}" for number in range(vocabulary)]
    weights = [1 / (number + 1) for number in range(vocabulary)]
    pool = iter(source.choices(words, weights, k=items * (references + 2) * 16))
    usual = {word: source.choices(words, weights, k=5) for word in words}

    def caption() -> list[str]:
        said = [next(pool)]
        for _ in range(max(1, round(source.gauss(10.5, 2.4))) - 1):
            said.append(source.choice(usual[said[-1]]) if source.random() < 0.6 else next(pool))
        return said

    def like(other: list[str]) -> list[str]:
        return [other[place] if place < len(other) and source.random() < 0.5 else word for place, word in enumerate(caption())]

    firsts = [caption() for _ in range(items)]
    return [like(first) for first in firsts], [[first, *(like(first) for _ in range(references - 1))] for first in firsts]
