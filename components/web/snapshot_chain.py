"""Snapshots that stand on earlier ones: which, whether they still hold what is taken from them, and where it lies.

``BASE`` in a snapshot's folder names every snapshot below it with its digest, oldest first, and an entry names the very
record that holds its body; so a chain of any length is read as quickly as one snapshot. Here are the walks over a chain: down
(``chain``), up (``standing_on``), and what is computed snapshot by snapshot (``fold``). Not in scope: what is asked for again
(``earlier``).
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
STATE = "state.parquet"
"""What a snapshot's state is saved as in the cache."""
_HELD = re.compile(r"([^/]+)/([^/:]+):(\d+)\+(\d+)")


class Saved(Protocol):
    """A state that can be written to a file."""

    def save(self, path: Path) -> None:
        """Write it."""


S = TypeVar("S", bound=Saved)


@dataclass(frozen=True)
class Base:
    """One snapshot that another stands on."""

    snapshot: str
    digest: str
    """What it was completed with."""


def read_bases(folder: Path) -> list[Base]:
    """The snapshots that the one in ``folder`` stands on, oldest first; none for most.

    Raises:
        HearsightError: ``BASE`` is not what was written.
    """
    try:
        return [Base(str(one["snapshot"]), str(one["digest"])) for one in json.loads((folder / NAME).read_bytes())]
    except FileNotFoundError:
        return []
    except (ValueError, TypeError, KeyError):
        raise HearsightError(
            "does not name a snapshot's bases", where=folder / NAME, hint="remove the snapshot's folder and crawl again"
        ) from None


def read_chain(folder: Path, base: str = "") -> list[Path]:
    """The snapshots that the one in ``folder`` stands on, oldest first, then itself.

    Args:
        base: the sibling that it will stand on once it is begun; '' for what ``BASE`` says.
    """
    below = [folder.parent / one.snapshot for one in read_bases(folder)]
    if base and folder.parent / base not in below:
        below = read_chain(folder.parent / base)
    return [*below, folder]


def find_dependents(folder: Path) -> list[Path]:
    """The snapshots that stand on the one in ``folder``, by name."""
    others = [path.parent for path in sorted(folder.parent.glob(f"*/{NAME}"))]
    return [other for other in others if folder in read_chain(other)[:-1]]


def fold_chain(
    cache: ShardCache, step: str, keys: Sequence[object], load: Callable[[Path], S], extend: Callable[[int, S | None], S]
) -> S | None:
    """What the snapshots of a chain give together, computed upwards from the newest state that the cache holds.

    Args:
        cache: keeps the state after each snapshot, as one file.
        step: the states' name in the cache.
        keys: of each snapshot, oldest first, all that its state depends on.
        load: reads a state that was saved.
        extend: (place of a snapshot in ``keys``, the state below it or None) → its state.

    Returns:
        The state after the newest snapshot; None for no snapshot.
    """
    state, start = None, 0
    for depth in reversed(range(len(keys))):
        if (folder := cache.known(step, keys[depth])) is not None:
            state, start = load(folder / STATE), depth + 1
            break
    for depth in range(start, len(keys)):
        state = extend(depth, state)
        cache.get(step, keys[depth], lambda folder, state=state: state.save(folder / STATE))  # type: ignore[misc]
    return state


def claim_base(folder: Path, base: str) -> list[Base]:
    """Let the snapshot in ``folder`` stand on its sibling ``base`` ('': on what it stands on already), from now on.

    Raises:
        HearsightError: it stands on another, or was begun without; or ``base`` is no complete snapshot.
    """
    has = read_bases(folder)
    if has or not base:
        if base and has[-1].snapshot != base:
            raise _another(folder, has[-1].snapshot, base)
        return has
    if base == folder.name:
        raise HearsightError(f"'{base}' cannot be its own base", where="crawl.base", hint="name an earlier snapshot, or none")
    if any(folder.glob("segment-*")):
        raise _another(folder, "", base)
    below = folder.parent / base
    bases = [*read_bases(below), Base(base, read_complete(below)["digest"])]
    publish_json(folder / NAME, [asdict(one) for one in bases])
    return bases


def require_base(bases: Sequence[Base], base: str, folder: Path) -> None:
    """Hold a complete snapshot to the base that the parameters name; raises HearsightError."""
    if base != (bases[-1].snapshot if bases else ""):
        raise _another(folder, bases[-1].snapshot if bases else "", base)


def _another(folder: Path, has: str, wanted: str) -> HearsightError:
    return HearsightError(
        f"stands on {repr(has) if has else 'no base'}, not on {repr(wanted) if wanted else 'none'}",
        where=folder,
        hint="set crawl.base as it was, or crawl.snapshot to a new name",
    )


def read_complete(folder: Path) -> dict[str, Any]:
    """What ``COMPLETE`` says of a snapshot that others stand on.

    Raises:
        HearsightError: it is not there, or not complete.
    """
    try:
        said = json.loads((folder / "COMPLETE").read_bytes())
        return {**said, "digest": str(said["digest"])}
    except (FileNotFoundError, NotADirectoryError):
        raise HearsightError(
            "is no complete snapshot, so nothing can stand on it",
            where=folder,
            hint="complete or restore it, or name another base",
        ) from None
    except (ValueError, TypeError, KeyError):
        raise HearsightError("is not what completes a snapshot", where=folder / "COMPLETE", hint="restore it") from None


def identify_bases(folder: Path, bases: Sequence[Base]) -> list[list[str]]:
    """Of each snapshot its digest, which knows no times, and when its first answer came, by which crawls are told apart."""
    found = []
    for base in bases:
        try:
            with (folder / base.snapshot / "index.jsonl").open("rb") as index:
                first = json.loads(index.readline() or b"{}").get("fetched", "")
        except (OSError, ValueError):
            first = ""
        found.append([base.digest, str(first)])
    return found


def locate_body(folder: Path, entry: Entry) -> tuple[Path, int, int]:
    """The segment that holds an entry's body, and the record's offset and length in bytes."""
    if not entry.held:
        return folder / entry.segment, entry.offset, entry.length
    snapshot, segment, offset, length = _parts(entry.held)
    return folder.parent / snapshot / segment, offset, length


def refer_to_body(entry: Entry, snapshot: str) -> str:
    """How to refer to the body of ``entry``, an entry of ``snapshot``: through to the record itself, however deep."""
    return entry.held or f"{snapshot}/{entry.segment}:{entry.offset}+{entry.length}"


def _parts(held: str) -> tuple[str, str, int, int]:
    found = _HELD.fullmatch(held)
    if found is None or found[1] in (".", ".."):
        raise ValueError(f"'{held}' names no record")
    return found[1], found[2], int(found[3]), int(found[4])


def check_held(folder: Path, bases: Collection[Base], entries: Iterable[Entry]) -> None:
    """Hold every base that ``entries`` need to what it was completed with, and its segments to what is taken from them.

    Costs a small file a base and a glance a segment; the bytes themselves are verified as they are read.

    Raises:
        HearsightError: names the base that is gone, was changed, or is too short.
    """
    known = {base.snapshot: base.digest for base in bases}
    needed: dict[tuple[str, str], int] = {}
    for entry in entries:
        if entry.held:
            try:
                snapshot, segment, offset, length = _parts(entry.held)
            except ValueError:
                snapshot, segment, offset, length = "", "", 0, 0
            if snapshot not in known:
                raise HearsightError(
                    f"{entry.url} refers to {entry.held}, which is in no base", where=folder, hint="restore it, or crawl again"
                )
            needed[snapshot, segment] = max(needed.get((snapshot, segment), 0), offset + length)
    for snapshot in sorted({name for name, _ in needed}):
        below = folder.parent / snapshot
        if read_complete(below)["digest"] not in follow_digest(below, known[snapshot]):  # but for what was taken down from it
            raise HearsightError(
                f"the base '{snapshot}' of '{folder.name}' no longer holds what it was completed with",
                where=folder.parent / snapshot,
                hint="restore it, or crawl anew without a base",
            )
    for (snapshot, segment), end in sorted(needed.items()):
        path = folder.parent / snapshot / segment
        if not path.is_file() or path.stat().st_size < end:
            raise HearsightError(
                f"the base '{snapshot}' of '{folder.name}' has lost a part of its answers",
                where=path,
                hint="restore it, or crawl anew without a base",
            )
