"""Join a table of other people's captions to one's images by sha256, address or perceptual hash, as another column.

A caption is joined by the first of these that it shares with an image. Nothing is guessed: a caption that fits several images, or
an address whose image has another digest than the caption's row states, is listed and not joined. All joins are Arrow's, over
whole columns; memory grows with the rows, by their addresses, digests and captions alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from components.core.errors import HearsightError
from components.tools.image_tables import ImageTable, writer_of
from components.web.canonical import canonicalise_url

KEYS = ("sha256", "url", "phash")
"""What images are joined by, the surest first. Addresses are compared in their canonical form, hashes as a whole."""
KEPT = ("key", "url", "sha256", "caption")
SEVERAL_IMAGES, SEVERAL_CAPTIONS, OTHER_DIGEST = "several_images", "several_captions", "other_digest"


def join(own: ImageTable, other: ImageTable, out: Path, column: str = "captions", by: tuple[str, ...] = KEYS) -> dict[str, Any]:
    """Write ``own`` with a list of the captions of ``other`` in ``column`` to ``out``, and what is not clear beside it.

    ``<out>.ambiguous.csv``: captions that fit several images, or another file at the address (not joined), and those of images
    with several different ones (joined). ``<out>.unmatched.csv``: captions that fit no image, or are empty.

    Returns:
        Counts: ``rows``, of which ``with_captions``; ``captions``, which are ``joined``, ``ambiguous`` (not joined) and
        ``unmatched``; ``images_with_several``; ``by``, the keys that both tables have.

    Raises:
        HearsightError: the new column has no name or an old one's, or the tables share nothing to join by.
    """
    write = writer_of(out)
    names = {role: own.names[role] for role in KEPT if role in own.names}
    if not column or column in names.values():
        raise HearsightError(f"'{column}' is empty or is a column already", where="--column", hint="give another name")
    shared = [key for key in KEYS if key in by and key in own.names and key in other.names]
    if "caption" not in other.names or not shared:
        hint = f"their columns are {', '.join(other.table.column_names)[:200]}; give --columns"
        raise HearsightError(f"the table has no captions, or shares none of {', '.join(by)}", where="hearsight join", hint=hint)
    ours, theirs = ({key: _values(table, key) for key in KEYS} for table in (own, other))
    image = _identify(ours)
    captions = other.strings("caption")
    chosen, reasons = _match(ours, theirs, image, shared, usable=_present(captions))
    rows = pa.table({"caption": captions, "image": chosen, "row": pa.array(np.arange(len(captions)))})
    rows = rows.filter(pc.is_valid(rows["image"])).group_by(["image", "caption"]).aggregate([("row", "min")])
    rows = rows.sort_by([("image", "ascending"), ("row_min", "ascending")])
    counts = np.bincount(rows["image"].to_numpy(), minlength=len(image)).astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    lists = pa.ListArray.from_arrays(pa.array(ends), rows["caption"].combine_chunks()).take(image)
    write(own.table.select(list(names.values())).append_column(column, lists))
    several = pc.fill_null(pc.greater(pa.array(counts).take(chosen), 1), False)
    reasons = pc.if_else(several, SEVERAL_CAPTIONS, reasons)
    missing = pc.and_(pc.is_null(chosen), pc.equal(reasons, ""))
    numbers = pa.array(np.arange(1, len(captions) + 1))
    listed = other.with_column("reason", reasons).with_column("table_row", numbers).table
    ambiguous, unmatched = written(out)[1:]
    writer_of(ambiguous)(listed.filter(pc.not_equal(reasons, "")))
    writer_of(unmatched)(other.with_column("table_row", numbers).table.filter(missing))
    joined, without = len(captions) - chosen.null_count, int(pc.sum(missing).as_py() or 0)
    return {
        "rows": len(image),
        "with_captions": int((counts[image.to_numpy()] > 0).sum()),
        "captions": len(captions),
        "joined": joined,
        "ambiguous": len(captions) - joined - without,
        "unmatched": without,
        "images_with_several": int((counts > 1).sum()),
        "by": shared,
        "out": str(out),
    }


def written(out: Path) -> tuple[Path, Path, Path]:
    """Return the files that :func:`join` writes: the table, what is ambiguous, and what is unmatched."""
    return out, out.with_name(f"{out.name}.ambiguous.csv"), out.with_name(f"{out.name}.unmatched.csv")


def _values(table: ImageTable, key: str) -> pa.Array:
    """Return what a table states of a key, '' for nothing; addresses in their canonical form."""
    if key != "url":
        return table.strings(key)
    written = table.strings(key).dictionary_encode()  # images have several captions
    canonical = [canonicalise_url(url) or "" for url in written.dictionary.to_pylist()]
    return pa.array(canonical, pa.string()).take(written.indices)


def _identify(ours: dict[str, pa.Array]) -> pa.Array:
    """Return a number for the image of each row: rows of one sha256 (else of one address, else of one hash) are one image."""
    identity = ours["phash"]
    for key in ("url", "sha256"):
        identity = pc.if_else(_present(ours[key]), pc.binary_join_element_wise(key, ours[key], " "), identity)
    return identity.dictionary_encode().indices


def _present(values: pa.Array) -> pa.Array:
    return pc.not_equal(values, "")


def _match(
    ours: dict[str, pa.Array], theirs: dict[str, pa.Array], image: pa.Array, shared: Sequence[str], usable: pa.Array
) -> tuple[pa.Array, pa.Array]:
    """Return for each caption the image that it is joined to, or null, and why it is not joined, or ''."""
    size = len(usable)
    chosen, reasons = np.full(size, -1, np.int32), np.full(size, "", object)
    sums = pa.table({"image": image, "sha256": ours["sha256"]}).group_by("image").aggregate([("sha256", "max")])
    sums = sums.sort_by("image")["sha256_max"].combine_chunks()
    for key in shared:
        left = pa.table({"value": ours[key], "image": image})
        left = left.filter(_present(ours[key])).group_by("value").aggregate([("image", "min"), ("image", "max")])
        right = pa.table({"value": theirs[key], "row": pa.array(np.arange(size))})
        is_open = pc.and_(usable, pa.array((chosen < 0) & (reasons == "")))
        pairs = right.filter(pc.and_(is_open, _present(theirs[key]))).join(left, "value", join_type="inner")
        row, least, most = (pairs[name].to_numpy() for name in ("row", "image_min", "image_max"))
        reason = np.where(least == most, "", SEVERAL_IMAGES)
        if key == "url" and "sha256" in shared:
            stated, known = theirs["sha256"].take(pa.array(row)), sums.take(pa.array(least))
            other = pc.and_(pc.and_(_present(stated), _present(known)), pc.not_equal(stated, known))
            reason[(reason == "") & other.to_numpy(zero_copy_only=False)] = OTHER_DIGEST
        chosen[row], reasons[row] = np.where(reason == "", least, -1), reason
    return pa.array(chosen, mask=chosen < 0), pa.array(reasons, pa.string())
