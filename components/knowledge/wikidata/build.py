"""Builds the local index from the dump in one pass with constant memory, and publishes it atomically.

A killed build leaves a folder ``.building``, which the next one deletes; an earlier index stays valid until the new
``index.json`` replaces it. Builds are not resumed: a pass takes hours, and a compressed dump cannot be read from the middle.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tqdm import tqdm

from components.core.digests import sha256_bytes, sha256_file
from components.core.errors import HearsightError
from components.core.files import disk_error, move_into_place, publish_json, sync
from components.execution.process import sole_writer
from components.knowledge.wikidata.dump import Broken, Dump, Item
from components.knowledge.wikidata.index import FORMAT, pack_class, pack_item
from components.knowledge.wikidata.table import TableWriter, name_key, number_key

INTERNAL = frozenset({4167410, 4167836, 11266439, 13406463, 17442446, 13442814})
"""Excluded classes: disambiguation pages, categories, templates, lists, other internal items; scholarly articles."""
NAMED = 20
"""Broken lines listed in ``index.json``; others are counted."""


def build_index(dump: Path, out: Path, min_sitelinks: int = 1) -> dict[str, Any]:
    """Build the index of ``dump`` in ``out``.

    Args:
        dump: latest-all.json, .gz or .bz2.
        out: a folder, empty, absent, or holding an earlier index.
        min_sitelinks: items with fewer have no names in the index (but may be classes).

    Returns:
        The content of ``index.json``: counts, broken lines, digest.

    Raises:
        HearsightError: the dump is incomplete or has no item, or the disk is full; an earlier index stays.
    """
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / "index.json").is_file() and not _begun(out))):
        raise HearsightError("exists and is no index", where=out, hint="name another folder with --out")
    with Dump(dump) as source:
        try:
            out.mkdir(parents=True, exist_ok=True)
            with sole_writer(out / "lock", f"the index {out}"):
                return _build(source, out, min_sitelinks)
        except OSError as error:
            raise disk_error(error, out) from error


def _build(source: Dump, out: Path, min_sitelinks: int) -> dict[str, Any]:
    work = out / ".building"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    names, classes = TableWriter(work, "names"), TableWriter(work, "classes")
    counts = {"lines": 0, "items": 0, "entities": 0, "classes": 0, "broken": 0}
    broken: list[str] = []
    try:
        for item in _with_progress(source):
            counts["lines"] += 1
            if isinstance(item, Broken):
                counts["broken"] += 1
                if len(broken) < NAMED:
                    broken.append(f"line {item.line}: {item.why}")
            elif item is not None:
                counts["items"] += 1
                counts["entities"] += _add_entity(names, item, min_sitelinks)
                if item.is_class:
                    classes.add([number_key(item.number)], pack_class(item.label, item.subclass_of))
                    counts["classes"] += 1
        if not counts["items"]:
            why = f" ({broken[0]})" if broken else ""
            raise HearsightError(f"holds no item of Wikidata{why}", where=source.path, hint="name the JSON dump of all entities")
        names.finish()
        classes.finish()
    finally:
        names.close()
        classes.close()
    digests = {path.name: sha256_file(path) for path in sorted(work.iterdir())}
    digest = sha256_bytes(json.dumps(digests, sort_keys=True).encode())[:16]
    about = {
        "format": FORMAT,
        "digest": digest,
        "dump": source.path.name,
        "min_sitelinks": min_sitelinks,
        "names": names.keys,
        "bytes": sum(path.stat().st_size for path in work.iterdir()),
        **counts,
        "broken_lines": broken,
        "files": digests,
    }
    _publish(work, out, digest, about)
    return about


def _add_entity(names: TableWriter, item: Item, min_sitelinks: int) -> int:
    described = item.instance_of or item.occupations
    if not described or not item.names or item.sitelinks < min_sitelinks or not INTERNAL.isdisjoint(item.instance_of):
        return 0
    keys = dict.fromkeys(name_key(name) for name in item.names)
    names.add(keys, pack_item(item.number, item.sitelinks, item.instance_of, item.occupations), item.sitelinks)
    return 1


def _publish(work: Path, out: Path, digest: str, about: dict[str, Any]) -> None:
    sync(work)
    target = out / digest
    shutil.rmtree(target, ignore_errors=True) if not (out / "index.json").is_file() else None
    if target.exists():
        shutil.rmtree(work)  # an identical index exists
    else:
        move_into_place(work, target)
    publish_json(out / "index.json", about)
    for path in out.iterdir():
        if path.is_dir() and path != target:
            shutil.rmtree(path, ignore_errors=True)


def _with_progress(source: Dump) -> Iterator[Item | Broken | None]:
    """Yield the dump's items under a progress bar of the file's bytes, the only size known in advance."""
    live = sys.stderr.isatty()
    with tqdm(
        total=source.size, desc=source.path.name, unit="B", unit_scale=True, mininterval=0.2 if live else 30, dynamic_ncols=live
    ) as bar:
        for number, item in enumerate(source.items()):
            if number % 1000 == 0:
                bar.update(source.position - bar.n)
            yield item
        bar.update(source.size - bar.n)


def _begun(out: Path) -> bool:
    return all(path.name in (".building", "lock") for path in out.iterdir())
