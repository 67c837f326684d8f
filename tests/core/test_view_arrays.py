"""Packed views: exact, readable in parts and by ``zstd -d``, and refused where damaged."""

from __future__ import annotations

import io

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from components.core.view_arrays import PackedViews, pack_views

SHAPES = arrays.array_shapes(min_dims=3, max_dims=3, min_side=1, max_side=5)
ARRAYS = st.sampled_from([np.float16, np.float32]).flatmap(lambda kind: arrays.arrays(kind, SHAPES))


@given(ARRAYS)
@settings(max_examples=60, deadline=None)
def test_views_and_their_parts_are_read_as_they_were_written(array: np.ndarray) -> None:
    packed = PackedViews(memoryview(pack_views(array)))
    assert packed.array().tobytes() == array.tobytes() and packed.shape == array.shape and packed.dtype == array.dtype
    for view in range(len(packed)):
        assert packed.first(view).tobytes() == array[view, :1].tobytes()
        assert packed.rest(view).tobytes() == array[view, 1:].tobytes() and len(packed.rest(view)) == array.shape[1] - 1


def test_a_file_is_a_plain_npy_file_for_any_zstd_program() -> None:
    array = np.arange(24, dtype=np.float16).reshape(2, 3, 4)
    reader = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(pack_views(array)), read_across_frames=True)
    assert np.array_equal(np.load(io.BytesIO(reader.read())), array)


@given(st.binary(max_size=60) | st.integers(0, 400).flatmap(lambda at: st.integers(1, 255).map(lambda change: (at, change))))
@settings(max_examples=200, deadline=None)
def test_damage_is_a_value_error_or_changes_values_only(damage: bytes | tuple[int, int]) -> None:
    data = bytearray(pack_views(np.ones((2, 3, 40), np.float16)))
    if isinstance(damage, tuple):
        data[damage[0] % len(data)] ^= damage[1]
    else:
        data = bytearray(damage)
    try:
        result = PackedViews(bytes(data)).array()
    except ValueError:
        return
    assert isinstance(damage, tuple) and result.shape == (2, 3, 40)


def test_a_shortened_file_is_refused() -> None:
    data = pack_views(np.ones((1, 2, 3), np.float16))
    for length in range(len(data)):
        with pytest.raises(ValueError):
            PackedViews(data[:length])
