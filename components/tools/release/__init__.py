"""release: a finished dataset as files for others, in the layout its kind is published in (C7, C8, P7).

Pages are released as Conceptual Captions is: captions and addresses, no pictures. Posts, that is, a dataset whose chain takes
``describe``, are released as #PraCegoVer is: ``dataset.json``, pictures, splits, a datasheet, and no account by its name.
A verb and not a stage: a release goes to a folder of the user's choice, outlives the project's ``data/``, and nothing in the
graph reads it; a stage would empty its folder before each run, and a release must never be overwritten by another.
Where the parts come from: ``made``. Pages: ``files``, ``notes``. Posts: ``posts``. How it gets to its place: ``publish``.
Source: Conceptual Captions (CC) table 3; its dataset page (seed 001); #PraCegoVer (PCV) sections 3 and 6.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.tools.release.made import Made, find_parts, find_posts, is_of_posts

__all__ = ["Made", "find_parts", "release"]


def release(
    root: Path,
    dataset: str,
    out: Path,
    licence: str = "",
    *,
    subsets: Mapping[str, int] | None = None,
    key_file: Path | None = None,
    mask_mentions: bool = False,
) -> dict[str, Any]:
    """Write the release of ``dataset`` into ``out``; equal data (and, for posts, an equal key) give equal bytes.

    Args:
        licence: what the captions are licensed under; without, it says that none is stated.
        subsets: for posts, name → how many of the collected posts are drawn for it; see ``subsets``.
        key_file: for posts, where the key lies that users are hashed under; without, it is in the environment.
        mask_mentions: for posts, mask all accounts that captions mention, not only those of the set.

    Returns:
        What was written: the folder, the examples of each split and more, and whether it was there already.

    Raises:
        HearsightError: the dataset is not finished, or its parts are of different runs; no row can be released; ``out`` holds
            another release, or something else; there is no key; an option does not fit the kind of dataset.
    """
    from components.tools.release.publish import publish_folder

    if is_of_posts(root, dataset):
        from components.tools.release.anonymous import read_names
        from components.tools.release.posts import Wanted, write_posts

        wanted = Wanted(licence, dict(subsets or {}), mask_mentions)
        names, posts = read_names(root, out, key_file), find_posts(root, dataset)
        told, new = publish_folder(out, lambda folder: write_posts(root, posts, folder, names, wanted))
    else:
        if subsets or key_file or mask_mentions:
            raise HearsightError(
                "is no set of posts: it has no subsets, users or mentions",
                where=f"dataset {dataset}",
                hint="leave --subset, --key-file and --mask-mentions away",
            )
        from components.tools.release.files import write_all
        from components.tools.release.notes import write_notes

        made = find_parts(root, dataset)

        def fill(folder: Path) -> dict[str, Any]:
            facts = write_all(made, folder)
            write_notes(made, facts, folder, licence)
            return facts.plain()

        told, new = publish_folder(out, fill)
    return {"release": str(out), "dataset": dataset, **told, "written": "yes" if new else "no: the same was there"}
