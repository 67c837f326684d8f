"""Merging of any texts, and images of any size, mode and content."""

from __future__ import annotations

import io
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from components.stages.build_rating_items.inputs import draw
from components.stages.build_rating_items.items import TABLES, Place, Shown, Use, merge
from components.stages.build_rating_items.run import SIDE, shown_image

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SHOWN = st.tuples(
    st.sampled_from(["a" * 64, "b" * 64]), st.sampled_from(["whole", "centre"]), TEXT, st.sampled_from(["en", "pt"])
).map(lambda parts: Shown(*parts))
USE = st.builds(Use, st.sampled_from(TABLES), TEXT, st.just(""), TEXT, st.just(""), st.integers(0, 5), st.booleans())
PLACES = st.lists(st.builds(Place, USE, TEXT, st.integers(1, 5), st.none() | SHOWN), max_size=12)


@given(PLACES, st.randoms(use_true_random=False))
def test_merging_keeps_every_place_once_and_ignores_their_order(places: list[Place], random: object) -> None:
    items = merge(places)
    pairs = {(place.shown[:3], place.use) for place in places if place.shown is not None}
    assert Counter(use for item in items.values() for use in item.uses) == Counter(use for _, use in pairs)
    assert len({item.shown[:3] for item in items.values()}) == len(items)
    for key, item in items.items():
        asked = [place.raters for place in places if place.shown is not None and place.shown[:3] == item.shown[:3]]
        assert item.raters == max(asked) and item.record("p", "")["key"] == key
        tables = [use["table"] for use in item.record("p", "")["uses"]]
        assert tables == sorted(tables, key=TABLES.index)
    shuffled = list(places)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert {key: item.record("", "") for key, item in merge(shuffled).items()} == {
        key: item.record("", "") for key, item in items.items()
    }


@given(st.sets(TEXT, max_size=12), TEXT, st.integers(0, 6))
def test_an_added_key_displaces_one_of_a_draw_at_most(keys: set[str], added: str, number: int) -> None:
    before, after = draw(keys, number, 1, "purpose"), draw({*keys, added}, number, 1, "purpose")
    assert len(before) == (min(number, len(keys)) if number else len(keys))
    assert len(set(before) - set(after)) <= 1 and set(after) - set(before) <= {added}


@given(st.integers(1, 900), st.integers(1, 900), st.sampled_from(["RGB", "RGBA", "L", "LA", "P", "1", "I;16", "CMYK"]))
def test_any_image_is_shown_as_a_small_jpeg_of_its_shape(width: int, height: int, mode: str) -> None:
    target = io.BytesIO()
    form = "TIFF" if mode == "CMYK" else "PNG"
    Image.new(mode, (width, height)).save(target, form)
    whole, centre = (Image.open(io.BytesIO(shown_image(target.getvalue(), crop))) for crop in ("whole", "centre"))
    assert whole.format == centre.format == "JPEG" and whole.mode == centre.mode == "RGB"
    assert max(whole.size) == min(SIDE, max(width, height))
    assert abs(whole.width * height - whole.height * width) <= max(width, height)
    assert centre.size == (min(SIDE, width, height),) * 2
