"""The same audio on one side only: of several, the side that is first in a fixed order keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from components.core.stage_output import ShardRef

FIRST = ("test", "validation", "train")
"""The order: what is tested on must not have been heard in training."""


def of_records(shards: Iterable[ShardRef]) -> Iterator[tuple[str, str, str]]:
    """(audio's digest, side, record) of everything that was heard."""
    for shard in shards:
        table = shard.read(["audio_sha256", "split", "key"])
        yield from zip(*(table.column(name).to_pylist() for name in ("audio_sha256", "split", "key")), strict=True)


def conflicts(heard: Iterable[tuple[str, str, str]]) -> dict[str, list[str]]:
    """Digest → the side that keeps it and its first record there, for audio that is on several sides."""
    keeps: dict[str, tuple[int, str]] = {}
    several: set[str] = set()
    for digest, side, key in heard:
        own = (FIRST.index(side), key)
        if digest in keeps and keeps[digest][0] != own[0]:
            several.add(digest)
        keeps[digest] = min(keeps.get(digest, own), own)
    return {digest: [FIRST[keeps[digest][0]], keeps[digest][1]] for digest in sorted(several)}
