"""COCO's two caption formats: what is read, and what each bad file says."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.metrics.coco import match_captions, read_candidates, read_references

IDS = st.one_of(st.integers(), st.text(max_size=8))
WORDS = st.text(alphabet="abc .'é😀", max_size=12)
GOOD = b'{"images": [{"id": 1}], "annotations": [{"image_id": 1, "caption": "a dog"}]}'
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["images", "annotations", "image_id", "id", "caption"]), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(st.dictionaries(IDS, st.lists(WORDS, max_size=4), min_size=1), st.booleans())
def test_references_are_returned_in_order_and_other_content_is_ignored(captions: dict, listed: bool) -> None:
    rows = [{"id": at, "image_id": image, "caption": text} for image, texts in captions.items() for at, text in enumerate(texts)]
    content = {"info": {}, "annotations": rows} | (
        {"images": [{"id": image, "file_name": "x"} for image in captions]} if listed else {}
    )
    expected = captions if listed else {image: texts for image, texts in captions.items() if texts}
    if expected:
        assert read_references(json.dumps(content).encode()) == expected


@given(st.dictionaries(IDS, WORDS, min_size=1))
def test_candidates_are_read_and_matched_in_the_order_of_the_references(captions: dict) -> None:
    data = json.dumps([{"image_id": image, "caption": text} for image, text in reversed(captions.items())])
    result = read_candidates(data.encode())
    assert result == captions
    items = match_captions({image: ["a dog"] for image in captions}, result)
    assert items.image_ids == list(captions) and items.candidates == list(captions.values())


@given(JSON)
def test_any_other_json_is_read_or_refused_with_one_line(content: object) -> None:
    for read in (read_references, read_candidates):
        try:
            read(json.dumps(content).encode())
        except ValueError as problem:
            assert str(problem) and "\n" not in str(problem)


@given(st.one_of(st.binary(max_size=40), st.integers(0, len(GOOD) - 1).map(lambda end: GOOD[:end])))
def test_bytes_that_are_not_a_complete_file_are_refused_with_one_line(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"^(is|has) ") as problem:
        read_references(data)
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\xff\xfe[", r"is not UTF-8 \(byte 2\)"),
        (b"[{", r"is not JSON: .*\(truncated\?\)"),
        (b'[{"image_id": 1, "caption": "a d', r"is not JSON: Unterminated string .*\(truncated\?\)"),
        (b"[" * 100_000, "nested too deep"),
        (b'[{"image_id": NaN, "caption": "a"}]', "has NaN where a number is needed"),
        (b"{}", "is not in COCO's result format"),
        (b"[]", "has no captions"),
        (b"[1]", 'has no "image_id" in entry 0'),
        (b'[{"caption": "a"}]', 'has no "image_id" in entry 0'),
        (b'[{"image_id": 1.5, "caption": "a"}]', "whole number or text is needed"),
        (b'[{"image_id": true, "caption": "a"}]', "whole number or text is needed"),
        (b'[{"image_id": null, "caption": "a"}]', "whole number or text is needed"),
        (b'[{"image_id": 1}]', "has null as caption of image 1"),
        (b'[{"image_id": 1, "caption": 3}]', "has 3 as caption of image 1"),
        (b'[{"image_id": 1, "caption": ["a"]}]', "as caption of image 1, where text is needed"),
        (b'[{"image_id": 1, "caption": "\\ud83d"}]', "a lone surrogate"),
        (b'[{"image_id": 7, "caption": "a"}, {"image_id": 7, "caption": "b"}]', r"several captions for 1 image \(7\)"),
    ],
)
def test_each_bad_candidates_file_gives_an_error_with_the_reason(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_candidates(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"[]", "is not in COCO's annotation format"),
        (b'{"images": []}', "is not in COCO's annotation format"),
        (b'{"images": {}, "annotations": []}', 'no list under "images"'),
        (b'{"images": [], "annotations": []}', "has no captions"),
        (b'{"images": [{"id": NaN}], "annotations": []}', "has NaN"),
        (b'{"images": [{"id": 1}], "annotations": [{"image_id": 2, "caption": "a"}]}', "caption of image 2, which is not under"),
        (b'{"annotations": [{"image_id": 2, "caption": false}]}', "has false as caption of image 2"),
    ],
)
def test_each_bad_references_file_gives_an_error_with_the_reason(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_references(data)


def test_files_with_a_byte_order_mark_are_read() -> None:
    assert read_references(b"\xef\xbb\xbf" + GOOD) == {1: ["a dog"]}


def test_mismatches_are_counted_and_the_first_are_named() -> None:
    references = {number: ["a dog"] for number in range(9)}
    with pytest.raises(ValueError, match=r"no candidate for 8 images \(1, 2, 3, 4, 5, \.\.\.\) of 9"):
        match_captions(references, {0: "a"})
    with pytest.raises(ValueError, match=r"candidates for 1 image \(99\), not among the references$"):
        match_captions(references, {99: "a"})
    with pytest.raises(ValueError, match="numbers in one file, text in the other"):
        match_captions(references, {"3": "a"})
    for empty in ([], ["", "  "]):
        with pytest.raises(ValueError, match=r"no reference for 1 image \(3\)"):
            match_captions(references | {3: empty}, dict.fromkeys(references, "a"))
    assert match_captions(references | {3: []}, {0: "a"}, subset=True).image_ids == [0]
