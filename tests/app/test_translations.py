"""Texts of the interface: the same names, placeholders and kinds of values in every language."""

from __future__ import annotations

import re
from string import Formatter

import pytest
import yaml

from components.app.pages import FOLDER as TEMPLATES
from components.app.pages import LANGUAGES, TEXTS, texts

FILES = sorted({path.name.split(".")[0] for path in TEXTS.glob("*.yaml")})


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("name", FILES)
def test_a_file_has_the_same_texts_with_the_same_placeholders_in_every_language(name):
    read = {code: yaml.safe_load((TEXTS / f"{name}.{code}.yaml").read_text(encoding="utf-8")) for code in LANGUAGES}
    english = read["en"]
    for code, other in read.items():
        assert list(other) == list(english), code
        for key, text in other.items():
            assert isinstance(text, str) and text.strip(), f"{code}: {key}"
            assert placeholders(text) == placeholders(english[key]), f"{code}: {key}"


def test_no_name_is_in_two_files():
    names = [name for file in FILES for name in yaml.safe_load((TEXTS / f"{file}.en.yaml").read_text(encoding="utf-8"))]
    assert len(names) == len(set(names))


def test_every_text_that_a_template_names_exists():
    for path in TEMPLATES.glob("*.html"):
        for name in re.findall(r"""\bt\("(\w+)"[,)]|\bt\('(\w+)'[,)]""", path.read_text(encoding="utf-8")):
            assert (name[0] or name[1]) in texts("en"), f"{path.name}: {name}"
