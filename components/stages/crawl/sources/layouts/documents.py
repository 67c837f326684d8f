"""Layouts with one JSON document, read whole: COCO captions, the Karpathy split files of COCO and Flickr, #PraCegoVer.

COCO (``captions_train2017.json``, Chen et al. 2015): ``images`` with ``id``, ``file_name``, ``coco_url``; ``annotations`` with
``image_id`` and ``caption``. Karpathy (``dataset_coco.json``, ``dataset_flickr8k.json``): ``images`` with ``filename``, ``split``
and ``sentences``. #PraCegoVer (PCV, ``dataset.json``): a list of posts, or an object that maps identifiers to posts, with
``user`` (anonymised), ``filename``, ``raw_caption`` (as its author wrote it), ``caption`` (cleaned) and ``date``; its subsets 63K
and 173K map each split to a list of posts.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.text_encoding import decode_text
from components.stages.crawl.sources.layouts.row import Layout, Row


class DocumentLayout(Layout):
    """A layout whose rows are in one JSON document."""

    @abstractmethod
    def read_rows(self, document: Any, label: str) -> Iterator[Row]:
        """Yield the rows of a document; an element that does not fit becomes a row with a rule."""

    def rows(self, path: Path, label: str) -> Iterator[Row]:
        """See :class:`Layout`; a row's number is its element's position. One of the first twenty elements has to fit."""
        rows = self.read_rows(load_json(path, label), label)
        first = list(islice(rows, 20))
        if first and all(row.rule in ("bad_row", "missing_field") for row in first):
            raise self.wrong_layout_error(label, f"element {first[0].number}: {first[0].value}")
        yield from chain(first, rows)

    def wrong_layout_error(self, label: str, reason: str) -> HearsightError:
        """Return the error for a document of another layout."""
        what = f"is not of the layout '{self.name}': {reason}"
        return HearsightError(what, where=f"{label}: line 1", hint="set crawl.source.layout to the file's own")

    def require_list(self, document: Any, name: str, label: str) -> list[Any]:
        """Return the list with this name at the top of the document; raises HearsightError when it is missing."""
        content = document.get(name) if isinstance(document, dict) else None
        if not isinstance(content, list):
            raise self.wrong_layout_error(label, f"it has no list '{name}'")
        return content


def load_json(path: Path, label: str) -> Any:
    """Return the parsed document. Raises HearsightError: it is not JSON; names the line."""
    try:
        return json.loads(decode_text(path.read_bytes()))
    except json.JSONDecodeError as error:
        raise HearsightError(
            f"is not JSON: {error.msg}", where=f"{label}: line {error.lineno}", hint="fetch it again, or fix crawl.source.layout"
        ) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise HearsightError("is not JSON: it is not UTF-8", where=f"{label}: line {line}", hint="fetch it again") from None
    except ValueError:  # Python refuses to parse integers of thousands of digits
        raise HearsightError("is not JSON of a set: it holds too long a number", where=label, hint="fetch it again") from None
    except RecursionError:
        raise HearsightError(
            "is not JSON of a set: it nests too deeply", where=f"{label}: line 1", hint="fetch it again"
        ) from None


def check_fields(number: int, element: Any, fields: dict[str, type]) -> Row | None:
    """Return the row that names a missing field of an element; None when all are present with the right type."""
    if not isinstance(element, dict):
        return Row(number, rule="bad_row", value=type(element).__name__, threshold="an object")
    for name, kind in fields.items():
        if not isinstance(element.get(name), kind) or isinstance(element.get(name), bool):
            return Row(number, rule="missing_field", value=f"no '{name}'", threshold=", ".join(fields))
    return None


class Coco(DocumentLayout):
    """COCO captions (``captions_train2017.json``): annotations; images from ``image_folder``, else by ``coco_url``."""

    name = "coco"
    has_urls = True
    has_files = True

    def read_rows(self, document: Any, label: str) -> Iterator[Row]:
        images, annotations = (self.require_list(document, name, label) for name in ("images", "annotations"))
        images_by_id = {
            image["id"]: image for image in images if isinstance(image, dict) and isinstance(image.get("id"), (int, str))
        }
        for number, annotation in enumerate(annotations, 1):
            if misfit := check_fields(number, annotation, {"image_id": int, "caption": str}):
                yield misfit
                continue
            image, note = images_by_id.get(annotation["image_id"]), f"image_id {annotation['image_id']}"
            if image is None:
                yield Row(number, rule="unknown_image", value=note, threshold="an id of images")
            else:
                url = image.get("coco_url") or image.get("flickr_url") or ""
                yield Row(number, annotation["caption"], str(url), str(image.get("file_name") or ""), note=note)


class Karpathy(DocumentLayout):
    """Karpathy split files of COCO and Flickr (``dataset_coco.json``): sentences; the split is kept in the ledger."""

    name = "karpathy"
    has_files = True

    def read_rows(self, document: Any, label: str) -> Iterator[Row]:
        number = 0
        for image in self.require_list(document, "images", label):
            if misfit := check_fields(number + 1, image, {"filename": str, "sentences": list}):
                number += 1
                yield misfit
                continue
            folder = str(image.get("filepath") or "")
            file = f"{folder}/{image['filename']}" if folder else image["filename"]
            note = f"split {image.get('split') or 'unknown'}"
            for sentence in image["sentences"]:
                number += 1
                yield check_fields(number, sentence, {"raw": str}) or Row(number, sentence["raw"], file=file, note=note)


SPLITS = {"train", "validation", "test"}
"""Keys of #PraCegoVer's subsets, each with a list of posts."""


class PraCegoVer(DocumentLayout):
    """#PraCegoVer (``dataset.json``, ``pracegover_63k.json``): posts with the cleaned captions."""

    name = "pracegover"
    has_files = True
    caption_field = "caption"

    def read_rows(self, document: Any, label: str) -> Iterator[Row]:
        posts = list(document.values()) if isinstance(document, dict) else document
        if not isinstance(posts, list):
            raise self.wrong_layout_error(label, "it holds no posts")
        if isinstance(document, dict) and SPLITS.issuperset(document) and all(isinstance(part, list) for part in posts):
            posts = list(chain.from_iterable(posts))
        for number, post in enumerate(posts, 1):
            if misfit := check_fields(number, post, {"filename": str, self.caption_field: str}):
                yield misfit
                continue
            owner, date = str(post.get("user") or ""), str(post.get("date") or "")
            note = f"posted {date or 'undated'}"
            yield Row(number, post[self.caption_field], file=post["filename"], owner=owner, posted=date, note=note)


class PraCegoVerRaw(PraCegoVer):
    """#PraCegoVer: posts with the captions as their authors wrote them."""

    name = "pracegover_raw"
    caption_field = "raw_caption"
