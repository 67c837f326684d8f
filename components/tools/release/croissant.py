"""Write ``croissant.json``, a release described in MLCommons Croissant 1.0 (JSON-LD), and check its structure.

Source: the specification, http://mlcommons.org/croissant/1.0. Every file is a FileObject with size and sha256. Record sets are
the splits, the records, and of each spoken corpus its voices and utterances. What only publishers know and have not stated is
left out, although the specification requires it: :data:`facts.REQUIRED` names it. The check knows no other vocabularies and no
nested fields, and reads no records through the metadata.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
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


REQUIRED = {"license": "licence", "url": "url", "creator": "creators", "datePublished": "published"}
"""Property that the specification requires and only publishers know → their statement."""
RESOURCES = {
    "cr:FileObject": ("@id", "name", "contentUrl", "contentSize", "encodingFormat", "sha256"),
    "cr:FileSet": ("@id", "includes", "encodingFormat"),
}
"""Type of a resource → the properties it needs."""
ATOMIC = {"sc:Text", "sc:Integer", "sc:Float", "sc:Boolean", "sc:Date", "sc:URL"}


def find_missing(document: Mapping[str, Any]) -> list[str]:
    """Return the required statements of publishers that are missing."""
    return [statement for name, statement in REQUIRED.items() if not document.get(name)]


def check_croissant(document: Mapping[str, Any], folder: Path, sums: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each violation of the specification, and for each file that is not described as it is.

    Args:
        folder: of the release.
        sums: file → its sha256, without the metadata's own file.
    """
    context = document.get("@context")
    if not isinstance(context, dict) or any(context.get(name) != value for name, value in CONTEXT.items()):
        yield "@context is not that of the specification"
    if document.get("@type") != "sc:Dataset":
        yield "@type is not sc:Dataset"
    if document.get("conformsTo") != CONFORMS:
        yield f"conformsTo is not {CONFORMS}"
    for name in ("name", "description", "distribution"):
        if not document.get(name):
            yield f"{name} is missing"
    resources, record_sets = document.get("distribution") or [], document.get("recordSet") or []
    yield from _check_ids(resources, record_sets)
    yield from _check_resources(resources, folder, sums)
    for record_set in record_sets:
        yield from _check_record_set(record_set, {each["@id"]: each["@type"] for each in resources}, record_sets)


def _check_ids(resources: list[Any], record_sets: list[Any]) -> Iterator[str]:
    fields = [field for record_set in record_sets for field in record_set.get("field", [])]
    ids = [node["@id"] for node in (*resources, *record_sets, *fields)]
    yield from (f"the @id {name} is not unique" for name in sorted({name for name in ids if ids.count(name) > 1}))


def _check_resources(resources: list[Any], folder: Path, sums: Mapping[str, str]) -> Iterator[str]:
    described: set[str] = set()
    ids = {resource["@id"] for resource in resources}
    for resource in resources:
        needed = RESOURCES.get(resource.get("@type"))
        if needed is None:
            yield f"{resource['@id']} is neither a cr:FileObject nor a cr:FileSet"
            continue
        yield from (f"{resource['@id']} has no {name}" for name in needed if not resource.get(name))
        containers = resource.get("containedIn", [])
        for container in containers if isinstance(containers, list) else [containers]:
            if container["@id"] not in ids:
                yield f"{resource['@id']} is contained in {container['@id']}, which is not described"
        if resource["@type"] == "cr:FileSet":
            if not containers and not any(folder.glob(resource["includes"])):
                yield f"{resource['@id']} includes {resource['includes']}, which matches no file"
            continue
        file = resource["contentUrl"]
        described.add(file)
        if resource["sha256"] != sums.get(file):
            yield f"{file} has another sha256 than described"
        elif resource["contentSize"] != f"{(folder / file).stat().st_size} B":
            yield f"{file} has another size than described"
    yield from (f"{file} is not described" for file in sorted(sums.keys() - described))


def _check_record_set(record_set: Mapping[str, Any], resources: Mapping[str, str], record_sets: list[Any]) -> Iterator[str]:
    name = record_set["@id"]
    own = {field["@id"] for field in record_set.get("field", [])}
    everywhere = {field["@id"] for each in record_sets for field in each.get("field", [])}
    if record_set.get("@type") != "cr:RecordSet" or not own:
        yield f"{name} is no cr:RecordSet with fields"
    if (record_set.get("key") or {}).get("@id") not in own:
        yield f"{name} has no key among its fields"
    for row in record_set.get("data", []):
        if row.keys() != own:
            yield f"a row of {name} has other fields than it"
    for field in record_set.get("field", []):
        if field.get("@type") != "cr:Field" or field.get("dataType") not in ATOMIC:
            yield f"{field['@id']} is no cr:Field of an atomic type"
        reference = field.get("references", {}).get("field", {}).get("@id")
        if reference is not None and reference not in everywhere:
            yield f"{field['@id']} refers to {reference}, which is no field"
        if "data" not in record_set:
            source = field.get("source") or {}
            kind = "fileObject" if "fileObject" in source else "fileSet"
            if resources.get(str((source.get(kind) or {}).get("@id"))) != f"cr:F{kind[1:]}" or not source.get("extract", {}).get(
                "column"
            ):
                yield f"{field['@id']} has no column of a described file"
