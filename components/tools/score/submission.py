"""The files that COCO's caption server takes.

Its program reads ``captions_val2014_<algorithm>_results.json`` and ``captions_test2014_<algorithm>_results.json`` from the top of
one zip: both, also where only the test's figures are wanted. Each is a list of ``image_id`` (a number) and ``caption`` for every
image of its split: 40,504 and 40,775.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.files import disk_error, publish_bytes
from components.metrics.coco import read_candidates, read_json
from components.tools.score.scoring import from_file

SPLITS = {"val2014": 40_504, "test2014": 40_775}
"""Images of each split."""
_NAME = re.compile(r"[A-Za-z0-9.-]+")


def write_submission(candidates: Path, split: str, algorithm: str, out: Path, images: Path | None = None) -> dict[str, Any]:
    """Write one split's results, and the zip of what is there of both splits.

    Args:
        candidates: a COCO results file.
        split: ``val2014`` or ``test2014``.
        algorithm: a name of letters, figures, full stops and hyphens (underscores part file names).
        out: the folder, made if need be; the same algorithm's file of the other split, if there, is zipped too.
        images: the split's image ids, which the captions must be of: COCO's JSON (``image_info_test2014.json``),
            a JSON list, or one a line.

    Raises:
        HearsightError: a name, a file or an id does not fit; nothing is written then.
    """
    if split not in SPLITS:
        raise HearsightError(f"'{split}' is no split of the server", where="--split", hint=f"take {' or '.join(SPLITS)}")
    if not _NAME.fullmatch(algorithm):
        raise HearsightError(
            f"'{algorithm}' will not do in a file's name there",
            where="--algorithm",
            hint="take letters, figures, full stops and hyphens",
        )
    captions: dict[int, str] = from_file(candidates, _numbered)
    if images is not None:
        _hold_to(captions, from_file(images, _image_ids), candidates, images)
    rows = [{"image_id": image_id, "caption": text} for image_id, text in sorted(captions.items())]
    file = out / f"captions_{split}_{algorithm}_results.json"
    bundle = out / f"{algorithm}_results.zip"
    try:
        out.mkdir(parents=True, exist_ok=True)
        publish_bytes(file, json.dumps(rows, ensure_ascii=True, separators=(",", ":")).encode())
        there = [path for each in SPLITS if (path := out / f"captions_{each}_{algorithm}_results.json").is_file()]
        publish_bytes(bundle, _zipped(there))
    except OSError as error:
        raise disk_error(error, out) from error
    lacking = [each for each in SPLITS if each not in {path.name.split("_")[1] for path in there}]
    told: dict[str, Any] = {"file": str(file), "zip": str(bundle), "captions": len(rows), "images_of_the_split": SPLITS[split]}
    if len(rows) != SPLITS[split]:
        told["note"] = "the server takes a caption for every image of the split, no more and no fewer"
    if lacking:
        told["lacking"] = f"{' and '.join(lacking)}: the server wants both splits in one zip"
    return told


def _numbered(data: bytes) -> dict[int, str]:
    found = read_candidates(data)
    for image_id, text in found.items():
        if not isinstance(image_id, int):
            raise ValueError(f"has image_id {image_id!r}, where the server's ids are numbers")
        if not text.strip():
            raise ValueError(f"has an empty caption for image {image_id}")
    return {int(image_id): text for image_id, text in found.items()}


def _image_ids(data: bytes) -> list[int]:
    try:
        content = read_json(data)
    except ValueError:
        content = data.decode("utf-8").split()  # one a line
    if isinstance(content, dict):
        content = [image.get("id") if isinstance(image, dict) else image for image in content.get("images") or []]
    try:
        found = [int(str(each)) for each in content] if isinstance(content, list) else []
    except ValueError:
        raise ValueError("has what is no image id: it takes COCO's JSON, a JSON list of numbers, or a number a line") from None
    if not found:
        raise ValueError("has no image ids")
    return found


def _hold_to(captions: dict[int, str], wanted: list[int], candidates: Path, images: Path) -> None:
    for what, ids in (
        ("no caption for", [each for each in wanted if each not in captions]),
        ("captions for images that are not in it:", sorted(captions.keys() - set(wanted))),
    ):
        if ids:
            first = ", ".join(str(each) for each in ids[:5]) + (", ..." if len(ids) > 5 else "")
            raise HearsightError(f"{what} {len(ids)} of {len(wanted)} images ({first})", where=f"{candidates} beside {images}")


def _zipped(files: list[Path]) -> bytes:
    """The files at the top of a zip, equal for equal content."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as bundle:
        for file in files:
            bundle.writestr(zipfile.ZipInfo(file.name, date_time=(1980, 1, 1, 0, 0, 0)), file.read_bytes(), zipfile.ZIP_DEFLATED)
    return held.getvalue()
