"""Write the parts of README.md that all kinds of release share: a data hub's front matter, and sections from measured facts.

The front matter is YAML as data hubs read it: licence, languages, size, tasks, files and examples of each split.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from components.tools.release.croissant import NAME as CROISSANT
from components.tools.release.facts import Facts, hub_licence, limitations
from components.tools.release.post_facts import count_losses, loss_table
from components.tools.release.questions import markdown_table
from components.tools.release.records import FOLDER as RECORDS
from components.tools.release.records import SPLITS, record_file
from components.tools.release.speech import FLICKR_CAPTIONS, FLICKR_SPEAKERS, MANIFESTS, VOICES_FILE
from components.tools.release.speech import FOLDER as SPEECH

SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"), (10_000_000, "1M<n<10M"))
LARGER = "10M<n<100M"


@dataclass(frozen=True)
class Card:
    """The shared parts of README.md."""

    front: str
    """YAML between two lines of dashes."""
    sections: str
    """Markdown, from the record files to the limitations."""


def make_card(facts: Facts, folder: Path) -> Card:
    """Return the card of the release whose data are in ``folder``."""
    limits = "## Limitations\n\n" + "\n".join(f"- {line}" for line in limitations(facts))
    sections = [_structure(facts, folder), _speech(facts, folder), _made(facts), limits]
    return Card(front_matter(facts, folder), "\n\n".join(filter(None, sections)))


def front_matter(facts: Facts, folder: Path) -> str:
    """Return the front matter with its lines of dashes."""
    splits = [split for split in SPLITS if facts.examples[split]]
    spoken = [name for name, corpus in facts.corpora.items() if corpus.utterances]
    files = [{"split": split, "path": f"{RECORDS}/{split}.csv"} for split in splits]
    sizes = [
        {"name": split, "num_bytes": record_file(folder, split).stat().st_size, "num_examples": facts.examples[split]}
        for split in splits
    ]
    values: dict[str, Any] = {
        **hub_licence(facts.stated("licence")),
        "language": sorted(filter(None, facts.languages)),
        "pretty_name": facts.dataset,
        "size_categories": [next((name for limit, name in SIZES if facts.total < limit), LARGER)],
        "task_categories": ["image-to-text", *(["text-to-speech", "automatic-speech-recognition"] if spoken else [])],
        "configs": [
            {"config_name": "records", "default": True, "data_files": files},
            *({"config_name": name, "data_files": f"{SPEECH}/{name}/{MANIFESTS}/*.csv"} for name in spoken),
        ],
        "dataset_info": [{"config_name": "records", "splits": sizes}],
    }
    return f"---\n{yaml.safe_dump(values, sort_keys=False, allow_unicode=True)}---\n"


def _structure(facts: Facts, folder: Path) -> str:
    missing = facts.not_stated()
    lacks = f" It lacks what the publishers have not stated: {', '.join(missing)}." if missing else ""
    return (
        f"## Records\n\n`{RECORDS}/<split>.csv` hold every record with a header: `id`, `split`, `image` ({facts.image}), "
        f"`image_sha256`, `language`, `caption`. `{CROISSANT}` describes all files in Croissant 1.1.{lacks}"
    )


def _speech(facts: Facts, folder: Path) -> str:
    if not facts.corpora:
        return ""
    parts = [
        "## Speech",
        f"Captions read aloud, 16 kHz mono FLAC in `{SPEECH}/<corpus>/<split>-*.tar`. `{MANIFESTS}/<voice>.csv` has a row for\n"
        "each utterance: record, caption, the text that the voice was given (`spoken`), rate, pitch in semitones, gain in dB,\n"
        f"seconds, shard, member and sha256. `{VOICES_FILE}` has the voices.",
    ]
    rows = []
    for name, corpus in facts.corpora.items():
        for voice, origin, _, model, language, sex, licence, utterances, seconds in corpus.voices():
            hours = f"{float(seconds) / 3600:.2f}"
            rows.append([name, voice, origin, model, language, sex, licence or "not stated", f"{int(utterances):,}", hours])
    if rows:
        head = ["corpus", "voice", "origin", "model", "language", "sex", "licence of engine and voice", "utterances:", "hours:"]
        parts.append(markdown_table(head, rows))
        split_rows = [
            [name, *(f"{corpus.splits[split]:,}" for split in SPLITS)]
            for name, corpus in facts.corpora.items()
            if corpus.utterances
        ]
        parts.append(markdown_table(["utterances", *(f"{split}:" for split in SPLITS)], split_rows))
    for name, corpus in facts.corpora.items():
        if corpus.left_out:
            counts = ", ".join(f"{reason} {number:,}" for reason, number in sorted(corpus.left_out.items()))
            parts.append(f"Utterances of {name} that are left out, by reason: {counts}.")
        if (folder / SPEECH / name / FLICKR_CAPTIONS).is_file():
            lists = f"`{SPEECH}/{name}/{FLICKR_CAPTIONS}` and `{FLICKR_SPEAKERS}`"
            parts.append(f"{lists} are lists as the Flickr Audio Caption Corpus has them.")
    return "\n\n".join(parts)


def _made(facts: Facts) -> str:
    head, *rows = loss_table(count_losses(facts.inputs))
    table = markdown_table(head, rows)
    cleaning = f"\n\n{facts.inputs.cleaning.text()}" if facts.inputs.cleaning else ""
    return f"## How it was made\n\nStages of Hearsight in their order; `settings.json` has their settings.\n\n{table}{cleaning}"
