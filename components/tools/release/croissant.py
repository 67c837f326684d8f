"""Write ``croissant.json``, a release described in MLCommons Croissant 1.1 (JSON-LD), and compare it with the files.

Sources: http://mlcommons.org/croissant/1.1, its RAI vocabulary, and W3C PROV-O, in which the outputs that the release was made
from are entities with their digests. Every file is a FileObject with size and sha256. Record sets are the splits, the Parquet
tables of records, samples and utterances, and the voices of each spoken corpus. What only publishers know and have not stated is
left out, although the specification requires some of it: :data:`facts.STATEMENTS` names it.
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
from components.core.params import read_yaml
from components.tools.release.facts import SETTINGS, SOFTWARE, Facts, licence_address
from components.tools.release.questions import DATA
from components.tools.release.speech import AUDIO, MANIFESTS, VOICE_COLUMNS, VOICES_FILE
from components.tools.release.speech import FOLDER as SPEECH
from components.tools.release.summary import describe_use

NAME = "croissant.json"
MADE_FROM = "prov:wasDerivedFrom"
CONFORMS = ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
_TEXT = read_yaml(DATA / "croissant.yaml")
CONTEXT: dict[str, Any] = {**_TEXT["context"], **{term: f"cr:{term}" for term in _TEXT["terms"]}}
FORMATS: dict[str, str] = _TEXT["formats"]
"""Ending → media type."""
TYPES: dict[str, str] = _TEXT["types"]
"""Column, or Arrow type → its type, where it is not text."""
SPLIT = {"references": {"field": {"@id": "splits/name"}}}
"""Reference to the record set of the splits, in the form that the reference implementation reads."""


def write_croissant(facts: Facts, folder: Path, values: Mapping[str, Any]) -> None:
    """Write the metadata of the files that ``folder`` holds; the file itself and what is written later are not listed.

    Args:
        values: of :func:`summary.measure`.
    """
    made = describe(facts, folder, values["description"]) | _provenance(facts) | describe_use(values, facts.publisher)
    (folder / NAME).write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def describe(facts: Facts, folder: Path, description: str) -> dict[str, Any]:
    """Return the metadata as JSON-LD, without provenance."""
    sums = {path.relative_to(folder).as_posix(): sha256_file(path) for path in folder.rglob("*") if path.is_file()}
    content = _describe_files(folder, sums)
    tables = {each["@id"]: each for each in content["recordSet"]}
    for name, lineage in facts.speech.items():
        tables[f"{SPEECH}/{name}/{MANIFESTS}"][MADE_FROM] = {"@id": _entity_id(lineage["manifest_sha256"])}
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS,
        "name": facts.dataset,
        "description": description,
        **_statements(facts),
        "inLanguage": sorted(filter(None, facts.languages)),
        **content,
    }


def _describe_files(folder: Path, sums: Mapping[str, str]) -> dict[str, list[dict[str, Any]]]:
    """Return what follows from the files of a release, whose digests are ``sums``."""
    file_sets, record_sets = list[dict[str, Any]](), [_splits()]
    for path in sorted(folder.glob(f"{SPEECH}/*/{VOICES_FILE}")):
        name, tars = path.parent.name, sorted(tar.relative_to(folder).as_posix() for tar in path.parent.glob("*.tar"))
        file_sets.append(_file_set(f"{name}-audio", f"{AUDIO}/*.flac", "audio/flac", tars))
        record_sets.append(_voices(f"{name}-voices", f"{SPEECH}/{name}/{VOICES_FILE}"))
    for home in sorted({str(Path(file).parent) for file in sums if file.endswith(".parquet")}):
        file_sets.append(_file_set(f"{home}-files", f"{home}/*.parquet", FORMATS[".parquet"]))
        # No reference between records: the reference implementation cannot join two file sets.
        record_sets.append(_table(home, next((folder / home).glob("*.parquet"))))
    files = [_file_object(folder / file, file, sums[file]) for file in sorted(sums)]
    return {"distribution": [*files, *file_sets], "recordSet": record_sets}


def _provenance(facts: Facts) -> dict[str, Any]:
    """Return the outputs that the release was made from, in their order, as PROV-O."""
    last = [facts.inputs.lineages["split"], *facts.speech.values()]
    used = [_entity_id(each["manifest_sha256"]) for each in last]
    software = {"@type": "prov:SoftwareAgent", "prov:label": SOFTWARE}
    return {
        MADE_FROM: [_entity(each) for each in (*facts.inputs.lineages.values(), *facts.speech.values())],
        "prov:wasGeneratedBy": _activity("release", used) | {"prov:wasAssociatedWith": software},
    }


def _entity(lineage: Mapping[str, Any]) -> dict[str, Any]:
    """Return an output, the run of its stage, and what that used; the crawl's parameters are not published."""
    parents = {
        _entity_id(parent.get("manifest_sha256") or parent["digest"]): parent.get("output") or parent["name"]
        for parent in lineage["parents"]
    }
    settings = [SETTINGS] if lineage["stage"] != "crawl" else []
    return {
        "@id": _entity_id(lineage["manifest_sha256"]),
        "@type": "prov:Entity",
        "prov:label": f"{lineage['dataset']}/{lineage['stage']}",
        "sha256": lineage["manifest_sha256"],
        MADE_FROM: [{"@id": name, "@type": "prov:Entity", "prov:label": label} for name, label in parents.items()],
        "prov:wasGeneratedBy": _activity(lineage["stage"], [*parents, *settings]),
    }


def _activity(label: str, used: Sequence[str]) -> dict[str, Any]:
    return {"@type": "prov:Activity", "prov:label": label, "prov:used": [{"@id": name} for name in used]}


def _entity_id(digest: str) -> str:
    return f"nih:sha-256;{digest}"  # RFC 6920, section 7


def _statements(facts: Facts) -> dict[str, Any]:
    """Return what the publishers state."""
    licence, creators, restrictions = (facts.publisher[name] for name in ("licence", "creators", "restrictions"))
    values = {
        "license": licence_address(licence) or (licence and {"@type": "sc:CreativeWork", "name": licence}),
        "url": facts.publisher["url"],
        "creator": creators and {"@type": "sc:Organization", "name": creators},
        "prov:wasAttributedTo": creators and {"@type": "prov:Agent", "prov:label": creators},
        "datePublished": facts.publisher["published"],
        "version": facts.publisher["version"],
        "citeAs": facts.publisher["citation"],
        "usageInfo": restrictions and {"@type": "sc:CreativeWork", "name": restrictions},
    }
    return {name: value for name, value in values.items() if value}


def _file_object(path: Path, file: str, digest: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file,
        "name": path.name,
        "contentUrl": file,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": FORMATS.get(path.suffix, "application/octet-stream"),
        "sha256": digest,
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
        "dataType": TYPES.get(name, "sc:Text"),
        **({"source": source} if source else {}),
        **more,
    }


def _record_set(name: str, fields: Sequence[Mapping[str, Any]], key: str, **more: Any) -> dict[str, Any]:
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "key": {"@id": f"{name}/{key}"}, "field": fields, **more}


def _splits() -> dict[str, Any]:
    fields = [_field("splits", "name", None), _field("splits", "url", None, dataType="sc:URL")]
    data = [{"splits/name": split, "splits/url": kind} for split, kind in _TEXT["splits"].items()]
    return _record_set("splits", fields, "name", dataType="cr:Split", data=data)


def _voices(name: str, file: str) -> dict[str, Any]:
    """Return the record set of the table of a corpus's voices."""
    sources = {column: {"fileObject": {"@id": file}, "extract": {"column": column}} for column in VOICE_COLUMNS}
    return _record_set(name, [_field(name, column, source) for column, source in sources.items()], "voice")


def _table(home: str, file: Path) -> dict[str, Any]:
    """Return the record set of a folder of Parquet files with the schema of ``file``, whose first column is its key.

    A column of bytes with their path is media; columns of other structures are not described.
    """
    fields: list[dict[str, Any]] = []
    for column in pq.read_schema(file):
        kind, more = column.type, dict[str, Any](SPLIT if column.name == "split" else {})
        source: dict[str, Any] = {"fileSet": {"@id": f"{home}-files"}, "extract": {"column": column.name}}
        if pa.types.is_list(kind):
            kind = kind.value_type
            more |= {"isArray": True, "arrayShape": "-1"}
        if pa.types.is_struct(kind):
            if kind.get_field_index("bytes") < 0:
                continue
            source["transform"] = {"jsonPath": "bytes"}
            more["dataType"] = "sc:AudioObject" if column.name == "audio" else "sc:ImageObject"
        fields.append(_field(home, column.name, source, **{"dataType": TYPES.get(str(kind), "sc:Text")} | more))
    return _record_set(home, fields, fields[0]["name"])


def check_croissant(document: Mapping[str, Any], folder: Path, sums: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each violation of the specification, and for each file and record set that is not described as it is.

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
        found = [line.removeprefix("  -  ") for line in str(error).partition(" warning(s)")[0].splitlines()]
        yield from (line for line in found if not line.startswith("Found the following"))
    for kind, expected in _describe_files(folder, sums).items():
        stated = [{name: value for name, value in each.items() if name != MADE_FROM} for each in document[kind]]
        differing = [each for each in stated if each not in expected] + [each for each in expected if stated.count(each) != 1]
        yield from (f"{name} is not described as it is" for name in sorted({each.get("@id", kind) for each in differing}))
