"""A project of captions of local images with two kinds of speech: crawl, split, synthesize, import_recordings, with lineages.

The audio is made of tones. Images, captions and addresses can be imported again: ``captions.tsv`` and ``images`` are the source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import yaml

from components.core.digests import sha256_bytes
from components.core.ledger import dropped, kept, ledger_table
from components.core.records import OUTPUT_SCHEMAS
from components.core.stage_output import StageOutput
from components.execution.runner import write_lineage
from components.speech.audio.files import to_flac
from components.speech.audio.measures import measure
from tests.support import PROJECT, make_stage, row
from tests.support.import_recordings.corpora import tone
from tests.support.release.posts_project import drawn_image

VOICES = ("flite-slt", "nanotts-en-us")
PEOPLE = ("Ana Maria Braga", "7", "human-en")
SETTINGS: dict[str, dict[str, Any]] = {
    "crawl": {"source": {"kind": "table", "layout": "tsv", "inputs": ["secret-folder/captions.tsv"]}},
    "split": {"by": "text", "seed": 1, "validation": 0.25, "test": 0.25, "lists": {"train": "/secret-folder/train.txt"}},
    "synthesize": {"seed": 1, "utterances": 1, "voices": list(VOICES), "rate_sd": 0.1},
    "import_recordings": {"layout": "facc", "folder": "secret-folder"},
}


class Caption(NamedTuple):
    """One record of the project."""

    key: str
    image: str
    caption: str
    split: str

    @property
    def url(self) -> str:
        """The image's address as a record has it."""
        return self.image if "//" in self.image else f"file:{self.image.replace(' ', '%20')}"

    @property
    def shown(self) -> bytes:
        """The image, which names its author."""
        from PIL import PngImagePlugin

        stem, info = Path(self.image).stem, PngImagePlugin.PngInfo()
        info.add_text("Author", "Maria Silva")
        return drawn_image(int(stem) if stem.isdigit() else 99, "PNG", pnginfo=info)


CAPTIONS = [
    Caption(f"{number:016x}", f"some images/{number // 2}.png", text, split)
    for number, (text, split) in enumerate(
        [
            ('A "red" kite, over the water', "train"),
            ("The car in the sand;\tthe sea", "train"),
            ("A cup\non the table", "train"),
            ("A star in the dog's snow", "train"),
            ("Two boats | one lake", "validation"),
            ("Árvores à beira-mar", "validation"),
            ("A dog runs", "test"),
            ("Nothing but sand", "test"),
        ]
    )
]


def spoken_project(
    root: Path,
    captions: Sequence[Caption] = CAPTIONS,
    *,
    recorded: bool = False,
    gone: Sequence[tuple[str, str]] = (),
    params: dict[str, Any] | None = None,
    languages: Mapping[str, str] | None = None,
    spoken_of: Sequence[Caption] | None = None,
) -> Path:
    """Write the project, half of the records in each of two shards.

    Args:
        recorded: add recordings of people, beside the synthetic speech.
        gone: (key, rule) of records that the crawl dropped.
        params: more of params.yaml.
        languages: key → language, '' for other keys; None for English.
        spoken_of: captions with synthetic speech; None for all.
    """
    (root / "images").mkdir(parents=True, exist_ok=True)
    chain: dict[str, Any] = {
        "crawl": {"mine": {}},
        "split": {"mine": {"input": "mine/crawl", "ratings": "none"}},
        "synthesize": {"voices_of_mine": {"input": "mine/split"}},
        **({"import_recordings": {"mine": {"input": "mine/split"}}} if recorded else {}),
    }
    (root / "dvc.yaml").write_bytes((PROJECT / "dvc.yaml").read_bytes())
    (root / "params.yaml").write_text(yaml.safe_dump({"chain": chain, **(params or {})}))
    candidates = [{**candidate(each), "shown": each.shown} for each in captions]
    crawl = write_stage(root, "crawl", "mine", None, candidates, gone)
    splits = [
        {
            **candidate(each),
            "shown": each.shown,
            "caption": each.caption,
            "split": each.split,
            "group": each.key,
            "text": each.caption,
            **({} if languages is None else {"language": languages.get(each.key, "")}),
        }
        for each in captions
    ]
    split = write_stage(root, "split", "mine", crawl, splits)
    write_stage(
        root, "synthesize", "voices_of_mine", split, [spoken(each, VOICES, "synthetic") for each in (spoken_of or captions)]
    )
    if recorded:
        write_stage(root, "import_recordings", "mine", split, [spoken(each, PEOPLE, "human") for each in captions])
    return root


def candidate(caption: Caption) -> dict[str, Any]:
    """The values of a caption's record."""
    return {
        "key": caption.key, "image_url": caption.url, "alt": caption.caption, "language": "en", "post": "",
        "image_sha256": sha256_bytes(caption.shown), "format": "PNG", "width": 24, "height": 16,
    }  # fmt: skip


def spoken(caption: Caption, voices: Sequence[str], origin: str) -> dict[str, Any]:
    """The values of an utterance, and its audio under ``audio``."""
    audio = to_flac(tone(caption.key + origin, 0.6)[:, 0].astype(np.float32))
    samples = tone(caption.key + origin, 0.6)[:, 0].astype(np.float32)
    voice = voices[int(caption.key, 16) % len(voices)]
    return {
        "key": f"{caption.key}.0", "record": caption.key, "caption": caption.caption, "spoken": f"{caption.caption}, spoken",
        "language": "en", "split": caption.split, "group": caption.key, "origin": origin, "voice": voice, "rate": 1.0625,
        "pitch": -0.5, "gain": -1.25, "seconds": measure(samples).seconds, "audio_sha256": sha256_bytes(audio), "audio": audio,
    }  # fmt: skip


def write_stage(
    root: Path,
    stage: str,
    dataset: str,
    source: StageOutput | None,
    records: Sequence[dict[str, Any]],
    gone: Sequence[tuple[str, str]] = (),
) -> StageOutput:
    """Write a finished output with its lineage."""
    job = make_stage(root, stage, dataset, inputs={"input": source} if source else {})
    names, half = OUTPUT_SCHEMAS[stage][1].names, (len(records) + 1) // 2
    for number, part in enumerate((records[:half], records[half:])):
        shard = f"{number:05d}"
        content = {f"{each['key']}.{'flac' if 'audio' in each else 'png'}": each.get("audio") or each["shown"] for each in part}
        media = content if stage != "split" else None
        rows = [{**each, "media": f"{shard}/{name}"} for each, name in zip(part, content, strict=True)]
        table = pa.Table.from_pylist(
            [row(stage, **{name: value for name, value in each.items() if name in names}) for each in rows],
            schema=OUTPUT_SCHEMAS[stage][1],
        )
        ledger = [kept(each.get("record", each["key"])) for each in part]
        ledger += [dropped(key, rule, "listed", "not listed") for key, rule in gone] if number == 0 else []
        job.write_shard(shard, table, ledger_table(ledger), media)
    job.finish()
    write_lineage(job, SETTINGS[stage], "")
    return StageOutput(job.out)


def write_source(root: Path, captions: Sequence[Caption] = CAPTIONS) -> None:
    """Write the images that the captions name below ``root``."""
    for each in captions:
        path = root / each.image
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(each.shown)
