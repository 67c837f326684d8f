"""Distinct real images of the sample's packages, and what people do to an image they post again.

Originals: the Tux Paint stamps (letters and signs aside), the GIMP help's photographs and the gallery of scikit-image, sides of
at least 96 px, ratio at most 3. "Distinct" is by looking: pairs at a feature cosine of .85 or a correlation of .93 were looked at
once, and ``duplicates_same.txt`` lists the images that repeat another (or show nothing). Pairs merely alike stayed: two moons,
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
"""Images that are no originals of their own: one path below ``unpacked`` a line."""


def originals(unpacked: Path) -> list[Path]:
    """The distinct images, in the order of their paths."""
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
    """An image as RGB on white."""
    with Image.open(io.BytesIO(data)) as opened:
        image = opened.convert("RGBA")
    ground = Image.new("RGBA", image.size, "white")
    ground.alpha_composite(image)
    return ground.convert("RGB")


def cut(width: float, height: float | None = None) -> Callable[[Image.Image, random.Random], Image.Image]:
    """Leave these shares of the width and of the height (the same by default), anywhere in the image."""

    def crop(image: Image.Image, source: random.Random) -> Image.Image:
        across, down = round(image.width * width), round(image.height * (height or width))
        left, top = source.randint(0, image.width - across), source.randint(0, image.height - down)
        return image.crop((left, top, left + across, top + down))

    return crop


def crop_edges(image: Image.Image, source: random.Random) -> Image.Image:
    """A tenth cut off at every edge: 64 % of the area stays."""
    x, y = round(image.width * 0.1), round(image.height * 0.1)
    return image.crop((x, y, image.width - x, image.height - y))


def watermark(image: Image.Image, source: random.Random) -> Image.Image:
    """A half transparent word across the middle, as wide as the image, and a smaller one below."""
    size = max(12, image.width // 5)
    layer = Image.new("RGBA", image.size, (0, 0, 0, 0))
    pen = ImageDraw.Draw(layer)
    for scale, height, word in ((1.0, 0.5, "SAMPLE"), (0.5, 0.8, "@author.posts")):
        font = ImageFont.load_default(size * scale)
        pen.text((image.width / 2, image.height * height), word, (90, 90, 90, 128), font=font, anchor="mm")
    return Image.alpha_composite(image.convert("RGBA"), layer).convert("RGB")


def logo(image: Image.Image, source: random.Random) -> Image.Image:
    """An opaque badge in a corner, a fifth of the smaller side."""
    changed, side = image.copy(), round(min(image.size) * 0.2)
    left, top = source.choice((2, image.width - side - 2)), source.choice((2, image.height - side - 2))
    pen = ImageDraw.Draw(changed)
    pen.ellipse((left, top, left + side, top + side), fill=(200, 30, 40))
    pen.text((left + side / 2, top + side / 2), "H", "white", font=ImageFont.load_default(side * 0.7), anchor="mm")
    return changed


def colour(image: Image.Image, source: random.Random) -> Image.Image:
    """Another hue (by a sixth of the circle), warmer and paler."""
    bands = image.convert("HSV").split()
    turned = bands[0].point([(value + 43) % 256 for value in range(256)])
    return ImageEnhance.Color(Image.merge("HSV", (turned, *bands[1:])).convert("RGB")).enhance(0.7)


def turn(least: float, most: float) -> Callable[[Image.Image, random.Random], Image.Image]:
    """Turn by so many degrees on white, either way."""

    def small_turn(image: Image.Image, source: random.Random) -> Image.Image:
        angle = source.uniform(least, most) * source.choice((-1, 1))
        return image.rotate(angle, Image.Resampling.BICUBIC, fillcolor="white")

    return small_turn


def straightened(image: Image.Image, source: random.Random) -> Image.Image:
    """Turned by 3 to 8 degrees, and cut to what has no corners of white."""
    turned = turn(3, 8)(image, source)
    x, y = round(image.width * 0.08), round(image.height * 0.08)
    return turned.crop((x, y, image.width - x, image.height - y))


def border(image: Image.Image, source: random.Random) -> Image.Image:
    """A frame of 3 to 15 % of the smaller side, white, black or in a colour; half of them wider below."""
    width = round(min(image.size) * source.uniform(0.03, 0.15))
    below = width * source.choice((1, 3))
    colour = source.choice(("white", "black", tuple(source.randint(0, 255) for _ in range(3))))
    framed = Image.new("RGB", (image.width + 2 * width, image.height + width + below), colour)
    framed.paste(image, (width, width))
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


def phone_screenshot(image: Image.Image, source: random.Random) -> Image.Image:
    """A telephone's screen: bars of status, application and buttons, the image over the full width, text below it."""
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
    shown = image.resize((width, round(image.height * width / image.width)), Image.Resampling.BICUBIC)
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


def page_screenshot(image: Image.Image, source: random.Random) -> Image.Image:
    """A page in a browser: its bar, a headline, the image with margins, and some lines of text."""
    width = round(image.width / source.uniform(0.6, 0.9))
    shown_top = round(width * source.uniform(0.15, 0.25))
    height = shown_top + image.height + round(width * source.uniform(0.05, 0.3))
    screen = Image.new("RGB", (width, height), "white")
    pen, size = ImageDraw.Draw(screen), max(8, width // 28)
    pen.rectangle((0, 0, width, round(width * 0.06)), fill="#d8dbe0")
    pen.rounded_rectangle((width * 0.15, width * 0.012, width * 0.85, width * 0.048), 6, fill="white")
    left = (width - image.width) // 2
    _lines(pen, source, (left, round(width * 0.09), width - left, shown_top), size, "black")
    screen.paste(image, (left, shown_top))
    _lines(pen, source, (left, shown_top + image.height + size // 2, width - left, height), size, "#333333")
    return screen


def tiled(image: Image.Image, source: random.Random) -> Image.Image:
    """The same words all over, a third opaque."""
    layer = Image.new("RGBA", image.size, (0, 0, 0, 0))
    pen, font = ImageDraw.Draw(layer), ImageFont.load_default(max(10, image.width // 12))
    for row in range(6):
        for column in range(-1, 3):
            x, y = (column + row % 2 / 2) * image.width / 2.2, (row + 0.3) * image.height / 6
            pen.text((x, y), "sample.org", (255, 255, 255, 90), font=font)
    return Image.alpha_composite(image.convert("RGBA"), layer).convert("RGB")


VARIANTS: dict[str, Callable[[Image.Image, random.Random], Image.Image]] = {
    "crop 10 %": cut(0.9),
    "crop 10 % at every edge": crop_edges,
    "watermark": watermark,
    "logo": logo,
    "flip": lambda image, _: image.transpose(Image.Transpose.FLIP_LEFT_RIGHT),
    "turn 90": lambda image, _: image.transpose(Image.Transpose.ROTATE_90),
    "turn 180": lambda image, _: image.transpose(Image.Transpose.ROTATE_180),
    "turn 270": lambda image, _: image.transpose(Image.Transpose.ROTATE_270),
    "turn 3-8": turn(3, 8),
    "grey": lambda image, _: image.convert("L").convert("RGB"),
    "colour": colour,
    "bright": lambda image, _: ImageEnhance.Brightness(image).enhance(1.3),
    "half size": lambda image, _: image.resize((max(1, image.width // 2), max(1, image.height // 2)), 3),
    "quality 30": lambda image, _: image,
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
    "flip, crop 10 %, quality 30": lambda image, source: cut(0.9)(image.transpose(Image.Transpose.FLIP_LEFT_RIGHT), source),
}


def encoded(image: Image.Image, kind: str) -> bytes:
    """As a JPEG of quality 90, or 30 for that kind."""
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=30 if "quality 30" in kind else 90)
    return buffer.getvalue()


def variants(path: Path, number: int) -> Iterator[tuple[str, bytes]]:
    """(kind, JPEG) of each change of one image; the same for the same number."""
    image = flat(path.read_bytes())
    for kind, change in VARIANTS.items():
        yield kind, encoded(change(image, random.Random(f"{number} {kind}")), kind)
