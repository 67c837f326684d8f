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


def cut(width: float, height: float | None = None) -> Callable[[Image.Image, random.Random], Image.Image]:
    """Leave these shares of the width and of the height (the same by default), anywhere in the picture."""

    def crop(picture: Image.Image, source: random.Random) -> Image.Image:
        across, down = round(picture.width * width), round(picture.height * (height or width))
        left, top = source.randint(0, picture.width - across), source.randint(0, picture.height - down)
        return picture.crop((left, top, left + across, top + down))

    return crop


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


def turn(least: float, most: float) -> Callable[[Image.Image, random.Random], Image.Image]:
    """Turn by so many degrees on white, either way."""

    def small_turn(picture: Image.Image, source: random.Random) -> Image.Image:
        angle = source.uniform(least, most) * source.choice((-1, 1))
        return picture.rotate(angle, Image.Resampling.BICUBIC, fillcolor="white")

    return small_turn


def straightened(picture: Image.Image, source: random.Random) -> Image.Image:
    """Turned by 3 to 8 degrees, and cut to what has no corners of white."""
    turned = turn(3, 8)(picture, source)
    x, y = round(picture.width * 0.08), round(picture.height * 0.08)
    return turned.crop((x, y, picture.width - x, picture.height - y))


def border(picture: Image.Image, source: random.Random) -> Image.Image:
    """A frame of 3 to 15 % of the smaller side, white, black or in a colour; half of them wider below."""
    width = round(min(picture.size) * source.uniform(0.03, 0.15))
    below = width * source.choice((1, 3))
    colour = source.choice(("white", "black", tuple(source.randint(0, 255) for _ in range(3))))
    framed = Image.new("RGB", (picture.width + 2 * width, picture.height + width + below), colour)
    framed.paste(picture, (width, width))
    return framed


def _lines(pen: ImageDraw.ImageDraw, source: random.Random, box: tuple[int, int, int, int], size: int, ink: str) -> None:
    """Lines of words that mean nothing, in a box (left, top, right, bottom)."""
    left, top, right, bottom = box
    font = ImageFont.load_default(size)
    for y in range(top, bottom - size, round(size * 1.5)):
        x, end = float(left), source.uniform(0.4, 1) * (right - left) + left
        while x < end:
            word = "".join(source.choices("aeiourstlnmcdp", k=source.randint(2, 9))) + " "
            if x + pen.textlength(word, font) > right:
                break
            pen.text((x, y), word, ink, font=font)
            x += pen.textlength(word, font)


def phone_screenshot(picture: Image.Image, source: random.Random) -> Image.Image:
    """A telephone's screen: bars of status, application and buttons, the picture over the full width, text below it."""
    width = 360
    height = round(width * source.uniform(16 / 9, 19.5 / 9))
    ground, ink = source.choice((("white", "black"), ("black", "white"), ("#18222d", "#dddddd"), ("#f4f1ea", "#222222")))
    header = source.choice((ground, ground, "#2b5fa8", "#7a1f3d"))
    screen = Image.new("RGB", (width, height), ground)
    pen, small = ImageDraw.Draw(screen), ImageFont.load_default(14)
    pen.text((16, 6), f"{source.randint(1, 23)}:{source.randint(10, 59)}", ink, font=small)
    pen.rectangle((320, 8, 344, 18), outline=ink)
    pen.rectangle((322, 10, 338, 16), fill=ink)
    pen.rectangle((0, 28, width, 76), fill=header)
    pen.ellipse((12, 34, 48, 70), fill=tuple(source.randint(40, 220) for _ in range(3)))
    _lines(pen, source, (60, 40, 250, 72), 13, ink if header == ground else "white")
    shown = picture.resize((width, round(picture.height * width / picture.width)), Image.Resampling.BICUBIC)
    room = height - 76 - 48
    if shown.height > room:
        shown = shown.resize((round(shown.width * room / shown.height), room), Image.Resampling.BICUBIC)
    top = 76 + source.randint(0, min(40, room - shown.height))
    screen.paste(shown, ((width - shown.width) // 2, top))
    below = top + shown.height
    for x in range(4):
        pen.ellipse((14 + 40 * x, below + 8, 34 + 40 * x, below + 28), outline=ink, width=2)
    _lines(pen, source, (14, below + 38, width - 14, height - 52), 14, ink)
    pen.rectangle((0, height - 48, width, height), fill=ground)
    for x in range(5):
        pen.rectangle((28 + 72 * x, height - 36, 46 + 72 * x, height - 18), outline=ink, width=2)
    return screen


def page_screenshot(picture: Image.Image, source: random.Random) -> Image.Image:
    """A page in a browser: its bar, a headline, the picture with margins, and some lines of text."""
    width = round(picture.width / source.uniform(0.6, 0.9))
    shown_top = round(width * source.uniform(0.15, 0.25))
    height = shown_top + picture.height + round(width * source.uniform(0.05, 0.3))
    screen = Image.new("RGB", (width, height), "white")
    pen, size = ImageDraw.Draw(screen), max(8, width // 28)
    pen.rectangle((0, 0, width, round(width * 0.06)), fill="#d8dbe0")
    pen.rounded_rectangle((width * 0.15, width * 0.012, width * 0.85, width * 0.048), 6, fill="white")
    left = (width - picture.width) // 2
    _lines(pen, source, (left, round(width * 0.09), width - left, shown_top), size, "black")
    screen.paste(picture, (left, shown_top))
    _lines(pen, source, (left, shown_top + picture.height + size // 2, width - left, height), size, "#333333")
    return screen


def tiled(picture: Image.Image, source: random.Random) -> Image.Image:
    """The same words all over, a third opaque."""
    layer = Image.new("RGBA", picture.size, (0, 0, 0, 0))
    pen, font = ImageDraw.Draw(layer), ImageFont.load_default(max(10, picture.width // 12))
    for row in range(6):
        for column in range(-1, 3):
            x, y = (column + row % 2 / 2) * picture.width / 2.2, (row + 0.3) * picture.height / 6
            pen.text((x, y), "sample.org", (255, 255, 255, 90), font=font)
    return Image.alpha_composite(picture.convert("RGBA"), layer).convert("RGB")


VARIANTS: dict[str, Callable[[Image.Image, random.Random], Image.Image]] = {
    "crop 10 %": cut(0.9),
    "crop 10 % at every edge": crop_edges,
    "watermark": watermark,
    "logo": logo,
    "flip": lambda picture, _: picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT),
    "turn 90": lambda picture, _: picture.transpose(Image.Transpose.ROTATE_90),
    "turn 180": lambda picture, _: picture.transpose(Image.Transpose.ROTATE_180),
    "turn 270": lambda picture, _: picture.transpose(Image.Transpose.ROTATE_270),
    "turn 3-8": turn(3, 8),
    "grey": lambda picture, _: picture.convert("L").convert("RGB"),
    "colour": colour,
    "bright": lambda picture, _: ImageEnhance.Brightness(picture).enhance(1.3),
    "half size": lambda picture, _: picture.resize((max(1, picture.width // 2), max(1, picture.height // 2)), 3),
    "quality 30": lambda picture, _: picture,
    "crop 20 %": cut(0.8),
    "crop 30 %": cut(0.7),
    "crop 40 %": cut(0.6),
    "crop 30 % of the width": cut(0.7, 1),
    "crop 30 % of the height": cut(1, 0.7),
    "watermark all over": tiled,
    "turn 8-15": turn(8, 15),
    "turn 3-8, straightened": straightened,
    "border": border,
    "screenshot of a phone": phone_screenshot,
    "screenshot of a page": page_screenshot,
    "flip, crop 10 %, quality 30": lambda picture, source: cut(0.9)(picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT), source),
}


def encoded(picture: Image.Image, kind: str) -> bytes:
    """As a JPEG of quality 90, or 30 for that kind."""
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=30 if "quality 30" in kind else 90)
    return buffer.getvalue()


def variants(path: Path, number: int) -> Iterator[tuple[str, bytes]]:
    """(kind, JPEG) of each change of one picture; the same for the same number."""
    picture = flat(path.read_bytes())
    for kind, change in VARIANTS.items():
        yield kind, encoded(change(picture, random.Random(f"{number} {kind}")), kind)
