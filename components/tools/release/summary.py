"""Summarise the data of a release for ``summary.*`` (the template of the EU's AI Act) and for the RAI properties of its metadata.

``release`` of ``summary.json`` is counted from the release's own files, so anyone can count it again (:func:`check_summary`).
``project`` is from ledgers, settings and lineages; the digests of the outputs, which also ``croissant.json`` has, bind it.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow.compute as pc

from components.metrics.tokens import tokenize
from components.tools.release.facts import SOFTWARE, Facts, describe_source, limitations
from components.tools.release.inputs import DESCRIPTION_STAGE, ReleaseInputs
from components.tools.release.post_facts import Loss, Span, count_losses, loss_table
from components.tools.release.questions import SUMMARY, Table, share
from components.tools.release.records import SPLITS, read_csv, read_records
from components.tools.release.speech import FOLDER as SPEECH
from components.tools.release.speech import VOICE_COLUMNS, VOICES_FILE
from components.web.consent_policy import RULES
from components.web.stored_snapshots import INDEX
from components.web.takedown_list import RULE as TAKEN_DOWN

NAME = "summary.json"
BANDS = {
    "text": (10**9, 10**13, "words of captions"),
    "image": (10**6, 10**9, "images"),
    "audio": (10**4, 10**6, "hours of speech"),
}
"""Modality → the bounds of the template's three sizes, and what is counted."""
CRAWLER = ("user_agent", "consent", "tdmrep", "per_host", "delay")
"""Settings of a crawl that are published."""
DOMAINS = 0.1
"""Share of the domains that is listed, those with most records first (template, 2.3)."""


def measure(facts: Facts, folder: Path, description: str) -> dict[str, Any]:
    """Return the values of ``summary.json``.

    Args:
        description: of the release, a sentence.
    """
    return {
        "dataset": facts.dataset,
        "description": description,
        "release": measure_files(folder),
        "project": _of_project(facts),
        "stated": {name: facts.stated(name) for name in SUMMARY.stated},
    }


def measure_files(folder: Path) -> dict[str, Any]:
    """Return what the files of a release hold; memory grows with the number of images and domains."""
    splits, languages, domains, images, words = Counter[str](), Counter[str](), Counter[str](), set[int](), 0
    for record in (record for split in SPLITS for record in read_records(folder, split)):
        splits[record.split] += 1
        languages[record.language] += 1
        domains[urlsplit(record.image).netloc if "://" in record.image else ""] += 1
        images.add(hash(record.image))
        words += len(tokenize(record.caption))
    local = domains.pop("", 0)
    ranked = sorted(domains.items(), key=lambda item: (-item[1], item[0]))
    voices = [row for path in sorted((folder / SPEECH).glob(f"*/{VOICES_FILE}")) for row in read_csv(path, VOICE_COLUMNS)]
    return {
        "records": dict(splits),
        "languages": dict(sorted(languages.items())),
        "words": words,
        "images": len(images),
        "without_domain": local,
        "domains": len(domains),
        "most_records": dict(ranked[: math.ceil(DOMAINS * len(ranked))]),
        "voices": voices,
    }


def _of_project(facts: Facts) -> dict[str, Any]:
    inputs, span = facts.inputs, read_collected(facts.inputs)
    crawl = inputs.settings.get("crawl", {})
    lineages = [*inputs.lineages.values(), *facts.speech.values()]
    return {
        "software": SOFTWARE,
        "outputs": {f"{each['dataset']}/{each['stage']}": each["manifest_sha256"] for each in lineages},
        "source": describe_source(crawl),
        "kind": crawl.get("source", {}).get("provider") or crawl.get("source", {}).get("kind", ""),
        "crawler": {name: crawl[name] for name in CRAWLER if name in crawl},
        "collected": [span.first, span.last] if span.first else [],
        "losses": [asdict(loss) for loss in count_losses(inputs)],
        "left_out": dict(sorted(Counter(facts.left_out.values()).items())),
        "cleaning": inputs.cleaning.text() if inputs.cleaning else "",
        "posts": DESCRIPTION_STAGE in inputs.stages,
        "limitations": limitations(facts),
    }


def read_collected(inputs: ReleaseInputs) -> Span:
    """Return the days on which posts were collected and the crawl's snapshot was fetched; empty where it is not here."""
    span = Span()
    for time in filter(None, pc.unique(inputs.split.table(["collected"])["collected"]).to_pylist()):
        span.add(time)
    snapshot = inputs.settings.get("crawl", {}).get("snapshot", "")
    with suppress(OSError), (inputs.split.path.parents[1] / "store" / snapshot / INDEX).open(encoding="utf-8") as index:
        for line in index:
            span.add(json.loads(line)["fetched"])
    return span


def list_values(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts that the sheets ``summary`` and ``rai`` name, from :func:`measure`; '' for what is not known."""
    release, project = values["release"], values["project"]
    losses, crawler, kind = [Loss(**loss) for loss in project["losses"]], project["crawler"], project["kind"]
    dropped = [(loss.stage, rule, number) for loss in losses for rule, number in loss.dropped.items()]
    unwanted = [(rule, number) for stage, rule, number in dropped if stage == "filter" and rule in SUMMARY.words["unwanted"]]
    renamed = sum(loss.kept for loss in losses if loss.stage == "hypernymize")
    gone = sum(number for _, rule, number in dropped if rule == TAKEN_DOWN) + project["left_out"].get(TAKEN_DOWN, 0)
    synthetic = [voice for voice in release["voices"] if voice["origin"] == "synthetic"]
    recorded = _hours(voice for voice in release["voices"] if voice["origin"] != "synthetic")
    source, listed = project["source"], len(release["most_records"])
    personal = {
        "Recognised names in captions were replaced by the kind of what they name.": renamed,
        "Accounts are keyed hashes, and metadata were removed from the images.": project["posts"],
        f"Taken down on request: {gone:,} items.": gone,
        "Speakers are numbers, or named by their language.": recorded,
    }
    return {
        "content": values["description"],
        "latest": project["collected"][-1] if project["collected"] else "",
        "period": " to ".join(project["collected"]),
        "timeframe": "/".join(project["collected"]),
        "languages": ", ".join(f"{name or 'not stated'} {number:,}" for name, number in release["languages"].items()),
        "from_files": f"Records were read from files: {source}." if kind in ("table", "archives", "jsonl") else "",
        "crawler": f"`{crawler['user_agent']}`, the crawler of {project['software']}." if crawler.get("user_agent") else "",
        "behaviour": SUMMARY.words["behaviour"].format(**crawler) if len(crawler) == len(CRAWLER) else "",
        "source": source,
        "collection": f"Settings of the crawl: {source}." if source else "",
        "types": "\n".join(SUMMARY.words["types"].get(kind, [])),
        "domains": (
            f"{listed:,} of {release['domains']:,} domains, the {DOMAINS:.0%} with most records, rounded up."
            if listed
            else "The records name files. Addresses of posts are not published, since a server may be a person's own."
        ),
        "synthetic": f"Speech, {_hours(synthetic):.2f} hours by {len(synthetic)} voices." if synthetic else "None is part of it.",
        "engines": "\n".join(dict.fromkeys(f"{voice['engine']} {voice['model']}: speech" for voice in synthetic)),
        "recorded": f"Recordings of people who read captions, {recorded:.2f} hours." if recorded else "",
        "reservations": "What the crawl dropped; of several reasons the first is counted." if crawler else "",
        "unwanted": "\n".join(f"The filter's rule `{rule}` dropped {number:,} records." for rule, number in unwanted),
        "personal": "\n".join(text for text, holds in personal.items() if holds),
        "left_out": "\n".join(f"Left out of this release as `{why}`: {number:,}." for why, number in project["left_out"].items()),
        "protocol": "\n".join(f"{loss.stage}, {loss.kind}: {loss.kept:,} of {loss.entered:,} kept" for loss in losses),
        "cleaning": project["cleaning"],
        "limits": "\n".join(project["limitations"]),
    }


def _tables(values: Mapping[str, Any]) -> dict[str, Table]:
    release, losses = values["release"], [Loss(**loss) for loss in values["project"]["losses"]]
    sizes = {"text": release["words"], "image": release["images"], "audio": round(_hours(release["voices"]), 2)}
    total = sum(release["records"].values())
    crawled = {loss.kind: loss.dropped for loss in losses if loss.stage == "crawl"}
    known: dict[str, str] = SUMMARY.words["reservations"]
    reservations = [
        [rule, known.get(rule, rule), *(f"{crawled.get(kind, {}).get(rule, 0):,}" for kind in ("page", "record"))]
        for rule in dict.fromkeys((*known, *RULES))
        if rule in RULES or any(rule in dropped for dropped in crawled.values())
    ]
    voices = [
        [voice["voice"], voice["engine"], voice["model"], voice["language"], f"{_hours([voice]):.2f}"]
        for voice in release["voices"]
        if voice["origin"] == "synthetic"
    ]
    return {
        "1.3.1": [
            ["modality", "size:", "of", "size in the template"],
            *([name, f"{size:,}", BANDS[name][2], _band(name, size)] for name, size in sizes.items() if size),
        ],
        "2.3.6": [
            ["domain", "records:", "share:"],
            *([name, f"{number:,}", share(number, total)] for name, number in release["most_records"].items()),
        ] if release["most_records"] else [],
        "2.5.1": [["voice", "engine", "model", "language", "hours:"], *voices] if voices else [],
        "3.1.2": [["rule", "statement", "pages:", "images or posts:"], *reservations] if crawled else [],
        "3.3.2": loss_table(losses),
    }  # fmt: skip


def _hours(voices: Iterable[Mapping[str, Any]]) -> float:
    return sum(float(voice["seconds"]) for voice in voices) / 3600


def _band(modality: str, size: float) -> str:
    low, high, _ = BANDS[modality]
    return f"less than {low:,}" if size < low else f"{low:,} to {high:,}" if size <= high else f"more than {high:,}"


def write_summary(values: Mapping[str, Any], folder: Path) -> None:
    """Write ``summary.json`` with the values of :func:`measure`, and the sheet as Markdown and as a page."""
    (folder / NAME).write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for name, text in _render(values).items():
        (folder / name).write_text(text, encoding="utf-8")


def _render(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the file's name → its text."""
    answers = SUMMARY.answers(list_values(values), values["stated"], _tables(values))
    texts = SUMMARY.as_markdown(values["dataset"], answers), SUMMARY.as_page(values["dataset"], answers)
    return dict(zip(("summary.md", "summary.html"), texts, strict=True))


def check_summary(folder: Path, outputs: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each value that the files of a release do not have, and for each text that is not of the values.

    Args:
        outputs: of the project with their digests, as ``croissant.json`` names them.
    """
    values = json.loads((folder / NAME).read_bytes())
    for name, value in measure_files(folder).items():
        if values["release"].get(name) != value:
            yield f"{NAME}: {name} is not what the files have"
    if values["project"]["outputs"] != outputs:
        yield f"{NAME}: the outputs are not those of croissant.json"
    # Another version may word the sheet otherwise.
    if values["project"]["software"] == SOFTWARE:
        for name, text in _render(values).items():
            if (folder / name).read_text(encoding="utf-8") != text:
                yield f"{name} does not state the values of {NAME}"
