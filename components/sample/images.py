"""Render the images of the sample's posts, and the changes that re-posts make; material, change and seed decide alone.

A stamp or drawing is put on a square canvas; a photograph keeps its shape. Changes are those of the paper's near-duplicates (PCV
§4.3: re-posts, rotations, changed colours), and crops, watermarks, frames, flips and recompression.
"""

from __future__ import annotations

import io

from PIL import Image, ImageDraw, ImageEnhance, ImageFont, ImageOps

from components.core.seeded_rng import seeded_rng
from components.sample.material import Material

CANVAS = 480
"""px of a square post."""
LARGEST = 720
"""px of a photograph's larger side."""
FRAME = 24
"""px of a frame on each side."""
BACKGROUNDS = {
    "branco": (255, 255, 255),
    "azul-claro": (198, 224, 245),
    "amarelo": (252, 228, 132),
    "verde-claro": (204, 234, 200),
    "rosa": (248, 206, 218),
    "lilás": (220, 208, 240),
    "cinza": (214, 214, 214),
}
CHANGES = ("resized", "recompressed", "cropped", "rotated", "recoloured", "watermarked", "framed", "flipped", "turned")
SUFFIXES = {"JPEG": ".jpg", "PNG": ".png", "WEBP": ".webp"}


def background_of(material: Material) -> str:
    """Return the background colour of a stamp or drawing; half of them are white."""
    chance = seeded_rng(material.key, "background")
    return "branco" if chance.random() < 0.5 else chance.choice(sorted(BACKGROUNDS))


def suffix_of(change: str, seed: str) -> str:
    """Return the suffix of an image's file: mostly JPEG, sometimes PNG or WebP."""
    chance = seeded_rng(seed, "format").random()
    if change == "resized" and chance < 0.25:
        return SUFFIXES["PNG"]
    return SUFFIXES["WEBP"] if chance > 0.93 else SUFFIXES["JPEG"]


def size_of(material: Material, change: str = "") -> tuple[int, int]:
    """Return width and height (px) of the image that :func:`render` returns, without rendering it."""
    if material.kind == "photo":
        with Image.open(io.BytesIO(material.read())) as image:
            width, height = _fit(image.size)
    else:
        width = height = CANVAS
    if change == "resized":
        return width * 3 // 5, height * 3 // 5
    if change == "cropped":
        left, top, right, bottom = _crop(width, height)
        return right - left, bottom - top
    if change == "framed":
        return width + 2 * FRAME, height + 2 * FRAME
    return (height, width) if change == "turned" else (width, height)


def render(material: Material, change: str = "", seed: str = "", suffix: str = ".jpg", mark: str = "") -> bytes:
    """Return the image as a file in the format of ``suffix``.

    Args:
        change: one of :data:`CHANGES`, its amount drawn by ``seed``; '' for the image as first posted.
        mark: the watermark's text.
    """
    image = _changed(_laid_out(material), change, seed, mark)
    buffer = io.BytesIO()
    if suffix == SUFFIXES["PNG"]:
        image.save(buffer, "PNG")
    elif suffix == SUFFIXES["WEBP"]:
        image.save(buffer, "WEBP", quality=80)
    else:
        image.save(buffer, "JPEG", quality=seeded_rng(seed, "quality").randint(25, 40) if change == "recompressed" else 86)
    return buffer.getvalue()


def thumbnail(material: Material, side: int) -> bytes:
    """Return a square PNG of a material, for previews, avatars and emoji."""
    buffer = io.BytesIO()
    ImageOps.fit(_laid_out(material), (side, side)).save(buffer, "PNG")
    return buffer.getvalue()


def animation(material: Material) -> bytes:
    """Return an animated GIF of the swaying image."""
    base = _laid_out(material)
    base.thumbnail((CANVAS // 2, CANVAS // 2))
    frames = [base.rotate(angle, fillcolor=(255, 255, 255)) for angle in (0, 4, 0, -4)]
    buffer = io.BytesIO()
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:], duration=200, loop=0)
    return buffer.getvalue()


def _laid_out(material: Material) -> Image.Image:
    with Image.open(io.BytesIO(material.read())) as opened:
        image = opened.convert("RGBA")
    if material.kind == "photo":
        canvas = Image.new("RGB", _fit(image.size), BACKGROUNDS["branco"])
        image = image.resize(canvas.size, Image.Resampling.LANCZOS)
        canvas.paste(image, (0, 0), image)
        return canvas
    canvas = Image.new("RGB", (CANVAS, CANVAS), BACKGROUNDS[background_of(material)])
    scale = CANVAS * seeded_rng(material.key, "scale").uniform(0.65, 0.9) / max(image.size)
    image = image.resize((max(1, round(image.width * scale)), max(1, round(image.height * scale))), Image.Resampling.LANCZOS)
    canvas.paste(image, ((CANVAS - image.width) // 2, (CANVAS - image.height) // 2), image)
    return canvas


def _fit(size: tuple[int, int]) -> tuple[int, int]:
    """Return a photograph's size scaled down to :data:`LARGEST`; small ones are not scaled."""
    scale = min(1.0, LARGEST / max(size))
    return max(1, round(size[0] * scale)), max(1, round(size[1] * scale))


def _crop(width: int, height: int) -> tuple[int, int, int, int]:
    """Return the box that removes a tenth of the area, evenly on all sides."""
    left, top = round(width * 0.025), round(height * 0.025)
    return left, top, width - left, height - top


def _changed(image: Image.Image, change: str, seed: str, mark: str) -> Image.Image:
    chance = seeded_rng(seed, "change")
    width, height = image.size
    if change == "resized":
        return image.resize((width * 3 // 5, height * 3 // 5), Image.Resampling.BICUBIC)
    if change == "cropped":
        return image.crop(_crop(width, height))
    if change == "rotated":
        angle = chance.uniform(2, 6) * chance.choice((-1, 1))
        return image.rotate(angle, Image.Resampling.BICUBIC, fillcolor=BACKGROUNDS["branco"])
    if change == "turned":
        return image.transpose(Image.Transpose.ROTATE_90)
    if change == "flipped":
        return ImageOps.mirror(image)
    if change == "framed":
        return ImageOps.expand(image, FRAME, BACKGROUNDS[chance.choice(sorted(BACKGROUNDS))])
    if change == "recoloured":
        brighter = ImageEnhance.Brightness(image).enhance(chance.uniform(0.75, 1.25))
        return ImageEnhance.Color(brighter).enhance(chance.choice((0.0, 0.4, 1.8)))
    return _watermarked(image, mark) if change == "watermarked" else image


def _watermarked(image: Image.Image, mark: str) -> Image.Image:
    layer = Image.new("RGBA", image.size)
    font = ImageFont.load_default(max(14, image.width // 18))
    where = (image.width * 0.96, image.height * 0.96)
    ImageDraw.Draw(layer).text(where, mark, (255, 255, 255, 190), font, anchor="rs", stroke_width=2, stroke_fill=(0, 0, 0, 120))
    return Image.alpha_composite(image.convert("RGBA"), layer).convert("RGB")
