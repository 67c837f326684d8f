"""Write ``croissant.json``: a release described in MLCommons Croissant 1.0 (JSON-LD).

Source: the specification, http://mlcommons.org/croissant/1.0. Every file is a FileObject with size and sha256. Record sets are
the splits, the records, and of each spoken corpus its voices and utterances. What only publishers know and have not stated is
left out, although the specification requires it: :data:`facts.REQUIRED` names it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from components.core.digests import sha256_file
from components.tools.release.facts import Facts, licence_address
from components.tools.release.records import FOLDER as RECORDS
from components.tools.release.records import SPLITS, Record
from components.tools.release.speech import AUDIO, MANIFESTS, VOICE_COLUMNS, VOICES_FILE, Utterance
from components.tools.release.speech import FOLDER as SPEECH

NAME = "croissant.json"
CONFORMS = "http://mlcommons.org/croissant/1.0"
TERMS = (
    "citeAs", "column", "equivalentProperty", "extract", "field", "fileObject", "fileProperty", "fileSet", "format", "includes",
    "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex", "repeated", "replace",
    "samplingRate", "separator", "source", "subField", "transform",
)  # fmt: skip
"""Terms of the Croissant vocabulary that the context maps to ``cr:``."""
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in TERMS},
}
FORMATS = {
    ".csv": "text/csv", ".tsv": "text/tab-separated-values", ".tar": "application/x-tar", ".gz": "application/gzip",
    ".json": "application/json", ".md": "text/markdown", ".html": "text/html", ".txt": "text/plain", ".jpg": "image/jpeg",
    ".png": "image/png", ".gif": "image/gif", ".webp": "image/webp",
}  # fmt: skip
"""Ending → media type."""
NUMBERS = dict.fromkeys(("seconds", "rate", "pitch", "gain"), "sc:Float") | {"utterances": "sc:Integer"}
"""Column → its type, where it is not text."""
SPLIT = {"references": {"field": {"@id": "splits/name"}}}
"""Reference to the record set of the splits, in the form that the reference implementation reads."""
SPLIT_TYPES = {"train": "cr:TrainingSplit", "validation": "cr:ValidationSplit", "test": "cr:TestSplit"}


def write_croissant(facts: Facts, folder: Path, description: str) -> None:
    """Write the metadata of the files that ``folder`` holds; the file itself and what is written later are not listed."""
    text = json.dumps(describe(facts, folder, description), indent=1, ensure_ascii=False)
    (folder / NAME).write_text(text + "\n", encoding="utf-8")


def describe(facts: Facts, folder: Path, description: str) -> dict[str, Any]:
    """Return the metadata as JSON-LD."""
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    record_sets = [_splits(), _records()]
    file_sets = [_file_set("record-files", f"{RECORDS}/*.csv", "text/csv")]
    for name, corpus in facts.corpora.items():
        if corpus.utterances:
            home = f"{SPEECH}/{name}"
            tars = [file for file in files if file.startswith(f"{home}/") and file.endswith(".tar")]
            file_sets.append(_file_set(f"{name}-manifests", f"{home}/{MANIFESTS}/*.csv", "text/csv"))
            file_sets.append(_file_set(f"{name}-audio", f"{AUDIO}/*.flac", "audio/flac", tars))
            record_sets += [_voices(name, f"{home}/{VOICES_FILE}"), _utterances(name)]
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS,
        "name": facts.dataset,
        "description": description,
        **_statements(facts),
        "inLanguage": sorted(filter(None, facts.languages)),
        "distribution": [*(_file_object(folder, file) for file in files), *file_sets],
        "recordSet": record_sets,
    }


def _statements(facts: Facts) -> dict[str, Any]:
    """Return what the publishers state."""
    licence = facts.stated("licence")
    values = {
        "license": licence_address(licence) or (licence and {"@type": "sc:CreativeWork", "name": licence}),
        "url": facts.stated("url"),
        "creator": facts.stated("creators") and {"@type": "sc:Organization", "name": facts.stated("creators")},
        "datePublished": facts.stated("published"),
        "version": facts.stated("version"),
    }
    return {name: value for name, value in values.items() if value}


def _file_object(folder: Path, file: str) -> dict[str, Any]:
    path = folder / file
    return {
        "@type": "cr:FileObject",
        "@id": file,
        "name": path.name,
        "contentUrl": file,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": FORMATS.get(path.suffix, "application/octet-stream"),
        "sha256": sha256_file(path),
    }


def _file_set(name: str, includes: str, kind: str, containers: Sequence[str] = ()) -> dict[str, Any]:
    inside = [{"@id": container} for container in containers]
    return {
        "@type": "cr:FileSet",
        "@id": name,
        "name": name,
        **({"containedIn": inside if len(inside) > 1 else inside[0]} if inside else {}),
        "encodingFormat": kind,
        "includes": includes,
    }


def _field(record_set: str, name: str, source: Mapping[str, Any] | None, **more: Any) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{record_set}/{name}",
        "name": name,
        "dataType": NUMBERS.get(name, "sc:Text"),
        **({"source": dict(source)} if source else {}),
        **more,
    }


def _column(kind: str, file: str, name: str) -> dict[str, Any]:
    return {kind: {"@id": file}, "extract": {"column": name}}


def _record_set(name: str, fields: Sequence[Mapping[str, Any]], key: str, **more: Any) -> dict[str, Any]:
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "key": {"@id": f"{name}/{key}"}, "field": list(fields), **more}


def _splits() -> dict[str, Any]:
    fields = [_field("splits", "name", None), {**_field("splits", "url", None), "dataType": "sc:URL"}]
    data = [{"splits/name": split, "splits/url": SPLIT_TYPES[split]} for split in SPLITS]
    return _record_set("splits", fields, "name", dataType="cr:Split", data=data)


def _records() -> dict[str, Any]:
    fields = _columns("records", "record-files", Record._fields)
    return _record_set("records", fields, "id")


def _voices(corpus: str, file: str) -> dict[str, Any]:
    name = f"{corpus}-voices"
    return _record_set(name, [_field(name, column, _column("fileObject", file, column)) for column in VOICE_COLUMNS], "voice")


def _utterances(corpus: str) -> dict[str, Any]:
    name = f"{corpus}-utterances"
    # No reference from `record`: the reference implementation cannot join two file sets.
    return _record_set(name, _columns(name, f"{corpus}-manifests", Utterance._fields), "id")


def _columns(record_set: str, file_set: str, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the fields of a record set whose columns are those of the files of a file set."""
    more = {"split": SPLIT}
    return [_field(record_set, name, _column("fileSet", file_set, name), **more.get(name, {})) for name in names]
