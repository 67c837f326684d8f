"""No setting of any stage accepts NaN or infinity."""

from __future__ import annotations

import importlib
import math
import typing
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from components.core.errors import HearsightError
from components.core.params import Settings, parse_settings, read_params_file
from tests.support import PROJECT

STAGES = sorted(read_params_file(PROJECT / "params.yaml")["chain"])
NONE = (math.nan, math.inf, -math.inf)


def settings_of(kind: Any) -> Iterator[type[Settings]]:
    """Yield the settings classes in an annotation, nested ones too."""
    if isinstance(kind, type) and issubclass(kind, Settings):
        yield kind
        for variant in kind.__subclasses__():
            yield from settings_of(variant)
        for field in kind.model_fields.values():
            yield from settings_of(field.annotation)
    for inner in typing.get_args(kind):
        yield from settings_of(inner)


def floats() -> list[tuple[str, type[Settings], str]]:
    """Return name, class and field of every float setting of every stage."""
    fields = {}
    for stage in STAGES:
        for kind in settings_of(importlib.import_module(f"components.stages.{stage}").Params):
            for name, field in kind.model_fields.items():
                if "float" in str(field.annotation):
                    fields[f"{kind.__module__}.{kind.__qualname__}.{name}"] = (kind, name)
    return [(where, *field) for where, field in sorted(fields.items())]


FLOATS = floats()


def test_every_stage_is_covered() -> None:
    packages = {where.removeprefix("components.").removeprefix("stages.").split(".")[0] for where, _, _ in FLOATS}
    assert packages >= {"crawl", "filter", "extract_descriptions", "dedup", "training"}
    assert any(where.startswith("components.stages.crawl.") and where.endswith(".timeout") for where, _, _ in FLOATS)


@pytest.mark.parametrize(("kind", "name"), [field[1:] for field in FLOATS], ids=[field[0] for field in FLOATS])
def test_no_setting_of_any_stage_takes_nan_or_infinity(kind: type[Settings], name: str) -> None:
    for value in NONE:
        for block in (value, [value], {"x": value}, [[value]]):
            with pytest.raises(ValidationError) as caught:
                kind.model_validate({name: block})
            assert any(error["loc"][0] == name for error in caught.value.errors())


def test_nan_is_one_clear_line_that_names_the_key() -> None:
    from components.stages.crawl import Params

    block = read_params_file(PROJECT / "params.yaml")["english"]["crawl"]
    for value in (".nan", ".inf", "-.inf"):
        with pytest.raises(HearsightError) as caught:
            parse_settings(Params, block | {"timeout": yaml.safe_load(value)}, "params.yaml: english.crawl")
        text = str(caught.value)
        assert "params.yaml: english.crawl.timeout: should be a finite number" in text and "\n" not in text
