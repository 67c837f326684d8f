"""The hold-out of CC §5.1: COCO's validation images join the training images, but for a random 4K, which are for validation.

The paper does not publish its images, so they are drawn anew. Each image is drawn by its name and the seed alone. The lists hold
file names, and with them COCO's ids (``COCO_val2014_000000000042.jpg``), as ``split.lists`` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from components.core.digests import sha256_bytes, sha256_file
from components.core.errors import HearsightError
from components.core.files import disk_error, publish_bytes
from components.core.seeded_rng import seeded_rng
from components.stages.crawl.sources.layouts import layout_named

SIZE = 4_000
"""CC §5.1: "a subset of 4K images"."""


def write_holdout(train: Path, val: Path, out: Path, size: int = SIZE, seed: int = 1) -> dict[str, Any]:
    """Write ``train.txt`` and ``validation.txt``: names of images that have captions, one a line, sorted.

    Args:
        train: COCO's ``captions_train2014.json``.
        val: COCO's ``captions_val2014.json``, out of which validation is drawn; its other images are for training.
        out: a folder, created if necessary.
        size: images of validation.
        seed: of the draw.

    Returns:
        The files with their digests and numbers of images, and the seed.

    Raises:
        HearsightError: a file is not of COCO's captions, both name an image, the size leaves validation or the rest of ``val``
            empty, or the folder has lists of another draw; nothing is written then.
    """
    names = {path: _image_names(path) for path in (train, val)}
    if common := sorted(names[train] & names[val]):
        raise HearsightError(
            f"names {len(common)} images of {train} too ({common[0]})", where=val, hint="give train2014 and val2014"
        )
    lists = draw_holdout(names[train], names[val], size, seed, where=str(val))
    contents = {out / f"{split}.txt": "".join(f"{name}\n" for name in lists[split]).encode() for split in lists}
    for path, content in contents.items():
        if path.exists() and path.read_bytes() != content:
            raise HearsightError("is another list", where=path, hint="name another folder, or remove it")
    try:
        out.mkdir(parents=True, exist_ok=True)
        for path, content in contents.items():
            publish_bytes(path, content)
    except OSError as error:
        raise disk_error(error, out) from error
    files = {str(path): {"images": content.count(b"\n"), "sha256": sha256_bytes(content)} for path, content in contents.items()}
    return {"lists": files, "seed": seed, "annotations": {str(path): sha256_file(path) for path in names}}


def draw_holdout(train: set[str], val: set[str], size: int, seed: int, *, where: str = "") -> Mapping[str, list[str]]:
    """Return ``train`` and ``validation``, sorted: ``size`` names of ``val`` are validation, all others train.

    Raises:
        HearsightError: the size leaves validation or the rest of ``val`` empty.
    """
    if not 0 < size < len(val):
        raise HearsightError(f"has {len(val)} images, so {size} cannot be held out", where=where, hint="give another --size")
    drawn = set(sorted(val, key=lambda name: (seeded_rng(seed, name, "holdout").random(), name))[:size])
    return {"train": sorted(train | val - drawn), "validation": sorted(drawn)}


def _image_names(path: Path) -> set[str]:
    """Return the names of the images that have a caption."""
    names = set()
    try:
        for row in layout_named("coco").rows(path, str(path)):
            if row.rule or not row.file:
                what = f"annotation {row.number} has no image of a known name ({row.rule or 'no file_name'} {row.value})"
                raise HearsightError(what, where=path, hint="fetch it again")
            names.add(row.file)
    except OSError as error:
        raise HearsightError(f"cannot be read ({error.strerror})", where=path) from None
    if not names:
        raise HearsightError("has no captions", where=path, hint="give captions_train2014.json or captions_val2014.json")
    return names
