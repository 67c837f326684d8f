"""COCO captions as published (``captions_train2017.json``), and the Karpathy split files of COCO and Flickr.

COCO (Chen et al. 2015): ``images`` with ``id``, ``file_name``, ``coco_url``; ``annotations`` with ``image_id`` and ``caption``.
Karpathy (``dataset_coco.json``, ``dataset_flickr8k.json``): ``images`` with ``filename``, ``split`` and ``sentences``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from components.stages.crawl.sources.layouts.documents import check_fields, load_json, require_fitting_rows, require_lists
from components.stages.crawl.sources.layouts.row import Layout, Row


class Coco(Layout):
    """COCO captions: one row per annotation, in the file's order."""

    name = "coco"
    has_urls = True
    has_files = True

    def rows(self, path: Path, label: str) -> Iterator[Row]:
        """See :class:`Layout`; a row's number is its annotation's position."""
        images, annotations = require_lists(load_json(path, label), ("images", "annotations"), label, self.name)
        images_by_id = {
            image["id"]: image for image in images if isinstance(image, dict) and isinstance(image.get("id"), (int, str))
        }

        def read_rows() -> Iterator[Row]:
            for number, annotation in enumerate(annotations, 1):
                misfit = check_fields(number, annotation, {"image_id": int, "caption": str})
                image = images_by_id.get(annotation["image_id"]) if misfit is None else None
                if misfit is None and image is None:
                    value = f"image_id {annotation['image_id']}"
                    misfit = Row(number, rule="unknown_image", value=value, threshold="an id of images")
                if misfit is not None or image is None:
                    yield misfit or Row(number, rule="bad_row")
                    continue
                url = image.get("coco_url") or image.get("flickr_url") or ""
                note = f"image_id {annotation['image_id']}"
                yield Row(number, annotation["caption"], str(url), str(image.get("file_name") or ""), note=note)

        yield from require_fitting_rows(read_rows(), label, self.name)


class Karpathy(Layout):
    """Karpathy split files of COCO and Flickr: one row per sentence; the split is kept in the ledger."""

    name = "karpathy"
    has_files = True

    def rows(self, path: Path, label: str) -> Iterator[Row]:
        """See :class:`Layout`; a row's number counts sentences."""
        (images,) = require_lists(load_json(path, label), ("images",), label, self.name)

        def read_rows() -> Iterator[Row]:
            number = 0
            for image in images:
                misfit = check_fields(number + 1, image, {"filename": str, "sentences": list})
                if misfit is not None:
                    number += 1
                    yield misfit
                    continue
                folder = str(image.get("filepath") or "")
                file = f"{folder}/{image['filename']}" if folder else image["filename"]
                for sentence in image["sentences"]:
                    number += 1
                    note = f"split {image.get('split') or 'unknown'}"
                    misfit = check_fields(number, sentence, {"raw": str})
                    yield misfit or Row(number, sentence["raw"], file=file, note=note)

        yield from require_fitting_rows(read_rows(), label, self.name)
