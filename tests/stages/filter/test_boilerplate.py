"""Boiler-plate: what is cropped, what is left alone, and that cropping twice is cropping once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.stages.filter.boilerplate import crop, find_drop_pattern, load_boilerplate

LISTS = load_boilerplate("en")
CREDITS = ("Photo: AP", "(dpa/L. Schwedes)", "Photo by Ann Lee", "(public domain)", "© Ann Lee", "Credit: NASA")
PIECES = st.sampled_from([*CREDITS, *LISTS.crop_prefix, *LISTS.crop_suffix, " - ", ": ", "a dog", "A Dog.", " | ", "İ", "(", ")"])


@pytest.mark.parametrize(
    ("alt", "text"),
    [
        ("Side view of an aircraft with landing gear down - Stock Image", "Side view of an aircraft with landing gear down"),
        ("Click to enlarge picture: A dog on a beach.", "A dog on a beach."),
        ("Stock photo - A dog (Getty Images)", "A dog"),
        ("A  dog\n on a beach", "A dog on a beach"),
        ("A dog speaks. Photo: AP", "A dog speaks"),
        ("A man walks a dog. (Ann Lee/AFP/Getty Images)", "A man walks a dog."),
        ("A man walks a dog. (Photo by ANN LEE / AFP) (Photo by ANN LEE/AFP via Getty Images)", "A man walks a dog."),
        ("A dog (in a house) - Stock photo", "A dog (in a house)"),
        ("A dog Â© Ann Lee/Photos.example", "A dog"),
        ("A dog<br />in a <b>house</b>", "A dog in a house"),
        ("A dog < a house > a cat", "A dog < a house > a cat"),
        ("An exhibition on colonies (public domain)", "An exhibition on colonies"),
        ("A photo of a dog: a picture (in a frame)", "A photo of a dog: a picture (in a frame)"),
        ("A photographer on a beach", "A photographer on a beach"),
        ("A garden in summer - Photo", "A garden in summer"),
        ("The fair goes on. AP file photo", "The fair goes on"),
        ("Two friends pose for a picture by a lake", "Two friends pose for a picture by a lake"),
        ("A black-and-white photo", "A black-and-white photo"),
        ("File photo of a dog", "a dog"),
        ("A shop with stock photography books", "A shop with stock photography books"),
    ],
)
def test_only_known_endings_are_cropped(alt: str, text: str) -> None:
    assert crop(alt, LISTS).text == text


def test_crop_returns_the_cropped_parts() -> None:
    assert crop("Stock photo: A dog - Getty Images", LISTS).pieces == ("stock photo", "getty images")


def test_a_language_without_lists_crops_nothing() -> None:
    lists = load_boilerplate("xx")
    assert crop("Stock photo", lists).text == "Stock photo" and find_drop_pattern("profile photo", lists) == ""


@given(st.one_of(st.text(), st.lists(PIECES).map(" ".join)))
def test_cropping_is_idempotent(text: str) -> None:
    once = crop(text, LISTS)
    again = crop(once.text, LISTS)
    assert again.text == once.text and again.pieces == ()
