"""Parameters that do not fit exactly are refused in one line that says what, where and how to fix it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.core.params import Settings, parse_settings, read_params_file, stage_params


class Inner(Settings):
    depth: int
    """How deep."""


class Params(Settings):
    threshold: float
    """Where to cut, of 1."""
    names: list[str]
    """Who."""
    inner: Inner
    """Nested."""


GOOD: dict[str, Any] = {"threshold": 0.5, "names": ["a"], "inner": {"depth": 2}}


def refused(block: Any) -> str:
    with pytest.raises(HearsightError) as caught:
        parse_settings(Params, block, "params.yaml: english.filter")
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_valid_values_are_read_unchanged():
    assert parse_settings(Params, GOOD, "here").plain() == GOOD


def test_an_unknown_key_is_refused_with_the_nearest_name():
    text = refused({"treshold": 0.5, "names": ["a"], "inner": {"depth": 2}})
    assert "params.yaml: english.filter.treshold" in text
    assert "did you mean 'threshold'?" in text


def test_an_unknown_nested_key_is_refused_with_the_nearest_name_of_its_block():
    assert "did you mean 'depth'?" in refused({**GOOD, "inner": {"deptt": 2}})


def test_a_missing_key_is_named_with_its_purpose():
    text = refused({"names": [], "inner": {"depth": 1}})
    assert "english.filter.threshold: is missing" in text
    assert "Where to cut" in text


@pytest.mark.parametrize("value", ["0.5", None, [], True])
def test_a_value_of_another_type_is_refused(value):
    assert "english.filter.threshold" in refused({**GOOD, "threshold": value})


@pytest.mark.parametrize("block", [None, 3, "text", []])
def test_a_block_that_is_not_a_mapping_is_refused(block):
    assert "should hold settings" in refused(block)


def test_a_misspelt_dataset_is_named(tmp_path):
    with pytest.raises(HearsightError, match="did you mean 'english'"):
        stage_params(tmp_path / "params.yaml", {"english": {"filter": GOOD}}, "englsh", "filter", Params)


def test_a_params_file_that_is_not_yaml_is_one_line(tmp_path):
    path = tmp_path / "params.yaml"
    path.write_text("a: [1,\nb: }")
    with pytest.raises(HearsightError) as caught:
        read_params_file(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text(max_size=80))
def test_any_text_as_a_params_file_is_read_or_refused_with_one_line(text):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "params.yaml"
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        try:
            assert isinstance(read_params_file(path), dict)
        except HearsightError as error:
            assert "\n" not in str(error)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda c: st.lists(c, max_size=3) | st.dictionaries(st.text(max_size=8), c, max_size=4),
        max_leaves=8,
    )
)
def test_any_block_is_accepted_or_refused_with_one_line(block):
    try:
        parse_settings(Params, yaml.safe_load(yaml.safe_dump(block)), "here")
    except HearsightError as error:
        assert "\n" not in str(error)
