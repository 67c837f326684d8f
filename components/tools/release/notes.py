"""Write the notes of a release: README.md, settings.json, and of posts the statistics and the datasheet."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from components.tools.release.card import write_card
from components.tools.release.facts import SETTINGS, SOFTWARE, Facts
from components.tools.release.files import CONCEPTS, LABELS, SPLITS, STATISTICS, ReleaseCounts
from components.tools.release.inputs import ReleaseInputs
from components.tools.release.post_facts import PostFacts, statistics_tsv
from components.tools.release.questions import DATASHEET
from components.tools.release.sheet import SheetData, answer_questions


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


def write_captions_notes(facts: Facts, counts: ReleaseCounts, folder: Path) -> list[str]:
    """Write README.md of a release of captions; return no field."""
    output = facts.inputs.concepts
    concepts = output.file(CONCEPTS).read_text(encoding="utf-8") if output else ""
    template = "readme_pages.md" if output else "readme_captions.md"
    write_card(template, facts, folder, counts=counts, tables=SPLITS, labels=LABELS, concepts=concepts)
    return []


def write_posts_notes(facts: Facts, posts: PostFacts, folder: Path, mask_mentions: bool) -> list[str]:
    """Write README.md, the statistics, and the datasheet of a release of posts; return the fields that it lacks."""
    settings = facts.inputs.settings | {"crawl": facts.inputs.crawl_settings}
    data = SheetData(facts.dataset, posts, settings, facts.publisher, mask_mentions, SOFTWARE)
    (folder / STATISTICS).write_text(statistics_tsv(posts, facts.dataset), encoding="utf-8")
    write_card("readme_posts.md", facts, folder, posts=posts, mask_mentions=mask_mentions)
    return DATASHEET.write(folder / "datasheet", facts.dataset, answer_questions(data))
