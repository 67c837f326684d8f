"""Write the files for COCO's caption server.

The server reads ``captions_val2014_<algorithm>_results.json`` and ``captions_test2014_<algorithm>_results.json`` from the top
of one zip, and needs both even for test scores alone. Each is a list of ``image_id`` (a number) and ``caption`` for every
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
from components.tools.score.scoring import read_file

SPLITS = {"val2014": 40_504, "test2014": 40_775}
"""Images of each split."""
_NAME = re.compile(r"[A-Za-z0-9.-]+")


def write_submission(candidates: Path, split: str, algorithm: str, out: Path, images: Path | None = None) -> dict[str, Any]:
    """Write one split's results, and a zip of the splits written so far; return what was written.

    Args:
        split: ``val2014`` or ``test2014``.
        algorithm: a name of letters, digits, full stops and hyphens (underscores separate the parts of file names).
        out: the folder, created if necessary; the algorithm's file of the other split there is zipped too.
        images: the split's image ids, which the captions must match: COCO's JSON (``image_info_test2014.json``),
            a JSON list, or one id per line.

    Raises:
        HearsightError: a name, a file or an id is not valid; nothing is written then.
    """
    if split not in SPLITS:
        raise HearsightError(f"'{split}' is no split of the server", where="--split", hint=f"give {' or '.join(SPLITS)}")
    if not _NAME.fullmatch(algorithm):
        hint = "use letters, digits, full stops and hyphens"
        raise HearsightError(f"'{algorithm}' cannot name the server's files", where="--algorithm", hint=hint)
    captions: dict[int, str] = read_file(candidates, _with_numeric_ids)
    if images is not None:
        _require_images(captions, read_file(images, _image_ids), candidates, images)
    rows = [{"image_id": image_id, "caption": text} for image_id, text in sorted(captions.items())]
    file = out / f"captions_{split}_{algorithm}_results.json"
    bundle = out / f"{algorithm}_results.zip"
    try:
        out.mkdir(parents=True, exist_ok=True)
        publish_bytes(file, json.dumps(rows, ensure_ascii=True, separators=(",", ":")).encode())
        written = [path for name in SPLITS if (path := out / f"captions_{name}_{algorithm}_results.json").is_file()]
        publish_bytes(bundle, _zipped(written))
    except OSError as error:
        raise disk_error(error, out) from error
    missing = [name for name in SPLITS if name not in {path.name.split("_")[1] for path in written}]
    result: dict[str, Any] = {"file": str(file), "zip": str(bundle), "captions": len(rows), "images_of_the_split": SPLITS[split]}
    if len(rows) != SPLITS[split]:
        result["note"] = "the server takes a caption for every image of the split, no more and no fewer"
    if missing:
        result["lacking"] = f"{' and '.join(missing)}: the server needs both splits in one zip"
    return result


def _with_numeric_ids(data: bytes) -> dict[int, str]:
    captions = read_candidates(data)
    for image_id, text in captions.items():
        if not isinstance(image_id, int):
            raise ValueError(f"has image_id {image_id!r}, where the server's ids are numbers")
        if not text.strip():
            raise ValueError(f"has an empty caption for image {image_id}")
    return {int(image_id): text for image_id, text in captions.items()}


def _image_ids(data: bytes) -> list[int]:
    try:
        content = read_json(data)
    except ValueError:
        content = data.decode("utf-8").split()  # one id per line
    if isinstance(content, dict):
        content = [image.get("id") if isinstance(image, dict) else image for image in content.get("images") or []]
    try:
        ids = [int(str(item)) for item in content] if isinstance(content, list) else []
    except ValueError:
        raise ValueError("holds an invalid image id: give COCO's JSON, a JSON list of numbers, or one number per line") from None
    if not ids:
        raise ValueError("has no image ids")
    return ids


def _require_images(captions: dict[int, str], image_ids: list[int], candidates: Path, images: Path) -> None:
    for what, ids in (
        ("no caption for", [image_id for image_id in image_ids if image_id not in captions]),
        ("captions for images that are not in it:", sorted(captions.keys() - set(image_ids))),
    ):
        if ids:
            first = ", ".join(map(str, ids[:5])) + (", ..." if len(ids) > 5 else "")
            raise HearsightError(f"{what} {len(ids)} of {len(image_ids)} images ({first})", where=f"{candidates} beside {images}")


def _zipped(files: list[Path]) -> bytes:
    """Return a zip with the files at its top; equal content gives equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as bundle:
        for file in files:
            bundle.writestr(zipfile.ZipInfo(file.name, date_time=(1980, 1, 1, 0, 0, 0)), file.read_bytes(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
