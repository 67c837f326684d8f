"""Report the differences between a release and an earlier one of the same dataset: ``changes.json`` and ``changes.md``.

A record is the same one in both if it has the same identifier, or else the same image and caption (the row of a table may have
moved). Of what is left, captions of an image that both releases hold are paired in order: a changed caption. A record with other
image bytes is changed, too. Utterances are compared by identifier and audio. Reasons for which records are withdrawn come from
the ledgers of the present chain and are only counted; the identifiers are listed, so that holders of the earlier release can
delete them. Memory grows with the number of records and utterances, not with the audio.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from components.core.digests import sha256_bytes, sha256_file
from components.core.errors import HearsightError
from components.core.ledger import DROPPED
from components.core.shards import read_table
from components.metrics.caption_lengths import CaptionStatistics
from components.tools.release.facts import Facts
from components.tools.release.publish import SUMS, find_damage
from components.tools.release.records import SPLITS, read_csv, read_records
from components.tools.release.speech import FOLDER as SPEECH
from components.tools.release.speech import MANIFESTS, VOICE_COLUMNS, VOICES_FILE

REPORT, TEXT = "changes.json", "changes.md"
UNKNOWN = "not_collected_any_more"
"""Reason of a withdrawn record that no ledger of the present chain names."""
Identify = Callable[[str], str]
"""Key of a record → its identifier in the release."""


class Released(NamedTuple):
    """What is compared of a record."""

    split: str
    caption: str
    """Digest."""
    image: str
    image_sha256: str


@dataclass
class Content:
    """What one of two releases holds."""

    records: dict[str, Released] = field(default_factory=dict)
    """By identifier."""
    statistics: dict[str, CaptionStatistics] = field(default_factory=lambda: {split: CaptionStatistics() for split in SPLITS})
    speech: dict[str, dict[str, float]] = field(default_factory=dict)
    """Corpus → speakers, utterances, hours."""
    audio: dict[str, dict[str, str]] = field(default_factory=dict)
    """Corpus → identifier of an utterance → digest of its audio."""

    @classmethod
    def read(cls, folder: Path) -> Content:
        """Return the content of a release; errors as for ``read_csv``."""
        content = cls()
        for split in SPLITS:
            for record in read_records(folder, split):
                caption = sha256_bytes(record.caption.encode())
                content.records[record.id] = Released(split, caption, record.image, record.image_sha256)
                content.statistics[split].add(record.caption)
        for path in sorted((folder / SPEECH).glob(f"*/{VOICES_FILE}")):
            rows, corpus = list(read_csv(path, VOICE_COLUMNS)), path.parent.name
            seconds = sum(float(row["seconds"]) for row in rows)
            utterances = sum(int(row["utterances"]) for row in rows)
            content.speech[corpus] = {"speakers": len(rows), "utterances": utterances, "hours": round(seconds / 3600, 3)}
            manifests = sorted((path.parent / MANIFESTS).glob("*.csv"))
            spoken = (row for manifest in manifests for row in read_csv(manifest, ("id", "audio_sha256")))
            content.audio[corpus] = {row["id"]: row["audio_sha256"] for row in spoken}
        return content

    def sizes(self) -> dict[str, dict[str, float]]:
        """Return split → examples and the statistics of CC table 3."""
        return {
            split: {
                "examples": captions.examples,
                "unique_tokens": captions.unique,
                "tokens_mean": round(captions.mean, 1),
                "tokens_sd": round(captions.deviation, 1),
                "tokens_median": captions.median,
            }
            for split, captions in self.statistics.items()
        }


def require_earlier(folder: Path, dataset: str) -> None:
    """Verify that a folder is an undamaged release of the dataset.

    Raises:
        HearsightError: it is not, or was written before releases had records.
    """
    hint = "name the folder of an earlier release of the same dataset"
    try:
        named = json.loads((folder / "settings.json").read_bytes())["dataset"]
    except (OSError, ValueError, KeyError, TypeError):
        raise HearsightError("is no release", where=folder, hint=hint) from None
    if named != dataset:
        raise HearsightError(f"is a release of '{named}'", where=folder, hint=hint)
    if damage := find_damage(folder):
        raise HearsightError(damage[0], where=folder, hint="get it again, or leave out --since")


def write_changes(facts: Facts, folder: Path, earlier: Path, identify: Identify) -> dict[str, Any]:
    """Write the differences between the release in ``folder`` and an earlier one; return the report."""
    before, now = Content.read(earlier), Content.read(folder)
    report = compare(before, now)
    report["withdrawn_by_reason"] = dict(count_reasons(report["ids"]["withdrawn"], reasons(facts, identify)))
    report = {"dataset": facts.dataset, "since": {SUMS: sha256_file(earlier / SUMS)}, **report}
    (folder / REPORT).write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / TEXT).write_text(as_markdown(report), encoding="utf-8")
    return report


def compare(before: Content, now: Content) -> dict[str, Any]:
    """Return the differences as JSON values."""
    pairs = list(match_records(before.records, now.records))
    matched = {old for old, _ in pairs}, {new for _, new in pairs}
    withdrawn = sorted(before.records.keys() - matched[0])
    added = sorted(now.records.keys() - matched[1])
    changed = sorted(new for old, new in pairs if before.records[old][1:] != now.records[new][1:])
    splits_of = {new: (before.records[old][0], now.records[new][0]) for old, new in pairs}
    moved = {name: splits for name, splits in sorted(splits_of.items()) if splits[0] != splits[1]}
    moves = Counter(" to ".join(splits) for splits in moved.values())
    speech = compare_speech(before.audio, now.audio)
    return {
        "records": {"before": len(before.records), "now": len(now.records), "added": len(added), "withdrawn": len(withdrawn),
                    "changed": len(changed), "moved": len(moved)},
        "moves": dict(sorted(moves.items())),
        "added_to": dict(sorted(Counter(now.records[name][0] for name in added).items())),
        "withdrawn_from": dict(sorted(Counter(before.records[name][0] for name in withdrawn).items())),
        "statistics": {"before": before.sizes(), "now": now.sizes()},
        "speech": {"before": before.speech, "now": now.speech,
                   "changes": {corpus: {name: len(ids) for name, ids in lists.items()} for corpus, lists in speech.items()}},
        "ids": {"withdrawn": withdrawn, "changed": changed, "moved": list(moved)},
        "utterances": {corpus: {name: lists[name] for name in ("withdrawn", "changed")} for corpus, lists in speech.items()},
    }  # fmt: skip


def compare_speech(
    before: Mapping[str, Mapping[str, str]], now: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, list[str]]]:
    """Return corpus → identifiers of utterances ``added``, ``withdrawn`` and ``changed`` (other audio), sorted."""
    changes = {}
    for corpus in sorted(before.keys() | now.keys()):
        old, new = before.get(corpus, {}), now.get(corpus, {})
        changed = sorted(name for name in old.keys() & new.keys() if old[name] != new[name])
        changes[corpus] = {
            "added": sorted(new.keys() - old.keys()),
            "withdrawn": sorted(old.keys() - new.keys()),
            "changed": changed,
        }
    return changes


def match_records(before: Mapping[str, Released], now: Mapping[str, Released]) -> Iterator[tuple[str, str]]:
    """Yield (identifier before, identifier now) of each record that both releases hold."""
    old, new = dict(before), dict(now)

    def pop(pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        for pair in pairs:
            del old[pair[0]], new[pair[1]]
            yield pair

    yield from pop([(name, name) for name in before if name in now])
    for same in (attrgetter("caption", "image"), attrgetter("image")):
        waiting: dict[Any, list[str]] = defaultdict(list)
        for name in sorted(new, reverse=True):
            waiting[same(new[name])].append(name)
        yield from pop([(name, queue.pop()) for name in sorted(old) if (queue := waiting.get(same(old[name])))])


def reasons(facts: Facts, identify: Identify) -> Iterator[tuple[str, str]]:
    """Yield (identifier, stage and rule) of everything that the present chain and this release dropped."""
    for key, reason in facts.left_out.items():
        yield identify(key), f"release: {reason}"
    for stage, output in facts.inputs.stages.items():
        for shard in output.shards:
            ledger = read_table(shard.ledger, ["key", "verdict", "rule"])
            for key, verdict, rule in zip(*(column.to_pylist() for column in ledger.columns), strict=True):
                if verdict == DROPPED:
                    yield identify(key), f"{stage}: {rule}"


def count_reasons(withdrawn: Iterable[str], known: Iterable[tuple[str, str]]) -> list[tuple[str, int]]:
    """Return (reason, number) of the withdrawn records, most frequent first; the first known reason of each counts."""
    wanted = set(withdrawn)
    found: dict[str, str] = {}
    for name, reason in known:
        if name in wanted:
            found.setdefault(name, reason)
    counts = Counter(found.get(name, UNKNOWN) for name in wanted)
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def as_markdown(report: Mapping[str, Any]) -> str:
    """Return the report as text, without identifiers."""
    records, reasons_of = report["records"], report["withdrawn_by_reason"]
    lines = [
        f"# Changes of {report['dataset']}",
        "",
        f"Since the release whose `{SUMS}` has the sha256 {report['since'][SUMS]}.",
        "",
    ]
    lines += ["| records | |", "|---|--:|", *(f"| {name} | {number:,} |" for name, number in records.items()), ""]
    for title, counts in (
        ("Withdrawn, by reason", reasons_of),
        ("Withdrawn, by split", report["withdrawn_from"]),
        ("Added, by split", report["added_to"]),
        ("Moved between splits", report["moves"]),
    ):
        if counts:
            lines += [f"## {title}", "", "| | records |", "|---|--:|"]
            lines += [*(f"| {name} | {number:,} |" for name, number in counts.items()), ""]
    lines += ["## Statistics", "", "| split | | examples | unique tokens | tokens a caption: mean | sd | median |"]
    lines += ["|---|---|--:|--:|--:|--:|--:|"]
    for split in SPLITS:
        for when in ("before", "now"):
            cells = " | ".join(f"{value:,}" for value in report["statistics"][when][split].values())
            lines.append(f"| {split} | {when} | {cells} |")
    lines.append("")
    speech = report["speech"]
    if corpora := sorted(speech["before"].keys() | speech["now"].keys()):
        lines += ["## Speech", "", "| corpus | | speakers | utterances | hours |", "|---|---|--:|--:|--:|"]
        for corpus in corpora:
            for when in ("before", "now"):
                cells = " | ".join(f"{value:,}" for value in speech[when].get(corpus, {}).values()) or "none | |"
                lines.append(f"| {corpus} | {when} | {cells} |")
        lines += ["", "| corpus | utterances added | withdrawn | changed |", "|---|--:|--:|--:|"]
        for corpus, counts in speech["changes"].items():
            lines.append(f"| {corpus} | {counts['added']:,} | {counts['withdrawn']:,} | {counts['changed']:,} |")
        lines.append("")
    lines.append(
        f"`{REPORT}` lists the identifiers of withdrawn, changed and moved records, and of withdrawn and changed utterances. "
        "Delete withdrawn ones from copies."
    )
    return "\n".join(lines) + "\n"
