"""Write the notes of a release: README.md, settings.json, and of posts the statistics and the datasheet."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from components.core.stage_output import StageOutput
from components.tools.release.card import Card
from components.tools.release.facts import SETTINGS, SOFTWARE
from components.tools.release.files import CONCEPTS, LABELS, NO_ADDRESS, SPLITS, STATISTICS, ReleaseCounts
from components.tools.release.inputs import ReleaseInputs
from components.tools.release.instances import PostOptions
from components.tools.release.post_facts import PostFacts, statistics_tsv
from components.tools.release.publish import SUMS
from components.tools.release.questions import DATA, DATASHEET
from components.tools.release.sheet import SheetData, answer_questions

LABELS_ARE = "Labels are made by a classifier for training images; a confidence is 0 to 1."
NO_LICENCE = "None is stated: whoever publishes this folder states here under which terms the captions may be used."


def write_settings(inputs: ReleaseInputs, folder: Path, layout: str, speech: Mapping[str, Any], **more: Any) -> None:
    """Write settings.json.

    Args:
        layout: the layout of tables (``crawl.source.layout``) that reads the release.
        speech: corpus → the settings of its stage.
    """
    settings = {
        "dataset": inputs.dataset,
        "split_manifest_sha256": inputs.split.digest,
        "layout": layout,
        "settings": inputs.published_settings,
        **({"speech": speech} if speech else {}),
        **more,
    }
    (folder / SETTINGS).write_text(json.dumps(settings, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def readme(inputs: ReleaseInputs, counts: ReleaseCounts, licence: str, card: Card) -> str:
    """Return the text of README.md of a release of captions."""
    name, statistics = inputs.dataset, counts.statistics
    image = "file name" if counts.local else "image URL"
    rows = "\n".join(
        f"| {split} | {captions.examples:,} | {captions.unique:,} "
        f"| {captions.mean:.1f} | {captions.deviation:.1f} | {captions.median:.1f} |"
        for split, captions in statistics.items()
    )
    tables = "\n".join(
        f"| `{path.format(name)}` | caption, {image} | {statistics[split].examples:,} |" for split, path in SPLITS.items()
    )
    values = {
        "front": card.front,
        "sections": card.sections,
        "name": name,
        "total": sum(captions.examples for captions in statistics.values()),
        "image": "address" if image == "image URL" else image,
        "tables": tables,
        "splits": len(statistics),
        "statistics": STATISTICS,
        "settings": SETTINGS,
        "sums": SUMS,
        "rows": rows,
        "licence": licence or NO_LICENCE,
    }
    if inputs.concepts is None:
        return fill_template("readme_captions.md", **values)
    return fill_template("readme_pages.md", **values, **_of_pages(inputs.concepts, counts, name))


def _of_pages(hypernymized: StageOutput, counts: ReleaseCounts, name: str) -> dict[str, Any]:
    """Return the values that only the README of rewritten captions has."""
    concepts = hypernymized.file(CONCEPTS).read_text(encoding="utf-8")
    unreachable = counts.count_left_out(NO_ADDRESS)
    left_out = (
        f"\n{unreachable:,} records of the dataset are left out: their images have no address on the web.\n"
        if unreachable
        else ""
    )
    no_identifiers = (
        "\nThe labels of this release carry no identifiers of their own; `/label/<name>` stands in their place.\n"
        if counts.labelled and not counts.named
        else "\nA label without an identifier of its own has `/label/<name>` in its place.\n"
        if counts.unnamed
        else ""
    )
    fields = "caption, image URL, labels, identifiers, confidences (lists, with commas)"
    return {
        "about_labels": "" if counts.local else f"{LABELS_ARE}{no_identifiers}",
        "labels": "" if counts.local else f"| `{LABELS.format(name)}` | {fields} | {counts.labelled:,} |\n",
        "kept": concepts.count("\tkept\t"),
        "dropped": concepts.count("\tdropped\t"),
        "concepts": CONCEPTS,
        "left_out": left_out,
    }


def fill_template(file: str, **values: Any) -> str:
    """Return a text of the folder ``data`` with the values in its braces."""
    return (DATA / file).read_text(encoding="utf-8").format_map(values)


def write_notes(
    inputs: ReleaseInputs, facts: PostFacts, folder: Path, options: PostOptions, publisher: Mapping[str, str], card: Card
) -> None:
    """Write README.md, the statistics, and the datasheet (Markdown and HTML) of a release of posts."""
    data = SheetData(inputs.dataset, facts, inputs.settings, publisher, options.mask_mentions, SOFTWARE)
    answers = answer_questions(data)
    (folder / STATISTICS).write_text(statistics_tsv(facts, inputs.dataset), encoding="utf-8")
    (folder / "datasheet.md").write_text(DATASHEET.as_markdown(inputs.dataset, answers), encoding="utf-8")
    (folder / "datasheet.html").write_text(DATASHEET.as_page(inputs.dataset, answers), encoding="utf-8")
    (folder / "README.md").write_text(posts_readme(data, card), encoding="utf-8")


def posts_readme(data: SheetData, card: Card) -> str:
    """Return the text of README.md of a release of posts."""
    facts, name = data.facts, data.dataset
    rows = "\n".join(
        f"| {subset or name} | {parts[''].posts:,} | {' | '.join(f'{parts[split].posts:,}' for split in SPLITS)} "
        f"| {len(parts[''].users):,} | {parts[''].captions.unique:,} "
        f"| {parts[''].captions.mean:.1f} | {parts[''].captions.deviation:.1f} |"
        for subset, parts in facts.parts.items()
    )
    subsets = "".join(
        f"| `subsets/{subset}/` | the same for a subset: what was left of the posts drawn for it |\n"
        for subset in facts.parts
        if subset
    )
    stated = " ".join(data.publisher["contact"].split())
    contact = f"Requests go to: {stated}." if stated else "The publishers state no contact: ask whoever gave you this."
    others = "masked too" if data.mask_mentions else "as their authors wrote them"
    return fill_template(
        "readme_posts.md",
        front=card.front,
        sections=card.sections,
        name=name,
        posts=facts.whole.posts,
        subsets=subsets,
        statistics=STATISTICS,
        sums=SUMS,
        rows=rows,
        others=others,
        contact=contact,
        licence=" ".join(data.publisher["licence"].split()) or NO_LICENCE,
    )
