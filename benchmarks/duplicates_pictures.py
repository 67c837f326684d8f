"""Distinct real pictures of the sample's packages, and what people do to a picture they post again.

Originals: the Tux Paint stamps (letters and signs aside), the GIMP help's photographs and the gallery of scikit-image, sides of
at least 96 px, ratio at most 3. "Distinct" is by looking: pairs at a feature cosine of .85 or a correlation of .93 were looked at
once, and ``duplicates_same.txt`` lists the pictures that repeat another (or show nothing). Pairs merely alike stayed: two moons,
two road signs, a kiwi and a cymbal.
"""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterator
from pathlib import Path

from PIL import Image, ImageDraw, ImageEnhance, ImageFont

LEAST = 96
SOURCES = (
    "tuxpaint-stamps-default/usr/share/tuxpaint/stamps/**/*.png",
    "gimp-help-en/usr/share/gimp/2.0/help/en/images/**/*.jpg",
    "python-skimage-doc/usr/share/doc/python-skimage-doc/html/_images/*.png",
)
NOT = ("/symbols/", "_thumb", "/toolbox/", "/menus/", "/dialogs/", "/filters/", "/tutorials/", "layer-mode")
SAME_LIST = Path(__file__).with_name("duplicates_same.txt")
"""Pictures that are no originals of their own: one path below ``unpacked`` a line."""


def originals(unpacked: Path) -> list[Path]:
    """The distinct pictures, in the order of their paths."""
    same = set(SAME_LIST.read_text(encoding="utf-8").split("\n")) if SAME_LIST.exists() else set()
    seen: set[bytes] = set()
    found = []
    for pattern in SOURCES:
        for path in sorted(unpacked.glob(pattern)):
            name = path.relative_to(unpacked).as_posix()
            if any(word in f"/{name}" for word in NOT) or name in same or not path.is_file():
                continue
            with Image.open(path) as opened:
                small, large = min(opened.size), max(opened.size)
            data = path.read_bytes()
            if small >= LEAST and large <= 3 * small and data not in seen:
                seen.add(data)
                found.append(path)
    return found


def flat(data: bytes) -> Image.Image:
    """A picture as RGB on white."""
    with Image.open(io.BytesIO(data)) as opened:
        picture = opened.convert("RGBA")
    ground = Image.new("RGBA", picture.size, "white")
    ground.alpha_composite(picture)
    return ground.convert("RGB")


def crop(picture: Image.Image, source: random.Random) -> Image.Image:
    """A tenth of the width and of the height cut off, anywhere."""
    width, height = round(picture.width * 0.9), round(picture.height * 0.9)
    left, top = source.randint(0, picture.width - width), source.randint(0, picture.height - height)
    return picture.crop((left, top, left + width, top + height))


def crop_edges(picture: Image.Image, source: random.Random) -> Image.Image:
    """A tenth cut off at every edge: 64 % of the area stays."""
    x, y = round(picture.width * 0.1), round(picture.height * 0.1)
    return picture.crop((x, y, picture.width - x, picture.height - y))


def watermark(picture: Image.Image, source: random.Random) -> Image.Image:
    """A half transparent word across the middle, as wide as the picture, and a smaller one below."""
    size = max(12, picture.width // 5)
    layer = Image.new("RGBA", picture.size, (0, 0, 0, 0))
    pen = ImageDraw.Draw(layer)
    for scale, height, word in ((1.0, 0.5, "SAMPLE"), (0.5, 0.8, "@author.posts")):
        font = ImageFont.load_default(size * scale)
        pen.text((picture.width / 2, picture.height * height), word, (90, 90, 90, 128), font=font, anchor="mm")
    return Image.alpha_composite(picture.convert("RGBA"), layer).convert("RGB")


def logo(picture: Image.Image, source: random.Random) -> Image.Image:
    """An opaque badge in a corner, a fifth of the smaller side."""
    changed, side = picture.copy(), round(min(picture.size) * 0.2)
    left, top = source.choice((2, picture.width - side - 2)), source.choice((2, picture.height - side - 2))
    pen = ImageDraw.Draw(changed)
    pen.ellipse((left, top, left + side, top + side), fill=(200, 30, 40))
    pen.text((left + side / 2, top + side / 2), "H", "white", font=ImageFont.load_default(side * 0.7), anchor="mm")
    return changed


def colour(picture: Image.Image, source: random.Random) -> Image.Image:
    """Another hue (by a sixth of the circle), warmer and paler."""
    bands = picture.convert("HSV").split()
    turned = bands[0].point([(value + 43) % 256 for value in range(256)])
    return ImageEnhance.Color(Image.merge("HSV", (turned, *bands[1:])).convert("RGB")).enhance(0.7)


def small_turn(picture: Image.Image, source: random.Random) -> Image.Image:
    """Turned by 3 to 8 degrees on white, either way."""
    angle = source.uniform(3, 8) * source.choice((-1, 1))
    return picture.rotate(angle, Image.Resampling.BICUBIC, fillcolor="white")


VARIANTS: dict[str, Callable[[Image.Image, random.Random], Image.Image]] = {
    "crop 10 %": crop,
    "crop 10 % at every edge": crop_edges,
    "watermark": watermark,
    "logo": logo,
    "flip": lambda picture, _: picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT),
    "turn 90": lambda picture, _: picture.transpose(Image.Transpose.ROTATE_90),
    "turn 180": lambda picture, _: picture.transpose(Image.Transpose.ROTATE_180),
    "turn 270": lambda picture, _: picture.transpose(Image.Transpose.ROTATE_270),
    "turn 3-8": small_turn,
    "grey": lambda picture, _: picture.convert("L").convert("RGB"),
    "colour": colour,
    "bright": lambda picture, _: ImageEnhance.Brightness(picture).enhance(1.3),
    "half size": lambda picture, _: picture.resize((max(1, picture.width // 2), max(1, picture.height // 2)), 3),
    "quality 30": lambda picture, _: picture,
}


def encoded(picture: Image.Image, kind: str) -> bytes:
    """As a JPEG of quality 90, or 30 for that kind."""
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=30 if kind == "quality 30" else 90)
    return buffer.getvalue()


def variants(path: Path, number: int) -> Iterator[tuple[str, bytes]]:
    """(kind, JPEG) of each change of one picture; the same for the same number."""
    picture = flat(path.read_bytes())
    for kind, change in VARIANTS.items():
        yield kind, encoded(change(picture, random.Random(f"{number} {kind}")), kind)
