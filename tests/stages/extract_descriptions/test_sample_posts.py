"""Descriptions of the sample's posts, whose true ones are known because the captions were made around them."""

from __future__ import annotations

import pytest

from components.sample.posts import PostsSite
from components.stages.extract_descriptions.words import count_words
from tests.stages.extract_descriptions.captions import found
from tests.support.sample.posts_material import build_packages

LEAST = 0.98
MIN_WORDS = 3


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> PostsSite:
    return PostsSite(build_packages(tmp_path_factory.mktemp("described")))


def same(truth: str, text: str | None) -> bool:
    """Equal but for the punctuation at the end, which is fixed."""
    return text is not None and " ".join(truth.split()).rstrip(".!?… ") == text.rstrip(".!?… ")


def test_a_description_above_the_minimum_length_is_extracted_unchanged(site: PostsSite) -> None:
    posts = [(post.caption.text, post.caption.truth) for post in site.plan.posts.values()]
    long = [(caption, truth) for caption, truth in posts if truth is not None and count_words(truth) > MIN_WORDS]
    missed = [(caption, truth, text) for caption, truth in long if not same(truth, text := found(caption).text)]
    assert len(long) > 150
    assert len(missed) <= (1 - LEAST) * len(long), missed[:20]


def test_no_malformed_or_too_short_caption_gives_a_description(site: PostsSite) -> None:
    malformed = 0
    for post in site.plan.posts.values():
        truth = post.caption.truth
        if truth is None or count_words(truth) <= MIN_WORDS:
            malformed += 1
            assert found(post.caption.text).text is None, post.caption.text
    assert malformed > 50
