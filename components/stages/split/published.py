"""By published lists: a file of picture names for each side, as Flickr8k's ``Flickr_8k.trainImages.txt`` and its two siblings.

A list may be a file of Karpathy's (``dataset_coco.json``) as well, which says of each picture where it belongs. A set that is
only tested on (Flickr 1K, COCO C40, the validation file of Conceptual Captions) has no other lists, or its test side takes all.
A record of a picture in no list is dropped (``unlisted``). A listed picture without a record is a ledger row of kind ``image``
(``no_record``): a set that lacks some must say so. A picture in two lists is an error, for then the published sides are not what
they are said to be. Two names of one picture (or two near-duplicates, where groups are known) on two sides: test keeps
it, then validation; the others drop by ``duplicate_across_sides``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from components.core.digests import digest_value
from components.core.errors import HearsightError
from components.core.ledger import dropped
from components.core.params import Settings
from components.execution.stage import Stage
from components.stages.split.records import groups_of_pictures, is_grouped, read_grouped, write_split

FIRST = ("test", "validation", "train")
"""Which side keeps what is on several: what is tested on must not have been seen, and stays comparable with others' results."""


EVERY = "*"
"""In the place of a file: every picture that no other list names."""
KARPATHY = {"train": ("train", "restval"), "validation": ("val",), "test": ("test",)}
"""Side → what Karpathy's files call it; ``restval`` is what others train on (COCO's validation pictures that are left)."""


class Lists(Settings):
    """The files, relative to the project: a picture's file name a line, or a ``.json`` of Karpathy's.

    Empty for no such side; "*" for every picture that no other list names.
    """

    train: str = ""
    """Names of the training pictures."""
    validation: str = ""
    """Names of the validation pictures."""
    test: str = ""
    """Names of the test pictures."""


def name_of(image_url: str) -> str:
    """The file name of a picture, by its address."""
    return PurePosixPath(unquote(urlsplit(image_url).path)).name


def read_lists(lists: Lists, home: Path) -> dict[str, str]:
    """Picture's file name → side.

    Raises:
        HearsightError: a list cannot be read or is empty, a picture is in two, two sides take every picture, or none takes any.
    """
    sides: dict[str, str] = {}
    given = {side: getattr(lists, side) for side in FIRST if getattr(lists, side)}
    if not given or list(given.values()).count(EVERY) > 1:
        what = f'"{EVERY}" stands for two sides' if given else "are all empty"
        raise HearsightError(what, where="split.lists", hint="name a file for one side at least, and every other picture's once")
    for side, file in given.items():
        if file == EVERY:
            continue
        path = home / file
        names = _names(path, side)
        if not names:
            raise HearsightError("names no picture", where=path, hint="fix split.lists, or bring the file")
        for number, name in enumerate(names, 1):
            if sides.setdefault(name, side) != side:
                raise HearsightError(
                    f"names {name}, which is in the list of {sides[name]} too",
                    where=f"{path}: name {number}",
                    hint="leave it in one of them",
                )
    return sides


def _names(path: Path, side: str) -> list[str]:
    """The file names that a list holds, those of its side where it tells several."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix == ".json":
            images = json.loads(text)["images"]
            lines = [str(image["filename"]) for image in images if image["split"] in KARPATHY[side]]
        else:
            lines = text.splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise HearsightError(f"cannot be read ({error})", where=path, hint="fix split.lists, or bring the file") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        what = f"is no list of Karpathy's: {type(error).__name__} {error}"
        raise HearsightError(what, where=path, hint="name a file of names, or one whose images have filename and split") from None
    return [name for name in (PurePosixPath(line.strip()).name for line in lines) if name]


def winners(groups: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """Group → the side that keeps it, from (group, side) of every record."""
    found: dict[str, str] = {}
    for group, side in groups:
        if group not in found or FIRST.index(side) < FIRST.index(found[group]):
            found[group] = side
    return found


def split_as_published(stage: Stage) -> None:
    """Write the split; metrics: how many pictures are listed, how many of them have no record."""
    source = stage.inputs["input"]
    groups = None if is_grouped(source) else groups_of_pictures(source)
    # The project is where the caches lie: a test's stage has its code elsewhere.
    home = stage.state.parent
    listed = read_lists(stage.params.lists, home)
    rest = next((side for side in FIRST if getattr(stage.params.lists, side) == EVERY), None)
    sides: dict[str, str] = {}
    names: dict[str, str] = {}
    of_group: list[tuple[str, str]] = []
    for shard in source.shards:
        table = read_grouped(shard, groups).select(["key", "image_url", "group"])
        for key, url, group in zip(*(column.to_pylist() for column in table.columns), strict=True):
            names[key] = name_of(url)
            side = listed.get(names[key], rest)
            if side is not None:
                sides[key] = side
                of_group.append((group, side))
    keeps = winners(of_group)
    have = set(names.values())
    missing = [dropped(name, "no_record", f"in the list of {listed[name]}", "a record of it", kind="image") for name in listed]
    missing = [row for row in missing if row["key"] not in have]
    write_split(
        stage,
        sides,
        groups,
        lambda key: names[key],
        keeps,
        missing,
    )
    stage.metric("pictures_listed", len(listed))
    stage.metric("pictures_without_record", len(missing))
    stage.note_parent("lists", digest_value([*sorted(listed.items()), *([EVERY, rest] if rest else [])]))
