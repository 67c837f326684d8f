"""Statistics of captions, in any language."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.metrics.caption_lengths import CaptionStatistics
from components.metrics.tokens import tokenize

CAPTIONS = st.lists(
    st.lists(st.sampled_from(["a", "dog", "gato", "no", "!", "red"]), max_size=12).map(" ".join), min_size=1, max_size=8
)


@given(CAPTIONS)
def test_mean_deviation_and_median_are_of_words_without_punctuation(captions):
    result = CaptionStatistics()
    for caption in captions:
        result.add(caption)
    words = [len(tokenize(caption)) for caption in captions]
    assert result.mean == pytest.approx(statistics.fmean(words)) and result.deviation == pytest.approx(statistics.pstdev(words))
    assert result.median == statistics.median(words)
    assert (result.examples, result.unique) == (len(captions), len({word for each in captions for word in tokenize(each)}))


def test_no_captions_have_zeros():
    result = CaptionStatistics()
    assert result.examples == result.unique == result.mean == result.deviation == result.median == 0
