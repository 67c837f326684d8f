"""Write a release of one of two kinds, captions and posts, from its data to its metadata."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from components.core.errors import HearsightError
from components.core.progress import progress
from components.core.stage_output import StageOutput
from components.tools.release.anonymous import Pseudonyms, read_pseudonyms
from components.tools.release.croissant import write_croissant
from components.tools.release.facts import Facts, find_missing
from components.tools.release.files import CONCEPTS, LABELS, SPLITS, select_records, write_all
from components.tools.release.formats import FORMATS, SampleWriter
from components.tools.release.inputs import Options, ReleaseInputs, find_inputs, find_speech, read_lineage, speech_settings
from components.tools.release.notes import write_card, write_datasheet, write_settings
from components.tools.release.posts import write_posts
from components.tools.release.publish import publish_folder
from components.tools.release.questions import read_publisher
from components.tools.release.speech import FOLDER as SPEECH
from components.tools.release.speech import Corpus, SpeechWriter, Spoken
from components.tools.release.split_files import Published
from components.tools.release.summary import measure, write_summary

Batch = tuple[str, Mapping[str, Published]]
"""Name of a shard of the split, '' for all; and key → its released records."""


class Written(NamedTuple):
    """What the files of one kind of release hold, and what all kinds share is made from."""

    facts: Facts
    layout: str
    """``crawl.source.layout`` that reads them."""
    description: str
    batches: Iterable[Batch]
    counts: dict[str, Any]
    template: str
    """Of its card."""
    values: dict[str, Any]
    """Named by the template, besides the facts."""
    settings: Mapping[str, Any] = {}
    missing: Sequence[str] = ()
    """The publishers' fields that its questions lack."""


def write_captions(root: Path, inputs: ReleaseInputs, options: Options, folder: Path) -> Written:
    """Write the tables of a release of captions."""
    publisher = read_publisher(root, inputs.dataset, options.licence)
    selection = select_records(root, inputs)
    counts = write_all(selection, folder)
    examples = {split: captions.examples for split, captions in counts.statistics.items()}
    image = "a file name" if counts.local else "a web address"
    licence = " ".join(options.images_licence.split())
    facts = Facts(inputs, publisher, examples, counts.languages, counts.left_out, image, images_licence=licence)
    layout, template, what = "tsv" if counts.local else "cc3m", "readme_captions.md", "Captions of images"
    values: dict[str, Any] = {"counts": counts, "tables": SPLITS, "labels": LABELS}
    if (concepts := folder / CONCEPTS).is_file():
        template, what = "readme_pages.md", "Captions made from the alt-texts of web pages"
        values["concepts"] = concepts.read_text(encoding="utf-8")
    what = f"{what}; an image is named by {image}"
    return Written(facts, layout, what, selection.published(), counts.plain(), template, values)


def write_anonymous_posts(root: Path, inputs: ReleaseInputs, options: Options, pseudonyms: Pseudonyms, folder: Path) -> Written:
    """Write the files of a release of posts."""
    publisher = read_publisher(root, inputs.dataset, options.licence)
    counts, published, left_out = write_posts(root, inputs, folder, pseudonyms, options)
    examples = {split: part.posts for split, part in counts.parts[""].items() if split}
    languages = Counter(each.record.language for each in published.values())
    image, licence = "a file of images.tar.gz", "that of the posts"
    facts = Facts(inputs, publisher, examples, languages, left_out, image, images_licence=licence)
    what = "Public posts whose authors describe their image, with the images; accounts are replaced by keyed hashes"
    missing = write_datasheet(facts, counts, folder, options.mask_mentions)
    masked = {"mask_mentions": options.mask_mentions}
    values, settings = {"posts": counts, **masked}, {"subsets": dict(options.subsets), **masked}
    batches = [("", published)]
    return Written(facts, "pracegover", what, batches, counts.plain(), "readme_posts.md", values, settings, missing)


def finish(root: Path, written: Written, options: Options, folder: Path) -> dict[str, Any]:
    """Write what all kinds share, after their data; return the release's counts, and what the publishers have not stated."""
    facts = written.facts
    outputs = find_speech(root, facts.inputs) if options.speech else {}
    corpora, samples = _write_media(facts, outputs, options, folder, written.batches)
    lineages = {name: read_lineage(outputs[name]) for name, corpus in corpora.items() if corpus.utterances}
    facts = replace(facts, corpora=corpora, speech=lineages)
    speech = {name: speech_settings(output) for name, output in outputs.items()}
    write_settings(facts.inputs, folder, written.layout, speech, **written.settings)
    write_card(written.template, facts, folder, **written.values)
    spoken = f" Spoken captions: {facts.plain()['utterances']:,} utterances." if facts.corpora else ""
    values = measure(facts, folder, f"{written.description}. {facts.total:,} records.{spoken}")
    missing = [*written.missing, *(write_summary(values, folder) if options.summary else ()), *find_missing(facts.publisher)]
    write_croissant(facts, folder, values)
    not_stated = ", ".join(dict.fromkeys(missing)) or "nothing"
    another = {"crawl": f"left out: not the split's, run `dvc repro split@{facts.dataset}`"} if facts.inputs.lacks_crawl else {}
    return {**written.counts, **facts.plain(), **samples, **another, "not_stated": not_stated}


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
            if samples:
                # Of single shards the shards are counted.
                for record in published.values() if shard else progress(published.values(), len(published), "samples"):
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
    inputs = find_inputs(root, dataset, needs_crawl=options.summary or bool(options.images_licence))
    if inputs.posts and options.images_licence:
        what, hint = "is a set of posts, whose images are released under the posts' licence", "leave out --images-licence"
        raise HearsightError(what, where=f"dataset {dataset}", hint=hint)
    if not inputs.posts and (options.subsets or options.key_file or options.mask_mentions):
        what = "is not a set of posts: it has no subsets, users or mentions"
        raise HearsightError(what, where=f"dataset {dataset}", hint="leave out --subset, --key-file and --mask-mentions")
    write = partial(write_captions, root, inputs, options)
    if inputs.posts:
        write = partial(write_anonymous_posts, root, inputs, options, read_pseudonyms(root, out, options.key_file))
    summary, new = publish_folder(out, lambda folder: finish(root, write(folder), options, folder))
    return {"release": str(out), "dataset": dataset, **summary, "written": "yes" if new else "no: the same was there"}
