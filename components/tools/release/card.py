"""Write README.md: a data hub's front matter, and what is known of the release from measured facts.

The front matter is YAML as data hubs read it: licence, languages, size, tasks, files and examples of each split.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from components.reporting.pages import render
from components.tools.release.facts import Facts, find_missing, hub_licence, limitations
from components.tools.release.formats import hub_files, sample_files
from components.tools.release.post_facts import count_losses, loss_table
from components.tools.release.questions import DATA

SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"), (10_000_000, "1M<n<10M"))
LARGER = "10M<n<100M"


def write_card(template: str, facts: Facts, folder: Path, **values: Any) -> None:
    """Write README.md of the release whose data are in ``folder`` from a template of ``data``, which includes ``card.md``."""
    text = render(
        DATA,
        template,
        front=front_matter(facts, folder),
        facts=facts,
        losses=loss_table(count_losses(facts.inputs)),
        limitations=limitations(facts),
        samples=sample_files(folder),
        not_stated=find_missing(facts.publisher),
        **values,
    )
    (folder / "README.md").write_text(re.sub("\n{3,}", "\n\n", text) + "\n", encoding="utf-8")


def front_matter(facts: Facts, folder: Path) -> str:
    """Return the front matter with its lines of dashes."""
    spoken = [name for name, corpus in facts.corpora.items() if corpus.utterances]
    values: dict[str, Any] = {
        **hub_licence(facts.publisher["licence"]),
        "language": sorted(filter(None, facts.languages)),
        "pretty_name": facts.dataset,
        "size_categories": [next((name for limit, name in SIZES if facts.total < limit), LARGER)],
        "task_categories": ["image-to-text", *(["text-to-speech", "automatic-speech-recognition"] if spoken else [])],
        **hub_files(folder, facts.examples, spoken),
    }
    return f"---\n{yaml.safe_dump(values, sort_keys=False, allow_unicode=True)}---\n"
