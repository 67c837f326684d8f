"""Work items for nodes that do not share the project's folder: inputs by digest, fetched from the bucket on the node.

:func:`pack` replaces what an item reads from the driver's disk by digests of objects. :func:`unpack` makes the same item on a
node, in a folder of that node. What the item computes goes to the bucket as an entry of the shard cache, where the driver
finds it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from components.core.addresses import parse_output_path
from components.core.digests import sha256_bytes, sha256_file
from components.core.errors import HearsightError
from components.core.home import private_folder
from components.core.manifest import NAME
from components.core.object_store import PART, ObjectStore
from components.core.shard_cache import SHARED, ShardCache
from components.core.stage_output import StageOutput
from components.core.stored_files import CACHE, STATE
from components.execution.shard_worker import ShardSpec

HOME = "HEARSIGHT_NODE_DIR"
"""Environment variable of a node: the folder for its copies of inputs and results."""
ONE_MACHINE = frozenset({"crawl", "import_recordings"})
"""Stages whose steps read the project's own files (fetch store, tables, recordings); they run on the driver's machine."""
_ENTRY = re.compile(r"(?:^|/)cache/([A-Za-z0-9_.-]+)/([0-9a-f]{32})(?:/|$)")


@dataclass(frozen=True)
class Parcel:
    """An item and the digests of what it reads."""

    spec: Any
    root: Path
    """The project's root on the driver, which the item's paths begin with."""
    inputs: dict[str, tuple[str, str]]
    """Input → its output's name and the digest of its manifest."""
    files: dict[str, str]
    """Path below the root → digest."""
    entries: tuple[str, ...]
    """Entries of the shard cache that the item names: ``<step>/<key>``."""

    @property
    def step(self) -> str:
        """The item's step, for messages."""
        return str(self.spec.step)

    @property
    def name(self) -> str:
        """The item's name, for messages."""
        return str(getattr(self.spec, "shard", "") or getattr(self.spec, "name", ""))


def runs_here(items: Sequence[Any]) -> bool:
    """Return whether the items' stage needs the project's own files, so that they run on the driver's machine."""
    return bool(items) and items[0].step.partition(".")[0] in ONE_MACHINE


def pack(items: Sequence[Any], root: Path, store: ObjectStore) -> list[Parcel]:
    """Return the items without the driver's files; stores those that are not in the bucket yet."""
    if not items:
        return []
    inputs = {}
    for name, path in items[0].inputs.items():
        inputs[name] = ("/".join(parse_output_path(path)), StageOutput(path).digest)
    # Small files that the driver wrote for its workers; checkpoints are in folders below.
    work = {path: sha256_file(path) for path in sorted(items[0].work.glob("*")) if path.is_file() and path.stat().st_size <= PART}
    parcels, made = [], dict(work)
    for item in items:
        own = dict(work)
        if isinstance(item, ShardSpec):
            own[item.path] = item.sha256
            own |= {item.earlier: sha256_file(item.earlier)} if item.earlier is not None else {}
        made |= {path: digest for path, digest in own.items() if not path.is_relative_to(root / "data")}
        entries = tuple(sorted({f"{step}/{key}" for text in _texts(_content(item)) for step, key in _ENTRY.findall(text)}))
        files = {path.relative_to(root).as_posix(): digest for path, digest in own.items()}
        parcels.append(Parcel(item, root, inputs, files, entries))
    store.put_files(made.items())
    return parcels


def node_home(store: ObjectStore) -> Path:
    """Return the folder of this node for one bucket and prefix: in ``HEARSIGHT_NODE_DIR``, or in the user's temporary one."""
    return Path(os.environ.get(HOME) or private_folder()) / sha256_bytes(store.settings.url.encode())[:16]


def open_node(store: ObjectStore) -> ObjectStore:
    """Return the bucket with the node's own folder of objects."""
    home = node_home(store)
    (home / STATE / "annotations").mkdir(parents=True, exist_ok=True)
    (home / STATE).chmod(0o700)
    return ObjectStore(store.settings, home / CACHE)


def unpack(parcel: Parcel, store: ObjectStore) -> Any:
    """Return the item with paths of this node, after fetching what it names. ``store``: of :func:`open_node`."""
    home, spec = node_home(store), parcel.spec
    inputs = {name: _open_input(home, output, digest, store) for name, (output, digest) in parcel.inputs.items()}
    # By digest, since two versions of one file may be in use at a time.
    placed = {name: home / "files" / digest[:32] / name for name, digest in parcel.files.items()}
    work = home / spec.work.relative_to(parcel.root)
    prefix = spec.work.relative_to(parcel.root).as_posix()
    placed |= {name: home / name for name in parcel.files if Path(name).parent.as_posix() == prefix}
    wanted = [(digest, placed[name]) for name, digest in parcel.files.items()]
    store.fetch_all([(digest, path) for digest, path in wanted if not path.exists() or sha256_file(path) != digest])
    cache = ShardCache(home / STATE / SHARED, store)
    for entry in parcel.entries:
        cache.local(parcel.root / STATE / SHARED / entry)
    work.mkdir(parents=True, exist_ok=True)
    changes: dict[str, Any] = {"project": home, "state": home / STATE, "work": work, "inputs": inputs, "store": store}
    changes["opener"] = replace(spec.opener, folder=spec.state / "annotations")
    if isinstance(spec, ShardSpec):
        relative = {name: path.relative_to(parcel.root).as_posix() for name, path in _paths(spec).items()}
        changes |= {name: placed[path] for name, path in relative.items()}
    return replace(spec, **changes)


def _paths(spec: ShardSpec) -> dict[str, Path]:
    return {"path": spec.path} | ({"earlier": spec.earlier} if spec.earlier is not None else {})


def _open_input(home: Path, name: str, digest: str, store: ObjectStore) -> Path:
    folder = home / "outputs" / digest[:32] / "data" / name
    if not (folder / NAME).is_file() or StageOutput(folder, store).digest != digest:
        try:
            store.fetch(digest, folder / NAME)
        except HearsightError as error:
            error.hint = f"run `hearsight storage push {name}` in the project, then the same command again"
            raise
    return folder


def _content(item: Any) -> Any:
    return getattr(item, "spec", None) or getattr(item, "item", None) or getattr(item, "shared", None)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Path):
        yield value.as_posix()
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
