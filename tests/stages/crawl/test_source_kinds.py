"""A kind of ``crawl.source`` is its module and a line in the table: settings and source of every line fit each other."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any, Literal

import pytest
from pydantic import TypeAdapter, ValidationError

from components.core.params import tags_of
from components.stages.crawl import Params
from components.stages.crawl.source_kinds import SOURCES, union_of
from components.stages.crawl.source_settings import SourceSettings
from components.stages.crawl.sources.source_pages import Source


class Feed(SourceSettings):
    """A new kind."""

    kind: Literal["feed"] = "feed"


@pytest.mark.parametrize("settings", SOURCES)
def test_a_line_of_the_table_names_the_settings_that_params_reads_and_a_source(settings: type[SourceSettings]) -> None:
    params = Params.model_validate({"source": tags_of(settings)})
    assert type(params.source) is settings
    source = resolve_name(SOURCES[settings])
    assert all(callable(getattr(source, name)) for name, member in vars(Source).items() if callable(member))


def test_a_new_line_of_the_table_is_enough_for_its_settings_to_be_read() -> None:
    known: TypeAdapter[Any] = TypeAdapter(union_of([*SOURCES, Feed], "kind", "provider"))
    assert isinstance(known.validate_python({"kind": "feed"}), Feed)
    with pytest.raises(ValidationError, match="feed"):
        TypeAdapter(union_of(SOURCES, "kind", "provider")).validate_python({"kind": "feed"})
