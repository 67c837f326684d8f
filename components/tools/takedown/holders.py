"""Find the outputs, of any version, that hold some records: by the columns that name records, images and rating items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from components.tools.takedown import bucket_objects, evidence
from components.tools.takedown.versions import list_versions

NAMING = ("key", "record", "query", "candidate", "item", "image_sha256")
"""Columns that name what a row is of; an utterance is ``<record>.<n>``, a rating ``<item>.<rater>``."""


def find_names(table: pa.Table, names: Collection[str]) -> tuple[pa.Table, set[str]]:
    """Return the rows of a table in which a column of :data:`NAMING` has one of ``names``, and the names that they have."""
    wanted, chosen = pa.array(sorted(names), pa.string()), pa.chunked_array([pa.repeat(False, table.num_rows)])
    bare = {
        name: pc.replace_substring_regex(table[name], r"\..*", "") if name != "image_sha256" else table[name]
        for name in NAMING
        if name in table.column_names
    }
    for column in bare.values():
        chosen = pc.or_(chosen, pc.fill_null(pc.is_in(column, value_set=wanted), False))
    found = {name for column in bare.values() for name in pc.unique(column.filter(chosen)).to_pylist()}
    return table.filter(chosen), found & set(names)


def find_holders(root: Path, repo: Any, names: Collection[str]) -> tuple[dict[str, set[str]], dict[str, int]]:
    """Search the shard cache, DVC's stores and the bucket, by the columns of :data:`NAMING` alone.

    Returns:
        Digest of an output → the ``names`` in it, and place → its files with a name.
    """
    hits: dict[str, set[str]] = {}
    files: Counter[str] = Counter()
    for where, oid, opener in evidence.list_shards(root, repo) if names else ():
        with opener() as handle:
            shard = evidence.open_shard(handle)
            columns = shard.schema_arrow.names if shard else []
            if shard is None or "verdict" in columns:  # a ledger names what was dropped, too
                continue
            if found := find_names(shard.read([name for name in NAMING if name in columns]), names)[1]:
                hits[oid] = found
                files[where] += where == evidence.SHARD_CACHE
    holders: dict[str, set[str]] = {}
    for objects in bucket_objects.open_stores(root, repo) if hits else ():
        files[objects.name] = len(hits.keys() & set(objects.ids()))
        for version in list_versions(objects):
            if version.digest and (found := set().union(*(hits.get(oid, ()) for oid in version.files.values()))):
                holders.setdefault(version.digest, set()).update(found)
    return holders, +files
