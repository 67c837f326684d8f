"""Write a release of one of two kinds, captions and posts, from its data to its metadata."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.progress import progress
from components.core.stage_output import StageOutput
from components.tools.release.anonymous import Pseudonyms, read_pseudonyms
from components.tools.release.croissant import write_croissant
from components.tools.release.facts import Facts
from components.tools.release.files import select_records, write_all
from components.tools.release.formats import FORMATS, SampleWriter
from components.tools.release.inputs import (
    Options,
    ReleaseInputs,
    find_inputs,
    find_speech,
    read_lineage,
    speech_settings,
)
from components.tools.release.notes import write_captions_notes, write_posts_notes, write_settings
from components.tools.release.posts import write_posts
from components.tools.release.publish import publish_folder
from components.tools.release.questions import DATASHEET, SUMMARY, read_publisher
from components.tools.release.records import Published
from components.tools.release.speech import FOLDER as SPEECH
from components.tools.release.speech import Corpus, SpeechWriter, Spoken
from components.tools.release.summary import measure, write_summary

Batch = tuple[str, Mapping[str, Published]]
"""Name of a shard of the split, '' for all; and key → its released records."""


def release_captions(root: Path, inputs: ReleaseInputs, options: Options, folder: Path) -> dict[str, Any]:
    """Write a release of captions; return its counts."""
    publisher = read_publisher(root, inputs.dataset, options.licence)
    selection = select_records(root, inputs)
    counts = write_all(selection, folder)
    examples = {split: captions.examples for split, captions in counts.statistics.items()}
    image = "a file name" if counts.local else "a web address"
    licence = " ".join(options.images_licence.split())
    facts = Facts(inputs, publisher, examples, counts.languages, counts.left_out, image, images_licence=licence)
    what = "Captions made from the alt-texts of web pages" if inputs.concepts else "Captions of images"
    more = _finish(
        root,
        facts,
        options,
        folder,
        "tsv" if counts.local else "cc3m",
        f"{what}; an image is named by {image}",
        batches=selection.published(),
        write_notes=lambda facts: write_captions_notes(facts, counts, folder),
    )
    return {**counts.plain(), **more}


def release_posts(root: Path, inputs: ReleaseInputs, pseudonyms: Pseudonyms, options: Options, folder: Path) -> dict[str, Any]:
    """Write a release of posts; return its counts, and what the publishers have not stated."""
    publisher = read_publisher(root, inputs.dataset, options.licence)
    posts = write_posts(root, inputs, folder, pseudonyms, options)
    examples = {split: part.posts for split, part in posts.facts.parts[""].items() if split}
    languages = Counter(each.record.language for each in posts.published.values())
    image, licence = "a file of images.tar.gz", "that of the posts"
    facts = Facts(inputs, publisher, examples, languages, posts.left_out, image, images_licence=licence)
    more = _finish(
        root,
        facts,
        options,
        folder,
        "pracegover",
        "Public posts whose authors describe their image, with the images; accounts are replaced by keyed hashes",
        batches=[("", posts.published)],
        write_notes=lambda facts: write_posts_notes(facts, posts.facts, folder, options.mask_mentions),
        subsets=dict(options.subsets),
        mask_mentions=options.mask_mentions,
    )
    return {**posts.facts.plain(), **more}


def _finish(
    root: Path,
    facts: Facts,
    options: Options,
    folder: Path,
    layout: str,
    description: str,
    *,
    batches: Iterable[Batch],
    write_notes: Callable[[Facts], None],
    **settings: Any,
) -> dict[str, Any]:
    """Write what all kinds share, after their data; return its counts."""
    outputs = find_speech(root, facts.inputs) if options.speech else {}
    corpora, counted = _write_media(facts, outputs, options, folder, batches)
    lineages = {name: read_lineage(outputs[name]) for name, corpus in corpora.items() if corpus.utterances}
    facts = replace(facts, corpora=corpora, speech=lineages)
    speech = {name: speech_settings(output) for name, output in outputs.items()}
    write_settings(facts.inputs, folder, layout, speech, **settings)
    write_notes(facts)
    spoken = f" Spoken captions: {facts.plain()['utterances']:,} utterances." if facts.corpora else ""
    description = f"{description}. {facts.total:,} records.{spoken}"
    values = measure(facts, folder, description)
    if options.summary:
        write_summary(values, folder)
    write_croissant(facts, folder, values)
    sheets = [*([DATASHEET] if layout == "pracegover" else []), *([SUMMARY] if options.summary else [])]
    missing = [name for sheet in sheets for name in sheet.unanswered(facts.publisher)]
    return {**facts.plain(), **counted, "not_stated": ", ".join(dict.fromkeys(missing + facts.not_stated())) or "nothing"}


def _write_media(
    facts: Facts, outputs: Mapping[str, StageOutput], options: Options, folder: Path, batches: Iterable[Batch]
) -> tuple[dict[str, Corpus], dict[str, int]]:
    """Write the spoken corpora and the samples, whose utterances these are; return the corpora and the counts of the samples."""
    with ExitStack() as stack:
        speech = {
            name: stack.enter_context(SpeechWriter(output, folder / SPEECH / name, options.recordings_licence))
            for name, output in outputs.items()
        }
        crawl = facts.inputs.stages.get("crawl") if facts.images_licence else None
        samples = stack.enter_context(SampleWriter(folder, crawl, options.formats)) if options.formats else None
        for shard, published in batches if speech or samples else ():
            spoken: dict[str, list[Spoken]] = defaultdict(list)
            for each in (each for writer in speech.values() for each in writer.add(shard, published)):
                spoken[each.utterance.record].append(each)
            # Of single shards the shards are counted.
            records = published.values() if shard else progress(published.values(), len(published), "samples")
            for record in records if samples else ():
                samples.add(record, spoken.get(record.record.id, ()))
    if samples and facts.images_licence and not samples.counts["images"]:
        what, hint = "keeps no image that could be released", "leave out --images-licence"
        raise HearsightError(what, where=facts.inputs.split.path, hint=hint)
    return {name: writer.corpus for name, writer in speech.items()}, samples.counts if samples else {}


def release(root: Path, dataset: str, out: Path, licence: str = "", **choices: Any) -> dict[str, Any]:
    """Write the release of ``dataset`` into ``out``; equal data (and, for posts, an equal key) give equal bytes.

    Args:
        licence: as the other ``choices`` a field of :class:`Options`.

    Returns:
        The folder, the examples of each split, other counts, and whether it was written or there already.

    Raises:
        HearsightError: the dataset is not finished, or its stages are of different runs; no row can be released; ``out`` holds
            another release, or something else; there is no key; an option does not fit the kind of dataset.
    """
    options = Options(licence, **choices)
    if unknown := [name for name in options.formats if name not in FORMATS]:
        raise HearsightError(f"'{unknown[0]}' is no format", where="--format", hint=f"give one of {', '.join(FORMATS)}")
    if options.images_licence and not options.formats:
        raise HearsightError("has no --format that holds images", where="--images-licence", hint="give --format parquet")
    inputs = find_inputs(root, dataset)
    if inputs.posts:
        if options.images_licence:
            what = "is a set of posts, whose images are released under the posts' licence"
            raise HearsightError(what, where=f"dataset {dataset}", hint="leave out --images-licence")
        pseudonyms = read_pseudonyms(root, out, options.key_file)
        summary, new = publish_folder(out, lambda folder: release_posts(root, inputs, pseudonyms, options, folder))
    else:
        if options.subsets or options.key_file or options.mask_mentions:
            what = "is not a set of posts: it has no subsets, users or mentions"
            hint = "leave out --subset, --key-file and --mask-mentions"
            raise HearsightError(what, where=f"dataset {dataset}", hint=hint)
        summary, new = publish_folder(out, lambda folder: release_captions(root, inputs, options, folder))
    return {"release": str(out), "dataset": dataset, **summary, "written": "yes" if new else "no: the same was there"}
