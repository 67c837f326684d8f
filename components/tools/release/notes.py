"""Write README.md and settings.json of a release of pages: content, statistics, licence, citations; the stages' settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from components.tools.release.files import CONCEPTS, LABELS, SPLITS, STATISTICS, ReleaseCounts
from components.tools.release.made import ReleaseInputs
from components.tools.release.publish import SUMS

SETTINGS = "settings.json"
NO_LICENCE = "None is stated: whoever publishes this folder states here under which terms the captions may be used."


def write_notes(inputs: ReleaseInputs, counts: ReleaseCounts, folder: Path, licence: str) -> None:
    """Write README.md and settings.json."""
    by_output = {f"{inputs.dataset}/{stage}": values for stage, values in inputs.settings.items()}
    settings = {"dataset": inputs.dataset, "split_manifest_sha256": inputs.split.digest, "settings": by_output}
    (folder / SETTINGS).write_text(json.dumps(settings, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(readme(inputs, counts, licence), encoding="utf-8")


def readme(inputs: ReleaseInputs, counts: ReleaseCounts, licence: str) -> str:
    """Return the text of README.md."""
    name, statistics = inputs.dataset, counts.statistics
    total = sum(captions.examples for captions in statistics.values())
    rows = "\n".join(
        f"| {split} | {captions.examples:,} | {captions.unique:,} "
        f"| {captions.mean:.1f} | {captions.deviation:.1f} | {captions.median:.1f} |"
        for split, captions in statistics.items()
    )
    tables = "\n".join(
        f"| `{path.format(name)}` | caption, image URL | {statistics[split].examples:,} |" for split, path in SPLITS.items()
    )
    concepts = inputs.concepts.file(CONCEPTS).read_text(encoding="utf-8")
    left_out = (
        f"\n{counts.unreachable:,} records of the dataset are left out: their pictures have no address on the web.\n"
        if counts.unreachable
        else ""
    )
    no_identifiers = (
        "\nThe labels of this release carry no identifiers of their own; `/label/<name>` stands in their place.\n"
        if counts.labelled and not counts.named
        else "\nA label without an identifier of its own has `/label/<name>` in its place.\n"
        if counts.unnamed
        else ""
    )
    return fill_template(
        "readme_pages.md",
        name=name,
        total=total,
        tables=tables,
        labels=LABELS.format(name),
        counts=counts,
        splits=len(statistics),
        kept=concepts.count("\tkept\t"),
        dropped=concepts.count("\tdropped\t"),
        statistics=STATISTICS,
        concepts=CONCEPTS,
        settings=SETTINGS,
        sums=SUMS,
        no_identifiers=no_identifiers,
        left_out=left_out,
        rows=rows,
        licence=" ".join(licence.split()) or NO_LICENCE,
    )


def fill_template(file: str, **values: Any) -> str:
    """Return a text of the folder ``data`` with the values in its braces."""
    return (Path(__file__).parent / "data" / file).read_text(encoding="utf-8").format_map(values)
