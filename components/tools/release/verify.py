"""Verify a release: every file's digest, that what the import reads from it equals its records and its audio, and its metadata.

The tables are read by the crawl's layouts and the speech by import_recordings' corpus and sound reader. Memory grows with the
number of records and utterances; audio is read one utterance at a time.
"""

from __future__ import annotations

import json
import tarfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.params import YAML_LOADER
from components.metrics.caption_lengths import CaptionStatistics
from components.speech.audio.files import RATE_HZ, read_sound
from components.stages.crawl.sources.layouts import layout_named
from components.stages.import_recordings.corpora import Recording, open_corpus
from components.tools.release.croissant import NAME as CROISSANT
from components.tools.release.croissant import check_croissant
from components.tools.release.facts import SETTINGS, find_missing, read_statements
from components.tools.release.files import LABELS, STATISTICS, statistics_tsv
from components.tools.release.files import SPLITS as TABLES
from components.tools.release.formats import hub_files, verify_samples, verify_typed
from components.tools.release.posts import DATASET, FOLDER, IMAGES
from components.tools.release.publish import SUMS, find_damage, read_sums
from components.tools.release.speech import FOLDER as SPEECH
from components.tools.release.speech import MANIFESTS, VOICE_COLUMNS, VOICES_FILE, Utterance
from components.tools.release.split_files import SPLITS, Record, read_csv, read_records, read_samples
from components.tools.release.summary import check_summary

ROUNDING = 1e-3
"""Tolerance of durations in a manifest, s."""


def verify_corpus(corpus: Path, records: Mapping[str, Record], counts: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each error; add the number of compared utterances to ``counts``."""
    name = f"speech/{corpus.name}"
    utterances: dict[str, Utterance] = {}
    seconds: dict[str, list[float]] = defaultdict(list)
    for path in sorted((corpus / MANIFESTS).glob("*.csv")):
        for row in read_csv(path, Utterance._fields):
            utterance = Utterance(**{column: row[column] for column in Utterance._fields})
            record = records.get(utterance.record)
            own = (utterance.split, utterance.image, utterance.caption)
            if record is None or own != (record.split, record.image, record.caption):
                yield f"{name}: utterance {utterance.id} is not of its record {utterance.record}"
            if utterance.file in utterances:
                yield f"{name}: utterance {utterance.id} is listed twice"
            utterances[utterance.file] = utterance
            seconds[utterance.voice].append(float(utterance.seconds))
    for voice in read_csv(corpus / VOICES_FILE, VOICE_COLUMNS):
        spoken = seconds.pop(voice["voice"], [])
        if len(spoken) != int(voice["utterances"]) or abs(sum(spoken) - float(voice["seconds"])) > ROUNDING * (len(spoken) + 10):
            yield f"{name}: {VOICES_FILE} states other utterances of {voice['voice']} than its manifest"
    yield from (f"{name}: {VOICES_FILE} lacks {voice}" for voice in sorted(seconds))
    yield from _verify_import(name, corpus, records, utterances)
    yield from _verify_audio(name, corpus, utterances)
    counts["utterances"] = counts.get("utterances", 0) + len(utterances)


def _verify_import(name: str, corpus: Path, records: Mapping[str, Record], utterances: Mapping[str, Utterance]) -> Iterator[str]:
    """Ask import_recordings for the recording of each spoken record."""
    imported = open_corpus("release", corpus)
    for record in (records[key] for key in dict.fromkeys(each.record for each in utterances.values()) if key in records):
        is_address = record.image.lower().startswith(("http://", "https://"))
        url = record.image if is_address else f"file:{quote(record.image)}"
        recording = imported.recording({"image_url": url, "caption": record.caption})
        found = utterances.get(recording.name) if isinstance(recording, Recording) else None
        if found is None or (found.image, found.caption) != (record.image, record.caption):
            yield f"{name}: the import finds no recording of record {record.id}"


def _verify_audio(name: str, corpus: Path, utterances: Mapping[str, Utterance]) -> Iterator[str]:
    """Read every shard once, one utterance at a time."""
    left = dict(utterances)
    for path in sorted(corpus.glob("*.tar")):
        for key, data in read_samples(path):
            file = f"{key}.flac"
            if file not in data:
                yield f"{name}/{path.name}: {key} has no audio"
                continue
            utterance, audio = left.pop(file, None), data.pop(file)
            if utterance is None or utterance.shard != path.name:
                yield f"{name}/{path.name}: {file} is of no utterance of this shard"
                continue
            if sha256_bytes(audio) != utterance.audio_sha256:
                yield f"{name}/{path.name}: {file} is not the audio of {utterance.id}"
                continue
            values = {f"{key}.txt": utterance.caption, f"{key}.json": utterance.own()}
            if {each: json.loads(text) if each.endswith(".json") else text.decode() for each, text in data.items()} != values:
                yield f"{name}/{path.name}: the text or values of {utterance.id} are not those of its manifest"
            sound = read_sound(audio, f"{path.name}/{file}")
            length = len(sound.samples) / RATE_HZ
            if (sound.rate, sound.channels) != (RATE_HZ, 1) or abs(length - float(utterance.seconds)) > ROUNDING:
                yield f"{name}/{path.name}: {file} is not 16 kHz mono of {utterance.seconds} s"
    yield from (f"{name}: the audio of {each.id} is missing" for each in left.values())


SHOWN = 20
"""Errors of one kind that are printed; the others are only counted."""
DAMAGES = (
    HearsightError, OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, RuntimeError, tarfile.TarError,
    zlib.error, yaml.YAMLError,
)  # fmt: skip
"""What reading a file of another form raises."""


@dataclass
class Verification:
    """The result: counts of what was compared, and a line for each error."""

    errors: list[str] = field(default_factory=list)
    counts: dict[str, Any] = field(default_factory=dict)

    def run(self, where: str, check: Callable[[], Iterator[str]]) -> None:
        """Add the errors of one check; one that cannot be completed is an error."""
        found = 0
        try:
            for found, line in enumerate(check(), 1):
                if found <= SHOWN:
                    self.errors.append(line)
        except DAMAGES as error:
            reason = (
                error.what if isinstance(error, HearsightError) else f"{type(error).__name__}: {' '.join(str(error).split())}"
            )
            self.errors.append(f"{where} cannot be read: {reason}")
        if found > SHOWN:
            self.errors.append(f"{where}: {found - SHOWN:,} more errors")


def verify_release(folder: Path) -> Verification:
    """Compare a release with its digests and with what the import reads from it.

    Raises:
        HearsightError: the folder is no release.
    """
    if not (folder / SUMS).is_file():
        raise HearsightError("is no release", where=folder, hint=f"name a folder with {SUMS}")
    result = Verification()
    if damage := find_damage(folder):
        result.errors = damage
        return result
    sums = read_sums(folder)
    records: dict[str, Record] = {}
    result.run("records", lambda: _read_records(folder, records))
    result.counts = dict(Counter(record.split for record in records.values()))
    result.run("tables", lambda: _verify_tables(folder, records))
    for corpus in sorted((folder / SPEECH).glob("*")):
        result.run(f"{SPEECH}/{corpus.name}", lambda corpus=corpus: verify_corpus(corpus, records, result.counts))  # type: ignore[misc]
    result.run("Parquet tables", lambda: verify_typed(folder))
    result.run("samples", lambda: verify_samples(folder, records, posts=(folder / IMAGES).is_file()))
    result.run(CROISSANT, lambda: _verify_metadata(folder, sums, result))
    result.run("README.md", lambda: _verify_card(folder))
    result.counts["files"] = len(sums)
    return result


def _read_records(folder: Path, records: dict[str, Record]) -> Iterator[str]:
    for split in SPLITS:
        for record in read_records(folder, split):
            if record.id in records:
                yield f"records: {record.id} is there twice"
            records[record.id] = record


def _verify_tables(folder: Path, records: dict[str, Record]) -> Iterator[str]:
    settings = json.loads((folder / SETTINGS).read_bytes())
    if settings["layout"] == "pracegover":
        yield from _verify_posts(folder, records)
        return
    for split, pattern in TABLES.items():
        name = pattern.format(settings["dataset"])
        expected = [record for record in records.values() if record.split == split]
        rows = layout_named(settings["layout"]).rows(folder / name, name) if (folder / name).stat().st_size else iter(())
        for number, (row, record) in enumerate(zip_longest(rows, expected), 1):
            if row is None or record is None:
                yield f"{name}: line {number} is {'missing' if row is None else 'of no record'}"
                break
            if row.rule or (row.caption, row.url or row.file) != (record.caption, record.image):
                yield f"{name}: line {number} is not read as record {record.id}{f' ({row.rule})' if row.rule else ''}"
    labels, training = LABELS.format(settings["dataset"]), iter(records.values())
    rows = layout_named("cc3m_labels").rows(folder / labels, labels) if (folder / labels).is_file() else iter(())
    for number, row in enumerate(rows, 1):
        # Asking an iterator consumes it up to the record, so that their order is compared too.
        if row.rule or (row.caption, row.url, "train") not in ((each.caption, each.image, each.split) for each in training):
            yield f"{labels}: line {number} is not read as a record of train{f' ({row.rule})' if row.rule else ''}"
    counted = {split: CaptionStatistics() for split in TABLES}
    for record in records.values():
        counted[record.split].add(record.caption)
    if (folder / STATISTICS).read_text(encoding="utf-8") != statistics_tsv(counted):
        yield f"{STATISTICS} does not count the records"


def _verify_posts(folder: Path, records: dict[str, Record]) -> Iterator[str]:
    by_image = {record.image: record for record in records.values()}
    rows = {row.file: row for row in layout_named("pracegover").rows(folder / DATASET, DATASET)}
    for image in sorted(rows.keys() | by_image.keys()):
        row, record = rows.get(image), by_image.get(image)
        if row is None or record is None or row.rule or row.caption != record.caption:
            yield f"{DATASET}: {image} is not read as its record"
    for split in SPLITS:
        listed = json.loads((folder / "splits" / f"{split}.json").read_bytes())
        if sorted(listed) != sorted(record.image for record in records.values() if record.split == split):
            yield f"splits/{split}.json does not list the records of {split}"
    left = dict(by_image)
    with tarfile.open(folder / IMAGES) as tar:
        for member in tar:
            image = member.name.removeprefix(f"{FOLDER}/")
            content = tar.extractfile(member)
            record = left.pop(image, None)
            if record is None or content is None or sha256_bytes(content.read()) != record.image_sha256:
                yield f"{IMAGES}: {member.name} is not the image of a record"
    yield from (f"{IMAGES}: {image} is missing" for image in sorted(left))


def _verify_metadata(folder: Path, sums: dict[str, str], result: Verification) -> Iterator[str]:
    document = json.loads((folder / CROISSANT).read_bytes())
    others = {name: digest for name, digest in sums.items() if name != CROISSANT}
    for line in check_croissant(document, folder, others):
        yield f"{CROISSANT}: {line}"
    result.run("summary.json", lambda: check_summary(folder, document, result.counts))
    if missing := find_missing(read_statements(document)):
        result.counts["not_stated"] = ", ".join(missing)


def _verify_card(folder: Path) -> Iterator[str]:
    _, front, _ = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    spoken = [path.name for path in (folder / SPEECH).glob("*")]
    if yaml.load(front, YAML_LOADER).get("configs") != hub_files(folder, spoken):
        yield "README.md states other configs than the files have"
