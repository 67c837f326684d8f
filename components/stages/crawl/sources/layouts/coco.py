"""COCO captions as published (``captions_train2017.json``), and the Karpathy lists made of COCO and Flickr.

COCO (Chen et al. 2015): ``images`` with ``id``, ``file_name``, ``coco_url``; ``annotations`` with ``image_id`` and ``caption``.
Karpathy (``dataset_coco.json``, ``dataset_flickr8k.json``): ``images`` with ``filename``, ``split`` and ``sentences``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from components.stages.crawl.sources.layouts.documents import checked, lists_of, load, missing
from components.stages.crawl.sources.layouts.row import Layout, Row


class Coco(Layout):
    """COCO captions: one row an annotation, in the file's order."""

    name = "coco"
    has_urls = True
    has_files = True

    def rows(self, path: Path, shown: str) -> Iterator[Row]:
        """See :class:`Layout`; a row's number is its annotation's place."""
        images, annotations = lists_of(load(path, shown), ("images", "annotations"), shown, self.name)
        known = {image["id"]: image for image in images if isinstance(image, dict) and isinstance(image.get("id"), (int, str))}

        def each() -> Iterator[Row]:
            for number, annotation in enumerate(annotations, 1):
                lacks = missing(number, annotation, {"image_id": int, "caption": str})
                image = known.get(annotation["image_id"]) if lacks is None else None
                if lacks is None and image is None:
                    value = f"image_id {annotation['image_id']}"
                    lacks = Row(number, rule="unknown_image", value=value, threshold="an id of images")
                if lacks is not None or image is None:
                    yield lacks or Row(number, rule="bad_row")
                    continue
                url = image.get("coco_url") or image.get("flickr_url") or ""
                note = f"image_id {annotation['image_id']}"
                yield Row(number, annotation["caption"], str(url), str(image.get("file_name") or ""), note=note)

        yield from checked(each(), shown, self.name)


class Karpathy(Layout):
    """The lists most captioning papers split COCO and Flickr by: one row a sentence; the split stays in the ledger."""

    name = "karpathy"
    has_files = True

    def rows(self, path: Path, shown: str) -> Iterator[Row]:
        """See :class:`Layout`; a row's number counts sentences."""
        (images,) = lists_of(load(path, shown), ("images",), shown, self.name)

        def each() -> Iterator[Row]:
            number = 0
            for image in images:
                lacks = missing(number + 1, image, {"filename": str, "sentences": list})
                if lacks is not None:
                    number += 1
                    yield lacks
                    continue
                folder = str(image.get("filepath") or "")
                file = f"{folder}/{image['filename']}" if folder else image["filename"]
                for sentence in image["sentences"]:
                    number += 1
                    note = f"split {image.get('split') or 'unknown'}"
                    lacks = missing(number, sentence, {"raw": str})
                    yield lacks or Row(number, sentence["raw"], file=file, note=note)

        yield from checked(each(), shown, self.name)
