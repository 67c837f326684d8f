"""The input of ``benchmarks/images.py``: folders of images, and a web page that shows them. Equal arguments, equal files."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

from PIL import Image

from components.web.images.image import decode_image

MAX_ASPECT = 2.5
MIN_SIDE = {"feed": 100, "heads": 5000}
"""px; in ``heads`` every image is refused."""


@dataclass(frozen=True)
class Feed:
    """A folder to serve, with ``index.html``, and the images on that page."""

    folder: Path
    images: list[tuple[str, str]]
    """(path, alt)"""


def package_images(packages: Path) -> Iterator[tuple[Path, int, int]]:
    """The images of the sample's packages that decode, in an order of their own: (file, width, height)."""
    files = sorted(path for path in packages.rglob("*") if path.suffix.lower() in (".jpg", ".png") and path.is_file())
    random.Random(0).shuffle(files)
    for path in files:
        facts = decode_image(path.read_bytes())
        if not facts.reason:
            yield path, facts.width, facts.height


def photograph(source: Path, pixels: int, aspect: float, *, progressive: bool = False) -> bytes:
    """A JPEG of about ``pixels`` px made from an image, with grain so that it packs like a photograph (1 to 3 bits a px)."""
    height = round((pixels / aspect) ** 0.5)
    size = (round(height * aspect), height)
    with Image.open(source) as image:
        large = image.convert("RGB").resize(size, Image.Resampling.BICUBIC)
    grain = Image.effect_noise(size, 24).convert("RGB")
    buffer = io.BytesIO()
    Image.blend(large, grain, 0.2).save(buffer, "JPEG", quality=85, progressive=progressive)
    return buffer.getvalue()


def make_folders(packages: Path, base: Path, count: int) -> dict[str, Path]:
    """``count`` files a folder: ``photographs`` (JPEG), ``jpegs`` and ``pngs`` (as in the packages), ``heads`` (some of each).

    ``progressive`` holds those of the photographs that are: every fourth.
    """
    found: dict[str, list[tuple[Path, int, int]]] = {".jpg": [], ".png": []}
    for path, width, height in package_images(packages):
        kind = found[path.suffix.lower()]
        if len(kind) < count and min(width, height) >= MIN_SIDE["feed"] and max(width, height) <= MAX_ASPECT * min(width, height):
            kind.append((path, width, height))
        if min(map(len, found.values())) == count:
            break
    chance = random.Random(2)
    folders = {name: base / name for name in ("photographs", "progressive", "jpegs", "pngs", "heads")}
    for folder in folders.values():
        folder.mkdir(parents=True)
    for number, (path, _, _) in enumerate(found[".jpg"]):
        data = photograph(path, chance.randrange(1_000_000, 4_000_001), chance.uniform(1, 1.8), progressive=number % 4 == 3)
        (folders["photographs"] / f"{number:04d}.jpg").write_bytes(data)
        if number % 4 == 3:
            (folders["progressive"] / f"{number:04d}.jpg").write_bytes(data)
        (folders["jpegs"] / f"{number:04d}.jpg").write_bytes(path.read_bytes())
        (folders["heads"] / f"{number:04d}.jpg").write_bytes(data if number % 2 else path.read_bytes())
    for number, (path, _, _) in enumerate(found[".png"]):
        (folders["pngs"] / f"{number:04d}.png").write_bytes(path.read_bytes())
        if number % 2:
            (folders["heads"] / f"{number:04d}.png").write_bytes(path.read_bytes())
    return folders


def make_feed(folders: dict[str, Path], folder: Path, count: int, chance: random.Random) -> Feed:
    """``count`` addresses: a quarter photographs, a quarter images as in the packages, half rejects."""
    folder.mkdir(parents=True)
    photographs = sorted(folders["photographs"].iterdir())
    packaged = sorted(folders["jpegs"].iterdir()) + sorted(folders["pngs"].iterdir())
    images: list[tuple[str, str]] = []
    for number in range(count):
        source = chance.choice(photographs if number % 4 < 2 else packaged)
        name, data = f"{number:05d}{source.suffix}", source.read_bytes()
        if number % 2:
            part = chance.randrange(100)
            with Image.open(source) as image:
                if part < 40:
                    small = image.convert("RGB")
                    small.thumbnail((chance.randrange(16, 100), 99))
                    data = _jpeg(small)
                elif part < 70:
                    wide = image.convert("RGB").resize((2400, chance.randrange(300, 900)))
                    data = _jpeg(wide)
                elif part < 90:
                    data = b"<!doctype html><title>Not found</title>" + b"<p>No such image. " * chance.randrange(20, 400)
                    name = f"{number:05d}.html"
                else:
                    data = b""
        if data:
            # Every file its own: equal images would be looked at once.
            (folder / name).write_bytes(data if name.endswith(".html") else data + number.to_bytes(4, "big"))
        images.append((f"/{name}", f"picture number {number} of the feed"))
    page = "".join(f'<figure><img src="{path}" alt="{escape(alt)}"></figure>\n' for path, alt in images)
    (folder / "index.html").write_text(f'<!doctype html><html lang="en"><title>Feed</title><body>{page}', encoding="utf-8")
    return Feed(folder, images)


def _jpeg(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=85)
    return buffer.getvalue()
