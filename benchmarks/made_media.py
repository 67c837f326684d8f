"""Tars that a benchmark wrote, as training reads those of a stage's output."""

from __future__ import annotations

from components.core.shards import TarReader
from components.core.stage_output import StageOutput


class MadeMedia(StageOutput):
    """A folder with ``media/<shard>.tar`` and no manifest."""

    def tar(self, shard: str) -> TarReader:
        """Return a tar without comparing its digest."""
        return TarReader(self.path / "media" / f"{shard}.tar")
