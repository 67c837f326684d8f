"""Write ``croissant.json``, a release described in MLCommons Croissant 1.1 (JSON-LD), and compare it with the files.

Sources: http://mlcommons.org/croissant/1.1, its RAI vocabulary, and W3C PROV-O, in which the outputs that the release was made
from are entities with their digests. Every file is a FileObject with size and sha256. Record sets are the splits, the records,
Parquet tables, and of each spoken corpus its voices and utterances. What only publishers know and have not stated is left out,
although the specification requires some of it: :data:`facts.STATEMENTS` names it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from components.core.digests import sha256_file
from components.tools.release.facts import SETTINGS, SOFTWARE, STATEMENTS, Facts, licence_address
from components.tools.release.questions import RAI
from components.tools.release.records import FOLDER as RECORDS
from components.tools.release.records import SPLITS, Record
from components.tools.release.speech import AUDIO, MANIFESTS, VOICE_COLUMNS, VOICES_FILE, Utterance
from components.tools.release.speech import FOLDER as SPEECH
from components.tools.release.summary import list_values

NAME = "croissant.json"
CONFORMS = ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
TERMS = (
    "annotation", "arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "excludes", "extract", "field",
    "fileObject", "fileProperty", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath", "key", "md5",
    "parentField", "path", "readLines", "recordSet", "references", "regex", "repeated", "replace", "samplingRate", "sdVersion",
    "separator", "source", "subField", "transform", "unArchive", "value",
)  # fmt: skip
"""Terms of the Croissant vocabulary that the context maps to ``cr:``."""
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "prov": "http://www.w3.org/ns/prov#",
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
    ".png": "image/png", ".gif": "image/gif", ".webp": "image/webp", ".parquet": "application/x-parquet",
}  # fmt: skip
"""Ending → media type."""
NUMBERS = dict.fromkeys(("seconds", "rate", "pitch", "gain"), "sc:Float") | {"utterances": "sc:Integer"}
"""Column → its type, where it is not text."""
SPLIT = {"references": {"field": {"@id": "splits/name"}}}
"""Reference to the record set of the splits, in the form that the reference implementation reads."""
SPLIT_TYPES = {"train": "cr:TrainingSplit", "validation": "cr:ValidationSplit", "test": "cr:TestSplit"}


def write_croissant(facts: Facts, folder: Path, values: Mapping[str, Any]) -> None:
    """Write the metadata of the files that ``folder`` holds; the file itself and what is written later are not listed.

    Args:
        values: of :func:`summary.measure`.
    """
    made = describe(facts, folder, values["description"]) | _provenance(facts) | _responsible(facts, values)
    (folder / NAME).write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def describe(facts: Facts, folder: Path, description: str) -> dict[str, Any]:
    """Return the metadata as JSON-LD."""
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    record_sets = [_splits(), _records()]
    file_sets = [_file_set("record-files", f"{RECORDS}/*.csv", "text/csv")]
    for home in sorted({str(Path(file).parent) for file in files if file.endswith(".parquet")}):
        file_sets.append(_file_set(f"{home}-files", f"{home}/*.parquet", FORMATS[".parquet"]))
        record_sets.append(_parquet(home, next((folder / home).glob("*.parquet"))))
    for name, corpus in facts.corpora.items():
        if corpus.utterances:
            home = f"{SPEECH}/{name}"
            tars = [file for file in files if file.startswith(f"{home}/") and file.endswith(".tar")]
            file_sets.append(_file_set(f"{name}-manifests", f"{home}/{MANIFESTS}/*.csv", "text/csv"))
            file_sets.append(_file_set(f"{name}-audio", f"{AUDIO}/*.flac", "audio/flac", tars))
            origin = {"prov:wasDerivedFrom": {"@id": _entity_id(facts.speech[name]["manifest_sha256"])}}
            record_sets += [_voices(name, f"{home}/{VOICES_FILE}"), _utterances(name) | origin]
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


def _provenance(facts: Facts) -> dict[str, Any]:
    """Return the outputs that the release was made from, in their order, and who made it, as PROV-O."""
    lineages = [*facts.inputs.lineages.values(), *facts.speech.values()]
    software = {"@type": "prov:SoftwareAgent", "prov:label": SOFTWARE}
    last = [facts.inputs.lineages["split"], *facts.speech.values()]
    creators = facts.stated("creators")
    return {
        "prov:wasDerivedFrom": [_entity(each) for each in lineages],
        "prov:wasGeneratedBy": {
            "@type": "prov:Activity",
            "prov:label": "release",
            "prov:used": [{"@id": _entity_id(each["manifest_sha256"])} for each in last],
            "prov:wasAssociatedWith": software,
        },
        **({"prov:wasAttributedTo": {"@type": "prov:Agent", "prov:label": creators}} if creators else {}),
    }


def _entity(lineage: Mapping[str, Any]) -> dict[str, Any]:
    """Return an output, the run of its stage, and what that used; a stage but the crawl has its parameters in settings.json."""
    used = [
        {
            "@id": _entity_id(digest := parent.get("manifest_sha256") or parent["digest"]),
            "@type": "prov:Entity",
            "prov:label": parent.get("output") or parent["name"],
            "sha256": digest,
        }
        for parent in lineage["parents"]
    ]
    return {
        "@id": _entity_id(lineage["manifest_sha256"]),
        "@type": "prov:Entity",
        "prov:label": f"{lineage['dataset']}/{lineage['stage']}",
        "sha256": lineage["manifest_sha256"],
        "prov:wasDerivedFrom": used,
        "prov:wasGeneratedBy": {
            "@type": "prov:Activity",
            "prov:label": lineage["stage"],
            "prov:used": [{"@id": each["@id"]} for each in used] + ([{"@id": SETTINGS}] if lineage["stage"] != "crawl" else []),
        },
    }


def _entity_id(digest: str) -> str:
    return f"nih:sha-256;{digest}"  # RFC 6920, section 7


def read_outputs(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the outputs that metadata name as their sources → digest."""
    return {each["prov:label"]: each["sha256"] for each in document["prov:wasDerivedFrom"]}


def _responsible(facts: Facts, values: Mapping[str, Any]) -> dict[str, Any]:
    answers = RAI.answers(list_values(values), facts.publisher, {})
    texts = {name: list(filter(None, answer.paragraphs)) for name, answer in answers.items()}
    return {name: text if len(text) > 1 else text[0] for name, text in texts.items() if text}


def _statements(facts: Facts) -> dict[str, Any]:
    """Return what the publishers state."""
    licence = facts.stated("licence")
    values = {
        "license": licence_address(licence) or (licence and {"@type": "sc:CreativeWork", "name": licence}),
        "url": facts.stated("url"),
        "creator": facts.stated("creators") and {"@type": "sc:Organization", "name": facts.stated("creators")},
        "datePublished": facts.stated("published"),
        "version": facts.stated("version"),
        "citeAs": facts.stated("citation"),
        "usageInfo": facts.stated("restrictions") and {"@type": "sc:CreativeWork", "name": facts.stated("restrictions")},
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


def _parquet(home: str, file: Path) -> dict[str, Any]:
    """Return the record set of a folder of Parquet files with the schema of ``file``; a column of bytes with a path is media."""
    fields = []
    for column in pq.read_schema(file):
        kind, source, more = column.type, _column("fileSet", f"{home}-files", column.name), {}
        if pa.types.is_list(kind) or pa.types.is_large_list(kind):
            kind, more = kind.value_type, {"isArray": True, "arrayShape": "-1"}
        more["dataType"] = next((name for test, name in ARROW_TYPES if test(kind)), "sc:Text")
        if pa.types.is_struct(kind) and {"bytes", "path"} <= {part.name for part in kind}:
            more["dataType"] = "sc:AudioObject" if column.name == "audio" else "sc:ImageObject"
            source["transform"] = {"jsonPath": "bytes"}
        fields.append(_field(f"{home}-rows", column.name, source, **more))
    return {"@type": "cr:RecordSet", "@id": f"{home}-rows", "name": f"{home}-rows", "field": fields}


ARROW_TYPES = (
    (pa.types.is_boolean, "sc:Boolean"),
    (pa.types.is_integer, "sc:Integer"),
    (pa.types.is_floating, "sc:Float"),
)
"""Test of an Arrow type → its data type, where it is not text."""


def find_missing(document: Mapping[str, Any]) -> list[str]:
    """Return the statements of publishers that are missing."""
    return [statement for name, statement in STATEMENTS.items() if not document.get(name)]


def check_croissant(document: Mapping[str, Any], folder: Path, sums: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each violation of the specification, and for each file that is not described as it is.

    Args:
        folder: of the release.
        sums: file → its sha256, without the metadata's own file.
    """
    # Loads rdflib, pandas and scipy, a second.
    import mlcroissant

    if document.get("conformsTo") != CONFORMS:
        yield f"conformsTo is not {' and '.join(CONFORMS)}"
    # Its warnings are on what publishers have not stated, which the caller names.
    logging.getLogger("absl").setLevel(logging.ERROR)
    try:
        mlcroissant.Dataset(str(folder / NAME))
    except mlcroissant.ValidationError as error:
        yield from (line.removeprefix("  -  ") for line in str(error).splitlines() if line.startswith("  -  "))
    described = {each["contentUrl"]: each for each in document["distribution"] if each["@type"] == "cr:FileObject"}
    for file in sorted(sums.keys() | described.keys()):
        if file not in sums or file not in described:
            yield f"{file} is not {'described' if file in sums else 'a file'}"
        elif described[file].get("sha256") != sums[file]:
            yield f"{file} has another sha256 than described"
        elif described[file].get("contentSize") != f"{(folder / file).stat().st_size} B":
            yield f"{file} has another size than described"
