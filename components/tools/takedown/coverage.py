"""Count what an entry of the takedown list covers now."""

from __future__ import annotations

from components.core.graph import Graph
from components.core.manifest import NAME
from components.core.stage_output import StageOutput
from components.tools.takedown.evidence import list_snapshots
from components.tools.takedown.matcher import ADDRESS_COLUMNS, Matcher
from components.web.erase import count_affected


def count_covered(graph: Graph, kind: str, value: str) -> tuple[dict[str, int], dict[str, int]]:
    """Return dataset → records of its crawl, and snapshot → stored answers, that an entry covers; those with none are left out.

    Raises:
        HearsightError: the value is not of its kind, or an output is damaged.
    """
    matcher = Matcher.from_plain([(kind, value)])
    records = {}
    for stage, dataset, folder in graph.outputs():
        if stage == "crawl" and (folder / NAME).is_file():
            shards = StageOutput(folder).shards
            records[dataset] = sum(
                matcher.covers(row) for shard in shards for row in shard.read(list(ADDRESS_COLUMNS)).to_pylist()
            )
    answers = {folder.name: count_affected(folder, matcher.listed) for folder in list_snapshots(graph.root)}
    return _present(records), _present(answers)


def _present(counts: dict[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}
