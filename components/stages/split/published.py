"""Splits from published lists: a file of image names for each split, as Flickr8k's ``Flickr_8k.trainImages.txt``.

A list may also be Karpathy's ``dataset_coco.json``, which names the split of each image, or a subset of #PraCegoVer, which has
the posts of each split. A test-only set (Flickr 1K, COCO C40, the validation file of Conceptual Captions) has a test list only,
or "*" as its test list. A record of an unlisted
image is dropped (``unlisted``). A listed image without a record is a ledger row of kind ``image`` (``no_record``). An image
in two lists is an error, because the result would not be the published split. If two names of one image (or two
near-duplicates, where groups are known) are in two splits, test keeps them, then validation; the others are dropped by
``duplicate_across_sides``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from components.core.addresses import installed_file
from components.core.digests import digest_value
from components.core.errors import HearsightError
from components.core.ledger import dropped, kept
from components.core.params import Settings
from components.core.text_encoding import decode_text
from components.execution.stage import Stage
from components.stages.split.records import ACROSS, ONE_SPLIT, groups_of_images, is_grouped, read_grouped, write_split

SPLIT_PRIORITY = ("test", "validation", "train")
"""Priority of splits for an image listed in several: test first, so that test results stay comparable with published ones."""
ALL_OTHER_IMAGES = "*"
"""In place of a file: every image that no other list names."""
KARPATHY = {"train": ("train", "restval"), "validation": ("val",), "test": ("test",)}
"""Split → its names in Karpathy's files; ``restval`` (the rest of COCO's validation images) is commonly used for training."""


class Lists(Settings):
    """The files, relative to the project: one image file name a line, or Karpathy's ``.json``, or one of #PraCegoVer's.

    Empty for an absent split; "*" for every image that no other list names.
    """

    train: str = ""
    """Names of the training images."""
    validation: str = ""
    """Names of the validation images."""
    test: str = ""
    """Names of the test images."""

    def check(self, where: str) -> None:
        """Require a list, and at most one split that takes every other image."""
        files = [file for file in (self.train, self.validation, self.test) if file]
        if not files or files.count(ALL_OTHER_IMAGES) > 1:
            what = f'"{ALL_OTHER_IMAGES}" is set for two splits' if files else "are all empty"
            hint = f'set a file for at least one split, and "{ALL_OTHER_IMAGES}" at most once'
            raise HearsightError(what, where=where, hint=hint)


def read_lists(lists: Lists, project: Path) -> dict[str, str]:
    """Return image file name → split.

    Raises:
        HearsightError: a list cannot be read or is empty, or an image is in two.
    """
    splits: dict[str, str] = {}
    files = {split: getattr(lists, split) for split in SPLIT_PRIORITY if getattr(lists, split)}
    for split, file in files.items():
        if file == ALL_OTHER_IMAGES:
            continue
        path = installed_file(project, file)
        names = _names(path, split)
        if not names:
            raise HearsightError("contains no image name", where=path, hint="fix split.lists, or add the file")
        for number, name in enumerate(names, 1):
            if splits.setdefault(name, split) != split:
                raise HearsightError(
                    f"contains {name}, which is also in the list of {splits[name]}",
                    where=f"{path}: name {number}",
                    hint="remove it from one of them",
                )
    return splits


def _names(path: Path, split: str) -> list[str]:
    """Return the file names in a list; of a JSON file those of the split."""
    try:
        text = decode_text(path.read_bytes())
        if path.suffix == ".json":
            content = json.loads(text)
            if "images" in content:
                lines = [str(image["filename"]) for image in content["images"] if image["split"] in KARPATHY[split]]
            else:  # #PraCegoVer's subsets
                lines = [str(post["filename"]) for post in content[split]]
        else:
            lines = text.splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise HearsightError(f"cannot be read ({error})", where=path, hint="fix split.lists, or add the file") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        what = f"is not a Karpathy split file: {type(error).__name__} {error}"
        raise HearsightError(what, where=path, hint="use a file of names, or one whose images have filename and split") from None
    return [name for name in (PurePosixPath(line.strip()).name for line in lines) if name]


def winners(groups: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """Return group → the split that keeps it, from (group, split) of every record."""
    kept_by: dict[str, str] = {}
    for group, split in groups:
        if group not in kept_by or SPLIT_PRIORITY.index(split) < SPLIT_PRIORITY.index(kept_by[group]):
            kept_by[group] = split
    return kept_by


def split_as_published(stage: Stage) -> None:
    """Write the split; metrics: numbers of listed images and of those without a record."""
    source = stage.inputs["input"]
    groups = None if is_grouped(source) else groups_of_images(source)
    listed = read_lists(stage.params.lists, stage.project)
    default = next((split for split in SPLIT_PRIORITY if getattr(stage.params.lists, split) == ALL_OTHER_IMAGES), None)
    splits: dict[str, str] = {}
    names: dict[str, str] = {}
    grouped: list[tuple[str, str]] = []
    for shard in source.shards:
        table = read_grouped(shard, groups).select(["key", "image_url", "group"])
        for key, url, group in zip(*(column.to_pylist() for column in table.columns), strict=True):
            names[key] = PurePosixPath(unquote(urlsplit(url).path)).name
            split = listed.get(names[key], default)
            if split is not None:
                splits[key] = split
                grouped.append((group, split))
    keeps = winners(grouped)

    def decide(key: str, group: str) -> tuple[str, dict[str, str]]:
        split = splits.get(key)
        if split is None:
            return "", dropped(key, "unlisted", names[key], "a name in one of the lists")
        if keeps[group] != split:
            value = f"same image as {group}'s in {keeps[group]}"
            return "", dropped(key, ACROSS, value, ONE_SPLIT, detail=f"listed in {split}")
        return split, kept(key, detail=f"{split}, {names[key]}")

    present = set(names.values())
    missing = [
        dropped(name, "no_record", f"in the list of {listed[name]}", "a record of it", kind="image")
        for name in listed
        if name not in present
    ]
    write_split(stage, groups, decide, missing)
    stage.metric("images_listed", len(listed))
    stage.metric("images_without_record", len(missing))
    stage.note_parent("lists", digest_value([*sorted(listed.items()), *([ALL_OTHER_IMAGES, default] if default else [])]))
