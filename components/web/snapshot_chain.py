"""Snapshots that build on earlier ones: which they are, whether they are unchanged, and where a body is stored.

``BASE`` in a snapshot's folder names every snapshot below it with its digest, oldest first, and an entry names the record that
holds its body, so a chain of any length is read as fast as one snapshot.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from components.core.errors import HearsightError
from components.core.files import publish_json
from components.core.shard_cache import ShardCache
from components.web.takedown_journal import follow_digest
from components.web.warc import Entry

NAME = "BASE"
HEAL = ".heal"
"""Ends the name of the store of what was requested to heal a snapshot."""
STATE = "state.parquet"
"""File name of a snapshot's state in the cache."""
_HELD = re.compile(r"([^/]+)/([^/:]+):(\d+)\+(\d+)")


class Saved(Protocol):
    """A state that can be written to a file."""

    def save(self, path: Path) -> None:
        """Write the state."""


S = TypeVar("S", bound=Saved)


@dataclass(frozen=True)
class Base:
    """One snapshot that another builds on."""

    snapshot: str
    digest: str
    """Its digest when it was completed."""


def read_bases(folder: Path) -> list[Base]:
    """Return the snapshots that the one in ``folder`` builds on, oldest first; usually empty.

    Raises:
        HearsightError: ``BASE`` is damaged.
    """
    try:
        return [Base(str(base["snapshot"]), str(base["digest"])) for base in json.loads((folder / NAME).read_bytes())]
    except FileNotFoundError:
        return []
    except (ValueError, TypeError, KeyError):
        raise HearsightError(
            "does not name a snapshot's bases", where=folder / NAME, hint="remove the snapshot's folder and crawl again"
        ) from None


def read_chain(folder: Path, base: str = "") -> list[Path]:
    """Return the snapshots that the one in ``folder`` builds on, oldest first, then itself.

    ``base``: the sibling that it will build on once it is begun; '' for the content of ``BASE``.
    """
    below = [folder.parent / known.snapshot for known in read_bases(folder)]
    if base and folder.parent / base not in below:
        below = read_chain(folder.parent / base)
    return [*below, folder]


def find_dependents(folder: Path) -> list[Path]:
    """Return the snapshots that build on the one in ``folder``, by name."""
    others = [path.parent for path in sorted(folder.parent.glob(f"*/{NAME}"))]
    return [other for other in others if folder in read_chain(other)[:-1]]


def fold_chain(
    cache: ShardCache, step: str, keys: Sequence[object], load: Callable[[Path], S], extend: Callable[[int, S | None], S]
) -> S | None:
    """Return the state of a chain of snapshots, computed upwards from the newest state in the cache; None without snapshots.

    Args:
        step: the states' name in the cache, which keeps each as one file.
        keys: for each snapshot, oldest first, everything that its state depends on.
        load: reads a saved state.
        extend: (index of a snapshot in ``keys``, the state below it or None) → its state.
    """
    state, start = None, 0
    for depth in reversed(range(len(keys))):
        if (folder := cache.find(step, keys[depth])) is not None:
            state, start = load(folder / STATE), depth + 1
            break
    for depth in range(start, len(keys)):
        state = extend(depth, state)
        cache.get(step, keys[depth], lambda folder, state=state: state.save(folder / STATE))  # type: ignore[misc]
    return state


def claim_base(folder: Path, base: str) -> list[Base]:
    """Set the snapshot in ``folder`` to build on its sibling ``base``; '' keeps its present base. Return its bases.

    Raises:
        HearsightError: it builds on another base, or was begun without; or ``base`` is not a complete snapshot.
    """
    bases = read_bases(folder)
    if bases or not base:
        if base and bases[-1].snapshot != base:
            raise _base_mismatch(folder, bases[-1].snapshot, base)
        return bases
    if base == folder.name:
        raise HearsightError(f"'{base}' cannot be its own base", where="crawl.base", hint="name an earlier snapshot, or none")
    if any(folder.glob("segment-*")):
        raise _base_mismatch(folder, "", base)
    base_folder = folder.parent / base
    new_bases = [*read_bases(base_folder), Base(base, read_complete(base_folder)["digest"])]
    publish_json(folder / NAME, [asdict(item) for item in new_bases])
    return new_bases


def require_base(bases: Sequence[Base], base: str, folder: Path) -> None:
    """Raise HearsightError unless a complete snapshot builds on the base that the parameters name."""
    if base != (bases[-1].snapshot if bases else ""):
        raise _base_mismatch(folder, bases[-1].snapshot if bases else "", base)


def _base_mismatch(folder: Path, present: str, requested: str) -> HearsightError:
    return HearsightError(
        f"builds on {repr(present) if present else 'no base'}, not on {repr(requested) if requested else 'none'}",
        where=folder,
        hint="set crawl.base to its former value, or crawl.snapshot to a new name",
    )


def read_completion(folder: Path, hint: str) -> dict[str, Any] | None:
    """Return the content of a snapshot's ``COMPLETE``; None when the snapshot is missing or not complete.

    Raises:
        HearsightError: the file is not valid; the error has the ``hint``.
    """
    try:
        content = json.loads((folder / "COMPLETE").read_bytes())
        if not isinstance(content["digest"], str):
            raise TypeError
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, TypeError, KeyError):
        raise HearsightError("is not a valid COMPLETE file", where=folder / "COMPLETE", hint=hint) from None
    return dict(content)


def read_complete(folder: Path) -> dict[str, Any]:
    """Return the content of ``COMPLETE`` of a snapshot that others build on; raises HearsightError without one."""
    completion = read_completion(folder, "restore it")
    if completion is None:
        raise HearsightError(
            "is not a complete snapshot, so no snapshot can build on it",
            where=folder,
            hint="complete or restore it, or name another base",
        )
    return completion


def identify_bases(folder: Path, bases: Sequence[Base]) -> list[list[str]]:
    """Return for each base its digest (without times) and the time of its first answer, which distinguishes crawls."""
    identities = []
    for base in bases:
        try:
            with (folder / base.snapshot / "index.jsonl").open("rb") as index:
                first = json.loads(index.readline() or b"{}").get("fetched", "")
        except (OSError, ValueError):
            first = ""
        identities.append([base.digest, str(first)])
    return identities


def locate_body(folder: Path, entry: Entry) -> tuple[Path, int, int]:
    """Return the segment that holds an entry's body, and the record's offset and length in bytes."""
    if not entry.held:
        return folder / entry.segment, entry.offset, entry.length
    snapshot, segment, offset, length = _parse_reference(entry.held)
    return folder.parent / snapshot / segment, offset, length


def refer_to_body(entry: Entry, snapshot: str) -> str:
    """Return the reference to the body of ``entry``, an entry of ``snapshot``: always to the record itself, at any depth."""
    return entry.held or f"{snapshot}/{entry.segment}:{entry.offset}+{entry.length}"


def _parse_reference(held: str) -> tuple[str, str, int, int]:
    match = _HELD.fullmatch(held)
    if match is None or match[1] in (".", ".."):
        raise ValueError(f"'{held}' names no record")
    return match[1], match[2], int(match[3]), int(match[4])


def check_held(folder: Path, bases: Collection[Base], entries: Iterable[Entry]) -> None:
    """Check every base that ``entries`` refer to against its digest, and its segments against the referenced positions.

    Costs a small file per base and a stat per segment; the bytes are verified when they are read.

    Raises:
        HearsightError: names the base that is missing, changed or too short.
    """
    known = {base.snapshot: base.digest for base in bases}
    needed: dict[tuple[str, str], int] = {}
    for entry in entries:
        if entry.held:
            try:
                snapshot, segment, offset, length = _parse_reference(entry.held)
            except ValueError:
                snapshot, segment, offset, length = "", "", 0, 0
            if snapshot not in known:
                raise HearsightError(
                    f"{entry.url} refers to {entry.held}, which is in no base", where=folder, hint="restore it, or crawl again"
                )
            needed[snapshot, segment] = max(needed.get((snapshot, segment), 0), offset + length)
    for snapshot in sorted({name for name, _ in needed}):
        base_folder = folder.parent / snapshot
        if read_complete(base_folder)["digest"] not in follow_digest(
            base_folder, known[snapshot]
        ):  # takedowns are legitimate changes
            raise HearsightError(
                f"the base '{snapshot}' of '{folder.name}' was changed after it was completed",
                where=folder.parent / snapshot,
                hint="restore it, or crawl anew without a base",
            )
    for (snapshot, segment), end in sorted(needed.items()):
        path = folder.parent / snapshot / segment
        if not path.is_file() or path.stat().st_size < end:
            raise HearsightError(
                f"the base '{snapshot}' of '{folder.name}' has lost some of its answers",
                where=path,
                hint="restore it, or crawl anew without a base",
            )
