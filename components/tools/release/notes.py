"""Write the notes of a release from measured facts: README.md, settings.json, and of posts the statistics and the datasheet.

README.md begins with front matter, YAML as data hubs read it: licence, languages, tasks, files of each split. The datasheet
is that of Gebru et al. 2021; its text is ``data/datasheet.yaml``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from components.core.params import dotted
from components.reporting.pages import render
from components.tools.release.facts import SETTINGS, SOFTWARE, Facts, describe_source, find_missing, hub_licence, limitations
from components.tools.release.files import STATISTICS
from components.tools.release.formats import SAMPLES, hub_files
from components.tools.release.inputs import ReleaseInputs
from components.tools.release.post_facts import WINDOW, PostFacts, count_losses, describe_days, loss_table, statistics_tsv
from components.tools.release.questions import DATA, DATASHEET, Table, share

WORDS: Mapping[str, list[list[str]]] = DATASHEET.words
"""The words of PCV tables 3 (``offensive``) and 4 (``body``), with their forms."""


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


def write_card(template: str, facts: Facts, folder: Path, **values: Any) -> None:
    """Write README.md of the release whose data are in ``folder`` from a template of ``data``, which includes ``card.md``."""
    text = render(
        DATA,
        template,
        front=_front_matter(facts, folder),
        facts=facts,
        losses=loss_table(count_losses(facts.inputs)),
        limitations=limitations(facts),
        samples=" and ".join(f"`{kind}/<split>-*{ends}`" for kind, ends in SAMPLES.items() if (folder / kind).is_dir()),
        not_stated=find_missing(facts.publisher),
        **values,
    )
    (folder / "README.md").write_text(re.sub("\n{3,}", "\n\n", text) + "\n", encoding="utf-8")


def _front_matter(facts: Facts, folder: Path) -> str:
    """Return the front matter with its lines of dashes."""
    spoken = [name for name, corpus in facts.corpora.items() if corpus.utterances]
    values: dict[str, Any] = {
        **hub_licence(facts.publisher["licence"]),
        "language": sorted(filter(None, facts.languages)),
        "pretty_name": facts.dataset,
        "task_categories": ["image-to-text", *(["text-to-speech", "automatic-speech-recognition"] if spoken else [])],
        "configs": hub_files(folder, spoken),
    }
    return f"---\n{yaml.safe_dump(values, sort_keys=False, allow_unicode=True)}---\n"


def write_datasheet(facts: Facts, posts: PostFacts, folder: Path, mask_mentions: bool) -> list[str]:
    """Write the statistics and the datasheet of a release of posts; return the publishers' fields that it lacks."""
    (folder / STATISTICS).write_text(statistics_tsv(posts, facts.dataset), encoding="utf-8")
    settings, crawl = facts.inputs.settings, facts.inputs.crawl_settings
    values = {
        "facts": posts,
        "numbers": dict(posts.numbers),  # so that a name without a number is an error
        "posted": describe_days(posts.posted),
        "collected": describe_days(posts.collected),
        "whole": posts.whole,
        "described": posts.loss("extract_descriptions"),
        "duplicates": posts.loss("dedup"),
        "share": share,
        "source": describe_source(crawl),
        "from_table": crawl["source"]["kind"] == "table",
        "split": settings["split"],
        "languages": sorted(posts.languages.items(), key=lambda item: (-item[1], item[0])),
        "mask_mentions": mask_mentions,
        "offensive": sum(posts.words[form] for forms in WORDS["offensive"] for form in forms),
        "window": WINDOW,
        "software": SOFTWARE,
    }
    later = [(stage, own) for stage, own in settings.items() if stage != "crawl"]
    rows = [[stage, name, str(value)] for stage, own in later for name, value in sorted(dotted(own))]
    tables: dict[str, Table] = {
        "6.2.2": [line.split("\t") for line in statistics_tsv(posts, facts.dataset).splitlines()],
        "6.2.8": _count_words(posts.words, "offensive"),
        "6.3.2": loss_table(posts.losses),
        "6.4.1": [["stage", "setting", "value"], *rows],
        "6.5.4": _count_words(posts.words, "body"),
    }
    return DATASHEET.write(folder / "datasheet", facts.dataset, DATASHEET.answers(values, facts.publisher, tables))


def _count_words(words: Counter[str], kind: str) -> Table:
    """Return how often the words of a list occur, most frequent first, and the rank of their most frequent forms among all words.

    Words are counted by form alone: some ("viado", "puta") also have inoffensive uses.
    """
    ranks = {word: rank for rank, word in enumerate(sorted(words, key=lambda word: (-words[word], word)), 1)}
    counts = sorted((-sum(words[form] for form in forms), ", ".join(forms), forms) for forms in WORDS[kind])
    rows = [
        [name, f"{-count:,}", f"{min(ranks[form] for form in forms if form in ranks):,}" if count else ""]
        for count, name, forms in counts
    ]
    return [["words", "occurrences", "rank of the most frequent"], *rows]
