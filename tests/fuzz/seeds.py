"""Write the initial inputs of every target: `python -m tests.fuzz.seeds`. Small, hand-written or from format libraries.

Inputs added by fuzzing (`--keep`) are in the same folders under libFuzzer's names; these have numbers.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable

from tests.fuzz import seeds_archives, seeds_json, seeds_media, seeds_text
from tests.fuzz.targets import CORPUS


def write_numbered(folder: str, inputs: Iterable[bytes]) -> int:
    """Write a target's inputs as numbered files; return their total bytes."""
    home = CORPUS / folder
    home.mkdir(parents=True, exist_ok=True)
    total = 0
    for number, data in enumerate(inputs):
        (home / f"{number:03d}").write_bytes(data)
        total += len(data)
    return total


SEEDS = {
    "html": lambda: seeds_text.HTML,
    "srcset": lambda: seeds_text.SRCSETS,
    "urls": lambda: seeds_text.URLS,
    "robots": lambda: seeds_text.ROBOTS,
    "sitemap": lambda: [*seeds_text.SITEMAPS, gzip.compress(seeds_text.SITEMAPS[0]), gzip.compress(seeds_text.SITEMAPS[0])[:-5]],
    "manners": lambda: seeds_text.MANNERS,
    "tables": lambda: [*seeds_text.TABLES, gzip.compress(seeds_text.TABLES[0]), gzip.compress(seeds_text.TABLES[0])[:-5]],
    "heads": seeds_archives.heads,
    "segment": seeds_archives.segments,
    "index": seeds_archives.entries,
    "warc": lambda: [
        *seeds_archives.warcs(),
        *(gzip.compress(one) for one in seeds_archives.warcs()[:4]),
        gzip.compress(seeds_archives.warcs()[0])[:-9] + gzip.compress(seeds_archives.warcs()[0]),
    ],
    "warc_packed": seeds_archives.warcs,
    "response": seeds_archives.responses,
    "wat": seeds_archives.wats,
    "wacz": seeds_archives.waczs,
    "image_head": seeds_media.images,
    "image": seeds_media.images,
    "documents": seeds_json.documents,
    "ratings": seeds_json.ratings,
    "mastodon": seeds_json.mastodon,
    "instagram": seeds_json.instagram,
    "exported": seeds_json.exported,
    "sound": seeds_media.sounds,
}


if __name__ == "__main__":
    for name, make in SEEDS.items():
        print(f"{name}: {write_numbered(name, make())} bytes")
