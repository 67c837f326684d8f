"""Summarise the data of a release for ``summary.*`` (the template of the EU's AI Act) and for the RAI properties of its metadata.

``release`` of ``summary.json`` is counted from the release's own files, so anyone can count it again (:func:`check_summary`).
``project`` is from ledgers, settings and lineages; what ``croissant.json`` says of them has to be the same.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow.compute as pc

from components.core.addresses import output_root
from components.metrics.tokens import tokenize
from components.reporting.pages import render_text
from components.tools.release.facts import SOFTWARE, Facts, describe_source, limitations, read_statements
from components.tools.release.inputs import ReleaseInputs
from components.tools.release.post_facts import Loss, count_days, count_losses, loss_table
from components.tools.release.questions import RAI, SUMMARY, Answer, Table, share
from components.tools.release.speech import FOLDER as SPEECH
from components.tools.release.speech import VOICE_COLUMNS, VOICES_FILE
from components.tools.release.split_files import SPLITS, read_csv, read_records
from components.web.consent.policy import RULES
from components.web.stored_snapshots import INDEX
from components.web.takedown_list import RULE as TAKEN_DOWN

NAME = "summary.json"
FILES = (NAME, "summary.md", "summary.html")
"""A release has all of them or none."""
CRAWLER = ("user_agent", "uses", "consent", "tdmrep", "per_host", "delay")
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
        "stated": {name: facts.publisher[name] for name in SUMMARY.fields},
    }


def measure_files(folder: Path) -> dict[str, Any]:
    """Return what the files of a release hold; memory grows with the number of images and domains."""
    splits, languages, domains, images, words = Counter[str](), Counter[str](), Counter[str](), set[int](), 0
    for record in (record for split in SPLITS for record in read_records(folder, split)):
        splits[record.split] += 1
        languages[record.language] += 1
        domains[urlsplit(record.image).netloc if "://" in record.image else ""] += 1
        images.add(hash(record.image_sha256 or record.image))
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
    inputs, crawl = facts.inputs, facts.inputs.crawl_settings
    days = read_collected(inputs, crawl.get("snapshot", ""))
    lineages = [*inputs.lineages.values(), *facts.speech.values()]
    return {
        "software": SOFTWARE,
        "outputs": {f"{each['dataset']}/{each['stage']}": each["manifest_sha256"] for each in lineages},
        "source": describe_source(crawl),
        "kind": crawl.get("source", {}).get("provider") or crawl.get("source", {}).get("kind", ""),
        "crawler": {name: crawl[name] for name in CRAWLER if name in crawl},
        "collected": [days[0], days[-1]] if days else [],
        "losses": [asdict(loss) for loss in count_losses(inputs)],
        "left_out": dict(sorted(Counter(facts.left_out.values()).items())),
        "cleaning": inputs.cleaning,
        "posts": inputs.posts,
        "limitations": limitations(facts),
    }


def read_collected(inputs: ReleaseInputs, snapshot: str) -> list[str]:
    """Return the days on which posts were collected and the crawl's snapshot was fetched, in order; empty if none is known."""
    days = count_days(pc.unique(inputs.split.table(["collected"])["collected"]).to_pylist())
    store = output_root(inputs.split.path) / "data" / "store"
    with suppress(OSError), (store / snapshot / INDEX).open(encoding="utf-8") as index:
        days += count_days(json.loads(line)["fetched"] for line in index)
    return sorted(filter(None, days))


def list_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the sheets ``summary`` and ``rai`` name: the values of :func:`measure`, and what follows from them."""
    losses = [Loss(**loss) for loss in values["project"]["losses"]]
    voices, dropped = values["release"]["voices"], Counter[str](values["project"]["left_out"])
    for loss in losses:
        dropped.update(loss.dropped)
    spoken = {origin: [voice for voice in voices if voice["origin"] == origin] for origin in ("synthetic", "human")}
    listed = {
        **values,
        "losses": losses,
        "words": SUMMARY.words,
        "hours": {origin: sum(float(voice["seconds"]) for voice in own) / 3600 for origin, own in spoken.items()},
        "engines": list(dict.fromkeys(f"{voice['engine']} {voice['model']}" for voice in spoken["synthetic"])),
        "unwanted": [(rule, dropped[rule]) for rule in SUMMARY.words["unwanted"] if rule in dropped],
        "renamed": any(loss.stage == "hypernymize" for loss in losses),
        "taken_down": dropped[TAKEN_DOWN],
    }
    return {**listed, "personal": render_text(SUMMARY.questions["3.3.1"]["answer"], listed)}


def describe_use(values: Mapping[str, Any], publisher: Mapping[str, str]) -> dict[str, Any]:
    """Return the RAI properties of ``croissant.json``; several paragraphs are a list."""
    texts = {name: answer.paragraphs for name, answer in RAI.answers(list_values(values), publisher, {}).items()}
    return {name: text if len(text) > 1 else text[0] for name, text in texts.items() if any(text)}


def _tables(values: Mapping[str, Any]) -> dict[str, Table]:
    release, hours = values["release"], sum(values["hours"].values())
    total, listed = sum(release["records"].values()), release["most_records"].items()
    crawled = {loss.kind: loss.dropped for loss in values["losses"] if loss.stage == "crawl"}
    known: dict[str, str] = SUMMARY.words["reservations"]
    rules = [rule for rule in dict.fromkeys((*known, *RULES)) if rule in RULES or any(rule in each for each in crawled.values())]
    sizes = {"text": release["words"], "image": release["images"], "audio": round(hours, 2)}
    bands = [[name, f"{size:,}", *_band(size, *SUMMARY.words["sizes"][name])] for name, size in sizes.items() if size]
    reserved = [
        [rule, known.get(rule, rule), *(f"{crawled.get(kind, {}).get(rule, 0):,}" for kind in ("page", "record"))]
        for rule in rules
    ]
    domains = [[name, f"{number:,}", share(number, total)] for name, number in listed]
    asked = "posts:" if values["project"]["posts"] else "pages:"
    return {
        "1.3.1": [["modality", "size:", "of", "size in the template"], *bands],
        "2.3.6": [["domain", "records:", "share:"], *domains] if domains else [],
        "3.1.2": [["rule", "statement", asked, "images:"], *reserved] if values["project"]["crawler"] else [],
        "3.3.2": loss_table(values["losses"]),
    }


def _band(size: float, low: int, high: int, unit: str) -> tuple[str, str]:
    return unit, f"less than {low:,}" if size < low else f"{low:,} to {high:,}" if size <= high else f"more than {high:,}"


def write_summary(values: Mapping[str, Any], folder: Path) -> list[str]:
    """Write ``summary.json`` with the values of :func:`measure`, and the sheet; return the fields that it lacks."""
    (folder / NAME).write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return SUMMARY.write(folder / "summary", values["dataset"], _answer(values))


def _answer(values: Mapping[str, Any]) -> dict[str, Answer]:
    listed = list_values(values)
    return SUMMARY.answers(listed, values["stated"], _tables(listed))


def check_summary(folder: Path, document: Mapping[str, Any], counts: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each value that the files or ``croissant.json`` do not have, and for each text that is not of the values.

    Args:
        document: ``croissant.json``.
        counts: gets ``not_compared`` where another version wrote the texts.
    """
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        yield from (f"{name} is missing" for name in missing if len(missing) < len(FILES))
        return
    values = json.loads((folder / NAME).read_bytes())
    project: dict[str, Any] = values["project"]
    yield from (f"{NAME}: {name} is not what the files have" for name in _differing(values["release"], measure_files(folder)))
    described = {
        "dataset": document["name"],
        "description": document["description"],
        "software": document["prov:wasGeneratedBy"]["prov:wasAssociatedWith"]["prov:label"],
        "outputs": {each["prov:label"]: each["sha256"] for each in document["prov:wasDerivedFrom"]},
        "collected": document["rai:dataCollectionTimeframe"].split("/") if "rai:dataCollectionTimeframe" in document else [],
    }
    stated = {name: (project | values)[name] for name in described}
    yield from (f"{NAME}: {name} is not as croissant.json states it" for name in _differing(stated, described))
    if project["software"] != SOFTWARE:
        # It may word them otherwise.
        counts["not_compared"] = f"texts of the summary, by {project['software']}"
        return
    use = {name: text for name, text in document.items() if name.startswith("rai:")}
    texts = SUMMARY.texts("summary", values["dataset"], _answer(values))
    found = {name: (folder / name).read_text(encoding="utf-8") for name in texts}
    for name in _differing(use | found, describe_use(values, read_statements(document)) | texts):
        yield f"{name} does not state the values of {NAME}"


def _differing(found: Mapping[str, Any], expected: Mapping[str, Any]) -> list[str]:
    """Return the names whose values differ, or that one of the two lacks."""
    return [name for name in {**found, **expected} if found.get(name, ...) != expected.get(name, ...)]
