"""The caption metrics equal pycocoevalcap 1.2 on random captions."""

from __future__ import annotations

import contextlib
import io
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.metrics.captions import score_captions
from components.metrics.cider import best_constant, cider
from components.metrics.tokens import tokenize

WORDS = ["a", "the", "dog", "cat", "red", "ball", "on", "table", "of", "photo"]


def corpus(seed: int, items: int = 25) -> tuple[list[list[str]], list[list[list[str]]]]:
    source = random.Random(seed)

    def caption(least: int = 1) -> list[str]:
        return [source.choice(WORDS) for _ in range(source.randint(least, 9))]

    return [caption() for _ in range(items)], [[caption() for _ in range(source.randint(1, 4))] for _ in range(items)]


def as_oracle(candidates, references):
    gts = {i: [" ".join(r) for r in refs] for i, refs in enumerate(references)}
    res = {i: [" ".join(c)] for i, c in enumerate(candidates)}
    return gts, res


@pytest.mark.parametrize("seed", range(8))
def test_every_metric_equals_the_published_tool(seed: int) -> None:
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge

    candidates, references = corpus(seed)
    scores, oracle = score_captions(candidates, references), as_oracle(candidates, references)
    with contextlib.redirect_stdout(io.StringIO()):
        bleu, _ = Bleu(4).compute_score(*oracle)
    mean, expected = Cider().compute_score(*oracle)
    assert [scores.corpus[f"bleu_{size}"] for size in (1, 2, 3, 4)] == pytest.approx(bleu, abs=1e-9)
    assert scores.items["rouge_l"] == pytest.approx(Rouge().compute_score(*oracle)[1], abs=1e-9)
    assert scores.items["cider_d"] == pytest.approx(list(expected), abs=1e-9)
    assert scores.corpus["cider_d"] == pytest.approx(mean, abs=1e-9)


def test_the_best_constant_caption_has_the_highest_mean_cider() -> None:
    _, references = corpus(3, items=12)
    caption, score = best_constant(references, candidates=10_000)
    every = {tuple(r) for known in references for r in known}
    means = {c: math.fsum(cider([list(c)] * 12, references)) / 12 for c in every}
    assert score == pytest.approx(max(means.values()))
    assert means[tuple(caption)] == pytest.approx(score)


def test_punctuation_and_case_do_not_count() -> None:
    assert tokenize('A "Dog", isn\u2019t it?') == ["a", "dog", "is", "n't", "it"]
    assert tokenize("1,000 people's well-known 3.5 cm.") == ["1,000", "people", "'s", "well-known", "3.5", "cm"]
    assert tokenize("...") == []


@given(st.text())
def test_tokens_are_unchanged_by_a_second_tokenization(text: str) -> None:
    once = tokenize(text)
    assert all(token and " " not in token for token in once)
