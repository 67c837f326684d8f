"""Write a release of one of two kinds, captions and posts, from its data to its metadata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.tools.release.anonymous import Pseudonyms, read_pseudonyms
from components.tools.release.croissant import write_croissant
from components.tools.release.facts import Facts
from components.tools.release.files import select_records, write_all
from components.tools.release.inputs import (
    ReleaseInputs,
    find_inputs,
    find_speech,
    is_posts_dataset,
    read_lineage,
    speech_settings,
)
from components.tools.release.instances import PostOptions
from components.tools.release.notes import write_captions_notes, write_posts_notes, write_settings
from components.tools.release.posts import write_posts
from components.tools.release.publish import publish_folder
from components.tools.release.questions import DATASHEET, SUMMARY, read_publisher
from components.tools.release.speech import Lookup, write_speech
from components.tools.release.summary import measure, write_summary


@dataclass(frozen=True)
class Common:
    """The options that both kinds have; see :func:`release`."""

    root: Path
    dataset: str
    licence: str
    speech: bool
    recordings_licence: str
    summary: bool


def release_captions(common: Common, inputs: ReleaseInputs, folder: Path) -> dict[str, Any]:
    """Write a release of captions; return its counts."""
    publisher = read_publisher(common.root, inputs.dataset, common.licence)
    selection = select_records(common.root, inputs)
    counts = write_all(selection, folder)
    examples = {split: captions.examples for split, captions in counts.statistics.items()}
    image = "a file name" if counts.local else "a web address"
    facts = Facts(inputs, publisher, examples, counts.languages, counts.left_out, image)
    what = "Captions made from the alt-texts of web pages" if inputs.concepts else "Captions of images"
    more = _finish(
        common,
        facts,
        folder,
        "tsv" if counts.local else "cc3m",
        f"{what}; an image is named by {image}",
        lookup=selection.published,
        write_notes=lambda facts: write_captions_notes(facts, counts, folder),
    )
    return {**counts.plain(), **more}


def release_posts(
    common: Common, inputs: ReleaseInputs, pseudonyms: Pseudonyms, options: PostOptions, folder: Path
) -> dict[str, Any]:
    """Write a release of posts; return its counts, and what the publishers have not stated."""
    publisher = read_publisher(common.root, inputs.dataset, options.licence)
    posts = write_posts(common.root, inputs, folder, pseudonyms, options)
    examples = {split: part.posts for split, part in posts.facts.parts[""].items() if split}
    languages = Counter(each.record.language for each in posts.published.values())
    facts = Facts(inputs, publisher, examples, languages, posts.left_out, "a file of images.tar.gz")
    more = _finish(
        common,
        facts,
        folder,
        "pracegover",
        "Public posts whose authors describe their image, with the images; accounts are replaced by keyed hashes",
        lookup=lambda shard: posts.published,
        write_notes=lambda facts: write_posts_notes(facts, posts.facts, folder, options.mask_mentions),
        subsets=dict(options.subsets),
        mask_mentions=options.mask_mentions,
    )
    return {**posts.facts.plain(), **more}


def _finish(
    common: Common,
    facts: Facts,
    folder: Path,
    layout: str,
    description: str,
    *,
    lookup: Lookup,
    write_notes: Callable[[Facts], None],
    **settings: Any,
) -> dict[str, Any]:
    """Write what all kinds share, after their data; return its counts."""
    outputs = find_speech(common.root, facts.inputs) if common.speech else {}
    corpora = write_speech(outputs, lookup, folder, common.recordings_licence)
    lineages = {name: read_lineage(outputs[name]) for name, corpus in corpora.items() if corpus.utterances}
    facts = replace(facts, corpora=corpora, speech=lineages)
    speech = {name: speech_settings(output) for name, output in outputs.items()}
    write_settings(facts.inputs, folder, layout, speech, **settings)
    write_notes(facts)
    spoken = f" Spoken captions: {facts.plain()['utterances']:,} utterances." if facts.corpora else ""
    description = f"{description}. {facts.total:,} records.{spoken}"
    values = measure(facts, folder, description)
    if common.summary:
        write_summary(values, folder)
    write_croissant(facts, folder, values)
    sheets = [*([DATASHEET] if layout == "pracegover" else []), *([SUMMARY] if common.summary else [])]
    missing = [name for sheet in sheets for name in sheet.unanswered(facts.publisher)]
    return {**facts.plain(), "not_stated": ", ".join(dict.fromkeys(missing + facts.not_stated())) or "nothing"}


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
    summary: bool = False,
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
        summary: whether ``summary.*`` is written, a summary of training data.

    Returns:
        The folder, the examples of each split, other counts, and whether it was written or there already.

    Raises:
        HearsightError: the dataset is not finished, or its stages are of different runs; no row can be released; ``out`` holds
            another release, or something else; there is no key; an option does not fit the kind of dataset.
    """
    common = Common(root, dataset, licence, speech, recordings_licence, summary)
    if is_posts_dataset(root, dataset):
        options = PostOptions(licence, dict(subsets or {}), mask_mentions)
        pseudonyms, posts = read_pseudonyms(root, out, key_file), find_inputs(root, dataset, posts=True)
        done, new = publish_folder(out, lambda folder: release_posts(common, posts, pseudonyms, options, folder))
    else:
        if subsets or key_file or mask_mentions:
            what = "is not a set of posts: it has no subsets, users or mentions"
            hint = "leave out --subset, --key-file and --mask-mentions"
            raise HearsightError(what, where=f"dataset {dataset}", hint=hint)
        inputs = find_inputs(root, dataset)
        done, new = publish_folder(out, lambda folder: release_captions(common, inputs, folder))
    return {"release": str(out), "dataset": dataset, **done, "written": "yes" if new else "no: the same was there"}
