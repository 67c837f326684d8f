"""Files of the sample's packages: resource bundles and translations are read back, broken ones are one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.sample.posts import PostsSite
from components.sample.qt import resources, translations
from tests.support.sample.posts_material import qm, rcc


def test_a_missing_package_names_the_command_that_fetches_it(tmp_path):
    with pytest.raises(HearsightError, match=r"tuxpaint-stamps-default is missing.*make data"):
        PostsSite(tmp_path)


FILES = st.dictionaries(
    st.text("abcé./", min_size=1, max_size=8).map(lambda t: "/" + t.replace("/", "_")), st.binary(max_size=50), max_size=6
)


@given(FILES, st.booleans())
def test_a_resource_bundle_reads_back(tmp_path_factory, files, compress):
    nested = {f"/one/two{path}": content for path, content in files.items()} | files
    path = tmp_path_factory.getbasetemp() / "any.rcc"
    path.write_bytes(rcc(nested, compress))
    assert resources(path) == dict(sorted(nested.items()))


@given(st.dictionaries(st.text(min_size=1, max_size=9), st.text(min_size=1, max_size=9), max_size=5), st.integers(0, 200))
def test_translations_are_read_back_and_broken_ones_give_a_one_line_error(tmp_path_factory, said, cut):
    said = {
        source: spoken for source, spoken in said.items() if max(source + spoken) < "\ud800" or max(source + spoken) > "\udfff"
    }
    path = tmp_path_factory.getbasetemp() / "any.qm"
    whole = qm(said)
    path.write_bytes(whole)
    assert translations(path) == said
    path.write_bytes(whole[: min(cut, len(whole) - 1)])
    try:
        assert set(translations(path)) <= set(said)
    except HearsightError as error:
        assert "\n" not in str(error)


@given(st.integers(0, 400), st.integers(0, 255))
def test_a_broken_bundle_gives_a_one_line_error(tmp_path_factory, place, value):
    whole = bytearray(rcc({"/a/b": b"content" * 9, "/c": b"d"}))
    path = tmp_path_factory.getbasetemp() / "broken.rcc"
    whole[min(place, len(whole) - 1)] = value
    path.write_bytes(bytes(whole[: max(1, len(whole) - place // 8)]))
    try:
        resources(path)
    except HearsightError as error:
        assert "\n" not in str(error)
