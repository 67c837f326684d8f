"""Write a finished dataset as files for others, in the layout in which datasets of its kind are published.

Captions of images on the web are released as Conceptual Captions is (CC table 3 and its dataset page): captions and image
addresses, no images; captions of local images with the images' file names. Posts are released as #PraCegoVer is (PCV §3, §6):
``dataset.json``, images, splits and a datasheet, with accounts replaced by keyed hashes. All kinds get their records as CSV
(``records``), speech (``speech``), metadata (``croissant``), a card (``card``) and the differences to an earlier release
(``changes``). A release is a command and not a stage, since it must never be overwritten, while a stage empties its folder before
each run.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.tools.release.anonymous import read_pseudonyms
from components.tools.release.changes import require_earlier
from components.tools.release.inputs import find_inputs, is_posts_dataset
from components.tools.release.instances import PostOptions
from components.tools.release.kinds import Common, release_captions, release_posts
from components.tools.release.publish import publish_folder


def release(
    root: Path,
    dataset: str,
    out: Path,
    licence: str = "",
    *,
    subsets: Mapping[str, int] | None = None,
    key_file: Path | None = None,
    mask_mentions: bool = False,
    speech: bool = True,
    recordings_licence: str = "",
    since: Path | None = None,
) -> dict[str, Any]:
    """Write the release of ``dataset`` into ``out``; equal data (and, for posts, an equal key) give equal bytes.

    Args:
        licence: the captions' licence; without one, the release says that none is stated.
        subsets: for posts, name → number of collected posts to draw; see ``subsets``.
        key_file: for posts, the file with the key for hashing accounts; without one, the key is in the environment.
        mask_mentions: for posts, mask all accounts that captions mention, not only those of the dataset.
        speech: whether finished speech of the captions is released.
        recordings_licence: the licence under which the speakers agreed to publish their recordings; without one, recordings of
            people are left out.
        since: folder of an earlier release, to report the differences to.

    Returns:
        The folder, the examples of each split, other counts, and whether it was written or there already.

    Raises:
        HearsightError: the dataset is not finished, or its stages are of different runs; no row can be released; ``out`` holds
            another release, or something else; there is no key; an option does not fit the kind of dataset; ``since`` is no
            whole release of the dataset.
    """
    if since:
        require_earlier(since, dataset)
    common = Common(root, dataset, licence, speech, recordings_licence, since)
    if is_posts_dataset(root, dataset):
        options = PostOptions(licence, dict(subsets or {}), mask_mentions)
        pseudonyms, posts = read_pseudonyms(root, out, key_file), find_inputs(root, dataset, posts=True)
        summary, new = publish_folder(out, lambda folder: release_posts(common, posts, pseudonyms, options, folder))
    else:
        if subsets or key_file or mask_mentions:
            what = "is not a set of posts: it has no subsets, users or mentions"
            hint = "leave out --subset, --key-file and --mask-mentions"
            raise HearsightError(what, where=f"dataset {dataset}", hint=hint)
        inputs = find_inputs(root, dataset)
        summary, new = publish_folder(out, lambda folder: release_captions(common, inputs, folder))
    return {"release": str(out), "dataset": dataset, **summary, "written": "yes" if new else "no: the same was there"}
