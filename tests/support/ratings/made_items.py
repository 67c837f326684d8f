"""A small output of build_rating_items with drawn images and tones for speech, for tests of whatever reads or shows items."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from PIL import Image, ImageDraw

from components.core.digests import sha256_bytes
from components.ratings.items import STAGE, item_key
from tests.support import make_output

COLOURS = ("red", "green", "blue", "orange", "purple", "black")
SHAPES = ("circle", "square")


def drawn_image(number: int) -> bytes:
    """Return a JPEG of one coloured shape; equal numbers give equal bytes."""
    image = Image.new("RGB", (320, 240), "white")
    draw = ImageDraw.Draw(image)
    box, colour = (60 + number % 7 * 10, 40, 200 + number % 7 * 10, 180), COLOURS[number % len(COLOURS)]
    (draw.ellipse if number % 2 == 0 else draw.rectangle)(box, fill=colour)
    target = io.BytesIO()
    image.save(target, "JPEG", quality=85)
    return target.getvalue()


def described(number: int) -> str:
    """Return the caption that is right for :func:`drawn_image`."""
    return f"a {COLOURS[number % len(COLOURS)]} {SHAPES[number % 2]} on white, number {number}"


def tone(number: int, seconds: float = 0.5) -> bytes:
    """Return a sine tone as a FLAC of 16 kHz."""
    times = np.arange(int(16_000 * seconds)) / 16_000
    target = io.BytesIO()
    soundfile.write(target, 0.2 * np.sin(2 * np.pi * (300 + 20 * number) * times), 16_000, format="FLAC")
    return target.getvalue()


def use(table: str, source: str, query: str, **values: Any) -> dict[str, Any]:
    """Return one use of an item."""
    base = {"direction": "", "candidate": "", "rank": 0, "known": table != "model"}
    return {"table": table, "source": source, "query": query} | base | values


def make_items(root: Path, dataset: str = "english", captions: int = 6, retrieved: int = 4, voiced: int = 2) -> Path:
    """Write ``data/<dataset>/build_rating_items`` below ``root`` in two shards and return its folder.

    Args:
        captions: items of the dataset's captions, each the right one for its image; asked of 3 raters. Every second one is a
            model's caption too.
        retrieved: items of wrong captions that a retrieval model found at rank 2; asked of 5.
        voiced: items whose speech is played, at rank 1; asked of 5.
    """
    rows, media = [], dict[str, bytes]()
    for number in range(captions):
        record = f"record-{number}"
        uses = [use("dataset", dataset, record)]
        if number % 2 == 0:
            uses.append(use("model", f"{dataset}-t2t8x8-0", record, known=False))
        rows.append(_item(number, described(number), 3, uses, media))
    for number in range(retrieved):
        uses = [_found(f"record-{number + 1}.0", number, 2, known=False)]
        rows.append(_item(number, described(number + 1), 5, uses, media))
    for number in range(voiced):
        rows.append(
            _item(number, described(number), 5, [_found(f"record-{number}.0", number, 1, known=True)], media, tone(number))
        )
    rows.sort(key=lambda row: row["key"])
    half = (len(rows) + 1) // 2
    return make_output(
        root, STAGE, [_named(rows[:half], 0), _named(rows[half:], 1)], dataset, [_of(rows[:half], media), _of(rows[half:], media)]
    ).path


def _found(query: str, number: int, rank: int, known: bool) -> dict[str, Any]:
    candidate = sha256_bytes(drawn_image(number))
    return use("retrieval", "mms-48-0", query, direction="speech_to_image", candidate=candidate, rank=rank, known=known)


def _item(
    number: int, caption: str, raters: int, uses: list[dict[str, Any]], media: dict[str, bytes], audio: bytes = b""
) -> dict[str, Any]:
    image = drawn_image(number)
    sha, spoken = sha256_bytes(image), sha256_bytes(audio) if audio else ""
    names = {"image": f"{sha}.whole.jpg", "audio": f"{spoken}.flac" if audio else ""}
    media |= {names["image"]: image} | ({names["audio"]: audio} if audio else {})
    key = item_key(sha, "whole", caption, spoken)
    shown = {"image_sha256": sha, "crop": "whole", "caption": caption, "language": "en", "audio_sha256": spoken}
    return {"key": key, **shown, **names, "raters": raters, "uses": uses}


def _named(rows: list[dict[str, Any]], shard: int) -> list[dict[str, Any]]:
    return [row | {name: f"{shard:05d}/{row[name]}" for name in ("image", "audio") if row[name]} for row in rows]


def _of(rows: list[dict[str, Any]], media: dict[str, bytes]) -> dict[str, bytes]:
    return {row[name]: media[row[name]] for row in rows for name in ("image", "audio") if row[name]}
