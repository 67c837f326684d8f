"""Check the structure of Croissant 1.0 metadata, and that it describes a folder's files.

Source: the specification, http://mlcommons.org/croissant/1.0, sections on dataset-level information, resources and record sets.
Not in scope: other vocabularies, nested fields, and reading records through the metadata.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from components.tools.release.croissant import CONFORMS, CONTEXT

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
