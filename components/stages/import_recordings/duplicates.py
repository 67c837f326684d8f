"""Equal audio in one split only: the first split in a fixed order keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from components.core.stage_output import ShardRef

FIRST = ("test", "validation", "train")
"""Order of the splits: test audio must not be heard in training."""


def recorded_audio(shards: Iterable[ShardRef]) -> Iterator[tuple[str, str, str]]:
    """Yield (audio digest, split, record) of every usable recording."""
    for shard in shards:
        table = shard.read(["audio_sha256", "split", "key"])
        yield from zip(*(table.column(name).to_pylist() for name in ("audio_sha256", "split", "key")), strict=True)


def find_conflicts(recordings: Iterable[tuple[str, str, str]]) -> dict[str, list[str]]:
    """Return digest → the split that keeps it and its first record there, for audio in several splits."""
    keeps: dict[str, tuple[int, str]] = {}
    conflicting: set[str] = set()
    for digest, side, key in recordings:
        candidate = (FIRST.index(side), key)
        if digest in keeps and keeps[digest][0] != candidate[0]:
            conflicting.add(digest)
        keeps[digest] = min(keeps.get(digest, candidate), candidate)
    return {digest: [FIRST[keeps[digest][0]], keeps[digest][1]] for digest in sorted(conflicting)}
