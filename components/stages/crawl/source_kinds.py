"""The kinds of ``crawl.source``: settings and source of each. A new kind is its module and a line in :data:`SOURCES`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, Any, Union

from pydantic import Field

from components.core.params import tags_of
from components.stages.crawl.source_settings import (
    Archives,
    ExportedSettings,
    InstagramSettings,
    MastodonSettings,
    Site,
    SourceSettings,
    Table,
)

if TYPE_CHECKING:
    from components.execution.stage import Stage
    from components.stages.crawl.sources.source_pages import Source
    from components.web.takedown_list import Takedown

SOURCES: dict[type[SourceSettings], str] = {
    Site: "components.stages.crawl.sources.site:SiteSource",
    Archives: "components.stages.crawl.sources.archives:ArchivesSource",
    Table: "components.stages.crawl.sources.table:TableSource",
    MastodonSettings: "components.stages.crawl.sources.posts:PostsSource",
    InstagramSettings: "components.stages.crawl.sources.posts:PostsSource",
    ExportedSettings: "components.stages.crawl.posts.exported:ExportedSource",
}
"""Settings → source, by name, because reading settings must not load what a source imports."""


def union_of(kinds: Iterable[type[SourceSettings]], tag: str, *more: str) -> Any:
    """Return the union of the classes; ``tag`` tells them apart, and the next one those that share its value."""
    groups: dict[str, list[type[SourceSettings]]] = {}
    for kind in kinds:
        groups.setdefault(tags_of(kind)[tag], []).append(kind)
    members = tuple(group[0] if len(group) == 1 else union_of(group, *more) for group in groups.values())
    return Annotated[Union[members], Field(discriminator=tag)]  # noqa: UP007 (the members are known when it runs)


if TYPE_CHECKING:
    AnySource = SourceSettings
else:
    AnySource = union_of(SOURCES, "kind", "provider")


def create_source(stage: Stage, params: Any, home: Path, snapshot: Path, taken: Takedown) -> Source:
    """Create the source that ``crawl.source`` names, over the snapshot folder, without what is taken down."""
    source: Source = resolve_name(SOURCES[type(params.source)])(stage, params, home, snapshot, taken)
    return source
